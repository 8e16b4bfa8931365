"""Phases: how fast each new goal is found, and how much is left of an old one."""

from __future__ import annotations

import numpy as np
import pytest

from distal import Switch
from distal.evaluation.phases import Phases
from tests.given import some

# Two trials of seven episodes, in phases of three; the last phase is cut short.
BEST = np.array([[9, 5, 5, 8, 8, 4, 7], [9, 9, 9, 6, 3, 3, 2]], np.int32)
GOALS = np.array([[0, 1, 0], [0, 2, 0]], np.int32)


def test_phases_by_hand() -> None:
    phases = Phases.of(BEST, GOALS, Switch(3), target=5)
    assert phases.first.tolist() == [[9, 8, 7], [9, 6, 2]]
    assert phases.best.tolist() == [[5, 4, 7], [9, 3, 2]]
    assert some(phases.until).tolist() == [[2, 3, 0], [0, 2, 1]]
    assert some(phases.reached).tolist() == [0.5, 1, 0.5]
    assert phases.median_until == [None, 2.5, None]
    assert phases.curve.tolist() == [7, 5.5, 3.5]  # the second phase alone: whole, and not the first
    forgetting = some(phases.forgetting)
    assert forgetting.returns == 2
    assert (forgetting.left_with, forgetting.came_back_with) == (7, 4.5)  # (5 + 9) / 2, (7 + 2) / 2
    assert forgetting.lost == -2.5
    assert forgetting.standard_error == pytest.approx(4.5)  # of 2 and −7
    assert forgetting.until_first is None  # 2 and never
    assert phases.to_dict()["forgetting"]["lost"] == -2.5


def test_without_a_target_or_a_return_there_is_less_to_say() -> None:
    phases = Phases.of(BEST, np.array([[0, 1, 2], [0, 2, 1]], np.int32), Switch(3), target=None)
    for found in (phases.until, phases.reached, phases.median_until, phases.forgetting):
        assert found is None


def test_a_goal_that_stays_does_not_return() -> None:
    stays = some(Phases.of(BEST, np.array([[0, 0, 0], [0, 2, 0]], np.int32), Switch(3), target=5).forgetting)
    assert stays.returns == 1
