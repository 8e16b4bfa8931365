"""Look into a rule: which rows it uses, which it needs, and how much of it could go.

Every question is one about fitness. The rule and each change of it run the same trials, so
every difference is paired. `inspect` asks them all and returns an `Inspection`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from inspect import signature
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal.base.checks import (
    InputError,
    ascending,
    counted,
    flag,
    instance,
    integer,
    not_negative,
    number,
    one_of,
    reading,
    unit_interval,
)
from distal.base.display import html_table, or_dash, short
from distal.base.drawing import axes_or_new, signed
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.base.significance import SIGNIFICANT, holm, mean_interval, paired, standard_error
from distal.engines import Progress, Runner
from distal.engines.batch import batch_of
from distal.evaluation import row_figures
from distal.evaluation.learn import learn
from distal.evaluation.result import Result
from distal.evaluation.usage import LAYERS, Usage, count_usage
from distal.learners import Learner, chance_for, find_learner, name_of
from distal.learners.dsp import NUMBERS, ROWS, Rule
from distal.model.draws import MAX_COUNT, child_seed
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.tasks.sources import AnyTask, chosen_task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

CHANGES = (-1, 0, 1)
_SIGNALS: dict[str, Callable[[int], int]] = {  # which row is used in place of one
    "swapped": lambda row: row ^ 1,
    "always +1": lambda row: row | 1,
    "always -1": lambda row: row & ~1,
}
_FRESH = 1  # the part of the seed's work that measures the smallest rule; trials are parts of number 0
_AT_ONCE = 2**18  # trials in a batch
CRITERION = (
    "rows are set to 0 one after another, the least harmful first; a row stays 0 if the mean paired "
    "difference, the smaller rule minus the whole, is then at most one standard error"
)
FINDINGS = (
    "differences are the changed rule minus the rule in the same trials, with 95 % intervals: above 0 is "
    "worse; named are rows whose difference holds after Holm's correction for 64 tests"
)


@dataclass(frozen=True)
class Effect:
    """What a change of the rule does to its fitness, in the same trials.

    Attributes:
        fitness: The fitness of the changed rule.
        difference: That minus the fitness of the rule itself; above 0 is worse.
        standard_error: The standard error of the difference.
        low: The lower end of its 95 % interval.
        high: Its upper end.
        p: From the two-sided paired t-test.
    """

    fitness: float
    difference: float
    standard_error: float
    low: float
    high: float
    p: float

    @classmethod
    def of(cls, changed: NDArray[Any], own: NDArray[Any]) -> Effect:
        """Compare the best EPs (trials) of a changed rule with those of the rule."""
        pairs = changed - own
        low, high = mean_interval(pairs)
        return cls(
            float(changed.mean()), float(pairs.mean()), standard_error(pairs), low, high, paired(changed, own)
        )

    @classmethod
    def _read(cls, given: Mapping[str, Any]) -> Effect:
        """Read what `asdict` returns."""
        ranges = {"standard_error": not_negative, "p": unit_interval}
        found = cls(
            **{one.name: ranges.get(one.name, number)(one.name, given[one.name]) for one in fields(cls)}
        )
        ascending(found.low, found.high)
        return found


@dataclass(frozen=True)
class Knockout:
    """A row that is given one of its two other changes.

    Attributes:
        row: The row, 0 to 31.
        change: What it is set to: 0 or the opposite; −1 or 1 for a row that is 0.
        effect: What that does.
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
    """The rule that is left when rows are set to 0 for as long as it does as well.

    Attributes:
        rule: The rule.
        removed: The rows that were set to 0, in their order.
        effect: It against the whole rule, in the trials in which it was found.
        fresh: The same in fresh trials, which say whether it does as well.
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


@dataclass(frozen=True, eq=False)
class Inspection(Frozen):
    """What a rule does, and which of its parts it needs.

    Attributes:
        rule: The rule.
        result: Its evaluation, with chance beside it.
        usage: How often each row is used.
        knockouts: What each row does when it is given each of its two other changes, 64 of them.
        signal: What becomes of the rule if m is swapped, always +1, or always −1.
        sensitivity: For eta, theta, alpha_h and alpha_o, the effect of some values, in their order.
        smallest: The smallest rule that does as well.
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
            f"Inspection({short(name_of(self.rule))}: fitness {self.fitness:.2f}, "
            f"chance {or_dash(self._chance)}; {len(self.needed)} rows matter, "
            f"{len(self.smallest.rows)} in the smallest rule)"
        )

    def _repr_html_(self) -> str:
        return html_table(f"{self._asked}; lower EP is better", (), self.findings)

    @property
    def _asked(self) -> str:
        trials, episodes = len(self.result.best), self.result.episodes
        return f"{name_of(self.rule)}: {counted(trials, 'trial')} of {counted(episodes, 'episode')}"

    @property
    def findings(self) -> tuple[tuple[str, str], ...]:
        """What was found, as the rows of a table; `FINDINGS` is its caption."""
        often = np.argsort(-self.usage.rows, kind="stable")[:3]
        zeroed = [one for one in self.knockouts if one.matters and one.change == 0]
        worse = sorted(
            (one for one in zeroed if one.effect.difference > 0), key=lambda one: -one.effect.difference
        )
        better = [one for one in self.knockouts if one.matters and one.effect.difference < 0]
        against, fresh = self.result.difference, self.smallest.fresh
        return (
            ("fitness (mean best EP)", f"{self.fitness:.2f}"),
            ("chance", or_dash(self._chance)),
            ("p of the difference to chance", or_dash(None if against is None else against.p, ".2g")),
            ("updates with m = +1", f"{self.usage.rewarded:.0%}"),
            ("rows used most", ", ".join(f"{row} ({self.usage.rows[row]:.1%})" for row in often)),
            ("rows never used", listed(self.usage.unused)),
            ("rows worse at 0", listed(f"{one.row} ({one.effect.difference:+.1f})" for one in worse)),
            (
                "changes for the better",
                listed(f"{one.row} to {signed(one.change)} ({one.effect.difference:+.1f})" for one in better),
            ),
            ("rows used, no change shows", listed(self.idle)),
            *((f"m {name}", spoken(effect)) for name, effect in self.signal.items()),
            ("rows of the smallest rule", listed(self.smallest.rows)),
            ("smallest rule, fresh trials", f"{fresh.fitness:.2f}, {spoken(fresh)}"),
            ("chance, fresh trials", f"{self.smallest.chance:.2f}"),
        )

    @property
    def _chance(self) -> float | None:
        return None if self.result.chance is None else self.result.chance.fitness

    @property
    def fitness(self) -> float:
        """The mean best EP of the rule; lower is better."""
        return self.result.fitness

    @property
    def needed(self) -> tuple[int, ...]:
        """The rows of which a change makes a difference, after Holm's correction."""
        return tuple(sorted({one.row for one in self.knockouts if one.matters}))

    @property
    def idle(self) -> tuple[int, ...]:
        """The rows that are used, and of which no change makes a difference that these trials show."""
        return tuple(row for row in range(ROWS) if row not in {*self.needed, *self.usage.unused})

    def knockout(self, row: int, change: int) -> Knockout:
        """Return what a row does when it is given another change."""
        row, change = integer("row", row, 0, ROWS - 1), integer("change", change, -1, 1)
        if change == self.rule.delta_w[row]:
            raise InputError(f"change is {change}, which row {row} has; give another")
        return next(one for one in self.knockouts if (one.row, one.change) == (row, change))

    def to_frame(self, what: str = "rows") -> DataFrame:
        """Return a pandas DataFrame: one row for each row of the rule, or, for "knockouts", each of them."""
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
            "signal": {name: asdict(effect) for name, effect in self.signal.items()},
            "sensitivity": {
                name: [{"value": value, **asdict(effect)} for value, effect in points.items()]
                for name, points in self.sensitivity.items()
            },
            "smallest": {
                "criterion": CRITERION,
                "rule": smallest.rule.to_dict(),
                "rows": list(smallest.rows),
                "removed": list(smallest.removed),
                "found": asdict(smallest.effect),
                "fresh": asdict(smallest.fresh),
                "chance": smallest.chance,
            },
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read what `to_dict(curves=True)` returns; a task other than a maze is only described."""
        given = instance("data", data, dict, "what Inspection.to_dict(curves=True) returns")
        with reading("an inspection"):
            result = Result.from_dict(given)
            knockouts = tuple(
                Knockout(
                    integer("row", one["row"], 0, ROWS - 1), integer("change", one["change"], -1, 1),
                    Effect._read(one), unit_interval("p_holm", one["p_holm"]),
                )
                for one in given["knockouts"]
            )  # fmt: skip
            rule = checked_rule(result.learner)
            if sorted((one.row, one.change) for one in knockouts) != _other_changes(rule):
                raise InputError("knockouts does not have the two other changes of each row")
            return cls(
                rule,
                result,
                Usage.from_dict(given["usage"]),
                knockouts,
                {name: Effect._read(given["signal"][name]) for name in _SIGNALS},
                {
                    name: {
                        unit_interval("value", one["value"]): Effect._read(one)
                        for one in given["sensitivity"][name]
                    }
                    for name in NUMBERS
                },
                _read_smallest(given["smallest"]),
            )

    def summary(self) -> str:
        """Return what was found in a few lines of text."""
        return "\n".join([self._asked, *(f"{about}: {told}" for about, told in self.findings)])

    def plot(self, what: str = "usage", ax: Axes | None = None) -> Axes:
        """Draw a part of the inspection.

        Args:
            what: "usage" (share of the updates by row and layer), "knockouts" (what each row's
                other changes do), or "eta", "theta", "alpha_h" or "alpha_o" (fitness along it).
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes.

        Raises:
            InputError: If there is no such part, or `ax` is no Matplotlib Axes.
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
            points = self.sensitivity[what]
            chance = None if self.result.chance is None else self.result.chance.fitness
            row_figures.sensitivity(
                on, what, getattr(self.rule, what), self.fitness,
                [(value, one.difference, one.low, one.high) for value, one in points.items()], chance,
            )  # fmt: skip
        if ax is None and what != "knockouts":  # which has one; on axes of the user's, `ax.legend()` adds it
            on.legend(fontsize=8)
        return on


def _knockout_row(one: Knockout) -> dict[str, Any]:
    """Return what JSON and a frame say of a knockout."""
    return {
        "row": one.row, "change": one.change, **asdict(one.effect), "p_holm": one.p, "matters": one.matters,
    }  # fmt: skip


def _other_changes(rule: Rule) -> list[tuple[int, int]]:
    """Return each row with each change that it does not have."""
    return [(row, change) for row in range(ROWS) for change in CHANGES if change != rule.delta_w[row]]


def _read_smallest(given: Mapping[str, Any]) -> Smallest:
    """Read what the JSON of an inspection says of the smallest rule."""
    return Smallest(
        Rule.from_dict(given["rule"]),
        tuple(integer("removed", row, 0, ROWS - 1) for row in given["removed"]),
        Effect._read(given["found"]),
        Effect._read(given["fresh"]),
        number("chance", given["chance"]),
    )


def listed(some: Iterable[object]) -> str:
    """Write row numbers and the like, or that there are none."""
    return ", ".join(map(str, some)) or "none"


def spoken(effect: Effect) -> str:
    """Write an effect: the difference and its interval."""
    return f"{effect.difference:+.2f} ({effect.low:+.2f} to {effect.high:+.2f})"


def _with_changes(rule: Rule, changes: Iterable[int]) -> Rule:
    """Return a rule with other changes."""
    return replace(rule, delta_w=list(changes))


def with_row(rule: Rule, row: int, change: int) -> Rule:
    """Return a rule with another change in one row."""
    return _with_changes(rule, (change if k == row else d for k, d in enumerate(rule.delta_w)))


def points(value: float) -> list[float]:
    """Return the values that are tried around one, which is among them: from 0 to 1, dense near it."""
    around = [factor * value for factor in (0.25, 0.5, 1, 2, 4)] if value else [0.25, 0.5, 0.75]
    return sorted({0.0, *(one for one in around if one < 1), value, 1.0})


def evaluations(rule: Rule) -> int:
    """Return how many evaluations the inspection of a rule takes, for a display of progress."""
    numbers = sum(len(points(getattr(rule, name))) for name in NUMBERS)
    shrinking = sum(change != 0 for change in rule.delta_w)
    own, fresh, usage = 2, 3, 1
    return own + usage + 2 * ROWS + len(_SIGNALS) + numbers + shrinking + fresh


def checked_rule(given: object) -> Rule:
    """Return a rule, or the one that a name stands for; other learners have no rows and are refused."""
    learner = find_learner(given)
    if not isinstance(learner, Rule):
        raise InputError(
            f"{name_of(learner)!r} is no rule, and has no rows to inspect; give one such as evolved:1"
        )
    return learner


def check_updates(episodes: int, resample: int | None) -> None:
    """Refuse trials in which no rule is ever applied."""
    integer("episodes", episodes, 2, MAX_COUNT)
    if resample is not None:
        integer("resample", resample, 2, MAX_COUNT)


def inspect(
    rule: Rule | str | Path,
    *,
    task: AnyTask = None,
    episodes: int = 100,
    trials: int = 50,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Inspection:
    """Look into a rule: what it uses, what it needs, and how much of it could go.

    It takes about 130 evaluations, all in the same trials. In a maze or another table that is
    a few seconds; elsewhere ask for few trials.

    Args:
        rule: A Rule, or a name: "paper:1" … "paper:15", "evolved:1" … "evolved:15",
            "champion:1" and so on, or the path of a rule's file.
        task: What is to be learned, as in `learn`; the triple T-maze if left out.
        episodes: Episodes in each trial, two or more.
        trials: Trials for each goal; two in all, or more.
        resample: Draw fresh weights after this many episodes, two or more.
        seed: The seed of all random numbers.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call.
        **settings: As in `Settings`.

    Returns:
        What was found.

    Raises:
        InputError: If an argument is wrong, or the learner is no rule.
    """
    rule = checked_rule(rule)
    Settings.of(settings, tuple(signature(inspect).parameters))
    check_updates(episodes, resample)
    chosen = chosen_task(task, maze)
    if integer("trials", trials, 1, MAX_COUNT) * len(chosen.goals) < 2:
        raise InputError("trials is 1 in a task of one goal, expected 2 or more: differences need pairs")
    runner = Runner.of(engine)
    result = learn(
        rule, task=chosen, episodes=episodes, trials=trials, resample=resample, seed=seed, engine=runner,
        progress=progress, **settings,
    )  # fmt: skip
    trying = _Trying(result, runner, progress)
    usage = count_usage(trying.batch([rule], result.seed, record=None), result.engine, progress)
    knockouts = _knockouts(trying)
    named = {
        name: _with_changes(rule, (rule.delta_w[of(k)] for k in range(ROWS))) for name, of in _SIGNALS.items()
    }
    return Inspection(
        rule=rule,
        result=result,
        usage=usage,
        knockouts=knockouts,
        signal=dict(zip(named, trying.effects(list(named.values())), strict=True)),
        sensitivity={name: _along(trying, name) for name in NUMBERS},
        smallest=_smallest(trying, knockouts),
    )


@dataclass(frozen=True, eq=False)
class _Trying:
    """The trials in which changes of a rule are tried: those of its own evaluation."""

    result: Result
    runner: Runner
    progress: Progress | None

    @property
    def rule(self) -> Rule:
        return instance("rule", self.result.learner, Rule, "a Rule")

    def batch(self, learners: Sequence[Learner], seed: int, record: tuple[int, ...] | None) -> engines.Batch:
        result = self.result
        return batch_of(
            learners, np.full(len(learners), seed, np.uint64), trials=result.trials, episodes=result.episodes,
            task=result.task, settings=result.settings, resample=result.resample, record=record,
        )  # fmt: skip

    def finals(self, learners: Sequence[Learner], seed: int) -> NDArray[Any]:
        """Return the best EP of every trial, (learners, trials), in batches of some size."""
        trials = len(self.result.best)
        some = max(1, _AT_ONCE // trials)
        parts = [learners[first : first + some] for first in range(0, len(learners), some)]
        best = []
        for part in parts:
            batch = self.batch(part, seed, (self.result.episodes,))
            best.append(self.runner.run(batch, progress=self.progress).best[:, -1])
        return np.concatenate(best).reshape(len(learners), trials)

    def effects(self, rules: Sequence[Rule]) -> list[Effect]:
        """Return what rules do in place of the rule itself."""
        return [Effect.of(one, self.result.final) for one in self.finals(rules, self.result.seed)]


def _knockouts(trying: _Trying) -> tuple[Knockout, ...]:
    """Give every row its two other changes."""
    own = trying.rule.delta_w
    asked = [(row, change) for row in range(ROWS) for change in CHANGES if change != own[row]]
    effects = trying.effects([with_row(trying.rule, row, change) for row, change in asked])
    corrected = holm([effect.p for effect in effects])
    return tuple(
        Knockout(row, change, effect, p)
        for (row, change), effect, p in zip(asked, effects, corrected, strict=True)
    )


def _along(trying: _Trying, name: str) -> dict[float, Effect]:
    """Give one of the rule's numbers other values."""
    values = points(getattr(trying.rule, name))
    changed: list[Any] = [{name: value} for value in values]
    effects = trying.effects([replace(trying.rule, **change) for change in changed])
    return dict(zip(values, effects, strict=True))


def _smallest(trying: _Trying, knockouts: Sequence[Knockout]) -> Smallest:
    """Set rows to 0 one after another (see `CRITERION`), and measure what is left in fresh trials."""
    zeroed = [one for one in knockouts if one.change == 0]
    removed: list[int] = []
    rule, effect = trying.rule, Effect.of(trying.result.final, trying.result.final)
    for one in sorted(zeroed, key=lambda one: (one.effect.difference, one.row)):
        smaller = with_row(rule, one.row, 0)
        (found,) = trying.effects([smaller])
        if found.difference <= found.standard_error:
            rule, effect = smaller, found
            removed.append(one.row)
    whole = trying.rule
    seed = child_seed(trying.result.seed, 0, 0, _FRESH)
    small, own = trying.finals([rule, whole], seed)
    (chance,) = trying.finals([chance_for(whole)], seed)
    name = f"{whole.name}, {ROWS - rule.delta_w.count(0)} rows" if whole.name else ""
    return Smallest(rule.named(name), tuple(removed), effect, Effect.of(small, own), float(chance.mean()))
