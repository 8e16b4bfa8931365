"""A batch of independent trials, which engines run, and the results that they return."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import MOST, InputError, indices, instance, integer, sequence, shown
from distal.base.frozen import Frozen
from distal.learners import KINDS, Learner, class_names
from distal.learners.genes import Decoded
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.networks import network_for
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.task import Task, checked_task

EPs: TypeAlias = NDArray[Any]  # int32; float64 where those of a task are no whole numbers


@dataclass(frozen=True, eq=False)
class Batch:
    """Independent trials: everything that decides their results, and nothing else.

    Trial k trains with `learners[learner[k]]` towards goal `goal[k]` of the task,
    its random numbers keyed by `seed[k]`. A batch that exists is valid: engines need not
    check it again.

    Args:
        learners: The learners, all of one kind.
        learner: The index of each trial's learner.
        goal: The index of each trial's goal.
        seed: The seed of each trial.
        task: The task.
        settings: The network and the readings.
        episodes: Episodes in each trial.
        resample: Draw fresh weights after this many episodes.
        record: The episodes, from 1 and ascending, after which to record the best EP; all if
            left out.
        switch: The schedule of moving goals, if there is one; then `goal` is the goal of each trial's
            first phase, and each phase has its own best EP.

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
        self._check_networks()

    def _check_networks(self) -> None:
        """Refuse learners that cannot train the network of this task and these settings."""
        if self.kind.check_network is Learner.check_network and self.kind.needs is None:
            return
        for learner in self.learners:
            learner.check_network(
                network_for(self.settings, self.task.inputs, self.task.outputs, learner.numbers)
            )

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
    def table(self) -> Table | None:
        """The table of its task, if it has one; refused if it does not fit the task."""
        task, table = self.task, self.task.table(self.settings)
        if table is None:
            return None
        instance("the table of the task", table, Table, "a Table, or None")
        if (table.inputs, table.outputs) != (task.inputs, task.outputs):
            raise InputError(
                f"the table of the task has {table.inputs} inputs and {table.outputs} actions, "
                f"the task {task.inputs} and {task.outputs}"
            )
        if table.goals <= self.goals.max():
            raise InputError(f"the table of the task has {table.goals} goals, the task {len(task.goals)}")
        return table

    @cached_property
    def columns(self) -> NDArray[np.int32]:
        """The column of `best` that each episode is recorded in, or −1; (episodes)."""
        if self.record is None:
            return np.arange(self.episodes, dtype=np.int32)
        column = np.full(self.episodes, -1, np.int32)
        column[np.array(self.record) - 1] = np.arange(len(self.record))
        return column


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
    """The results of the trials of a batch.

    Attributes:
        best: The lowest EP so far after each recorded episode, (trials, recorded episodes). EPs are
            whole numbers, or floats if the EPs of the task are. If goals move, the lowest since the
            last move.
        ep: The EP of every episode, (trials, episodes), if it was asked for.
        hidden: The hidden weights of the first episode that had the best EP, of the last phase if
            there are several, (trials, H, I + 1 + H + O), if they were asked for.
        output: The output weights of the same episode, (trials, O, H + 1).
        cut: The number of episodes that ran out of steps before the task ended them, if it reports that.
        steps: The number of steps of all episodes; 0 if the engine does not count them.
    """

    best: EPs
    ep: EPs | None
    hidden: NDArray[np.float32] | None
    output: NDArray[np.float32] | None
    cut: int = 0
    steps: int = 0


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
