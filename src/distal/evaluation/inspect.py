"""Inspect rules: a rule and each of its changes in the same trials, or several rules side by side."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, shown
from distal.base.progress import followed
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
from distal.evaluation.result import Result, result_of
from distal.evaluation.rule_set import RuleSet, find_rules
from distal.evaluation.trials import Conditions, tell_ignored
from distal.evaluation.usage import Usage, count_usage
from distal.learners import Learner, chance_for
from distal.learners.dsp import NUMBERS, ROWS, Rule
from distal.model.draws import child_seed
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.tasks.sources import AnyTask

_FRESH = 1  # the part of the seed's work that measures the smallest rule; trials are parts of number 0
_AT_ONCE = 2**18  # trials in a batch


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
    whole = checked_rule(rule)
    conditions = Conditions.of(
        settings, inspect, task=task, maze=maze, episodes=episodes, trials=trials,
        resample=resample, seed=seed, fewest=2,
    )  # fmt: skip
    if conditions.count < 2:
        raise InputError("trials is 1 in a task of one goal, expected 2 or more: differences need pairs")
    tell_ignored(settings, [whole], conditions.task)
    numbers = sum(len(points(getattr(whole, name))) for name in NUMBERS)
    shrinking = sum(change != 0 for change in whole.delta_w)
    own, fresh, usage = 2, 3, 1
    evaluations = own + usage + 2 * ROWS + len(SIGNALS) + numbers + shrinking + fresh
    with _followed(whole, conditions, evaluations, engine, progress) as (runner, hear):
        result, used = _evaluated(whole, conditions, runner, hear)
        return _inspected(whole, used, _PairedTrials(result, runner, hear))


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
    found = find_rules(rules)
    if len(found) < 2:
        raise InputError(f"rules is {shown(rules)}, expected two rules or more; inspect takes one")
    conditions = Conditions.of(
        settings, inspect, task=task, maze=maze, episodes=episodes, trials=trials,
        resample=resample, seed=seed, fewest=2,
    )  # fmt: skip
    tell_ignored(settings, found, conditions.task)
    with _followed(found[0], conditions, 3 * len(found), engine, progress) as (runner, hear):
        pairs = [_evaluated(rule, conditions, runner, hear) for rule in found]
    return RuleSet(found, *zip(*pairs, strict=True))


@contextmanager
def _followed(
    rule: Rule,
    conditions: Conditions,
    evaluations: int,
    engine: str | Runner | None,
    progress: Progress | bool | None,
) -> Iterator[tuple[Runner, Progress | None]]:
    """Yield the runner of some evaluations, and the listener for their episodes."""
    conditions.check_memory(curves=2)
    runner, batch = Runner.of(engine), conditions.batch([rule])
    promised = evaluations * conditions.count * conditions.episodes
    expected = partial(pace.expected, batch, promised, runner.suited(batch))
    with followed(progress, "inspecting", promised, expected) as hear:
        yield runner, hear


def _evaluated(
    rule: Rule, conditions: Conditions, runner: Runner, progress: Progress | None
) -> tuple[Result, Usage]:
    """Evaluate a rule with chance, and count the use of its rows."""
    batch, results = conditions.batch([rule]), []
    for learner in (rule, chance_for(rule)):
        trials = replace(batch, learners=(learner,))
        suited = runner.suited(trials)
        outcome = suited.trials(trials, Asked(progress=progress))
        results.append(result_of(conditions, learner, suited, outcome))
    own, chance = results
    return replace(own, chance=chance), count_usage(batch, own.engine, progress)


# ------------------------------------------------------------------ changes of a rule


def with_row(rule: Rule, row: int, change: int) -> Rule:
    """Return a rule with another change in one row."""
    return replace(rule, delta_w=[change if k == row else own for k, own in enumerate(rule.delta_w)])


def points(value: float) -> list[float]:
    """Return the values that are tried around one, which is among them: from 0 to 1, dense near it."""
    around = [factor * value for factor in (0.25, 0.5, 1, 2, 4)] if value else [0.25, 0.5, 0.75]
    return sorted({0.0, *(one for one in around if one < 1), value, 1.0})


class _PairedTrials:
    """The trials of a rule's evaluation, in which its changes run too, so that every difference is paired.

    Args:
        result: The evaluation of the rule.
        runner: Runs the trials.
        progress: Hears of them.
    """

    def __init__(self, result: Result, runner: Runner, progress: Progress | None) -> None:
        self.result, self.runner, self.progress = result, runner, progress

    def finals(self, learners: Sequence[Learner], seed: int) -> NDArray[Any]:
        """Return the best EP of every trial, (learners, trials)."""
        conditions = self.result.conditions
        some = max(1, _AT_ONCE // conditions.count)  # learners in a batch
        best = []
        for first in range(0, len(learners), some):
            part = learners[first : first + some]
            batch = conditions.batch(part, seed=seed, record=(conditions.episodes,))
            best.append(self.runner.run(batch, progress=self.progress).best[:, -1])
        return np.concatenate(best).reshape(len(learners), -1)

    def effects(self, rules: Iterable[Rule]) -> list[Effect]:
        """Return the effect of each changed rule."""
        own = self.result.final
        return [Effect.of(one, own) for one in self.finals(list(rules), self.result.seed)]


def _inspected(rule: Rule, usage: Usage, trials: _PairedTrials) -> Inspection:
    """Try the changes of a rule in the trials of its own evaluation."""
    asked = other_changes(rule)
    knocked = trials.effects(with_row(rule, *one) for one in asked)
    corrected = holm([effect.p for effect in knocked])
    knockouts = tuple(
        Knockout(row, change, effect, p)
        for (row, change), effect, p in zip(asked, knocked, corrected, strict=True)
    )
    signals = trials.effects(
        replace(rule, delta_w=[rule.delta_w[of(k)] for k in range(ROWS)]) for of in SIGNALS.values()
    )
    sensitivity = {}
    for name in NUMBERS:
        values = points(getattr(rule, name))
        along = trials.effects(replace(rule, **{name: value}) for value in values)  # type: ignore[arg-type]
        sensitivity[name] = dict(zip(values, along, strict=True))
    return Inspection(
        rule=rule,
        result=trials.result,
        usage=usage,
        knockouts=knockouts,
        signal=dict(zip(SIGNALS, signals, strict=True)),
        sensitivity=sensitivity,
        smallest=_smallest(rule, knockouts, trials),
    )


def _smallest(whole: Rule, knockouts: Sequence[Knockout], trials: _PairedTrials) -> Smallest:
    """Set rows to 0 one after another (see `CRITERION`), and measure the outcome in fresh trials."""
    zeroed = [one for one in knockouts if one.change == 0]
    removed: list[int] = []
    rule, effect = whole, Effect.of(trials.result.final, trials.result.final)
    for one in sorted(zeroed, key=lambda one: (one.effect.difference, one.row)):
        smaller = with_row(rule, one.row, 0)
        (found,) = trials.effects([smaller])
        if found.difference <= found.standard_error:
            rule, effect = smaller, found
            removed.append(one.row)
    seed = child_seed(trials.result.seed, 0, 0, _FRESH)
    small, own = trials.finals([rule, whole], seed)
    (chance,) = trials.finals([chance_for(whole)], seed)
    name = f"{whole.name}, {ROWS - rule.delta_w.count(0)} rows" if whole.name else ""
    return Smallest(rule.named(name), tuple(removed), effect, Effect.of(small, own), float(chance.mean()))
