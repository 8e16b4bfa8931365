"""Numbers as JSON and back: frozen dataclasses whose fields say by their types how they are checked.

A number that has a range is `Annotated` with the check of it. `read` and `plain` know lists,
dictionaries, learners, records, and whatever has `to_dict` and `from_dict` of its own.
"""

from __future__ import annotations

from dataclasses import fields
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, ClassVar, Self, Union, get_args, get_origin, get_type_hints

from distal.base import checks
from distal.base.checks import (
    InputError,
    instance,
    integer,
    not_negative,
    number,
    sequence,
    text,
    unit_interval,
)
from distal.learners import Learner, embedded, from_embedded
from distal.model.draws import MAX_SEED

Share = Annotated[float, unit_interval]
NotNegative = Annotated[float, not_negative]
Count = Annotated[int, partial(integer, low=1)]
Seed = Annotated[int, partial(integer, low=0, high=MAX_SEED)]
Natural = Annotated[int, partial(integer, low=0)]
_CHECKS: dict[Any, Any] = {float: number, str: text}


class Record:
    """A frozen dataclass that is written to JSON by its fields, and read back."""

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        return {one.name: plain(getattr(self, one.name)) for one in fields(self)}  # type: ignore[arg-type]

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` returns.

        Raises:
            InputError: If a field is not of its type, out of its range, or does not fit the others.
        """
        return cls._read(data)

    @classmethod
    def _read(cls, data: object, **known: Any) -> Self:
        """Read all fields but those that are known."""
        given = instance(cls.__name__.lower(), data, dict, "its fields, by name")
        kinds = {name: kind for name, kind in _kinds(cls).items() if name not in known}  # type: ignore[arg-type]
        found = cls(**{name: read(kind, name, given[name]) for name, kind in kinds.items()}, **known)
        found._check()
        return found

    def _check(self) -> None:
        """Refuse fields that were read and do not fit together."""


@cache
def _kinds(record: type) -> dict[str, Any]:
    """Return the types of the fields of a record."""
    hints = get_type_hints(record, include_extras=True)
    return {one.name: hints[one.name] for one in fields(record)}


class Finished(Record):
    """All that a study gave, as it stands in a file of its own.

    Attributes:
        FORMAT: The word in the file that says what it is, and the version of its form.
        HOLDS: What it is, in words.
        KEYS: The names in the file of fields that have another one there.
        MORE: Further names in the file.
    """

    FORMAT: ClassVar[tuple[str, int]]
    HOLDS: ClassVar[str]
    KEYS: ClassVar[dict[str, str]]
    MORE: ClassVar[tuple[str, ...]] = ()

    seconds: dict[str, NotNegative]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and what made them, ready for JSON."""
        name, version = self.FORMAT
        found = {self.KEYS.get(field, field): value for field, value in super().to_dict().items()}
        seconds = {stage: round(value, 2) for stage, value in self.seconds.items()}
        return {"format": name, "version": version, **found, "seconds": seconds}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` returns.

        Raises:
            InputError: If it is something else.
        """
        try:
            named = {cls.KEYS.get(field, field): field for field in (*_kinds(cls), *cls.MORE)}  # type: ignore[arg-type]
            given = checks.fields(data, *cls.FORMAT, tuple(named))
            found = {field: given[name] for name, field in named.items()}
            return cls._read(found, **cls._known(found))
        except InputError as error:
            raise InputError(f"this is not a {cls.HOLDS}: {error}") from None
        except (AttributeError, IndexError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"this {cls.HOLDS} is damaged: {checks.shown(error)}") from None

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the fields that cannot be read without others."""
        return {}


def plain(value: Any) -> Any:
    """Return a value ready for JSON."""
    if isinstance(value, Learner):
        return embedded(value)
    if isinstance(value, dict):
        return {name: plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    return value.to_dict() if hasattr(value, "to_dict") else value


def read(kind: Any, name: str, value: Any) -> Any:
    """Return a value of a kind that was read from JSON, checked.

    Args:
        kind: A type, as in the annotation of a field.
        name: What a refusal calls the value.
        value: What was read.

    Returns:
        The value.
    """
    origin, inner = get_origin(kind), get_args(kind)
    if origin is Annotated:
        return inner[1](name, value)
    if origin in (Union, UnionType):
        return None if value is None else read(inner[0], name, value)
    if origin is tuple:
        return tuple(read(inner[0], name, one) for one in sequence(name, value, "a list"))
    if origin is dict:
        entries = instance(name, value, dict, "a dictionary")
        return {text(name, key): read(inner[1], key, one) for key, one in entries.items()}
    if kind in _CHECKS:
        return _CHECKS[kind](name, value)
    if kind is Any:
        return value
    return from_embedded(value) if kind is Learner else kind.from_dict(value)
