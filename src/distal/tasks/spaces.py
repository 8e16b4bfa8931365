"""Spaces of observations, those of any Gymnasium environment and our own, as lists of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, array, number, sequence, shown


@dataclass(frozen=True, eq=False)
class Bounds:
    """The space of observations that are tuples of numbers: a Box that needs no Gymnasium.

    Attributes:
        low: The lowest value of each number; 64-bit floats, or whole numbers.
        high: The highest values.
    """

    low: NDArray[Any]
    high: NDArray[Any]

    @classmethod
    def of(cls, low: object, high: object) -> Bounds:
        """Return the bounds that two lists of numbers are; refuse others."""
        expected = "a list of numbers"
        both = [sequence(name, given, expected) for name, given in (("low", low), ("high", high))]
        if len(both[0]) != len(both[1]) or not both[0]:
            raise InputError(f"low has {len(both[0])} numbers, high {len(both[1])}; expected as many")
        whole = all(type(one) is int for one in itertools.chain(*both))
        arrays = [np.array([number("a bound", one) for one in side]) for side in both]
        if (arrays[0] > arrays[1]).any():
            raise InputError(f"low is {shown(low)}, above high, {shown(high)}; exchange them")
        return cls(*(array_.astype(np.int64 if whole else np.float64) for array_ in arrays))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of an observation."""
        return self.low.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.low.dtype

    def __repr__(self) -> str:
        low, high = (", ".join(f"{one:g}" for one in side.tolist()) for side in (self.low, self.high))
        return f"[{low}] … [{high}]"


@dataclass(frozen=True, eq=False)
class Part:
    """A part of an observation that is numbers.

    Attributes:
        space: The space of the part.
        kind: Its type, as words name it: numbers, bits or boxes.
        low: The lowest value of each number, (numbers).
        high: The highest values.
    """

    space: Any
    kind: str
    low: NDArray[Any]
    high: NDArray[Any]

    def __len__(self) -> int:
        return len(self.low)

    @property
    def whole(self) -> bool:
        """Whether it is a Box of whole numbers."""
        return self.kind == "boxes" and self.low.dtype.kind in "iub"


def parts_of(space: Any) -> list[Part]:
    """Return the parts of an observation, in order; text is none."""
    return [_part(leaf) for _, leaf in _leaves(space) if not _is_text(leaf)]


def texts_in(space: Any) -> tuple[str, ...]:
    """Return the names of the parts of an observation that are text."""
    return tuple(name for name, leaf in _leaves(space) if _is_text(leaf))


def _part(space: Any) -> Part:
    if isinstance(space, Bounds):
        return Part(space, "boxes", space.low, space.high)
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Box):
        return Part(space, "boxes", space.low.ravel(), space.high.ravel())
    if isinstance(space, spaces.MultiBinary):
        none = np.zeros(int(np.prod(space.shape)), np.int64)
        return Part(space, "bits", none, none + 1)
    if isinstance(space, spaces.Discrete):
        low, count = np.array([space.start]), np.array([space.n])
        return Part(space, "numbers", low, low + count - 1)
    if isinstance(space, spaces.MultiDiscrete):
        low = np.broadcast_to(space.start, space.shape).ravel()
        return Part(space, "numbers", low, low + space.nvec.ravel() - 1)
    raise InputError(
        f"observations are {shown(space)}, expected Discrete, MultiDiscrete, MultiBinary, Box, or a "
        "Tuple or Dict of them; encode with a function of your own that turns them into bits"
    )


def bounds_of(space: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each number of an observation, (numbers) each."""
    parts = parts_of(space)
    low, high = (np.concatenate([getattr(part, end) for part in parts]) for end in ("low", "high"))
    return low.astype(np.float64), high.astype(np.float64)


def numbers_of(space: Any, observation: Any) -> list[float]:
    """Return the numbers that an observation consists of, if it is in the space."""
    return [one for part in _checked(space, observation) for one in part.tolist()]


def array_of(space: Any, observation: Any) -> NDArray[Any]:
    """Return the same numbers as an array, without a list of them where an observation is one array."""
    parts = _checked(space, observation)
    return parts[0] if len(parts) == 1 else np.array([one for part in parts for one in part.tolist()])


def _checked(space: Any, observation: Any) -> list[NDArray[Any]]:
    """Return the parts of an observation, each in one dimension."""
    try:
        return list(_arrays(space, observation))
    except _Outside as outside:
        where = f", {outside}," if str(outside) else ","
        raise InputError(
            f"an observation is {shown(observation)}{where} which is not in {shown(space)}; "
            "mend the environment"
        ) from None


def exact_types(space: Any) -> tuple[np.dtype[Any], ...]:
    """Return the types of arrays that are observations of a space if their shape and their numbers are right.

    There are none for a space that is not an array, such as Discrete or Dict.
    """
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Box):
        return (space.dtype, np.dtype(np.float64)) if space.dtype.kind == "f" else (space.dtype,)
    return (space.dtype,) if isinstance(space, spaces.MultiBinary | spaces.MultiDiscrete) else ()


class _Outside(Exception):  # noqa: N818 - never seen outside this file
    """An observation is not in its space."""


def _arrays(space: Any, observation: Any) -> Iterator[NDArray[Any]]:
    if isinstance(space, Bounds):
        values = array(observation)
        if values.shape != space.shape or not ((values >= space.low) & (values <= space.high)).all():
            raise _Outside(_first_outside(space, values))
        yield values
        return
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = _inner(space)
        kind = dict if isinstance(space, spaces.Dict) else tuple | list
        if not isinstance(observation, kind) or len(observation) != len(parts):
            raise _Outside
        for name, part in parts:
            if isinstance(observation, dict) and name not in observation:
                raise _Outside
            yield from _arrays(part, observation[name])
        return
    if _is_text(space):
        return
    values = observation if type(observation) is np.ndarray else array(observation)
    if isinstance(space, spaces.Box):  # its own check refuses 64-bit floats where it holds 32-bit ones
        right = values.dtype.kind in "biuf" and values.shape == space.shape
        right = right and bool(((values >= space.low) & (values <= space.high)).all())
    else:
        right = values.dtype.kind in "biuf" and values in space
    if not right:
        raise _Outside(_first_outside(space, values))
    yield values.ravel()


def _first_outside(space: Any, values: NDArray[Any]) -> str:
    """Name the first number of an observation of many that is out of its bounds, if one is."""
    bounds = getattr(space, "low", None), getattr(space, "high", None)
    if bounds[0] is None or values.shape != space.shape or values.size < 2 or values.dtype.kind not in "biuf":
        return ""
    wrong = np.flatnonzero(~((values >= bounds[0]) & (values <= bounds[1])))
    return f"with {values.flat[wrong[0]]} as number {wrong[0] + 1}" if wrong.size else ""


def _inner(space: Any) -> list[tuple[Any, Any]]:
    """Return the parts of a Tuple or a Dict, with what they are called."""
    inner = space.spaces
    return list(inner.items() if isinstance(inner, dict) else enumerate(inner))


def _leaves(space: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the spaces that a Tuple or a Dict consists of, by name, in order; any other is one by itself."""
    if isinstance(space, Bounds):
        yield name, space
        return
    from gymnasium.spaces import Dict, Tuple  # noqa: PLC0415 - an extra

    if isinstance(space, Dict | Tuple):
        for inner, part in _inner(space):
            yield from _leaves(part, f"{name}.{inner}" if name else str(inner))
    else:
        yield name, space


def _is_text(space: Any) -> bool:
    """Say whether a space holds texts, as Gymnasium's Text and MiniGrid's missions do."""
    kind = getattr(space, "dtype", None)
    return kind is str or (isinstance(kind, np.dtype) and kind.kind == "U")
