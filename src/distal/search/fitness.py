"""The fitness of genotypes: the mean score of their trials on an engine, in a race if the search is one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from distal.engines import Batch, Runner
from distal.engines.batch import EPs
from distal.evaluation.trials import batch_of
from distal.learners import Learner
from distal.model.draws import child_seeds
from distal.search import racing
from distal.search.config import Config
from distal.search.genetic import first_population
from distal.search.genotypes import Genotypes
from distal.search.precomputed import precomputed
from distal.search.search import Search

# Parts of the work, as the last number of a seed's part; the heats of a race follow the last of these.
EVALUATION, REMEASUREMENT, FINAL = 5, 6, 7
_HEATS = 31
_A_SEED = 16  # numbers that are made on the way to a seed


def measure(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int, runner: Runner
) -> EPs:
    """Return the scores (learners, trials) of learners, each with its seed; `trials` are for each goal."""
    return _begin(config, learners, seeds, trials, runner)()


class GenerationTrials:
    """The trials of the genotypes that some runs asked for, begun when it is made.

    Args:
        config: The configuration.
        searches: The runs, all in one generation.
        asked: The genotypes of each.
        runner: Runs the trials.
    """

    def __init__(
        self, config: Config, searches: Sequence[Search], asked: Sequence[Genotypes], runner: Runner
    ) -> None:
        self.config, self.runner = config, runner
        self.genotypes, self.counts = Genotypes.joined(*asked), tuple(map(len, asked))
        self.generation, self.runs = searches[0].generation + 1, tuple(search.seed for search in searches)
        seeds = _seeds(self.generation, _A_SEED * len(self.genotypes), self.runs, self.counts)
        self.first_heat = _begin(config, config.decode(self.genotypes), seeds, config.trials, runner)

    def fitness(self) -> list[NDArray[np.float64]]:
        """Wait for the trials, and return the fitness of each run's genotypes; run later heats of a race."""
        raced = racing.race(self._scores, self.counts, self.config.trials, self.config.search.heats)
        return np.split(raced.fitness, np.cumsum(self.counts)[:-1])

    def _scores(self, places: NDArray[np.int64], trials: int, heat: int) -> EPs:
        """Return the scores (places, trials) of the genotypes that are still in the race."""
        if not heat:
            return self.first_heat()
        keys, individual = _individuals(self.runs, self.counts)
        parts = np.empty((len(places), 3), np.uint32)
        parts[:, 0], parts[:, 1], parts[:, 2] = self.generation, individual[places], _HEATS + heat
        learners = self.config.decode(self.genotypes[places])
        return measure(self.config, learners, child_seeds(keys[places], parts), trials, self.runner)


def _begin(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int, runner: Runner
) -> Callable[[], EPs]:
    """Begin the trials of `measure`, and return the function that waits for them and returns their scores."""
    batch, judge = _batch(config, learners, seeds, trials), config.measure
    outcome = runner.begin(batch, keep_ep=judge.needs_ep)
    return lambda: judge.scores(batch, outcome()).reshape(len(learners), -1)


def example(config: Config) -> Batch:
    """Return a batch such as the evolution has."""
    learners = config.decode(first_population(1, *config.genes, seed=0))
    return _batch(config, learners, np.zeros(1, np.uint64), trials=1)


def _batch(config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int) -> Batch:
    return batch_of(
        learners, seeds, trials=trials, episodes=config.episodes, task=config.task,
        settings=config.settings, record=config.measure.record(config.episodes, config.switch),
        switch=config.switch,
    )  # fmt: skip


@lru_cache(maxsize=2)  # two groups of runs may take turns
def _individuals(
    runs: tuple[int, ...], counts: tuple[int, ...]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the seed of the run, and the number in its generation, of each individual."""
    keys = np.repeat(np.array(runs, np.uint64), counts)
    return keys, np.concatenate([np.arange(count) for count in counts])


@precomputed
def _seeds(generations: range, runs: tuple[int, ...], counts: tuple[int, ...]) -> list[NDArray[np.uint64]]:
    """Return the seeds of the evaluations of all individuals, generation by generation."""
    keys, individual = _individuals(runs, counts)
    parts = np.empty((len(generations), len(keys), 3), np.uint32)
    parts[..., 0] = np.array(generations)[:, None]
    parts[..., 1], parts[..., 2] = individual, EVALUATION
    return list(child_seeds(keys, parts))
