"""Looking into a rule: what is compared, what is left, and what is shown."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, Rule
from distal.engines import Batch
from distal.evaluation.inspect import points, with_row
from distal.evaluation.inspection import Effect
from tests.mazes import T

SMALL: Any = {"maze": T, "episodes": 12, "trials": 8, "steps": 12, "hidden": 5}


@pytest.fixture(scope="module")
def found() -> distal.Inspection:
    return distal.inspect("evolved:1", **SMALL)


def test_every_row_is_given_both_of_its_other_changes(found: distal.Inspection) -> None:
    asked = {(one.row, one.change) for one in found.knockouts}
    assert len(found.knockouts) == len(asked) == 64
    assert all(found.rule.delta_w[row] != change for row, change in asked)
    assert found.knockout(3, 0).row == 3
    with pytest.raises(InputError, match="change is -1, which row 3 has; give another"):
        found.knockout(3, -1)


def test_a_knock_out_is_the_fitness_of_the_changed_rule_in_the_same_trials(found: distal.Inspection) -> None:
    one = found.knockout(3, 0)
    changed = distal.learn(with_row(found.rule, 3, 0), chance=False, **SMALL)
    pairs = changed.final - found.result.final
    assert one.effect.fitness == changed.fitness
    assert one.effect.difference == pytest.approx(changed.fitness - found.fitness)
    assert one.effect.low < pairs.mean() < one.effect.high
    assert [one.effect.difference for one in found.knockouts if one.row in found.usage.unused] == [0] * (
        2 * len(found.usage.unused)
    )
    assert found.usage.unused == (0, 1)


def test_the_own_value_of_every_number_has_the_rules_own_fitness(found: distal.Inspection) -> None:
    for name, along in found.sensitivity.items():
        own = getattr(found.rule, name)
        assert along[own].fitness == found.fitness
        assert along[own].difference == 0
        assert list(along) == sorted(along) == points(own)
        assert 0 <= min(along) <= max(along) <= 1
    for value in (0.0, 0.3, 1.0):
        assert {0.0, value, 1.0} <= set(points(value))
        assert len(points(value)) >= 4


def test_a_swapped_signal_swaps_the_rows_of_both_signals(found: distal.Inspection) -> None:
    changes = found.rule.delta_w
    swapped = replace(
        found.rule, delta_w=[changes[k + 1] if k % 2 == 0 else changes[k - 1] for k in range(32)]
    )
    deaf = replace(found.rule, delta_w=[changes[2 * (k // 2) + 1] for k in range(32)])
    for name, rule in (("swapped", swapped), ("always +1", deaf)):
        assert found.signal[name].fitness == distal.learn(rule, chance=False, **SMALL).fitness


def test_the_smallest_rule_meets_its_criterion_and_is_measured_in_fresh_trials(
    found: distal.Inspection,
) -> None:
    smallest = found.smallest
    assert smallest.removed
    for row, change in enumerate(smallest.rule.delta_w):
        assert change == (0 if row in smallest.removed else found.rule.delta_w[row])
    assert smallest.effect.difference <= smallest.effect.standard_error
    assert smallest.effect.fitness == distal.learn(smallest.rule, chance=False, **SMALL).fitness
    assert smallest.fresh.fitness - smallest.fresh.difference != found.fitness  # other trials
    for row in smallest.rows:  # each of the rows that are left was tried in its turn, and missed
        assert row not in found.usage.unused


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 2, "shown to be worse"),
        (0, 2, "not shown to be worse"),
        (-1, 2, "not shown to be worse"),
        (-2, -1, "not shown to be worse"),
    ],
)
def test_the_smallest_rule_is_judged_by_the_interval_in_fresh_trials(
    low: float, high: float, verdict: str, found: distal.Inspection
) -> None:
    fresh = replace(found.smallest.fresh, low=low, high=high)
    judged = replace(found, smallest=replace(found.smallest, fresh=fresh))
    assert judged.smallest.verdict == verdict
    assert dict(judged.findings)["smallest rule found, fresh trials"].endswith(f"): {verdict}")
    assert judged.to_dict()["smallest"]["verdict"] == verdict


def test_the_file_of_an_inspection_without_a_verdict_is_read(found: distal.Inspection) -> None:
    kept = found.to_dict(curves=True)
    del kept["smallest"]["verdict"]
    assert distal.Inspection.from_dict(kept).smallest == found.smallest


def test_the_same_seed_finds_the_same_smallest_rule(found: distal.Inspection) -> None:
    again = distal.inspect("evolved:1", **SMALL, engine=distal.Runner(workers=1))
    assert again.smallest == found.smallest
    assert again.to_dict() == {**found.to_dict(), "workers": 1}


def test_what_does_not_fit_in_one_batch_is_run_in_several(
    found: distal.Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = distal.engines.Runner.run

    def noted(self: distal.engines.Runner, batch: Batch, **options: Any) -> Any:
        sizes.append(len(batch))
        return run(self, batch, **options)

    monkeypatch.setattr(distal.engines.Runner, "run", noted)
    # A private number: so that a few rules take several batches.
    monkeypatch.setattr("distal.evaluation.inspect._AT_ONCE", 50)
    assert distal.inspect("evolved:1", **SMALL).to_dict() == found.to_dict()
    assert max(sizes) == 48  # three rules of 16 trials


def test_a_rule_that_does_nothing_is_its_own_smallest_rule() -> None:
    nothing = Rule([0] * 32, 0.1, 0.1, 0.1, 0.1)
    found = distal.inspect(nothing, **{**SMALL, "trials": 1})
    assert found.smallest.rule == nothing
    assert found.smallest.fresh.difference == 0
    assert found.signal["swapped"] == Effect(found.fitness, 0, 0, 0, 0, 1)


def test_an_environment_is_inspected_as_a_table_and_without_one() -> None:
    asked: Any = {"episodes": 3, "trials": 2, "steps": 5, "hidden": 2}
    lake = distal.task_of("FrozenLake-v1", args={"is_slippery": False})
    fast, slow = (distal.inspect("paper:1", task=lake, engine=name, **asked) for name in (None, "reference"))
    assert (fast.result.engine, slow.result.engine) == ("cpu", "reference")
    assert (fast.usage.counts == slow.usage.counts).all()
    assert fast.knockouts == slow.knockouts


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"rule": "hc"}, "'hill climbing' is not a rule, so it has no rows to inspect; give one"),
        ({"episodes": 1}, "episodes is 1, expected a whole number from 2 to"),
        ({"resample": 1}, "resample is 1, expected a whole number from 2 to"),
        (
            {"maze": distal.Maze.from_text("#####\n#S.7#\n#####"), "trials": 1},
            "trials is 1 in a task of one goal, expected 2 or more: differences need pairs",
        ),
    ],
)
def test_what_cannot_be_inspected_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        distal.inspect(**{"rule": "paper:1", **SMALL, **options})


def test_plots_are_drawn_on_the_axes_that_are_given(found: distal.Inspection) -> None:
    first = found.plot()
    assert found.plot("knockouts", first) is first
    for name in ("eta", "theta", "alpha_h", "alpha_o"):
        assert found.plot(name).get_xlabel() == name
    widths = np.array([bar.get_width() for bar in found.plot("usage").patches]).reshape(5, 32)  # type: ignore[attr-defined]
    assert widths.sum(axis=0) == pytest.approx(found.usage.rows)
