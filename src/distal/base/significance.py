"""Tests and intervals.

The rank-sum test (two samples) is two-sided, with the normal approximation corrected for
ties and continuity, and so is the signed-rank test (pairs). A learner and chance in the
same trials are compared by the paired t-test, because their means are reported.
Two estimates are compared by Welch's test (means), the F-test (standard deviations) and
Fisher's exact test (shares). Intervals are 95%: bootstrap percentiles for means and
standard deviations, Wilson's for shares.

Distributions are SciPy's. Their last digits depend on the release, the C library and the
processor's vector instructions, so every result of one is rounded to six significant
digits (`stable`): files that hold a p-value are the same on every machine.

All of them hold for a number of values that was chosen beforehand. A confidence sequence
holds at every number of values at once, so anyone who looks at it may stop at any time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

_RESAMPLES = 9999
_PAIRS = 2000  # of samples that are redrawn together
_AT_ONCE = 2**22  # values that a bootstrap draws at a time, so that many of them take little memory
_TIGHTEST = 500  # values at which a confidence sequence is as narrow as it can be
SIGNIFICANT = 0.05  # the paper's α
_STABLE = 6  # significant digits that are the same on every machine


def stable(value: float) -> float:
    """Return a number that comes of a distribution or a logarithm, as exact as it is on every machine."""
    return float(f"{value:.{_STABLE}g}")


def standard_error(values: NDArray[Any]) -> float:
    """Return the standard error of a mean of two values or more."""
    return float(values.std(ddof=1)) / math.sqrt(len(values))


def with_error(mean: float, error: float | None, sign: bool = False) -> str:
    """Write a mean with its standard error, where there is one."""
    return f"{mean:{'+' if sign else ''}z.2f}" + ("" if error is None else f" ± {error:z.2f}")


def paired(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of the paired t-test; 1 if all pairs are equal, or there is only one."""
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    if len(difference) < 2 or not difference.any():
        return 1.0
    error = standard_error(difference)
    if error == 0:
        return 0.0
    from scipy import special  # noqa: PLC0415 - a fifth of the time that scipy.stats takes to load

    return stable(2 * special.stdtr(len(difference) - 1, -abs(float(difference.mean())) / error))


def mean_interval(differences: NDArray[Any]) -> tuple[float, float]:
    """Return the 95% interval of the mean of paired differences, by Student's t; two of them or more."""
    mean, error = float(differences.mean()), standard_error(differences)
    if error == 0:
        return mean, mean
    from scipy import stats  # noqa: PLC0415

    reach = stable(stats.t.ppf(1 - SIGNIFICANT / 2, len(differences) - 1)) * error
    return mean - reach, mean + reach


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

    return stable(stats.mannwhitneyu(x, y, alternative="two-sided", method="asymptotic").pvalue)


def signed_rank(a: ArrayLike, b: ArrayLike) -> float:
    """Return the two-sided p-value of the signed-rank test, without pairs that are equal; 1 if all are."""
    difference = np.asarray(a, np.float64) - np.asarray(b, np.float64)
    difference = difference[difference != 0]
    if not len(difference):
        return 1.0
    from scipy import stats  # noqa: PLC0415

    return stable(stats.wilcoxon(difference, correction=True, method="asymptotic").pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Return p-values of several tests, corrected by Holm's method: their family keeps its level."""
    corrected, largest = [0.0] * len(ps), 0.0
    for rank, k in enumerate(sorted(range(len(ps)), key=lambda k: ps[k])):
        largest = max(largest, min(1.0, (len(ps) - rank) * ps[k]))
        corrected[k] = largest
    return corrected


def confidence_sequence(
    values: ArrayLike, alpha: float = SIGNIFICANT
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the ends of an interval of the mean after 1, 2, … values; all hold at once with 1 − α.

    The asymptotic confidence sequence of Waudby-Smith, Arbour, Sinha, Kennedy and Ramdas,
    "Time-uniform central limit theory and asymptotic confidence sequences" (Annals of
    Statistics 52, 2024), theorem 2.2. It needs no bounds of the values, but enough of them
    for their deviation to be known.

    Args:
        values: The values in their order, (..., n); other axes hold other sequences.
        alpha: The chance that any of the intervals misses the mean.

    Returns:
        Low and high, each (..., n); the first interval, of one value, has no ends.
    """
    data = np.asarray(values, np.float64)
    n = np.arange(1, data.shape[-1] + 1)
    shift = data[..., :1]  # squares of what is left lose nothing to a large mean
    mean = np.cumsum(data - shift, axis=-1) / n
    squares = np.cumsum((data - shift) ** 2, axis=-1) - n * mean**2
    rest = -2 * math.log(alpha)
    rho = (rest + math.log(rest) + 1) / _TIGHTEST  # ρ², near the best for so many values
    with np.errstate(divide="ignore", invalid="ignore"):
        deviation = np.sqrt(np.maximum(squares, 0) / (n - 1))
        half = deviation * np.sqrt((n * rho + 1) / rho * np.log((n * rho + 1) / alpha**2)) / n
    half[..., 0] = np.inf
    return shift + mean - half, shift + mean + half


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
    return stable(test.pvalue)


def p_deviations(one: float, n: int, other: float, m: int) -> float:
    """Return the two-sided p-value (F-test) that standard deviations of n and m values are the same."""
    if one == 0 or other == 0:
        return float(one == other)
    from scipy import stats  # noqa: PLC0415

    below = float(stats.f.cdf((one / other) ** 2, n - 1, m - 1))
    return stable(2 * min(below, 1 - below))


def p_shares(k: int, n: int, other: int, m: int) -> float:
    """Return the two-sided p-value (Fisher's exact test) that k of n and another count of m are one share."""
    from scipy import stats  # noqa: PLC0415

    return stable(stats.fisher_exact([[k, n - k], [other, m - other]]).pvalue)


def superiority(a: ArrayLike, b: ArrayLike) -> float:
    """Return the probability that a value of a is lower (better) than one of b; ties count half."""
    x, y = np.asarray(a, np.float64), np.sort(np.asarray(b, np.float64))
    lower = int((len(y) - np.searchsorted(y, x, "right")).sum())
    not_higher = int((len(y) - np.searchsorted(y, x, "left")).sum())
    return lower / (len(x) * len(y)) + 0.5 * ((not_higher - lower) / (len(x) * len(y)))


def interval(values: ArrayLike, statistic: Any = np.mean) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a statistic, by percentiles."""
    data = np.asarray(values, np.float64)
    if len(data) < 2 or np.all(data == data[0]):
        value = float(statistic(data)) if len(data) > 1 else float(data[0])
        return value, value
    from scipy import stats  # noqa: PLC0415

    result = stats.bootstrap(
        (data,), statistic, n_resamples=_RESAMPLES, batch=max(1, _AT_ONCE // len(data)), method="percentile",
        rng=np.random.default_rng(0),
    ).confidence_interval  # fmt: skip
    return float(result.low), float(result.high)


def difference_interval(a: NDArray[Any], b: NDArray[Any]) -> tuple[float, float]:
    """Return the 95% bootstrap interval of mean(a) − mean(b), by percentiles, with both samples redrawn."""
    draw = np.random.default_rng(0)
    means = [draw.choice(values, (_RESAMPLES, len(values))).mean(axis=1) for values in (a, b)]
    low, high = np.percentile(means[0] - means[1], [2.5, 97.5])
    return float(low), float(high)


def rows_interval(values: NDArray[Any], statistic: Any) -> tuple[float, float]:
    """Return the 95% bootstrap interval of a statistic of the means of rows, each row redrawn by itself.

    Args:
        values: The values, (rows, values of a row).
        statistic: Takes means (draws, rows), returns a number for each draw; NaN is left out.
    """
    draw = np.random.default_rng(0)
    means = np.stack([draw.choice(row, (_RESAMPLES, len(row))).mean(axis=1) for row in values], axis=1)
    found = statistic(means)
    low, high = np.percentile(found[np.isfinite(found)], [2.5, 97.5])
    return float(low), float(high)


def superiority_interval(a: NDArray[Any], b: NDArray[Any]) -> tuple[float, float]:
    """Return the 95% bootstrap interval of `superiority`, with both samples redrawn."""
    draw = np.random.default_rng(0)
    values = [superiority(draw.choice(a, len(a)), draw.choice(b, len(b))) for _ in range(_PAIRS)]
    low, high = np.percentile(values, [2.5, 97.5])
    return float(low), float(high)


def share_interval(k: int, n: int) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share of k in n."""
    from scipy import stats  # noqa: PLC0415

    found = stats.binomtest(k, n).proportion_ci(method="wilson")
    return stable(found.low), stable(found.high)


def deviation(values: NDArray[np.float64], axis: int = -1) -> Any:
    """Return the standard deviation with n − 1."""
    return np.std(values, axis=axis, ddof=1)
