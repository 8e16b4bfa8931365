"""Learners side by side: paired trials, the tests of their differences, and trials until one is decided."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from typing import Any

import matplotlib.figure
import numpy as np
import pytest

import distal
from distal import Chance, Comparison, HillClimbing, InputError, Rule, Table, TableTask
from distal.base import significance
from distal.base.colours import LIGHT
from distal.base.significance import confidence_sequence, holm, signed_rank
from tests.given import some
from tests.mazes import T

# A rule that changes nothing keeps its first weights for ever: chance, which draws new ones, beats it.
IDLE = Rule([0] * 32, eta=0.1, theta=0.2, alpha_h=0.3, alpha_o=0.4, name="idle")
LUCKY = Chance(0.3, 0.4)
SMALL: Any = {"maze": T, "episodes": 6, "steps": 8, "hidden": 4}
# ---------------------------------------------------------------- comparisons


def test_each_learner_does_as_learn_says_with_its_own_chance_beside_it() -> None:
    climber = HillClimbing(0.9, 0.4, 0.1)
    both = distal.compare([IDLE, climber], trials=3, seed=7, **SMALL)
    for result in both.results:
        alone = distal.learn(result.learner, trials=3, seed=7, **SMALL)
        assert (result.best == alone.best).all()
        assert (some(result.chance).best == some(alone.chance).best).all()
        assert result.to_dict() == alone.to_dict()
    assert both.learners == (IDLE, climber)


def test_each_pair_has_what_the_trials_say() -> None:
    several = distal.compare([IDLE, "hc", LUCKY], trials=20, **SMALL)
    finals = [distal.learn(one, trials=20, chance=False, **SMALL).final for one in several.learners]
    pairs = list(combinations(finals, 2))
    signed = holm([signed_rank(one, other) for one, other in pairs])
    ranked = holm([significance.rank_sum(one, other) for one, other in pairs])
    assert [(one.first, one.second) for one in several.differences] == list(combinations(several.names, 2))
    for k, (difference, (one, other)) in enumerate(zip(several.differences, pairs, strict=True)):
        assert difference.mean == pytest.approx((one - other).mean())
        assert difference.interval == significance.interval(one - other)
        assert difference.signed_rank == signed[k]
        assert difference.rank_sum == ranked[k]
        assert difference.paired_superiority == significance.paired_superiority(one, other)
        assert difference.superiority == significance.superiority(one, other)
    assert several.differences[1].verdict == "chance is better than idle"
    assert several.intervals == tuple(significance.interval(final) for final in finals)
    counts = [int((final <= 7).sum()) for final in finals]  # an EP below 8 steps
    assert several.reached_intervals == tuple(significance.share_interval(k, 40) for k in counts)
    assert [result.chance for result in several.results] == [None] * 3  # it is among them


def test_a_difference_is_decided_if_interval_and_test_both_say_so() -> None:
    one = distal.compare([IDLE, LUCKY], trials=1, **SMALL).differences[0]
    said: dict[str, Any] = {"interval": (-3.0, -1.0), "signed_rank": 0.01}
    changes: list[tuple[dict[str, Any], bool]] = [
        ({}, True), ({"interval": (-3.0, 0.0)}, False), ({"signed_rank": 0.05}, False)
    ]  # fmt: skip
    for change, decided in changes:
        assert replace(one, **said | change).decided is decided


def test_learners_of_one_name_are_numbered_and_no_number_stands_twice() -> None:
    names = distal.compare([IDLE, IDLE.named("x"), IDLE, IDLE.named("idle (1)")], trials=1, **SMALL).names
    assert names == ("idle (2)", "x", "idle (3)", "idle (1)")
    assert distal.compare(["hc", "hc"], trials=1, **SMALL).names == ("hill climbing (1)", "hill climbing (2)")


def test_a_task_without_a_target_has_no_share_that_reached_it() -> None:
    task = TableTask(Table.of([[0, 1], [1, 0]], [[1, 1], [0, 1]], [[1, 2], [3, 1]], [False, False]), steps=4)
    both = distal.compare([IDLE, LUCKY], task=task, trials=2, episodes=3, hidden=3)
    assert both.reached_intervals == (None, None)
    assert both.to_dict()["learners"][0]["reached"] is None
    assert both.summary().count("reached –") == 2


# ---------------------------------------------------------------- until decided


def test_trials_are_added_until_the_difference_is_decided() -> None:
    decided = distal.compare([IDLE, LUCKY], until_decided=True, **SMALL)
    (difference,) = decided.differences
    assert decided.decided
    assert difference.interval[0] > 0
    trials = decided.results[0].trials
    assert 50 <= trials < 1000  # 100 pairs at the least, for two final positions
    asked = distal.compare([IDLE, LUCKY], trials=trials, **SMALL)
    for one, other in zip(decided.results, asked.results, strict=True):
        assert (one.best == other.best).all()
    assert difference.mean == asked.differences[0].mean
    pairs = asked.results[0].final - asked.results[1].final
    low, high = confidence_sequence(pairs)
    assert difference.interval == (low[-1], high[-1])
    assert difference.interval_by == "confidence sequence"


def test_without_a_difference_trials_end_at_the_limit_and_parts_join_to_the_same_trials() -> None:
    same = distal.compare([IDLE, IDLE], until_decided=True, trials=4, most_trials=61, **SMALL)
    assert [result.trials for result in same.results] == [61, 61]
    assert not same.decided
    assert (same.results[0].best == distal.learn(IDLE, trials=61, **SMALL).best).all()


def test_several_pairs_share_the_error() -> None:
    several = distal.compare([IDLE, LUCKY, "hc"], until_decided=True, most_trials=50, **SMALL)
    finals = [result.final for result in several.results]
    for difference, (one, other) in zip(several.differences, combinations(finals, 2), strict=True):
        low, high = confidence_sequence(one - other, 0.05 / 3)
        assert difference.interval == (low[-1], high[-1])


def test_where_trials_were_added_no_test_is_given_that_does_not_allow_it() -> None:
    data = distal.compare([IDLE, "hc"], until_decided=True, most_trials=50, **SMALL).to_dict()
    assert data["until_decided"] is True
    assert [data["differences"][0][name] for name in ("signed_rank", "rank_sum")] == [None, None]
    assert data["learners"][0]["chance"]["p"] is None
    assert distal.compare([IDLE, "hc"], **SMALL).to_dict()["learners"][0]["chance"]["p"] is not None


@pytest.mark.parametrize(
    ("wrong", "problem"),
    [
        ({"learners": [IDLE]}, "compare needs 2 to 20 learners, but got 1"),
        ({"most_trials": 50}, "most_trials is the limit of until_decided; leave it out, or set both"),
        ({"until_decided": True, "most_trials": 49}, "most_trials is 49, expected a whole number from 50 to"),
        ({"until_decided": True, "most_trials": 70, "trials": 80}, "most_trials is 70, expected .* from 80"),
    ],
)
def test_what_cannot_be_compared_is_refused(wrong: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        distal.compare(**{"learners": [IDLE, LUCKY], **SMALL, **wrong})


# ---------------------------------------------------------------- figures, tables, the command


def test_curves_are_drawn_on_the_axes_that_are_given() -> None:
    both = distal.compare([IDLE.named("_$x$"), IDLE, "hc"], trials=2, **SMALL)
    ax = matplotlib.figure.Figure().subplots()
    assert both.plot(ax) is ax
    lines = ax.get_lines()
    for line, result in zip(lines, both.results, strict=False):
        assert np.array_equal(line.get_ydata(), result.best.mean(axis=0))
    chances = {id(result.chance) for result in both.results}
    assert len(lines) == len(both.results) + len(chances) == 3 + 2  # both idle rules have the same scales
    assert [line.get_color() for line in lines[:3]] == [LIGHT["dsp"], LIGHT["goal"], LIGHT["hc"]]
    legend = some(ax.get_legend())
    scales = r"chance with the α of "
    assert [text.get_text() for text in legend.get_texts()] == [
        r" _\$x\$", "idle", "hill climbing", rf"{scales}_\$x\$ and idle", f"{scales}hill climbing",
    ]  # fmt: skip
    assert [line.get_color() for line in lines[3:]] == [LIGHT["dsp"], LIGHT["hc"]]


def test_chance_as_a_learner_has_its_own_scales_in_the_legend() -> None:
    both = distal.compare([IDLE, distal.Chance(0.25, 0.5)], trials=2, **SMALL)
    legend = some(both.plot(matplotlib.figure.Figure().subplots()).get_legend())
    assert [text.get_text() for text in legend.get_texts()] == ["idle", "chance, α_h 0.25, α_o 0.5"]


def test_one_chance_for_all_is_grey() -> None:
    same = distal.compare([IDLE, IDLE.named("again")], trials=2, **SMALL)
    last = same.plot(matplotlib.figure.Figure().subplots()).get_lines()[-1]
    assert (last.get_label(), last.get_color()) == ("chance", LIGHT["chance"])


def test_a_summary_names_every_learner_and_every_difference() -> None:
    both: Comparison = distal.compare([IDLE, "hc"], trials=2, **SMALL)
    lines = both.summary().splitlines()
    assert lines[1].startswith(f"idle: {both.results[0].fitness:.2f} (")
    assert all(" chance " in line for line in lines[1:3])
    assert lines[3].startswith(f"idle − hill climbing: {both.differences[0].mean:+.2f} (")
