"""Restarts: one run that starts over, again and again, from a new first population.

The finds of a start are kept: its finalists stay in the run, and so does the best of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, number
from distal.model.draws import MAX_COUNT, child_seed
from distal.search.genotypes import Finalists, Genotypes
from distal.search.search import Algorithm, Search, entry, listed
from distal.search.wrapper import Wrapper

_START = 23  # the part of a run's seed that seeds a start


@dataclass(frozen=True)
class Restarts(Wrapper):
    """Repeated new starts of each run; the best of earlier starts are kept.

    Args:
        search: The search of a start.
        every: The generations of a start, its first population included.

    Raises:
        InputError: If `every` is out of its range, or the search cannot be restarted.
    """

    name: ClassVar[str] = "restarts"
    level: ClassVar[int] = 2
    every: int

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "every", integer("every", self.every, 1, MAX_COUNT))

    def begin(self, discrete: int, continuous: int, seed: int) -> Restarted:  # noqa: D102 - as in Algorithm
        return Restarted(discrete, continuous, seed, self.search, self.every)

    def sizes(self, generations: int) -> dict[int, int]:
        """Return the sizes of the generations of a run, with their numbers."""
        whole, rest = divmod(generations + 1, self.every)
        sizes = Counter({size: whole * times for size, times in self.search.sizes(self.every - 1).items()})
        if rest:
            sizes.update(self.search.sizes(rest - 1))
        return dict(sizes)

    @property
    def wrapping(self) -> dict[str, int]:
        """The options of restarts and of islands in them, as files name them."""
        return {**self.search.wrapping, "restart": self.every}


@dataclass(eq=False)
class Restarted(Search):
    """One run of several starts; `Restarts.begin` makes it.

    Attributes:
        inner: The search of the current start.
        archive: The finalists of earlier starts, or None.
    """

    algorithm: Algorithm
    every: int
    inner: Search = field(init=False)
    archive: Finalists | None = field(default=None, init=False)
    _asked: Search = field(init=False)  # the start that was asked last: the current one, or the next

    def __post_init__(self) -> None:
        super().__post_init__()
        self.inner = self._asked = self._start(0)

    def _start(self, generation: int) -> Search:
        """Return the search of the start that begins with a generation."""
        seed = child_seed(self.seed, generation // self.every, 0, _START)
        return self.algorithm.begin(self.discrete, self.continuous, seed)

    def ask(self) -> Genotypes:
        """Return the genotypes that the current start wants to have measured, or the next one."""
        (asked,) = self.ask_together([self])
        return asked

    @classmethod
    def ask_together(cls, searches: Sequence[Self]) -> list[Genotypes]:
        """Return the genotypes that the start of each of several runs wants to have measured."""
        for search in searches:
            due = search.generation >= 0 and (search.generation + 1) % search.every == 0
            search._asked = search._start(search.generation + 1) if due else search.inner
        starts = [search._asked for search in searches]
        return type(starts[0]).ask_together(starts)

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Tell the start that was asked; if it is a new one, keep the finalists of the one before."""
        self._check(genotypes, fitness)
        archive = self.archive if self._asked is self.inner else self.finalists(self.wanted)
        self._asked.tell(genotypes, fitness)
        self.inner, self.archive = self._asked, archive
        self.generation += 1
        self._gather()

    def _gather(self) -> None:
        """Take the population of the start as that of the run; the best of all starts leads."""
        self.population, self.fitness, self.best = self.inner.current()
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
        own, (_, _, best) = self.inner.finalists(count), self.inner.current()
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
        """Resume from a state; refuse one that `state` cannot have returned."""
        self.generation = integer("generation", entry(state, "generation"), 0, MAX_COUNT)
        first = self.generation // self.every * self.every
        self.inner = self._asked = self._start(first)
        self.inner.restore(entry(state, "start"))
        if self._first() != first:
            raise InputError(
                f"its start is in generation {self.inner.generation}, its run in {self.generation}"
            )
        kept = entry(state, "archive")
        if (kept is None) != (first == 0):
            raise InputError("the archive belongs to another generation")
        self.archive = None if kept is None else self._archived(kept)
        self._gather()

    def _archived(self, kept: dict[str, Any]) -> Finalists:
        fitness = entry(kept, "fitness")
        size = len(fitness) if isinstance(fitness, list) and fitness else 1
        values = listed("fitness", fitness, size, number)
        born = listed("born", entry(kept, "born"), size, self._past)
        genotypes = self._genotypes(entry(kept, "discrete"), entry(kept, "continuous"), size)
        return Finalists(genotypes, np.array(values, np.float64), np.array(born, np.int64))
