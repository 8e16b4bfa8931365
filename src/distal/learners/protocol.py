"""What a learner is, and what all learners have in common: numbers, a name and a file.

A learner is a frozen dataclass. `Parameters` gives it the checks of its numbers and its
file; what it says itself is its class attributes and `episodes`, which is the learning.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, ClassVar, Protocol, Self, cast

from distal.base import checks
from distal.base.checks import InputError, instance, integer, text, unit_interval
from distal.base.files import SAVED, check_target, read_json, to_json, write_text
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.tasks.episode import Episode
from distal.tasks.task import Aim, W

_LONGEST_NAME = 200


def checked_training(
    task: Aim[W], settings: Settings, seed: int, resample: int | None
) -> tuple[Aim[W], Settings, int, int | None]:
    """Return what a learner's `episodes` is asked for, if it is right; seed and resample as plain numbers."""
    return (
        instance("task", task, Aim, "a task and its goal, such as Aim(MazeTask(maze), 0)"),
        instance("settings", settings, Settings, "a Settings"),
        integer("seed", seed, 0, MAX_SEED),
        None if resample is None else integer("resample", resample, 1, MAX_COUNT),
    )


class Learner(Protocol):
    """What happens between two episodes, as everything but its own file sees it.

    `genes` are the numbers of discrete genes (each -1, 0 or 1) and of continuous ones (each
    in [0, 1]); None if there is nothing to evolve. `ignores` names the readings that mean
    nothing to the learner. `key` is the field of its parameters in the JSON of a result. A
    learner that is `bare` stands inside other files without format and version.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    key: ClassVar[str]
    bare: ClassVar[bool]
    file_format: ClassVar[str]
    version: ClassVar[int]
    names: ClassVar[tuple[str, ...]]
    genes: ClassVar[tuple[int, int] | None]
    ignores: ClassVar[tuple[str, ...]]

    @classmethod
    def gene_names(cls) -> tuple[str, ...]:
        """Return what its genes are called, the discrete ones first."""

    @property
    def name(self) -> str:
        """Its own name, or nothing."""

    @property
    def alpha_h(self) -> float:
        """The scale of recurrent sums in the network, which chance beside it takes over."""

    @property
    def alpha_o(self) -> float:
        """The scale of feedback sums, likewise."""

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers among its parameters, by name."""

    def named(self, name: str) -> Self:
        """Return the same learner with another name."""

    @classmethod
    def from_genes(cls, discrete: Sequence[int], continuous: Sequence[float]) -> Self:
        """Return the learner that genes stand for."""

    def to_dict(self) -> dict[str, Any]:
        """Return what its file holds."""

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` returns."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read its file."""

    def save(self, path: str | Path) -> None:
        """Write its file."""

    def episodes(
        self, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
    ) -> Iterator[Episode[W]]:
        """Train one network, without end; yield each episode as it ends."""


class Parameters:
    """Numbers from 0 to 1, a name, genes and a file: what a learner need not write itself.

    Inherit from it in a frozen dataclass that has the fields in `names`, `alpha_h` and
    `alpha_o` among them, and `name: str = ""`; then add `episodes`. One that evolves has a
    continuous gene for each of `names`, or says in `from_genes` what its genes mean.

    Attributes:
        kind: The word for it on the command line and in files, as "hc".
        label: What people call one that has no name, as "hill climbing".
        key: The field of a result's JSON that holds its parameters.
        bare: Whether it stands inside other files without format and version.
        file_format: The format that its file names.
        version: The version of that format.
        names: The names of its numbers, in the order of its continuous genes.
        genes: How many discrete and continuous genes it has; None: nothing to evolve.
        discrete_genes: What its discrete genes are called in tables, before their number.
        ignores: The readings that mean nothing to it.
    """

    kind: ClassVar[str]
    label: ClassVar[str]
    key: ClassVar[str] = "parameters"
    bare: ClassVar[bool] = False
    file_format: ClassVar[str]
    version: ClassVar[int] = 1
    names: ClassVar[tuple[str, ...]]
    genes: ClassVar[tuple[int, int] | None] = None
    discrete_genes: ClassVar[str] = "discrete"
    ignores: ClassVar[tuple[str, ...]] = ()

    def __post_init__(self) -> None:
        for name in self.names:
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))
        own: object = getattr(self, "name")  # noqa: B009 - a field of the dataclass that inherits
        if type(own) is not str or own:  # an evolution makes thousands that have none
            object.__setattr__(self, "name", text("name", own, _LONGEST_NAME))

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers among the parameters, by name."""
        return {name: getattr(self, name) for name in self.names}

    def named(self, name: str) -> Self:
        """Return the same learner with another name."""
        return cast(Self, replace(cast(Any, self), name=name))

    @classmethod
    def gene_names(cls) -> tuple[str, ...]:
        """Return what its genes are called in tables, the discrete ones first.

        Continuous genes have the names of the numbers, if there are as many of them; all others
        are counted from 0.
        """
        discrete, continuous = cls.genes or (0, 0)
        counted = tuple(f"continuous_{k}" for k in range(continuous))
        numbers = cls.names if continuous == len(cls.names) else counted
        return (*(f"{cls.discrete_genes}_{k}" for k in range(discrete)), *numbers)

    @classmethod
    def from_genes(cls, discrete: Sequence[int], continuous: Sequence[float]) -> Self:
        """Return the learner with these numbers; one with other genes says itself what they mean."""
        make: Any = cls
        return cast(Self, make(*cls._genes(discrete, continuous)[1]))

    @classmethod
    def _genes(cls, discrete: object, continuous: object) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        """Return genes, if there are as many as this kind has; which values they may have, it says itself."""
        counts = cls.genes or (0, 0)
        own = checks.sequence("discrete", discrete, "a list of genes")
        numbers = checks.sequence("continuous", continuous, "a list of genes")
        if (len(own), len(numbers)) != counts or not any(counts):
            raise InputError(
                f"there are {len(own)} discrete and {len(numbers)} continuous genes, "
                f"{cls.kind} has {counts[0]} and {counts[1]}"
            )
        return own, numbers

    def to_dict(self) -> dict[str, Any]:
        """Return what the file holds: format, version, a name if there is one, and the numbers."""
        name: str = getattr(self, "name")  # noqa: B009 - as above
        own = {"name": name} if name else {}
        return {"format": self.file_format, "version": self.version, **own, **self.numbers}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict` returns."""
        others = (field.name for field in fields(cast(Any, cls)))
        needed = (*cls.names, *(name for name in others if name not in (*cls.names, "name")))
        return cls(**checks.fields(data, cls.file_format, cls.version, needed, others=("name",)))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a file that `save` or `distal evolve` wrote."""
        what = f"{cls.file_format.removeprefix('distal-')} file"
        data = read_json(path, what)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{what} {str(path)!r}: {error}") from None

    def save(self, path: str | Path) -> None:
        """Write a file, whole or not at all; a link and a file of another kind are refused."""
        check_target(checks.path("path", path), SAVED)
        write_text(path, to_json(self.to_dict()) + "\n")
