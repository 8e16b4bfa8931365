"""What a user may ask for: one error type, and the checks that raise it.

Every message is one line that names the value, what was expected and, where
there is one, the nearest right spelling.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np


class InputError(ValueError):
    """A value that the user gave and can correct."""


def suggestion(value: object, allowed: Iterable[str]) -> str:
    """Return "; did you mean 'x'?" for the nearest allowed spelling, or nothing."""
    near = get_close_matches(str(value).lower(), list(allowed), n=1, cutoff=0.5)
    return f"; did you mean {near[0]!r}?" if near else ""


def one_of(name: str, value: object, allowed: Iterable[str]) -> str:
    """Return value if it is one of the allowed words."""
    words = tuple(allowed)
    if isinstance(value, str) and value in words:
        return value
    raise InputError(f"{name} is {value!r}, expected one of {', '.join(words)}{suggestion(value, words)}")


def integer(name: str, value: object, low: int, high: int | None = None) -> int:
    """Return value as an int if it is a whole number in low … high."""
    expected = f"a whole number of at least {low}" if high is None else f"a whole number from {low} to {high}"
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int):
        raise InputError(f"{name} is {value!r}, expected {expected}")
    if number < low or (high is not None and number > high):
        raise InputError(f"{name} is {number}, expected {expected}")
    return number


def unit_interval(name: str, value: object) -> float:
    """Return value as a float if it is a number in [0, 1]."""
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not 0 <= number <= 1:
        raise InputError(f"{name} is {number!r}, expected a number from 0 to 1")
    return float(number)


def finite(name: str, value: object) -> float:
    """Return value as a float if it is a finite number."""
    number = _plain(value)
    if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) < float("inf"):
        raise InputError(f"{name} is {value!r}, expected a finite number")
    return float(number)


def flag(name: str, value: object) -> bool:
    """Return value if it is True or False."""
    plain = _plain(value)
    if not isinstance(plain, bool):
        raise InputError(f"{name} is {value!r}, expected True or False")
    return plain


def function(name: str, value: object) -> Callable[..., Any] | None:
    """Return value if it can be called, or None."""
    if value is not None and not callable(value):
        raise InputError(f"{name} is {value!r}, expected a function, or None")
    return value


def text(name: str, value: object) -> str:
    """Return value if it is text that any terminal and any file can hold: no control characters."""
    if not isinstance(value, str):
        raise InputError(f"{name} is {value!r}, expected text")
    if any(unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp") for letter in value):
        raise InputError(f"{name} is {value!r}, expected text without control characters")
    return str(value)


def path(name: str, value: object) -> Path:
    """Return value as a path, if it can be the name of a file or folder."""
    if not isinstance(value, str | os.PathLike) or not isinstance(written := os.fspath(value), str):
        raise InputError(f"{name} is {value!r}, expected a path")
    if not written:
        raise InputError(f"{name} is empty, expected a path")
    if "\0" in written:
        raise InputError(f"{name} is {written!r}, which no file system takes: it holds a NUL character")
    return Path(written)


def _plain(value: object) -> object:
    """Return the Python number that a NumPy scalar holds."""
    return value.item() if isinstance(value, np.generic) else value
