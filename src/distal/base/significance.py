"""Tests and intervals.

The rank-sum test (two samples) is two-sided, with the normal approximation corrected for
ties and continuity. Pairs, as a learner and chance in the same trials, are compared by
the paired t-test, because what is reported of them is a mean. Two estimates are compared
by Welch's test (means), the F-test (standard deviations) and Fisher's exact test
(shares). Intervals are 95 %: bootstrap percentiles for means and standard deviations,
Wilson's for shares. They are SciPy's, but for what every evolution ends with: that needs
NumPy alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_RESAMPLES = 9999
SIGNIFICANT = 0.05  # the paper's α


def standard_error(values: NDArray[Any]) -> float:
    """Return the standard error of a mean of two values or more."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def paired(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of the paired t-test; 1 if all pairs are equal, or there is only one.

    With tan φ = |t| / √ν, it is the integral of cos^(ν−1) from φ to a quarter turn over that from 0.
    """
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    n = len(difference)
    if n < 2 or not difference.any():
        return 1.0
    error = standard_error(difference)
    if error == 0:
        return 0.0
    freedom = n - 1
    angle = math.atan(abs(float(difference.mean())) / error / math.sqrt(freedom))
    # Where cos^(ν−1) has fallen by e^-40 nothing is left to add.
    reach = math.sqrt(80 / freedom)
    return _cosine_integral(angle, min(math.pi / 2, angle + reach), freedom) / _cosine_integral(
        0, min(math.pi / 2, reach), freedom
    )


def mean_interval(differences: NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % interval of the mean of paired differences, by Student's t; two of them or more."""
    mean, error = float(differences.mean()), standard_error(differences)
    if error == 0:
        return mean, mean
    from scipy import stats  # noqa: PLC0415

    reach = float(stats.t.ppf(1 - SIGNIFICANT / 2, len(differences) - 1)) * error
    return mean - reach, mean + reach


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values corrected after Holm for as many tests as there are, in their order."""
    adjusted, highest = [0.0] * len(p_values), 0.0
    for done, k in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        highest = max(highest, min(1.0, (len(p_values) - done) * p_values[k]))
        adjusted[k] = highest
    return adjusted


def _cosine_integral(low: float, high: float, freedom: int) -> float:
    """Integrate cos^(ν−1) by Simpson's rule."""
    points = np.linspace(low, high, 4001)
    values = np.cos(points) ** (freedom - 1)
    weights = np.ones(len(points))
    weights[1:-1:2], weights[2:-1:2] = 4, 2
    return float((values * weights).sum() * (high - low) / 4000 / 3)


def paired_superiority(a: ArrayLike, b: ArrayLike) -> float:
    """Return the share of pairs in which a is lower (better) than b; ties count half."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    return float((x < y).mean() + 0.5 * (x == y).mean())


def rank_sum(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of the Wilcoxon rank-sum test; 1 if all values are equal."""
    x, y = np.asarray(a, np.float64), np.asarray(b, np.float64)
    if np.unique(np.concatenate([x, y])).size == 1:
        return 1.0
    from scipy import stats  # noqa: PLC0415

    return float(stats.mannwhitneyu(x, y, alternative="two-sided", method="asymptotic").pvalue)


def p_means(values: ArrayLike, reported: float, n: int, spread: float | None = None) -> float:
    """Return the p-value (Welch's test) that our values and n values with a reported mean have one mean.

    `spread` is their reported standard deviation; left out, it is taken to be ours.
    """
    ours = np.asarray(values, np.float64)
    own = float(deviation(ours)) if len(ours) > 1 else 0.0
    other = own if spread is None else spread
    if own == other == 0:
        return float(ours.mean() == reported)
    from scipy import stats  # noqa: PLC0415

    test = stats.ttest_ind_from_stats(float(ours.mean()), own, len(ours), reported, other, n, equal_var=False)
    return float(test.pvalue)


def p_deviations(one: float, n: int, other: float, m: int) -> float:
    """Return the two-sided p-value (F-test) that standard deviations of n and m values are the same."""
    if one == 0 or other == 0:
        return float(one == other)
    from scipy import stats  # noqa: PLC0415

    below = float(stats.f.cdf((one / other) ** 2, n - 1, m - 1))
    return 2 * min(below, 1 - below)


def p_shares(k: int, n: int, other: int, m: int) -> float:
    """Return the two-sided p-value (Fisher's exact test) that k of n and another count of m are one share."""
    from scipy import stats  # noqa: PLC0415

    return float(stats.fisher_exact([[k, n - k], [other, m - other]]).pvalue)


def superiority(a: ArrayLike, b: ArrayLike) -> float:
    """Return the probability that a value of a is lower (better) than one of b; ties count half."""
    x, y = np.asarray(a, np.float64)[:, None], np.asarray(b, np.float64)[None, :]
    return float((x < y).mean() + 0.5 * (x == y).mean())


def interval(values: ArrayLike, statistic: Any = np.mean) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of a statistic, by percentiles."""
    data = np.asarray(values, np.float64)
    if len(data) < 2 or np.all(data == data[0]):
        value = float(statistic(data)) if len(data) > 1 else float(data[0])
        return value, value
    from scipy import stats  # noqa: PLC0415

    result = stats.bootstrap(
        (data,), statistic, n_resamples=_RESAMPLES, method="percentile", rng=np.random.default_rng(0)
    ).confidence_interval
    return float(result.low), float(result.high)


def superiority_interval(a: NDArray[Any], b: NDArray[Any]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of `superiority`, with both samples redrawn."""
    draw = np.random.default_rng(0)
    values = [superiority(draw.choice(a, len(a)), draw.choice(b, len(b))) for _ in range(2000)]
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def share_interval(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share of k in n."""
    from scipy import stats  # noqa: PLC0415

    found = stats.binomtest(k, n).proportion_ci(method="wilson")
    return float(found.low), float(found.high)


def deviation(values: NDArray[np.float64], axis: int = -1) -> Any:
    """Return the standard deviation with n − 1."""
    return np.std(values, axis=axis, ddof=1)
