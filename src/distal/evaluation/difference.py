"""Two learners compared in trials with the same seeds: the difference of their best EPs, and its tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.records import Record, Share
from distal.base.significance import (
    SIGNIFICANT,
    confidence_sequence,
    holm,
    interval,
    paired_superiority,
    rank_sum,
    signed_rank,
    superiority,
)

BOOTSTRAP, SEQUENCE = "paired bootstrap", "confidence sequence"  # what an interval is
Finals = NDArray[np.float64]  # the best EP of each trial


@dataclass(frozen=True)
class PairedDifference(Record):
    """Two learners compared in trials with the same seeds; below zero, the first one is better.

    Attributes:
        first: The name of the first learner.
        second: The name of the second learner.
        mean: The mean of the first one's best EP minus the second one's, trial by trial.
        interval: The 95% interval of the mean.
        interval_by: "paired bootstrap", for this pair alone; or "confidence sequence",
            if trials were added, which is valid at every number of trials and for all pairs at once.
        signed_rank: The p-value of the two-sided Wilcoxon signed-rank test, by Holm's method
            corrected for the number of pairs of learners; None where trials were added, since no
            such test allows that.
        rank_sum: The same for the rank-sum test, which ignores the pairing.
        paired_superiority: The share of trials in which the first is better than the second in
            the same trial; a tie counts half.
        superiority: The same for any two trials, the probability of superiority without pairs.
    """

    MORE: ClassVar[tuple[str, ...]] = ("decided",)

    first: str
    second: str
    mean: float
    interval: tuple[float, float]
    interval_by: str
    signed_rank: Share | None
    rank_sum: Share | None
    paired_superiority: Share
    superiority: Share

    @property
    def decided(self) -> bool:
        """Whether zero is outside the interval and, if there is a signed-rank test, its p is below 0.05."""
        low, high = self.interval
        apart = low > 0 or high < 0
        return apart and (self.signed_rank is None or self.signed_rank < SIGNIFICANT)

    @property
    def verdict(self) -> str:
        """Which learner is better, in words."""
        if not self.decided:
            return f"{self.first} and {self.second}: not decided"
        better, worse = (self.first, self.second) if self.mean < 0 else (self.second, self.first)
        return f"{better} is better than {worse}"


def in_sequence(finals: Sequence[Finals]) -> list[tuple[float, float]]:
    """Return the interval of each pair's difference; all hold at once with 95%, at every look."""
    pairs = list(combinations(finals, 2))
    ends = (confidence_sequence(one - other, SIGNIFICANT / len(pairs)) for one, other in pairs)
    return [(float(low[-1]), float(high[-1])) for low, high in ends]


def differences(names: Sequence[str], finals: Sequence[Finals], fixed: bool) -> list[PairedDifference]:
    """Compare each pair of learners; `fixed` says that the number of trials did not depend on them."""
    pairs = list(combinations(finals, 2))
    tests: list[Sequence[float | None]] = [
        holm([test(one, other) for one, other in pairs]) if fixed else [None] * len(pairs)
        for test in (signed_rank, rank_sum)
    ]
    ends = [interval(one - other) for one, other in pairs] if fixed else in_sequence(finals)
    kind = BOOTSTRAP if fixed else SEQUENCE
    return [
        PairedDifference(
            first, second, float((one - other).mean()), between, kind, signed, ranked,
            paired_superiority(one, other), superiority(one, other),
        )
        for (first, second), (one, other), between, signed, ranked in zip(
            combinations(names, 2), pairs, ends, *tests, strict=True
        )
    ]  # fmt: skip
