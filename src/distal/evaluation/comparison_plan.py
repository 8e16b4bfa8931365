"""Run a comparison: trials of several learners with the same seeds, until their differences are decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np

from distal.base.checks import InputError, flag, integer, sequence
from distal.base.progress import checked, followed
from distal.engines import Asked, Progress, Runner, Trials, pace
from distal.evaluation.comparison import MOST_LEARNERS, Comparison
from distal.evaluation.difference import differences, in_sequence
from distal.evaluation.result import Result
from distal.evaluation.trials import Conditions, per_goal
from distal.learners import Learner, chance_for, find_learner, name_of
from distal.learners.chance import Chance
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.tasks.sources import AnyTask

MOST_TRIALS = 1000  # for each goal, where trials are added and no limit is given
# Pairs before the first look. A confidence sequence rests on the central limit theorem; in
# simulations it keeps its 5 % from about this number on, if skew is no worse than exponential.
FEWEST_PAIRS = 100


@dataclass(frozen=True, eq=False)
class ComparisonPlan:
    """A comparison that can be run: all that was asked for has been checked.

    Attributes:
        learners: The learners.
        chances: Chance for each of them, without a second one that is equal; none if chance is a learner.
        conditions: The conditions; their trials are how many are added before each further look, if
            that is more than a tenth.
        first: After how many trials for each goal the differences are looked at first.
        most: After how many at the latest.
        until_decided: Whether trials are added until all differences are decided.
    """

    learners: Sequence[Learner]
    chances: Sequence[Chance]
    conditions: Conditions
    first: int
    most: int
    until_decided: bool

    @classmethod
    def of(
        cls,
        learners: object,
        settings: SettingsDict,
        *,
        until_decided: bool,
        most_trials: int | None,
        **asked: Any,
    ) -> Self:
        """Check what `compare` is given; `asked` is what `Conditions.of` takes besides.

        Raises:
            InputError: If an argument is wrong, or the curves would not fit in memory.
        """
        given = sequence("learners", learners, "a list of learners")
        if not 2 <= len(given) <= MOST_LEARNERS:
            raise InputError(f"learners has {len(given)} entries, expected 2 to {MOST_LEARNERS} to compare")
        chosen = [find_learner(one) for one in given]
        conditions = Conditions.of(settings, compare, **asked)
        until_decided = flag("until_decided", until_decided)
        first, most = _limits(conditions, until_decided, most_trials)
        beside = [] if any(isinstance(one, Chance) for one in chosen) else [chance_for(one) for one in chosen]
        plan = cls(chosen, list(dict.fromkeys(beside)), conditions, first, most, until_decided)
        # One curve is there twice, while its parts are joined.
        replace(conditions, trials=most).check_memory(curves=len(plan.all_learners) + 1)
        return plan

    @property
    def all_learners(self) -> list[Learner]:
        """The learners, and chance beside them."""
        return [*self.learners, *self.chances]

    @property
    def most_episodes(self) -> int:
        """The episodes of all trials, if none is left out."""
        count = replace(self.conditions, trials=self.most).count
        return count * self.conditions.episodes * len(self.all_learners)

    def run(self, runner: Runner, progress: Progress | bool | None = None) -> Comparison:
        """Run the trials, and compare the learners.

        Args:
            runner: Who runs them.
            progress: As in `compare`.
        """
        batch = self.conditions.batch(self.learners[:1])
        expected = partial(pace.expected, batch, self.most_episodes, runner.suited(batch))
        with followed(progress, "comparing", self.most_episodes, expected) as hear:
            return self._compared(runner, hear)

    def _compared(self, runner: Runner, progress: Progress | None) -> Comparison:
        """Run the trials, tell of them, and compare."""
        goals, conditions = len(self.conditions.task.goals), self.conditions
        blocks: list[list[Trials]] = [[] for _ in self.all_learners]
        done = 0
        for look in _looks(self.first, self.most, conditions.trials):
            more = conditions.batch(self.learners[:1], trials=look).part(done * goals, look * goals)
            batches = [replace(more, learners=(one,)) for one in self.all_learners]
            suited = [runner.suited(batch) for batch in batches]
            for batch, own, kept in zip(batches, suited, blocks, strict=True):
                kept.append(own.trials(batch, Asked(progress=progress)))
            done = look
            finals = [
                np.concatenate([block.best[:, -1] for block in kept]).astype(np.float64)
                for kept in blocks[: len(self.learners)]
            ]
            if self.until_decided and all(low > 0 or high < 0 for low, high in in_sequence(finals)):
                break
        results = []
        for one, by, kept in zip(self.all_learners, suited, blocks, strict=True):
            best = np.concatenate([block.best for block in kept])
            cut = sum(block.cut for block in kept)
            result = Result(
                learner=one, task=conditions.task, settings=conditions.settings, trials=done,
                resample=conditions.resample, seed=conditions.seed, switch=conditions.switch,
                engine=by.engine, workers=by.workers, best=best, cut=cut,
            )  # fmt: skip
            results.append(result)
        learnt, chances = results[: len(self.learners)], results[len(self.learners) :]
        by_chance = dict(zip(self.chances, chances, strict=True))
        beside = [replace(one, chance=by_chance.get(chance_for(one.learner))) for one in learnt]
        names = _named(self.learners)
        pairs = differences(names, finals, fixed=not self.until_decided)
        return Comparison(names, tuple(beside), tuple(pairs), self.most if self.until_decided else None)


def compare(
    learners: Sequence[Learner | str | Path],
    *,
    task: AnyTask = None,
    episodes: int = 100,
    trials: int = 5,
    until_decided: bool = False,
    most_trials: int | None = None,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner | None = None,
    progress: Progress | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Comparison:
    """Train fresh networks with several learners, in trials with the same seeds, and compare them.

    Each learner comes with chance, as in `learn`, unless chance is one of them.

    Args:
        learners: Two or more, each as `learn` takes it: a learner, a name or a file.
        task: The task, as in `learn`.
        episodes: Episodes in each trial.
        trials: Trials for each goal; with `until_decided`, as many more before each further look,
            or a tenth of those there are.
        until_decided: Add trials until the confidence sequence of every difference excludes
            zero, or `most_trials` have run. The first look is after 100 trials or more.
        most_trials: That limit, for each goal; 1000 if left out.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers; a trial's own does not depend on how many there are.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call. If left out, a terminal
            shows the progress; False shows nothing.
        **settings: As in `learn`.

    Returns:
        The result of each learner, and the difference of each pair.

    Raises:
        InputError: If an argument is wrong, or the curves would not fit in memory.
    """
    checked(progress)
    plan = ComparisonPlan.of(
        learners, settings, task=task, maze=maze, episodes=episodes, trials=trials,
        until_decided=until_decided, most_trials=most_trials, resample=resample, seed=seed,
    )  # fmt: skip
    return plan.run(Runner.of(engine), progress)


def _limits(conditions: Conditions, until_decided: bool, most_trials: int | None) -> tuple[int, int]:
    """Return after how many trials for each goal the differences are looked at first, and at the latest."""
    trials = conditions.trials
    if not until_decided:
        if most_trials is not None:
            raise InputError("most_trials is the limit of until_decided; leave it out, or set both")
        return trials, trials
    first = max(trials, per_goal(conditions.task, FEWEST_PAIRS))
    limit = max(first, MOST_TRIALS) if most_trials is None else most_trials
    return first, integer("most_trials", limit, first, MAX_COUNT)


def _looks(first: int, most: int, step: int) -> Iterator[int]:
    """Yield the numbers of trials to look after; a tenth is added, so that looks stay few."""
    look = first
    while look < most:
        yield look
        look += max(step, look // 10)
    yield most


def _named(learners: Sequence[Learner]) -> tuple[str, ...]:
    """Return what each learner is called; those of one name are numbered in their order."""
    own = [name_of(learner) for learner in learners]
    names: list[str] = []
    for name in own:
        numbered = (f"{name} ({k})" for k in range(1, 2 * len(own) + 1))
        free = (one for one in numbered if one not in own and one not in names)
        names.append(name if own.count(name) == 1 else next(free))
    return tuple(names)
