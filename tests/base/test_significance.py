"""Tests and intervals against values worked by hand and SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from distal.base import significance
from distal.base.significance import confidence_sequence, holm, mean_interval, paired_superiority, signed_rank


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


def test_the_signed_rank_test_by_hand() -> None:
    # Differences 1 −2 3 4 5 (and 0, left out): W = 13, mean 5·6/4 = 7.5, variance 5·6·11/24 = 13.75
    z = (13 - 7.5 - 0.5) / np.sqrt(13.75)
    assert signed_rank([1, 0, 3, 4, 5, 7], [0, 2, 0, 0, 0, 7]) == pytest.approx(
        2 * stats.norm.sf(z), rel=1e-5
    )
    # With ties: 1 1 −1 2 have ranks 2 2 2 4, W = 8, mean 5, variance 4·5·9/24 − (27 − 3)/48 = 7
    z = (8 - 5 - 0.5) / np.sqrt(7)
    assert signed_rank([1, 1, 0, 2], [0, 0, 1, 0]) == pytest.approx(2 * stats.norm.sf(z), rel=1e-5)
    assert signed_rank([5, 5], [5, 5]) == 1
    assert signed_rank([1, 0], [0, 1]) == 1  # as balanced as can be


@pytest.mark.parametrize("seed", range(5))
def test_the_signed_rank_test_is_scipys(seed: int) -> None:
    x, y = np.random.default_rng(seed).integers(0, 12, (2, 30))
    expected = stats.wilcoxon(x, y, zero_method="wilcox", correction=True, method="asymptotic").pvalue
    assert signed_rank(x, y) == pytest.approx(expected, rel=1e-5)


def test_holms_correction_by_hand() -> None:
    # Sorted: 0.01 · 4, 0.02 · 3, 0.03 · 2 (no less than the one before), 0.5 · 1
    assert holm([0.03, 0.01, 0.5, 0.02]) == pytest.approx([0.06, 0.04, 0.5, 0.06])
    assert holm([0.4, 0.9]) == pytest.approx([0.8, 0.9])
    assert holm([0.7, 0.6]) == [1, 1]
    assert holm([0.2]) == [0.2]


def test_a_confidence_sequence_by_hand() -> None:
    # Theorem 2.2 of Waudby-Smith et al., with its ρ for 500 values
    values, alpha = np.random.default_rng(1).normal(1000, 3, 80), 0.02
    rho2 = (-2 * np.log(alpha) + np.log(-2 * np.log(alpha)) + 1) / 500
    low, high = confidence_sequence(values, alpha)
    for t in (2, 7, 80):
        half = np.sqrt(2 * (t * rho2 + 1) / (t**2 * rho2) * np.log(np.sqrt(t * rho2 + 1) / alpha))
        half *= values[:t].std(ddof=1)
        assert low[t - 1] == pytest.approx(values[:t].mean() - half)
        assert high[t - 1] == pytest.approx(values[:t].mean() + half)
    assert (low[0], high[0]) == (-np.inf, np.inf)


SEQUENCES, VALUES, FIRST = 400, 2000, 100
NULLS = {  # differences with the mean 0: without skew, with ties as in a maze, skewed
    "normal": lambda draw: draw.normal(0, 30, (SEQUENCES, VALUES)),
    "mostly ties": lambda draw: draw.choice([-1, 0, 1], p=[0.05, 0.9, 0.05], size=(SEQUENCES, VALUES)),
    "skewed": lambda draw: draw.exponential(30, (SEQUENCES, VALUES)) - 30,
}


@pytest.mark.parametrize("null", NULLS)
def test_looking_after_every_trial_keeps_the_error_rate_which_repeated_t_tests_do_not(null: str) -> None:
    values = np.asarray(NULLS[null](np.random.default_rng(0)), np.float64)
    low, high = confidence_sequence(values)
    wrong = ((low > 0) | (high < 0))[:, FIRST - 1 :].any(axis=1).mean()
    assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / SEQUENCES)
    n = np.arange(1, VALUES + 1)
    mean = values.cumsum(axis=1) / n
    variance = (np.cumsum(values**2, axis=1) - n * mean**2) / np.maximum(n - 1, 1)
    t = (mean * np.sqrt(n) / np.sqrt(np.maximum(variance, 1e-9)))[:, FIRST - 1 :]
    assert (np.abs(t) > stats.t.ppf(0.975, n[FIRST - 1 :] - 1)).any(axis=1).mean() > 0.2


def test_a_confidence_sequence_finds_a_difference() -> None:
    low, _ = confidence_sequence(np.random.default_rng(0).normal(0.5, 1, (100, 200)))
    assert (low[:, -1] > 0).mean() > 0.95


def test_a_bootstrap_in_pieces_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    data = np.random.default_rng(0).normal(size=50)
    whole = significance.interval(data)
    # A private number: so that fifty values take several pieces.
    monkeypatch.setattr(significance, "_AT_ONCE", 1000)
    assert significance.interval(data) == whole


def test_an_interval_of_a_mean_is_students() -> None:
    low, high = mean_interval(np.array([1.0, 2.0, 3.0]))  # t = 4.3027 with two degrees of freedom
    assert (low, high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)
    assert mean_interval(np.array([5, 5])) == (5, 5)


def test_a_pair_is_compared_with_itself_alone() -> None:
    # Every trial is better by one; two trials at random would be so in three of four cases.
    own = np.array([40] * 50 + [110] * 50)
    assert paired_superiority(own, own + 1) == 1
    assert paired_superiority([1, 2, 3, 4], [1, 3, 2, 5]) == (2 + 0.5) / 4


@pytest.mark.parametrize("name", ["paired", "rank_sum", "signed_rank"])
def test_a_p_value_has_six_digits_which_every_machine_agrees_on(name: str) -> None:
    draw = np.random.default_rng(1)
    for size in (3, 8, 40, 400):
        own, other = draw.integers(40, 140, (2, size)).astype(float)
        test = getattr(significance, name)
        p = test(own, other)
        assert p == float(f"{p:.6g}")
        if name == "paired":  # as if another machine had other last digits
            assert test(own * (1 + 1e-15), other * (1 - 1e-15)) == p


def test_the_paired_t_test_is_scipys_down_to_the_smallest_p() -> None:
    draw = np.random.default_rng(2)
    for size in (2, 3, 40, 4000):
        for shift in (0.0, 0.3, 3.0):
            own = draw.normal(size=size)
            other = own + draw.normal(shift, 1, size)
            expected = stats.ttest_rel(own, other).pvalue
            assert significance.paired(own, other) == pytest.approx(expected, rel=1e-5, abs=1e-300)
