"""Memory: what does not fit is refused before it starts, estimates are near the truth, nothing piles up."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, Settings, published_rule
from distal.base import memory
from distal.base.files import read_bytes, read_json, read_text, write_pieces
from distal.base.memory import free_memory
from distal.engines import Engine, reference, spread
from distal.evaluation.behaviour import Behaviour
from distal.networks import Weights
from distal.show import watch
from distal.tasks.mazes import MazeTask
from tests.batches import trials_of
from tests.command_line import refusal
from tests.doors import SameThread
from tests.mazes import T

MiB = 2**20
SMALL: dict[str, Any] = {"maze": T, "steps": 2, "hidden": 1}
RULE = published_rule(1)

linux_only = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="the system does not say")


def peak(work: Callable[[], object]) -> int:
    """Return the bytes that Python and NumPy have at most at once during some work."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def in_process(
    script: str, limit: int | None = None, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Run Python code in a process of its own, with a limit of address space in MiB."""
    ulimit = f"ulimit -v {limit * 1024}; " if limit is not None else ""
    return subprocess.run(
        ["bash", "-c", f'{ulimit}exec "$0" "$@"', sys.executable, "-c", script],
        capture_output=True, text=True, check=False, timeout=60, cwd=folder,
    )  # fmt: skip


# ------------------------------------------------------------------ what is free


def system(root: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text + "\n")
    return root


MEMINFO = {"proc/meminfo": "MemTotal: 9000 kB\nMemAvailable: 4000 kB"}
GROUP = "sys/fs/cgroup/"


@pytest.mark.parametrize(
    ("files", "free"),
    [
        ({}, None),
        (MEMINFO, 4000 * 1024),
        (  # version 2: the group's own limit; files in memory count as free
            MEMINFO
            | {
                "proc/self/cgroup": "0::/job/step",
                GROUP + "job/step/memory.max": "1000000",
                GROUP + "job/step/memory.current": "700000",
                GROUP + "job/step/memory.stat": "anon 600000\ninactive_file 50000",
            },
            350_000,
        ),
        (  # … and that of the group around it
            MEMINFO
            | {
                "proc/self/cgroup": "0::/job/step",
                GROUP + "job/step/memory.max": "max",
                GROUP + "job/step/memory.current": "700000",
                GROUP + "job/memory.max": "900000",
                GROUP + "job/memory.current": "700000",
            },
            200_000,
        ),
        (  # version 1, in a container that does not show the groups outside
            MEMINFO
            | {
                "proc/self/cgroup": "5:cpu,cpuacct:/x\n4:memory:/outside/name",
                GROUP + "memory/memory.limit_in_bytes": "800000",
                GROUP + "memory/memory.usage_in_bytes": "900000",
                GROUP + "memory/memory.stat": "inactive_file 5\ntotal_inactive_file 150000",
            },
            50_000,
        ),
        (  # more is in use than is allowed
            MEMINFO
            | {"proc/self/cgroup": "0::/", GROUP + "memory.max": "10", GROUP + "memory.current": "20"},
            0,
        ),
    ],
)
def test_free_memory_is_the_least_that_the_machine_and_its_groups_leave(
    files: dict[str, str], free: int | None, tmp_path: Path
) -> None:
    assert free_memory(system(tmp_path, files)) == free


@linux_only
def test_a_limit_of_address_space_leaves_less() -> None:
    script = "from distal.base.memory import free_memory; print(free_memory())"
    free = int(in_process(script, limit=700).stdout)
    assert 400 * MiB < free < 690 * MiB


def test_a_setting_says_how_much_may_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    for said, bytes_ in (("8G", 8 * 2**30), ("1.5 MiB", 1_572_864), ("100k", 102_400), ("unlimited", None)):
        monkeypatch.setenv(memory.SETTING, said)
        assert memory.allowed() == bytes_
    monkeypatch.setenv(memory.SETTING, "much")
    with pytest.raises(
        InputError, match="DISTAL_MEMORY is 'much', expected unlimited or a size such as 512M or 8G"
    ):
        distal.learn(RULE, trials=1, episodes=1)
    monkeypatch.delenv(memory.SETTING)
    monkeypatch.setattr("distal.base.memory.free_memory", lambda: 123)
    assert memory.allowed() == 123


# ------------------------------------------------------------------ refusals


def vector(num_envs: int) -> object:
    from distal.tasks.environment import MazeVectorEnv

    return MazeVectorEnv(num_envs)


def foreign(**options: Any) -> object:
    import gymnasium

    task = distal.EnvTask(gymnasium.make("distal/TripleTMaze-v1"))
    return distal.learn("chance", task=task, **options)


def walks() -> object:
    from distal.show.scenes import scenes

    (trial,) = watch.trials("chance", **SMALL)
    return scenes(trial, (1, 10_000))


def frames() -> object:
    from distal.show import film
    from distal.show.scenes import scenes

    (trial,) = watch.trials("chance", **SMALL)
    return film.film(scenes(trial, (1,)))


DOORS: dict[str, tuple[str, Callable[[Path], object], str]] = {
    "learn": ("400K", lambda out: distal.learn(RULE, trials=50), "400 trials of 100 episodes need .* trials"),
    "chance": ("8K", lambda out: distal.learn(RULE, trials=1), "pass chance=False"),
    "keep_ep": (
        "30K",
        lambda out: distal.learn(RULE, trials=1, episodes=900, keep_ep=True, chance=False),
        "pass keep_ep=False",
    ),
    "compare": (
        "400K",
        lambda out: distal.compare([RULE, "hc"], until_decided=True, most_trials=50),
        "400 trials of 100 episodes need .* curves",
    ),
    "climb": (
        "30K",
        lambda out: distal.climb(
            distal.HillClimbing(0.1, 0.1, 0.1), trials=2, episodes=1, keep_weights=True, chance=False
        ),
        "most of it for weights, .* pass keep_weights=False",
    ),
    "evolve": (
        "30K",
        lambda out: distal.evolve(runs=1, search=distal.GeneticAlgorithm(20), out=out),
        "smaller population",
    ),
    "runs": ("1M", lambda out: distal.evolve(runs=20, generations=0, out=out, **SMALL), "fewer runs"),
    "generations": (
        "1M",
        lambda out: distal.evolve(runs=1, generations=99_000, out=out, **SMALL),
        "1 run of 99,000 generations needs",
    ),
    "reproduce": ("10M", lambda out: distal.reproduce(out=out), "most of it for curves, .* fewer final"),
    "study": ("2M", lambda out: distal.study_readings(out=out), "most of it for pairs, .* fewer final"),
    "environment": ("10K", lambda out: foreign(trials=1, episodes=1000), "1 trial of 1,000 episodes needs"),
    "vector": ("10K", lambda out: vector(100), "100 agents need"),
    "watch": ("500K", lambda out: watch.write_page(out, "chance", episodes=1000, **SMALL), "fewer episodes"),
    "scenes": ("50K", lambda out: walks(), "10,000 episodes need"),
    "film": ("1M", lambda out: frames(), "frames need"),
}


@pytest.mark.parametrize("door", DOORS)
def test_work_that_does_not_fit_is_refused_and_leaves_nothing(
    door: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    room, work, says = DOORS[door]
    monkeypatch.setenv(memory.SETTING, room)
    with pytest.raises(InputError, match=f"{says}.*") as refused:
        work(tmp_path / "out")
    assert "are free; " in str(refused.value)
    assert str(refused.value).endswith(", or set DISTAL_MEMORY=unlimited")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "arguments",
    [
        ["learn", "evolved:1", "--trials", "10000000"],
        ["learn", "evolved:1", "--trials", "400000", "--no-chance", "--json", "--curves"],
        ["climb", "--episodes", "4000000000", "--trials", "1"],
        ["env", "FrozenLake-v1", "--trials", "100000000"],
        ["evolve", "--population", "1048576", "--out"],
        ["evolve", "--trials", "100000000", "--out"],
        ["evolve", "--runs", "1048576", "--out"],
    ],
)
def test_the_command_line_refuses_what_does_not_fit(
    arguments: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(memory.SETTING, "8G")
    out = [str(tmp_path / "out")] if arguments[-1] == "--out" else []
    said = refusal(capsys, *arguments, *out)
    assert "8.0 GiB are free; ask for fewer" in said
    beside = arguments[0] in ("learn", "climb") and "--no-chance" not in arguments
    assert ("add --no-chance" in said) == beside
    assert ("leave out --curves" in said) == ("--curves" in arguments)
    assert not (tmp_path / "out").exists()


def test_a_longer_evolution_is_refused_before_its_folder_is_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    distal.evolve(runs=1, generations=1, episodes=1, out=tmp_path / "out", **SMALL)
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    monkeypatch.setenv(memory.SETTING, "5M")
    with pytest.raises(InputError, match="1 run of 1,000,000 generations needs"):
        distal.resume(tmp_path / "out", generations=1_000_000)
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before


# ------------------------------------------------------------------ estimates

BEGIN = f"""
import distal
SMALL = {{"maze": distal.Maze({T.picture!r}), "steps": 2, "hidden": 1}}
"""

# All works begin in copies of one process, which has imported and loaded what they need.
MEASURE = """
import gc, os, re, sys, traceback
from distal import cli
from distal.base import memory
from distal.tasks.mazes import MazeTask

def number(field):
    return 1024 * int(re.search(rf"{field}:\\s*(\\d+)", open("/proc/self/status").read())[1])

def individuals(count):
    return distal.GeneticAlgorithm(population=count)

estimates = []
memory.Estimate.check = lambda estimate: estimates.append(estimate.total)
sys.argv[0] = "distal"

def begin():
    distal.learn("paper:1", trials=1, episodes=1, keep_ep=True, **SMALL)
    distal.evolve(runs=1, generations=1, search=individuals(5), trials=1, episodes=1, **SMALL)
    estimates.clear()
    gc.collect()

def measure(name, work):
    os.mkdir(name)
    os.chdir(name)
    begin()  # once more: a copy has not touched the code yet
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts over
    before = number("VmRSS")
    exec(work)
    print("measured", name, max(estimates), number("VmHWM") - before, file=sys.stderr)

begin()
for name, work in WORK.items():
    if os.fork() == 0:
        try:
            measure(name, work)
        except BaseException:
            traceback.print_exc()
        os._exit(0)
    os.wait()
"""

WORK = {
    "curves": "distal.learn('paper:1', trials=500, episodes=2000, keep_ep=True, **SMALL).behaviour",
    "trials": "distal.learn('paper:1', trials=100_000, episodes=1, **SMALL)",
    "weights": "distal.learn('paper:1', trials=10_000, episodes=1, chance=False, keep_weights=True, "
    "**SMALL | {'hidden': 20})",
    "JSON": "cli.main('learn paper:1 --maze ../maze.txt --steps 2 --hidden 1 --trials 150 --episodes 1000 "
    "--json --curves'.split())",
    "rules": "distal.evolve(runs=1, generations=1, search=individuals(10_000), trials=1, episodes=1, "
    "out='out', **SMALL)",
    "climbers": "distal.evolve('hc', runs=1, generations=1, search=individuals(24_000), trials=1, "
    "episodes=1, out='out', **SMALL)",
    "runs": "distal.evolve(runs=600, generations=1, search=individuals(5), trials=1, episodes=1, **SMALL)",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("measured")
    (folder / "maze.txt").write_text("\n".join(T.picture))
    return in_process(f"{BEGIN}WORK = {WORK}\n{MEASURE}", folder=folder).stderr


@linux_only
@pytest.mark.parametrize("work", WORK)
def test_estimates_are_near_what_is_used(work: str, measured: str) -> None:
    found = re.search(rf"^measured {work} (\d+) (\d+)$", measured, re.MULTILINE)
    assert found is not None, measured
    estimated, used = map(int, found.groups())
    assert used > 20 * MiB, "too little to compare"
    assert 0.7 < estimated / used < 1.6


# ------------------------------------------------------------------ nothing piles up


def test_the_reference_engine_keeps_only_what_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = 100_000
    batch = trials_of([RULE], Settings(), episodes, 10, MazeTask(T), record=(episodes,))
    none = Weights(np.zeros((1, 1), np.float32), np.zeros((1, 1), np.float32))
    monkeypatch.setattr(reference, "run_trial", lambda *_: (np.ones(episodes, np.int32), none, 0, 1))
    assert peak(lambda: reference.engine.run(batch)) < 4 * 4 * episodes  # one trial at a time, of twenty


def test_a_long_trial_has_no_list_of_its_episodes() -> None:
    batch = trials_of([RULE], Settings(), 10**6, task=MazeTask(T))
    assert peak(lambda: batch.columns) < 5 * 10**6
    assert batch.columns.tolist() == list(range(10**6))
    assert replace(batch, episodes=4, record=(2, 4)).columns.tolist() == [-1, 0, -1, 1]


def test_what_workers_send_back_is_not_held_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spread, "TASK", 0.01)
    monkeypatch.setattr(spread, "SHORTEST", 0.01)
    monkeypatch.setattr(Engine, "pace", 10_000)
    seconds = count(0.0)  # a second at every look: a slow worker, so that blocks stay small
    monkeypatch.setattr("distal.engines.spread.time.perf_counter", lambda: next(seconds))
    options: dict[str, Any] = {"trials": 100, "episodes": 10_000, "chance": False, **SMALL}
    runner, results = distal.Runner(executor=SameThread()), 4 * 200 * 10_000
    distal.learn(RULE, engine=runner, **{**options, "episodes": 1})  # the engine's code is loaded once
    assert peak(lambda: distal.learn(RULE, engine=runner, **options)) < 1.3 * results


def test_behaviour_is_counted_without_large_arrays() -> None:
    ep = np.random.default_rng(1).integers(0, 200, (100, 10_000), np.int32)
    assert peak(lambda: Behaviour.of(ep, 1)) < 1.5 * ep.size


def test_a_table_is_written_piece_by_piece(tmp_path: Path) -> None:
    result = distal.learn(RULE, trials=50, episodes=500, keep_ep=True, **SMALL)
    pieces = (piece.encode() for piece in result.csv_pieces())
    assert peak(lambda: write_pieces(tmp_path / "table.csv", pieces)) < 400_000
    assert (tmp_path / "table.csv").read_bytes() == result.to_csv().encode()
    assert (tmp_path / "table.csv").stat().st_size > 600_000


def test_pieces_that_fail_leave_the_old_file_and_no_other(tmp_path: Path) -> None:
    def pieces() -> Iterator[bytes]:
        yield b"new"
        raise KeyboardInterrupt

    (tmp_path / "file").write_text("old")
    with pytest.raises(KeyboardInterrupt):
        write_pieces(tmp_path / "file", pieces())
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


LONG = """
import gc
import tracemalloc

marks = {}

def note(step):
    if step.generation in (30, 120):
        gc.collect()
        marks[step.generation] = tracemalloc.get_traced_memory()[0]

tracemalloc.start()
few = distal.GeneticAlgorithm(population=2, elite_count=1)
distal.evolve(runs=100, generations=120, search=few, trials=1, episodes=1, progress=note, out="out", **SMALL)
print(marks[120] - marks[30])
"""


def test_a_long_evolution_does_not_grow(tmp_path: Path) -> None:
    done = in_process(BEGIN + LONG, folder=tmp_path)
    numbers = 24 * 100 * 90  # three a run and generation; as rows of text they would take 3.6 MB
    assert int(done.stdout) < 7 * numbers, done.stderr  # arrays grow ahead of what they hold


# ------------------------------------------------------------------ files


@pytest.mark.parametrize("command", [["learn"], ["maze"], ["climb"], ["rules"], ["bench", "--against"]])
@pytest.mark.parametrize("kind", ["pipe", "zeros", "sparse", "folder"])
def test_what_is_no_file_of_a_sane_size_is_refused_at_once(
    command: list[str], kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "file"
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "zeros":
        path = Path("/dev/zero")
    elif kind == "folder":
        path.mkdir()
    else:
        with path.open("wb") as file:
            file.truncate(2**31)
    said = refusal(capsys, *command, str(path))
    problems = {
        "sparse": "it has 2,147,483,648 bytes, at most 1,048,576 are allowed",
        "folder": "Is a directory",
    }
    assert problems.get(kind, "it is not a regular file") in said


def test_limits_are_exact_and_texts_have_plain_line_ends(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"12\r\n3\r4\n")
    assert read_bytes(path, "file", most=8) == b"12\r\n3\r4\n"
    assert read_text(path, "file") == "12\n3\n4\n"
    with pytest.raises(InputError, match="it has 8 bytes, at most 7 are allowed"):
        read_text(path, "file", most=7)
    with pytest.raises(InputError, match="it holds a NUL character"):
        read_bytes("a\0b", "file")


# ------------------------------------------------------------------ a small address space


@linux_only
@pytest.mark.parametrize(
    ("limit", "arguments", "needed"),
    [
        (60, ["learn", "paper:1"], "distal needs 128 MiB"),
        (200, ["learn", "paper:1"], "engine cpu needs"),
        (600, ["evolve", "--out", "out"], "engine cpu needs"),
    ],
)
def test_a_small_address_space_is_refused_in_one_line(
    limit: int, arguments: list[str], needed: str, tmp_path: Path
) -> None:
    script = f"import sys; sys.argv[0] = 'distal'\nfrom distal.cli import main; sys.exit(main({arguments!r}))"
    done = in_process(script, limit=limit, folder=tmp_path)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith(f"distal: error: {needed}")
    assert done.stderr.count("\n") == 1
    assert not list(tmp_path.iterdir())


@linux_only
def test_a_small_address_space_is_an_exception_in_python() -> None:
    done = in_process("import distal", limit=60)
    assert done.stderr.splitlines()[-1].startswith("MemoryError: distal needs 128 MiB of address space")


@linux_only
def test_more_threads_than_the_address_space_holds_are_refused() -> None:
    script = (
        "import distal; distal.learn('paper:1', trials=200, episodes=1, engine=distal.Runner(workers=1000))"
    )
    done = in_process(script, limit=3000)
    assert "InputError: engine cpu with 1,000 workers needs 7.8 GiB of address space" in done.stderr


def test_a_small_file_takes_little_however_large_it_may_be(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"[]")
    assert peak(lambda: read_json(path, "file", most=2**30)) < MiB


def test_a_bomb_of_empty_lists_is_refused_before_it_is_unpacked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bomb.json"
    path.write_text("[" + "[]," * 300_000 + "0]")
    monkeypatch.setenv("DISTAL_MEMORY", "15M")
    assert peak(lambda: json.loads(path.read_text())) > 15 * MiB
    with pytest.raises(InputError, match="of memory, most of it for numbers and lists"):
        read_json(path, "file")
    path.write_text("{" + ",".join(f'"{number % 89_999}": 0' for number in range(90_000)) + "}")
    monkeypatch.delenv("DISTAL_MEMORY")
    with pytest.raises(InputError, match="the name '0' occurs twice"):
        read_json(path, "file", most=2**24)
