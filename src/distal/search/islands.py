"""Islands: several populations in one run, which send their best to one another now and then.

Each island is a search of its own, with a seed of its own. Now and then the
leader of each goes to the next one, in a ring, where it takes the place of the worst.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer
from distal.model.draws import MAX_COUNT, child_seed
from distal.search.genotypes import Finalists, Genotypes
from distal.search.search import Algorithm, Search, entry
from distal.search.wrapper import Wrapper

MOST = 2**10
EXCHANGE = 10  # generations between two exchanges, unless something else is said
_ISLAND = 22  # the part of a run's seed that seeds an island


@dataclass(frozen=True)
class Islands(Wrapper):
    """Several populations in each run that exchange their best.

    Args:
        search: The search of each island; it has to take individuals from others
            (`Search.immigrate`).
        count: The number of islands, at least 2.
        exchange: The generations between two exchanges.

    Raises:
        InputError: If a number is out of its range, or the search takes no individuals from others.
    """

    name: ClassVar[str] = "islands"
    level: ClassVar[int] = 1
    count: int
    exchange: int = EXCHANGE

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "count", integer("count", self.count, 2, MOST))
        object.__setattr__(self, "exchange", integer("exchange", self.exchange, 1, MAX_COUNT))
        if type(self.search.begin(1, 1, 0)).immigrate is Search.immigrate:
            raise InputError(
                f"the search {self.search.name} takes no individuals from other islands; "
                "use the search ga, or no islands"
            )

    def begin(self, discrete: int, continuous: int, seed: int) -> Archipelago:  # noqa: D102 - as in Algorithm
        return Archipelago(discrete, continuous, seed, self.search, self.count, self.exchange)

    @property
    def population(self) -> int:  # type: ignore[override]
        """The most genotypes that a generation of a run measures, on all its islands."""
        return self.search.population * self.count

    def sizes(self, generations: int) -> dict[int, int]:
        """Return the sizes of the generations of a run, with their numbers."""
        return {size * self.count: times for size, times in self.search.sizes(generations).items()}

    def memory(self, genes: int) -> int:
        """Return the bytes that a run takes in addition to its individuals."""
        return self.search.memory(genes) * self.count

    @property
    def wrapping(self) -> dict[str, int]:
        """The options of the islands, as files name them."""
        exchange = {} if self.exchange == EXCHANGE else {"exchange": self.exchange}
        return {"islands": self.count, **exchange}


@dataclass(eq=False)
class Archipelago(Search):
    """One run with several populations, the islands `parts`; `Islands.begin` makes it."""

    algorithm: Algorithm
    count: int
    exchange: int
    parts: list[Search] = field(default_factory=list, init=False)
    _sizes: list[int] = field(default_factory=list, init=False)  # of what each island asked for last

    def __post_init__(self) -> None:
        super().__post_init__()
        seeds = (child_seed(self.seed, island, 0, _ISLAND) for island in range(self.count))
        self.parts = [self.algorithm.begin(self.discrete, self.continuous, seed) for seed in seeds]

    def ask(self) -> Genotypes:
        """Return the genotypes that all islands want to have measured, one island after another."""
        (asked,) = self.ask_together([self])
        return asked

    @classmethod
    def ask_together(cls, searches: Sequence[Self]) -> list[Genotypes]:
        """Return the genotypes that the islands of each of several runs want to have measured."""
        parts = [part for search in searches for part in search.parts]
        asked = iter(type(parts[0]).ask_together(parts))
        joined = []
        for search in searches:
            own = [next(asked) for _ in search.parts]
            search._sizes = list(map(len, own))
            joined.append(Genotypes.joined(*own))
        return joined

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Tell every island its part; let leaders travel if it is time."""
        self._check(genotypes, fitness)
        if sum(self._sizes) != len(genotypes):
            raise InputError(f"{len(genotypes)} genotypes were told, expected the ones that ask returned")
        last = np.cumsum(self._sizes)
        for part, start, end in zip(self.parts, last - self._sizes, last, strict=True):
            part.tell(genotypes[start:end], fitness[start:end])
        self.generation += 1
        if self.generation and self.generation % self.exchange == 0:
            leaders = [(part.current()[2], part.best_fitness, part.best_generation) for part in self.parts]
            for part, leader in zip(self.parts, [leaders[-1], *leaders[:-1]], strict=True):
                part.immigrate(*leader)
        self._gather()

    def _gather(self) -> None:
        """Take the populations of all islands as that of the run, and the best leader as its leader."""
        populations, values, _ = zip(*(part.current() for part in self.parts), strict=True)
        self.population, self.fitness = Genotypes.joined(*populations), np.concatenate(values)
        leader = min(self.parts, key=lambda part: part.best_fitness)
        self.best, self.best_fitness = leader.best, leader.best_fitness
        self.best_generation = leader.best_generation

    def finalists(self, count: int) -> Finalists:
        """Return the best of all islands."""
        return Finalists.best([part.finalists(count) for part in self.parts], count)

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to resume, ready for JSON."""
        return {"generation": self.generation, "islands": [part.state() for part in self.parts]}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state; refuse one that `state` cannot have returned."""
        self.generation = integer("generation", entry(state, "generation"), 0, MAX_COUNT)
        islands = entry(state, "islands")
        if not isinstance(islands, list) or len(islands) != self.count:
            raise InputError(f"islands is not a list of {self.count}")
        for part, own in zip(self.parts, islands, strict=True):
            part.restore(own)
            if part.generation != self.generation:
                raise InputError("its islands are in different generations")
        self._gather()
