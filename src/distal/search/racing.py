"""Races: few trials for all, more for the ones that may be best (successive halving).

In the first heat of a race all candidates run the same few trials. The better half of each heat
goes on to the next and runs as many trials again as it has run so far. After three heats more, an
eighth of the field has run eight times the trials, for two and a half times the cost. A contender's
fitness is its mean over all trials it has run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import integer
from distal.engines.batch import EPs
from distal.search.wrapper import Wrapper

MOST = 20  # heats after the first: the last one has half a million times the trials of the first

# Returns the scores of some contenders: given their places, how many trials for each, the number of the heat.
Trials = Callable[[NDArray[np.int64], int, int], EPs]


def heats(contenders: int, trials: int, more: int) -> Iterator[tuple[int, int]]:
    """Yield how many run in each heat, and how many trials each of them runs in it."""
    yield contenders, trials
    for heat in range(1, more + 1):
        contenders = -(-contenders // 2)
        yield contenders, trials << heat - 1


def cost(contenders: int, trials: int, more: int) -> int:
    """Return how many trials all heats take together."""
    return sum(count * each for count, each in heats(contenders, trials, more))


def largest(contenders: int, trials: int, more: int) -> int:
    """Return the trials of the largest heat for each of all contenders, as if all ran in it."""
    return max(-(-count * each // contenders) for count, each in heats(contenders, trials, more))


class Raced(NamedTuple):
    """How a race ended.

    Attributes:
        fitness: The mean score of every contender over all the trials it has run.
        trials: How many trials that were.
    """

    fitness: NDArray[np.float64]
    trials: NDArray[np.int64]

    @property
    def winner(self) -> int:
        """The place of the best of those that ran in the last heat."""
        return int(np.argmin(np.where(self.trials == self.trials.max(), self.fitness, np.inf)))


def race(scores_of: Trials, fields: Sequence[int], trials: int, more: int) -> Raced:
    """Race several fields at once, each by itself; their contenders stand one field after another.

    Args:
        scores_of: Returns the scores of contenders, (contenders, trials); lower is better.
        fields: The number of contenders in each field.
        trials: Trials in the first heat.
        more: Heats after the first.

    Returns:
        The fitness of every contender.
    """
    last = np.cumsum(fields)
    running = [np.arange(end - size, end) for size, end in zip(fields, last, strict=True)]
    total, count = np.zeros(last[-1]), np.zeros(last[-1], np.int64)
    for heat in range(more + 1):
        if heat:
            running = [_better_half(places, total[places] / count[places]) for places in running]
        places = np.concatenate(running)
        scores = scores_of(places, trials << max(heat - 1, 0), heat)
        total[places] += scores.sum(axis=1)
        count[places] += scores.shape[1]
    return Raced(total / count, count)


def _better_half(places: NDArray[np.int64], means: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the places of the better half, the middle one included, in their order."""
    best = np.argsort(means, kind="stable")[: -(-len(places) // 2)]
    return places[np.sort(best)]


@dataclass(frozen=True)
class Race(Wrapper):
    """A race in every generation: the better half runs as many trials again, heat after heat.

    Args:
        search: The search whose generations race.
        heats: Heats after the first.

    Raises:
        InputError: If `heats` is out of its range, or the search is a race already.
    """

    name: ClassVar[str] = "race"
    level: ClassVar[int] = 3
    heats: int = 1

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "heats", integer("heats", self.heats, 1, MOST))

    @property
    def wrapping(self) -> dict[str, int]:
        """The options of the race and of all that it wraps, as files name them."""
        return {"race": self.heats, **self.search.wrapping}
