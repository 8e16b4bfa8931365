"""The winners of an evolution: the leader or the best finalist of each run, measured on fresh trials."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.engines import Runner
from distal.learners import Learner, chance_for
from distal.model.draws import child_seed, child_seeds
from distal.search.config import Config
from distal.search.fitness import FINAL, REMEASUREMENT, measure
from distal.search.genotypes import Genotypes
from distal.search.results import Fresh, Winner
from distal.search.search import Search


class _Choice(NamedTuple):
    """The choice of a run's winner: its genotype, when it first appeared, and the fitness that chose it."""

    genotype: Genotypes
    born: int
    fitness: float


def _leaders(searches: Sequence[Search]) -> list[_Choice]:
    """Return the leader of each run."""
    return [_Choice(one.current()[2], one.best_generation, one.best_fitness) for one in searches]


def _best_finalists(config: Config, searches: Sequence[Search], runner: Runner) -> list[_Choice]:
    """Return the best finalist of each run, on trials of their own."""
    groups = [search.finalists(config.finalists) for search in searches]
    sizes = [len(group.genotypes) for group in groups]
    parts = [[0, place, FINAL] for size in sizes for place in range(size)]
    seeds = child_seeds(np.repeat(np.array([s.seed for s in searches], np.uint64), sizes), parts)
    learners = [learner for group in groups for learner in config.decode(group.genotypes)]
    means = measure(config, learners, seeds, config.fresh_trials, runner).mean(axis=1)
    best = []
    for group, own in zip(groups, np.split(means, np.cumsum(sizes)[:-1]), strict=True):
        place = int(np.argmin(own))
        best.append(_Choice(group.genotypes[[place]], int(group.born[place]), float(own[place])))
    return best


def _on_fresh_trials(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], runner: Runner
) -> list[Fresh]:
    """Measure every learner on fresh trials from its seed, and chance on the same trials."""
    trials = config.fresh_trials
    own = measure(config, learners, seeds, trials, runner)
    by_chance = measure(config, [chance_for(learner) for learner in learners], seeds, trials, runner)
    return [Fresh.of(*pair) for pair in zip(own, by_chance, strict=True)]


def winners_of(config: Config, searches: Sequence[Search], runner: Runner) -> tuple[Winner, ...]:
    """Return the winner of every run after its last generation, measured again on fresh trials."""
    chosen = _best_finalists(config, searches, runner) if config.finalists else _leaders(searches)
    learners = [config.decode(one.genotype)[0] for one in chosen]
    seeds = np.array([child_seed(search.seed, 0, 0, REMEASUREMENT) for search in searches], np.uint64)
    fresh = _on_fresh_trials(config, learners, seeds, runner)
    winners = []
    for run, (one, learner, its) in enumerate(zip(chosen, learners, fresh, strict=True), start=1):
        # A climber has no name in our files.
        named = learner if learner.bare else learner.named(f"run {run}, seed {config.seed}")
        winners.append(Winner(run, named, one.born, one.fitness, its))
    return tuple(winners)
