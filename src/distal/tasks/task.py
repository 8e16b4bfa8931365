"""What is to be learned: tasks, their goals, and walks through an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from distal.base.checks import InputError, integer, sequence, shown
from distal.model.draws import MAX_COUNT
from distal.model.network import MAX_NEURONS
from distal.model.settings import Settings
from distal.tasks.table import Table


class Walk(Protocol):
    """What happens in an episode, one action after another."""

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""

    @property
    def ep(self) -> float:
        """The episodic performance; lower is better."""

    def sense(self) -> Sequence[int]:
        """Return the inputs of this step, 0 or 1, without the bias."""

    def act(self, action: int) -> None:
        """Take one step."""


W = TypeVar("W", bound=Walk)
W_co = TypeVar("W_co", bound=Walk, covariant=True)


class Task(Protocol[W_co]):
    """What is to be learned; a trial has one of its goals.

    A task may have more than what stands here; the functions below say what is assumed of
    one that has not: `name` (`task_name`), `whole` (`whole_eps`), `steps` (`own_steps`),
    `target` (`target_of`), `for_trial` (`for_trial`), `to_dict` (`recipe`), `actions` or
    `first_action` (`action_names`), `picture` (None: pages draw its states in a row).
    """

    @property
    def inputs(self) -> int:
        """The number of inputs of the network, without the bias."""

    @property
    def outputs(self) -> int:
        """The number of outputs of the network, one for each action."""

    @property
    def goals(self) -> Sequence[str]:
        """What the goals are called, in order; at least one."""

    def begin(self, goal: int, settings: Settings) -> W_co:
        """Begin a new episode towards a goal, of at most `settings.steps` steps."""

    def table(self, settings: Settings) -> Table | None:
        """Return all that can happen as a table, if the task is finite."""


def checked_task(task: Task[W]) -> Task[W]:
    """Return the task, if it has all that a task has."""
    if isinstance(task, type) or not all(
        hasattr(task, name) for name in ("inputs", "outputs", "goals", "begin", "table")
    ):
        raise InputError(f"task is {shown(task)}, expected a task such as MazeTask(maze)")
    integer("the number of inputs", task.inputs, 1, MAX_NEURONS)
    integer("the number of outputs", task.outputs, 1, MAX_NEURONS)
    integer("the number of goals", len(task.goals), 1)
    return task


def task_name(task: Task[Any]) -> str:
    """Return what a task is called: its `name`, or that of its class."""
    return str(getattr(task, "name", type(task).__name__))


def whole_eps(task: Task[Any]) -> bool:
    """Say whether every EP is a whole number, as it is unless `whole` is False."""
    return bool(getattr(task, "whole", True))


def own_steps(task: Task[Any]) -> int | None:
    """Return the steps of an episode if nobody says otherwise: `steps`, or None for the usual number."""
    steps: int | None = getattr(task, "steps", None)
    return steps


def target_of(task: Task[Any], settings: Settings) -> float | None:
    """Return the EP at or below which the goal counts as reached: `target(settings)`, or None."""
    target = getattr(task, "target", None)
    return None if target is None else target(settings)


def for_trial(task: Task[W], seed: int) -> Task[W]:
    """Return the task of one trial, with its own seed where there is chance in it: `for_trial(seed)`."""
    prepare = getattr(task, "for_trial", None)
    return task if prepare is None else prepare(seed)


def action_names(task: Task[Any]) -> tuple[str, ...]:
    """Return what the actions are called: `actions`, or numbers from `first_action`, or from 0 on."""
    names = getattr(task, "actions", None)
    first = getattr(task, "first_action", 0)
    return tuple(map(str, range(first, first + task.outputs) if names is None else names))


def recipe(task: Task[Any]) -> dict[str, Any] | None:
    """Return what rebuilds a task: `to_dict()`, ready for JSON; None if it cannot be rebuilt."""
    described = getattr(task, "to_dict", None)
    return None if described is None else described()


@dataclass(frozen=True)
class Aim(Generic[W]):
    """A task and what a network shall reach in a trial: one of its goals, or one after another.

    Args:
        task: What is to be learned, as MazeTask(maze).
        goal: Which of its goals, from 0; that of the first phase, if there are several.
        phases: The goal of each phase, where it moves.
        every: The episodes of a phase.

    Raises:
        InputError: If it is no task, or has no such goal.
    """

    task: Task[W]
    goal: int = 0
    phases: Sequence[int] = ()
    every: int | None = None

    def __post_init__(self) -> None:
        goals = len(checked_task(self.task).goals)
        object.__setattr__(self, "goal", integer("goal", self.goal, 0, goals - 1))
        phases = tuple(
            integer("a goal of phases", one, 0, goals - 1)
            for one in sequence("phases", self.phases, "a list of goals")
        )
        object.__setattr__(self, "phases", phases)
        if phases or self.every is not None:
            object.__setattr__(self, "every", integer("every", self.every, 1, MAX_COUNT))

    def goal_in(self, episode: int) -> int:
        """Return the goal of an episode, from 0; after the last phase, that of the last."""
        episode = integer("episode", episode, 0, MAX_COUNT)
        if not self.phases or self.every is None:
            return self.goal
        return self.phases[min(episode // self.every, len(self.phases) - 1)]

    def moves_at(self, episode: int) -> bool:
        """Say whether a new phase begins with this episode."""
        episode = integer("episode", episode, 0, MAX_COUNT)
        return (
            self.every is not None
            and 0 < episode < len(self.phases) * self.every
            and episode % self.every == 0
        )

    @property
    def inputs(self) -> int:
        """The number of inputs of the network, without the bias."""
        return self.task.inputs

    @property
    def outputs(self) -> int:
        """The number of outputs of the network, one for each action."""
        return self.task.outputs

    def begin(self, settings: Settings, episode: int = 0) -> W:
        """Begin a new episode, with the goal that it has."""
        return self.task.begin(self.goal_in(episode), settings)
