"""Run an inspection: a rule and each change of it, in the same trials, so every difference is paired."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, shown
from distal.base.progress import checked, followed
from distal.base.significance import holm
from distal.engines import Asked, Progress, Runner, pace
from distal.evaluation.inspection import (
    SIGNALS,
    Effect,
    Inspection,
    Knockout,
    Smallest,
    checked_rule,
    other_changes,
)
from distal.evaluation.learn import evaluated
from distal.evaluation.result import Result
from distal.evaluation.rule_set import RuleSet, clustered, consensus, distances, find_rules
from distal.evaluation.trials import Conditions
from distal.evaluation.usage import Usage, count_usage
from distal.learners import Learner, chance_for
from distal.learners.dsp import NUMBERS, ROWS, Rule
from distal.model.draws import child_seed
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.tasks.sources import AnyTask

_FRESH = 1  # the part of the seed's work that measures the smallest rule; trials are parts of number 0
_AT_ONCE = 2**18  # trials in a batch


@dataclass(frozen=True, eq=False)
class InspectionPlan:
    """The inspection of a rule, or of what several have in common: all that was asked for has been checked.

    Attributes:
        rules: The rules.
        conditions: The conditions.
    """

    rules: tuple[Rule, ...]
    conditions: Conditions

    @classmethod
    def of(cls, rules: Sequence[Rule], settings: SettingsDict, **asked: Any) -> Self:
        """Check what `inspect` and `inspect_set` are given; `asked` is what `Conditions.of` takes besides.

        Raises:
            InputError: If an argument is wrong, or the curves would not fit in memory.
        """
        conditions = Conditions.of(settings, inspect, **asked, fewest=2)  # no rule is applied in one episode
        if len(rules) == 1 and conditions.count < 2:
            raise InputError("trials is 1 in a task of one goal, expected 2 or more: differences need pairs")
        conditions.check_memory(curves=2)
        return cls(tuple(rules), conditions)

    @property
    def episodes(self) -> int:
        """The episodes of all trials."""
        evaluations = 3 * len(self.rules)
        if len(self.rules) == 1:
            (rule,) = self.rules
            numbers = sum(len(points(getattr(rule, name))) for name in NUMBERS)
            shrinking = sum(change != 0 for change in rule.delta_w)
            own, fresh, usage = 2, 3, 1
            evaluations = own + usage + 2 * ROWS + len(SIGNALS) + numbers + shrinking + fresh
        return evaluations * self.conditions.count * self.conditions.episodes

    def run(self, runner: Runner, progress: Progress | bool | None = None) -> Inspection | RuleSet:
        """Look into the rule, or into the rules.

        Args:
            runner: Who runs the trials.
            progress: As in `inspect`.
        """
        batch = self.conditions.batch(self.rules[:1])
        expected = partial(pace.expected, batch, self.episodes, runner.suited(batch))
        with followed(progress, "inspecting", self.episodes, expected) as hear:
            return self._found(runner, hear)

    def _found(self, runner: Runner, progress: Progress | None) -> Inspection | RuleSet:
        """Run the trials, tell of them, and return what was found."""
        evaluations = [self._evaluation(rule, runner, progress) for rule in self.rules]
        if len(self.rules) == 1:
            return _inspected(*evaluations[0], runner, progress)
        results, usages = zip(*evaluations, strict=True)
        table = np.array([rule.delta_w for rule in self.rules])
        use = np.array([usage.rows for usage in usages])
        mean, agreement = consensus(table, use)
        apart = distances(table, use)
        clusters, order = clustered(apart)
        return RuleSet(self.rules, results, usages, use.mean(axis=0), mean, agreement, apart, clusters, order)

    def _evaluation(self, rule: Rule, runner: Runner, progress: Progress | None) -> tuple[Result, Usage]:
        """Evaluate a rule, and chance beside it, and count which rows it uses."""
        batch, asked = self.conditions.batch([rule]), Asked(progress=progress)
        own, chance = (
            evaluated(one, self.conditions, runner.suited(one), asked)
            for one in (batch, replace(batch, learners=(chance_for(rule),)))
        )
        usage = count_usage(batch, own.engine, progress)
        return replace(own, chance=chance), usage


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
    progress: Progress | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Inspection:
    """Look inside a rule: the rows it uses, the rows it needs, and the smallest rule found.

    It takes about 130 evaluations, all in the same trials. In a maze or another table that is
    a few seconds; elsewhere ask for few trials.

    Args:
        rule: A Rule, or a name: "paper:1" … "paper:15", "evolved:1" … "evolved:15",
            "champion:1" and so on, or the path of a rule's file.
        task: The task, as in `learn`; the triple T-maze if left out.
        episodes: Episodes in each trial, two or more.
        trials: Trials for each goal; two in all, or more.
        resample: Draw fresh weights after this many episodes, two or more.
        seed: The seed of all random numbers.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call. If left out, a terminal
            shows the progress; False shows nothing.
        **settings: As in `Settings`.

    Returns:
        The findings.

    Raises:
        InputError: If an argument is wrong, or the learner is not a rule.
    """
    checked(progress)
    plan = InspectionPlan.of(
        [checked_rule(rule)], settings, task=task, maze=maze, episodes=episodes, trials=trials,
        resample=resample, seed=seed,
    )  # fmt: skip
    found = plan.run(Runner.of(engine), progress)
    assert isinstance(found, Inspection)  # noqa: S101 - for the type checker: of one rule
    return found


def inspect_set(
    rules: object,
    *,
    task: AnyTask = None,
    episodes: int = 100,
    trials: int = 50,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> RuleSet:
    """Find the common features of several rules.

    Args:
        rules: Two rules or more: "paper", "evolved", "champion", a folder that `evolve` wrote, or a
            list of rules, names and files.
        task: As in `inspect`, like all that follow.
        episodes: Episodes in each trial.
        trials: Trials for each goal; one is enough.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call. If left out, a terminal
            shows the progress; False shows nothing.
        **settings: As in `Settings`.

    Returns:
        The findings.

    Raises:
        InputError: If an argument is wrong, or there are fewer than two rules.
    """
    checked(progress)
    found = find_rules(rules)
    if len(found) < 2:
        raise InputError(f"rules is {shown(rules)}, expected two rules or more; inspect takes one")
    plan = InspectionPlan.of(
        found, settings, task=task, maze=maze, episodes=episodes, trials=trials, resample=resample, seed=seed,
    )  # fmt: skip
    rule_set = plan.run(Runner.of(engine), progress)
    assert isinstance(rule_set, RuleSet)  # noqa: S101 - for the type checker: of several rules
    return rule_set


# ------------------------------------------------------------------ changes of a rule


def with_row(rule: Rule, row: int, change: int) -> Rule:
    """Return a rule with another change in one row."""
    return replace(rule, delta_w=[change if k == row else own for k, own in enumerate(rule.delta_w)])


def points(value: float) -> list[float]:
    """Return the values that are tried around one, which is among them: from 0 to 1, dense near it."""
    around = [factor * value for factor in (0.25, 0.5, 1, 2, 4)] if value else [0.25, 0.5, 0.75]
    return sorted({0.0, *(one for one in around if one < 1), value, 1.0})


def _inspected(result: Result, usage: Usage, runner: Runner, progress: Progress | None) -> Inspection:
    """Try the changes of a rule in the trials of its own evaluation."""
    rule, conditions = result.learner, result.conditions
    assert isinstance(rule, Rule)  # noqa: S101 - for the type checker; the plan has rules alone

    def finals(learners: Sequence[Learner], seed: int) -> NDArray[Any]:
        """Return the best EP of every trial, (learners, trials), in batches of some size."""
        some = max(1, _AT_ONCE // conditions.count)
        best = []
        for first in range(0, len(learners), some):
            part = learners[first : first + some]
            batch = conditions.batch(part, seed=seed, record=(conditions.episodes,))
            best.append(runner.run(batch, progress=progress).best[:, -1])
        return np.concatenate(best).reshape(len(learners), -1)

    def effects(rules: Iterable[Rule]) -> list[Effect]:
        return [Effect.of(one, result.final) for one in finals(list(rules), conditions.seed)]

    asked = other_changes(rule)
    knocked = effects(with_row(rule, *one) for one in asked)
    corrected = holm([effect.p for effect in knocked])
    knockouts = tuple(
        Knockout(row, change, effect, p)
        for (row, change), effect, p in zip(asked, knocked, corrected, strict=True)
    )
    signals = effects(
        replace(rule, delta_w=[rule.delta_w[of(k)] for k in range(ROWS)]) for of in SIGNALS.values()
    )
    sensitivity = {}
    for name in NUMBERS:
        values = points(getattr(rule, name))
        along = effects(replace(rule, **{name: value}) for value in values)  # type: ignore[arg-type]
        sensitivity[name] = dict(zip(values, along, strict=True))
    return Inspection(
        rule=rule,
        result=result,
        usage=usage,
        knockouts=knockouts,
        signal=dict(zip(SIGNALS, signals, strict=True)),
        sensitivity=sensitivity,
        smallest=_smallest(rule, result, knockouts, effects, finals),
    )


def _smallest(
    whole: Rule,
    result: Result,
    knockouts: Sequence[Knockout],
    effects: Callable[[Iterable[Rule]], list[Effect]],
    finals: Callable[[Sequence[Learner], int], NDArray[Any]],
) -> Smallest:
    """Set rows to 0 one after another (see `CRITERION`), and measure what is left in fresh trials."""
    zeroed = [one for one in knockouts if one.change == 0]
    removed: list[int] = []
    rule, effect = whole, Effect.of(result.final, result.final)
    for one in sorted(zeroed, key=lambda one: (one.effect.difference, one.row)):
        smaller = with_row(rule, one.row, 0)
        (found,) = effects([smaller])
        if found.difference <= found.standard_error:
            rule, effect = smaller, found
            removed.append(one.row)
    seed = child_seed(result.seed, 0, 0, _FRESH)
    small, own = finals([rule, whole], seed)
    (chance,) = finals([chance_for(whole)], seed)
    name = f"{whole.name}, {ROWS - rule.delta_w.count(0)} rows" if whole.name else ""
    return Smallest(rule.named(name), tuple(removed), effect, Effect.of(small, own), float(chance.mean()))
