"""Frozen dataclasses: read-only arrays, and objects made of fields that have been checked already."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Frozen:
    """A frozen dataclass whose arrays are as frozen as its fields.

    The arrays are views: nothing is copied, and the maker of an array may still write to its own.
    """

    def __post_init__(self) -> None:
        for name, value in tuple(vars(self).items()):
            held = read_only(value)
            if held is not value:
                object.__setattr__(self, name, held)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Take the fields, also from another process, where arrays arrive writable."""
        for name, value in state.items():
            object.__setattr__(self, name, read_only(value))


def made(kind: type[T], **fields: Any) -> T:
    """Return an object of a frozen dataclass; its fields are right already, and are not checked again.

    A field that is left out has its default.
    """
    new = object.__new__(kind)
    for name, value in fields.items():
        object.__setattr__(new, name, read_only(value))
    return new


def read_only(value: Any) -> Any:
    """Return an array that cannot be written, a tuple or a dictionary with such arrays, or anything else."""
    if isinstance(value, np.ndarray):
        if not value.flags.writeable:
            return value
        view = value.view()
        view.flags.writeable = False
        return view
    if type(value) is tuple:
        held = tuple(map(read_only, value))
        return held if any(new is not old for new, old in zip(held, value, strict=True)) else value
    if type(value) is dict:
        kept = {name: read_only(one) for name, one in value.items()}
        return kept if any(kept[name] is not one for name, one in value.items()) else value
    return value
