"""Wrappers: searches that change the course of another search.

They nest in one order, the order of the fields in a file: a race of restarts of islands of a
search. Each may be left out.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from distal.base.checks import InputError, shown
from distal.search.search import Algorithm, Search


@dataclass(frozen=True)
class Wrapper(Algorithm):
    """A search that changes how another one goes.

    Args:
        search: The other one.

    Raises:
        InputError: If it is no search, or one that has to be outside of this one.
    """

    search: Algorithm
    level: ClassVar[int]  # of the nesting: the higher, the further outside

    def __post_init__(self) -> None:
        inner: object = self.search
        if not isinstance(inner, Algorithm):
            raise InputError(f"search is {shown(inner)}, expected an algorithm such as GeneticAlgorithm()")
        if isinstance(inner, Wrapper) and inner.level >= self.level:
            own, theirs = type(self).__name__, type(inner).__name__
            order = f"put {theirs} around {own}" if theirs != own else f"leave one {own} out"
            raise InputError(f"{own} cannot wrap {theirs}; {order}")

    def begin(self, discrete: int, continuous: int, seed: int) -> Search:  # noqa: D102 - as in Algorithm
        return self.search.begin(discrete, continuous, seed)

    @property
    def population(self) -> int:  # type: ignore[override]
        """The most genotypes that a generation of a run measures."""
        return self.search.population

    def sizes(self, generations: int) -> dict[int, int]:
        """Return the sizes of the generations of a run, with their numbers."""
        return self.search.sizes(generations)

    def memory(self, genes: int) -> int:
        """Return the bytes that a run takes in addition to its individuals."""
        return self.search.memory(genes)

    @property
    def core(self) -> Algorithm:
        """The algorithm itself, without its wrappers."""
        return self.search.core

    @property
    @abstractmethod
    def wrapping(self) -> dict[str, int]:
        """The options of its wrappers, as files name them."""

    def to_dict(self) -> dict[str, Any]:
        """Return the options of the algorithm and of all that wraps it, ready for JSON."""
        return {**self.wrapping, **self.core.to_dict()}
