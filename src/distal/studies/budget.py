"""The division of a budget: independent runs, breeding of their finalists, and the last race."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from distal.base.checks import InputError, counted
from distal.model.draws import child_seed
from distal.search import racing
from distal.search.config import Config
from distal.studies.prizes import Prize

FINALISTS = 10  # of each run
BRED_FINALISTS = 64  # of the breeding
MOST_RUNS, LEAST_RUNS = 128, 4
_FOR_RUNS = 0.75  # of the budget, if it is enough to breed their finalists together
_FOR_RACE = 0.1  # of the budget, at most; the rest is for breeding
_LEAST_BREEDING = 10  # generations
_LAST_HEAT = 4  # contenders, about
_FIRST_HEAT = 400  # trials for each goal in the first heat of the last race, at most
_BREEDING = 12  # of a seed, for the seed of the breeding


@dataclass(frozen=True)
class Budget:
    """The parts of a search for a champion.

    Attributes:
        config: The independent runs.
        bred: The search that breeds the finalists of all runs together; None if the budget is too small.
        contenders: The number of contenders in the last race, at most.
        first_heat: The trials for each goal in the first heat of that.
    """

    config: Config
    bred: Config | None
    contenders: int
    first_heat: int

    @classmethod
    def divided(cls, episodes: float, runs: int | None, prize: Prize, judged: Config) -> Budget:
        """Divide a budget; with `runs` None, into as many of the usual length as it allows.

        `judged` is the final measure of candidates, as a run without generations. A budget that is too small
        for the runs and the last race is refused.
        """
        run = replace(judged, fitness=prize.run_fitness or prize.fitness)
        seed = child_seed(judged.seed, 0, 0, _BREEDING)
        breeding = replace(judged, search=prize.breeding, trials=prize.breeding_trials, seed=seed)

        least, most = (race_cost(judged, BRED_FINALISTS, first) for first in (1, _FIRST_HEAT))
        for_race = max(least, min(_FOR_RACE * episodes, most))
        for_breeding = (1 - _FOR_RUNS) * episodes - for_race
        usual = run.spent(prize.generations)
        breeds = _FOR_RUNS * episodes >= (runs or LEAST_RUNS) * usual
        breeds = breeds and for_breeding >= breeding.spent(_LEAST_BREEDING)

        share = (_FOR_RUNS if breeds else 1 - _FOR_RACE) * episodes
        count = max(LEAST_RUNS, min(int(share // usual), MOST_RUNS)) if runs is None else runs
        if share / count < run.spent(0):
            searched = count * run.spent(0)
            raced = searched + race_cost(judged, FINALISTS * count, 1)
            raise InputError(
                f"budget is {episodes:g}, but {counted(count, 'run')} and the last race take at least "
                f"{max(math.ceil(searched / (1 - _FOR_RACE)), raced):,} episodes; give at least that"
            )
        config = replace(run, runs=count, generations=run.affordable(share / count))

        left, contenders, bred = episodes - _spent(config), FINALISTS * count, None
        if breeds:
            bred, contenders = (
                replace(breeding, generations=breeding.affordable(left - for_race)),
                BRED_FINALISTS,
            )
            left -= _spent(bred)
        first = int(min(_FIRST_HEAT, max(1, left // race_cost(judged, contenders, 1))))
        return cls(config, bred, contenders, first)

    @property
    def searching(self) -> int:
        """The episodes of all independent runs."""
        return _spent(self.config)

    @property
    def breeding(self) -> int:
        """The episodes of breeding."""
        return 0 if self.bred is None else _spent(self.bred)

    @property
    def heats(self) -> int:
        """The heats of the last race, after the first."""
        return _heats(self.contenders)

    @property
    def last_race(self) -> int:
        """The episodes of the last race, at most."""
        return race_cost(self.config, self.contenders, self.first_heat)


def race_cost(config: Config, contenders: int, first: int) -> int:
    """Return the episodes of a last race, with `first` trials for each goal in its first heat."""
    trials = racing.cost(contenders, first, _heats(contenders))
    return trials * len(config.task.goals) * config.episodes


def _heats(contenders: int) -> int:
    return max(0, math.ceil(math.log2(contenders / _LAST_HEAT)))


def _spent(config: Config) -> int:
    return config.runs * config.spent(config.generations)
