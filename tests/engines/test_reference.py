"""The reference engine: trials do not depend on one another, and a failure names its trial."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from distal import HillClimbing, Maze, Rule, Settings, published_rules
from distal.engines import Batch
from distal.engines.reference import engine as reference
from distal.model.draws import child_seed
from distal.tasks.mazes import MazeTask
from tests.batches import trials_of
from tests.strategies import climbers, mazes, rules, seeds, settings_of


def test_an_exception_in_a_trial_names_the_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = trials_of([published_rules()[0]], Settings(), 2)

    def failing(*arguments: object) -> object:
        raise FloatingPointError("no luck")

    monkeypatch.setattr(Rule, "update", failing)
    with pytest.raises(RuntimeError, match=rf"trial 0 \(goal 0, seed {batch.seed[0]}\) failed: no luck"):
        reference.run(batch)


@given(st.one_of(rules, climbers), mazes(6), settings_of(5, 12), seeds, st.integers(1, 8), st.data())
@hypothesis_settings(max_examples=40)
def test_results_do_not_depend_on_the_order_or_number_of_trials_run_together(
    learner: Rule | HillClimbing, maze: Maze, settings: Settings, seed: int, n: int, data: st.DataObject
) -> None:
    goal = np.array([k % len(maze.finals) for k in range(n)], np.int32)
    seed_of = np.array([child_seed(seed, k) for k in range(n)], np.uint64)
    resample = data.draw(st.sampled_from([None, 1, 3]))

    def run(order: list[int]) -> list[list[int]]:
        zeros = np.zeros(len(order), np.int32)
        batch = Batch((learner,), zeros, goal[order], seed_of[order], MazeTask(maze), settings, 8, resample)
        best = reference.run(batch).best
        assert (np.diff(best) <= 0).all()  # the best curve never rises
        curves: list[list[int]] = best.tolist()
        return curves

    together = run(list(range(n)))
    order = data.draw(st.permutations(range(n)))[: data.draw(st.integers(1, n))]
    assert run(order) == [together[k] for k in order]
