"""Descriptions of tasks in folders of runs and in results, and the tasks that are read back from them.

A task that can be rebuilt (an environment by its id, a saved table) is rebuilt when its runs are
continued or its result is loaded. Any other has to be passed again. Either way it must be the same
task.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from distal.base.checks import InputError, integer, number, sequence, shown, text
from distal.model.maze import Maze
from distal.model.settings import MAX_INPUTS, MAX_OUTPUTS, Settings
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import AnyTask, rebuilt, task_of
from distal.tasks.task import Task, Walk

_LONGEST_NAME = 1_000
FIELDS = ("name", "inputs", "outputs", "goals", "recipe")


class StoredTask(Task[Walk]):
    """A task as a folder or a result knows it: enough to show it, not to run it.

    Args:
        content: What `Task.about` returned.
        success: The EP that counts as success; a result keeps it, a folder does not.

    Attributes:
        unmade: Why it was not made again, where that was tried.
        bits: Whether its observations are bits and its actions numbers.

    Raises:
        InputError: If the content is not that of a task.
    """

    unmade: str | None = None
    bits: bool = False

    def __init__(self, content: dict[str, Any], success: float | None = None) -> None:
        given: object = content
        if not isinstance(given, dict) or set(given) != set(FIELDS):
            raise InputError(f"the task is {shown(given)}, expected an object with {', '.join(FIELDS)}")
        self.content = content
        self.name = text("name of the task", content["name"], _LONGEST_NAME)
        self.inputs = integer("inputs", content["inputs"], 1, MAX_INPUTS)
        self.outputs = integer("outputs", content["outputs"], 1, MAX_OUTPUTS)
        self.success = None if success is None else number("target", success)
        goals = sequence("goals", content["goals"], "a list of names")
        integer("the number of goals", len(goals), 1)
        self.goals = tuple(text("goals", goal, _LONGEST_NAME) for goal in goals)

    @property
    def senses_bits(self) -> bool:
        """Whether its observations are bits and its actions numbers, as far as is known."""
        return self.bits

    def target(self, settings: Settings) -> float | None:
        """Return the EP at or below which the goal counted as reached, where it is known."""
        return self.success

    def begin(self, goal: int, settings: Settings) -> NoReturn:
        """Refuse: rebuild the task first."""
        raise InputError(f"the task {self.name} is only described here; rebuild it with restored")

    def to_dict(self) -> dict[str, Any] | None:
        """Return what the task is made from again, if it can be."""
        found: dict[str, Any] | None = self.content["recipe"]
        return found


def task_from_fields(data: Mapping[str, Any]) -> Task[Any]:
    """Read the `fields` of a task: a maze, or a StoredTask."""
    if "task" in data:
        if "maze" in data or "heading" in data:
            raise InputError("it has both a task and a maze")
        return StoredTask(data["task"], data.get("target"))
    if not isinstance(data["maze"], list):
        raise InputError("the maze is not a list of rows")
    return MazeTask(Maze(tuple(data["maze"]), data["heading"]))


def restored(
    kept: Task[Any],
    given: AnyTask = None,
    what: str = "the runs are",
    again: str = "continue with distal.resume(folder, task=…)",
) -> Task[Any]:
    """Return the task that a file names: a maze, or the task rebuilt, or the same one given again.

    Args:
        kept: The task as the file knows it.
        given: The task, given again.
        what: What is of a task, with its verb, for a refusal.
        again: How to give the task, for a refusal.

    Raises:
        InputError: If it cannot be rebuilt, or is another one.
    """
    task = None if given is None else task_of(given)
    if kept.maze is not None:
        if task is not None and task.maze != kept.maze:
            raise InputError(f"{what} of another maze; leave task out")
        return kept
    recipe = kept.to_dict()
    if task is None and recipe is None:
        raise InputError(
            f"the task {kept.name} was made in Python and cannot be rebuilt from a file; {again}"
        )
    task = rebuilt(recipe) if task is None else task
    _check_same(kept, task, what)
    return task


def _check_same(kept: Task[Any], task: Task[Any], what: str) -> None:
    before, now = _identity(kept), _identity(task)
    for name, value in before.items():
        if name not in now or now[name] != value:
            here = shown(now.get(name))
            raise InputError(f"{what} of another task: {name} is {shown(value)} there, {here} here")


def _identity(task: Task[Any]) -> dict[str, Any]:
    """Return the fields that two equal tasks share: of a table its content, wherever it came from."""
    content = task.about()
    found = content.pop("recipe")
    if isinstance(found, dict) and found.get("kind") == "registered":
        found = found.get("made")  # the same task, whether it was asked for by its word or given
    if not isinstance(found, dict):
        return {**content, "recipe": found}
    return content | ({"digest": found["digest"]} if "digest" in found else found)
