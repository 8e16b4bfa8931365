"""Three tests of a system against the paper: its published rules, the rules that evolution finds, and pairing.

`Fifteen` asks whether the published rules score here as the paper says after 10,000 episodes,
`Likelihood` whether the rules that evolution finds here resemble the published ones, `Pairing`
whether tables and numbers of the published rules belong together. All are pure functions of
numbers; `readings` runs the trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal.base.checks import InputError
from distal.base.records import NotNegative, Record, Share
from distal.base.significance import SIGNIFICANT, stable
from distal.learners.dsp import NUMBERS, Rule
from distal.learners.shipped import published_rules
from distal.studies.appendix import correlation, rms

# ------------------------------------------------------------------ what the published rules do


@dataclass(frozen=True)
class Fifteen(Record):
    """The fitness of each published rule after many episodes, against the paper's.

    Attributes:
        fitness: The mean best EP of every rule.
        errors: Their standard errors over trials.
        r: The correlation with the paper's numbers.
        rms: The root of the mean squared difference from them.
    """

    fitness: tuple[float, ...]
    errors: tuple[NotNegative, ...]
    r: float
    rms: NotNegative

    @classmethod
    def of(cls, best: ArrayLike, paper: ArrayLike) -> Fifteen:
        """Take the best EP of every trial, (rules, trials), and the paper's fitness of every rule."""
        trials, there = np.asarray(best, np.float64), np.asarray(paper, np.float64)
        fitness = trials.mean(axis=1)
        errors = trials.std(axis=1, ddof=1) / np.sqrt(trials.shape[1])
        r = 0.0 if np.ptp(fitness) == 0 else float(correlation(there, fitness))
        return cls(tuple(fitness.tolist()), tuple(errors.tolist()), r, float(rms(there, fitness)))

    @property
    def mean(self) -> float:
        """The mean of all rules."""
        return float(np.mean(self.fitness))

    @property
    def noise_r(self) -> float:
        """The correlation to expect of these trials with as many others of the same rules.

        What the rules differ by is the spread of their fitness less what noise adds to it.
        """
        seen = float(np.var(self.fitness, ddof=1))
        return max(0.0, 1 - self._noise**2 / seen) if seen > 0 else 0.0

    @property
    def noise_rms(self) -> float:
        """The root of the mean squared difference to expect of them."""
        return float(np.sqrt(2)) * self._noise

    @property
    def _noise(self) -> float:
        return float(np.sqrt(np.square(self.errors).mean()))

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        derived = {"mean": self.mean, "noise_r": self.noise_r, "noise_rms": self.noise_rms}
        return {**super().to_dict(), **derived}

    def _check(self) -> None:
        """Refuse different numbers of errors and rules, and an r out of its range."""
        if len(self.fitness) != len(self.errors):
            raise InputError("the numbers of errors and rules differ")
        if abs(self.r) > 1 + 1e-9:  # a sum of squares may be rounded down
            raise InputError(f"r is {self.r}, expected a number from -1 to 1")


# ------------------------------------------------------------------ what rules evolution finds

CHANGES = 3  # values of a row of a table: −1, 0, 1
BINS = 6  # of [0, 1], equally wide, for each of the four numbers
PRIOR = 12.0  # so many winners' worth of "all values alike", in every row and for every number


def log_likelihood(winners: NDArray[np.int64], rules: NDArray[np.int64], values: int) -> float:
    """Return the log-likelihood of rules by the genes of winners, less that with all values alike.

    Both are (rules, genes), values from 0; genes are taken as independent. A value that `count` of n
    winners have has the probability (count + PRIOR / values) / (n + PRIOR).
    """
    counts = (winners[:, :, None] == np.arange(values)).sum(axis=0)  # (genes, values)
    share = (counts + PRIOR / values) / (len(winners) + PRIOR)
    return stable(np.log(share[np.arange(rules.shape[1]), rules] * values).sum())


def table_genes(rules: Sequence[Rule]) -> NDArray[np.int64]:
    """Return the changes of every rule, (rules, 32), as 0, 1, 2 for −1, 0, 1."""
    return np.array([rule.delta_w for rule in rules], np.int64) + 1


def number_genes(rules: Sequence[Rule]) -> NDArray[np.int64]:
    """Return the bin of each of the four numbers of every rule, (rules, 4); 1 is in the last bin."""
    numbers = np.array([[getattr(rule, name) for name in NUMBERS] for rule in rules], np.float64)
    return np.minimum((numbers * BINS).astype(np.int64), BINS - 1)


@dataclass(frozen=True)
class Likelihood(Record):
    """The log-likelihood of rules by the genes of certain winners, less that with all values alike.

    Attributes:
        tables: Of their 32 changes.
        numbers: Of η, θ, α_h and α_o.
    """

    tables: float
    numbers: float

    @classmethod
    def of(cls, winners: Sequence[Rule], rules: Sequence[Rule]) -> Likelihood:
        """Return that of rules, where evolution finds these winners."""
        return cls(
            log_likelihood(table_genes(winners), table_genes(rules), CHANGES),
            log_likelihood(number_genes(winners), number_genes(rules), BINS),
        )

    @classmethod
    def left_out(cls, rules: Sequence[Rule]) -> Likelihood:
        """Return that of rules among themselves: each, where evolution finds all the others."""
        each = [cls.of([*rules[:k], *rules[k + 1 :]], rules[k : k + 1]) for k in range(len(rules))]
        return cls(sum(one.tables for one in each), sum(one.numbers for one in each))


@cache
def papers_likelihood() -> Likelihood:
    """Return that of the published rules among themselves."""
    return Likelihood.left_out(published_rules())


# ------------------------------------------------------------------ whether tables and numbers belong together

SHUFFLES = 10_000  # of the columns, for the p-value of the pairing test


@dataclass(frozen=True)
class Pairing(Record):
    """Whether the published tables do better with their own numbers than with the numbers of other rules.

    `fitness[i][j]` is that of the table of rule i with the numbers of rule j. Of it,
    the means of rows and columns are taken away: what is left are residuals.
    """

    fitness: tuple[tuple[float, ...], ...]
    effect: float  # mean residual of matched pairs, in standard deviations of the others; negative: better
    p: Share  # share of random matchings of tables and numbers that are at least as good
    level: float  # the effect that one in twenty random matchings reaches

    @classmethod
    def of(cls, fitness: ArrayLike, seed: int = 0, shuffles: int = SHUFFLES) -> Pairing:
        """Test a square matrix, with this many random permutations of its columns."""
        matrix = np.asarray(fitness, np.float64)
        left = residuals(matrix)
        n = len(left)
        spread = float(left[~np.eye(n, dtype=bool)].std(ddof=1))
        rows = tuple(tuple(row) for row in matrix.tolist())
        if spread < 1e-9 * max(1.0, float(np.abs(matrix).max())):  # rows and columns explain it all
            return cls(rows, 0.0, 1.0, 0.0)
        generator = np.random.default_rng(seed)
        columns = generator.permuted(np.tile(np.arange(n), (shuffles, 1)), axis=1)
        matched = left.diagonal().mean()
        shuffled = left[np.arange(n), columns].mean(axis=1)
        as_good = int((shuffled <= matched + 1e-9 * spread).sum())  # a tie may differ in its last bits
        return cls(
            rows,
            effect=float(matched / spread),
            p=(1 + as_good) / (1 + shuffles),
            level=float(np.quantile(shuffled, SIGNIFICANT) / spread),
        )

    def _check(self) -> None:
        """Refuse a matrix that is not a square."""
        if {len(row) for row in self.fitness} != {len(self.fitness)}:
            raise InputError("the fitness of pairing is not a square")


def residuals(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is left of a matrix without the means of its rows and columns."""
    rows, columns = matrix.mean(axis=1, keepdims=True), matrix.mean(axis=0, keepdims=True)
    left: NDArray[np.float64] = matrix - rows - columns + matrix.mean()
    return left


def pairs(rules: Sequence[Rule]) -> list[Rule]:
    """Return the table of every rule with the numbers of every rule, tables first."""
    return [
        replace(table, name="", **{name: getattr(numbers, name) for name in NUMBERS})
        for table in rules
        for numbers in rules
    ]
