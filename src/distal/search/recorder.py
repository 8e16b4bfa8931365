"""The record of an evolution: its curves, its rows in a folder, and the steps that it reports."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from distal.search.config import Config
from distal.search.results import Evolved, Winner
from distal.search.run_folder import RunFolder
from distal.search.search import Search


@dataclass(frozen=True)
class Step:
    """A generation of an evolution: `progress` is called with it, once after every generation of all runs.

    Attributes:
        generation: The generation that has just been measured; 0 is the first population.
        generations: The last generation, so an evolution has one step more than this.
        best: The fitness of the best individual of each run, run 1 first: of this generation, or,
            with kept elites, the lowest so far.
        mean: The mean fitness of this generation: of each run's population, then of the runs.
        evaluations: The number of individuals measured for it, in all runs together. Kept elites
            are not measured again.
        seconds: The time since the previous generation was recorded.
    """

    generation: int
    generations: int
    best: list[float]
    mean: float
    evaluations: int
    seconds: float


class Recorder:
    """Records an evolution.

    Args:
        config: The configuration.
        progress: Called with a `Step` after every generation, or None.
        folder: The folder that keeps the runs, or None.
    """

    def __init__(
        self, config: Config, progress: Callable[[Step], None] | None = None, folder: RunFolder | None = None
    ) -> None:
        self.config, self.progress, self.folder = config, progress, folder
        self.curves = np.empty((config.generations + 1, config.runs, 3))  # best, mean, worst
        self.seconds = 0.0
        if folder is not None:
            history = folder.history()
            self.curves[: len(history)], self.seconds = history, folder.seconds()
        self._since = time.perf_counter()

    def add(self, searches: Sequence[Search], evaluations: int) -> None:
        """Record a generation that all runs have been told."""
        now = time.perf_counter()
        took, self._since = now - self._since, now
        self.seconds += took
        generation, rows = searches[0].generation, []
        for run, search in enumerate(searches):
            population, fitness, _ = search.current()
            leader = int(np.argmin(fitness))
            numbers = float(fitness[leader]), float(fitness.mean()), float(fitness.max())
            self.curves[generation, run] = numbers
            rows.append((run + 1, generation, *numbers, *population[leader : leader + 1].genes[0]))
        if self.folder is not None:
            self.folder.append(rows, took, [search.snapshot() for search in searches])
        if self.progress is not None:
            leaders = [search.best_fitness for search in searches]
            mean = float(self.curves[generation, :, 1].mean())
            self.progress(Step(generation, self.config.generations, leaders, mean, evaluations, took))

    def finish(self, winners: tuple[Winner, ...]) -> Evolved:
        """Record the winners, and return the evolution."""
        if self.folder is not None:
            self.folder.finish([one.to_dict() for one in winners], [one.learner for one in winners])
        best, mean, worst = np.moveaxis(self.curves, (2, 1), (0, 1))
        return Evolved(self.config, best, mean, worst, self.seconds, winners)
