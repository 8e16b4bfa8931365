"""Ctrl-C at any moment: one line, exit code 130, no traceback, and no process left behind.

`python -m pytest tests/base/test_interrupts.py --moments 60` tries sixty moments of each command.

Python's own start is out of our reach. So the clock starts when a module has been imported
after `distal.base.ctrl_c`, the first that Distal imports; `-X importtime` tells.
"""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from pathlib import Path
from typing import NamedTuple

import pytest

from distal.cli import main
from tests.given import some
from tests.processes import DISTAL, SOURCE, interrupt, members, started, wait_until

IMPORTED = "import time:"
MODULE = ["-m", "distal"]
SCRIPT = ["distal"]  # as pip writes it
MAZE = "#######\n#0...1#\n###.###\n###S###\n#######\n"
LEARN = ["learn", "evolved:1", "--trials", "1"]
EVOLVE = ["evolve", "--runs", "1", "--generations", "3", "--trials", "1", "--episodes", "20", "--out"]


class Ending(NamedTuple):
    """How a command ended."""

    code: int
    out: str
    lines: list[str]  # on stderr, but for those about imports
    seconds: float  # since the clock started


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "maze.txt").write_text(MAZE)
    (tmp_path / "distal").write_text(
        "import sys\nfrom distal.cli import main\nif __name__ == '__main__':\n    sys.exit(main())\n"
    )
    return tmp_path


def run(folder: Path, command: list[str], *delays: float) -> Ending:
    """Run a command; interrupt it so many seconds after the clock started, and then after the last time."""
    errors = folder / "errors"
    timed = (sys.executable, "-X", "importtime", *command)
    with errors.open("w") as stderr, started(*timed, cwd=folder, stderr=stderr) as process:
        wait_until(lambda: begun(errors))
        began = time.monotonic()
        for delay in delays:
            time.sleep(delay)
            interrupt(process)
        out, _ = process.communicate(timeout=60)
        seconds = time.monotonic() - began
        wait_until(lambda: not members(process.pid), 5)
    lines = [line for line in errors.read_text().splitlines() if not line.startswith(IMPORTED)]
    return Ending(process.returncode, out, lines, seconds)


def begun(errors: Path) -> bool:
    """Say whether a module has been imported after the one that takes Ctrl-C over."""
    _, found, after = errors.read_text().partition(" distal.base.ctrl_c\n")
    return bool(found) and IMPORTED in after


def moments(config: pytest.Config, seconds: float) -> list[float]:
    """Return moments in a span of time, one in each of so many equal parts."""
    count: int = config.getoption("--moments")
    generator = random.Random()  # noqa: S311 - other moments every time
    return [(part + generator.random()) / count * seconds for part in range(count)]


def interrupted(ending: Ending, whole: Ending | None = None) -> bool:
    """Say whether a command was interrupted as it should be, or had ended before, as without Ctrl-C."""
    if whole is not None and ending.code == 0:
        assert ending.out == whole.out
        return False
    assert ending.code == 130, ending
    assert "Traceback" not in "\n".join(ending.lines)
    (line,) = [line for line in ending.lines if line.startswith("distal: ")]
    assert line.startswith("distal: interrupted")
    assert ending.lines[-1] == line
    return True


@pytest.mark.parametrize("command", [[*SCRIPT, "rules"], [*MODULE, "rules"], [*MODULE, *LEARN]])
def test_from_the_first_import_to_the_end_of_the_process(
    command: list[str], folder: Path, pytestconfig: pytest.Config
) -> None:
    whole = run(folder, command)
    assert (whole.code, whole.lines) == (0, [])
    tried = moments(pytestconfig, whole.seconds)
    ended = [interrupted(run(folder, command, moment), whole) for moment in tried]
    assert any(ended) or len(tried) == 1  # that one may come when all is done


def test_nothing_is_loaded_before_ctrl_c_is_taken_over_but_what_is_built_into_python(folder: Path) -> None:
    program = (
        "import _signal, sys\n"
        "before, install = set(sys.modules), _signal.signal\n"
        "def noted(*asked):\n"
        "    print(*sorted(set(sys.modules) - before - set(sys.builtin_module_names)), flush=True)\n"
        "    return install(*asked)\n"
        "_signal.signal = noted\n"
        "import distal\n"
    )
    (folder / "distal").write_text(program)
    with started(sys.executable, *SCRIPT, cwd=folder) as process:
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert out.splitlines()[0] == "distal distal.base distal.base.ctrl_c"


def test_an_evolution_says_how_to_go_on_or_had_not_begun(
    folder: Path, pytestconfig: pytest.Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    for number, moment in enumerate(moments(pytestconfig, 1.5)):
        ending = run(folder, [*MODULE, *EVOLVE, f"run-{number}"], moment)
        if ending.code == 0:
            continue
        assert interrupted(ending)
        if (folder / f"run-{number}" / "state.json").exists():
            assert main(["evolve", "--resume", f"run-{number}"]) == 0


def test_a_reproduction_which_imports_matplotlib_and_scipy(folder: Path, pytestconfig: pytest.Config) -> None:
    command = [*MODULE, "reproduce", "--maze", "maze.txt", "--steps", "9", "--hidden", "5", "--out", "here"]
    for moment in moments(pytestconfig, 4):
        assert interrupted(run(folder, command, moment))


def test_a_local_cluster_that_starts_works_and_closes_and_perhaps_a_second_one(
    folder: Path, pytestconfig: pytest.Config
) -> None:
    command = [*MODULE, *LEARN, "--cluster", "local:1"]
    for moment in moments(pytestconfig, 4):
        again = [random.uniform(0, 0.5)] * random.randrange(2)  # noqa: S311
        ending = run(folder, command, moment, *again)
        assert "fitness" in ending.out if ending.code == 0 else interrupted(ending)


# A command whose cluster takes a minute to start, or to close.
HANGING = """
import sys, time
import distal.cli, distal.engines.cluster, distributed
start = distributed.LocalCluster
if __name__ == "__main__":
    starting = lambda **asked: (start(**asked), print("starting", flush=True), time.sleep(60))
    closing = lambda *_, **__: (print("closing", flush=True), time.sleep(60))
    if sys.argv.pop(1) == "starting":
        distributed.LocalCluster = starting
    else:
        distal.engines.cluster.Cluster.shutdown = closing
    sys.exit(distal.cli.main())
"""


@pytest.mark.parametrize("when", ["starting", "closing"])
def test_one_while_a_cluster_starts_or_closes_ends_the_command_and_its_workers_at_once(
    when: str, folder: Path
) -> None:
    (folder / "distal").write_text(HANGING)
    (folder / "temporary").mkdir()
    own = {**os.environ, "TMPDIR": str(folder / "temporary")}
    long = [*LEARN, "--episodes", "1000000", "--cluster", "local:2"]
    with started(sys.executable, folder / "distal", when, *long, cwd=folder, env=own) as process:
        if when == "closing":
            assert some(process.stderr).readline() == "cluster local:2: 2 workers\n"
            time.sleep(1)  # what is imported now would end at once
            interrupt(process)
        assert some(process.stdout).readline() == f"{when}\n"
        assert len(members(process.pid)) >= 3
        began = time.monotonic()
        interrupt(process)
        _, errors = process.communicate(timeout=20)
        wait_until(lambda: not members(process.pid), 5)
        assert time.monotonic() - began < 5
    assert (process.returncode, errors) == (130, "distal: interrupted\n")
    assert when == "closing" or not list((folder / "temporary").iterdir())


SLOW = """
import time
import gymnasium

class Slow(gymnasium.Env):
    observation_space = action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        return 0, {}

    def step(self, action):
        time.sleep(0.002)
        return int(self.np_random.integers(2)), float(self.np_random.normal()), False, False, {}

gymnasium.register("Slow-v0", entry_point=Slow)
"""
IN_PROCESSES = ["--env", "slow:Slow-v0", "--workers", "2", "--trials", "4", "--steps", "9"]


@pytest.fixture
def slow(folder: Path) -> Path:
    (folder / "slow.py").write_text(SLOW)
    return folder


def test_processes_of_the_reference_engine_at_any_moment(slow: Path, pytestconfig: pytest.Config) -> None:
    command = [*MODULE, "learn", "evolved:1", "--no-chance", *IN_PROCESSES, "--episodes", "15"]
    whole = run(slow, command)
    assert whole.code == 0
    for moment in moments(pytestconfig, whole.seconds):
        ending = run(slow, command, moment)
        if interrupted(ending, whole):
            assert ending.lines[-1] == "distal: interrupted"


@pytest.mark.parametrize("times", [1, 2])
def test_an_evolution_in_processes_ends_at_once_and_says_how_to_go_on(slow: Path, times: int) -> None:
    options = ["--runs", "1", "--population", "4", "--elite-count", "1", "--generations", "1000"]
    command = [*DISTAL, "evolve", *IN_PROCESSES, *options, "--episodes", "2", "--out", "new"]
    with started(*command, cwd=slow) as process:
        wait_until((slow / "new" / "state.json").exists)
        assert len(members(process.pid)) == 3
        began = time.monotonic()
        for _ in range(times):
            interrupt(process)
        _, errors = process.communicate(timeout=20)
        assert time.monotonic() - began < 5
        wait_until(lambda: not members(process.pid), 5)
    assert process.returncode == 130
    (line,) = [line for line in errors.splitlines() if not line.startswith(("generation ", "engine "))]
    hint = "; continue with: distal evolve --resume new --import slow"
    assert line in (
        [f"distal: interrupted{hint}"]
        if times == 1
        else ["distal: interrupted", f"distal: interrupted{hint}"]
    )
    assert "Traceback" not in errors


def test_processes_end_when_the_command_is_killed(slow: Path) -> None:
    command = [*DISTAL, "learn", "evolved:1", *IN_PROCESSES, "--episodes", "100000"]
    with started(*command, cwd=slow) as process:
        wait_until(lambda: len(members(process.pid)) == 3)
        os.kill(process.pid, signal.SIGKILL)
        wait_until(lambda: not members(process.pid), 10)


def test_processes_end_with_what_they_were_started_for() -> None:
    program = (
        "import distal, os, sys, time\n"
        "from tests.processes import members, wait_until\n"
        "rule: dict = dict(maze=distal.Maze.from_text(sys.argv[1]), steps=4, episodes=2, trials=2)\n"
        "for _ in range(2):\n"
        "    distal.learn('hc', engine=distal.Runner('reference', 2), **rule)\n"
        "    wait_until(lambda: len(members(os.getsid(0))) == 1, 10)\n"
        "print('gone')\n"
    )
    environment = {**os.environ, "PYTHONPATH": f"{SOURCE}{os.pathsep}{Path(__file__).parents[2]}"}
    with started(sys.executable, "-c", program, MAZE, env=environment) as process:
        out, errors = process.communicate(timeout=60)
    assert (out, errors) == ("gone\n", "")


def test_a_command_that_was_told_to_ignore_it_continues() -> None:
    ignoring = ["sh", "-c", 'trap "" INT; exec "$@"', "sh"]
    with started(*ignoring, *DISTAL, *LEARN) as process:
        for _ in range(20):
            time.sleep(0.05)
            interrupt(process)
        out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "fitness" in out


@pytest.mark.parametrize("name", ["script.py", "distal-study.py"])
def test_a_program_that_imports_distal_keeps_its_own_ctrl_c(name: str, tmp_path: Path) -> None:
    program = (
        "import atexit, signal, sys\n"
        "before = sys.unraisablehook\n"
        "import distal, distal.cli\n"
        "assert distal.cli.main(['maze']) == 0\n"
        "assert signal.getsignal(signal.SIGINT) is signal.default_int_handler\n"
        "assert sys.unraisablehook is before\n"
    )
    (tmp_path / name).write_text(program)
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    with started(sys.executable, tmp_path / name, env=environment) as process:
        _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.parametrize(
    ("started_as", "arguments", "ours"),
    [
        (["python", "/bin/distal", "rules"], ["/bin/distal", "rules"], True),
        (["python", "-X", "dev", "-m", "distal", "rules"], ["-m", "rules"], True),
        (["python", "-mdistal"], ["-m"], True),
        (["python", "-m", "distal.cli"], ["-m"], True),
        (["python", "C:\\bin\\distal.exe"], ["C:\\bin\\distal.exe"], True),
        (["python", "-m", "pytest", "distal"], ["-m", "distal"], False),
        (["python", "study.py", "distal"], ["study.py", "distal"], False),
        (["python", "-c", "import distal"], ["-c"], False),
        (["python", "-c", "spawn", "--multiprocessing-fork"], ["/bin/distal", "rules"], False),
        (["python"], [""], False),
        (["python"], [], False),
    ],
)
def test_the_command_is_known_by_how_python_was_started(
    started_as: list[str], arguments: list[str], ours: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    from distal.base import ctrl_c

    monkeypatch.setattr(sys, "orig_argv", started_as)
    monkeypatch.setattr(sys, "argv", arguments)
    # A private function: it runs once, when Distal is imported.
    assert ctrl_c._is_command() is ours


def test_an_interrupt_that_a_finaliser_would_swallow_ends_the_command(folder: Path) -> None:
    program = (
        "import os, signal, sys\n"
        "import distal.cli, distal.engines\n"
        "class Thing:\n"
        "    def __del__(self):\n"
        "        os.kill(os.getpid(), signal.SIGINT)\n"
        "distal.engines.Runner = lambda *asked: (Thing(), None)[1]\n"
        "sys.exit(distal.cli.main())\n"
    )
    (folder / "distal").write_text(program)
    assert run(folder, [*SCRIPT, *LEARN])[:3] == (130, "", ["distal: interrupted"])
