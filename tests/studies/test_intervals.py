"""What trials say of a learner: means, gaps with their tests, curves."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from distal.base.significance import difference_interval
from distal.studies.intervals import Corrected, Curve, Gap, Interval, Scores

pytestmark = pytest.mark.usefixtures("rough")


def test_means_shares_and_gaps_are_those_of_the_trials() -> None:
    own = np.array([[9, 5, 7], [8, 8, 8], [6, 9, 2], [9, 9, 9]], np.int32)
    other = np.array([[9, 9, 9], [9, 9, 8], [9, 9, 9], [9, 9, 9]], np.int32)
    measured = Scores.of(own, other, 3, target=5)
    assert (measured.best.value, measured.chance.value) == (6, 8.75)  # 5, 8, 2, 9 and 9, 8, 9, 9
    assert measured.gap.difference.value == -2.75  # −4, 0, −7, 0
    assert measured.gap.difference.low <= -2.75 <= measured.gap.difference.high
    assert (measured.reached.value, measured.chance_reached.value) == (0.5, 0)
    assert measured.retained == 0  # one episode after the only success that has one
    assert measured.chance_retained is None
    assert Scores.of(own, other, 2, target=5).best.value == 7  # 5, 8, 6, 9


def test_a_gap_is_decided_by_the_paired_test() -> None:
    trials = np.arange(20)
    assert Gap.of(trials, trials + 5 + trials % 2).better is True
    assert Gap.of(trials + 5 + trials % 2, trials).better is False
    assert Gap.of(trials, trials[::-1]).better is None


def test_of_several_gaps_the_corrected_p_decides() -> None:
    gaps = [Gap(Interval(-3, -4, -2), p) for p in (0.03, 0.01, 0.2)]
    family = Corrected.family(gaps)
    assert [one.corrected for one in family] == pytest.approx([0.06, 0.03, 0.2])  # 2 · 0.03, 3 · 0.01
    assert [one.better for one in family] == [None, True, None]
    assert gaps[0].better is True


def test_runs_are_compared_by_the_rank_sum_test_and_both_samples_are_redrawn() -> None:
    own, other = np.array([1.0, 2, 3, 4]), np.array([6.0, 7, 8, 9, 10])
    gap = Gap.of_runs(own, other)
    assert gap.difference.value == 2.5 - 8
    assert gap.p == pytest.approx(stats.mannwhitneyu(own, other, method="asymptotic").pvalue, rel=1e-5)
    assert gap.difference.low < -5.5 < gap.difference.high < 0
    assert difference_interval(np.ones(3), np.zeros(4)) == (1, 1)


def test_a_curve_is_the_mean_of_the_best_so_far() -> None:
    curve = Curve.of(np.array([[5, 7, 3], [9, 4, 6]], np.int32))
    assert curve.episodes == (1, 2, 3)
    assert curve.mean == (7, 4.5, 3.5)
    assert curve.error == pytest.approx((2, 0.5, 0.5))
