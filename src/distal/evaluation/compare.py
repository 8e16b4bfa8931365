"""Compare learners in trials with the same seeds, if need be until their differences are decided."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Unpack

import numpy as np

from distal.base.checks import InputError, flag, integer, sequence
from distal.base.progress import followed
from distal.engines import Asked, Progress, Runner, Trials, pace
from distal.evaluation.comparison import MOST_LEARNERS, Comparison
from distal.evaluation.difference import in_sequence
from distal.evaluation.result import Result, result_of
from distal.evaluation.trials import Conditions, per_goal, tell_ignored
from distal.learners import Learner, chance_for, find_learner, name_of
from distal.learners.chance import Chance
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.tasks.sources import AnyTask

MOST_TRIALS = 1000  # for each goal, where trials are added and no limit is given
# Pairs before the first look. A confidence sequence rests on the central limit theorem; in
# simulations it keeps its 5% from about this number on, if skew is no worse than exponential.
FEWEST_PAIRS = 100


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
        trials: Trials for each goal; with `until_decided`, also the number added before each
            further look, or a tenth of the trials so far if that is more.
        until_decided: Add trials until the confidence sequence of every difference excludes
            zero, or `most_trials` have run. The first look is after 100 trials or more.
        most_trials: The limit with `until_decided`, for each goal; 1000 if left out.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers; a trial's seed does not depend on the number of
            trials.
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
    given = sequence("learners", learners, "a list of learners")
    if not 2 <= len(given) <= MOST_LEARNERS:
        raise InputError(f"compare needs 2 to {MOST_LEARNERS} learners, but got {len(given)}")
    chosen = [find_learner(one) for one in given]
    conditions = Conditions.of(
        settings, compare, task=task, maze=maze, episodes=episodes, trials=trials,
        resample=resample, seed=seed,
    )  # fmt: skip
    tell_ignored(settings, chosen, conditions.task)
    until_decided = flag("until_decided", until_decided)
    first, most = _limits(conditions, until_decided, most_trials)
    by_chance = any(isinstance(one, Chance) for one in chosen)
    chances = [] if by_chance else list(dict.fromkeys(map(chance_for, chosen)))
    everyone, whole = [*chosen, *chances], replace(conditions, trials=most)
    whole.check_memory(curves=len(everyone) + 1)  # one is there twice, while its parts are joined
    runner, batch = Runner.of(engine), conditions.batch(chosen[:1])
    promised = whole.count * whole.episodes * len(everyone)
    expected = partial(pace.expected, batch, promised, runner.suited(batch))
    with followed(progress, "comparing", promised, expected) as hear:
        looks = list(_looks(first, most, conditions.trials))
        results = _results(everyone, len(chosen), conditions, looks, runner, hear)
    chance_of = {one.learner: one for one in results[len(chosen) :]}
    beside = (replace(one, chance=chance_of.get(chance_for(one.learner))) for one in results[: len(chosen)])
    return Comparison(_named(chosen), tuple(beside), most if until_decided else None)


def _results(
    learners: Sequence[Learner],
    judged: int,
    conditions: Conditions,
    looks: Sequence[int],
    runner: Runner,
    progress: Progress | None,
) -> list[Result]:
    """Return the result of each learner, without chance.

    Args:
        learners: The learners.
        judged: How many of them, the first ones, are compared after each look.
        conditions: The conditions.
        looks: The trials for each goal after which differences are looked at, until all are decided.
        runner: Runs the trials.
        progress: Hears of them.
    """
    goals, done = len(conditions.task.goals), 0
    blocks: list[list[Trials]] = [[] for _ in learners]
    for look in looks:
        more = conditions.batch(learners[:1], trials=look).part(done * goals, look * goals)
        batches = [replace(more, learners=(one,)) for one in learners]
        suited = [runner.suited(batch) for batch in batches]
        for batch, own, kept in zip(batches, suited, blocks, strict=True):
            kept.append(own.trials(batch, Asked(progress=progress)))
        done = look
        finals = [np.concatenate([block.best[:, -1] for block in kept]) for kept in blocks[:judged]]
        if look < looks[-1] and all(low > 0 or high < 0 for low, high in in_sequence(finals)):
            break
    whole = replace(conditions, trials=done)
    outcomes = [
        Trials(np.concatenate([one.best for one in kept]), None, None, None, sum(one.cut for one in kept))
        for kept in blocks
    ]
    return [result_of(whole, *its) for its in zip(learners, suited, outcomes, strict=True)]


def _limits(conditions: Conditions, until_decided: bool, most_trials: int | None) -> tuple[int, int]:
    """Return the trials for each goal after which differences are looked at first, and at the latest."""
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
    """Return the name of each learner; equal names are numbered in their order."""
    own = [name_of(learner) for learner in learners]
    names: list[str] = []
    for name in own:
        numbered = (f"{name} ({k})" for k in range(1, 2 * len(own) + 1))
        free = (one for one in numbered if one not in own and one not in names)
        names.append(name if own.count(name) == 1 else next(free))
    return tuple(names)
