"""The kernel of the gpu engine, without a card: compiled for the processor, its lanes taking turns.

`warp.cpp` says how. What it cannot show is left to the tests on a card (test_gpu.py):
speed, and how warps share the work.
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import replace
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from distal import Rule, Settings, engines, published_rules, triple_t_maze
from distal.engines import Batch, Trials, gpu, reference
from distal.engines.tables import maze_tables
from distal.evaluation import batch_of
from distal.experiments import random_learners
from distal.settings import READINGS
from tests.test_gpu import fading_rules, random_batch, random_settings, wide_maze

HERE = Path(__file__).parent
KERNEL = Path(gpu.__file__).with_name("trials.cu")
OUTCOMES = ("done", "lanes were at different functions", "a warp waited for itself")
COMPILER = shutil.which("c++") or shutil.which("g++")

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")

expected: Any = engines.load("cpu")

POINTERS = [
    "learner", "goal", "seed", "numbers", "added", "moves", "distances", "recorded", "best", "memory",
    "weights", "kept", "next", "claimed", "done",
]  # fmt: skip
NUMBERS = ["trials", "first", "last", "piece", "resample", "columns", "cells", "start"]


class Arguments(ctypes.Structure):
    """What `warp.cpp` calls so."""

    _fields_ = [*((name, ctypes.c_void_p) for name in POINTERS), *((name, ctypes.c_int) for name in NUMBERS)]


Run = Callable[..., Trials]


@pytest.fixture(scope="session")
def emulate(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Return what runs a batch in a warp of the processor's."""
    folder = tmp_path_factory.mktemp("kernels")
    compiled: dict[tuple[Any, ...], ctypes.CDLL] = {}

    def library(settings: Settings, climbing: bool, together: int) -> ctypes.CDLL:
        constants = gpu.definitions(settings, climbing, keep_weights=True)
        key = (*constants.items(), ("TOGETHER", together))
        if key not in compiled:
            made = folder / f"{len(compiled)}.so"
            defined = [f"-D{name}={value}" for name, value in key]
            options = (
                "-O1 -w -shared -fPIC -std=c++17 -ffp-contract=off -fno-strict-aliasing -U_FORTIFY_SOURCE"
            )
            source = [f'-DKERNEL="{KERNEL}"', *defined, str(HERE / "warp.cpp")]
            subprocess.run([str(COMPILER), *options.split(), *source, "-o", str(made)], check=True)
            compiled[key] = ctypes.CDLL(str(made))
        return compiled[key]

    def run(
        batch: Batch,
        piece: int = 4,
        together: int = 4,
        cuts: tuple[int, ...] = (),
        watch: Callable[[NDArray[np.float32]], None] = lambda hidden: None,
    ) -> Trials:
        settings, layout, n = batch.settings, gpu.Layout(batch.settings.hidden), len(batch)
        numbers, added = gpu.packed_learners(batch)
        tables = maze_tables(batch.maze, settings.blocked)
        arrays: dict[str, NDArray[Any]] = {
            "learner": batch.learner, "goal": batch.goal, "seed": batch.seed,
            "numbers": numbers, "added": added,
            "moves": aligned(gpu.with_bias(tables.moves)), "distances": tables.distances,
            "best": np.full((n, len(batch.recorded)), -1, np.int32), "memory": np.zeros((n, 2), np.int32),
            "weights": np.zeros((n, layout.size), np.float32), "kept": np.zeros((n, layout.size), np.float32),
        }  # fmt: skip
        kernel = library(settings, not isinstance(batch.learners[0], Rule), together)
        for first, last in pairwise((0, *cuts, batch.episodes)):
            arrays["recorded"] = np.ascontiguousarray(batch.columns[first:last])
            for name, size in (("next", 1), ("claimed", n), ("done", n)):
                arrays[name] = np.zeros(size, np.int32)
            arguments = Arguments(
                *(arrays[name].ctypes.data for name in POINTERS),
                n, first, last, piece, batch.resample or 0, len(batch.recorded), tables.cells,
                gpu.with_bias(tables.start),
            )  # fmt: skip
            outcome = OUTCOMES[kernel.launch(ctypes.byref(arguments))]
            assert outcome == "done"
            watch(layout.unpack(arrays["weights"])[0])
        return Trials(arrays["best"], *layout.unpack(arrays["kept"]))

    return run


def aligned(array: NDArray[np.int32]) -> NDArray[np.int32]:
    """Copy to an address that is a multiple of 16 bytes."""
    room = np.empty(len(array) + 3, np.int32)
    start = -room.ctypes.data // 4 % 4
    room[start : start + len(array)] = array
    return room[start : start + len(array)]


def assert_same(run: Run, batch: Batch, **options: Any) -> None:
    ours = run(batch, **options)
    theirs = expected.run(batch, keep_weights=True, workers=None, progress=None)
    assert (ours.best == theirs.best).all()
    for name in ("hidden", "output"):
        assert getattr(ours, name).tobytes() == getattr(theirs, name).tobytes()


def trials(kind: str, settings: Settings, episodes: int, count: int = 4) -> Batch:
    return batch_of(
        random_learners(kind, 1, count), np.arange(count, dtype=np.uint64), trials=1, episodes=episodes,
        maze=triple_t_maze(), settings=settings,
    )  # fmt: skip


@pytest.mark.parametrize("case", range(12))
def test_random_settings_mazes_and_learners_give_the_same_bits(emulate: Run, case: int) -> None:
    rng = np.random.default_rng(1_000 + case)
    settings = random_settings(rng)
    for _ in range(4):
        assert_same(
            emulate, random_batch(rng, settings, climbing=case % 4 == 3), piece=int(rng.integers(1, 9))
        )


@pytest.mark.parametrize("name", [f"{n}={v}" for n, values in READINGS.items() for v in values])
def test_every_reading_gives_the_same_bits_in_the_triple_t_maze(emulate: Run, name: str) -> None:
    reading, value = name.split("=")
    settings = Settings(**{reading: value})  # type: ignore[arg-type]
    assert_same(emulate, trials("dsp", settings, episodes=30))


@pytest.mark.parametrize("hidden", [1, 24, 25, 28, 29, 61, 64])
def test_every_shape_of_a_warp_gives_the_same_bits(emulate: Run, hidden: int) -> None:
    assert_same(emulate, trials("dsp", Settings(hidden=hidden, steps=40), episodes=12, count=2))


@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_neither_pieces_nor_launches_change_a_bit(emulate: Run, kind: str) -> None:
    batch = replace(trials(kind, Settings(), episodes=40), resample=9)
    for piece, cuts in ((1, ()), (40, ()), (3, (1, 17))):
        assert_same(emulate, batch, piece=piece, cuts=cuts)


@pytest.mark.parametrize("together", [1, 4])  # what a card gets depends on its compiler
def test_published_rules_give_the_same_bits(emulate: Run, together: int) -> None:
    rules = published_rules()
    seeds = np.arange(len(rules), dtype=np.uint64)
    assert_same(
        emulate,
        batch_of(rules, seeds, trials=1, episodes=60, maze=triple_t_maze(), settings=Settings()),
        together=together,
    )


@pytest.mark.parametrize("normalise", ["neuron", "layer"])
def test_weights_that_become_subnormal_are_divided_exactly(emulate: Run, normalise: str) -> None:
    # They hardly change what an agent does, so the weights themselves are compared, after every episode.
    episodes = 75
    batch = batch_of(
        fading_rules()[1:], np.zeros(1, np.uint64), trials=1, episodes=episodes, maze=triple_t_maze(),
        settings=Settings(normalise=normalise),
    ).part(0, 3)  # fmt: skip
    after: list[NDArray[np.float32]] = []
    emulate(batch, cuts=tuple(range(1, episodes)), watch=after.append)
    tiny = 0
    for trial in range(len(batch)):
        for k, episode in enumerate(islice(reference.episodes(batch, trial), 1, None)):
            weights = episode.weights.hidden  # of the next episode
            assert after[k][trial].tobytes() == weights.tobytes()
            tiny += int(((weights != 0) & (np.abs(weights) < 2.0**-126)).sum())
    assert tiny > 1_000


@pytest.mark.parametrize("outputs", READINGS["outputs"])
def test_walks_that_are_longer_than_the_past_are_counted_exactly(emulate: Run, outputs: str) -> None:
    settings = Settings(outputs=outputs, steps=700)
    batch = batch_of(
        random_learners("dsp", 4, 8), np.arange(8, dtype=np.uint64), trials=1, episodes=8, maze=wide_maze(),
        settings=settings,
    )  # fmt: skip
    assert_same(emulate, batch)
