"""Restarts: one run that starts over from a new first population every so many generations.

What a start found is kept: its finalists stay in the run, and so does the best of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, number
from distal.model.draws import MAX_COUNT, child_seed
from distal.search.genotypes import Finalists, Genotypes
from distal.search.search import Search, entry, listed

_START = 23  # the part of a run's seed that seeds a start


@dataclass(eq=False)
class Restarts(Search):
    """One run of several starts.

    Attributes:
        discrete: The number of discrete genes.
        continuous: The number of continuous genes.
        seed: The seed of this run.
        begin: Returns the search of a start, given its seed.
        every: The generations of a start, its first population included.
        keep: How many finalists of earlier starts are kept.
        inner: The search of the current start.
        archive: The finalists of earlier starts, or None.
    """

    begin: Callable[[int], Search]
    every: int
    keep: int = 1
    inner: Search = field(init=False)
    archive: Finalists | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.every = integer("restart", self.every, 1, MAX_COUNT)
        self.inner = self._start(0)

    def _start(self, generation: int) -> Search:
        """Return the search of the start that begins with a generation."""
        return self.begin(child_seed(self.seed, generation // self.every, 0, _START))

    def _due(self) -> bool:
        """Return whether the next generation is the first of a new start."""
        return self.generation >= 0 and (self.generation + 1) % self.every == 0

    def ask(self) -> Genotypes:
        """Return the genotypes that the current start wants to have measured, or the next one."""
        (asked,) = self._ask_together([self])
        return asked

    @classmethod
    def _ask_together(cls, searches: Sequence[Self]) -> list[Genotypes]:
        for search in searches:
            if search._due() and search.inner.generation >= 0:
                search._keep()
                search.inner = search._start(search.generation + 1)
        inner = [search.inner for search in searches]
        return type(inner[0])._ask_together(inner)

    def _keep(self) -> None:
        """Put the finalists of the start that ends into the archive."""
        self.archive = self.finalists(self.keep)

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Tell the current start."""
        self._check(genotypes, fitness)
        self.inner.tell(genotypes, fitness)
        self.generation += 1
        self._gather()

    def _gather(self) -> None:
        """Take the population of the start as that of the run; the best of all starts leads."""
        self.population, self.fitness, self.best = self.inner.told()
        self.best_fitness = self.inner.best_fitness
        self.best_generation = self._first() + self.inner.best_generation
        if self.archive is not None and self.archive.fitness[0] < self.best_fitness:
            self.best, self.best_fitness = self.archive.genotypes[[0]], float(self.archive.fitness[0])
            self.best_generation = int(self.archive.born[0])

    def _first(self) -> int:
        """Return the generation of the run that the current start began with."""
        return self.generation - self.inner.generation

    def finalists(self, count: int) -> Finalists:
        """Return the best of all starts."""
        own, (_, _, best) = self.inner.finalists(count), self.inner.told()
        here = Finalists(own.genotypes, own.fitness, own.born + self._first())
        born = np.array([self._first() + self.inner.best_generation])
        leader = Finalists(
            best, np.array([self.inner.best_fitness]), born
        )  # which may have left the population
        earlier = [] if self.archive is None else [self.archive]
        return Finalists.best([*earlier, leader, here], count)

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to resume, ready for JSON."""
        kept: dict[str, Any] | None = None
        if self.archive is not None:
            kept = {
                "discrete": self.archive.genotypes.discrete.tolist(),
                "continuous": self.archive.genotypes.continuous.tolist(),
                "fitness": self.archive.fitness.tolist(),
                "born": self.archive.born.tolist(),
            }
        return {"generation": self.generation, "start": self.inner.state(), "archive": kept}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from what `state` returned; refuse what it cannot have returned."""
        self.generation = integer("generation", entry(state, "generation"), 0, MAX_COUNT)
        first = self.generation // self.every * self.every
        self.inner = self._start(first)
        self.inner.restore(entry(state, "start"))
        if self._first() != first:
            raise InputError(
                f"its start is in generation {self.inner.generation}, its run in {self.generation}"
            )
        kept = entry(state, "archive")
        if (kept is None) != (first == 0):
            raise InputError("the archive is not that of this generation")
        self.archive = None if kept is None else self._archived(kept)
        self._gather()

    def _archived(self, kept: dict[str, Any]) -> Finalists:
        fitness = entry(kept, "fitness")
        size = len(fitness) if isinstance(fitness, list) and fitness else 1
        values = listed("fitness", fitness, size, number)
        born = listed("born", entry(kept, "born"), size, self._past)
        genotypes = self._genotypes(entry(kept, "discrete"), entry(kept, "continuous"), size)
        return Finalists(genotypes, np.array(values, np.float64), np.array(born, np.int64))
