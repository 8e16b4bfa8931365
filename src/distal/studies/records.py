"""Numbers as JSON and back: frozen dataclasses whose fields say by their types how they are checked.

A number that has a range is `Annotated` with the check of it. `read` and `plain` know lists,
dictionaries, learners, mazes, records, and whatever has `to_dict` and `from_dict` of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
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
    shown,
    text,
    unit_interval,
)
from distal.learners import Learner, embedded, from_embedded
from distal.model.draws import MAX_SEED
from distal.model.maze import Maze

Share = Annotated[float, unit_interval]
NotNegative = Annotated[float, not_negative]
Count = Annotated[int, partial(integer, low=1)]
Seed = Annotated[int, partial(integer, low=0, high=MAX_SEED)]
Natural = Annotated[int, partial(integer, low=0)]
_CHECKS: dict[Any, Any] = {float: number, str: text}

# How the file of a study begins: what made it, before all numbers.
_MADE = (
    "format", "version", "distal", "scale", "budget", "seed", "settings", "elites", "maze", "heading", "engine",
    "machine", "seconds",
)  # fmt: skip


class Named:
    """Something that a study asks about, a task or a question: JSON has its name."""

    name: str


class Record:
    """A frozen dataclass that is written to JSON by its fields, and read back.

    Attributes:
        KEYS: The names in JSON of fields that have another one there.
        FIRST: The names in JSON that stand first there; the others have the order of the fields.
    """

    KEYS: ClassVar[Mapping[str, str]] = {}
    FIRST: ClassVar[tuple[str, ...]] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return all fields, ready for JSON."""
        found = {self.KEYS.get(name, name): plain(getattr(self, name)) for name in self._kinds()}
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
        """Read all fields but those that are known."""
        given = instance(cls.__name__.lower(), data, dict, "its fields, by name")
        kinds = {name: kind for name, kind in cls._kinds().items() if name not in known}
        read_ = {name: read(kind, name, given[cls.KEYS.get(name, name)]) for name, kind in kinds.items()}
        found = cls(**read_, **known)
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


@dataclass(frozen=True)
class Finished(Record):
    """All that a study gave, as it stands in a file of its own.

    Attributes:
        FORMAT: The word in the file that says what it is, and the version of its form.
        HOLDS: What it is, in words.
        MORE: Properties that are in the file too.
        version: The version of Distal.
        seed: The seed.
        machine: A description of the machine.
        seconds: The time of each stage.
    """

    FORMAT: ClassVar[tuple[str, int]]
    HOLDS: ClassVar[str]
    MORE: ClassVar[tuple[str, ...]] = ()

    version: str
    seed: Seed
    machine: dict[str, Any]
    seconds: dict[str, NotNegative]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and settings, ready for JSON."""
        name, version = self.FORMAT
        seconds = {stage: round(value, 2) for stage, value in self.seconds.items()}
        more = {name: plain(getattr(self, name)) for name in self.MORE}
        found = {"format": name, "version": version, **super().to_dict(), **more, "seconds": seconds}
        return {**{name: found[name] for name in _MADE if name in found}, **found}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict`."""
        try:
            names = [cls.KEYS.get(name, name) for name in cls._kinds()]
            given = checks.fields(data, *cls.FORMAT, (*names, *cls.MORE))
            return cls._read(given, **cls._known(given))
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
        return {str(name): plain(one) for name, one in value.items()}
    if isinstance(value, tuple):
        return [plain(one) for one in value]
    if isinstance(value, Named):
        return value.name
    if isinstance(value, Maze):
        return list(value.picture)
    return value.to_dict() if hasattr(value, "to_dict") else value


def read(kind: Any, name: str, value: Any) -> Any:
    """Return a value of a kind that was read from JSON, checked.

    Args:
        kind: A type, as in the annotation of a field.
        name: What a refusal calls the value.
        value: What was read.
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
    if kind in _CHECKS:
        return _CHECKS[kind](name, value)
    if kind is Any:
        return value
    return from_embedded(value) if kind is Learner else kind.from_dict(value)
