"""Checks of arguments, and the one error that they raise.

Every message is one line that names the value, what was expected and, where
there is one, the nearest right spelling.
"""

from __future__ import annotations

import os
import re
import sys
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SHOWN = 100  # letters of a value that a refusal shows
_LONGEST_WORD, _LONGEST_MESSAGE = 300, 1200  # letters of a refusal, as a path may have them
_TAIL = 300  # … of its end, which says what to do
# Characters that turn the direction of writing round. There are languages that need them in a name.
_TURNING = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
_ADDRESS = re.compile(" at 0x[0-9A-Fa-f]+(?=>)")
MOST = 2**20  # entries of a list, unless the caller says otherwise
_MOST_NUMBERS = 2**28  # in an array that is made from lists
T = TypeVar("T")
_Index = TypeVar("_Index", bound="np.integer[Any]")


class InputError(ValueError):
    """A wrong value from the user, with its fix."""


def shown(value: object) -> str:
    """Return a value for a refusal: on one line, not too long, even if its `repr` fails."""
    if type(value) in (list, tuple, str, bytes, bytearray):
        value = cast(Sequence[Any], value)[: 2 * SHOWN]  # what lies beyond would not be shown
    try:
        text = " ".join(line.strip() for line in repr(value).splitlines())
    except Exception:  # an object may fail to describe itself, and a number may have too many digits
        return f"an object of type {type(value).__name__}"
    text = without_addresses(text)
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}…"


def without_addresses(text: str) -> str:
    """Return a description of an object without its address in memory."""
    return _ADDRESS.sub("", text)


def brief(message: str) -> str:
    """Return a refusal, shortened in the middle if it, or a word of it, is too long to read."""
    cut = re.sub(rf"\S{{{_LONGEST_WORD + 1},}}", lambda found: f"{found[0][:SHOWN]}…", message)
    return cut if len(cut) <= _LONGEST_MESSAGE else f"{cut[: _LONGEST_MESSAGE - _TAIL]} … {cut[-_TAIL:]}"


def straight(text: str) -> str:
    """Return text with characters that would turn the direction of writing as `repr` writes them."""
    return _TURNING.sub(lambda found: ascii(found[0])[1:-1], text)


def counted(number: int, thing: str) -> str:
    """Return a number of things: 1 run, 2 runs."""
    return f"{number:,} {thing}{'' if number == 1 else 's'}"


def suggestion(value: object, allowed: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the nearest allowed spelling, or nothing."""
    if not isinstance(value, str) or len(value) > SHOWN:
        return ""
    near = get_close_matches(value.lower(), list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """Return value if it is one of the allowed words."""
    words = tuple(allowed)
    if isinstance(value, str):
        for word in words:
            if word == value:
                return word  # not `value`, which may be of a kind that calls itself otherwise
    raise InputError(
        f"{name} is {shown(value)}, expected one of {', '.join(words)}{suggestion(value, words)}"
    )


def code_for(name: str, functions: Mapping[str, T], word: str) -> T:
    """Return the function that stands for a word; refuse a word without one: it never runs as another."""
    try:
        return functions[word]
    except Exception:  # no list is a key, and what is one may fail in any way
        known = ", ".join(functions)
        raise InputError(f"{name} is {shown(word)}, but there is code for {known} only") from None


def integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return value as an int if it is a whole number in low … high."""
    plain = _plain(value)
    if (
        isinstance(plain, int)
        and not isinstance(plain, bool)
        and low <= plain
        and (high is None or plain <= high)
    ):
        return plain
    expected = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    raise InputError(f"{name} is {shown(plain)}, expected {expected}")


def number(name: str, value: object) -> float:
    """Return value as a float if it is a finite number."""
    plain = _plain(value)
    if isinstance(plain, int | float) and not isinstance(plain, bool) and abs(plain) <= sys.float_info.max:
        return float(plain)
    raise InputError(f"{name} is {shown(value)}, expected a finite number")


def not_negative(name: str, value: object) -> float:
    """Return value as a float if it is a finite number of at least 0, as a standard error is."""
    found = number(name, value)
    if found < 0:
        raise InputError(f"{name} is {shown(value)}, expected a number of at least 0")
    return found


def ascending(low: float, high: float) -> None:
    """Refuse the ends of an interval that are the wrong way round."""
    if low > high:
        raise InputError(f"an interval goes from {low} down to {high}")


def unit_interval(name: str, value: object) -> float:
    """Return value as a float if it is a number in [0, 1]."""
    return within(name, value, 0, 1)


def within(name: str, value: object, low: float, high: float) -> float:
    """Return value as a float if it is a number in [low, high]."""
    plain = _plain(value)
    if isinstance(plain, int | float) and not isinstance(plain, bool) and low <= plain <= high:
        return float(plain)
    raise InputError(f"{name} is {shown(plain)}, expected a number from {low:g} to {high:g}")


def flag(name: str, value: object) -> bool:
    """Return value if it is True or False."""
    plain = _plain(value)
    if not isinstance(plain, bool):
        raise InputError(f"{name} is {shown(value)}, expected True or False")
    return plain


def function(name: str, value: object) -> Callable[..., Any] | None:
    """Return value if it can be called, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is {shown(value)}, expected a function, or None")
    return value


def instance(name: str, value: object, kind: type[T], expected: str) -> T:
    """Return value if it is of a kind; `expected` describes the right ones."""
    if not isinstance(value, kind):
        raise InputError(f"{name} is {shown(value)}, expected {expected}")
    return value


def sequence(name: str, value: object, expected: str, most: int = MOST) -> tuple[Any, ...]:
    """Return value as a tuple, if it is a list, a tuple or the like, and not too long; text is refused.

    A range, or what computes its entries, may be longer than memory: lengths come first.
    """
    if type(value) in (tuple, list) and len(cast(list[Any], value)) <= most:  # in every step of a maze
        return tuple(cast(list[Any], value))
    if not _is_listed(value):
        raise InputError(f"{name} is {shown(value)}, expected {expected}")
    listed = cast(Sequence[Any], value)
    try:
        count = len(listed)
        found = tuple(islice(listed, most + 1)) if count <= most else ()  # it may have more than it says
    except Exception:  # what computes its entries may fail in any way
        raise InputError(
            f"{name} is {shown(value)}, whose entries cannot be read, expected {expected}"
        ) from None
    if max(count, len(found)) > most:
        raise InputError(f"{name} has {max(count, len(found)):,} entries, at most {most:,} are allowed")
    return found


def _is_listed(value: object) -> bool:
    """Say whether something is a list, a tuple or the like."""
    if isinstance(value, list | tuple):
        return True
    if isinstance(value, Sequence):
        return not isinstance(value, str | bytes | bytearray | memoryview)
    return _is_of_numpy(value, "ndarray") and cast(Any, value).ndim > 0


def _is_of_numpy(value: object, kind: str) -> bool:
    """Say whether something is of a class of NumPy, which is not loaded where nothing can be."""
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(value, getattr(numpy, kind))


def array(value: object) -> NDArray[Any]:
    """Return a new array of value, if it can be one; an array without dimensions, of None, if it cannot.

    Masked arrays cannot: what is masked is no number.
    """
    import numpy as np  # noqa: PLC0415

    try:
        return np.array(None if isinstance(value, np.ma.MaskedArray) else _read(value, _MOST_NUMBERS)[0])
    except Exception:  # what cannot become an array has any reason not to: it is too long, or ragged
        return np.array(None)


def _read(value: object, most: int) -> tuple[object, int]:
    """Return nested lists, with what computes its entries as a tuple, and how many entries there are."""
    if _is_of_numpy(value, "ndarray"):
        return value, cast(Any, value).size
    if not _is_listed(value):
        return value, 1
    listed = value if isinstance(value, list | tuple) else sequence("an array", value, "a list")
    plain = set(map(type, listed)) <= {int, float, bool}
    count = len(listed) if plain else 0
    if not plain:
        pairs = []
        for one in listed:
            pairs.append(_read(one, most - count))
            count += pairs[-1][1]
        listed = [one for one, _ in pairs]
    if count > most:
        raise InputError(f"there are more than {most:,} entries")
    return listed, count


def indices(name: str, value: object, high: int, kind: type[_Index]) -> NDArray[_Index]:
    """Return value as an array (n) of this kind of number, if it is an array of whole numbers in 0 … high."""
    import numpy as np  # noqa: PLC0415

    if (
        not isinstance(value, np.ndarray)
        or isinstance(value, np.ma.MaskedArray)
        or value.ndim != 1
        or value.dtype.kind not in "iu"
    ):
        raise InputError(f"{name} is {shown(value)}, expected an array of whole numbers")
    if value.size and (int(value.min()) < 0 or int(value.max()) > high):
        wrong = next(number for number in value.tolist() if not 0 <= number <= high)
        raise InputError(f"{name} holds {wrong}, expected numbers from 0 to {high}")
    return np.ascontiguousarray(value, kind)


def finite_numbers(name: str, value: object, dimensions: int) -> NDArray[Any]:
    """Return value as an array of finite numbers, int64 or float64, if it is nested lists of such."""
    import numpy as np  # noqa: PLC0415

    given = array(value)
    right = given.ndim == dimensions and given.size and given.dtype.kind in "if"
    if not right or not np.isfinite(given).all():
        kind = {1: "a list", 2: "rows", 3: "tables"}[dimensions]
        raise InputError(f"{name} is {shown(value)}, expected {kind} of finite numbers")
    return given


def text(name: str, value: object, longest: int | None = None) -> str:
    """Return value if it is text that any terminal and any file can hold: no control characters."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {shown(value)}, expected text")
    if longest is not None and len(value) > longest:
        raise InputError(f"{name} has {len(value):,} characters, at most {longest} are allowed")
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in value):
        raise InputError(f"{name} is {shown(value)}, expected text without control characters")
    return str.__str__(value)


def path(name: str, value: object) -> Path:
    """Return value as a path, if it can be the name of a file or folder."""
    try:
        written = os.fspath(cast(Any, value))
        written = str.__str__(written) if isinstance(written, str) else written
        os.fsencode(written)
    except Exception:  # no path, an object that fails to say which, or characters that no file system takes
        written = None
    if not isinstance(written, str):
        raise InputError(f"{name} is {shown(value)}, expected a path")
    if not written:
        raise InputError(f"{name} is empty, expected a path")
    if "\0" in written:
        raise InputError(f"{name} is {shown(written)}, which is not a valid path: it holds a NUL character")
    try:
        Path(written).stat()
    except (FileNotFoundError, NotADirectoryError, PermissionError):
        pass  # it may be made, or whoever uses it says what is wrong
    except OSError as error:  # too long, or a loop of links
        raise InputError(f"{name} is {shown(written)}, which cannot be used: {error.strerror}") from None
    return Path(written)


def folder(name: str, value: object) -> Path:
    """Return value as a path, if it is or can become a folder."""
    wanted = path(name, value)
    try:
        there = next(part for part in (wanted, *wanted.parents) if part.exists())
        if not there.is_dir():
            raise InputError(f"{name} is {str(wanted)!r}, expected a folder: {str(there)!r} is a file")
    except OSError as error:
        raise InputError(f"{name} is {str(wanted)!r}, which cannot be used: {error.strerror}") from None
    return wanted


def fields(data: object, form: str, version: int, needed: Sequence[str], others: Sequence[str] = ()) -> Any:
    """Return the fields of what a file of ours holds, if none is missing and none is unknown."""
    names = ", ".join(needed)
    if not isinstance(data, dict):
        raise InputError(f"expected an object with {names}")
    if not isinstance(data.get("format"), str) or data["format"] != form:
        raise InputError(f"format is {shown(data.get('format'))}, expected {form!r}")
    stored = _plain(data.get("version"))
    if type(stored) is not int or stored != version:
        raise InputError(f"version is {shown(stored)}, this release reads version {version}")
    known = ("format", "version", *others, *needed)
    for field in data:
        if field not in known:
            raise InputError(f"unknown field {shown(field)}{suggestion(field, known)}")
    for field in needed:
        if field not in data:
            raise InputError(f"field {field!r} is missing")
    return {field: data[field] for field in (*needed, *others) if field in data}


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn any error in the content of a dictionary into a refusal that names what is read."""
    try:
        yield
    except Exception as error:  # it may hold anything
        problem = f"field {error} is missing" if isinstance(error, KeyError) else " ".join(str(error).split())
        raise InputError(f"cannot read {what}: {problem}") from None


def _plain(value: object) -> object:
    """Return the Python number that a NumPy scalar, or another kind of number, holds."""
    if isinstance(value, bool):
        return value
    if isinstance(value, int):
        return int.__int__(value)
    if isinstance(value, float):
        return float.__float__(value)
    return cast(Any, value).item() if _is_of_numpy(value, "generic") else value
