"""The fitness of genotypes: the mean score of their trials on an engine, in a race if the search is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from distal.engines import Batch, Runner
from distal.engines.batch import EPs, batch_of
from distal.learners import Learner
from distal.model.draws import child_seeds
from distal.search import racing
from distal.search.blocks import in_blocks
from distal.search.config import Config
from distal.search.genetic import first_population
from distal.search.genotypes import Genotypes
from distal.search.search import Search

# Parts of the work, as the last number of a seed's part; the heats of a race follow the last of these.
EVALUATION, REMEASUREMENT, FINAL = 5, 6, 7
_HEATS = 31
_A_SEED = 16  # numbers that are made on the way to a seed


def measure(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int, runner: Runner
) -> EPs:
    """Return the score of every trial of each learner.

    Args:
        config: Says how trials go and what they are judged by.
        learners: The learners.
        seeds: The seed of each learner's trials.
        trials: Trials for each goal.
        runner: Runs the trials.

    Returns:
        The scores, (learners, trials); lower is better.
    """
    return _begin(config, learners, seeds, trials, runner)()


def _begin(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int, runner: Runner
) -> Callable[[], EPs]:
    """Begin the trials of `measure`, and return the function that waits for them and returns their scores."""
    batch, judge = _batch(config, learners, seeds, trials), config.measure
    outcome = runner.begin(batch, keep_ep=judge.needs_ep)
    return lambda: judge.scores(batch, outcome()).reshape(len(learners), -1)


def _batch(config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int) -> Batch:
    return batch_of(
        learners, seeds, trials=trials, episodes=config.episodes, task=config.task,
        settings=config.settings, record=config.measure.record(config.episodes, config.switch),
        switch=config.switch,
    )  # fmt: skip


def runner_for(config: Config, runner: Runner) -> Runner:
    """Return the runner that runs the trials: this one, or for engine auto another; refuse an unfit one."""
    learners = config.decode(first_population(1, *config.genes, seed=0))
    return runner.suited(_batch(config, learners, np.zeros(1, np.uint64), trials=1))


class Evaluation:
    """The evaluation of the genotypes that some runs asked for; it begins when it is made.

    Args:
        config: The configuration.
        searches: The runs.
        asked: The genotypes that each of them asked for.
        runner: Runs the trials.
    """

    def __init__(
        self, config: Config, searches: Sequence[Search], asked: Sequence[Genotypes], runner: Runner
    ) -> None:
        self.config, self.runner, self.genotypes = config, runner, Genotypes.joined(*asked)
        self.counts = tuple(map(len, asked))
        self.generation = searches[0].generation + 1
        self.runs = tuple(search.seed for search in searches)
        seeds = _seeds.of_generation(self.generation, _A_SEED * sum(self.counts), (self.runs, self.counts))
        self._first = _begin(config, config.decode(self.genotypes), seeds, config.trials, runner)

    def fitness(self) -> list[NDArray[np.float64]]:
        """Wait for the trials, and return the fitness of the genotypes that each run asked for."""
        raced = racing.race(self._heat, self.counts, self.config.trials, self.config.search.heats)
        return np.split(raced.fitness, np.cumsum(self.counts)[:-1])

    def _heat(self, places: NDArray[np.int64], trials: int, heat: int) -> EPs:
        """Return the scores of a heat of the race; there is one heat for all if it is none."""
        if not heat:
            return self._first()
        keys, individual = _individuals(self.runs, self.counts)
        parts = np.empty((len(places), 3), np.uint32)
        parts[:, 0], parts[:, 1], parts[:, 2] = self.generation, individual[places], _HEATS + heat
        learners = self.config.decode(self.genotypes[places])
        return measure(self.config, learners, child_seeds(keys[places], parts), trials, self.runner)


@lru_cache(maxsize=2)  # two groups of runs may take turns
def _individuals(
    runs: tuple[int, ...], counts: tuple[int, ...]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the seed of the run, and the number in its generation, of each individual."""
    keys = np.repeat(np.array(runs, np.uint64), counts)
    return keys, np.concatenate([np.arange(count) for count in counts])


@in_blocks
def _seeds(generations: range, runs: tuple[int, ...], counts: tuple[int, ...]) -> list[NDArray[np.uint64]]:
    """Return the seeds of the evaluations of all individuals, generation by generation."""
    keys, individual = _individuals(runs, counts)
    parts = np.empty((len(generations), len(keys), 3), np.uint32)
    parts[..., 0] = np.array(generations)[:, None]
    parts[..., 1], parts[..., 2] = individual, EVALUATION
    return list(child_seeds(keys, parts))
