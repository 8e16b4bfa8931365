"""The loop of an evolution: ask, evaluate, tell, for all runs side by side. It is at the bottom.

The runs advance together, one generation at a time, so that one call of the engine
evaluates the children of all of them. That changes no run's result: each has its own
seed, and every evaluation its own trial seeds.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.engines import Runner
from distal.search.config import Config
from distal.search.fitness import Evaluation, runner_for
from distal.search.results import Evolved, Winner
from distal.search.runs import RunFolder
from distal.search.search import Search, ask_all
from distal.search.winners import winners_of


@dataclass(frozen=True)
class Step:
    """A generation of an evolution: `progress` is called with it, once after every generation of all runs.

    Attributes:
        generation: The generation that has just been measured; 0 is the first population.
        generations: The last one there will be, so an evolution has one step more than this.
        best: The fitness of the best individual of each run, run 1 first: of this generation, or,
            with kept elites, the lowest so far.
        mean: The mean fitness of this generation: of each run's population, then of the runs.
        evaluations: How many individuals were measured for it, in all runs together. Kept elites
            are not measured again.
        seconds: How long it took, since the generation before was recorded.
    """

    generation: int
    generations: int
    best: list[float]
    mean: float
    evaluations: int
    seconds: float


class Record:
    """The record of an evolution: its curves, its rows in a folder, its steps for who wants to hear of them.

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
        rows, now = list(_rows(searches)), time.perf_counter()
        took, self._since = now - self._since, now
        self.seconds += took
        generation, config = searches[0].generation, self.config
        self.curves[generation] = [row[2:5] for row in rows]
        if self.folder is not None:
            self.folder.append(rows, took, [search.snapshot() for search in searches])
        if self.progress is not None:
            leaders = [search.best_fitness for search in searches]
            mean = float(self.curves[generation, :, 1].mean())
            self.progress(Step(generation, config.generations, leaders, mean, evaluations, took))

    def finish(self, winners: tuple[Winner, ...]) -> Evolved:
        """Record the winners, and return the evolution."""
        if self.folder is not None:
            self.folder.finish([winner.to_dict() for winner in winners])
        best, mean, worst = np.moveaxis(self.curves, (2, 1), (0, 1))
        return Evolved(self.config, best, mean, worst, self.seconds, winners)


def _rows(searches: Sequence[Search]) -> Iterator[tuple[Any, ...]]:
    """Yield the row of each run in its generation: fitness, and the genes of the best individual."""
    for run, search in enumerate(searches, start=1):
        population, fitness, _ = search.told()
        leader = int(np.argmin(fitness))
        best, mean, worst = float(fitness[leader]), float(fitness.mean()), float(fitness.max())
        yield run, search.generation, best, mean, worst, *population[leader : leader + 1].genes[0]


class Group:
    """Runs whose trials go to the engine together.

    Args:
        config: The configuration.
        searches: The runs.
        runner: Runs the trials.
    """

    def __init__(self, config: Config, searches: list[Search], runner: Runner) -> None:
        self.config, self.searches, self.runner = config, searches, runner

    def ask(self) -> None:
        """Ask for the next generation; an engine that can begins with its trials."""
        self.asked = ask_all(self.searches)
        self.evaluation = Evaluation(self.config, self.searches, self.asked, self.runner)

    def evaluate(self) -> list[NDArray[np.float64]]:
        """Return the fitness of the genotypes that each run asked for, as soon as their trials are done."""
        return self.evaluation.fitness()

    def tell(self, fitness: list[NDArray[np.float64]]) -> int:
        """Tell every run the fitness of its genotypes; return how many there were."""
        for search, genotypes, own in zip(self.searches, self.asked, fitness, strict=True):
            search.tell(genotypes, own)
        return sum(map(len, self.asked))


def groups_of(config: Config, searches: list[Search], runner: Runner) -> list[Group]:
    """Return all runs as one group, or as two that take turns on an engine that overlaps batches.

    Then the processor makes the children of one group while the trials of the other run, and trials
    of both fill the engine.
    """
    half = (len(searches) + 1) // 2 if runner_for(config, runner).overlaps else len(searches)
    return [Group(config, runs, runner) for runs in (searches[:half], searches[half:]) if runs]


# ------------------------------------------------------------------ the loop


def evolution(config: Config, searches: list[Search], runner: Runner, record: Record) -> Evolved:
    """Run the generations that are missing, of all runs side by side, and find the winners.

    Args:
        config: The configuration.
        searches: The runs, all in the same generation.
        runner: Runs the trials.
        record: Keeps the generations.

    Returns:
        The fitness of every generation, and the winners.
    """
    missing = range(searches[0].generation + 1, config.generations + 1)
    groups = groups_of(config, searches, runner) if missing else []
    for group in groups:
        group.ask()
    for generation in missing:
        evaluations = 0
        for group in groups:
            fitness = group.evaluate()
            evaluations += group.tell(fitness)
            if generation < config.generations:
                group.ask()  # at once: its trials run while the other group is told
        record.add(searches, evaluations)
    return record.finish(winners_of(config, searches, runner))
