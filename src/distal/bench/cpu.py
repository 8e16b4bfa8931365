"""The measurements of engine cpu."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial

import numpy as np
from numba import njit
from numpy.typing import NDArray

from distal.base.memory import available_cores
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
    tables,
    times,
    wide_and_narrow,
)
from distal.engines import Batch
from distal.engines.cpu import engine as cpu
from distal.engines.reference import engine as reference
from distal.learners.shipped import evolved_rules, published_rules
from distal.model.maze import DEFAULT_MAZE
from distal.model.readings import SIGMOID
from distal.model.settings import Settings
from distal.networks import Recurrent
from distal.studies.plans.reproduce import random_learners


def run(quick: bool = False) -> Iterator[Timing]:
    """Yield every row as it is measured."""
    repeats = 3 if quick else 15
    yield from _published(repeats, trials=4 if quick else 15)
    yield from _learners(repeats)
    yield from wide_and_narrow(partial(cpu.run, workers=1), of_every_kind, repeats)
    yield from _workers(repeats)
    yield from _sizes(repeats)
    yield from tables.rows(partial(cpu.run, workers=1), repeats)
    if not quick:
        yield _against_jax(repeats)
        yield from _first_call()
        yield _memory()


def _against_reference(
    name: str, words: str, target: float, batch: Batch, repeats: int, trials: int
) -> tuple[Timing, NDArray[np.float64]]:
    """Return how much faster one core is than the reference engine, which runs some of the trials too.

    With the row come the seconds of an episode on one core, by repeat. `words` say what is special about
    the trials, `target` is how many times as fast it should be.
    """
    every = len(batch) // trials
    few = slice(0, trials * every, every)  # one trial of each rule, in turn towards each goal
    goal = np.arange(trials, dtype=np.int32) % 8
    part = replace(batch, learner=batch.learner[few], goal=goal, seed=batch.seed[few])
    fast = times(partial(cpu.run, batch, workers=1), repeats) / (len(batch) * 100)
    slow = float(times(partial(reference.run, part), 1)[0]) / (len(part) * 100)
    what = f"faster than the reference engine, one core, published rules, 100 episodes{words}"
    note = f"µs an episode: ours {np.median(fast) * 1e6:.1f}, reference {slow * 1e6:.0f} over {trials} trials"
    return Timing(name, what, slow / float(np.median(fast)), "times", target, note=note), fast


def _published(repeats: int, trials: int) -> Iterator[Timing]:
    for maze, ending, words in ((DEFAULT_MAZE, "", ""), (NARROW_MAZE, "_narrow", f", {NARROW_MAZE}")):
        batch = generation(published_rules(), maze=maze)
        row, fast = _against_reference(f"against_reference{ending}", words, 1000, batch, repeats, trials)
        what = f"one DSP episode on one core, published rules, 100 steps{words}"
        yield Timing.of(f"dsp_episode{ending}", what, fast * 1e6, "µs")
        yield row
    batch = generation(published_rules(), neurons=SIGMOID)
    yield _against_reference("sigmoid_against_reference", ", sigmoid neurons", 100, batch, repeats, trials)[0]


def _learners(repeats: int) -> Iterator[Timing]:
    dsp, climbing = generation(random_learners("dsp", 0)), generation(random_learners("hc", 0))
    batches = (dsp, climbing, generation(evolved_rules()))
    seconds = alternating([partial(cpu.run, batch, workers=1) for batch in batches], repeats)
    each = [taken / (len(batch) * 100) * 1e6 for taken, batch in zip(seconds, batches, strict=True)]
    yield Timing.of(
        "dsp_random", "one DSP episode on one core, 14 random rules, 40 trials each", each[0], "µs"
    )
    yield Timing.of(
        "dsp_evolved", "one DSP episode on one core, evolved rules, 40 trials each", each[2], "µs"
    )
    what = "time of a hill climbing episode, in DSP episodes (generations of 14 at random)"
    note = f"hill climbing: {np.median(each[1]):.2f} µs an episode"
    yield Timing.of("climbing_episode", what, seconds[1] / seconds[0], target=2.5, note=note)
    yield chance_beside(partial(cpu.run, workers=1), 5, repeats)
    yield every_ep(partial(cpu.run, workers=1), dsp, repeats)


def _workers(repeats: int) -> Iterator[Timing]:
    if available_cores() < 2:
        yield Timing("two_workers", "two workers against one", None, "times", 1.9, note="one core here")
        return
    batch = generation(random_learners("dsp", 0), trials=20)
    once, both = partial(cpu.run, batch, workers=1), partial(cpu.run, batch, workers=2)
    seconds = alternating([once, both, _spin, partial(_in_two_threads, _spin)], repeats)
    ceiling = float(np.median(2 * seconds[2] / seconds[3]))
    what = "two workers against one, a generation of 14 random rules with 160 trials each"
    note = f"the machine itself: two threads of bare arithmetic do {ceiling:.2f} times the work of one"
    yield Timing.of("two_workers", what, seconds[0] / seconds[1], target=1.9, at_least=True, note=note)


def _sizes(repeats: int) -> Iterator[Timing]:
    sizes = (20, 40, 80, 160)
    batches = [generation(random_learners("dsp", 0), trials=1, hidden=hidden) for hidden in sizes]
    seconds = alternating([partial(cpu.run, batch, workers=1) for batch in batches], max(3, repeats // 3))
    synapses = [
        int(sum(mask.sum() for mask in Recurrent(settings=Settings(count)).synapses())) for count in sizes
    ]
    for k in range(1, len(sizes)):
        growth = synapses[k] / synapses[0]
        what = f"time with {sizes[k]} hidden neurons against 20; the synapses grow {growth:.1f} times"
        yield Timing.of(f"hidden_{sizes[k]}", what, seconds[k] / seconds[0], target=growth)


def _against_jax(repeats: int) -> Timing:
    batch = generation(random_learners("dsp", 0))
    return against_jax(
        "faster than the JAX program, all cores, a generation: 14 random rules × 40 trials × 100 episodes",
        40,
        partial(cpu.run, batch),
        repeats,
        lambda jax, ours: (
            f"JAX {jax['seconds']:.2f} s, ours {ours * 1000:.0f} ms; compilation excluded in both"
        ),
        needs="JAX (pip install jax)",
    )


_FIRST_CALL = """
import time, distal
began = time.perf_counter()
distal.learn("paper:1", episodes=1, trials=1)
print(time.perf_counter() - began)
"""


def _first_call() -> Iterator[Timing]:
    with tempfile.TemporaryDirectory() as folder:
        seconds = [float(python("-c", _FIRST_CALL, NUMBA_CACHE_DIR=folder)) for _ in range(2)]
    yield Timing("compile", "first call ever, which compiles", seconds[0], "s", 30, at_least=False)
    yield Timing("cached", "first call of a later process", seconds[1], "s", at_least=False)


_LONG_TEST = """
import resource, distal
from distal.bench import generation
from distal.engines.cpu import engine as cpu
from dataclasses import replace
cpu.run(replace(generation(distal.published_rules()), episodes=10_000))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def _memory() -> Timing:
    what = "peak memory of a 10,000-episode test of 15 rules × 40 trials, curves kept"
    return Timing("memory", what, float(python("-c", _LONG_TEST)), "MB", 500, at_least=False)


@njit(nogil=True)  # type: ignore[untyped-decorator]
def _spin() -> int:
    """Keep one core busy for a while with arithmetic alone."""
    x = np.uint64(1)
    for _ in range(200_000_000):  # as long as a generation takes
        x = x * np.uint64(6364136223846793005) + np.uint64(1442695040888963407)
    return int(x)


def _in_two_threads(job: Callable[[], object]) -> None:
    with ThreadPoolExecutor(2) as pool:
        for future in [pool.submit(job) for _ in range(2)]:
            future.result()
