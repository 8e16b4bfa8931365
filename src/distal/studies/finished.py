"""The file of a study: its outcome, and how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Self

from distal.base import checks
from distal.base.checks import InputError, integer
from distal.base.records import NotNegative, Record, plain
from distal.model.draws import MAX_SEED
from distal.model.maze import Maze

Seed = Annotated[int, partial(integer, low=0, high=MAX_SEED)]

# How the file of a study begins: what made it, before all numbers.
_MADE = (
    "format", "version", "distal", "scale", "budget", "seed", "settings", "elites", "maze", "heading", "engine",
    "machine", "seconds",
)  # fmt: skip


@dataclass(frozen=True)
class Finished(Record):
    """The outcome of a study, as its file holds it.

    Attributes:
        FORMAT: The word in the file that says what it is, and the version of its form.
        HOLDS: What it is, in words.
        version: The version of Distal.
        seed: The seed.
        machine: A description of the machine.
        seconds: The time of each stage.
    """

    FORMAT: ClassVar[tuple[str, int]]
    HOLDS: ClassVar[str]

    version: str
    seed: Seed
    machine: dict[str, Any]
    seconds: dict[str, NotNegative]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and settings, ready for JSON."""
        name, version = self.FORMAT
        seconds = {stage: round(value, 2) for stage, value in self.seconds.items()}
        found = {"format": name, "version": version, **super().to_dict(), "seconds": seconds}
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


@plain.register
def _(value: Maze) -> list[str]:
    return list(value.picture)
