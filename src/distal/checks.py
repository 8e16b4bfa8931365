"""What a user may ask for: one error type, and the checks that raise it.

Every message is one line that names the value, what was expected and, where
there is one, the nearest right spelling.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

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


def _plain(value: object) -> object:
    """Return the Python number that a NumPy scalar holds."""
    return value.item() if isinstance(value, np.generic) else value
