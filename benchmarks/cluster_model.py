"""Model how well 1 to 1,000 workers are used, from what was measured on two.

    python benchmarks/cluster_model.py [--measured FILE] [--out docs/cluster_model.svg]

A simulation, not a measurement: tasks are handed over one after another by the
scheduler (the measured overhead each), run on workers that are all alike, and vary
in length as blocks of trials do. Every generation ends when its last task ends; then
the next is bred (measured here, on one core). Block sizes from 20 ms to 10 s are tried, and
the best is reported. Prints a table as JSON, writes an SVG picture, takes about a
minute.
"""

from __future__ import annotations

import argparse
import heapq
import json
import time
from dataclasses import dataclass
from pathlib import Path

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from distal.base.colours import LIGHT
from distal.engines import Asked, Batch, Engine, Runner, Trials
from distal.search.config import Config
from distal.search.loop import advance
from distal.studies import figures

ROOT = Path(__file__).parent.parent
WORKERS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000)
BLOCKS = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # seconds
SPREAD = 1.0  # standard deviation of a trial's time, in means: some agents walk in circles, others do not


@dataclass(frozen=True)
class Work:
    """Generations one after another, each with a number of independent trials."""

    name: str
    generations: int
    trials: int
    episodes: int
    bred: float  # seconds that breeding a generation takes, on one core


class _Nothing(Engine):
    """An engine that returns at once."""

    name = "nothing"

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        return Trials(np.full((len(batch), len(batch.recorded)), 100, np.int32), None, None, None)


def breeding() -> float:
    """Measure what a generation of fifteen runs costs besides its trials, in seconds."""
    config = Config("dsp")
    runner = Runner("cpu")
    runner.loaded = _Nothing()
    generations = advance(config, config.begin_runs(), runner)
    next(generations)
    seconds = []
    for _ in range(12):
        began = time.perf_counter()
        next(generations)
        seconds.append(time.perf_counter() - began)
    return float(np.median(seconds[2:]))


def makespan(durations: NDArray[np.float64], workers: int, overhead: float) -> float:
    """Return when the last task ends: each is handed over after the one before, to the first free worker."""
    free = [0.0] * min(workers, len(durations))
    heapq.heapify(free)
    handed = end = 0.0
    for duration in durations:
        handed = max(handed, 0.0) + overhead
        start = max(handed, heapq.heappop(free))
        end = max(end, start + duration)
        heapq.heappush(free, start + duration)
    return end


def efficiency(work: Work, workers: int, block: float, episode: float, overhead: float) -> float:
    """Return the share of the workers' time that is spent on trials."""
    trial = work.episodes * episode
    per_block = max(1, round(block / trial))
    count = -(-work.trials // per_block)
    rng = np.random.default_rng(0)
    total = spent = 0.0
    for _ in range(min(work.generations, 3)):  # generations are alike
        # A block of n trials varies less than a trial, by the square root of n.
        shape = per_block / SPREAD**2
        durations = rng.gamma(shape, trial * per_block / shape, count)
        spent += makespan(durations, workers, overhead) + work.bred
        total += durations.sum()
    return total / (workers * spent)


def table(measured: dict[str, float]) -> dict[str, list[dict[str, float]]]:
    """Return, for every kind of work and number of workers, the best block and what it gives."""
    episode, overhead, bred = measured["episode"], measured["overhead"], measured["breeding"]
    works = (
        Work("one evolution of the paper: 15 runs, 8,400 trials a generation", 300, 8_400, 100, bred),
        Work("one long test of the paper: 600 trials of 10,000 episodes", 1, 600, 10_000, 0.0),
        Work("a population of 100,000 rules: 4 million trials a generation", 10, 4_000_000, 100, bred * 667),
    )
    found: dict[str, list[dict[str, float]]] = {}
    for work in works:
        found[work.name] = []
        for workers in WORKERS:
            reached = {block: efficiency(work, workers, block, episode, overhead) for block in BLOCKS}
            best = max(reached, key=lambda block: reached[block])
            found[work.name].append({"workers": workers, "block_s": best, "efficiency": reached[best]})
    return found


def draw(found: dict[str, list[dict[str, float]]], path: Path) -> None:
    """Plot the efficiency against the number of workers."""
    with mpl.rc_context({**figures._STYLE, "font.size": 10, "axes.grid": False}):
        figure = Figure(figsize=(7.2, 4))
        axes = figure.subplots()
        for (name, points), role in zip(found.items(), ("dsp", "hc", "goal"), strict=True):
            x = [point["workers"] for point in points]
            y = [point["efficiency"] for point in points]
            axes.plot(x, y, marker="o", ms=4, color=LIGHT[role], label=name)
        axes.axhline(0.9, color=LIGHT["soft"], lw=0.8, ls="--")
        axes.set(xscale="log", ylim=(0, 1.05), xlabel="workers", ylabel="share of their time spent on trials")
        axes.set_title("A model, with the best block size at every point", fontsize=10)
        figure.legend(fontsize=8, loc="outside lower center")
        svg, _ = figures.render(figure)
    path.write_text(figures.standalone(svg), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--measured", default=ROOT / "benchmarks" / "results" / "cluster.json", type=Path)
    parser.add_argument("--out", default=ROOT / "docs" / "cluster_model.svg", type=Path)
    options = parser.parse_args()
    rows = {row["name"]: row["value"] for row in json.loads(options.measured.read_text())["results"]}
    measured = {
        "episode": rows["episode"] * 1e-6,
        "overhead": rows["overhead"] * 1e-3,
        "breeding": breeding(),
    }
    found = table(measured)
    draw(found, options.out)
    print(json.dumps({"measured": measured, "model": found}, indent=1))  # noqa: T201
