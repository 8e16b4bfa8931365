"""The progress of a study that Python calls."""

import io
import sys

import pytest

from distal.base.progress import Count
from distal.studies.outline import Effort, followed
from distal.studies.stages import Event, Stage
from tests.base.test_progress import Clock, Terminal, at_terminal
from tests.given import some

EVOLVE, TEST = Stage("evolve_dsp", "evolution", 1_000, "dsp", 2), Stage("test_dsp", "test", 4_000, "dsp")
SECONDS = {"evolve_dsp": 60.0, "test_dsp": 20.0}


def on_clock(work: Effort) -> Clock:
    clock = Clock()
    work.count = Count(work.count.total, work.count.seconds, clock)
    return clock


def test_work_is_counted_in_the_seconds_that_stages_were_estimated_to_take() -> None:
    work = Effort(SECONDS)
    clock = on_clock(work)
    work.hear(Event(EVOLVE, 0.1))
    clock.now = 48.0  # twice as long as estimated
    assert work.hear(Event(EVOLVE, 0.5)) == pytest.approx(0.4)
    assert work.count.left() == pytest.approx(60 + 40)


def test_a_stage_that_was_kept_tells_nothing_of_the_pace() -> None:
    work = Effort(SECONDS)
    clock = on_clock(work)
    clock.now = 1.0
    assert work.hear(Event(EVOLVE, 1)) == 1
    assert work.count.left() == 20
    work.hear(Event(TEST, 0.25))
    clock.now = 41.0
    work.hear(Event(TEST, 0.5))
    assert work.count.left() == pytest.approx(80)


def test_a_terminal_shows_the_stages_and_how_long_they_take(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = at_terminal(monkeypatch)
    with followed(None, "reproduce", [EVOLVE, TEST], lambda: SECONDS) as told:
        some(told)(Event(EVOLVE, 0.5, "best 47.1"))
        some(told)(Event(TEST, 0))
    first, *shown = terminal.getvalue().splitlines()
    assert first == "reproduce: 2 stages, 5,000 episodes; about 80 s"
    assert "80 s left" in "".join(shown)


def test_false_and_a_function_and_a_pipe_show_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Event] = []
    heard = seen.append

    def estimate() -> dict[str, float]:
        raise AssertionError("nobody asks for it")

    for stream, given, expected in (
        (Terminal(), False, None),
        (Terminal(), heard, heard),
        (io.StringIO(), None, None),
    ):
        monkeypatch.setattr(sys, "stderr", stream)
        with followed(given, "reproduce", [EVOLVE], estimate) as told:
            assert (told is None) == (expected is None)
        assert stream.getvalue() == ""
