"""Benchmarks: ratios against something measured in the same run.

Machines differ and are noisy, so a bare time says little. Every row is a ratio, or
a time with one; compared things run alternately, and rows report medians of repeats.
Nothing here is a test that a slow machine could fail. `cpu`, `gpu` and `cluster`
contain the measurements of each.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base.checks import InputError, one_of
from distal.base.files import read_json
from distal.base.machine import machine
from distal.engines import Batch
from distal.evaluation.trials import batch_of
from distal.learners import Learner, chance_for
from distal.learners.shipped import evolved_rules, published_rules
from distal.model.maze import DEFAULT_MAZE
from distal.model.maze import maze as named
from distal.model.settings import Settings
from distal.studies.plans.reproduce import PAPER, random_learners
from distal.tasks.mazes import MazeTask

_FORMAT, _VERSION = "distal-bench", 1
NARROW_MAZE = "narrow-t"  # where targets were set, before the default maze had corridors of three cells
_WIDER = 1.1  # times as long as there, at most
_NOTABLE = 1.15  # a change by less than this factor is noise on a shared machine


@dataclass(frozen=True)
class Timing:
    """One measurement: a value with its unit, and the target it is held to, if any."""

    name: str
    what: str
    value: float | None  # None: could not be measured, `note` says why
    unit: str
    target: float | None = None
    at_least: bool = True  # whether the target is a floor or a ceiling
    samples: list[float] = field(default_factory=list)
    note: str = ""

    @classmethod
    def of(
        cls, name: str, what: str, samples: NDArray[np.float64], unit: str = "times",
        target: float | None = None, at_least: bool = False, note: str = "",
    ) -> Timing:  # fmt: skip
        """Return the row of what was measured again and again: its value is the median."""
        value = float(np.median(samples))
        return cls(name, what, value, unit, target, at_least, samples.tolist(), note)

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None without a target or a value."""
        if self.value is None or self.target is None:
            return None
        return self.value >= self.target if self.at_least else self.value <= self.target


def run(engine: str = "cpu", quick: bool = False, cluster: str | None = None) -> Iterator[Timing]:
    """Measure an engine, or a cluster, yielding every row as it is done.

    `quick` takes few repeats and leaves out the slow rows.
    """
    if cluster is not None:
        measured: Iterator[Timing] = import_module("distal.bench.cluster").run(cluster, quick)
        return measured
    name = one_of("engine", engine, ("cpu", "gpu", "steps"))
    rows: Iterator[Timing] = import_module(f"distal.bench.{name}").run(quick)
    return rows


def report(rows: list[Timing], card: dict[str, Any] | None = None) -> dict[str, Any]:
    """Return the results with a description of the machine, and of the card, ready for JSON."""
    return {
        "format": _FORMAT,
        "version": _VERSION,
        "distal": __version__,
        "date": datetime.now(UTC).strftime("%Y-%m-%d"),
        "machine": machine(),
        **({"card": card} if card is not None else {}),
        "results": [{**asdict(row), "met": row.met} for row in rows],
    }


def load_report(path: str | Path) -> dict[str, Any]:
    """Read results that an earlier run wrote."""
    data = read_json(path, "benchmark file")
    if not isinstance(data, dict) or data.get("format") != _FORMAT or data.get("version") != _VERSION:
        raise InputError(f"benchmark file {str(path)!r}: expected the output of 'distal bench --json'")
    return data


def compare(rows: list[Timing], earlier: dict[str, Any]) -> list[tuple[Timing, float | None, str]]:
    """Compare rows with an earlier run: (row, value then, verdict)."""
    before = {entry["name"]: entry["value"] for entry in earlier["results"]}
    compared = []
    for row in rows:
        then = before.get(row.name)
        if row.value is None or not then:
            verdict = "not measured in both"
        else:
            gain = row.value / then if row.at_least else then / row.value
            verdict = "better" if gain > _NOTABLE else "WORSE" if gain < 1 / _NOTABLE else "as before"
        compared.append((row, then, verdict))
    return compared


# ------------------------------------------------------------------ what all engines are held to


def every_ep(run: Callable[..., object], batch: Batch, repeats: int) -> Timing:
    """Compare a batch that keeps the EP of every episode with one that does not."""
    seconds = alternating([partial(run, batch), partial(run, batch, keep_ep=True)], repeats)
    what = "time with the EP of every episode kept, against without"
    return Timing.of("every_ep", what, seconds[1] / seconds[0], target=1.05)


def chance_beside(run: Callable[..., object], trials: int, repeats: int) -> Timing:
    """Compare chance with the rules that it stands beside: the same scales, the same trials."""
    rules = evolved_rules()
    batches = [generation(rules, trials), generation(tuple(map(chance_for, rules)), trials)]
    seconds = alternating([partial(run, batch) for batch in batches], repeats)
    what = f"time of chance beside the evolved rules, against theirs, {8 * trials} trials each"
    return Timing.of("chance", what, seconds[1] / seconds[0], target=1)


def wide_and_narrow(
    run: Callable[..., object], batches: Callable[[str], dict[str, Batch]], repeats: int
) -> Iterator[Timing]:
    """Compare an episode in the default maze with one in the narrow maze, whose corridors have one cell.

    `batches` returns what is run in a maze, given its name: batches by what they are called.
    """
    wide, narrow = batches(DEFAULT_MAZE), batches(NARROW_MAZE)
    for name, batch in wide.items():
        seconds = alternating([partial(run, batch), partial(run, narrow[name])], repeats)
        each = np.median(seconds, axis=1) / (len(batch) * batch.episodes) * 1e6
        what = f"time of an episode in {DEFAULT_MAZE}, against {NARROW_MAZE}, {name}"
        note = f"{each[0]:.4g} µs in {DEFAULT_MAZE}, {each[1]:.4g} µs in {NARROW_MAZE}"
        ratio = seconds[0] / seconds[1]
        yield Timing.of(f"wide_{name.replace(' ', '_')}", what, ratio, target=_WIDER, note=note)


# ------------------------------------------------------------------ how it is measured


def generation(
    learners: Sequence[Learner], trials: int = 5, maze: str = DEFAULT_MAZE, **settings: Any
) -> Batch:
    """Return the batch that evaluates all learners: `trials` for each of the eight goals, 100 episodes."""
    seeds = np.arange(len(learners), dtype=np.uint64)
    task, own = MazeTask(named(maze)), Settings(**settings)
    return batch_of(learners, seeds, trials=trials, episodes=100, task=task, settings=own)


def of_every_kind(maze: str, random: int = PAPER.population, trials: int = 5) -> dict[str, Batch]:
    """Return a generation of each kind of learner in a maze; `trials` are those of rules that are given."""
    return {
        "random rules": generation(random_learners("dsp", 0, random), maze=maze),
        "published rules": generation(published_rules(), trials, maze),
        "evolved rules": generation(evolved_rules(), trials, maze),
        "hill climbing": generation(random_learners("hc", 0, random), maze=maze),
    }


def times(job: Callable[[], object], repeats: int) -> NDArray[np.float64]:
    """Run a job again and again; return seconds (repeats), without a first run."""
    seconds: NDArray[np.float64] = alternating([job], repeats)[0]
    return seconds


def alternating(
    jobs: Sequence[Callable[[], object]], repeats: int, clock: Callable[[], float] = time.perf_counter
) -> NDArray[np.float64]:
    """Run the jobs in turn, again and again; return seconds (jobs, repeats), without a first round."""
    seconds = np.empty((len(jobs), repeats))
    for repeat in range(-1 if repeats > 1 else 0, repeats):
        for k, job in enumerate(jobs):
            began = clock()
            job()
            if repeat >= 0:
                seconds[k, repeat] = clock() - began
    return seconds


def python(*arguments: str, **variables: str) -> str:
    """Run Python in a new process, which imports this very package; return what it prints."""
    path = os.pathsep.join([str(Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "PYTHONPATH": path.rstrip(os.pathsep), **variables}
    command = [sys.executable, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout


def against_jax(
    what: str,
    target: float,
    job: Callable[[], object],
    repeats: int,
    tell: Callable[[dict[str, Any], float], str],
    needs: str,
    options: Sequence[str] = (),
    name: str = "against_jax",
    **variables: str,
) -> Timing:
    """Compare a job with the JAX program, which runs between two halves of its repeats.

    `what` is measured, `target` how many times faster the job should be, `needs` what to install where there
    is no JAX. `tell` makes the note, from what the program printed and our seconds; `options` and
    `variables` are those of the program.
    """
    if find_spec("jax") is None:
        return Timing(name, what, None, "times", target, note=f"needs {needs}")
    before = times(job, repeats)
    jax = json.loads(python("-m", "distal.bench.jax_baseline", *options, **variables))
    ours = float(np.median(np.concatenate([before, times(job, repeats)])))
    samples = np.array(jax["all_seconds"]) / ours
    return Timing.of(name, what, samples, target=target, at_least=True, note=tell(jax, ours))
