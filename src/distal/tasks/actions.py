"""Actions of an environment as outputs of a network: one output for each action.

Discrete actions are as many outputs. The actions of MultiDiscrete and MultiBinary are all
combinations. Those of a Box with up to three numbers are all combinations of N values, evenly
spaced between the bounds: "bins:N".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, counted, integer, shown
from distal.model.settings import MAX_OUTPUTS

MOST_DIMENSIONS = 3
_MOST_BINS = 100
_UNBOUNDED = float(np.finfo(np.float32).max)  # bounds from here on are none


@dataclass(frozen=True, eq=False)
class Actions:
    """The actions of a space, by their number from 0.

    Attributes:
        count: How many there are.
        first: The number of the first one, where they are numbers.
        values: The actions, (count, numbers of an action), where they are more than a number.
        shape: The shape of an action.
        word: How they were made, as "bins:3"; None where nothing had to be said.
    """

    count: int
    first: int = 0
    values: NDArray[Any] | None = None
    shape: tuple[int, ...] = ()
    word: str | None = None

    def __getitem__(self, number: int) -> Any:
        """Return the action as the environment takes it."""
        return self.first + number if self.values is None else self.values[number].reshape(self.shape).copy()

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Actions):
            return NotImplemented
        mine, theirs = self.values, other.values
        same = mine is theirs or (mine is not None and theirs is not None and np.array_equal(mine, theirs))
        return same and (self.count, self.first, self.shape) == (other.count, other.first, other.shape)

    def __hash__(self) -> int:
        return hash((self.count, self.first, self.shape))

    @property
    def names(self) -> tuple[str, ...]:
        """The actions as text: their numbers, as "-0.5" or "(0, 1)"."""
        if self.values is None:
            return tuple(map(str, range(self.first, self.first + self.count)))
        rows = [[f"{value:.4g}" for value in row] for row in self.values.tolist()]
        return tuple(row[0] if len(row) == 1 else f"({', '.join(row)})" for row in rows)


def actions_of_space(space: Any, word: object = None) -> Actions:
    """Return the actions of a space; refuse one among which a network cannot choose, with what to do.

    `word` says how those of a Box are made, "bins:N".
    """
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Box):
        return _of_box(space, word)
    bins = None if word is None else _bins(word)
    if isinstance(space, spaces.Discrete):
        found = Actions(_limited(int(space.n)), int(space.start))
    elif isinstance(space, spaces.MultiDiscrete | spaces.MultiBinary):
        if isinstance(space, spaces.MultiBinary):
            each = [range(2)] * math.prod(space.shape)
        else:
            starts, counts = np.broadcast_to(space.start, space.shape).ravel(), space.nvec.ravel()
            pairs = zip(starts.tolist(), counts.tolist(), strict=True)
            each = [range(start, start + count) for start, count in pairs]
        found = _product(each, space.shape, space.dtype, None)
    else:
        raise InputError(
            f"actions are {shown(space)}, expected Discrete, MultiDiscrete, MultiBinary or a Box; "
            "wrap the environment to choose among a few"
        )
    if bins is not None:
        raise InputError(
            f"actions is {shown(word)}, which is for a Box, not for {shown(space)}; leave it out"
        )
    return found


def _of_box(space: Any, word: object) -> Actions:
    size = math.prod(space.shape)
    if size > MOST_DIMENSIONS:
        raise InputError(
            f"actions are {shown(space)}, {size} numbers, and bins are for up to {MOST_DIMENSIONS}; "
            "wrap the environment to choose among a few"
        )
    if word is None:
        raise InputError(
            f"actions are {shown(space)}, and a network chooses among a few; pass actions='bins:3' "
            "for 3 values of each number, from the lowest to the highest"
        )
    bins = _bins(word)
    bounds = np.stack([space.low, space.high]).astype(np.float64).reshape(2, -1)
    if not (np.abs(bounds) < _UNBOUNDED).all():
        raise InputError(
            f"actions are {shown(space)}, and infinite bounds cannot be divided evenly; wrap the "
            "environment, for example in gymnasium.wrappers:RescaleAction"
        )
    each = [np.linspace(low, high, bins) for low, high in bounds.T]
    if space.dtype.kind in "iu":
        each = [np.unique(np.rint(values)) for values in each]
    return _product(each, space.shape, space.dtype, f"bins:{bins}")


def _bins(word: object) -> int:
    """Return the number of values that a word asks for."""
    name, colon, count = word.partition(":") if isinstance(word, str) else ("", "", "")
    if name != "bins" or not colon:
        raise InputError(f"actions is {shown(word)}, expected 'bins:N', such as bins:3")
    given = int(count) if count.isascii() and count.isdigit() and len(count) < 5 else count
    return integer("the number of bins in actions", given, 2, _MOST_BINS)


def _product(each: Sequence[Any], shape: tuple[int, ...], kind: Any, word: str | None) -> Actions:
    """Return all combinations, the last number changing fastest."""
    count = _limited(math.prod(map(len, each)), len(each))
    values = np.array(list(itertools.product(*each)), kind).reshape(count, -1)
    values.setflags(write=False)
    return Actions(count, 0, values, shape, word)


def _limited(count: int, numbers: int = 1) -> int:
    if count > MAX_OUTPUTS:
        of = f", all combinations of {counted(numbers, 'number')}" if numbers > 1 else ""
        raise InputError(f"there are {count} actions{of}, at most {MAX_OUTPUTS} are allowed; offer fewer")
    return count
