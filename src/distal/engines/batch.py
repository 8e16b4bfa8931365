"""A batch of independent trials: what engines are given, and what they return."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    MOST,
    InputError,
    counted,
    flag,
    function,
    indices,
    instance,
    integer,
    sequence,
    shown,
)
from distal.base.frozen import Frozen
from distal.learners import KINDS, Learner, class_names
from distal.learners.genes import Decoded
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seeds
from distal.model.settings import Settings
from distal.tasks.switching import Switch
from distal.tasks.task import Task, checked_task

MAX_WORKERS = 1024

Progress = Callable[[int], None]  # told how many more episodes have been run
EPs: TypeAlias = NDArray[Any]  # int32; float64 where those of a task are no whole numbers


@dataclass(frozen=True, eq=False)
class Batch:
    """Independent trials: everything that decides their results, and nothing else.

    Trial k trains with `learners[learner[k]]` towards goal `goal[k]` of the task,
    its random numbers keyed by `seed[k]`. A batch that exists is valid: engines need not
    check it again.

    Args:
        learners: The learners, all of one kind.
        learner: For each trial, which of the learners it trains with.
        goal: For each trial, which goal of the task it has.
        seed: The seed of each trial.
        task: What is to be learned.
        settings: The network and the readings.
        episodes: Episodes in each trial.
        resample: Draw fresh weights after this many episodes.
        record: The episodes, from 1 and ascending, after which the best EP is wanted; all if
            left out.
        switch: When goals move, and where to, if they do; then `goal` is that of each trial's
            first phase, and the best EP is that of the phase.

    Raises:
        InputError: If an argument is wrong, or the arrays differ in length.
    """

    learners: Sequence[Learner]
    learner: NDArray[np.int32]
    goal: NDArray[np.int32]
    seed: NDArray[np.uint64]
    task: Task[Any]
    settings: Settings
    episodes: int
    resample: int | None = None
    record: tuple[int, ...] | None = None
    switch: Switch | None = None

    def __post_init__(self) -> None:
        # Made once in every generation of an evolution: whole arrays are checked, not trial after trial.
        seed: object = self.seed
        learners = _of_one_kind(self.learners, max(MOST, seed.size if isinstance(seed, np.ndarray) else 0))
        goals = len(checked_task(self.task).goals)
        instance("settings", self.settings, Settings, "a Settings")
        checked = {
            "learners": learners,
            "learner": indices("learner", self.learner, len(learners) - 1, np.int32),
            "goal": indices("goal", self.goal, goals - 1, np.int32),
            "seed": indices("seed", self.seed, MAX_SEED, np.uint64),
            "episodes": integer("episodes", self.episodes, 1, MAX_COUNT),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        sizes = {len(self.learner), len(self.goal), len(self.seed)}
        if len(sizes) > 1 or 0 in sizes:
            raise InputError(
                f"learner, goal and seed have {len(self.learner)}, {len(self.goal)} and {len(self.seed)} "
                "entries, expected one of each for every trial, and at least one trial"
            )
        if self.resample is not None:
            object.__setattr__(self, "resample", integer("resample", self.resample, 1, MAX_COUNT))
        if self.record is not None:
            object.__setattr__(self, "record", _ascending(self.record, self.episodes))
        if self.switch is not None:
            instance("switch", self.switch, Switch, "a Switch").check_goals(goals)

    def __len__(self) -> int:
        return len(self.seed)

    def part(self, first: int, last: int) -> Batch:
        """Return trials first … last − 1, with no more learners than they need."""
        last = integer("last", last, 1, len(self))
        first = integer("first", first, 0, last - 1)
        needed, learner = np.unique(self.learner[first:last], return_inverse=True)
        return replace(
            self,
            learners=_some(self.learners, needed),
            learner=learner.astype(np.int32),
            goal=self.goal[first:last],
            seed=self.seed[first:last],
        )

    @property
    def kind(self) -> type[Learner]:
        """The kind of its learners."""
        return self.learners.kind if isinstance(self.learners, Decoded) else type(self.learners[0])

    @property
    def recorded(self) -> Sequence[int]:
        """The episodes, from 1, after which the best EP is recorded, in their order."""
        return range(1, self.episodes + 1) if self.record is None else self.record

    @property
    def phase(self) -> int:
        """The number of episodes in a phase: all of them, if goals do not move."""
        return self.episodes if self.switch is None else min(self.switch.every, self.episodes)

    @cached_property
    def goals(self) -> NDArray[np.int32]:
        """The goal of every trial in every phase, (trials, phases); one phase, if goals do not move."""
        if self.switch is None:
            return self.goal[:, None]
        phases = self.switch.phases(self.episodes)
        return self.switch.schedule(self.goal, self.seed, len(self.task.goals), phases)

    @cached_property
    def last_goal(self) -> int:
        """The highest number of a goal."""
        return int(self.goals.max())

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The column of `best` that each episode is recorded in, or −1; (episodes)."""
        if self.record is None:
            return np.arange(self.episodes, dtype=np.int32)
        column = np.full(self.episodes, -1, np.int32)
        column[np.array(self.record) - 1] = np.arange(len(self.record))
        return column


def batch_of(
    learners: Sequence[Learner],
    seeds: NDArray[np.uint64],
    *,
    trials: int,
    episodes: int,
    task: Task[Any],
    settings: Settings,
    resample: int | None = None,
    record: tuple[int, ...] | None = None,
    switch: Switch | None = None,
) -> Batch:
    """Return the trials that evaluate several learners, each with its own seed (n).

    Learners follow one another, each with its trials, trial-major. A trial's seed is a
    function of its learner's seed, its own number and its goal.

    Args:
        learners: The learners, all of one kind.
        seeds: The seed of each learner.
        trials: Trials for each goal of the task.
        episodes: Episodes in each trial.
        task: What is to be learned.
        settings: The network and the readings.
        resample: Draw fresh weights after this many episodes.
        record: As in `Batch`.
        switch: When goals move, and where to.

    Returns:
        The batch.

    Raises:
        InputError: If the batch would not be valid.
    """
    seeds = indices("seeds", seeds, MAX_SEED, np.uint64)
    goals, n = len(checked_task(task).goals), len(seeds)
    if isinstance(learners, Sequence) and len(learners) != n:
        raise InputError(f"there are {n} seeds for {counted(len(learners), 'learner')}, expected one each")
    trials = integer("trials", trials, 1, MAX_COUNT)
    trial, goal = np.divmod(np.arange(trials * goals), goals)
    parts = np.stack([trial, goal, np.zeros_like(trial)], axis=1)
    return Batch(
        learners=learners,
        learner=np.repeat(np.arange(n, dtype=np.int32), trials * goals),
        goal=np.tile(goal.astype(np.int32), n),
        seed=child_seeds(seeds[:, None], parts[None]).ravel(),
        task=task,
        settings=settings,
        episodes=episodes,
        resample=resample,
        record=record,
        switch=switch,
    )


def checked_numbers(
    episodes: int, trials: int, seed: int, resample: int | None, most_episodes: int = MAX_COUNT
) -> tuple[int, int, int, int | None]:
    """Return the numbers that every evaluation has, as plain integers within their bounds."""
    return (
        integer("episodes", episodes, 1, most_episodes),
        integer("trials", trials, 1, MAX_COUNT),
        integer("seed", seed, 0, MAX_SEED),
        None if resample is None else integer("resample", resample, 1, MAX_COUNT),
    )


def _some(learners: Sequence[Learner], needed: NDArray[np.int32]) -> Sequence[Learner]:
    """Return the learners with these numbers."""
    return learners.rows(needed) if isinstance(learners, Decoded) else tuple(learners[k] for k in needed)


def _of_one_kind(given: object, most: int) -> Sequence[Learner]:
    if isinstance(given, Decoded) and given.kind in KINDS.values() and len(given):
        return given  # they were checked when they were decoded
    learners = sequence("learners", given, "a list of learners", most)
    kinds = dict.fromkeys(map(type, learners))
    for kind in kinds:
        if kind not in KINDS.values():
            wrong = next(one for one in learners if type(one) is kind)
            *names, last = class_names()
            raise InputError(f"learners holds {shown(wrong)}, expected {', '.join(names)} or {last}")
    if len(kinds) != 1:
        raise InputError(f"learners has {len(learners)} entries, expected at least one, and all of one kind")
    return learners


def _ascending(given: object, episodes: int) -> tuple[int, ...]:
    expected = "a list of episodes, from 1 and ascending"
    record = tuple(integer("record", one, 1, episodes) for one in sequence("record", given, expected))
    if not record or any(one >= other for one, other in pairwise(record)):
        raise InputError(f"record is {shown(record)}, expected {expected}")
    return record


@dataclass(frozen=True, eq=False)
class Trials(Frozen):
    """What the trials of a batch gave.

    Attributes:
        best: The lowest EP so far after each recorded episode, (trials, recorded episodes). EPs
            are whole numbers, or floats where those of the task are. Where goals move, the lowest
            since the last move.
        ep: The EP of every episode, (trials, episodes), if it was asked for.
        hidden: The hidden weights of the first episode that had the best EP, of the last phase if
            there are several, (trials, H, I + 1 + H + O), if they were asked for.
        output: The output weights of the same episode, (trials, O, H + 1).
        cut: How many episodes ran out of steps before the task ended them, where it says so.
        engine: The engine that ran them, as the runner says.
    """

    best: EPs
    ep: EPs | None
    hidden: NDArray[np.float32] | None
    output: NDArray[np.float32] | None
    cut: int = 0
    engine: str = ""


def best_so_far(ep: EPs, phase: int) -> EPs:
    """Return the lowest EP since the phase began, after each episode; the episodes are the last axis."""
    best = np.empty_like(ep)
    for first in range(0, ep.shape[-1], phase):
        episodes = (..., slice(first, first + phase))
        np.minimum.accumulate(ep[episodes], axis=-1, out=best[episodes])
    return best


@contextmanager
def named_in_errors(batch: Batch, trial: int) -> Iterator[None]:
    """Let an exception say in which trial it happened."""
    try:
        yield
    except Exception as error:
        where = f"goal {batch.task.goals[batch.goal[trial]]}, seed {batch.seed[trial]}"
        kind = InputError if isinstance(error, InputError) else RuntimeError
        raise kind(f"trial {trial} ({where}) failed: {error}") from error


class Engine(Protocol):
    """What every engine module offers."""

    def supports(self, batch: Batch) -> str | None:
        """Return why the engine cannot run a batch, and what to do; None if it can."""

    def run(
        self,
        batch: Batch,
        *,
        keep_weights: bool,
        keep_ep: bool,
        workers: int | None,
        progress: Progress | None,
    ) -> Trials:
        """Run all trials of a batch.

        Args:
            batch: The trials.
            keep_weights: Whether to return the weights of the first episode that had the best EP.
            keep_ep: Whether to return the EP of every episode.
            workers: Threads of the cpu engine, cards of the gpu engine; all of them if None.
            progress: Called with the number of episodes run since its last call.

        Returns:
            The best EP so far of every trial, and what was asked for.

        Raises:
            InputError: If an argument is wrong, or the engine cannot run the batch.
        """


def checked_call(
    batch: Batch, keep_weights: bool, keep_ep: bool, workers: int | None, progress: Progress | None
) -> tuple[bool, bool, int | None]:
    """Check what any engine is asked for; return the two flags and the workers as plain values."""
    instance("batch", batch, Batch, "a Batch")
    function("progress", progress)
    return flag("keep_weights", keep_weights), flag("keep_ep", keep_ep), checked_workers(workers)


def check_supported(reason: str | None) -> None:
    """Refuse a batch for the reason that an engine's `supports` gives, if it gives one."""
    if reason is not None:
        raise InputError(reason)


def checked_workers(workers: int | None) -> int | None:
    """Return the number of workers, or None where the engine may choose."""
    return None if workers is None else integer("workers", workers, 1, MAX_WORKERS)
