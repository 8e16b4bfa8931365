"""Tests and intervals against values worked by hand and SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from distal.base import significance


def test_the_rank_sum_test_by_hand() -> None:
    # 1 2 3 against 4 5 6: U = 0, mean 4.5, variance 3·3·7/12 = 5.25, continuity ½
    z = (4.5 - 0.5) / np.sqrt(5.25)
    assert significance.rank_sum([1, 2, 3], [4, 5, 6]) == pytest.approx(2 * stats.norm.sf(z), rel=1e-5)
    # with ties: 1 1 2 against 1 2 2, ranks 2 2 5 | 2 5 5, U = 9 − 6 = 3; variance 9/12·(7 − (24 + 24)/30)
    z = (4.5 - 3 - 0.5) / np.sqrt(9 / 12 * (7 - 48 / 30))
    assert significance.rank_sum([1, 1, 2], [1, 2, 2]) == pytest.approx(2 * stats.norm.sf(z), rel=1e-5)
    assert significance.rank_sum([5, 5], [5, 5, 5]) == 1


def test_superiority_counts_ties_half() -> None:
    assert significance.superiority([1, 2], [2, 3]) == (3 + 0.5) / 4
    assert significance.superiority([1], [1]) == 0.5
    x, y = np.random.default_rng(0).integers(0, 9, (2, 30))
    u = stats.mannwhitneyu(x, y).statistic
    assert significance.superiority(x, y) == pytest.approx(1 - u / 900)


@pytest.mark.usefixtures("exact")
def test_intervals_cover_the_mean_and_follow_wilson() -> None:
    data = np.arange(41)  # mean 20, standard error 1.87
    low, high = significance.interval(data)
    assert low == pytest.approx(20 - 1.96 * 1.87, abs=0.4)
    assert high == pytest.approx(20 + 1.96 * 1.87, abs=0.4)
    assert significance.interval([7, 7, 7]) == (7, 7)
    # Wilson for 30 of 40: centre (p + z²/2n) / (1 + z²/n)
    z, n, p = 1.959964, 40, 0.75
    centre, half = (p + z * z / (2 * n)), z * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    assert significance.share_interval(30, 40) == pytest.approx(
        ((centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)), rel=1e-5
    )
