"""Values that may be missing, and are not."""

from __future__ import annotations

from typing import TypeVar

Value = TypeVar("Value")


def some(value: Value | None) -> Value:
    """Return a value that is there."""
    assert value is not None
    return value
