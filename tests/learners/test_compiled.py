"""The compiled parts of learners give the bits of the reference engine, whatever the readings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from distal import (
    Eligibility,
    EvolutionStrategy,
    NeuronCentric,
    OnlineHebbian,
    SeparableCMA,
    Settings,
    Switch,
)
from distal.engines import Batch
from distal.engines.reference import engine as reference
from distal.engines.steps import engine as steps
from distal.learners import KINDS, Learner
from distal.learners.genes import decoded
from distal.model.readings import NEURONS, READINGS
from distal.search.genetic import first_population
from distal.tasks.mazes import MazeTask
from tests.conftest import assert_equal_trials
from tests.mazes import T


def between(rng: np.random.Generator, count: int = 8) -> Any:
    """Return coefficients; some are 0, and some are not exact in 32 bits."""
    return np.where(rng.random(count) < 0.2, 0, rng.uniform(-1, 1, count)).tolist()


def unit(rng: np.random.Generator, count: int) -> Any:
    """Return numbers from 0 to 1."""
    return rng.random(count).tolist()


DECAYS = np.array([0, 0.3, 0.97, 1])
LEARNERS: dict[str, Callable[[np.random.Generator, int], Learner]] = {
    "eligibility": lambda rng, n: Eligibility(*[*between(rng), rng.choice(DECAYS).item(), *unit(rng, 3)]),
    "online": lambda rng, n: OnlineHebbian(*between(rng), *unit(rng, 3)),
    "neuron": lambda rng, n: NeuronCentric([between(rng) for _ in range(rng.choice([1, n]))], *unit(rng, 4)),
    "es": lambda rng, n: EvolutionStrategy(rng.random(), rng.uniform(1, 2), *unit(rng, 2)),
    "cma": lambda rng, n: SeparableCMA(*unit(rng, 3)),
}


def some_batch(kind: str, number: int) -> Batch:
    """Return a few trials with any settings, resampling, goals that move and records."""
    rng = np.random.default_rng([number, len(kind)])
    hidden, episodes = int(rng.integers(1, 12)), int(rng.integers(2, 60))
    readings = {reading: str(rng.choice(list(row))) for reading, row in READINGS.items()}
    return Batch(
        learners=tuple(LEARNERS[kind](rng, hidden + 4) for _ in range(2)),
        learner=np.array([0, 1, 0], np.int32),
        goal=rng.integers(0, 2, 3).astype(np.int32),
        seed=rng.integers(0, 2**64, 3, np.uint64),
        task=MazeTask(T),
        settings=Settings(
            hidden=hidden,
            steps=int(rng.integers(1, 40)),
            neurons=str(rng.choice(list(NEURONS))),
            flip=float(rng.choice([0.0, 0.3])),
            **readings,
        ),
        episodes=episodes,
        resample=[None, 1, 20][rng.integers(3)],
        switch=Switch(25) if episodes > 25 and rng.random() < 0.5 else None,
    )


def assert_same(batch: Batch) -> None:
    expected = reference.run(batch, keep_weights=True, keep_ep=True)
    assert_equal_trials(steps.run(batch, keep_weights=True, keep_ep=True), expected, batch.phase)


@pytest.mark.parametrize("kind", LEARNERS)
def test_engine_steps_gives_the_bits_of_the_reference_engine(kind: str) -> None:
    for number in range(12):
        assert_same(some_batch(kind, number))


@pytest.mark.parametrize("kind", ["eligibility", "online", "es", "cma"])
def test_it_takes_learners_as_their_genes(kind: str) -> None:
    genes = KINDS[kind].genes or (0, 0)
    genotypes = first_population(2, *genes, seed=1)
    learners = decoded(KINDS[kind], genotypes.discrete, genotypes.continuous)
    plain = some_batch(kind, 3)
    as_genes = Batch(
        learners=learners, learner=plain.learner, goal=plain.goal, seed=plain.seed, task=plain.task,
        settings=Settings(hidden=4, steps=12), episodes=30,
    )  # fmt: skip
    assert_same(as_genes)
