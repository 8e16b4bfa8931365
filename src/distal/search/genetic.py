"""The genetic algorithm (the paper's section "Genetic Algorithm"). It knows nothing of mazes.

A genotype has a discrete part, values in {-1, 0, 1}, and a continuous part, values
in [0, 1]. Fitness is minimised. Ask for the genotypes to measure, tell their
fitness; one ask and tell is a generation. Every random number is a function of the
run's seed, the generation and the child, so a run can stop and go on anywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, number, one_of, unit_interval
from distal.model import draws

# Purposes of the random words of an evolution, apart from those of a trial.
FIRST, PARENTS, REDRAW, DEVIATE = 16, 17, 18, 19


@dataclass(frozen=True, eq=False)
class Genotypes:
    """Genotypes as two arrays with one row each."""

    discrete: NDArray[np.int8]  # (n, discrete genes), in {-1, 0, 1}
    continuous: NDArray[np.float64]  # (n, continuous genes), in [0, 1]

    def __len__(self) -> int:
        return len(self.discrete)

    def __getitem__(self, rows: Any) -> Genotypes:
        """Select rows, as an array is indexed by a slice or a list."""
        return Genotypes(self.discrete[rows], self.continuous[rows])

    @property
    def length(self) -> int:
        """The number of genes, discrete and continuous together."""
        return int(self.discrete.shape[1] + self.continuous.shape[1])

    @classmethod
    def joined(cls, *parts: Genotypes) -> Genotypes:
        """Put genotypes under each other."""
        return cls(
            np.concatenate([part.discrete for part in parts]),
            np.concatenate([part.continuous for part in parts]),
        )


# What is done with the elites' fitness, the default first: a reading of the paper, like those of `settings`.
ELITES = {
    "remeasured": "the elites are measured again in every generation",
    "kept": "an elite keeps the fitness it was first given",
}


@dataclass(frozen=True)
class Options:
    """The settings of the genetic algorithm; the defaults are the paper's."""

    population: int = 14
    elite_count: int = 4
    crossover: float = 0.5
    mutation: float = 0.15  # probability that a discrete gene is redrawn
    deviation: float = 0.1  # standard deviation of the noise on continuous genes
    elites: str = next(iter(ELITES))

    def __post_init__(self) -> None:
        object.__setattr__(self, "population", integer("population", self.population, 2, 2**20))
        object.__setattr__(self, "elite_count", integer("elite_count", self.elite_count, 0, 2**20))
        if self.elite_count >= self.population:
            raise InputError(
                f"elite_count is {self.elite_count}, expected fewer than the population of {self.population}"
            )
        object.__setattr__(self, "elites", one_of("elites", self.elites, ELITES))
        for name in ("crossover", "mutation", "deviation"):
            object.__setattr__(self, name, unit_interval(name, getattr(self, name)))


# ------------------------------------------------------------------ operators


def unit(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Turn words into numbers uniform in [0, 1)."""
    return words / 2.0**32


def first_population(n: int, discrete: int, continuous: int, seed: int) -> Genotypes:
    """Draw n genotypes, every gene uniform."""
    words = draws.words(seed, FIRST, 0, range(n), discrete + continuous)
    return Genotypes(
        (np.floor(unit(words[:, :discrete]) * 3) - 1).astype(np.int8),
        unit(words[:, discrete : discrete + continuous]),
    )


def roulette(fitness: NDArray[np.float64], u: NDArray[np.float64]) -> NDArray[np.int64]:
    """Choose individuals with weight = worst fitness − own fitness; all alike if all are equal.

    `u` are numbers in [0, 1); one individual is chosen for each.
    """
    weight = fitness.max() - fitness
    if not weight.any():
        weight = np.ones(len(fitness))
    wheel = np.cumsum(weight)
    chosen = np.searchsorted(wheel, u * wheel[-1], side="right")
    last = np.flatnonzero(weight)[-1]  # u close to 1 may be rounded up to the end of the wheel
    indices: NDArray[np.int64] = np.minimum(chosen, last).astype(np.int64)
    return indices


def crossover(heads: Genotypes, tails: Genotypes, cuts: NDArray[np.int64]) -> Genotypes:
    """Take the genes before the cut from the head parent, the others from the tail parent."""
    n = heads.discrete.shape[1]
    gene = np.arange(heads.length)
    from_tail = gene[None, :] >= cuts[:, None]
    return Genotypes(
        np.where(from_tail[:, :n], tails.discrete, heads.discrete),
        np.where(from_tail[:, n:], tails.continuous, heads.continuous),
    )


def cut_points(u: NDArray[np.float64], whether: NDArray[np.bool_], length: int) -> NDArray[np.int64]:
    """Return cuts uniform in 1 … length − 1, or at the end (a copy of the head) without crossover."""
    return np.where(whether, 1 + np.floor(u * (length - 1)).astype(np.int64), length)


def mutated(
    children: Genotypes,
    redraw: NDArray[np.float64],
    value: NDArray[np.float64],
    noise: NDArray[np.float64],
    rate: float,
) -> Genotypes:
    """Redraw each discrete gene where redraw < rate; add noise to continuous genes and clip to [0, 1]."""
    fresh = (np.floor(value * 3) - 1).astype(np.int8)
    return Genotypes(
        np.where(redraw < rate, fresh, children.discrete),
        np.clip(children.continuous + noise, 0.0, 1.0),
    )


@dataclass(frozen=True, eq=False)
class Chances:
    """All random numbers that make the n children of a generation."""

    parents: NDArray[np.float64]  # (n, 4): two parents, whether to cross over, where
    redraw: NDArray[np.float64]  # (n, discrete)
    value: NDArray[np.float64]  # (n, discrete)
    deviate: NDArray[np.float64]  # (n, continuous), standard normal


def chances(seeds: Sequence[int], generation: int, n: int, discrete: int, continuous: int) -> list[Chances]:
    """Draw for several runs at once, which is much faster than one after another."""
    wanted = {PARENTS: 4, REDRAW: 2 * discrete, DEVIATE: continuous}
    parents, redraw, deviate = draws.words_for(seeds, generation, range(n), wanted)
    chance = unit(redraw)
    normal = draws.normals(deviate)[..., :continuous].astype(np.float64)
    return [
        Chances(*each)
        for each in zip(
            unit(parents), chance[..., :discrete], chance[..., discrete : 2 * discrete], normal, strict=True
        )
    ]


def offspring(
    parents: Genotypes, fitness: NDArray[np.float64], drawn: Chances, options: Options
) -> Genotypes:
    """Make children: selection, crossover, mutation."""
    first, second, whether, where = drawn.parents.T
    heads, tails = parents[roulette(fitness, first)], parents[roulette(fitness, second)]
    children = crossover(heads, tails, cut_points(where, whether < options.crossover, parents.length))
    return mutated(
        children,
        redraw=drawn.redraw,
        value=drawn.value,
        noise=options.deviation * drawn.deviate,
        rate=options.mutation,
    )


# ------------------------------------------------------------------ the loop


@dataclass(eq=False)
class Evolution:
    """One run: ask for genotypes, tell their fitness, again and again."""

    discrete: int
    continuous: int
    seed: int
    options: Options = field(default_factory=Options)
    generation: int = -1  # of the current population; −1 before the first was measured
    population: Genotypes | None = None
    fitness: NDArray[np.float64] | None = None
    born: NDArray[np.int64] | None = None  # the generation in which each individual first appeared
    # The leader, one row: the best of the current generation, which is the winner if this is the last one.
    # With kept elites: the lowest fitness ever measured, which is the same while there are elites.
    best: Genotypes | None = None
    best_fitness: float = float("inf")
    best_generation: int = -1  # in which it first appeared

    @property
    def remeasured(self) -> bool:
        """Whether the elites are measured again in every generation."""
        return self.options.elites == "remeasured"

    def ask(self, drawn: Chances | None = None) -> Genotypes:
        """Return the genotypes to measure for the next generation; `drawn` saves it from drawing."""
        if self.population is None or self.fitness is None:
            return first_population(self.options.population, self.discrete, self.continuous, self.seed)
        if drawn is None:
            n = self.options.population - self.options.elite_count
            (drawn,) = chances([self.seed], self.generation + 1, n, self.discrete, self.continuous)
        children = offspring(self.population, self.fitness, drawn, self.options)
        return Genotypes.joined(self._elites(), children) if self.remeasured else children

    def tell(self, asked: Genotypes, fitness: NDArray[np.float64]) -> None:
        """Take the fitness of what was asked for: it becomes the next generation, with the elites."""
        self.generation += 1
        if self.population is None or self.fitness is None or self.born is None:
            population, measured = asked, fitness
            born = np.zeros(len(asked), np.int64)
        else:
            elites = self._ranking()
            children = len(asked) - (len(elites) if self.remeasured else 0)
            born = np.concatenate([self.born[elites], np.full(children, self.generation)])
            if self.remeasured:
                population, measured = asked, fitness
            else:
                population = Genotypes.joined(self._elites(), asked)
                measured = np.concatenate([self.fitness[elites], fitness])
        self.population, self.fitness, self.born = population, measured, born
        leader = int(np.argmin(measured))
        if self.remeasured or measured[leader] < self.best_fitness:
            self.best, self.best_fitness = population[[leader]], float(measured[leader])
            self.best_generation = int(born[leader])

    def _ranking(self) -> NDArray[np.int64]:
        """Return the places of the elites, the best first; the first of equals."""
        assert self.fitness is not None  # noqa: S101 - only called with a population
        return np.argsort(self.fitness, kind="stable")[: self.options.elite_count]

    def _elites(self) -> Genotypes:
        assert self.population is not None  # noqa: S101
        return self.population[self._ranking()]

    def state(self) -> dict[str, Any]:
        """Return everything that is needed to go on, ready for JSON."""
        assert self.population is not None  # noqa: S101
        assert self.fitness is not None  # noqa: S101
        assert self.born is not None  # noqa: S101
        assert self.best is not None  # noqa: S101
        return {
            "generation": self.generation,
            "fitness": self.fitness.tolist(),
            "born": self.born.tolist(),
            "discrete": self.population.discrete.tolist(),
            "continuous": self.population.continuous.tolist(),
            "best": {
                "fitness": self.best_fitness,
                "generation": self.best_generation,
                "discrete": self.best.discrete[0].tolist(),
                "continuous": self.best.continuous[0].tolist(),
            },
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Go on from what `state` returned; refuse what it cannot have returned."""
        size = self.options.population
        self.generation = integer("generation", state["generation"], 0)
        self.fitness = np.array(_list("fitness", state["fitness"], size, number), np.float64)
        self.population = self._genotypes(state["discrete"], state["continuous"], size)
        # Version 0.1 did not keep it; then all that is known is that they are there now.
        born = _list("born", state.get("born", [self.generation] * size), size, self._generation)
        self.born = np.array(born, np.int64)
        best = state["best"]
        self.best = self._genotypes([best["discrete"]], [best["continuous"]], 1)
        self.best_fitness = number("the best fitness", best["fitness"])
        self.best_generation = self._generation("the generation of the best", best["generation"])

    def _generation(self, name: str, value: object) -> int:
        return integer(name, value, 0, self.generation)

    def _genotypes(self, discrete: object, continuous: object, n: int) -> Genotypes:
        def change(name: str, value: object) -> int:
            return integer(name, value, -1, 1)

        changes = _list("discrete", discrete, n, lambda name, row: _list(name, row, self.discrete, change))
        numbers = _list(
            "continuous", continuous, n, lambda name, row: _list(name, row, self.continuous, unit_interval)
        )
        return Genotypes(
            np.array(changes, np.int8).reshape(n, self.discrete),
            np.array(numbers, np.float64).reshape(n, self.continuous),
        )


def _list(name: str, values: object, length: int, check: Callable[[str, object], Any]) -> list[Any]:
    """Return a list of so many values, each checked."""
    if not isinstance(values, list) or len(values) != length:
        raise InputError(f"{name} is not a list of {length}")
    return [check(name, value) for value in values]
