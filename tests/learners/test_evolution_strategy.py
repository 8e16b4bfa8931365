"""The (1+1) evolution strategy: hill climbing whose step follows its successes."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

import distal
from distal import EvolutionStrategy, HillClimbing, Settings, learners
from distal.learners import Memory, Trial, hill_climbing
from distal.learners.evolution_strategy import LARGEST, SMALLEST, stepped
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim
from tests.learners.by_hand import lived, tiny, weights
from tests.mazes import T


def test_the_step_doubles_after_a_success_and_shrinks_by_the_fourth_root_after_a_failure() -> None:
    half, two = np.float32(0.5), np.float32(2)
    assert stepped(half, two, True) == 1
    assert stepped(half, two, False) == pytest.approx(0.5 / 2**0.25, rel=1e-7)
    after = half
    for success in (True, False, False, False, False):  # one in five: where it stays
        after = stepped(after, two, success)
    assert after == pytest.approx(0.5, rel=1e-6)


def test_the_step_stays_within_bounds() -> None:
    two = np.float32(2)
    assert stepped(LARGEST, two, True) == LARGEST
    assert stepped(SMALLEST, two, False) == SMALLEST
    tiny_step = np.float32(1e-5)  # asked for: it may grow, and never shrinks
    assert stepped(tiny_step, two, False) == tiny_step
    assert stepped(tiny_step, two, True) == 2 * tiny_step
    assert stepped(np.float32(0), two, False) == 0


@pytest.mark.parametrize("settings", [Settings(4, 9), Settings(4, 9, outputs="random")])
def test_with_a_factor_of_one_it_is_hill_climbing_to_the_bit(settings: Settings) -> None:
    task = Aim(MazeTask(T), 1)
    pairs = zip(
        *(
            learners.episodes(learner, task, settings, seed=5, resample=25)
            for learner in (EvolutionStrategy(0.3, 1, 0.1, 0.2), HillClimbing(0.3, 0.1, 0.2))
        ),
        strict=True,
    )
    for one, other in islice(pairs, 60):
        assert one.ep == other.ep
        assert (one.weights.hidden == other.weights.hidden).all()


def test_an_update_by_hand() -> None:
    learner, network, trial = EvolutionStrategy(0.5, 2, 0.2, 0.2), tiny(), Trial(seed=7)
    first = learner.update(network, trial, Memory(weights()), lived(5, number=0))
    assert (first.number("ep"), first.number("sigma")) == (5, 0.5)  # no step was tried yet
    tried = hill_climbing.perturbed(network, weights(), np.float32(0.5), 7, 1)
    assert (first.weights.hidden == tried.hidden).all()

    better = learner.update(network, trial, first, lived(4, number=1, own=first.weights))
    assert (better.number("ep"), better.number("sigma")) == (4, 1)
    assert better.kept["best"] is first.weights

    tie = learner.update(network, trial, better, lived(4, number=2, own=better.weights))
    assert tie.number("ep") == 4
    assert tie.number("sigma") == pytest.approx(2**-0.25, rel=1e-7)
    assert tie.kept["best"] is first.weights
    again = hill_climbing.perturbed(network, first.weights, np.float32(tie.number("sigma")), 7, 3)
    assert (tie.weights.output == again.output).all()


def test_where_the_goal_moves_the_best_runs_as_it_is_and_the_step_begins_anew() -> None:
    learner, network = EvolutionStrategy(0.5, 2, 0.2, 0.2), tiny()
    memory = Memory(weights(), {"best": weights(), "ep": 3.0, "sigma": 0.01})
    moved = learner.update(network, Trial(phase=4), memory, lived(9, number=3, own=weights([[1, 1, 0, 1]])))
    assert moved.kept == {}
    assert (moved.weights.hidden == weights().hidden).all()
    assert learner.update(network, Trial(phase=4), moved, lived(9, number=4)).number("sigma") == 0.5


def test_the_factor_has_a_range_of_its_own_and_its_gene_is_in_the_unit_interval() -> None:
    made = EvolutionStrategy.from_genes((), (0.25, 0.5, 0.125, 1))
    assert made == EvolutionStrategy(0.25, 1.5, 0.125, 1)
    assert made.to_genes() == ((), (0.25, 0.5, 0.125, 1))
    for factor, expected in ((0.5, "from 1 to 2"), (2.5, "from 1 to 2")):
        with pytest.raises(distal.InputError, match=f"factor is {factor}, expected a number {expected}"):
            EvolutionStrategy(0.5, factor, 0.2, 0.2)
