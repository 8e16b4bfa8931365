"""The paper's appendix: the fitness that it reports for its fifteen rules, and ours, rule by rule.

Fifteen numbers that no evolution of ours decides: they depend on the maze and on the
readings alone. `plans.reproduce` runs the trials.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.frozen import Frozen
from distal.base.significance import SIGNIFICANT, p_means, rows_interval
from distal.learners.shipped import published_fitness, published_rules
from distal.search.results import Fresh
from distal.studies.intervals import Interval

PAPER_TRIALS = 40  # of every test in the paper
EPISODES = 10_000  # of the tests in the appendix
NARROW = "narrow-t"  # the maze that is shown beside the one asked for


def marks(episodes: int) -> tuple[int, ...]:
    """Return the episodes after which the rules are compared, at most `episodes`."""
    return tuple(sorted({min(mark, episodes) for mark in (100, 1_000, EPISODES)}))


def in_the_paper() -> NDArray[np.float64]:
    """Return the paper's fifteen numbers."""
    return np.array([published_fitness(number) for number in range(1, len(published_rules()) + 1)])


def correlation(paper: NDArray[Any], ours: NDArray[Any]) -> Any:
    """Return Pearson's r of the paper's numbers and ours, (..., rules); not a number if all are equal."""
    x, y = paper - paper.mean(), ours - ours.mean(axis=-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        return (x * y).sum(axis=-1) / np.sqrt((x**2).sum() * (y**2).sum(axis=-1))


def rms(paper: NDArray[Any], ours: NDArray[Any]) -> Any:
    """Return the root of the mean squared difference of the paper's numbers and ours, (..., rules)."""
    return np.sqrt(((ours - paper) ** 2).mean(axis=-1))


@dataclass(frozen=True)
class Agreement:
    """The agreement of our numbers with the paper's: correlation, and root mean squared difference.

    The intervals redraw our trials within each rule and leave the paper's numbers as they are.
    `r` is None if all our numbers are the same.
    """

    r: Interval | None
    rms: Interval

    @classmethod
    def of(cls, paper: NDArray[Any], eps: NDArray[Any]) -> Agreement:
        """Compare the paper's numbers with best EPs (rules, trials)."""
        means = eps.mean(axis=1)

        def measured(statistic: Any) -> Interval:
            ends = rows_interval(eps, lambda drawn: statistic(paper, drawn))
            return Interval(float(statistic(paper, means)), *ends)

        return cls(None if (means == means[0]).all() else measured(correlation), measured(rms))

    def __str__(self) -> str:
        """Write both in a few characters: r .92, rms 7.8."""
        r = "–" if self.r is None else f"{self.r.value:.2f}".replace("0.", ".")
        return f"r {r}, rms {self.rms.value:.1f}"


@dataclass(frozen=True)
class PublishedRow:
    """A published rule: the paper's number, ours, chance, and the rule resampled and in another maze.

    `p` is that of a difference as large, if both numbers estimate the same; the paper's trials,
    of which it reports the mean alone, are taken to spread as ours do.
    """

    rule: str
    paper: float
    ours: Interval
    p: float
    chance: float
    resampled: float
    narrow: float | None

    @property
    def agrees(self) -> bool:
        """Whether both numbers may be estimates of the same."""
        return self.p >= SIGNIFICANT


@dataclass(frozen=True, eq=False)
class Appendix(Frozen):
    """The trials of the paper's fifteen rules: best EPs so far, (rules, trials, marks).

    Attributes:
        marks: The episodes after which the trials were looked at.
        plain: The rules.
        resampled: The rules, with fresh weights every 100 episodes.
        chance: Chance with each rule's scales α, in the trials of `plain`.
        narrow: The rules in the maze narrow-t; None if that is the maze of all the others.
    """

    marks: tuple[int, ...]
    plain: NDArray[np.int32]
    resampled: NDArray[np.int32]
    chance: NDArray[np.int32]
    narrow: NDArray[np.int32] | None

    @property
    def episodes(self) -> int:
        """The number of episodes of a trial."""
        return self.marks[-1]

    @property
    def judged(self) -> bool:
        """Whether they are as many as in the paper, so that the numbers can be compared."""
        return self.episodes == EPISODES

    @cached_property
    def rows(self) -> tuple[PublishedRow, ...]:
        """The fifteen rules at the end, in the paper's order."""
        found = []
        for k, (rule, paper) in enumerate(zip(published_rules(), in_the_paper().tolist(), strict=True)):
            own, chance, resampled = (eps[k, :, -1] for eps in (self.plain, self.chance, self.resampled))
            narrow = None if self.narrow is None else float(self.narrow[k, :, -1].mean())
            p, beside = p_means(own, paper, PAPER_TRIALS), (float(chance.mean()), float(resampled.mean()))
            found.append(PublishedRow(rule.name, paper, Interval.mean(own), p, *beside, narrow))
        return tuple(found)

    @cached_property
    def here(self) -> Agreement:
        """The agreement of the fifteen with the paper's."""
        return Agreement.of(in_the_paper(), self.plain[:, :, -1])

    @cached_property
    def in_narrow(self) -> Agreement | None:
        """The same in narrow-t, if it was run."""
        return None if self.narrow is None else Agreement.of(in_the_paper(), self.narrow[:, :, -1])

    @property
    def agree(self) -> int:
        """The number of the fifteen that agree with the paper."""
        return sum(row.agrees for row in self.rows)

    @property
    def beat_chance(self) -> int:
        """The number of the fifteen that are better than chance, by the paired t-test."""
        pairs = zip(self.plain[:, :, -1], self.chance[:, :, -1], strict=True)
        return sum(bool(Fresh.of(*pair).beats_chance) for pair in pairs)

    @cached_property
    def mean(self) -> Interval:
        """The mean of the fifteen."""
        return _mean(self.plain[:, :, -1])

    @cached_property
    def mean_chance(self) -> Interval:
        """The mean of chance in the same trials."""
        return _mean(self.chance[:, :, -1])

    def lowest_resampled(self, episodes: int) -> tuple[int, float]:
        """Return number and fitness of the best rule with resampling, after some episodes or at the end."""
        fitness = self.resampled[:, :, self.marks.index(min(episodes, self.episodes))].mean(axis=1)
        return int(np.argmin(fitness)) + 1, float(fitness.min())

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        rows = [
            {
                "rule": row.rule, "paper": row.paper, "ours": row.ours.value, "low": row.ours.low,
                "high": row.ours.high, "p": row.p, "chance": row.chance, "resampled": row.resampled,
                "narrow_t": row.narrow,
            }
            for row in self.rows
        ]  # fmt: skip
        tests = {"fitness_at": self.plain, "chance_at": self.chance, "resampled_at": self.resampled}
        return {
            "episodes": self.episodes,
            "judged": self.judged,
            "rules": rows,
            **asdict(self.here),
            "narrow_t": None if self.in_narrow is None else asdict(self.in_narrow),
            "agree": self.agree if self.judged else None,
            "beat_chance": self.beat_chance,
            "mean": asdict(self.mean),
            "mean_paper": float(in_the_paper().mean()),
            "chance": asdict(self.mean_chance),
            **{
                name: {str(mark): eps[:, :, k].mean(axis=1).tolist() for k, mark in enumerate(self.marks)}
                for name, eps in tests.items()
            },
        }


def _mean(eps: NDArray[Any]) -> Interval:
    return Interval(float(eps.mean()), *rows_interval(eps, lambda drawn: drawn.mean(axis=-1)))
