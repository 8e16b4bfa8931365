"""Genotypes, which a search asks for and gets the fitness of; and the finalists of a run.

A genotype has a discrete part, values in {-1, 0, 1}, and a continuous part, values in
[0, 1]. Fitness is minimised.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, finite_numbers, integer, sequence
from distal.base.frozen import Frozen


@dataclass(frozen=True, eq=False)
class Genotypes(Frozen):
    """Genotypes, one per row of two arrays.

    Args:
        discrete: Values in {-1, 0, 1}, (n, discrete genes).
        continuous: Values in [0, 1], (n, continuous genes).
    """

    discrete: NDArray[np.int8]
    continuous: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.discrete)

    def __getitem__(self, rows: Any) -> Genotypes:
        """Select rows, as an array is indexed by a slice or a list."""
        return Genotypes(self.discrete[rows], self.continuous[rows])

    @property
    def length(self) -> int:
        """The number of genes, discrete and continuous together."""
        return int(self.discrete.shape[1] + self.continuous.shape[1])

    @classmethod
    def of_genes(cls, rows: Sequence[Sequence[float]], discrete: int) -> Genotypes:
        """Return genotypes from rows of genes, the discrete ones first."""
        genes = finite_numbers("rows", rows, 2).astype(np.float64)
        first = integer("discrete", discrete, 0, genes.shape[1])
        made = cls(genes[:, :first].astype(np.int8), genes[:, first:])
        if (made.discrete != genes[:, :first]).any() or not made.in_range:
            raise InputError(
                "rows holds genes out of range, expected changes of -1, 0 or 1, and numbers from 0 to 1"
            )
        return made

    @property
    def in_range(self) -> bool:
        """Whether all discrete genes are -1, 0 or 1, and all continuous ones in [0, 1]."""
        ranges = ((self.discrete, "i", -1), (self.continuous, "iuf", 0))
        return all(
            given.dtype.kind in kinds and bool(((given >= low) & (given <= 1)).all())
            for given, kinds, low in ranges
        )

    @property
    def genes(self) -> list[list[float]]:
        """The genes of each, the discrete ones first."""
        pairs = zip(self.discrete.tolist(), self.continuous.tolist(), strict=True)
        return [[*discrete, *continuous] for discrete, continuous in pairs]

    @classmethod
    def joined(cls, *parts: Genotypes) -> Genotypes:
        """Stack genotypes."""
        return cls(
            np.concatenate([part.discrete for part in parts]),
            np.concatenate([part.continuous for part in parts]),
        )


@dataclass(frozen=True, eq=False)
class Finalists(Frozen):
    """The candidates for the best individual of a run.

    Attributes:
        genotypes: The genotypes, the best first.
        fitness: The fitness of each by the search, lower is better.
        born: The generation in which each first appeared.
    """

    genotypes: Genotypes
    fitness: NDArray[np.float64]
    born: NDArray[np.int64]

    @classmethod
    def best(cls, groups: Sequence[Finalists], count: int) -> Finalists:
        """Return the best of several groups; the first of equals.

        Args:
            groups: The groups.
            count: The most to return.
        """
        groups = sequence("groups", groups, "a list of Finalists")
        if not groups or not all(isinstance(group, Finalists) for group in groups):
            raise InputError("groups is empty, or holds something other than Finalists")
        fitness = np.concatenate([group.fitness for group in groups])
        places = np.argsort(fitness, kind="stable")
        genotypes = Genotypes.joined(*(group.genotypes for group in groups))
        born = np.concatenate([group.born for group in groups])
        return cls(genotypes[places], fitness[places], born[places]).distinct(count)

    def distinct(self, count: int) -> Finalists:
        """Return the first distinct ones.

        Args:
            count: The most to return.
        """
        count = integer("count", count, 1)
        genes = np.concatenate([self.genotypes.discrete, self.genotypes.continuous], axis=1)
        _, first = np.unique(genes, axis=0, return_index=True)
        places = np.sort(first)[:count]
        return Finalists(self.genotypes[places], self.fitness[places], self.born[places])
