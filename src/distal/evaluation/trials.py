"""The trials that evaluate learners: several for each goal of a task, all independent."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import MOST, InputError, counted, indices, instance, integer, sequence
from distal.engines import Batch
from distal.learners import Learner
from distal.learners.genes import Decoded
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seeds
from distal.model.maze import Maze, triple_t_maze
from distal.model.readings import READINGS, RECURRENT
from distal.model.settings import Settings, SettingsDict
from distal.networks import NETWORKS, network_for
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import AnyTask, task_of
from distal.tasks.switching import Switch, switch_of
from distal.tasks.task import Task, checked_task

_log = logging.getLogger("distal")
_ALWAYS_FITS = 2**20  # bytes of one network


@dataclass(frozen=True, eq=False)
class Conditions:
    """The conditions under which learners are evaluated; `of` checks them.

    Attributes:
        task: The task.
        settings: The settings in force.
        episodes: Episodes in each trial.
        trials: Trials for each goal.
        resample: Fresh weights are drawn after this many episodes; None for never.
        seed: The seed of all random numbers.
        switch: When goals move, and where to, if they do.
    """

    task: Task[Any]
    settings: Settings
    episodes: int
    trials: int
    resample: int | None
    seed: int
    switch: Switch | None = None

    @classmethod
    def of(
        cls,
        settings: SettingsDict,
        door: Callable[..., Any],
        *,
        task: AnyTask,
        maze: Maze | None,
        episodes: int,
        trials: int,
        resample: int | None,
        seed: int,
        switch: int | Switch | None = None,
        fewest: int = 1,
    ) -> Self:
        """Check what `learn`, `compare` and `inspect` are given.

        `door` is the function that is called, for the nearest right spelling of an unknown keyword; `fewest`
        the fewest episodes, and those until fresh weights, that make sense there.
        """
        episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample, fewest=fewest)
        moving = None if switch is None else switch_of(switch, episodes)
        chosen = chosen_task(task, maze)
        in_force = settings_in(chosen, settings, tuple(signature(door).parameters))
        return cls(chosen, in_force, episodes, trials, resample, seed, moving)

    @property
    def count(self) -> int:
        """The number of trials."""
        return self.trials * len(self.task.goals)

    @property
    def shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The shapes of the weights of a network."""
        return network_for(self.settings, self.task.inputs, self.task.outputs, {}).shapes

    def batch(
        self,
        learners: Sequence[Learner],
        *,
        trials: int | None = None,
        seed: int | None = None,
        record: tuple[int, ...] | None = None,
    ) -> Batch:
        """Return the trials of learners of one kind, all with the same seeds."""
        seeds = np.full(len(learners), self.seed if seed is None else seed, np.uint64)
        return batch_of(
            learners, seeds, trials=self.trials if trials is None else trials, episodes=self.episodes,
            task=self.task, settings=self.settings, resample=self.resample, record=record, switch=self.switch,
        )  # fmt: skip

    def check_memory(self, curves: int, weights: int = 0, less: str = "") -> None:
        """Refuse to keep the curves and weights of all trials if they do not fit in free memory.

        `less` is what else would take less, as the end of the refusal.
        """
        memory.evaluation(
            self.count, self.episodes, curves=curves * (1 if self.task.whole else 2), weights=weights,
            instead=f"ask for fewer trials or episodes{less}",
        ).check()  # fmt: skip


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
        task: The task.
        settings: The network and the readings.
        resample: Draw fresh weights after this many episodes.
        record: As in `Batch`.
        switch: The schedule of moving goals.

    Returns:
        The batch.

    Raises:
        InputError: If the batch would not be valid.
    """
    seeds = indices("seeds", seeds, MAX_SEED, np.uint64)
    if not isinstance(learners, Decoded):
        learners = sequence("learners", learners, "a list of learners", max(MOST, len(seeds)))
    goals, n = len(checked_task(task).goals), len(learners)
    if n != len(seeds):
        raise InputError(f"there are {len(seeds)} seeds for {counted(n, 'learner')}, expected one each")
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


def per_goal(task: Task[Any], trials: int) -> int:
    """Return the number of trials for each goal of a task that gives at least this many in all."""
    return -(-trials // len(task.goals))


def chosen_task(task: AnyTask, maze: Maze | None = None) -> Task[Any]:
    """Return the task that is meant: that of `task_of`, or the maze, the triple T-maze if there is none."""
    if task is None:
        return MazeTask(checked_maze(maze))
    if maze is not None:
        raise InputError("task and maze are both given; leave one out")
    return checked_task(task) if isinstance(task, Task) else task_of(task)


def settings_in(task: Task[Any], given: SettingsDict, others: Sequence[str] = ()) -> Settings:
    """Return the settings in force; the task says how many steps an episode has, unless they do.

    `others` are the caller's own keywords, for the nearest right spelling of an unknown one.
    """
    found = Settings.of({"steps": task.steps, **given} if task.steps is not None else given, others)
    neurons = task.inputs + 1 + found.hidden + task.outputs
    if found.network == RECURRENT and memory.WEIGHT * neurons**2 <= _ALWAYS_FITS:
        return found  # it has fewer synapses than pairs of neurons
    shapes = network_for(found, task.inputs, task.outputs, {}).shapes
    what = f"1 network of {task.inputs:,} inputs, {found.hidden} hidden neurons and {task.outputs} outputs"
    weights = memory.WEIGHT * sum(rows * columns for rows, columns in shapes)
    if weights > _ALWAYS_FITS:
        instead = "encode observations in fewer bits, or ask for fewer hidden neurons"
        memory.Estimate(what, {"weights": weights}, instead).check()
    return found


def tell_ignored(given: SettingsDict, learners: Iterable[Learner | type[Learner]], task: Task[Any]) -> None:
    """Say which readings that were asked for have no effect in a task, or on any of the learners."""
    kinds = {learner.kind: learner for learner in learners}.values()
    network = NETWORKS[given.get("network", RECURRENT)]
    for name in (name for name in READINGS if name in given):
        if name in network.ignores:
            _log.warning("%s has no effect in %s", name, network.label)
        elif name in task.ignores:
            _log.warning("%s has no effect in %s", name, task.name)
        elif all(name in kind.ignores for kind in kinds):
            _log.warning("%s has no effect on %s", name, " and ".join(kind.label for kind in kinds))


def checked_maze(maze: Maze | None) -> Maze:
    """Return the maze, or the triple T-maze for None; refuse anything else."""
    if maze is None:
        return triple_t_maze()
    return instance("maze", maze, Maze, "a Maze, as distal.maze('narrow-t') or Maze.from_file give")


def checked_numbers(
    episodes: int,
    trials: int,
    seed: int,
    resample: int | None,
    most_episodes: int = MAX_COUNT,
    fewest: int = 1,
) -> tuple[int, int, int, int | None]:
    """Return the numbers that every evaluation has, as plain integers within their bounds."""
    return (
        integer("episodes", episodes, fewest, most_episodes),
        integer("trials", trials, 1, MAX_COUNT),
        integer("seed", seed, 0, MAX_SEED),
        None if resample is None else integer("resample", resample, fewest, MAX_COUNT),
    )
