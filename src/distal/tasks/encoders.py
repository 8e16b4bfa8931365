"""Observations of any Gymnasium environment as bits, which are what a network senses.

An observation is a list of numbers, whatever its space is, and each number becomes a few bits:

    binary             Discrete, MultiDiscrete: the number as binary digits, the lowest first
    one-hot            Discrete, MultiDiscrete: one bit for each value
    bits               MultiBinary: as it is
    bins:N             Box: N equal bins between the bounds; bit k says: at or above edge k
    bins:N:quantiles   Box: edges so that a random policy sees every bin equally often

Tuple and Dict are their parts, one after another. Several words go together, one for each
type of space: "one-hot,bins:3". A function of the observation is an encoder, too.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, array, counted, integer, number, sequence, shown, suggestion
from distal.model.settings import MAX_NEURONS

SEEN = 2_000  # observations of a random policy that quantiles are taken from
_UNBOUNDED = float(np.finfo(np.float32).max)  # bounds from here on are none
DEFAULTS = {"numbers": "binary", "bits": "bits", "boxes": "bins:4:quantiles"}
WORDS = ("binary", "one-hot", "bits", "bins:4", "bins:4:quantiles")

Look = Callable[[], Iterable[Any]]  # what a random policy sees, from the first reset on


@dataclass(frozen=True)
class Whole:
    """A whole number, first … first + count − 1, as bits."""

    first: int
    count: int
    one_hot: bool = False

    @property
    def bits(self) -> int:
        """The number of bits."""
        return self.count if self.one_hot else max(1, (self.count - 1).bit_length())

    def __call__(self, value: float) -> list[int]:
        """Return the bits of a number."""
        at = int(value) - self.first
        if self.one_hot:
            return [int(k == at) for k in range(self.count)]
        return [at >> k & 1 for k in range(self.bits)]


@dataclass(frozen=True)
class Binned:
    """A number as bits that say whether it is at or above each edge."""

    edges: tuple[float, ...]

    @property
    def bits(self) -> int:
        """The number of bits."""
        return len(self.edges)

    def __call__(self, value: float) -> list[int]:
        """Return the bits of a number."""
        return [int(value >= edge) for edge in self.edges]


@dataclass(frozen=True)
class Encoder:
    """Turns observations of a space into bits; `encoder_of` makes it.

    Attributes:
        space: The space of the observations.
        word: How they become bits, as "one-hot,bins:3".
        columns: What does it, one for each number of an observation.
    """

    space: Any
    word: str
    columns: tuple[Whole | Binned, ...]

    @property
    def bits(self) -> int:
        """The number of bits."""
        return sum(column.bits for column in self.columns)

    def __call__(self, observation: Any) -> tuple[int, ...]:
        """Return the bits of an observation."""
        values = numbers_of(self.space, observation)
        encoded = (column(value) for column, value in zip(self.columns, values, strict=True))
        return tuple(itertools.chain.from_iterable(encoded))

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder, ready for JSON; with its space, `from_dict` makes it again."""
        edges = [list(column.edges) for column in self.columns if isinstance(column, Binned)]
        return {"word": self.word, "bits": self.bits, "edges": edges}

    @classmethod
    def from_dict(cls, data: object, space: Any) -> Encoder:
        """Make an encoder again, with the edges that it had.

        Args:
            data: what `to_dict` returned.
            space: the space of the observations.

        Returns:
            The encoder.

        Raises:
            InputError: if the data is no encoder, or one for another space.
        """
        if isinstance(data, dict) and str(data.get("word")).startswith("function "):
            raise InputError(f"encode was the {shown(data['word'])[1:-1]}; give the function again")
        if not isinstance(data, dict) or set(data) != {"word", "bits", "edges"}:
            raise InputError(f"encoder is {shown(data)}, expected word, bits and edges")
        words = _words(data["word"])
        listed = sequence("edges of the encoder", data["edges"], "a list for each number")
        kept = iter([_kept(edges) for edges in listed])
        columns: list[Whole | Binned] = []
        fits = True
        for column in _columns(space, words):
            own = next(kept, None) if isinstance(column, Binned) else column
            seen = isinstance(own, Binned) and _quantiles(words) and own.bits == column.bits
            fits = fits and (own == column or seen)
            columns.append(column if own is None else own)
        made = cls(space, _word(space, words), tuple(columns))
        if not fits or next(kept, None) is not None or (made.bits, made.word) != (data["bits"], data["word"]):
            raise InputError(
                f"encoder {shown(data['word'])} of {shown(data['bits'])} bits was not made for "
                f"{shown(space)}; the environment has changed"
            )
        return made


@dataclass(frozen=True)
class FunctionEncoder:
    """A function that turns an observation into bits, always as many."""

    function: Callable[[Any], Sequence[int]]
    bits: int

    @property
    def word(self) -> str:
        """The name of the function."""
        return f"function {getattr(self.function, '__qualname__', type(self.function).__name__)}"

    def __call__(self, observation: Any) -> tuple[int, ...]:
        """Return the bits of an observation."""
        found = _called(self.function, observation)
        if len(found) != self.bits:
            raise InputError(
                f"encode gives {counted(len(found), 'bit')} for {shown(observation)}, "
                f"and gave {self.bits} before; expected always as many"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what the encoder is, ready for JSON; a function cannot be made again from that."""
        return {"word": self.word, "bits": self.bits}


AnyEncoder = Encoder | FunctionEncoder


def encoder_of(encode: object, space: Any, look: Look) -> AnyEncoder:
    """Make the encoder of a space.

    `encode` is words, as "one-hot,bins:3", a function of the observation, what `to_dict` of an encoder
    returned, or None for the defaults; `look` yields what a random policy sees, if that is needed.
    """
    if isinstance(encode, dict):
        return Encoder.from_dict(encode, space)
    if callable(encode):
        first = _called(encode, next(iter(look())))
        return FunctionEncoder(encode, _limited(len(first), "return fewer of them"))
    words = {} if encode is None else _words(encode)
    columns = list(_columns(space, words))
    fewer = "binary" if "one-hot" in words.values() else "fewer bins"
    bits = sum(column.bits for column in columns)
    _limited(bits, f"use {fewer}, or encode with a function of your own that picks what matters")
    if _quantiles(words) and any(isinstance(column, Binned) for column in columns):
        columns = _with_quantiles(space, columns, look)
    return Encoder(space, _word(space, words), tuple(columns))


def numbers_of(space: Any, observation: Any) -> list[float]:
    """Return the numbers that an observation consists of, if it is in the space."""
    try:
        return list(_numbers(space, observation))
    except _Outside:
        raise InputError(
            f"an observation is {shown(observation)}, which is not in {shown(space)}; mend the environment"
        ) from None


def bounds_of(space: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lowest and the highest value of each number of a space, (numbers) each."""
    bounds = [_bounds_of_leaf(leaf) for leaf in _leaves(space)]
    low, high = (np.concatenate(part).astype(np.float64) for part in zip(*bounds, strict=True))
    return low, high


def _bounds_of_leaf(space: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    if _kind(space) == "boxes":
        return space.low.ravel(), space.high.ravel()
    wholes = [column for column in _columns_of(space, {}) if isinstance(column, Whole)]
    first = np.array([column.first for column in wholes], np.float64)
    return first, first + np.array([column.count - 1 for column in wholes], np.float64)


def exact_types(space: Any) -> tuple[np.dtype[Any], ...]:
    """Return the types of arrays that are observations of a space if their shape and their numbers are right.

    There are none for a space that is not an array, such as Discrete or Dict.
    """
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Box):
        return (space.dtype, np.dtype(np.float64))
    return (space.dtype,) if isinstance(space, spaces.MultiBinary | spaces.MultiDiscrete) else ()


class _Outside(Exception):  # noqa: N818 - never seen outside this file
    """An observation is not in its space."""


def _numbers(space: Any, observation: Any) -> Iterator[float]:
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    if isinstance(space, spaces.Dict | spaces.Tuple):
        parts = _parts(space)
        kind = dict if isinstance(space, spaces.Dict) else tuple | list
        if not isinstance(observation, kind) or len(observation) != len(parts):
            raise _Outside
        for name, part in parts:
            if isinstance(observation, dict) and name not in observation:
                raise _Outside
            yield from _numbers(part, observation[name])
        return
    values = observation if type(observation) is np.ndarray else array(observation)
    if isinstance(space, spaces.Box):  # its own check refuses 64-bit floats where it holds 32-bit ones
        right = values.dtype.kind in "biuf" and values.shape == space.shape
        right = right and bool(((values >= space.low) & (values <= space.high)).all())
    else:
        right = values.dtype.kind in "biuf" and values in space
    if not right:
        raise _Outside
    yield from values.ravel().tolist()


def _parts(space: Any) -> list[tuple[Any, Any]]:
    """Return the parts of a Tuple or a Dict, with what they are called."""
    inner = space.spaces
    return list(inner.items() if isinstance(inner, dict) else enumerate(inner))


# ---------------------------------------------------------------- words


def _words(given: object) -> dict[str, str]:
    """Return the word for each type of space that is named."""
    words: dict[str, str] = {}
    if not isinstance(given, str):
        raise InputError(f"encode is {shown(given)}, expected words as 'one-hot,bins:3', or a function")
    for part in given.split(","):
        word = str.__str__(part).strip()
        name, *rest = word.split(":")
        if word in ("binary", "one-hot"):
            kind = "numbers"
        elif word == "bits":
            kind = "bits"
        elif name == "bins" and rest and rest[1:] in ([], ["quantiles"]):
            kind = "boxes"
            count = int(rest[0]) if rest[0].isascii() and rest[0].isdigit() and len(rest[0]) < 5 else None
            integer("the number of bins in encode", rest[0] if count is None else count, 2, MAX_NEURONS + 1)
        else:
            known = "binary, one-hot, bits, bins:N or bins:N:quantiles"
            raise InputError(
                f"encode holds {shown(word)}, expected {known}, joined by commas{suggestion(word, WORDS)}"
            )
        if kind in words:
            raise InputError(f"encode is {shown(given)}, expected one of {words[kind]} and {word}")
        words[kind] = word
    return words


def _quantiles(words: dict[str, str]) -> bool:
    return words.get("boxes", DEFAULTS["boxes"]).endswith(":quantiles")


def _word(space: Any, words: dict[str, str]) -> str:
    """Return the words that are in force for a space; those that it has no use for are refused."""
    kinds = dict.fromkeys(map(_kind, _leaves(space)))
    for kind, word in words.items():
        if kind not in kinds:
            raise InputError(f"encode holds {word!r}, which {shown(space)} has no use for; leave it out")
    return ",".join(words.get(kind, DEFAULTS[kind]) for kind in DEFAULTS if kind in kinds)


def _leaves(space: Any) -> Iterator[Any]:
    """Yield the spaces that a Tuple or a Dict consists of, in order; any other is one by itself."""
    from gymnasium.spaces import Dict, Tuple  # noqa: PLC0415 - an extra

    if isinstance(space, Dict | Tuple):
        for _, part in _parts(space):
            yield from _leaves(part)
    else:
        yield space


def _kind(space: Any) -> str:
    """Return the type of a space, as words name it."""
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    kinds = {
        spaces.MultiBinary: "bits",
        spaces.Discrete: "numbers",
        spaces.MultiDiscrete: "numbers",
        spaces.Box: "boxes",
    }
    for one, kind in kinds.items():
        if isinstance(space, one):
            return kind
    raise InputError(
        f"observations are {shown(space)}, expected Discrete, MultiDiscrete, MultiBinary, Box, or a "
        "Tuple or Dict of them; encode with a function of your own that turns them into bits"
    )


# ---------------------------------------------------------------- columns


def _columns(space: Any, words: dict[str, str]) -> Iterator[Whole | Binned]:
    """Yield how each number of an observation becomes bits; edges that have to be seen are 0."""
    _word(space, words)
    for leaf in _leaves(space):
        yield from _columns_of(leaf, words)


def _columns_of(space: Any, words: dict[str, str]) -> Iterator[Whole | Binned]:
    from gymnasium import spaces  # noqa: PLC0415 - an extra

    one_hot = words.get("numbers") == "one-hot"
    if isinstance(space, spaces.MultiBinary):
        yield from itertools.repeat(Whole(0, 2), int(np.prod(space.shape)))
    elif isinstance(space, spaces.Discrete):
        yield Whole(int(space.start), int(space.n), one_hot)
    elif isinstance(space, spaces.MultiDiscrete):
        first = np.broadcast_to(space.start, space.shape)
        for start, count in zip(first.ravel().tolist(), space.nvec.ravel().tolist(), strict=True):
            yield Whole(start, count, one_hot)
    else:
        count = int(words.get("boxes", DEFAULTS["boxes"]).split(":")[1])
        if _quantiles(words):
            yield from itertools.repeat(Binned((0.0,) * (count - 1)), int(np.prod(space.shape)))
            return
        bounds = np.stack([space.low, space.high]).astype(np.float64).reshape(2, -1)
        if not (np.abs(bounds) < _UNBOUNDED).all():
            raise InputError(
                f"observations are {shown(space)}, and bins between infinite bounds are of no use; "
                f"use bins:{count}:quantiles"
            )
        for low, high in bounds.T.tolist():
            yield Binned(tuple(low + (high - low) * (k / count) for k in range(1, count)))


def _with_quantiles(space: Any, columns: list[Whole | Binned], look: Look) -> list[Whole | Binned]:
    """Set the edges where a random policy sees every bin equally often."""
    seen = np.array([numbers_of(space, observation) for observation in itertools.islice(look(), SEEN)])
    if not np.isfinite(seen).all():
        raise InputError(
            f"observations of {shown(space)} are infinite at times; encode with a function of your own"
        )
    made: list[Whole | Binned] = []
    for k, column in enumerate(columns):
        if isinstance(column, Binned):
            shares = np.arange(1, column.bits + 1) / (column.bits + 1)
            # Edges are numbers that were seen, so that no rounding decides on which side one lies.
            edges = np.quantile(seen[:, k], shares, method="inverted_cdf")
            made.append(Binned(tuple(edges.tolist())))
        else:
            made.append(column)
    return made


def _called(encode: Callable[[Any], Any], observation: Any) -> tuple[int, ...]:
    """Return the bits that a function gives for an observation."""
    try:
        given = encode(observation)
    except Exception as error:  # a function may raise anything
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"encode failed for {shown(observation)}: {shown(said)[1:-1]}") from error
    expected = "a sequence of 0 and 1"
    bits = sequence("what encode returns", given, expected)
    if not bits or not all(isinstance(bit, int | np.integer | np.bool_) and bit in (0, 1) for bit in bits):
        raise InputError(f"what encode returns is {shown(given)}, expected {expected}")
    return tuple(int(bit) for bit in bits)


def _kept(edges: object) -> Binned:
    """Return a column with edges from outside."""
    listed = sequence("edges of the encoder", edges, "a list for each number")
    checked = tuple(number("an edge of the encoder", edge) for edge in listed)
    if list(checked) != sorted(checked):
        raise InputError(f"edges of the encoder are {shown(edges)}, expected ascending numbers")
    return Binned(checked)


def _limited(bits: int, instead: str) -> int:
    if bits > MAX_NEURONS:
        raise InputError(f"observations become {bits:,} bits, at most {MAX_NEURONS} are allowed; {instead}")
    return bits
