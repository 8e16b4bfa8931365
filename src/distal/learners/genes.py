"""Many learners as arrays of genes: engines read the genes, objects are made on demand."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import attrgetter
from typing import cast, overload

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError
from distal.learners.dsp import Rule
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.hill_climbing import HillClimbing
from distal.learners.learner import Learner
from distal.learners.online_hebbian import OnlineHebbian
from distal.learners.reinforce import Reinforce
from distal.learners.separable_cma import SeparableCMA

# The kinds whose parameters are their genes, in order: whatever is in range makes a learner.
_DIRECT: tuple[type[Learner], ...] = (
    Rule, HillClimbing, Eligibility, OnlineHebbian, EvolutionStrategy, SeparableCMA, Reinforce,
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Decoded(Sequence[Learner]):
    """Learners whose parameters are their genes, one per row.

    Args:
        kind: The kind of all of them.
        discrete: Values in {-1, 0, 1}, (n, discrete genes).
        continuous: Values in [0, 1], (n, continuous genes).

    Raises:
        InputError: If the genes of a row make no learner.
    """

    kind: type[Learner]
    discrete: NDArray[np.int8]
    continuous: NDArray[np.float64]

    def __post_init__(self) -> None:
        # Whole arrays are checked; if something is wrong, the learner itself says what.
        n, (discrete, continuous) = len(self), self.kind.genes or (0, 0)
        right = (
            (self.discrete.shape, self.continuous.shape) == ((n, discrete), (n, continuous))
            and self.discrete.dtype == np.int8
            and self.continuous.dtype == np.float64
            and ((self.discrete >= -1) & (self.discrete <= 1)).all()  # the size of -128 is -128
            and ((self.continuous >= 0) & (self.continuous <= 1)).all()
        )
        if not right:
            for row in range(n):
                self[row]
        object.__setattr__(self, "discrete", self.discrete.astype(np.int8))
        object.__setattr__(self, "continuous", self.continuous.astype(np.float64))

    def __len__(self) -> int:
        return len(self.discrete)

    @overload
    def __getitem__(self, row: int) -> Learner: ...
    @overload
    def __getitem__(self, row: slice) -> Decoded: ...
    def __getitem__(self, row: int | slice) -> Learner | Decoded:
        """Make the learner of a row; of a slice, return the learners."""
        if isinstance(row, slice):
            return self.rows(row)
        return self.kind.from_genes(self.discrete[row].tolist(), self.continuous[row].tolist())

    @property
    def numbers(self) -> NDArray[np.float64]:
        """The numbers that the continuous genes stand for, (n, numbers), in the order of `names`."""
        if not self.kind.ranges:
            return self.continuous
        ends = np.array([self.kind.ranges.get(name, (0, 1)) for name in self.kind.names], np.float64)
        return ends[:, 0] + (ends[:, 1] - ends[:, 0]) * self.continuous

    def rows(self, chosen: slice | NDArray[np.int32]) -> Decoded:
        """Return the learners of some rows."""
        return Decoded(self.kind, self.discrete[chosen], self.continuous[chosen])


def numbers_of(learners: Sequence[Learner], *names: str) -> NDArray[np.float64]:
    """Return some numbers of learners of one kind, (learners, names)."""
    if isinstance(learners, Decoded):
        return learners.numbers[:, [learners.kind.names.index(name) for name in names]]
    return np.array(list(map(attrgetter(*names), learners)), np.float64).reshape(-1, len(names))


def columns(learners: Sequence[Learner], *names: str) -> NDArray[np.float32]:
    """Return some numbers of learners of one kind as 32-bit floats, (learners, names)."""
    return np.ascontiguousarray(numbers_of(learners, *names), np.float32)


def changes_of(rules: Sequence[Learner]) -> NDArray[np.int8]:
    """Return the changes of DSP rules, (rules, 32)."""
    if isinstance(rules, Decoded):
        return rules.discrete
    return np.array([rule.delta_w for rule in cast(Sequence[Rule], rules)], np.int8)


def genes_of(learner: Learner) -> tuple[float, ...]:
    """Return the genes that stand for a learner, the discrete ones first; refuse one that has no such."""
    kind, (discrete, continuous) = type(learner), learner.to_genes()
    if kind.genes is not None:
        with suppress(InputError):
            made = kind.from_genes(discrete, continuous).named(learner.name)
            # numbers with a range of their own may come back with another last digit
            if made == learner or (kind.ranges and made.to_genes() == (discrete, continuous)):
                return (*discrete, *continuous)
    raise InputError(f"a learner of kind {kind.kind} does not say which genes stand for it")


def decoded(
    kind: type[Learner], discrete: NDArray[np.int8], continuous: NDArray[np.float64]
) -> Sequence[Learner]:
    """Return the learners that genotypes stand for, one per row; see `Decoded`."""
    if kind in _DIRECT:
        return Decoded(kind, discrete, continuous)
    pairs = zip(discrete.tolist(), continuous.tolist(), strict=True)
    return [kind.from_genes(own, numbers) for own, numbers in pairs]
