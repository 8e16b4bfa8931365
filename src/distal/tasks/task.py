"""What is to be learned: tasks, their goals, and walks through an episode."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from distal.base.checks import InputError, integer, shown
from distal.model.network import MAX_NEURONS
from distal.model.settings import Settings
from distal.tasks.tables import Table


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
    """What is to be learned; a trial has one of its goals, and every episode begins in the same way."""

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


@dataclass(frozen=True)
class Aim(Generic[W]):
    """A task and one of its goals: what a network learns in a trial.

    Args:
        task: What is to be learned, as MazeTask(maze).
        goal: Which of its goals, from 0.

    Raises:
        InputError: If it is no task, or has no such goal.
    """

    task: Task[W]
    goal: int = 0

    def __post_init__(self) -> None:
        goals = len(checked_task(self.task).goals)
        object.__setattr__(self, "goal", integer("goal", self.goal, 0, goals - 1))

    @property
    def inputs(self) -> int:
        """The number of inputs of the network, without the bias."""
        return self.task.inputs

    @property
    def outputs(self) -> int:
        """The number of outputs of the network, one for each action."""
        return self.task.outputs

    def begin(self, settings: Settings) -> W:
        """Begin a new episode."""
        return self.task.begin(self.goal, settings)
