"""Numbers of a learner's trials: means and shares with intervals, differences with tests, curves.

The studies of tasks and beyond the paper consist of these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, ascending, unit_interval
from distal.base.records import Count, NotNegative, Record, Share
from distal.base.significance import (
    SIGNIFICANT,
    difference_interval,
    holm,
    interval,
    paired,
    rank_sum,
    share_interval,
    standard_error,
)
from distal.engines.batch import EPs
from distal.evaluation.behaviour import Behaviour

_POINTS = 40  # of a curve in a figure


@dataclass(frozen=True)
class Interval(Record):
    """A number and its 95% interval."""

    value: float
    low: float
    high: float

    @classmethod
    def mean(cls, values: NDArray[Any]) -> Interval:
        """Return a mean, with the bootstrap interval."""
        return cls(float(values.mean()), *interval(values))

    @classmethod
    def share(cls, which: NDArray[np.bool_]) -> Interval:
        """Return the share that is true, with Wilson's interval."""
        return cls(float(which.mean()), *share_interval(int(which.sum()), len(which)))

    def _check(self) -> None:
        """Refuse ends that are the wrong way round."""
        ascending(self.low, self.high)


def _share_read(name: str, data: Any) -> Interval:
    """Return the interval of a share, checked."""
    found = Interval.from_dict(data)
    for value in (found.value, found.low, found.high):
        unit_interval(name, value)
    return found


ShareInterval = Annotated[Interval, _share_read]


@dataclass(frozen=True)
class Gap(Record):
    """A learner minus another one, or chance: the difference of the means, lower is better, and its p."""

    difference: Interval
    p: Share

    @classmethod
    def of(cls, own: NDArray[Any], other: NDArray[Any]) -> Gap:
        """Compare two learners in the same trials, by the paired t-test."""
        return cls(Interval.mean(own - other), paired(own, other))

    @classmethod
    def of_runs(cls, own: NDArray[Any], other: NDArray[Any]) -> Gap:
        """Compare the runs of two evolutions, a number for each, by the rank-sum test."""
        difference = float(own.mean() - other.mean())
        return cls(Interval(difference, *difference_interval(own, other)), rank_sum(own, other))

    @property
    def decisive(self) -> float:
        """The p that decides."""
        return self.p

    @property
    def better(self) -> bool | None:
        """Whether the learner is better; None if that is not decided."""
        return self.difference.value < 0 if self.decisive < SIGNIFICANT else None


@dataclass(frozen=True)
class Corrected(Gap):
    """One of several differences, with p corrected by Holm's method for all of them."""

    corrected: Share

    @classmethod
    def family(cls, gaps: Sequence[Gap]) -> list[Corrected]:
        """Correct all comparisons of a question."""
        ps = holm([gap.p for gap in gaps])
        return [cls(gap.difference, gap.p, p) for gap, p in zip(gaps, ps, strict=True)]

    @property
    def decisive(self) -> float:
        """The p that decides."""
        return self.corrected


@dataclass(frozen=True)
class Scores(Record):
    """A learner after some episodes, and chance in the same trials with the learner's own scales.

    `retained` is the share of the episodes after a trial's first success that succeeded again;
    None if no trial had such episodes.
    """

    episodes: Count
    best: Interval
    chance: Interval
    gap: Gap
    reached: ShareInterval
    chance_reached: ShareInterval
    retained: Share | None
    chance_retained: Share | None

    @classmethod
    def of(cls, ep: EPs, by_chance: EPs, episodes: int, target: float) -> Scores:
        """Sum up the EPs (trials, episodes) of a learner and of chance."""
        own, other = (eps[:, :episodes] for eps in (ep, by_chance))
        best, chance = own.min(axis=1), other.min(axis=1)
        return cls(
            episodes=episodes,
            best=Interval.mean(best),
            chance=Interval.mean(chance),
            gap=Gap.of(best, chance),
            reached=Interval.share(best <= target),
            chance_reached=Interval.share(chance <= target),
            retained=Behaviour.of(own, target).retained,
            chance_retained=Behaviour.of(other, target).retained,
        )


def curve_points(episodes: int) -> NDArray[np.int64]:
    """Return the episodes that a curve shows, even on a logarithmic scale."""
    return np.unique(np.geomspace(1, episodes, _POINTS).round().astype(np.int64))


@dataclass(frozen=True)
class Curve(Record):
    """A mean over trials after some of the episodes, with the standard errors."""

    episodes: tuple[Count, ...]
    mean: tuple[float, ...]
    error: tuple[NotNegative, ...]

    @classmethod
    def of(cls, ep: EPs) -> Curve:
        """Take the best EP so far of EPs (trials, episodes), at points even on a logarithmic scale."""
        points = curve_points(ep.shape[1])
        return cls.at(points, np.minimum.accumulate(ep, axis=1)[:, points - 1])

    @classmethod
    def at(cls, points: NDArray[np.int64], values: NDArray[Any]) -> Curve:
        """Take values (trials, points) after some of the episodes."""
        means, errors = values.mean(axis=0), [standard_error(column) for column in values.T]
        return cls(tuple(points.tolist()), tuple(means.tolist()), tuple(errors))

    def _check(self) -> None:
        """Refuse columns of different lengths, and episodes that do not ascend."""
        if not len(self.episodes) == len(self.mean) == len(self.error) > 0:
            raise InputError("a curve does not have a mean and an error for each episode")
        if any(one >= other for one, other in pairwise(self.episodes)):
            raise InputError("the episodes of a curve do not ascend")
