"""How long a batch may take."""

from __future__ import annotations

from typing import Any

import pytest

import distal.cli


def test_an_estimate_is_measured_in_a_copy_of_the_task_and_changes_no_result() -> None:
    from distal.engines import pace
    from distal.evaluation.trials import Conditions

    asked: dict[str, Any] = {"episodes": 5, "trials": 1, "resample": None, "seed": 0, "maze": None}
    conditions = Conditions.of({"hidden": 3}, distal.learn, task="CartPole-v1", **asked)
    batch = conditions.batch([distal.find_learner("paper:1")])
    asked |= {"task": conditions.task, "engine": "reference", "chance": False, "hidden": 3}
    before = distal.learn("paper:1", **asked)
    few, many = (pace.expected(batch, count, distal.Runner("reference")) for count in (10**5, 10**6))
    assert few > 0
    assert many / few == pytest.approx(10, rel=0.9)
    again = distal.learn("paper:1", **asked)
    assert (before.best == again.best).all()
