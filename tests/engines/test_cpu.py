"""The cpu engine gives the bits of the reference engine, and behaves."""

from __future__ import annotations

import ast
import errno
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from numba.core.event import Event, EventStatus

from distal import (
    Chance,
    Eligibility,
    EvolutionStrategy,
    HillClimbing,
    InputError,
    Maze,
    Rule,
    Settings,
    learn,
    published_rules,
    triple_t_maze,
)
from distal.engines import Batch, Runner, Trials, cpu
from distal.engines.cpu import cache, counting, kernels, packed
from distal.engines.cpu.workspace import stride_of, workspace
from distal.engines.reference import engine as reference
from distal.engines.reference import episodes as episodes_of
from distal.engines.threads import shares
from distal.learners import Learner
from distal.model.draws import child_seed
from distal.model.readings import READINGS
from distal.tasks.mazes import MazeTask, maze_table
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.batches import random_trials, random_wide_maze, trials_of
from tests.conftest import assert_equal_trials
from tests.given import some
from tests.mazes import T
from tests.processes import DISTAL, interrupt, started
from tests.strategies import chances, climbers, counted, mazes, rules, seeds, settings_of, strategists

TRACES = Eligibility(0.9, -0.3, 0.2, 0.1, -0.8, 0.4, 0.1, -0.2, 1.0, 0.4, 0.5, 0.6)


LEARNERS = (rules, counted, climbers, strategists, chances)


def assert_same(batch: Batch, workers: int = 1) -> Trials:
    expected = reference.run(batch, keep_weights=True, keep_ep=True)
    actual = cpu.engine.run(batch, keep_weights=True, keep_ep=True, workers=workers)
    assert_equal_trials(actual, expected, batch.phase)
    return actual


def batch_of(
    learners: tuple[Learner, ...],
    maze: Maze,
    settings: Settings,
    seed: int,
    episodes: int,
    resample: int | None = None,
    trials: int = 1,
) -> Batch:
    """Return trials of every learner for each final position; all learners have one seed."""
    seeds = np.full(len(learners), seed, np.uint64)
    task = MazeTask(maze)
    return trials_of(learners, settings, episodes, trials, task, resample=resample, seeds=seeds)


@given(
    st.one_of(
        *(st.lists(kind, min_size=1, max_size=3) for kind in (rules, counted, climbers, strategists, chances))
    ),
    mazes(),
    settings_of(max_hidden=70, max_steps=60),
    seeds,
    st.integers(1, 15),
    st.sampled_from([None, 1, 2, 7]),
    st.integers(1, 3),
)
@hypothesis_settings(max_examples=70)
def test_any_batch_gives_the_same_bits(
    learners: list[Learner],
    maze: Maze,
    settings: Settings,
    seed: int,
    episodes: int,
    resample: int | None,
    workers: int,
) -> None:
    assert_same(batch_of(tuple(learners), maze, settings, seed, episodes, resample), workers)


@pytest.mark.parametrize("hidden", [1, 2, 8, 9, 20, 31, 32, 33, 64, 65, 128, 160, 256])
def test_every_shape_of_network_gives_the_same_bits(hidden: int) -> None:
    rule = published_rules()[1]
    climber = HillClimbing(0.3, 0.4, 0.6)
    for learner in (rule, TRACES, climber, Chance(0.4, 0.6)):
        settings = Settings(hidden=hidden, steps=40)
        assert_same(batch_of((learner,), T, settings, seed=hidden, episodes=12, resample=8))


@pytest.mark.parametrize("outputs", READINGS["outputs"])
@pytest.mark.parametrize("blocked", READINGS["blocked"])
@pytest.mark.parametrize("normalise", READINGS["normalise"])
def test_every_reading_gives_the_same_bits_on_the_triple_t_maze(
    outputs: str, blocked: str, normalise: str
) -> None:
    rules = published_rules()
    for rule, m_ties, trace_pre in ((rules[0], "reward", "current"), (rules[7], "punish", "previous")):
        settings = Settings(
            outputs=outputs, blocked=blocked, normalise=normalise, m_ties=m_ties, trace_pre=trace_pre
        )
        assert_same(batch_of((rule,), triple_t_maze(), settings, seed=1, episodes=8).part(2, 4))


@pytest.mark.parametrize(
    ("learner", "resample", "seed"),
    [
        (published_rules()[9], None, 1),
        (HillClimbing(0.6, 0.9, 0.7), 100, 3),
        (EvolutionStrategy(0.6, 1.3, 0.9, 0.7), None, 3),
        (TRACES, None, 2),
    ],
)
def test_a_thousand_episodes_end_in_the_same_bits(learner: Learner, resample: int | None, seed: int) -> None:
    settings = Settings(hidden=6, steps=15)
    assert_same(batch_of((learner,), T, settings, seed, 1000, resample).part(1, 2))


@pytest.mark.parametrize("trace_pre", READINGS["trace_pre"])
def test_long_episodes_and_many_states_give_the_same_bits(trace_pre: str) -> None:
    # random actions never repeat themselves, so every step is walked
    settings = Settings(hidden=12, steps=1000, outputs="random", trace_pre=trace_pre)
    wild = Rule([1, -1] * 16, eta=1, theta=0.1, alpha_h=1, alpha_o=1)
    maze = triple_t_maze()
    assert_same(batch_of((wild,), Maze(maze.picture, "south"), settings, seed=5, episodes=3))


@pytest.mark.parametrize("case", range(12))
def test_walks_through_wide_corridors_and_rooms_give_the_same_bits(case: int) -> None:
    # Walks are long there: with up to 300 steps there are more states than a place has bits for.
    rng = np.random.default_rng(500 + case)
    readings: dict[str, Any] = {name: str(rng.choice(list(values))) for name, values in READINGS.items()}
    settings = Settings(hidden=int(rng.integers(5, 33)), steps=(60, 300)[case % 2], **readings)
    kind = ("dsp", "dsp", "hc", "chance")[case % 4]
    task = MazeTask(triple_t_maze() if case < 4 else random_wide_maze(rng))
    assert_same(random_trials(rng, kind, task, settings, episodes=8, trials=4))


def wide_task() -> TableTask:
    """Make a task of 30 states and two goals, with five inputs and three actions."""
    words = np.random.default_rng(7)
    ends = np.zeros((2, 30), int)
    ends[[0, 1], [28, 29]] = 1
    table = Table.of(
        words.integers(0, 2, (30, 5)), words.integers(0, 30, (30, 3)), np.ones((30, 3), int), ends
    )
    return TableTask(table)


@pytest.mark.parametrize("states", [4096, 4097])
def test_as_many_states_as_a_way_can_name_and_one_more_give_the_same_bits(states: int) -> None:
    words = np.random.default_rng(states)
    following = words.integers(states - 64, states, (states, 4))  # the last states, where a way is full
    ends = np.zeros((1, states), int)
    ends[0, states - 1] = 1
    costs = words.choice([1, 1, 1, 7], (states, 4))
    task = TableTask(Table.of(words.integers(0, 2, (states, 3)), following, costs, ends))
    assert (packed(task.table(Settings())).ways.size == states) == (states == 4096)
    assert_same(random_trials(words, "dsp", task, Settings(hidden=10, steps=60), episodes=8, trials=4))


@pytest.mark.parametrize("task", [MazeTask(triple_t_maze()), wide_task()], ids=["narrow", "wide"])
@pytest.mark.parametrize(
    "more",
    [{}, {"resample": 11}, {"switch": Switch(9, (0, 1))}, {"resample": 10, "switch": Switch(15, (0, 1))}],
    ids=str,
)
def test_episodes_that_repeat_the_one_before_or_begin_like_it_give_the_same_bits(
    task: MazeTask | TableTask, more: dict[str, Any]
) -> None:
    # Weights that change little seldom change what the network does, and seldom all of it.
    rules = tuple(Rule([(5 * row + k) % 3 - 1 for row in range(32)], 0.03, 0.3, 0.6, 0.5) for k in range(3))
    traces = tuple(replace(TRACES, a_plus=a, b_plus=-a / 2, d_plus=0.05, eta=1.0) for a in (-0.5, 0.1, 0.9))
    for learners, m_ties in product((rules, traces), READINGS["m_ties"]):
        batch = Batch(
            learners=learners,
            learner=np.arange(3, dtype=np.int32),
            goal=np.arange(3, dtype=np.int32) % 2,
            seed=np.array([child_seed(11, k) for k in range(3)], np.uint64),
            task=task,
            settings=Settings(hidden=10, steps=40, m_ties=m_ties),
            episodes=40,
            **more,
        )
        ep = some(assert_same(batch).ep)
        assert 0.3 < (ep[:, 1:] == ep[:, :-1]).mean() < 0.95


@pytest.mark.parametrize("task", [MazeTask(triple_t_maze()), wide_task()], ids=["narrow", "wide"])
def test_the_step_of_a_strategy_begins_anew_with_fresh_weights_and_a_moved_goal(
    task: MazeTask | TableTask,
) -> None:
    batch = Batch(
        learners=(EvolutionStrategy(0.4, 1.8, 0.6, 0.5), EvolutionStrategy(0.9, 1.0, 0.6, 0.5)),
        learner=np.arange(6, dtype=np.int32) % 2,
        goal=np.arange(6, dtype=np.int32) % 2,
        seed=np.array([child_seed(6, k) for k in range(6)], np.uint64),
        task=task,
        settings=Settings(hidden=10, steps=40),
        episodes=40,
    )
    for more in ({}, {"resample": 11}, {"switch": Switch(9)}, {"resample": 10, "switch": Switch(15)}):
        moving = replace(batch, **more)
        strategies = assert_same(moving)
        climbers = replace(
            moving, learners=tuple(HillClimbing(one.numbers["sigma"], 0.6, 0.5) for one in batch.learners)
        )
        found = cpu.engine.run(climbers)
        # With a factor of 1 it is hill climbing; with another it is not.
        same = [np.array_equal(strategies.best[k::2], found.best[k::2]) for k in range(2)]
        assert same == [False, True]


def test_traces_that_fade_are_refused_and_say_which_engine_runs_them() -> None:
    fading = replace(TRACES, decay=0.99)
    batch = batch_of((TRACES, fading), T, Settings(hidden=5, steps=10), seed=1, episodes=2)
    line = (
        "engine cpu counts the steps of traces, so it runs learners of kind 'eligibility' with decay 1 alone"
    )
    assert cpu.engine.supports(batch) == f"{line}; use engine steps"
    with pytest.raises(InputError, match="with decay 1 alone"):
        cpu.engine.run(batch)
    assert Runner().suited(batch).engine == "steps"
    assert Runner().suited(replace(batch, learners=(TRACES, TRACES))).engine == "cpu"


@pytest.mark.parametrize("hidden", [20, 28, 70])
def test_what_vectors_are_loaded_from_begins_with_a_cache_line(hidden: int) -> None:
    space = workspace(hidden, 10, packed(maze_table(T, "turn")))
    for name in ("weights", "best", "sums", "felt", "reached", "pattern", "chosen", "change"):
        assert getattr(space, name).ctypes.data % 64 == 0, name
    assert stride_of(hidden, packed(maze_table(T, "turn"))) % 32 == 0


def test_subnormal_weights_give_the_same_bits() -> None:
    # Synapses whose pre-synaptic neuron is always active grow (the biases are among them); the norm
    # halves the others with every episode, until they are subnormal, and on to zero.
    rule = Rule([1] * 8 + [0] * 24, eta=1, theta=0, alpha_h=0.5, alpha_o=0.5)
    batch = batch_of((rule,), T, Settings(hidden=3, steps=6), seed=2, episodes=200)
    weights = np.stack([episode.weights.hidden for episode in episodes_of(batch, 0)])
    assert ((weights != 0) & (np.abs(weights) < np.finfo(np.float32).tiny)).any()
    assert_same(batch)


@given(st.integers(1, 5000), st.integers(1, 64))
def test_blocks_cover_every_trial_once_and_end_small(trials: int, workers: int) -> None:
    blocks = list(shares(trials, workers))
    assert [trial for first, last in blocks for trial in range(first, last)] == list(range(trials))
    assert blocks[-1][1] - blocks[-1][0] == 1


def test_an_exception_in_a_trial_names_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = batch_of((published_rules()[0],), T, Settings(), seed=0, episodes=2, trials=4)

    def failing(first: int, last: int, *arguments: Any) -> None:
        counter = arguments[-1]
        for trial in range(first, last):
            counter[1] = trial
            if trial == 5:
                raise FloatingPointError("no luck")

    monkeypatch.setattr(kernels, "dsp_trials", failing)
    with pytest.raises(RuntimeError, match=rf"trial 5 \(goal 1, seed {batch.seed[5]}\) failed: no luck"):
        cpu.engine.run(batch, workers=2)


def test_a_stopped_run_ends_within_a_second() -> None:
    """Raise KeyboardInterrupt from the progress callback, as Ctrl-C does in the waiting thread."""

    def interrupt(_: int) -> None:
        raise KeyboardInterrupt

    began = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        learn("paper:1", episodes=3_000_000, trials=1, engine=Runner("cpu", 2), progress=interrupt)
    assert time.monotonic() - began < 30  # hours, had it continued
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("distal")]


def test_ctrl_c_during_a_compiled_call_ends_with_one_line() -> None:
    with started(*DISTAL, "learn", "paper:1", "--episodes", "3000000", "--trials", "1") as process:
        time.sleep(2.5)
        assert process.poll() is None
        interrupt(process)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out) == (130, "")
    assert err.splitlines()[-1] == "distal: interrupted"
    assert len(err.splitlines()) <= 2  # perhaps a line about compiling before it


# The smallest processor of this kind: no AVX, no FMA, no AVX-512.
PLAIN = {"NUMBA_CPU_NAME": "generic", "NUMBA_CPU_FEATURES": ""}
COMPILED = """
import sys
from distal import HillClimbing, learn
from distal.engines.cpu import kernels
result = learn({learner!r}, episodes=40, trials=2, keep_weights=True, chance=False)
stats = kernels.{kernel}.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()), flush=True)
for array in (result.best, result.hidden, result.output):
    sys.stdout.buffer.write(array.tobytes())
"""


def learned_in_a_process(
    learner: str | HillClimbing, kernel: str, **environment: str
) -> tuple[str, list[str]]:
    """Learn in a process of its own, and check that the bits are those of this one.

    Returns:
        How often compiled code was found, and was not; and what was told on stderr.
    """
    ours = learn(learner, episodes=40, trials=2, keep_weights=True, chance=False)
    done = subprocess.run(
        [sys.executable, "-c", COMPILED.format(learner=learner, kernel=kernel)],
        capture_output=True, check=True, env={**os.environ, **environment},
    )  # fmt: skip
    found, _, arrays = done.stdout.partition(b"\n")
    assert arrays == ours.best.tobytes() + some(ours.hidden).tobytes() + some(ours.output).tobytes()
    return found.decode(), done.stderr.decode().splitlines()


def test_what_one_process_has_compiled_another_finds_and_says_nothing() -> None:
    assert learned_in_a_process("paper:2", "dsp_trials") == ("1 0", [])


def test_compiling_is_said_once_in_a_process_however_many_kernels_an_engine_has(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cpu.Announcement, "said", set())
    begins = {"dsp": kernels.dsp_trials, "hc": kernels.climbing_trials}
    for kernel in begins.values():
        announcement = cpu.Announcement("engine cpu", kernel)
        for dispatcher in begins.values():  # one of them is not its own
            announcement.on_start(Event("numba:compile", EventStatus.START, {"dispatcher": dispatcher}))
    assert caplog.messages == [
        "compiling engine cpu: about ten seconds per kind of learner, once; later runs reuse it"
    ]


def test_without_a_folder_to_write_to_a_plain_processor_compiles_says_so_and_gives_the_same_bits() -> None:
    climber, nowhere = HillClimbing(0.2, 0.3, 0.4), {"XDG_CACHE_HOME": os.devnull, "NUMBA_CACHE_DIR": ""}
    _, told = learned_in_a_process(climber, "climbing_trials", **PLAIN, **nowhere)
    assert told == [
        "no folder can be written to: engine cpu is compiled again in every run",
        "compiling engine cpu: about ten seconds per kind of learner",
    ]


def test_a_change_in_any_file_that_is_compiled_in_means_another_place_for_compiled_code(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared: tuple[Any, ...] = (kernels.dsp_trials, kernels.climbing_trials, counting.counted_trial)
    for kernel in declared:
        # Numba's private record of where code is kept.
        assert Path(kernel._cache.cache_path).parent == cache.folder()
    for source in cache.SOURCES:
        (tmp_path / source).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(cache.PACKAGE / source, tmp_path / source)
    before = cache.folder()
    monkeypatch.setattr(cache, "PACKAGE", tmp_path)
    assert cache.folder() == before
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))
    places = {cache.folder()}
    for source in cache.SOURCES:
        with (tmp_path / source).open("a") as file:
            file.write("\n# changed\n")
        places.add(cache.folder())
    assert len(places) == 1 + len(cache.SOURCES)
    assert all(place is not None and tmp_path / "kept" in place.parents for place in places)


def test_every_file_that_a_kernel_takes_something_from_is_watched() -> None:
    taken = set()
    ours = [source for source in cache.SOURCES if source.startswith("engines/cpu/")]
    for source in (*ours, "model/lanes.py", "model/compiled_draws.py"):
        for node in ast.walk(ast.parse((cache.PACKAGE / source).read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("distal."):
                taken.add(node.module.removeprefix("distal.").replace(".", "/") + ".py")
    assert taken - {"engines/cpu/cache.py"} <= set(cache.SOURCES)


@pytest.fixture
def doubled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], tuple[int, int]]:
    """Return what declares two small kernels anew, runs them, and counts what was found and compiled."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "kept"))

    def once(x: int) -> int:
        return x + 1

    def twice(x: int) -> int:
        return 2 * x

    def run() -> tuple[int, int]:
        pair = numba.njit(once), numba.njit(twice)
        cache.keep_compiled(*pair)
        assert (pair[0](20), pair[1](21)) == (21, 42)
        stats = [kernel.stats for kernel in pair]
        return tuple(
            sum(sum(counts.values()) for counts in kind)
            for kind in ([one.cache_hits for one in stats], [one.cache_misses for one in stats])
        )  # type: ignore[return-value]

    return run


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-len(data) // 3] ^= 0xFF
    path.write_bytes(data)


@pytest.mark.parametrize("kind", ["nbi", "nbc"])
@pytest.mark.parametrize("harm", ["cut", "emptied", "flipped", "swapped", "gone", "foreign"])
def test_damaged_compiled_code_is_compiled_again(
    doubled: Callable[[], tuple[int, int]], tmp_path: Path, kind: str, harm: str
) -> None:
    assert doubled() == (0, 2)
    assert doubled() == (2, 0)
    first, second = sorted((tmp_path / "kept").rglob(f"*.{kind}"))
    if harm == "swapped":
        one, other = first.read_bytes(), second.read_bytes()
        first.write_bytes(other)
        second.write_bytes(one)
    for path in (first, second):
        if harm == "cut":
            path.write_bytes(path.read_bytes()[:-7])
        elif harm == "emptied":
            path.write_bytes(b"")
        elif harm == "flipped":
            flip(path)
        elif harm == "gone":
            path.unlink()
        elif harm == "foreign":
            path.write_bytes(b"\x80\x04no pickle of ours")
    assert doubled() == (0, 2)
    assert doubled() == (2, 0)


def test_a_full_disk_under_compiled_code_is_told_once_and_stops_nothing(
    doubled: Callable[[], tuple[int, int]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    # Private: that it has been told, perhaps by another test; and what writes the files.
    monkeypatch.setattr(cache, "_warned", set())
    monkeypatch.setattr(cache.SealedFiles, "_open_for_write", full)
    assert doubled() == (0, 2)
    monkeypatch.setattr("tempfile.TemporaryFile", full)  # by which Numba sees whether it can write
    assert doubled() == (0, 2)
    assert not list((tmp_path / "kept").rglob("*.nb?"))
    (record,) = caplog.records
    assert "No space left on device: engine cpu is compiled again in every run" in record.getMessage()


def test_other_compilers_mean_another_place(monkeypatch: pytest.MonkeyPatch) -> None:
    prints = {cache.fingerprint()}
    for module in (numba, llvmlite, np):
        with monkeypatch.context() as patch:
            patch.setattr(module, "__version__", "99")
            prints.add(cache.fingerprint())
    assert len(prints) == 4


def test_only_the_youngest_folders_of_other_sources_stay(tmp_path: Path) -> None:
    for number in range(cache.KEPT + 3):
        old = tmp_path / f"cpu-{number}"
        old.mkdir()
        os.utime(old, (number, number))
    ours = tmp_path / "cpu-ours"
    ours.mkdir()
    # A private function: it runs once in a process, when the first kernel is declared.
    cache._forget(ours)
    assert {path.name for path in tmp_path.iterdir()} == {
        "cpu-ours", *(f"cpu-{number}" for number in range(3, cache.KEPT + 3))
    }  # fmt: skip


def test_what_is_not_recorded_takes_no_memory() -> None:
    batch = replace(batch_of((published_rules()[0],), T, Settings(), 0, episodes=1_000), record=(10, 1_000))
    job = cpu.Job(batch, keep_weights=False, keep_ep=False)
    assert job.best.shape == (len(batch), 2)
    assert (cpu.engine.run(batch).best == cpu.engine.run(replace(batch, record=None)).best[:, [9, 999]]).all()
