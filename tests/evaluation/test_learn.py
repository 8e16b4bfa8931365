"""Evaluations: what is counted, kept, and does not depend on what else is run."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from distal import InputError, Settings, learn, published_rule
from distal.engines import Batch, reference
from distal.model.draws import child_seed
from distal.tasks.mazes import MazeTask
from tests.batches import trials_of
from tests.evaluation.test_difference import result_of
from tests.mazes import T


def test_fitness_reached_and_standard_error_by_hand() -> None:
    result = result_of([[130, 40], [100, 100], [120, 99], [125, 121]])
    assert result.fitness == (40 + 100 + 99 + 121) / 4 == 90
    assert result.reached == 2 / 4  # an EP of 100 is not below N_steps
    # deviations −50, 10, 9, 31: √(3642 / 3) / √4
    assert result.standard_error == pytest.approx(math.sqrt(3642 / 3) / 2)
    assert result_of([[5, 3]]).standard_error is None


def test_checkpoints_are_powers_of_ten_and_the_last_episode() -> None:
    falling = [list(range(2000, 750, -1)), list(range(2002, 752, -1))]  # mean 2001 at episode 1
    assert result_of(falling).checkpoints == {1: 2001, 10: 1992, 100: 1902, 1000: 1002, 1250: 752}
    assert result_of([[7], [9]]).checkpoints == {1: 8}
    assert list(result_of([[7] * 100]).checkpoints) == [1, 10, 100]


def test_trials_are_ordered_trial_major_and_seeded_by_their_own_number_and_goal() -> None:
    few = learn("paper:1", maze=T, trials=2, episodes=12, steps=8, seed=9)
    more = learn("paper:1", maze=T, trials=3, episodes=12, steps=8, seed=9)
    assert few.best.shape == (4, 12)
    assert more.best[:4].tolist() == few.best.tolist()
    alone = Batch(
        learners=(published_rule(1),),
        learner=np.zeros(1, np.int32),
        goal=np.array([1], np.int32),
        seed=np.array([child_seed(9, 2, 1)], np.uint64),
        task=MazeTask(T),
        settings=Settings(steps=8),
        episodes=12,
    )
    assert reference.engine.run(alone).best[0].tolist() == more.best[2 * 2 + 1].tolist()


@pytest.mark.parametrize("engine", ["cpu", "reference"])
@pytest.mark.parametrize("chance", [False, True])
def test_progress_counts_every_episode(engine: str, chance: bool) -> None:
    seen: list[int] = []
    learn("paper:1", maze=T, trials=2, episodes=7, progress=seen.append, engine=engine, chance=chance)
    assert sum(seen) == (1 + chance) * 2 * 2 * 7


def test_resampling_keeps_the_best_ep() -> None:
    result = learn("paper:1", maze=T, trials=3, episodes=60, resample=5, steps=8)
    assert (np.diff(result.best) <= 0).all()
    plain = learn("paper:1", maze=T, trials=3, episodes=60, steps=8)
    assert result.best[:, :5].tolist() == plain.best[:, :5].tolist()
    assert result.best.tolist() != plain.best.tolist()


def test_the_weights_kept_are_those_of_the_first_best_episode() -> None:
    result = learn("paper:3", maze=T, trials=2, episodes=40, steps=8, keep_weights=True, engine="reference")
    batch = trials_of([published_rule(3)], Settings(steps=8), 40, trials=2, task=MazeTask(T))
    for trial in range(4):
        episodes = list(reference.episodes(batch, trial))
        eps = [episode.ep for episode in episodes]
        first = eps.index(min(eps))
        assert result.best[trial, -1] == eps[first]
        assert (result.weights(trial).hidden == episodes[first].weights.hidden).all()
        assert (result.weights(trial).output == episodes[first].weights.output).all()
    with pytest.raises(InputError, match="keep_weights=True"):
        learn("paper:3", maze=T, trials=1, episodes=1).weights(0)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"workers": 2}, r"unknown keyword 'workers': write engine=distal.Runner\(engine, workers=…\)"),
        ({"executor": None}, "write engine=distal.Runner"),
        ({"engine": "referenc"}, "engine is 'referenc'.*did you mean 'reference'"),
        ({"outputs": "winer"}, "outputs is 'winer'.*did you mean 'winner'"),
        ({"episodez": 3}, "unknown keyword 'episodez'.*did you mean 'episodes'"),
        ({"normalize": "layer"}, "unknown keyword 'normalize'.*did you mean 'normalise'"),
        ({"maze": "maze.txt"}, r"expected a Maze, as distal\.maze\('narrow-t'\)"),
    ],
)
def test_bad_options_are_refused_by_name(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        learn(**{"learner": "paper:1", **options})
