"""The measurements of engine gpu, on the card at hand."""

from __future__ import annotations

import importlib.util
import tempfile
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from distal import engines
from distal.bench import (
    NARROW_MAZE,
    Timing,
    against_jax,
    alternating,
    chance_beside,
    every_ep,
    generation,
    of_every_kind,
    python,
    times,
    wide_and_narrow,
)
from distal.engines import Batch
from distal.engines.gpu import engine as gpu
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.kernel import kernel_for
from distal.learners.shipped import published_rules
from distal.model.maze import DEFAULT_MAZE
from distal.model.readings import BINARY, SIGMOID
from distal.search.evolve import evolve
from distal.studies.plans.reproduce import random_learners
from distal.studies.reproduction import RESAMPLE

RULES = 15 * 14  # one generation of all fifteen runs
_GENERATION = f"one generation of fifteen runs: {RULES} random rules × 40 trials × 100 episodes"


def run(quick: bool = False) -> Iterator[Timing]:
    """Yield every row as it is measured."""
    gpu.check()
    repeats = 5 if quick else 101  # about a second for each row: a card takes a while to speed up
    dsp, climbing = first_generation("dsp"), first_generation("hc")
    alone = _generation("generation", _GENERATION, 2.5, dsp, repeats)
    once = float(np.median(alone.samples)) / 1e3
    yield alone
    narrow = first_generation("dsp", maze=NARROW_MAZE)
    yield _generation("generation_narrow", f"{_GENERATION}, {NARROW_MAZE}", 2.5, narrow, repeats)
    yield from wide_and_narrow(gpu.run, _in_maze, repeats)
    seconds = alternating([partial(gpu.run, dsp), partial(gpu.run, climbing)], repeats)
    what = "time of the same for hill climbing, in DSP generations"
    yield Timing.of("climbing", what, seconds[1] / seconds[0], target=3)
    yield chance_beside(gpu.run, 50, repeats)
    yield every_ep(gpu.run, replace(dsp, record=None), repeats)
    sigmoid = replace(dsp, settings=replace(dsp.settings, neurons=SIGMOID))
    yield _generation("sigmoid_generation", f"{_GENERATION}, sigmoid neurons", 8, sigmoid, repeats)
    yield from _kernels(dsp)
    if quick:
        return
    yield _against_jax(dsp, repeats)
    yield _against_jax(sigmoid, repeats)
    yield _against_cpu(dsp, once)
    yield _evolution()
    yield _long_tests()
    yield from _many(episodes_per_second=len(dsp) * 100 / once)
    yield _first_call()


def first_generation(kind: str, count: int = RULES, maze: str = DEFAULT_MAZE) -> Batch:
    """Return the batch that evaluates random learners as an evolution does: by the best EP in the end."""
    return replace(generation(random_learners(kind, 0, count), maze=maze), record=(100,))


def _in_maze(maze: str) -> dict[str, Batch]:
    """Return a generation of each kind of learner, in a maze; that of rules that are given is as large."""
    batches = of_every_kind(maze, RULES, trials=70)
    return {name: replace(batch, record=(100,)) for name, batch in batches.items()}


def _generation(name: str, what: str, target: float, batch: Batch, repeats: int) -> Timing:
    """Measure a generation after the same, as in an evolution."""
    return Timing.of(name, what, times(partial(gpu.run, batch), repeats) * 1e3, "ms", target)


def _kernels(batch: Batch) -> Iterator[Timing]:
    """Yield what the compiler made of the two kernels."""
    for climbing, name in ((False, "DSP"), (True, "hill climbing")):
        kernel = kernel_for(0, tuple(definitions(batch.settings, 3, 4, climbing=climbing).items()))
        function = kernel.function
        what = f"registers a lane, {name}, 20 hidden neurons"
        note = (
            f"{kernel.warps:,} warps on the card, {function.local_size_bytes} bytes spilled, "
            f"{function.shared_size_bytes:,} bytes of shared memory a warp"
        )
        row = f"registers_{'hc' if climbing else 'dsp'}"
        yield Timing(row, what, function.num_regs, "", at_least=False, note=note)


def _against_jax(batch: Batch, repeats: int) -> Timing:
    neurons = batch.settings.neurons
    what = "faster than the JAX program on the same card, the same generation"
    binary = neurons == BINARY

    def note(jax: dict[str, Any], ours: float) -> str:
        return (
            f"JAX {jax['seconds'] * 1e3:,.0f} ms on {jax['device']}, ours {ours * 1e3:.2f} ms; both compiled"
        )

    return against_jax(
        what if binary else f"{what}, {neurons} neurons", 100 if binary else 30, partial(gpu.run, batch),
        repeats, note, needs="JAX for CUDA", options=("--rules", str(RULES), "--neurons", neurons),
        name="against_jax" if binary else f"{neurons}_against_jax",
        XLA_PYTHON_CLIENT_PREALLOCATE="false",
    )  # fmt: skip


def _against_cpu(batch: Batch, seconds: float) -> Timing:
    what = "faster than the cpu engine on all cores of this machine, the same generation"
    if importlib.util.find_spec("numba") is None:
        return Timing("against_cpu", what, None, "times", note="needs Numba")
    cpu = engines.load("cpu")
    return Timing.of("against_cpu", what, times(partial(cpu.run, batch), 3) / seconds, at_least=True)


def _evolution() -> Timing:
    what = "distal evolve --learner dsp --runs 15 --generations 300, start-up excluded"
    samples = []
    with tempfile.TemporaryDirectory() as folder:
        for repeat in range(3):
            began = time.perf_counter()
            evolve("dsp", runs=15, generations=300, engine="gpu", out=Path(folder) / str(repeat))
            samples.append(time.perf_counter() - began)
    return Timing.of("evolution", what, np.array(samples), "s", 2)


def _long_tests() -> Timing:
    what = "10,000-episode tests of fifteen rules, plain and resampled, all curves kept"
    plain = replace(generation(published_rules()), episodes=10_000)
    resampled = replace(plain, resample=RESAMPLE)
    seconds = alternating([partial(gpu.run, plain), partial(gpu.run, resampled)], 3).sum(axis=0)
    return Timing.of("long_tests", what, seconds, "s", 5)


def _many(episodes_per_second: float) -> Iterator[Timing]:
    count = 100_000
    batch = first_generation("dsp", count)
    seconds = times(partial(gpu.run, batch), 3)
    rates = len(batch) * 100 / seconds
    what = f"one generation of {count:,} random rules × 40 trials: episodes a second, against {RULES} rules"
    note = f"{np.median(rates) / 1e6:,.0f} million episodes a second, {np.median(seconds):.1f} s for all"
    yield Timing.of("many", what, rates / episodes_per_second, target=1, at_least=True, note=note)


_FIRST_CALL = """
import os, tempfile, time
os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp()
began = time.perf_counter()
import distal
distal.learn("paper:1", episodes=1, trials=1, engine="gpu")
print(time.perf_counter() - began)
"""


def _first_call() -> Timing:
    what = "first call ever: imports, start of the card, compilation"
    return Timing("first_call", what, float(python("-c", _FIRST_CALL)), "s", at_least=False)
