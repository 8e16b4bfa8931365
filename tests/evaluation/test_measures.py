"""Measures: the number that a trial is judged by."""

from __future__ import annotations

import numpy as np
import pytest

from distal import InputError, Settings, Switch, evolve, triple_t_maze
from distal.engines import Batch, Runner
from distal.evaluation.measures import Measure
from distal.learners import DEFAULT_CHANCE
from distal.tasks.mazes import MazeTask
from tests.evolutions import FEW, TINY


@pytest.mark.parametrize(("word", "expected"), [("best", [5, 5]), ("last:1", [17 / 3, 5]), ("mean", [6, 6])])
def test_what_a_trial_is_judged_by(word: str, expected: list[float]) -> None:
    # Phases of two episodes: (6, 8), (7, 4), (6, 5) of one trial, (4, 4), (9, 4), (8, 7) of the other.
    ep = np.array([[6, 8, 7, 4, 6, 5], [4, 4, 9, 4, 8, 7]], np.int32)
    batch = Batch(
        (DEFAULT_CHANCE,), np.zeros(2, np.int32), np.zeros(2, np.int32), np.arange(2, dtype=np.uint64),
        MazeTask(triple_t_maze()), Settings(), 6, switch=Switch(2),
    )  # fmt: skip
    measure = Measure.of(word)
    assert measure.record(6, Switch(2)) == (2, 4, 6)
    best = np.array([[6, 4, 5], [4, 4, 7]], np.int32)
    outcome = Runner("cpu").run(batch, keep_ep=True)
    given = type(outcome)(best=best, ep=ep, hidden=None, output=None)
    assert measure.scores(batch, given).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("word", ["worst", "last", "last:0", "last:-1", "last:2.5", "LAST:2", 7, None])
def test_a_wrong_measure_is_refused(word: object) -> None:
    with pytest.raises(InputError, match=r"fitness is|after last:"):
        Measure.of(word)


def test_more_last_episodes_than_there_are_is_refused() -> None:
    Measure.of("last:20").check(100, Switch(20))
    with pytest.raises(InputError, match="last:21, but a trial has 20 episodes"):
        Measure.of("last:21").check(20)
    with pytest.raises(InputError, match="last:20, but the shortest phase has 10 episodes"):
        Measure.of("last:20").check(110, Switch(50))


def test_a_trial_may_be_judged_by_success_alone() -> None:
    judge = Measure.of("missed")
    assert judge.judged(np.array([39, 99, 100, 138]), 99).tolist() == [0, 0, 100, 100]
    missed = evolve(search=FEW, **{**TINY, "generations": 0}, fitness="missed")
    # In this maze a trial is solved with an EP below its 6 steps; two trials make 0, 50 or 100.
    assert set(missed.mean.ravel() * 6 % 50) == {0.0}
    assert missed.best.min() >= 0
    assert missed.worst.max() <= 100
    with pytest.raises(
        InputError, match="fitness is missed, but the task does not say when its goal is reached"
    ):
        evolve("hc", task="CliffWalking-v1", fitness="missed", runs=1, generations=0)
