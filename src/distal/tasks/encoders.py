"""Observations of any Gymnasium environment as bits, which a network senses.

An observation is a list of numbers, whatever its space is, and each number becomes a few bits:

    binary             Discrete, MultiDiscrete: the number as binary digits, the lowest first
    one-hot            Discrete, MultiDiscrete: one bit for each value
    bits               MultiBinary: as it is
    bins:N             Box: N equal bins between the bounds; bit k says: at or above edge k
    bins:N:quantiles   Box: edges so that a random policy sees every bin equally often

Tuple and Dict are their parts, one after another; text in them is left out. Several words go
together, one for each type of space: "one-hot,bins:3". A function of the observation is an
encoder, too, and so is its name, "module:function".

A Box of whole numbers, as an image, is binary or one-hot, too, unless bins are asked for. Numbers
that have the same meaning make a pool: the cells of a grid, the pixels of a channel. A pool whose
bounds are far apart has the values that a random policy sees in it. Without a word, pools of few
values are binary, and others have bins.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, counted, integer, number, sequence, shown, suggestion
from distal.model.settings import MAX_INPUTS
from distal.tasks import naming
from distal.tasks.spaces import Part, array_of, numbers_of, parts_of, texts_in

SEEN = 2_000  # observations of a random policy that quantiles are taken from
_UNBOUNDED = float(np.finfo(np.float32).max)  # bounds from here on are none
DEFAULTS = {"numbers": "binary", "bits": "bits", "boxes": "bins:4:quantiles"}
WORDS = ("binary", "one-hot", "bits", "bins:4", "bins:4:quantiles")
FEW = 16  # values of a whole number that are few
_MOST_BINS = 257
_SMALLER = "wrap the environment for smaller observations, or encode with a function that picks what matters"
_CHANNELS = 4  # of an image, at most: red, green, blue and how opaque
_AT_ONCE = 24  # columns from which on NumPy is faster than a loop

Look = Callable[[], Iterable[Any]]  # what a random policy sees, from the first reset on


@dataclass(frozen=True)
class Whole:
    """A whole number as bits; `values` are a range, or those that a random policy saw, ascending.

    In binary, any other value counts as the lowest or the highest of them if it is beyond; in one-hot, it
    sets no bit. A number of which one value was seen has no bits.
    """

    values: Sequence[int]
    one_hot: bool = False

    @property
    def bits(self) -> int:
        """The number of bits."""
        if len(self.values) == 1:
            return int(isinstance(self.values, range))
        return len(self.values) if self.one_hot else (self.values[-1] - self.values[0]).bit_length()

    def __call__(self, value: float) -> list[int]:
        """Return the bits of a number."""
        if self.one_hot:
            return [int(value == one) for one in self.values[: self.bits]]
        low, high = self.values[0], self.values[-1]
        at = min(max(int(value), low), high) - low
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


def _typed(rows: NDArray[Any], *kinds: type[Any]) -> tuple[NDArray[Any], ...]:
    """Return the columns of a matrix, each of its type; none of an empty one."""
    if not len(rows):
        return ()
    return tuple(column.astype(kind) for column, kind in zip(rows.T, kinds, strict=True))


Column = Whole | Binned


@dataclass(frozen=True)
class Encoder:
    """Turns observations of a space into bits; `encoder_of` makes it.

    Attributes:
        space: The space of the observations.
        word: The encoding, such as "one-hot,bins:3".
        columns: The encoders of the numbers of an observation, one for each.
    """

    space: Any
    word: str
    columns: tuple[Column, ...]

    @cached_property
    def bits(self) -> int:
        """The number of bits."""
        return sum(column.bits for column in self.columns)

    @property
    def binned(self) -> bool:
        """Whether a number has too many values for bits of their own, and is in bins."""
        return any(isinstance(column, Binned) for column in self.columns)

    @cached_property
    def left_out(self) -> tuple[str, ...]:
        """The names of the parts of an observation that are text, which cannot become bits."""
        return texts_in(self.space)

    @cached_property
    def _many(self) -> _Many | None:
        """The same columns for NumPy, where they are many."""
        return _Many.of(self.columns) if len(self.columns) >= _AT_ONCE else None

    def __call__(self, observation: Any) -> tuple[int, ...]:
        """Return the bits of an observation."""
        values = numbers_of(self.space, observation)
        if self._many is not None:
            return self._many(values)
        encoded = (column(value) for column, value in zip(self.columns, values, strict=True))
        return tuple(itertools.chain.from_iterable(encoded))

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__dataclass_fields__}

    def to_dict(self) -> dict[str, Any]:
        """Return the encoder, ready for JSON; with its space, `from_dict` makes it again."""
        edges = [list(column.edges) for column in self.columns if isinstance(column, Binned)]
        kept: dict[str, Any] = {"word": self.word, "bits": self.bits, "edges": edges}
        pools = list(_far_pools(self.space))
        if any(not isinstance(self.columns[pool[0]], Binned) for pool in _whole_pools(self.space)):
            firsts = (self.columns[pool[0]] for pool in pools)
            kept["seen"] = [None if isinstance(one, Binned) else list(one.values) for one in firsts]
        return kept

    @classmethod
    def from_dict(cls, data: object, space: Any) -> Encoder:
        """Make an encoder again, with the edges that it had.

        Args:
            data: The data.
            space: The space of the observations.

        Raises:
            InputError: If the data is not an encoder, or is an encoder of another space.
        """
        if isinstance(data, dict) and str(data.get("word")).startswith("function "):
            raise InputError(f"encode was the {shown(data['word'])[1:-1]}; give the function again")
        if not isinstance(data, dict) or set(data) - {"seen"} != {"word", "bits", "edges"}:
            raise InputError(f"encoder is {shown(data)}, expected word, bits and edges")
        words = _words(data["word"])
        listed = sequence("edges of the encoder", data["edges"], "a list for each number")
        kept = iter([_kept(edges) for edges in listed])
        columns: list[Column] = []
        fits = True
        drafted = _columns(space, words, whole="seen" in data)
        if "seen" in data:
            fits = _fill(space, drafted, words, data["seen"])
        for column in drafted:
            own = next(kept, None) if isinstance(column, Binned) else column
            seen = isinstance(own, Binned) and _quantiles(words) and own.bits == column.bits
            fits = fits and (own == column or seen)
            columns.append(column if own is None else own)
        made = cls(space, _word(words, space, columns), tuple(columns))
        if not fits or next(kept, None) is not None or (made.bits, made.word) != (data["bits"], data["word"]):
            raise InputError(
                f"encoder {shown(data['word'])} of {shown(data['bits'])} bits was not made for "
                f"{shown(space)}; the environment has changed"
            )
        return made


@dataclass(frozen=True)
class _Many:
    """Many columns as arrays: which number each bit is of, and what is asked of it."""

    edges: tuple[NDArray[Any], ...]  # bit, number, edge: is it at or above?
    digits: tuple[NDArray[Any], ...]  # bit, number, lowest, highest, place: is this digit set?
    values: tuple[NDArray[Any], ...]  # bit, number, value: is it this one?
    bits: int

    @classmethod
    def of(cls, columns: Sequence[Column]) -> _Many | None:
        """Return the columns as arrays; None where a number may be more than a 64-bit float tells apart."""
        rows: tuple[list[Any], list[Any], list[Any]] = ([], [], [])
        bit = 0
        for at, column in enumerate(columns):
            places = range(bit, bit + column.bits)
            if isinstance(column, Binned):
                rows[0].extend((k, at, edge) for k, edge in zip(places, column.edges, strict=True))
            else:
                first, last = column.values[0], column.values[-1]
                if max(abs(first), abs(last)) > 2**53:
                    return None
                if column.one_hot:
                    rows[2].extend((k, at, one) for k, one in zip(places, column.values, strict=False))
                else:
                    rows[1].extend((k, at, first, last, place) for place, k in enumerate(places))
            bit += column.bits
        binned, digits, values = (np.array(some, np.float64) for some in rows)
        return cls(
            _typed(binned, np.intp, np.intp, np.float64),
            _typed(digits, np.intp, np.intp, np.int64, np.int64, np.int64),
            _typed(values, np.intp, np.intp, np.int64),
            bit,
        )

    def __call__(self, values: list[float]) -> tuple[int, ...]:
        """Return the bits of all numbers."""
        given, bits = np.array(values, np.float64), np.zeros(self.bits, np.uint8)
        if self.edges:
            bit, number_, edge = self.edges
            bits[bit] = given[number_] >= edge
        if self.digits:
            bit, number_, low, high, place = self.digits
            bits[bit] = np.clip(given[number_], low, high).astype(np.int64) - low >> place & 1
        if self.values:
            bit, number_, value = self.values
            bits[bit] = given[number_] == value
        return tuple(bits.tolist())


@dataclass(frozen=True)
class FunctionEncoder:
    """A function that turns an observation into bits; their number is always the same."""

    function: Callable[[Any], Sequence[int]]
    bits: int
    name: str | None = None  # module:function, if it was given so

    @property
    def word(self) -> str:
        """The name of the function."""
        named = self.name or getattr(self.function, "__qualname__", type(self.function).__name__)
        return f"function {named}"

    def __call__(self, observation: Any) -> tuple[int, ...]:
        """Return the bits of an observation."""
        found = _called(self.function, observation)
        if len(found) != self.bits:
            raise InputError(
                f"encode gives {counted(len(found), 'bit')} for {shown(observation)}, "
                f"and gave {self.bits} before; expected the same number each time"
            )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what the encoder is, ready for JSON; a function cannot be made again from that."""
        return {"word": self.word, "bits": self.bits}


AnyEncoder = Encoder | FunctionEncoder


def encoder_of(encode: object, space: Any, look: Look) -> AnyEncoder:
    """Make the encoder of a space.

    `encode` is words, as "one-hot,bins:3", a function of the observation or its name, what `to_dict`
    of an encoder returned, or None for the defaults; `look` yields what a random policy sees, if that
    is needed.
    """
    if isinstance(encode, dict):
        word = str(encode.get("word")).removeprefix("function ")
        if word == encode.get("word") or not naming.is_name(word):
            return Encoder.from_dict(encode, space)
        encode = word  # whoever read it from a file has asked whether it may be imported
    if isinstance(encode, str) and naming.is_name(encode) and encode.partition(":")[0] != "bins":
        named = naming.function_of("encode", encode)
        made = encoder_of(named, space, look)
        return replace(made, name=encode) if isinstance(made, FunctionEncoder) else made
    if callable(encode):
        first = _called(encode, next(iter(look())))
        return FunctionEncoder(encode, _limited(len(first), "return fewer of them"))
    words = {} if encode is None else _words(encode)
    columns = _columns(space, words, whole="boxes" not in words)
    if "boxes" not in words:
        _fill(space, columns, words, look)
    _check_all_used(words, space, columns)
    fewer = "binary" if "one-hot" in words.values() else "fewer bins"
    bits = sum(column.bits for column in columns)
    _limited(bits, f"use {fewer}, or encode with a function of your own that picks what matters")
    if bits == 0:
        raise InputError(
            f"observations are {shown(space)}, and a random policy always sees the same one; "
            "encode with a function of your own"
        )
    if _quantiles(words) and any(isinstance(column, Binned) for column in columns):
        columns = _with_quantiles(space, columns, look)
    return Encoder(space, _word(words, space, columns), tuple(columns))


# ---------------------------------------------------------------- words


def _words(given: object) -> dict[str, str]:
    """Return the word for each type of space that is named."""
    words: dict[str, str] = {}
    if not isinstance(given, str):
        raise InputError(f"encode is {shown(given)}, expected words such as 'one-hot,bins:3', or a function")
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
            integer("the number of bins in encode", rest[0] if count is None else count, 2, _MOST_BINS)
        else:
            known = "binary, one-hot, bits, bins:N, bins:N:quantiles or module:function"
            raise InputError(
                f"encode holds {shown(word)}, expected {known}, joined by commas{suggestion(word, WORDS)}"
            )
        if kind in words:
            raise InputError(f"encode is {shown(given)}, expected one of {words[kind]} and {word}")
        words[kind] = word
    return words


def _quantiles(words: dict[str, str]) -> bool:
    return words.get("boxes", DEFAULTS["boxes"]).endswith(":quantiles")


def _word(words: dict[str, str], space: Any, columns: Sequence[Column]) -> str:
    """Return the words that are in force."""
    kinds = {part.kind for part in parts_of(space)}
    if any(isinstance(columns[pool[0]], Whole) for pool in _whole_pools(space)):
        kinds.add("numbers")
    if not any(isinstance(column, Binned) for column in columns) and columns:
        kinds.discard("boxes")
    return ",".join(words.get(kind, DEFAULTS[kind]) for kind in DEFAULTS if kind in kinds)


def _check_all_used(words: dict[str, str], space: Any, columns: Sequence[Column]) -> None:
    """Refuse words that a space has no use for."""
    used = _word(words, space, columns).split(",")
    for word in words.values():
        if word not in used:
            raise InputError(f"encode holds {word!r}, which {shown(space)} has no use for; leave it out")


# ---------------------------------------------------------------- columns


def _columns(space: Any, words: dict[str, str], whole: bool) -> list[Column]:
    """Return how each number of an observation becomes bits; edges that have to be seen are 0.

    `whole` says whether Boxes of whole numbers are no bins; what has to be seen of them is 0, too.
    """
    made: list[Column] = []
    parts = parts_of(space)
    if not parts:
        raise InputError(
            f"observations are {shown(space)}, and text cannot become bits; "
            "encode with a function of your own"
        )
    for part in parts:
        if part.kind == "boxes" and not (whole and part.whole):
            made += _binned(part, words)
            continue
        one_hot = words.get("numbers") == "one-hot" and part.kind != "bits"
        for low, high in zip(part.low.tolist(), part.high.tolist(), strict=True):
            near = part.kind != "boxes" or high - low < FEW
            made.append(Whole(range(low, high + 1) if near else (0,), one_hot))
    return made


def _binned(part: Part, words: dict[str, str]) -> Iterator[Binned]:
    """Yield the bins of each number of a Box; edges that have to be seen are 0."""
    count = int(words.get("boxes", DEFAULTS["boxes"]).split(":")[1])
    if _quantiles(words):
        yield from itertools.repeat(Binned((0.0,) * (count - 1)), len(part))
        return
    bounds = np.stack([part.low, part.high]).astype(np.float64)
    if not (np.abs(bounds) < _UNBOUNDED).all():
        raise InputError(
            f"observations are {shown(part.space)}, and infinite bounds cannot be divided into bins; "
            f"use bins:{count}:quantiles"
        )
    for low, high in bounds.T.tolist():
        yield Binned(tuple(low + (high - low) * (k / count) for k in range(1, count)))


def _whole_pools(space: Any) -> Iterator[list[int]]:
    """Yield the numbers of an observation that mean the same, pool by pool, of Boxes of whole numbers.

    The numbers of a list are each a pool; the cells of a grid are one, and of an image each channel.
    """
    first = 0
    for part in parts_of(space):
        size, shape = len(part), part.space.shape
        if part.whole:
            channels = shape[-1] if len(shape) == 3 and shape[-1] <= _CHANNELS else 1
            pools = size if len(shape) < 2 else channels
            yield from (list(range(first + pool, first + size, pools)) for pool in range(min(pools, size)))
        first += size


def _far_pools(space: Any) -> Iterator[list[int]]:
    """Yield the pools whose bounds are too far apart for a bit or a digit for each value between."""
    near: list[bool] = []
    for part in parts_of(space):
        near += (part.high.astype(object) - part.low < FEW).tolist() if part.whole else [False] * len(part)
    yield from (pool for pool in _whole_pools(space) if not all(near[at] for at in pool))


def _fill(space: Any, columns: list[Column], words: dict[str, str], given: Any) -> bool:
    """Set the values of pools, from a list or from what a random policy observes; say whether all fit."""
    pools = list(_far_pools(space))
    if not callable(given):
        listed = sequence("seen of the encoder", given, "a list for each pool, or None")
        found = [None if one is None else _values(one) for one in listed]
        if len(found) != len(pools):
            return False
    else:
        found = _looked(space, pools, given, None if "numbers" in words else FEW) if pools else []
    one_hot = words.get("numbers") == "one-hot"
    count = int(words.get("boxes", DEFAULTS["boxes"]).split(":")[1])
    for pool, values in zip(pools, found, strict=True):
        for at in pool:
            columns[at] = Binned((0.0,) * (count - 1)) if values is None else Whole(values, one_hot)
    return True


def _looked(space: Any, pools: list[list[int]], look: Look, most: int | None) -> list[tuple[int, ...] | None]:
    """Return the values that a random policy sees in each pool, ascending; None where there are more."""
    values: list[set[float] | None] = [set() for _ in pools]
    places = [np.array(pool) for pool in pools]
    for observation in itertools.islice(look(), SEEN):
        seen = array_of(space, observation)
        for k, place in enumerate(places):
            known = values[k]
            if known is not None:
                known.update(np.unique(seen[place]).tolist())
                values[k] = None if most is not None and len(known) > most else known
    return [None if one is None else tuple(sorted(map(int, one))) for one in values]


def _values(given: object) -> tuple[int, ...]:
    """Return the values of a pool from outside."""
    listed = sequence("seen of the encoder", given, "ascending whole numbers")
    checked = tuple(integer("a value seen by the encoder", one, -(2**63), 2**64) for one in listed)
    if not checked or list(checked) != sorted(set(checked)):
        raise InputError(f"seen of the encoder is {shown(given)}, expected ascending whole numbers")
    return checked


def _with_quantiles(space: Any, columns: list[Column], look: Look) -> list[Column]:
    """Set the edges where a random policy sees every bin equally often."""
    binned = [at for at, column in enumerate(columns) if isinstance(column, Binned)]
    kept = {f"numbers of {SEEN:,} observations": 8 * SEEN * len(binned), "edges": 64 * len(columns)}
    memory.Estimate(f"{counted(len(columns), 'number')} in an observation", kept, _SMALLER).check()
    seen = np.array(
        [array_of(space, one)[binned].astype(np.float64) for one in itertools.islice(look(), SEEN)]
    )
    if not np.isfinite(seen).all():
        raise InputError(
            f"observations of {shown(space)} are infinite at times; encode with a function of your own"
        )
    made = list(columns)
    for at, numbers in zip(binned, seen.T, strict=True):
        count = columns[at].bits
        shares = np.arange(1, count + 1) / (count + 1)
        # Edges are numbers that were seen, so that no rounding decides on which side one lies.
        made[at] = Binned(tuple(np.quantile(numbers, shares, method="inverted_cdf").tolist()))
    return made


def _called(encode: Callable[[Any], Any], observation: Any) -> tuple[int, ...]:
    """Return the bits that a function gives for an observation."""
    try:
        given = encode(observation)
    except Exception as error:  # a function may raise anything
        said = f"{type(error).__name__}: {error}"
        raise InputError(f"encode failed for {shown(observation)}: {shown(said)[1:-1]}") from error
    expected = "a sequence of 0 and 1"
    bits = sequence("the result of encode", given, expected)
    if not bits or not all(isinstance(bit, int | np.integer | np.bool_) and bit in (0, 1) for bit in bits):
        raise InputError(f"the result of encode is {shown(given)}, expected {expected}")
    return tuple(int(bit) for bit in bits)


def _kept(edges: object) -> Binned:
    """Return a column with edges from outside."""
    listed = sequence("edges of the encoder", edges, "a list for each number")
    checked = tuple(number("an edge of the encoder", edge) for edge in listed)
    if list(checked) != sorted(checked):
        raise InputError(f"edges of the encoder are {shown(edges)}, expected ascending numbers")
    return Binned(checked)


def _limited(bits: int, instead: str) -> int:
    if bits > MAX_INPUTS:
        raise InputError(f"observations become {bits:,} bits, at most {MAX_INPUTS:,} are allowed; {instead}")
    return bits
