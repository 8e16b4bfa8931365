"""The inspection of a rule: the rows that it uses, the rows that it needs, and the smallest rule found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    InputError,
    ascending,
    flag,
    instance,
    integer,
    number,
    one_of,
    reading,
    unit_interval,
)
from distal.base.display import html_table, or_dash, short
from distal.base.drawing import axes_or_new, signed
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.base.records import NotNegative, Record, Share
from distal.base.significance import SIGNIFICANT, mean_interval, paired, standard_error
from distal.evaluation import row_figures
from distal.evaluation.result import Result
from distal.evaluation.usage import Usage
from distal.learners import Learner, find_learner, name_of
from distal.learners.dsp import NUMBERS, ROWS, Rule
from distal.networks import LAYERS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

CHANGES = (-1, 0, 1)
SIGNALS: dict[str, Callable[[int], int]] = {  # the row that is used in place of another
    "swapped": lambda row: row ^ 1,
    "always +1": lambda row: row | 1,
    "always -1": lambda row: row & ~1,
}
CRITERION = (
    "rows are set to 0 one after another, the least harmful first; a row stays 0 if the mean paired "
    "difference, the smaller rule minus the whole, is then at most one standard error; fresh trials judge "
    "the outcome, which is not shown to be worse if their 95% interval includes or lies below 0"
)
FINDINGS = (
    "differences: the changed rule minus the rule, in the same trials, with 95% intervals; above 0 is "
    "worse; rows are named where the difference is significant after Holm's correction for 64 tests"
)
WORSE, NOT_WORSE = "shown to be worse", "not shown to be worse"


@dataclass(frozen=True)
class Effect(Record):
    """The effect of a change of the rule on its fitness, in the same trials.

    Attributes:
        fitness: The fitness of the changed rule.
        difference: Its fitness minus the fitness of the whole rule; above 0 is worse.
        standard_error: The standard error of the difference.
        low: The lower end of its 95% interval.
        high: Its upper end.
        p: From the two-sided paired t-test.
    """

    fitness: float
    difference: float
    standard_error: NotNegative
    low: float
    high: float
    p: Share

    @property
    def reach(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    @classmethod
    def of(cls, changed: NDArray[Any], own: NDArray[Any]) -> Effect:
        """Compare the best EPs (trials) of a changed rule with the best EPs of the rule."""
        pairs = changed - own
        low, high = mean_interval(pairs)
        return cls(
            float(changed.mean()), float(pairs.mean()), standard_error(pairs), low, high, paired(changed, own)
        )

    def _check(self) -> None:
        """Refuse an interval that is the wrong way round."""
        ascending(self.low, self.high)


@dataclass(frozen=True)
class Knockout:
    """A row with one of its two other changes.

    Attributes:
        row: The row, 0 to 31.
        change: The new value: 0 or the opposite; −1 or 1 for a row that is 0.
        effect: The effect.
        p: The p-value of the effect, after Holm's correction for the 64 of them.
    """

    row: int
    change: int
    effect: Effect
    p: float

    @property
    def matters(self) -> bool:
        """Whether the change makes a difference, at the level of 0.05 after the correction."""
        return self.p < SIGNIFICANT


@dataclass(frozen=True)
class Smallest:
    """The smallest rule found, by setting rows to 0 one after another.

    It was searched in trials that favour it. Fresh trials test it, and can only show that it is
    worse, or fail to: `verdict` says which, and the interval of `fresh` bounds the loss.

    Attributes:
        rule: The rule.
        removed: The rows that were set to 0, in their order.
        effect: Its comparison with the whole rule, in the trials in which it was found.
        fresh: The same in fresh trials.
        chance: The fitness of chance in the fresh trials.
    """

    rule: Rule
    removed: tuple[int, ...]
    effect: Effect
    fresh: Effect
    chance: float

    @property
    def rows(self) -> tuple[int, ...]:
        """The rows that still change a weight."""
        return tuple(row for row, change in enumerate(self.rule.delta_w) if change)

    @property
    def verdict(self) -> str:
        """Whether fresh trials show it to be worse than the whole rule, by their 95% interval."""
        return WORSE if self.fresh.low > 0 else NOT_WORSE


@dataclass(frozen=True, eq=False)
class Inspection(Frozen):
    """The findings about a rule: its behaviour, and the parts that it needs.

    Attributes:
        rule: The rule.
        result: Its evaluation, with chance.
        usage: The use of each row.
        knockouts: The effects of giving each row each of its two other changes, 64 of them.
        signal: The effects of swapping m, and of holding it at +1 or −1.
        sensitivity: For eta, theta, alpha_h and alpha_o, the effect of some values, in their order.
        smallest: The smallest rule found, and its comparison with the whole rule in fresh trials.
    """

    rule: Rule
    result: Result
    usage: Usage
    knockouts: tuple[Knockout, ...]
    signal: dict[str, Effect]
    sensitivity: dict[str, dict[float, Effect]]
    smallest: Smallest

    def __repr__(self) -> str:
        return (
            f"Inspection({short(name_of(self.rule))}: fitness {self.fitness:z.2f}, "
            f"chance {or_dash(self.result.chance_fitness)}; {len(self.needed)} rows matter, "
            f"{len(self.smallest.rows)} in the smallest rule found)"
        )

    def _repr_html_(self) -> str:
        return html_table(f"{self._asked}; lower EP is better", (), self.findings)

    @property
    def _asked(self) -> str:
        return f"{name_of(self.rule)}: {self.result.size}"

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """The findings, as the rows of a table; `FINDINGS` is its caption."""
        often = np.argsort(-self.usage.rows, kind="stable")[:3]
        zeroed = [one for one in self.knockouts if one.matters and one.change == 0]
        worse = sorted(
            (one for one in zeroed if one.effect.difference > 0), key=lambda one: -one.effect.difference
        )
        better = [one for one in self.knockouts if one.matters and one.effect.difference < 0]
        against, fresh = self.result.difference, self.smallest.fresh
        return (
            ("fitness (mean best EP)", f"{self.fitness:z.2f}"),
            ("chance", or_dash(self.result.chance_fitness)),
            ("p of the difference to chance", or_dash(None if against is None else against.p, ".2g")),
            ("updates with m = +1", f"{self.usage.rewarded:.0%}"),
            ("rows used most", ", ".join(f"{row} ({self.usage.rows[row]:.1%})" for row in often)),
            ("rows never used", listed(self.usage.unused)),
            (
                "rows worse when set to 0",
                listed(f"{one.row} ({one.effect.difference:+z.1f})" for one in worse),
            ),
            (
                "changes that improve it",
                listed(
                    f"{one.row} to {signed(one.change)} ({one.effect.difference:+z.1f})" for one in better
                ),
            ),
            ("rows used, but with no detectable effect", listed(self.idle)),
            *((f"m {name}", spoken(effect)) for name, effect in self.signal.items()),
            ("rows of the smallest rule found", listed(self.smallest.rows)),
            (
                "smallest rule found, fresh trials",
                f"{fresh.fitness:z.2f}, {spoken(fresh)}: {self.smallest.verdict}",
            ),
            ("chance, fresh trials", f"{self.smallest.chance:z.2f}"),
        )

    @property
    def fitness(self) -> float:
        """The mean best EP of the rule; lower is better."""
        return self.result.fitness

    @property
    def needed(self) -> tuple[int, ...]:
        """The rows with a change that makes a difference, after Holm's correction."""
        return tuple(sorted({one.row for one in self.knockouts if one.matters}))

    @property
    def idle(self) -> tuple[int, ...]:
        """The rows used, but with no detectable effect in these trials."""
        return tuple(row for row in range(ROWS) if row not in {*self.needed, *self.usage.unused})

    def knockout(self, row: int, change: int) -> Knockout:
        """Return the effect of giving a row another change."""
        row, change = integer("row", row, 0, ROWS - 1), integer("change", change, -1, 1)
        if change == self.rule.delta_w[row]:
            raise InputError(f"change is {change}, which row {row} has; give another")
        return next(one for one in self.knockouts if (one.row, one.change) == (row, change))

    def to_frame(self, what: str = "rows") -> DataFrame:
        """Return a pandas DataFrame: a row for each row of the rule, or ("knockouts") for each knockout."""
        if one_of("what", what, ("rows", "knockouts")) == "knockouts":
            return frame_of_rows([_knockout_row(one) for one in self.knockouts])
        rows = np.arange(ROWS)
        effects = {(one.row, one.change): one.effect.difference for one in self.knockouts}
        return frame(
            {
                "row": rows,
                **{f"b{name:02b}": rows >> (4 - name) & 1 for name in range(4)},
                "m": rows % 2 * 2 - 1,
                "delta_w": np.array(self.rule.delta_w),
                "use": self.usage.rows,
                **{
                    f"set_to_{word}": [effects.get((row, change), np.nan) for row in range(ROWS)]
                    for change, word in zip(CHANGES, ("minus", "zero", "plus"), strict=True)
                },
                "matters": np.isin(rows, self.needed),
                "in_smallest": np.isin(rows, self.smallest.rows),
            }
        )

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return all numbers and every setting that made them, ready for JSON.

        With `curves`, also the best EPs of every trial and episode: all that `from_dict` needs.
        """
        own = self.result.to_dict(flag("curves", curves))
        smallest = self.smallest
        left_out = () if curves else ("best", "behaviour")
        return {
            **{name: value for name, value in own.items() if name not in left_out},
            "usage": self.usage.to_dict(),
            "knockouts": [_knockout_row(one) for one in self.knockouts],
            "needed": list(self.needed),
            "idle": list(self.idle),
            "signal": {name: effect.to_dict() for name, effect in self.signal.items()},
            "sensitivity": {
                name: [{"value": value, **effect.to_dict()} for value, effect in points.items()]
                for name, points in self.sensitivity.items()
            },
            "smallest": {
                "criterion": CRITERION,
                "verdict": smallest.verdict,
                "rule": smallest.rule.to_dict(),
                "rows": list(smallest.rows),
                "removed": list(smallest.removed),
                "found": smallest.effect.to_dict(),
                "fresh": smallest.fresh.to_dict(),
                "chance": smallest.chance,
            },
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict(curves=True)`; a task other than a maze is only described."""
        given = instance("data", data, dict, "the result of Inspection.to_dict(curves=True)")
        with reading("an inspection"):
            result = Result.from_dict(given)
            knockouts = tuple(
                Knockout(
                    integer("row", one["row"], 0, ROWS - 1), integer("change", one["change"], -1, 1),
                    Effect.from_dict(one), unit_interval("p_holm", one["p_holm"]),
                )
                for one in given["knockouts"]
            )  # fmt: skip
            rule = checked_rule(result.learner)
            if sorted((one.row, one.change) for one in knockouts) != other_changes(rule):
                raise InputError("knockouts does not have the two other changes of each row")
            return cls(
                rule,
                result,
                Usage.from_dict(given["usage"]),
                knockouts,
                {name: Effect.from_dict(given["signal"][name]) for name in SIGNALS},
                {
                    name: {
                        unit_interval("value", one["value"]): Effect.from_dict(one)
                        for one in given["sensitivity"][name]
                    }
                    for name in NUMBERS
                },
                _read_smallest(given["smallest"]),
            )

    def summary(self) -> str:
        """Return the findings in a few lines of text."""
        return "\n".join([self._asked, *(f"{about}: {finding}" for about, finding in self.findings)])

    def plot(self, what: str = "usage", ax: Axes | None = None) -> Axes:
        """Draw a part of the inspection.

        Args:
            what: "usage" (share of the updates by row and layer), "knockouts" (the effect of each
                row's other changes), or "eta", "theta", "alpha_h" or "alpha_o" (the fitness for its
                values).
            ax: Where to draw; on a new figure if left out.
        """
        what = one_of("what", what, ("usage", "knockouts", *NUMBERS))
        on = axes_or_new(ax, 5, 6)
        if what == "usage":
            row_figures.usage(on, self.usage.counts.sum(axis=0), LAYERS)
        elif what == "knockouts":
            row_figures.knockouts(
                on,
                [(one.row, one.change, one.effect.difference, one.effect.low, one.effect.high, one.matters)
                 for one in self.knockouts if one.row not in self.usage.unused],
            )  # fmt: skip
        else:
            points = [
                (value, one.difference, one.low, one.high) for value, one in self.sensitivity[what].items()
            ]
            own, chance = getattr(self.rule, what), self.result.chance_fitness
            row_figures.sensitivity(on, what, own, self.fitness, points, chance)
        if ax is None and what != "knockouts":  # which has one; on axes of the user's, `ax.legend()` adds it
            on.legend(fontsize=8)
        return on


def _knockout_row(one: Knockout) -> dict[str, Any]:
    """Return a knockout as a row of JSON and of a frame."""
    return {
        "row": one.row, "change": one.change, **one.effect.to_dict(), "p_holm": one.p, "matters": one.matters,
    }  # fmt: skip


def other_changes(rule: Rule) -> list[tuple[int, int]]:
    """Return each row with each change that it does not have."""
    return [(row, change) for row in range(ROWS) for change in CHANGES if change != rule.delta_w[row]]


def _read_smallest(given: Mapping[str, Any]) -> Smallest:
    """Read the smallest rule from the JSON of an inspection."""
    return Smallest(
        Rule.from_dict(given["rule"]),
        tuple(integer("removed", row, 0, ROWS - 1) for row in given["removed"]),
        Effect.from_dict(given["found"]),
        Effect.from_dict(given["fresh"]),
        number("chance", given["chance"]),
    )


def checked_rule(given: Learner | str | Path) -> Rule:
    """Return a rule, or the rule of a name; other learners have no rows and are refused."""
    learner = find_learner(given)
    if not isinstance(learner, Rule):
        raise InputError(
            f"{name_of(learner)!r} is not a rule, so it has no rows to inspect; give one such as evolved:1"
        )
    return learner


def listed(some: Iterable[object]) -> str:
    """Return numbers or names as a list in text, or "none"."""
    return ", ".join(map(str, some)) or "none"


def spoken(effect: Effect) -> str:
    """Write an effect: the difference and its interval."""
    return f"{effect.difference:+z.2f} ({effect.low:+z.2f} to {effect.high:+z.2f})"
