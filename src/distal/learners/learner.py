"""Base class of learners: numbers, genes, a file, and the update of the weights after an episode.

A learner is a frozen dataclass. Its class attributes give its names and its genes; `update` is the
learning itself. The `PlasticNetwork` that it trains keeps the `Memory` from one episode to the
next. A learner with `within` changes the weights after every step, too.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, ClassVar, Self, cast

from numpy.typing import NDArray

from distal.base import checks, plugins
from distal.base.checks import InputError, integer, text, unit_interval, within
from distal.base.files import SAVED, check_target, read_json, to_json, write_text
from distal.base.frozen import Frozen
from distal.model import draws
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.networks.episode import Episode
from distal.networks.network import Network, Weights

_LONGEST_NAME = 200

Kept = float | NDArray[Any] | Weights


@dataclass(frozen=True)
class Trial:
    """The seed and the schedule of a trial.

    Args:
        seed: The seed of all random numbers.
        resample: Draw fresh weights after this many episodes; None for never.
        phase: The goal moves after this many episodes; None if it does not.
        phases: The number of phases; None for any number.

    Raises:
        InputError: If a number is out of its range.
    """

    seed: int = 0
    resample: int | None = None
    phase: int | None = None
    phases: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "seed", integer("seed", self.seed, 0, MAX_SEED))
        for name, word in (("resample", "resample"), ("phase", "switch"), ("phases", "phases")):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, integer(word, getattr(self, name), 1, MAX_COUNT))

    def fresh_at(self, episode: int) -> bool:
        """Whether an episode, from 0, begins with fresh weights."""
        return episode == 0 or (self.resample is not None and episode % self.resample == 0)

    def moves_at(self, episode: int) -> bool:
        """Whether the goal moves before an episode, from 0."""
        if self.phase is None or episode == 0 or episode % self.phase:
            return False
        return self.phases is None or episode < self.phases * self.phase


def flipped(settings: Settings, trial: Trial, episode: int) -> bool:
    """Return whether the learner hears the opposite of an episode's reward, as the setting `flip` says."""
    if not settings.flip:
        return False
    return int(draws.words(trial.seed, draws.FLIP, episode, range(1), 1)[0, 0]) < settings.flip * 2**32


@dataclass(frozen=True, eq=False)
class Memory(Frozen):
    """The memory of a learner between two episodes.

    Args:
        weights: The weights of the next episode.
        kept: Numbers, arrays and weights of the learner's own, by name; empty after fresh weights.
    """

    weights: Weights
    kept: Mapping[str, Kept] = field(default_factory=dict)

    def number(self, name: str) -> float | None:
        """Return a number that was kept, or None after fresh weights."""
        return cast("float | None", self.kept.get(name))


class Learner(ABC):
    """A rule by which a network changes between two episodes: numbers, a name, genes and a file.

    Inherit from it in a frozen dataclass that has the fields in `names` and `name: str = ""`, and
    add `update`. Numbers lie in [0, 1], or in the range that `ranges` gives. A learner that evolves
    has a continuous gene for each of `names`, or defines the meaning of its genes in `from_genes`
    and `to_genes`. All continuous genes lie in [0, 1], because a search knows no ranges. A network
    takes its scales (alpha_h and alpha_o in the paper's network) from the numbers of the same
    names.

    Attributes:
        kind: Its word on the command line and in files, such as "hc".
        label: Its name in text if it has no other, such as "hill climbing".
        key: The field of a result's JSON with its parameters.
        bare: Whether other files contain it without format and version.
        file_format: The format that its file names.
        version: The version of that format.
        names: The names of its numbers, in the order of its continuous genes.
        ranges: The lowest and the highest value of each number that is not in [0, 1], by name.
        genes: The numbers of its discrete and continuous genes; None if nothing evolves. If that
            depends on the network, the fewest; `genes_for` gives the numbers.
        discrete_genes: The name of its discrete genes in tables, before their number.
        ignores: The readings that have no effect on it.
        needs: The word for the only network that it trains; None for any.
        within: Whether weights change within an episode, too; then it has `step`.
        compiled: The module whose `compiled`, a `CompiledLearner`, engine steps runs in place of
            this class; None if there is none. A subclass does not inherit it.
    """

    name: str
    kind: ClassVar[str]
    label: ClassVar[str]
    key: ClassVar[str] = "parameters"
    bare: ClassVar[bool] = False
    file_format: ClassVar[str]
    version: ClassVar[int] = 1
    names: ClassVar[tuple[str, ...]]
    ranges: ClassVar[Mapping[str, tuple[float, float]]] = {}
    genes: ClassVar[tuple[int, int] | None] = None
    discrete_genes: ClassVar[str] = "discrete"
    ignores: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[str | None] = None
    within: ClassVar[bool] = False
    compiled: ClassVar[str | None] = None

    def __post_init__(self) -> None:
        for name in self.names:
            low, high = self.ranges.get(name, (0, 1))
            object.__setattr__(self, name, within(name, getattr(self, name), low, high))
        own: object = self.name
        if type(own) is not str or own:  # an evolution makes thousands that have none
            object.__setattr__(self, "name", text("name", own, _LONGEST_NAME))

    @abstractmethod
    def update(self, network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> Memory:
        """Return the network's memory for the next episode.

        Args:
            network: The shape of the network.
            trial: The seed, and when goals move. Not called before fresh weights.
            memory: The network's memory from before the episode.
            episode: The episode that has just ended.

        Returns:
            The weights of the next episode, and the rest of the learner's memory.
        """

    def step(
        self, network: Network, trial: Trial, memory: Memory, weights: Weights, recent: Episode[Any]
    ) -> Weights:
        """Return the weights of the next step of an episode; called after each, if the learner is `within`.

        Args:
            network: The shape of the network.
            trial: The seed, and when goals move.
            memory: The network's memory from before the episode.
            weights: The weights of this step.
            recent: This step and the one before it as a record, its EP not yet known (nan):
                `Network.sources` gives the activity at each synapse in its last row.

        Returns:
            The weights. `update` finds the weights after the last step in `Episode.last`.
        """
        raise InputError(f"{type(self).__name__} has no method step, which a learner that is `within` needs")

    def check_network(self, network: Network) -> None:
        """Refuse a network that it cannot train; override it in a learner with numbers for each neuron."""
        if self.needs not in (None, network.kind):
            raise InputError(
                f"network is {network.kind!r}, but {self.kind} trains {self.needs!r} alone; "
                f"write network={self.needs!r}"
            )

    @property
    def numbers(self) -> dict[str, float]:
        """The numbers among the parameters, by name."""
        return {name: getattr(self, name) for name in self.names}

    def named(self, name: str) -> Self:
        """Return the same learner with another name."""
        return cast(Self, replace(cast(Any, self), name=name))

    @classmethod
    def genes_for(cls, network: Network) -> tuple[int, int] | None:
        """Return its number of genes for a network; override it if that depends on the network's size."""
        return cls.genes

    @classmethod
    def gene_names(cls, network: Network | None = None) -> tuple[str, ...]:
        """Return the names of its genes in tables, the discrete ones first.

        Continuous genes have the names of the numbers, if there are as many of them; all others
        are counted from 0.

        Args:
            network: The network, where the number of genes depends on it.
        """
        discrete, continuous = (cls.genes if network is None else cls.genes_for(network)) or (0, 0)
        counted = tuple(f"continuous_{k}" for k in range(continuous))
        numbers = cls.names if continuous == len(cls.names) else counted
        return (*(f"{cls.discrete_genes}_{k}" for k in range(discrete)), *numbers)

    @classmethod
    def from_genes(cls, discrete: Sequence[int], continuous: Sequence[float]) -> Self:
        """Return the learner with these numbers; override it if genes have another meaning."""
        make: Any = cls
        return cast(Self, make(*cls._scaled(cls._genes(discrete, continuous)[1])))

    def to_genes(self) -> tuple[tuple[int, ...], tuple[float, ...]]:
        """Return its genes, discrete and continuous, from which `from_genes` makes it again.

        A number with its own range may lose its last digit.
        """
        return (), self._unscaled()

    @classmethod
    def _scaled(cls, continuous: Sequence[Any]) -> tuple[Any, ...]:
        """Return the numbers that continuous genes stand for, in the order of `names`."""
        return tuple(cls._number(name, gene) for name, gene in zip(cls.names, continuous, strict=True))

    @classmethod
    def _number(cls, name: str, gene: Any) -> Any:
        if name not in cls.ranges:
            return gene  # its own range is that of genes
        low, high = cls.ranges[name]
        return low + (high - low) * unit_interval(f"the gene of {name}", gene)

    def _unscaled(self) -> tuple[float, ...]:
        """Return the continuous genes that stand for the numbers."""
        found = []
        for name, value in self.numbers.items():
            low, high = self.ranges.get(name, (0, 1))
            found.append(value if (low, high) == (0, 1) else (value - low) / (high - low))
        return tuple(found)

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
        """Return the contents of the file: format, version, a name if there is one, and the numbers.

        The file of a class of your own names its module too, so that a reader knows which module to
        import.
        """
        module = plugins.module_of(type(self))
        origin = {} if module is None else {"module": module}
        own = {"name": self.name} if self.name else {}
        return {"format": self.file_format, "version": self.version, **origin, **own, **self.numbers}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict`."""
        others = (field.name for field in fields(cast(Any, cls)))
        needed = (*cls.names, *(name for name in others if name not in (*cls.names, "name")))
        origin = ("module",) if "module" not in needed else ()
        kept = checks.fields(data, cls.file_format, cls.version, needed, others=("name", *origin))
        return cls(**{name: value for name, value in kept.items() if name not in origin})

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
