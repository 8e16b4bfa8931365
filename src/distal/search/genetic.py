"""The genetic algorithm (the paper's section "Genetic Algorithm"): operators first, the run at the bottom.

Every random number is a function of the run's seed, the generation and the child, so
a run can stop and resume anywhere.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, number, one_of, unit_interval
from distal.model import draws
from distal.search.genotypes import Finalists, Genotypes
from distal.search.precomputed import precomputed
from distal.search.search import Algorithm, Search, entry, listed

# Purposes of the random words of an evolution; a trial has others.
_FIRST, _PARENTS, _REDRAW, _DEVIATE = 16, 17, 18, 19
_SIDE = 21  # 20 is that of `cma`


# The fitness of elites, the default first: a reading of the paper, as the settings have others.
ELITES = {
    "remeasured": "the elites are measured again in every generation",
    "kept": "an elite keeps the fitness it was first given",
}
# The same, with a value that the paper does not have.
ELITE_FITNESS = {
    **ELITES,
    "averaged": "the elites are measured again, and an elite's fitness is the mean of all its measurements",
}
# The parents of a child, and the mixing of their genes; the paper's way first.
PARENTS = {
    "roulette": "drawn from the whole population, better ones with higher probability",
    "elites": "drawn from the elites, with equal probability",
}
MIXING = {
    "one-point": "genes before a cut from one parent, those after it from the other",
    "uniform": "each gene from either parent, with equal chances",
}
# The weights of the roulette wheel, and how a continuous gene stays in [0, 1]. The paper leaves
# both open: it minimises fitness, and speaks of selection proportional to it.
WHEELS = {
    "inverted": "weight = worst fitness − own fitness, so better parents are likelier",
    "proportional": "weight = own fitness, the paper taken literally, so worse parents are likelier",
}
BOUNDS = {
    "clip": "a number that mutation takes out of [0, 1] is set to the nearer end",
    "reflect": "the number is reflected at that end",
}


@dataclass(frozen=True)
class GeneticAlgorithm(Algorithm):
    """The paper's genetic algorithm; the defaults are the paper's.

    Args:
        population: Individuals.
        elite_count: The number of the best that are copied unchanged.
        crossover: Probability that a child has two parents.
        mutation: Probability that a discrete gene is redrawn.
        deviation: Standard deviation of the noise on continuous genes.
        elites: Whether the elites are measured again in every generation ("remeasured"), keep the
            fitness they were first given ("kept"), or are measured again and have the mean of all
            their measurements ("averaged").
        parents: Whether parents are drawn from the whole population by a roulette wheel
            ("roulette"), or from the elites ("elites").
        mixing: Whether the genes of two parents are cut at one point ("one-point") or each
            comes from either of them ("uniform").
        wheel: Whether the roulette wheel favours low fitness ("inverted"), or its weights are the
            fitness itself ("proportional"); negative fitness is shifted up to 0 first.
        bounds: Whether a continuous gene that leaves [0, 1] is set to the nearer end ("clip") or
            reflected there ("reflect").

    Raises:
        InputError: If an option is out of its range.
    """

    name: ClassVar[str] = "ga"
    later: ClassVar[tuple[str, ...]] = ("parents", "mixing", "wheel", "bounds")
    population: int = 14
    elite_count: int = 4
    crossover: float = 0.5
    mutation: float = 0.15
    deviation: float = 0.1
    elites: str = next(iter(ELITES))
    parents: str = next(iter(PARENTS))
    mixing: str = next(iter(MIXING))
    wheel: str = next(iter(WHEELS))
    bounds: str = next(iter(BOUNDS))

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", integer("population", self.population, 2, 2**20))
        object.__setattr__(self, "elite_count", integer("elite_count", self.elite_count, 0, 2**20))
        if self.elite_count >= self.population:
            raise InputError(
                f"elite_count is {self.elite_count}, expected fewer than the population of {self.population}"
            )
        for name, words in WORDS.items():
            object.__setattr__(self, name, one_of(name, getattr(self, name), words))
        if self.parents == "elites" and not self.elite_count:
            raise InputError("parents is 'elites', but elite_count is 0; give at least 1")
        for name in ("crossover", "mutation", "deviation"):
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))

    def begin(self, discrete: int, continuous: int, seed: int) -> GeneticSearch:  # noqa: D102 - as in Algorithm
        return GeneticSearch(discrete, continuous, seed, self)

    def sizes(self, generations: int) -> dict[int, int]:
        """Return the sizes of the generations of a run, with their numbers: kept elites are not measured."""
        children = self.population - (self.elite_count if self.elites == "kept" else 0)
        return dict(Counter({self.population: 1}) + Counter({children: generations}))


# The options that are words, and their values.
WORDS = {"elites": ELITE_FITNESS, "parents": PARENTS, "mixing": MIXING, "wheel": WHEELS, "bounds": BOUNDS}


# ------------------------------------------------------------------ operators


def unit(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Turn words into numbers uniform in [0, 1)."""
    return words / 2.0**32


def first_population(n: int, discrete: int, continuous: int, seed: int) -> Genotypes:
    """Draw n genotypes, every gene uniform."""
    words = draws.words(seed, _FIRST, 0, range(n), discrete + continuous)
    return Genotypes(
        (np.floor(unit(words[:, :discrete]) * 3) - 1).astype(np.int8),
        unit(words[:, discrete : discrete + continuous]),
    )


def roulette(
    fitness: NDArray[np.float64], u: NDArray[np.float64], wheel: str = next(iter(WHEELS))
) -> NDArray[np.int64]:
    """Choose individuals by weights that `WHEELS` explains; all alike if all weights are 0.

    Fitness is (runs, population). `u` are numbers in [0, 1), (runs, n); one individual of the
    run is chosen for each.
    """
    if wheel == "proportional":
        weight = fitness - np.minimum(fitness.min(axis=1, keepdims=True), 0)
    else:
        weight = fitness.max(axis=1, keepdims=True) - fitness
    weight[~weight.any(axis=1)] = 1
    ends = np.cumsum(weight, axis=1)
    points = u * ends[:, -1:]
    chosen = np.stack([own.searchsorted(at, side="right") for own, at in zip(ends, points, strict=True)])
    # u close to 1 may be rounded up to the end of the wheel: the last that has a weight is the last chosen
    last = fitness.shape[1] - 1 - np.argmax(weight[:, ::-1] != 0, axis=1)
    indices: NDArray[np.int64] = np.minimum(chosen, last[:, None])
    return indices


def crossover(heads: Genotypes, tails: Genotypes, cuts: NDArray[np.int64]) -> Genotypes:
    """Take the genes before the cut from the head parent, the others from the tail parent."""
    return mixed(heads, tails, np.arange(heads.length)[None, :] >= cuts[:, None])


def mixed(heads: Genotypes, tails: Genotypes, from_tail: NDArray[np.bool_]) -> Genotypes:
    """Take each gene from the tail parent where it says so, (children, genes), else from the head parent."""
    n = heads.discrete.shape[1]
    return Genotypes(
        np.where(from_tail[:, :n], tails.discrete, heads.discrete),
        np.where(from_tail[:, n:], tails.continuous, heads.continuous),
    )


def places_of_best(fitness: NDArray[np.float64], count: int) -> NDArray[np.int64]:
    """Return the places of the lowest along the last axis, the lowest first; the first of equals."""
    return np.argsort(fitness, axis=-1, kind="stable")[..., :count]


def cut_points(u: NDArray[np.float64], whether: NDArray[np.bool_], length: int) -> NDArray[np.int64]:
    """Return cuts uniform in 1 … length − 1, or at the end (a copy of the head) without crossover."""
    return np.where(whether, 1 + np.floor(u * (length - 1)).astype(np.int64), length)


def mutated(
    children: Genotypes,
    redraw: NDArray[np.float64],
    value: NDArray[np.float64],
    noise: NDArray[np.float64],
    rate: float,
    bounds: str = next(iter(BOUNDS)),
) -> Genotypes:
    """Redraw each discrete gene where redraw < rate; add noise to continuous genes, kept in [0, 1]."""
    fresh = (np.floor(value * 3) - 1).astype(np.int8)
    return Genotypes(
        np.where(redraw < rate, fresh, children.discrete), bounded(children.continuous + noise, bounds)
    )


def bounded(numbers: NDArray[np.float64], bounds: str) -> NDArray[np.float64]:
    """Return numbers as genes in [0, 1]; `BOUNDS` says how."""
    if bounds == "reflect":
        numbers = np.abs((numbers + 1) % 2 - 1)  # as often as it takes
    return np.clip(numbers, 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class _Chances:
    """All random numbers that make the n children of a generation, in each of several runs."""

    parents: NDArray[np.float64]  # (runs, n, 4): two parents, whether to cross over, where
    redraw: NDArray[np.float64]  # (runs, n, discrete)
    value: NDArray[np.float64]  # (runs, n, discrete)
    deviate: NDArray[np.float64]  # (runs, n, continuous), standard normal
    side: NDArray[np.float64]  # (runs, n, genes): which parent a gene comes from; none but for uniform mixing


def chances(
    seeds: Sequence[int], generation: int, n: int, discrete: int, continuous: int, uniform: bool = False
) -> _Chances:
    """Draw for several runs at once, and for generations to come: faster than one after another."""
    numbers = 4 + 2 * discrete + continuous + (discrete + continuous) * uniform  # of a child
    return _chances(generation, len(seeds) * n * numbers, tuple(seeds), n, discrete, continuous, uniform)


@precomputed
def _chances(
    generations: range, seeds: tuple[int, ...], n: int, discrete: int, continuous: int, uniform: bool
) -> list[_Chances]:
    """Draw for several generations."""
    genes = discrete + continuous if uniform else 0
    wanted = {_PARENTS: 4, _REDRAW: 2 * discrete, _DEVIATE: continuous, _SIDE: genes}
    parents, redraw, deviate, side = draws.words_for(seeds, generations, range(n), wanted)
    chance = unit(redraw)
    normal = draws.normals(deviate)[..., :continuous].astype(np.float64)
    halves = chance[..., :discrete], chance[..., discrete : 2 * discrete]
    return [
        _Chances(*own) for own in zip(unit(parents), *halves, normal, unit(side[..., :genes]), strict=True)
    ]


def _parents(
    fitness: NDArray[np.float64], u: NDArray[np.float64], options: GeneticAlgorithm
) -> NDArray[np.int64]:
    """Choose a parent of the run for each number in [0, 1), (runs, n)."""
    if options.parents == "roulette":
        return roulette(fitness, u, options.wheel)
    best = places_of_best(fitness, options.elite_count)
    return np.take_along_axis(best, (u * options.elite_count).astype(np.int64), axis=1)


def offspring(
    parents: Genotypes, fitness: NDArray[np.float64], drawn: _Chances, options: GeneticAlgorithm
) -> Genotypes:
    """Make children in several runs: selection, crossover, mutation.

    Parents (runs · population) and children (runs · n) stand run by run; the
    fitness of the parents is (runs, population).
    """
    runs, n, _ = drawn.parents.shape
    first, second, whether, where = np.moveaxis(drawn.parents, -1, 0)
    chosen = _parents(fitness, np.concatenate([first, second], axis=1), options)
    chosen += fitness.shape[1] * np.arange(runs)[:, None]
    heads, tails = parents[chosen[:, :n].ravel()], parents[chosen[:, n:].ravel()]
    crossed = whether.ravel() < options.crossover
    redraw, value, deviate, side = (
        each.reshape(runs * n, -1) for each in (drawn.redraw, drawn.value, drawn.deviate, drawn.side)
    )
    if options.mixing == "uniform":
        children = mixed(heads, tails, crossed[:, None] & (side < 0.5))
    else:
        children = crossover(heads, tails, cut_points(where.ravel(), crossed, parents.length))
    return mutated(children, redraw, value, options.deviation * deviate, options.mutation, options.bounds)


# ------------------------------------------------------------------ a run


@dataclass(eq=False)
class GeneticSearch(Search):
    """One run of the genetic algorithm.

    Its leader is the best of the current generation. With kept elites it is the lowest
    fitness ever measured, which is the same while there are elites; with averaged elites, the
    best of the individuals measured more than once. `GeneticAlgorithm.begin` makes it.

    Attributes:
        discrete: The number of discrete genes.
        continuous: The number of continuous genes.
        seed: The seed of this run.
        options: The options of the algorithm.
        given: The genotypes with which the first population begins, or None; the rest of it is drawn.
        born: The generation in which each individual of the population first appeared.
        measured: With averaged elites, the number of measurements in the mean fitness of each.
    """

    options: GeneticAlgorithm = field(default_factory=GeneticAlgorithm)
    given: Genotypes | None = field(default=None, init=False)
    born: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), init=False)
    measured: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64), init=False)

    @property
    def remeasured(self) -> bool:
        """Whether the elites are measured again in every generation."""
        return self.options.elites != "kept"

    @property
    def averaged(self) -> bool:
        """Whether an elite's fitness is the mean of all its measurements."""
        return self.options.elites == "averaged"

    def ask(self) -> Genotypes:
        """Return the genotypes to measure: a first population, then children, and elites if remeasured."""
        (asked,) = self.ask_together([self])
        return asked

    @classmethod
    def ask_together(cls, searches: Sequence[Self]) -> list[Genotypes]:
        """Draw for all runs at once, which is much faster than one after another."""
        first, options = searches[0], searches[0].options
        runs, genes = len(searches), (first.discrete, first.continuous)
        if first.population is None:
            return [search._first() for search in searches]
        states = [search.current() for search in searches]
        population, fitness = (
            Genotypes.joined(*(own for own, _, _ in states)),
            np.stack([own for _, own, _ in states]),
        )
        seeds = [search.seed for search in searches]
        n = options.population - options.elite_count
        drawn = chances(seeds, first.generation + 1, n, *genes, options.mixing == "uniform")
        asked = offspring(population, fitness, drawn, options)
        if first.remeasured:
            elites = (
                places_of_best(fitness, options.elite_count) + options.population * np.arange(runs)[:, None]
            )
            rows = np.concatenate([elites, len(population) + np.arange(runs * n).reshape(runs, n)], axis=1)
            asked = Genotypes.joined(population, asked)[rows.ravel()]
        size = len(asked) // runs
        return [asked[size * run : size * (run + 1)] for run in range(runs)]

    def begin_with(self, genotypes: Genotypes) -> None:
        """Take genotypes into the first population, before the drawn ones."""
        size, genotypes = self.options.population, self._fitting("genotypes", genotypes)
        if len(genotypes) > size:
            raise InputError(
                f"{len(genotypes)} individuals are given to begin with, but the population is {size}; "
                "give fewer, or a larger population"
            )
        self.given = genotypes

    def _first(self) -> Genotypes:
        """Return the first population."""
        drawn = first_population(self.options.population, self.discrete, self.continuous, self.seed)
        return drawn if self.given is None else Genotypes.joined(self.given, drawn[len(self.given) :])

    def tell(self, genotypes: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Take the fitness of the genotypes that were asked for: with the elites, the next generation."""
        self._check(genotypes, fitness)
        population, values, size = genotypes, fitness, self.options.population
        elites = np.zeros(0, np.int64)
        if self.population is not None and self.fitness is not None:
            elites = places_of_best(self.fitness, self.options.elite_count)
            if not self.remeasured:
                population = Genotypes.joined(self.population[elites], genotypes)
                values = np.concatenate([self.fitness[elites], fitness])
        if len(population) != size:
            raise InputError(f"{len(genotypes)} genotypes were told, expected the ones that ask returned")
        if self.averaged:
            values = self._average(elites, fitness)
        born = np.full(size, self.generation + 1)
        if len(elites):
            born[: len(elites)] = self.born[elites]
        self.generation += 1
        self.population, self.fitness, self.born = population, values, born
        leader = int(self._ranked().argmin())
        if self.remeasured or values[leader] < self.best_fitness:
            self._lead(leader, int(born[leader]))

    def _average(self, elites: NDArray[np.int64], fitness: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the fitness of a population whose elites have the mean of all their measurements."""
        values, times, count = fitness.astype(np.float64), np.ones(len(fitness), np.int64), len(elites)
        if count and self.fitness is not None:
            before = self.measured[elites]
            values[:count] = (self.fitness[elites] * before + fitness[:count]) / (before + 1)
            times[:count] += before
        self.measured = times
        return values

    def immigrate(self, genotype: Genotypes, fitness: float, born: int) -> None:
        """Let an individual of another population take the place of the worst.

        Args:
            genotype: One row.
            fitness: Its fitness there.
            born: The generation in which it appeared.

        Raises:
            InputError: If it does not fit, or nothing was told yet.
        """
        population, values, _ = self.current()
        genotype, fitness = self._fitting("genotype", genotype), number("fitness", fitness)
        integer("the number of genotypes", len(genotype), 1, 1)
        born = self._past("born", born)
        worst = int(np.argmax(values))
        stay = np.arange(len(values)) != worst
        self.population = Genotypes.joined(population[stay], genotype)
        self.fitness = np.append(values[stay], fitness)
        self.born = np.append(self.born[stay], born)
        if self.averaged:
            self.measured = np.append(self.measured[stay], 1)

    def finalists(self, count: int) -> Finalists:
        """Return the best of the population; with averaged elites, individuals with a mean come first."""
        count = integer("count", count, 1)
        population, values, _ = self.current()
        places = np.lexsort((values, self._ranked()))
        return Finalists(population[places], values[places], self.born[places]).distinct(count)

    def _ranked(self) -> NDArray[np.float64]:
        """Return the fitness that ranks leaders; with averaged elites, infinite for a single measurement."""
        assert self.fitness is not None  # noqa: S101 - only called with a population
        if not self.averaged or not (self.measured > 1).any():
            return self.fitness
        return np.where(self.measured > 1, self.fitness, np.inf)

    def snapshot(self) -> Callable[[], dict[str, Any]]:
        """Return a function that returns the state of this moment: arrays are replaced, never changed."""
        return copy(self).state if type(self) is GeneticSearch else super().snapshot()

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to resume, ready for JSON."""
        state = super().state()
        first = {name: state.pop(name) for name in ("generation", "fitness")}
        times = {"measured": self.measured.tolist()} if self.averaged else {}
        return {**first, "born": self.born.tolist(), **times, **state}

    def restore(self, state: dict[str, Any]) -> None:
        """Resume from a state; refuse one that `state` cannot have returned."""
        super().restore(state)
        size = self.options.population
        listed("fitness", state["fitness"], size, lambda name, value: value)
        # Version 0.1 did not keep it; then all that is known is that they are there now.
        born = listed("born", state.get("born", [self.generation] * size), size, self._past)
        self.born = np.array(born, np.int64)
        if self.averaged:
            times = listed("measured", entry(state, "measured"), size, self._times)
            self.measured = np.array(times, np.int64)

    def _times(self, name: str, value: object) -> int:
        """Return how many times an individual was measured, once a generation at most."""
        return integer(name, value, 1, self.generation + 1)
