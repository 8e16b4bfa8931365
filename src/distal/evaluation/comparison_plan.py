"""Run a comparison: trials of several learners with the same seeds, until their differences are decided."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self, Unpack

import numpy as np

from distal.base import memory
from distal.base.checks import InputError, flag, function, integer, sequence
from distal.engines import Batch, Progress, Runner, Trials
from distal.engines.batch import batch_of, checked_numbers
from distal.evaluation.comparison import MOST_LEARNERS, Comparison
from distal.evaluation.difference import Finals, differences, in_sequence
from distal.evaluation.result import Result
from distal.learners import Learner, chance_for, find_learner, name_of
from distal.learners.chance import Chance
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.tasks.sources import AnyTask, chosen_task
from distal.tasks.task import Task, settings_in

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
        task: What is to be learned.
        settings: The settings in force.
        episodes: Episodes in each trial.
        resample: Fresh weights are drawn after this many episodes.
        seed: The seed of all random numbers.
        first: After how many trials for each goal the differences are looked at first.
        most: After how many at the latest.
        step: How many are added before each further look, if that is more than a tenth.
        until_decided: Whether trials are added until all differences are decided.
    """

    learners: Sequence[Learner]
    chances: Sequence[Chance]
    task: Task[Any]
    settings: Settings
    episodes: int
    resample: int | None
    seed: int
    first: int
    most: int
    step: int
    until_decided: bool

    @classmethod
    def of(
        cls,
        learners: object,
        options: SettingsDict,
        *,
        task: AnyTask,
        maze: Maze | None,
        episodes: int,
        trials: int,
        until_decided: bool,
        most_trials: int | None,
        resample: int | None,
        seed: int,
    ) -> Self:
        """Check what `compare` is given.

        Args:
            learners: As in `compare`, like all that follow.
            options: The settings by name.
            task: What is to be learned.
            maze: Short for `task=maze`.
            episodes: Episodes in each trial.
            trials: Trials for each goal.
            until_decided: Whether to add trials until all differences are decided.
            most_trials: The limit then.
            resample: Draw fresh weights after this many episodes.
            seed: The seed.

        Returns:
            The plan.

        Raises:
            InputError: If an argument is wrong, or the curves would not fit in memory.
        """
        chosen = _checked_learners(learners)
        Settings.of(options, tuple(inspect.signature(compare).parameters))
        episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample)
        world = chosen_task(task, maze)
        until_decided = flag("until_decided", until_decided)
        first, most = _limits(trials, len(world.goals), until_decided, most_trials)
        beside = [] if any(isinstance(one, Chance) for one in chosen) else [chance_for(one) for one in chosen]
        plan = cls(
            chosen, list(dict.fromkeys(beside)), world, settings_in(world, options), episodes, resample, seed,
            first, most, trials, until_decided,
        )  # fmt: skip
        plan._check_memory()
        return plan

    @property
    def measured(self) -> list[Learner]:
        """The learners, and chance beside them."""
        return [*self.learners, *self.chances]

    @property
    def most_episodes(self) -> int:
        """The episodes of all trials, if none is left out."""
        return self.most * len(self.task.goals) * self.episodes * len(self.measured)

    def run(self, runner: Runner, progress: Progress | None = None) -> Comparison:
        """Run the trials, and compare the learners.

        Args:
            runner: Who runs them.
            progress: Called with the number of episodes run since its last call.

        Returns:
            The learners side by side, and each pair of them.
        """
        blocks: list[list[Trials]] = [[] for _ in self.measured]
        done = 0
        for look in _looks(self.first, self.most, self.step):
            more = self._trials(done, look)
            for one, kept in zip(self.measured, blocks, strict=True):
                kept.append(runner.run(_of(more, one), progress=progress))
            done = look
            finals = [_finals(kept) for kept in blocks[: len(self.learners)]]
            if self.until_decided and all(low > 0 or high < 0 for low, high in in_sequence(finals)):
                break

        def result(one: Learner, kept: list[Trials]) -> Result:
            return Result(
                best=np.concatenate([block.best for block in kept]), learner=one, task=self.task,
                settings=self.settings, trials=done, resample=self.resample, seed=self.seed,
                engine=kept[-1].engine, workers=runner.workers, cut=sum(block.cut for block in kept),
            )  # fmt: skip

        evaluated = [result(one, kept) for one, kept in zip(self.measured, blocks, strict=True)]
        chances = dict(zip(self.chances, evaluated[len(self.learners) :], strict=True))
        results = [
            replace(one, chance=chances.get(chance_for(one.learner)))
            for one in evaluated[: len(self.learners)]
        ]
        names = _named(self.learners)
        pairs = differences(names, finals, fixed=not self.until_decided)
        return Comparison(names, tuple(results), tuple(pairs), self.most if self.until_decided else None)

    def _trials(self, done: int, look: int) -> Batch:
        """Return the trials from a number for each goal to another one."""
        goals = len(self.task.goals)
        return batch_of(
            self.learners[:1], np.array([self.seed], np.uint64), trials=look, episodes=self.episodes,
            task=self.task, settings=self.settings, resample=self.resample,
        ).part(done * goals, look * goals)  # fmt: skip

    def _check_memory(self) -> None:
        """Refuse a comparison that the machine's free memory does not hold."""
        memory.evaluation(
            self.most * len(self.task.goals),
            self.episodes,
            # one of them twice, while its parts are joined
            curves=(len(self.measured) + 1) * (1 if self.task.whole else 2),
            instead="ask for fewer trials or episodes",
        ).check()


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
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Comparison:
    """Train fresh networks with several learners, in trials with the same seeds, and compare them.

    Chance stands beside each learner, as in `learn`, unless chance is one of them.

    Args:
        learners: Two or more, each as `learn` takes it: a learner, a name or a file.
        task: What is to be learned, as in `learn`.
        episodes: Episodes in each trial.
        trials: Trials for each goal; with `until_decided`, as many more before each further look,
            or a tenth of those there are.
        until_decided: Add trials until the confidence sequence of every difference leaves out
            zero, or `most_trials` are run. The first look is after 100 trials or more.
        most_trials: That limit, for each goal; 1000 if left out.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers; a trial's own does not depend on how many there are.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call.
        **settings: As in `learn`.

    Returns:
        The learners side by side, and each pair of them.

    Raises:
        InputError: If an argument is wrong, or the curves would not fit in memory.
    """
    function("progress", progress)
    plan = ComparisonPlan.of(
        learners, settings, task=task, maze=maze, episodes=episodes, trials=trials,
        until_decided=until_decided, most_trials=most_trials, resample=resample, seed=seed,
    )  # fmt: skip
    return plan.run(Runner.of(engine), progress)


def _checked_learners(given: object) -> list[Learner]:
    """Return the learners, or those that names stand for, if there are enough to compare."""
    chosen = sequence("learners", given, "a list of learners")
    if not 2 <= len(chosen) <= MOST_LEARNERS:
        raise InputError(f"learners has {len(chosen)} entries, expected 2 to {MOST_LEARNERS} to compare")
    return [find_learner(one) for one in chosen]


def _limits(trials: int, goals: int, until_decided: bool, most_trials: int | None) -> tuple[int, int]:
    """Return after how many trials for each goal the differences are looked at first, and at the latest."""
    if not until_decided:
        if most_trials is not None:
            raise InputError("most_trials is the limit of until_decided; leave it out, or set both")
        return trials, trials
    first = max(trials, -(-FEWEST_PAIRS // goals))
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


def _of(batch: Batch, learner: Learner) -> Batch:
    """Return the same trials of another learner."""
    return replace(batch, learners=(learner,))


def _finals(blocks: list[Trials]) -> Finals:
    return np.concatenate([block.best[:, -1] for block in blocks]).astype(np.float64)
