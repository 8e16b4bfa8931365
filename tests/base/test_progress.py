"""Progress at a terminal: what is counted, what is shown, and where nothing is."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import subprocess
import sys
import time
from contextlib import closing
from typing import Any

import pytest

import distal
import distal.cli
from distal import InputError
from distal.base import progress
from distal.base.progress import Count, Display, Lines, duration, rate
from tests.given import some
from tests.processes import DISTAL, SOURCE


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A terminal that keeps what is written."""

    def isatty(self) -> bool:
        return True


def at_terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make stderr a terminal, in a test: pytest sets it once more after the fixtures."""
    made = Terminal()
    monkeypatch.setattr(sys, "stderr", made)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "100")
    return made


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(0.4, "0 s"), (99, "99 s"), (100, "2 min"), (5_900, "98 min"), (7_200, "2 h"), (9_000, "2.5 h"),
     (200_000, "2.3 days")],
)  # fmt: skip
def test_a_duration_is_written_as_people_say_it(seconds: float, words: str) -> None:
    assert duration(seconds) == words


@pytest.mark.parametrize(("pace", "words"), [(0.25, "0.2"), (9.94, "9.9"), (54, "54"), (51_234, "51,000")])
def test_a_rate_has_two_digits(pace: float, words: str) -> None:
    assert rate(pace, "steps") == f"{words} steps/s"


def test_what_is_left_is_estimated_first_and_measured_later() -> None:
    clock = Clock()
    count = Count(1_000, seconds=500, clock=clock)
    clock.now = 20  # compiling, which says nothing of the pace
    assert count.left() == 500
    count.add(100, 2_000)
    assert count.left() == 450
    clock.now = 30  # 100 in 10 s: by the measured pace, 80 s are left; by the estimate 80% of 500 s
    count.add(100, 2_000)
    assert count.left() == pytest.approx(80 * 10 / 30 + 400 * 20 / 30)
    assert count.paces() == (10, 200)
    clock.now = 80
    count.add(500)
    assert count.left() == pytest.approx(300 / 10)


def test_a_wrong_estimate_gives_way_to_the_pace_within_a_quarter_of_its_time() -> None:
    clock = Clock()
    count = Count(1_000, seconds=5, clock=clock)
    for tenth in range(1, 26):  # two a tenth of a second: 50 s in all, ten times the estimate
        clock.now = tenth / 10
        count.add(2)
    assert count.paces()[0] == pytest.approx(20)
    assert count.left() == pytest.approx((1_000 - 50) / 20, rel=0.05)


def test_a_pace_is_that_of_the_last_half_minute() -> None:
    clock = Clock()
    count = Count(100_000, clock=clock)
    assert count.left() is None
    for second in range(1, 101):  # ten a second, and a hundred a second from the 50th on
        clock.now = second
        count.add(10 if second <= 50 else 100)
    assert count.paces()[0] == pytest.approx(100)
    assert count.left() == pytest.approx((100_000 - 50 * 110) / 100)


def test_long_work_is_announced_and_short_work_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with closing(Display("learning", 40, seconds=3)) as short:
        short(40)
    assert terminal.getvalue() == ""
    with closing(Display("learning", 1_234, seconds=700)) as long:
        long.draw()
    first, *_ = terminal.getvalue().splitlines()
    assert first == "learning: 1,234 episodes; about 12 min"
    assert "12 min left" in terminal.getvalue()


def test_without_a_terminal_a_command_says_how_long_it_takes_and_writes_a_line_a_minute(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipe, clock = io.StringIO(), Clock()
    monkeypatch.setattr(sys, "stderr", pipe)
    lines = Lines("learning", 1_000, clock=clock)
    for second in range(1, 131):  # 5 episodes a second
        clock.now = second
        lines.add(5, 500)
    assert pipe.getvalue().splitlines() == [
        "learning: 1,000 episodes; about 3 min",
        "learning: 300 of 1,000 episodes  500 steps/s  about 2 min left",
        "learning: 600 of 1,000 episodes  500 steps/s  about 80 s left",
    ]
    short = Lines("learning", 100, clock=clock)
    for clock.now in range(131, 136):
        short.add(20, 0)
    assert len(pipe.getvalue().splitlines()) == 3


def test_without_a_terminal_the_parts_of_an_evolution_are_a_line_each_twentieth(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "stderr", pipe := io.StringIO())
    clock = Clock()
    lines = Lines("evolving", 1_000, note=lambda: "on 4 workers", clock=clock)
    for generation in range(101):
        lines.begin_part(f"generation {generation} of 100", 10)
        lines.add(10, 1_000)
        clock.now += 2
        lines.detail = f"best {100 - generation:.2f}"
    _, first, second, *_, last = written = pipe.getvalue().splitlines()
    assert len(written) == 21
    assert first.startswith("generation 4 of 100: 50 of 1,000 episodes  ")
    assert second == (
        "generation 9 of 100: 100 of 1,000 episodes  500 steps/s  about 3 min left  best 91.00  on 4 workers"
    )
    assert last.startswith("generation 99 of 100: 1,000 of 1,000 episodes  ")


def test_learning_in_python_writes_no_lines_and_a_command_does(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress, "LONG", 0.0)
    # Private numbers: short work is told, too.
    monkeypatch.setattr(progress, "_SHORTEST", 0.0)  # the pace counts at once
    monkeypatch.setattr(progress, "_MARK", 0.0)
    distal.learn("hc", episodes=2, trials=1, chance=False)
    assert capsys.readouterr().err == ""
    assert (
        distal.cli.main(
            ["learn", "hc", "--episodes", "2", "--trials", "1", "--no-chance", "--engine", "reference"]
        )
        == 0
    )
    assert capsys.readouterr().err == "climbing: 16 episodes; about 0 s\n"


@pytest.mark.parametrize("width", [100, 80, 60, 40])
def test_lines_fit_into_the_terminal(width: int) -> None:
    from rich.console import Console

    display = Display("evolving", 1_000_000, seconds=5.0, note=lambda: "on 4 workers")
    display.begin_part("generation 12 of 300", 10_000)
    display.detail = "best 110.20  mean 180.33"
    # Private: as if five seconds had passed; and the lines without the terminal that shows them.
    display._slow = True
    display.count._marks.append((display.count.began + 5, 5_000, 10**6))
    console = Console(width=width, file=io.StringIO())
    console.print(display._lines(width))
    assert isinstance(console.file, io.StringIO)
    whole, part = console.file.getvalue().splitlines()
    assert whole.startswith("generation 12 of 300 ")
    assert part.startswith("its episodes ")
    assert max(map(len, (whole, part))) <= width
    assert ("best 110.20" in whole) == (width >= 80)


def test_a_function_false_and_none_are_progress_and_nothing_else_is() -> None:
    small = {"episodes": 2, "trials": 1, "steps": 4, "hidden": 2, "chance": False}
    heard: list[int] = []
    distal.learn("paper:1", progress=heard.append, **small)  # type: ignore[arg-type]
    assert sum(heard) == 16
    distal.learn("paper:1", progress=False, **small)  # type: ignore[arg-type]
    wrongs: tuple[Any, ...] = (3, "x", [])
    for wrong in wrongs:
        with pytest.raises(InputError, match="expected a function, None, or False to show nothing"):
            distal.learn("paper:1", progress=wrong, **small)  # type: ignore[arg-type]
        with pytest.raises(InputError, match="expected a function, None, or False to show nothing"):
            distal.evolve(progress=wrong)


@pytest.mark.parametrize(
    ("task", "engine", "workers"),
    [("CartPole-v1", "steps", 1), ("CartPole-v1", "steps", 2), ("compiled:CartPole", None, 2),
     (None, "reference", 1)],
)  # fmt: skip
def test_a_terminal_shows_the_episodes_of_a_generation_and_false_shows_nothing(
    monkeypatch: pytest.MonkeyPatch, task: str | None, engine: str | None, workers: int
) -> None:
    terminal = at_terminal(monkeypatch)
    # Private numbers: short work is shown, too.
    monkeypatch.setattr(progress, "_PATIENCE", 0)
    monkeypatch.setattr(progress, "_OFTEN", 0)
    monkeypatch.setattr(progress, "_MARK", 0)
    small = {"runs": 1, "generations": 1, "trials": 1, "episodes": 3, "steps": 8, "hidden": 3, "fresh": 8}
    runner = distal.Runner(engine, workers=workers)
    quiet = distal.evolve(task=task, progress=False, engine=runner, **small)  # type: ignore[arg-type]
    assert terminal.getvalue() == ""
    told = distal.evolve(task=task, engine=runner, **small)  # type: ignore[arg-type]
    shown = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", terminal.getvalue())
    for words in ("generation 0 of 1", "generation 1 of 1", "winners", "steps/s", "best "):
        assert words in shown
    assert (quiet.best == told.best).all()
    assert terminal.getvalue().endswith(("\x1b[?25h", "\x1b[2K", "\x1b[1A\x1b[2K"))  # it is gone again


@pytest.mark.parametrize(
    ("conditions", "episodes"),
    [(("--trials", "1", "--episodes", "60", "--engine", "reference"), 960),
     (("--trials", "5", "--episodes", "4000", "--env", "CartPole-v1", "--workers", "1"), 40_000),
     (("--trials", "5", "--episodes", "4000", "--env", "CartPole-v1", "--workers", "2"), 40_000)],
)  # fmt: skip
def test_a_command_shows_its_progress_on_a_terminal_and_leaves_the_table(
    conditions: tuple[str, ...], episodes: int
) -> None:
    ours, theirs = pty.openpty()
    environment = {**os.environ, "PYTHONPATH": str(SOURCE), "TERM": "xterm", "COLUMNS": "80"}
    with subprocess.Popen(
        [*DISTAL, "learn", "paper:1", *conditions],  # some seconds
        stderr=theirs,
        stdout=subprocess.PIPE,
        env=environment,
        text=True,
    ) as process:
        os.close(theirs)
        shown, end = b"", time.monotonic() + 300
        while time.monotonic() < end and select.select([ours], [], [], 60)[0]:
            try:
                more = os.read(ours, 65_536)
            except OSError:  # it has been closed
                break
            shown += more
        assert "Beats chance" in some(process.stdout).read()
    os.close(ours)
    assert process.returncode == 0
    text = shown.decode()
    assert "learning" in text
    assert f"of {episodes:,} episodes" in text
    assert "steps/s" in text
    assert " left" in text
