"""What trials say of a learner: means and shares with their intervals, differences with their tests, curves.

The studies of tasks and of what is beyond the paper are made of these numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, ascending, integer, not_negative, number, unit_interval
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


def optional_number(name: str, value: object) -> float | None:
    """Return a number that may be missing."""
    return None if value is None else number(name, value)


def optional_share(name: str, value: object) -> float | None:
    """Return a number from 0 to 1 that may be missing."""
    return None if value is None else unit_interval(name, value)


@dataclass(frozen=True)
class Interval:
    """A number and its 95 % interval."""

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

    @classmethod
    def from_dict(cls, data: Any) -> Interval:
        """Read the numbers by name."""
        found = cls(*(number(name, data[name]) for name in ("value", "low", "high")))
        ascending(found.low, found.high)
        return found

    @classmethod
    def share_from_dict(cls, data: Any) -> Interval:
        """Read the numbers of a share."""
        found = cls.from_dict(data)
        for value in (found.value, found.low, found.high):
            unit_interval("a share", value)
        return found


@dataclass(frozen=True)
class Gap:
    """A learner minus another one, or chance: the difference of the means, lower is better, and its p."""

    difference: Interval
    p: float

    @classmethod
    def of(cls, own: NDArray[Any], other: NDArray[Any]) -> Gap:
        """Compare two learners in the same trials, by the paired t-test."""
        return cls(Interval.mean(own - other), paired(own, other))

    @classmethod
    def of_runs(cls, own: NDArray[Any], other: NDArray[Any]) -> Gap:
        """Compare the runs of two evolutions, a number for each, by the rank-sum test."""
        difference = float(own.mean() - other.mean())
        return cls(Interval(difference, *difference_interval(own, other)), rank_sum(own, other))

    @classmethod
    def from_dict(cls, data: Any) -> Gap:
        """Read the numbers by name."""
        return cls(Interval.from_dict(data["difference"]), unit_interval("p", data["p"]))

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
    """A difference that is one of several, with the p corrected by Holm's method for all of them."""

    corrected: float

    @classmethod
    def family(cls, gaps: Sequence[Gap]) -> list[Corrected]:
        """Correct all comparisons of a question."""
        ps = holm([gap.p for gap in gaps])
        return [cls(gap.difference, gap.p, p) for gap, p in zip(gaps, ps, strict=True)]

    @classmethod
    def from_dict(cls, data: Any) -> Corrected:
        """Read the numbers by name."""
        gap = Gap.from_dict(data)
        return cls(gap.difference, gap.p, unit_interval("corrected", data["corrected"]))

    @property
    def decisive(self) -> float:
        """The p that decides."""
        return self.corrected


@dataclass(frozen=True)
class Measured:
    """A learner after some episodes, and chance in the same trials with the learner's own scales.

    `retained` is the share of the episodes after a trial's first success that succeeded again;
    None if no trial had such episodes.
    """

    episodes: int
    best: Interval
    chance: Interval
    gap: Gap
    reached: Interval
    chance_reached: Interval
    retained: float | None
    chance_retained: float | None

    @classmethod
    def of(cls, ep: EPs, by_chance: EPs, episodes: int, target: float) -> Measured:
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

    @classmethod
    def from_dict(cls, data: Any) -> Measured:
        """Read the numbers by name."""
        return cls(
            episodes=integer("episodes", data["episodes"], 1),
            best=Interval.from_dict(data["best"]),
            chance=Interval.from_dict(data["chance"]),
            gap=Gap.from_dict(data["gap"]),
            reached=Interval.share_from_dict(data["reached"]),
            chance_reached=Interval.share_from_dict(data["chance_reached"]),
            retained=optional_share("retained", data["retained"]),
            chance_retained=optional_share("chance_retained", data["chance_retained"]),
        )


@dataclass(frozen=True)
class Curve:
    """A mean over trials after some of the episodes, with the standard errors."""

    episodes: tuple[int, ...]
    mean: tuple[float, ...]
    error: tuple[float, ...]

    @classmethod
    def of(cls, ep: EPs) -> Curve:
        """Take the best EP so far of EPs (trials, episodes), at points even on a logarithmic scale."""
        points = np.unique(np.geomspace(1, ep.shape[1], _POINTS).round().astype(int))
        return cls.at(points, np.minimum.accumulate(ep, axis=1)[:, points - 1])

    @classmethod
    def at(cls, points: NDArray[np.int64], values: NDArray[Any]) -> Curve:
        """Take values (trials, points) after some of the episodes."""
        means, errors = values.mean(axis=0), [standard_error(column) for column in values.T]
        return cls(tuple(points.tolist()), tuple(means.tolist()), tuple(errors))

    def to_dict(self) -> dict[str, list[float]]:
        """Return the points, ready for JSON."""
        return {name: list(values) for name, values in asdict(self).items()}

    @classmethod
    def from_dict(cls, data: Any) -> Curve:
        """Read what `to_dict` returns."""
        points = tuple(integer("episodes", value, 1) for value in data["episodes"])
        mean = tuple(number("mean", value) for value in data["mean"])
        error = tuple(not_negative("error", value) for value in data["error"])
        if not len(points) == len(mean) == len(error) > 0:
            raise InputError("a curve has not as many means and errors as episodes")
        if any(one >= other for one, other in pairwise(points)):
            raise InputError("the episodes of a curve do not ascend")
        return cls(points, mean, error)
