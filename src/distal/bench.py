"""Benchmarks: ratios against something measured in the same run.

Machines differ and are noisy, so a bare time says little. Every row is a ratio, or
a time beside one; what is compared runs alternately, and medians of repeats are
reported. Nothing here is a test: a slow machine fails no one.
"""

from __future__ import annotations

import importlib.util
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

import distal
from distal import network
from distal.checks import InputError
from distal.engines import Batch, cpu, reference
from distal.evaluation import batch_of
from distal.experiments import random_learners
from distal.files import read_json
from distal.learners.hill_climbing import HillClimbing
from distal.machine import available_cores, machine
from distal.maze import triple_t_maze
from distal.rule import Rule, published_rules
from distal.settings import Settings

FORMAT, VERSION = "distal-bench", 1
JAX_PROGRAM = Path(__file__).parents[2] / "benchmarks" / "jax_baseline.py"
NOTABLE = 1.15  # a change by less than this factor is noise on a shared machine


@dataclass(frozen=True)
class Row:
    """One measurement: a value with its unit, and the target it is held to, if any."""

    name: str
    what: str
    value: float | None  # None: could not be measured, `note` says why
    unit: str
    target: float | None = None
    at_least: bool = True  # whether the target is a floor or a ceiling
    samples: list[float] = field(default_factory=list)
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None without a target or a value."""
        if self.value is None or self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target


def run(quick: bool = False) -> Iterator[Row]:
    """Measure, yielding every row as it is done. `quick` takes few repeats and leaves out the slow rows."""
    repeats = 3 if quick else 15
    yield from _against_reference(repeats, reference_trials=4 if quick else 15)
    yield from _learners(repeats)
    yield from _workers(repeats)
    yield from _sizes(repeats)
    if not quick:
        yield _against_jax(repeats)
        yield from _first_call()
        yield _memory()


def report(rows: list[Row]) -> dict[str, Any]:
    """Return the results with a description of the machine, ready for JSON."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "distal": distal.__version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        "results": [{**asdict(row), "met": row.met} for row in rows],
    }


def load_report(path: str | Path) -> dict[str, Any]:
    """Read results that an earlier run wrote."""
    data = read_json(path, "benchmark file")
    if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("version") != VERSION:
        raise InputError(f"benchmark file {str(path)!r}: expected what 'distal bench --json' prints")
    return data


def compare(rows: list[Row], earlier: dict[str, Any]) -> list[tuple[Row, float | None, str]]:
    """Set rows beside an earlier run: (row, value then, verdict)."""
    before = {entry["name"]: entry["value"] for entry in earlier["results"]}
    compared = []
    for row in rows:
        then = before.get(row.name)
        if row.value is None or not then:
            verdict = "not measured in both"
        else:
            gain = row.value / then if row.at_least else then / row.value
            verdict = "better" if gain > NOTABLE else "WORSE" if gain < 1 / NOTABLE else "as before"
        compared.append((row, then, verdict))
    return compared


# ------------------------------------------------------------------ what is measured


def generation(learners: tuple[Rule | HillClimbing, ...], trials: int = 5, **settings: Any) -> Batch:
    """Return the batch that evaluates all learners: `trials` for each of the eight goals, 100 episodes."""
    seeds = np.arange(len(learners), dtype=np.uint64)
    return batch_of(
        learners, seeds, trials=trials, episodes=100, maze=triple_t_maze(), settings=Settings(**settings)
    )


def _against_reference(repeats: int, reference_trials: int) -> Iterator[Row]:
    batch = generation(published_rules())
    every = len(batch) // reference_trials
    few = slice(0, reference_trials * every, every)  # one trial of each rule, in turn towards each goal
    goal = np.arange(reference_trials, dtype=np.int32) % 8
    part = Batch(
        batch.learners, batch.learner[few], goal, batch.seed[few], batch.maze, batch.settings, batch.episodes
    )
    fast = _times(partial(cpu.run, batch, workers=1), repeats) / (len(batch) * 100)
    slow = _times(partial(reference.run, part), 1) / (len(part) * 100)
    yield Row(
        "dsp_episode",
        "one DSP episode on one core, published rules, 100 steps",
        float(np.median(fast)) * 1e6,
        "µs",
        at_least=False,
        samples=(fast * 1e6).tolist(),
    )
    yield Row(
        "against_reference",
        "faster than the reference engine, one core, published rules, 100 episodes",
        float(np.median(slow) / np.median(fast)),
        "times",
        1000,
        note=f"reference: {np.median(slow) * 1e6:.0f} µs an episode, over {len(part)} trials",
    )


def _learners(repeats: int) -> Iterator[Row]:
    dsp, climbing = generation(random_learners("dsp", 0)), generation(random_learners("hc", 0))
    seconds = _alternating([partial(cpu.run, batch, workers=1) for batch in (dsp, climbing)], repeats)
    ratio = seconds[1] / seconds[0]
    yield Row(
        "climbing_episode",
        "time of a hill climbing episode, in DSP episodes (generations of 14 at random)",
        float(np.median(ratio)),
        "times",
        2.5,
        at_least=False,
        samples=ratio.tolist(),
    )


def _workers(repeats: int) -> Iterator[Row]:
    if available_cores() < 2:
        yield Row("two_workers", "two workers against one", None, "times", 1.9, note="one core here")
        return
    batch = generation(random_learners("dsp", 0), trials=20)
    once, both = partial(cpu.run, batch, workers=1), partial(cpu.run, batch, workers=2)
    seconds = _alternating([once, both, _spin, partial(_in_two_threads, _spin)], repeats)
    ratio = seconds[0] / seconds[1]
    ceiling = float(np.median(2 * seconds[2] / seconds[3]))
    yield Row(
        "two_workers",
        "two workers against one, a generation of 14 random rules with 160 trials each",
        float(np.median(ratio)),
        "times",
        1.9,
        samples=ratio.tolist(),
        note=f"the machine itself: two threads of bare arithmetic do {ceiling:.2f} times the work of one",
    )


def _sizes(repeats: int) -> Iterator[Row]:
    sizes = (20, 40, 80, 160)
    batches = [generation(random_learners("dsp", 0), trials=1, hidden=hidden) for hidden in sizes]
    seconds = _alternating([partial(cpu.run, batch, workers=1) for batch in batches], max(3, repeats // 3))
    synapses = [int(sum(mask.sum() for mask in network.synapses(hidden))) for hidden in sizes]
    for k in range(1, len(sizes)):
        ratio = seconds[k] / seconds[0]
        growth = synapses[k] / synapses[0]
        yield Row(
            f"hidden_{sizes[k]}",
            f"time with {sizes[k]} hidden neurons against 20; the synapses grow {growth:.1f} times",
            float(np.median(ratio)),
            "times",
            growth,
            at_least=False,
            samples=ratio.tolist(),
        )


def _against_jax(repeats: int) -> Row:
    what = "faster than the JAX program, all cores, a generation: 14 random rules × 40 trials × 100 episodes"
    if importlib.util.find_spec("jax") is None or not JAX_PROGRAM.exists():
        note = "needs JAX (pip install jax) and the benchmarks folder of the source repository"
        return Row("against_jax", what, None, "times", 40, note=note)
    batch = generation(random_learners("dsp", 0))
    before = _times(partial(cpu.run, batch), repeats)
    done = subprocess.run(
        [sys.executable, str(JAX_PROGRAM)], capture_output=True, text=True, check=True, env=_environment()
    )
    after = _times(partial(cpu.run, batch), repeats)
    jax = json.loads(done.stdout)
    ours = float(np.median(np.concatenate([before, after])))
    samples = [seconds / ours for seconds in jax["all_seconds"]]
    note = f"JAX {jax['seconds']:.2f} s, ours {ours * 1000:.0f} ms; compilation excluded in both"
    return Row("against_jax", what, statistics.median(samples), "times", 40, samples=samples, note=note)


_FIRST_CALL = """
import time, distal
began = time.perf_counter()
distal.learn("paper:1", episodes=1, trials=1)
print(time.perf_counter() - began)
"""


def _first_call() -> Iterator[Row]:
    with tempfile.TemporaryDirectory() as folder:
        seconds = [float(_python(_FIRST_CALL, NUMBA_CACHE_DIR=folder)) for _ in range(2)]
    yield Row("compile", "first call ever, which compiles", seconds[0], "s", 30, at_least=False)
    yield Row("cached", "first call of a later process", seconds[1], "s", at_least=False)


_LONG_TEST = """
import resource, distal
from distal.bench import generation
from distal.engines import cpu
from dataclasses import replace
cpu.run(replace(generation(distal.published_rules()), episodes=10_000))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def _memory() -> Row:
    what = "peak memory of a 10,000-episode test of 15 rules × 40 trials, curves kept"
    return Row("memory", what, float(_python(_LONG_TEST)), "MB", 500, at_least=False)


# ------------------------------------------------------------------ how it is measured


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


def _times(job: Callable[[], object], repeats: int) -> NDArray[np.float64]:
    seconds: NDArray[np.float64] = _alternating([job], repeats)[0]
    return seconds


def _alternating(jobs: Sequence[Callable[[], object]], repeats: int) -> NDArray[np.float64]:
    """Run the jobs in turn, again and again; return seconds (jobs, repeats), without a first round."""
    seconds = np.empty((len(jobs), repeats))
    for repeat in range(-1 if repeats > 1 else 0, repeats):
        for k, job in enumerate(jobs):
            began = time.perf_counter()
            job()
            if repeat >= 0:
                seconds[k, repeat] = time.perf_counter() - began
    return seconds


def _python(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        check=True,
        env={**_environment(), **environment},
    )
    return done.stdout


def _environment() -> dict[str, str]:
    """Return the environment for another process that shall import this very package."""
    path = str(Path(__file__).parents[1])
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([path, os.environ.get("PYTHONPATH", "")]).rstrip(os.pathsep),
    }
