"""Base classes of tasks and of walks, the course of one episode."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, NamedTuple, TypeVar

from distal.base.checks import InputError, counted, instance, integer, sequence, shown
from distal.base.display import short
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import MAX_INPUTS, MAX_OUTPUTS, Settings
from distal.tasks.actions import Actions
from distal.tasks.encoders import AnyEncoder
from distal.tasks.picture import Picture
from distal.tasks.table import Table


class Walk(ABC):
    """The course of an episode, one action after another.

    Attributes:
        cut: Whether the episode used all of its steps before its task ended it.
    """

    cut: bool = False

    @property
    @abstractmethod
    def over(self) -> bool:
        """Whether the episode has ended."""

    @property
    @abstractmethod
    def ep(self) -> float:
        """The episodic performance; lower is better."""

    @abstractmethod
    def sense(self) -> Sequence[int]:
        """Return the inputs of this step, 0 or 1, without the bias."""

    @abstractmethod
    def act(self, action: int) -> None:
        """Take one step."""


class Registered(NamedTuple):
    """The word by which a task was asked for, and what makes the task of that word again."""

    word: str
    module: str | None
    args: Any

    def recipe(self, made: dict[str, Any] | None) -> dict[str, Any]:
        """Return what `sources.rebuilt` makes the task from, with what the task says of itself."""
        args = {"arguments": self.args} if self.args else {}
        return {"kind": "registered", "task": self.word, "module": self.module, **args, "made": made}


W = TypeVar("W", bound=Walk)
W_co = TypeVar("W_co", bound=Walk, covariant=True)


class Task(ABC, Generic[W_co]):
    """A task to learn; a trial has one of its goals.

    A task has `inputs`, `outputs`, `goals` and `begin`; everything else has a default. `check_task`
    checks a class of your own.

    Attributes:
        inputs: The number of inputs of the network, without the bias.
        outputs: The number of outputs of the network, one for each action.
        goals: The names of the goals, in order; at least one.
        whole: Whether every EP is a whole number.
        lowest: A lower bound of all EPs.
        steps: The most steps of an episode, unless settings say otherwise; None for the usual
            number.
        first_action: The number of the first action, if an environment does not count from 0.
        acting: The environment's actions, if they are not numbers from `first_action` on.
        encoder: The encoder of observations; None if they are bits.
        picture: The places of its table's states, for pages and films.
        maze: The maze, if the task is one.
        goal_label: The word for a goal in reports.
        resets: The keyword arguments of an environment's reset for each goal; None if the task has
            no environment.
        no_table: The reason why it has no table, if one was tried.
        registered: The registered word by which it was requested, if any.
        ignores: The readings that have no effect on it; only a maze has walls that block a move.
        in_python: Whether its steps are taken in Python; False if engine steps has compiled code for them.
    """

    inputs: int
    outputs: int
    goals: Sequence[str]
    whole: bool = True
    lowest: float = -math.inf
    steps: int | None = None
    first_action: int = 0
    acting: Actions | None = None
    encoder: AnyEncoder | None = None
    picture: Picture | None = None
    maze: Maze | None = None
    goal_label: str = "goal"
    resets: Sequence[Mapping[str, Any]] | None = None
    no_table: str | None = None
    registered: Registered | None = None
    ignores: Sequence[str] = ("blocked",)
    in_python: bool = True

    @cached_property
    def name(self) -> str:
        """The name of the task; the name of its class, unless it has its own."""
        return type(self).__name__

    @cached_property
    def actions(self) -> tuple[str, ...]:
        """The names of the actions; their numbers, unless they have their own."""
        return tuple(map(str, range(self.first_action, self.first_action + self.outputs)))

    @property
    def senses_bits(self) -> bool:
        """Whether its observations are bits and its actions numbers: an agent then acts without the task."""
        return self.encoder is None and self.acting is None and self.first_action == 0

    @abstractmethod
    def begin(self, goal: int, settings: Settings) -> W_co:
        """Begin a new episode towards a goal, of at most `settings.steps` steps."""

    def table(self, settings: Settings) -> Table | None:
        """Return the task as a table, if it is finite."""
        return None

    def target(self, settings: Settings) -> float | None:
        """Return the EP at or below which the goal counts as reached, if there is one."""
        return None

    def for_trial(self, seed: int) -> Task[W_co]:
        """Return the task of one trial, with the trial's seed if the task is random."""
        return self

    def close(self) -> None:
        """Close what a copy of the task holds, such as an environment."""

    def to_dict(self) -> dict[str, Any] | None:
        """Return the recipe from which `sources.rebuilt` makes the task, ready for JSON; None without one."""
        return None

    def about(self) -> dict[str, Any]:
        """Return the description of the task in a folder of runs, ready for JSON."""
        return {
            "name": self.name,
            "inputs": self.inputs,
            "outputs": self.outputs,
            "goals": list(self.goals),
            "recipe": self.to_dict() if self.registered is None else self.registered.recipe(self.to_dict()),
        }

    def fields(self) -> dict[str, Any]:
        """Return the fields that name the task in the JSON of results and runs."""
        return {"task": self.about()}

    @property
    def label(self) -> str:
        """The name of the task in lists of runs."""
        return self.name

    @property
    def place(self) -> str:
        """The place of trials, as in "10 trials in FrozenLake-v1"; empty for a maze."""
        return f" in {self.name}"

    def lesson(self, goal: str | None) -> str:
        """Return the task and goal in words, such as "FrozenLake-v1, goal 2"; None is a goal that moves."""
        if goal is None:
            return f"{self.name}, a goal that moves"
        return f"{self.name}, goal {goal}" if len(self.goals) > 1 else self.name

    def __repr__(self) -> str:
        inputs, outputs = counted(self.inputs, "input"), counted(self.outputs, "action")
        goals = counted(len(self.goals), self.goal_label)
        kind = type(self).__name__
        called = "" if self.label == kind else f"{short(self.label, 60)}: "
        return f"{kind}({called}{inputs}, {outputs}, {goals})"


def checked_task(task: Task[W]) -> Task[W]:
    """Return the task, if it has all that a task has."""
    given: object = task
    if not isinstance(given, Task):
        raise InputError(
            f"task is {shown(task)}, expected a task such as MazeTask(maze); "
            "a class of your own inherits from distal.Task"
        )
    for name in ("inputs", "outputs", "goals"):
        if not hasattr(task, name):
            raise InputError(f"task {type(task).__name__} has no {name}; set it in the class, or in __init__")
    integer("the number of inputs", task.inputs, 1, MAX_INPUTS)
    integer("the number of outputs", task.outputs, 1, MAX_OUTPUTS)
    integer("the number of goals", len(task.goals), 1)
    return task


@dataclass(frozen=True)
class Aim(Generic[W]):
    """A task and the goal of a trial: one of its goals, or one after another.

    Args:
        task: The task, such as MazeTask(maze).
        goal: The goal, from 0; if there are several phases, the goal of the first.
        phases: The goal of each phase, if it moves.
        every: The episodes of a phase.

    Raises:
        InputError: If it is not a task, or has no such goal.
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
        """Return the goal of an episode, from 0; after the last phase, the last goal."""
        episode = integer("episode", episode, 0, MAX_COUNT)
        if not self.phases or self.every is None:
            return self.goal
        return self.phases[min(episode // self.every, len(self.phases) - 1)]

    @property
    def inputs(self) -> int:
        """The number of inputs of the network, without the bias."""
        return self.task.inputs

    @property
    def outputs(self) -> int:
        """The number of outputs of the network, one for each action."""
        return self.task.outputs

    def begin(self, settings: Settings, episode: int = 0) -> W:
        """Begin a new episode with its goal."""
        return self.task.begin(self.goal_in(episode), settings)


def whole_target(target: float | None, settings: Settings, limit: int | None) -> float | None:
    """Return the target of a task that ends episodes after `limit` steps, if the settings leave it so many.

    A target above 0 is one for costs. Shorter episodes have none: to be cut off early would reach it.
    """
    steps = instance("settings", settings, Settings, "a Settings").steps
    shorter = limit is not None and steps < limit
    return None if target is not None and target > 0 and shorter else target
