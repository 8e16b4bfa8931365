"""Numbers as JSON and back: frozen dataclasses in which the type of each field decides how it is checked.

A number with a range is `Annotated` with its check. `read` and `plain` know numbers, text, lists,
dictionaries, records, and classes with `to_dict` and `from_dict`; other packages add to them with
`plain.register` and `READERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cache, partial, singledispatch
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from distal.base.checks import (
    InputError,
    instance,
    integer,
    not_negative,
    number,
    sequence,
    shown,
    text,
    unit_interval,
)

Share = Annotated[float, unit_interval]
NotNegative = Annotated[float, not_negative]
Count = Annotated[int, partial(integer, low=1)]
Natural = Annotated[int, partial(integer, low=0)]
READERS: dict[Any, Callable[[str, Any], Any]] = {float: number, str: text, Any: lambda _, value: value}


class Named:
    """Something that a record is about, as a task or a question: JSON has its name."""

    name: str


class Record:
    """A frozen dataclass that is written to JSON by its fields, and read back.

    Attributes:
        KEYS: The names in JSON of fields that have another one there.
        FIRST: The names in JSON that stand first there; the others have the order of the fields.
        MORE: Properties that stand in JSON after the fields; they are not read back.
    """

    KEYS: ClassVar[Mapping[str, str]] = {}
    FIRST: ClassVar[tuple[str, ...]] = ()
    MORE: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        names = (*self._kinds(), *self.MORE)
        found = {self.KEYS.get(name, name): plain(getattr(self, name)) for name in names}
        return {**{name: found[name] for name in self.FIRST if name in found}, **found}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict`.

        Raises:
            InputError: If a field is not of its type, out of its range, or does not fit the others.
        """
        return cls._read(data)

    @classmethod
    def _read(cls, data: object, **known: Any) -> Self:
        """Read all fields except the known ones."""
        given = instance(cls.__name__.lower(), data, dict, "its fields, by name")
        for name, kind in cls._kinds().items():
            if name not in known:
                key = cls.KEYS.get(name, name)
                if key not in given:
                    raise InputError(f"field {key!r} is missing")
                known[name] = read(kind, name, given[key])
        found = cls(**known)
        found._check()
        return found

    @classmethod
    def of_each(cls, data: object, things: Sequence[Any], *more: Any) -> tuple[Self, ...]:
        """Read a list that holds the record of each of these things, in their order."""
        found = sequence("the list of outcomes", data, f"{len(things)} of them")
        if len(found) != len(things):
            raise InputError(f"there are {len(found)} outcomes, expected {len(things)}")
        return tuple(cls.of_thing(one, thing, *more) for one, thing in zip(found, things, strict=True))

    @classmethod
    def of_thing(cls, data: Any, thing: Any, **known: Any) -> Self:
        """Read the record of a thing, which is its first field, and may know further fields."""
        first = next(iter(cls._kinds()))
        name = data[cls.KEYS.get(first, first)]
        if name != thing.name:
            raise InputError(f"an outcome is of {shown(name)}, expected {thing.name}")
        return cls._read(data, **{first: thing}, **known)

    def _check(self) -> None:
        """Refuse fields that were read and do not fit together."""

    @classmethod
    @cache
    def _kinds(cls) -> dict[str, Any]:
        """Return the types of the fields."""
        hints = get_type_hints(cls, include_extras=True)
        return {one.name: hints[one.name] for one in fields(cls)}  # type: ignore[arg-type]


@singledispatch
def plain(value: Any) -> Any:
    """Return a value ready for JSON."""
    return value.to_dict() if hasattr(value, "to_dict") else value


@plain.register(dict)
def _(value: dict[str, Any]) -> dict[str, Any]:
    return {str(name): plain(one) for name, one in value.items()}


@plain.register(tuple)
def _(value: tuple[Any, ...]) -> list[Any]:
    return [plain(one) for one in value]


@plain.register
def _(value: Named) -> str:
    return value.name


def read(kind: Any, name: str, value: Any) -> Any:
    """Return a value of a kind that was read from JSON, checked.

    Args:
        kind: A type, as in the annotation of a field.
        name: The name of the value in a refusal.
        value: The value that was read.

    Returns:
        The value, of its kind.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return inner[1](name, value)
    if origin in (Union, UnionType):
        return None if value is None else read(inner[0], name, value)
    if origin is tuple:
        return tuple(read(inner[0], name, one) for one in sequence(name, value, "a list"))
    if origin in (dict, Mapping):
        entries = instance(name, value, dict, "a dictionary")
        return {text(name, key): read(inner[1], key, one) for key, one in entries.items()}
    return READERS[kind](name, value) if kind in READERS else kind.from_dict(value)
