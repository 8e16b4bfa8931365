"""A search proposes the genotypes to try next, and knows nothing of mazes and learners.

An `Algorithm` holds the options of a search and begins a `Search` for every run of an
evolution. Ask a search for the genotypes to measure, tell it their fitness; one ask and
tell is a generation. `Islands`, `Restarts` and `Race` wrap an algorithm.

A new search is a file with these two classes and a line in `registry`:

    @dataclass(eq=False)
    class Walk(Search):
        def ask(self) -> Genotypes: ...

    @dataclass(frozen=True)
    class RandomWalk(Algorithm):
        name: ClassVar[str] = "walk"
        population: int = 14

        def begin(self, discrete: int, continuous: int, seed: int) -> Walk:
            return Walk(discrete, continuous, seed)
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer, number, shown, unit_interval
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.search.genotypes import Finalists, Genotypes

_MAX_GENES = 2**20


@dataclass(eq=False)
class Search(ABC):
    """One run of a search: ask for genotypes, tell their fitness, again and again.

    Every random number should be a function of the seed, the generation and the place in
    it (`distal.model.draws`); then a run can stop and resume anywhere. A search that keeps
    more than its current generation extends `tell`, `state` and `restore`.

    Attributes:
        discrete: The number of discrete genes.
        continuous: The number of continuous genes.
        seed: The seed of this run.
        generation: The number of the current generation, from 0; −1 before the first was told.
        population: The current generation, or None.
        fitness: The fitness of the population, or None.
        best: The leader, one row, or None: the winner if this is the last generation.
        best_fitness: The fitness that made it the leader.
        best_generation: The generation in which it first appeared.
        wanted: The number of finalists that will be asked for at the end.

    Raises:
        InputError: If a number is out of its range, or there are no genes.
    """

    discrete: int
    continuous: int
    seed: int
    generation: int = field(default=-1, init=False)
    population: Genotypes | None = field(default=None, init=False)
    fitness: NDArray[np.float64] | None = field(default=None, init=False)
    best: Genotypes | None = field(default=None, init=False)
    best_fitness: float = field(default=float("inf"), init=False)
    best_generation: int = field(default=-1, init=False)
    wanted: int = field(default=1, init=False)

    def __post_init__(self) -> None:
        self.discrete = integer("discrete", self.discrete, 0, _MAX_GENES)
        self.continuous = integer("continuous", self.continuous, 0, _MAX_GENES)
        self.seed = integer("seed", self.seed, 0, MAX_SEED)
        if not self.discrete + self.continuous:
            raise InputError("discrete and continuous are 0, expected at least one gene")

    @abstractmethod
    def ask(self) -> Genotypes:
        """Return the genotypes to measure for the next generation, at least one; change nothing."""

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Take the fitness of the genotypes that were asked for: they are the new generation.

        Args:
            genotypes: The genotypes that `ask` returned.
            fitness: The fitness of each; lower is better.

        Raises:
            InputError: If there is not one finite fitness for each genotype.
        """
        self._check(genotypes, fitness)
        self.generation += 1
        self.population, self.fitness = genotypes, fitness
        self._lead(int(np.argmin(fitness)), self.generation)

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to resume, ready for JSON."""
        population, fitness, best = self.current()
        return {
            "generation": self.generation,
            "fitness": fitness.tolist(),
            "discrete": population.discrete.tolist(),
            "continuous": population.continuous.tolist(),
            "best": {
                "fitness": self.best_fitness,
                "generation": self.best_generation,
                "discrete": best.discrete[0].tolist(),
                "continuous": best.continuous[0].tolist(),
            },
        }

    def snapshot(self) -> Callable[[], dict[str, Any]]:
        """Return a function that builds the state of this generation; override it where a copy is cheaper."""
        state = self.state()
        return lambda: state

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state.

        Args:
            state: As `state` returned it, or as read from JSON.

        Raises:
            InputError: If `state` cannot have returned it.
        """
        self.generation = integer("generation", entry(state, "generation"), 0, MAX_COUNT)
        measured = entry(state, "fitness")
        size = len(measured) if isinstance(measured, list) and measured else 1
        self.fitness = np.array(listed("fitness", measured, size, number), np.float64)
        self.population = self._genotypes(entry(state, "discrete"), entry(state, "continuous"), size)
        best = entry(state, "best")
        self.best = self._genotypes([entry(best, "discrete")], [entry(best, "continuous")], 1)
        self.best_fitness = number("the best fitness", entry(best, "fitness"))
        self.best_generation = self._past("the generation of the best", entry(best, "generation"))

    def current(self) -> tuple[Genotypes, NDArray[np.float64], Genotypes]:
        """Return population, fitness and best.

        Raises:
            InputError: If nothing was told yet.
        """
        if self.population is None or self.fitness is None or self.best is None:
            raise InputError("the search has been told nothing yet; ask, measure and tell first")
        return self.population, self.fitness, self.best

    def finalists(self, count: int) -> Finalists:
        """Return the individuals that may be the best of the run: as a rule, the best of this generation.

        Args:
            count: The most to return.

        Returns:
            At least one.

        Raises:
            InputError: If nothing was told yet, or count is out of its range.
        """
        count = integer("count", count, 1)
        population, fitness, _ = self.current()
        here = Finalists(population, fitness, np.full(len(fitness), self.generation))
        return Finalists.best([here], count)

    def begin_with(self, genotypes: Genotypes) -> None:
        """Take genotypes into the first population, where a search can.

        Args:
            genotypes: At most as many as a generation has.

        Raises:
            InputError: If the search takes none, or fewer.
        """
        raise InputError(f"{type(self).__name__} cannot begin with given genotypes; use the search ga")

    def immigrate(self, genotype: Genotypes, fitness: float, born: int) -> None:
        """Take an individual of another population, where a search can.

        Args:
            genotype: One row.
            fitness: Its fitness there.
            born: The generation in which it appeared.

        Raises:
            InputError: If the search takes none.
        """
        raise InputError(f"{type(self).__name__} takes no individuals from other islands; use the search ga")

    @classmethod
    def ask_together(cls, searches: Sequence[Self]) -> list[Genotypes]:
        """Return the genotypes that each of several runs asks for; override it where together is faster."""
        return [search.ask() for search in searches]

    def _check(self, genotypes: object, fitness: object) -> None:
        """Refuse arguments that `tell` cannot take."""
        count = len(instance("genotypes", genotypes, Genotypes, "the result of ask"))
        given = instance("fitness", fitness, np.ndarray, f"an array of {count} numbers")
        if given.shape != (count,) or given.dtype.kind not in "iuf" or not np.isfinite(given).all():
            raise InputError(f"fitness is {shown(given)}, expected an array of {count} finite numbers")

    def _fitting(self, name: str, genotypes: object) -> Genotypes:
        """Return genotypes, if they have the genes of this search, all of them in range."""
        given = instance(name, genotypes, Genotypes, "Genotypes")
        shapes = [np.shape(one) for one in (given.discrete, given.continuous)]
        if shapes == [(len(given), self.discrete), (len(given), self.continuous)] and given.in_range:
            return given
        raise InputError(
            f"{name} is not rows of {self.discrete} discrete and {self.continuous} continuous genes in range"
        )

    def _lead(self, leader: int, generation: int) -> None:
        """Make an individual of the current generation the leader, which appeared in some generation."""
        assert self.population is not None  # noqa: S101 - only called with a population
        assert self.fitness is not None  # noqa: S101
        self.best, self.best_fitness = self.population[leader : leader + 1], float(self.fitness[leader])
        self.best_generation = generation

    def _past(self, name: str, value: object) -> int:
        """Return a generation, if it is not later than the current one."""
        return integer(name, value, 0, self.generation)

    def _genotypes(self, discrete: object, continuous: object, n: int) -> Genotypes:
        def change(name: str, value: object) -> int:
            return integer(name, value, -1, 1)

        changes = listed("discrete", discrete, n, lambda name, row: listed(name, row, self.discrete, change))
        numbers = listed(
            "continuous", continuous, n, lambda name, row: listed(name, row, self.continuous, unit_interval)
        )
        return Genotypes(
            np.array(changes, np.int8).reshape(n, self.discrete),
            np.array(numbers, np.float64).reshape(n, self.continuous),
        )


class Algorithm(ABC):
    """A search algorithm and its options: a frozen dataclass that JSON can hold.

    Attributes:
        name: The word for it on the command line and in files.
        population: The most genotypes that a generation of a run measures.
        later: Options that files name only where they are not the default, because they came later.
    """

    name: ClassVar[str]
    later: ClassVar[tuple[str, ...]] = ()
    population: int

    @abstractmethod
    def begin(self, discrete: int, continuous: int, seed: int) -> Search:
        """Return the search of a run, before its first generation.

        Args:
            discrete: The number of discrete genes.
            continuous: The number of continuous genes.
            seed: The seed of the run.

        Returns:
            The search.

        Raises:
            InputError: If a number is out of its range, or there are no genes.
        """

    def sizes(self, generations: int) -> dict[int, int]:
        """Return how many generations of a run measure how many genotypes; override it if they differ.

        Args:
            generations: The generations after the first population, which counts as well.

        Returns:
            The number of generations by their number of genotypes.
        """
        return {self.population: generations + 1}

    def evaluations(self, generations: int) -> int:
        """Return how many genotypes a run measures in its first population and some generations more.

        Args:
            generations: The generations after the first population.

        Returns:
            The most that it can be.

        Raises:
            InputError: If generations is out of its range.
        """
        sizes = self.sizes(integer("generations", generations, 0, MAX_COUNT))
        return sum(size * times for size, times in sizes.items())

    def memory(self, genes: int) -> int:
        """Return the bytes that a run takes in addition to its individuals; override it if they are many."""
        return 0

    @property
    def heats(self) -> int:
        """The heats of a race after the first; 0 if all of a generation are measured alike."""
        return 0

    @property
    def core(self) -> Algorithm:
        """The algorithm itself, without its wrappers."""
        return self

    @property
    def wrapping(self) -> dict[str, int]:
        """The options of its wrappers, as files name them."""
        return {}

    def to_dict(self) -> dict[str, Any]:
        """Return the options by name, ready for JSON."""
        options: dict[str, Any] = asdict(self)  # type: ignore[call-overload]
        usual = {name: getattr(type(self), name) for name in self.later}
        return {name: value for name, value in options.items() if name not in usual or value != usual[name]}


def ask_all(searches: Sequence[Search]) -> list[Genotypes]:
    """Return the genotypes that each of several runs in one generation asks for; check their shape."""
    asked = type(searches[0]).ask_together(searches)
    for search, genotypes in zip(searches, asked, strict=True):
        given = instance("the result of ask", genotypes, Genotypes, "Genotypes")
        shapes = (given.discrete.shape, given.continuous.shape)
        if not len(given) or shapes != ((len(given), search.discrete), (len(given), search.continuous)):
            raise InputError(
                f"ask returned arrays of the shapes {shapes[0]} and {shapes[1]}, expected rows of "
                f"{search.discrete} discrete and {search.continuous} continuous genes"
            )
    return asked


def entry(state: object, name: str) -> Any:
    """Return an entry of a state; refuse a state that does not have it."""
    if not isinstance(state, dict) or name not in state:
        raise InputError(f"{name!r} is missing")
    return state[name]


def listed(name: str, values: object, length: int, check: Callable[[str, object], Any]) -> list[Any]:
    """Return a list of this length, each value checked."""
    if not isinstance(values, list) or len(values) != length:
        raise InputError(f"{name} is not a list of {length}")
    return [check(name, value) for value in values]
