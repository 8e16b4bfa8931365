"""What a folder of runs says of a task, and the task that it is read back as.

A task that can be rebuilt (an environment by its id, a saved table) is, when its runs are
continued. Any other has to be given again. Either way it must be the same task.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NoReturn

from distal.base.checks import InputError, integer, number, sequence, shown, text
from distal.model.settings import MAX_NEURONS, Settings
from distal.tasks.sources import AnyTask, rebuilt, task_of
from distal.tasks.task import Task, recipe, task_name

_LONGEST_NAME = 1_000
FIELDS = ("name", "inputs", "outputs", "goals", "recipe")


def stored(task: Task[Any]) -> dict[str, Any]:
    """Return what a folder keeps of a task, ready for JSON."""
    if isinstance(task, StoredTask):
        return task.content
    return {
        "name": task_name(task),
        "inputs": task.inputs,
        "outputs": task.outputs,
        "goals": list(task.goals),
        "recipe": recipe(task),
    }


@dataclass(frozen=True)
class StoredTask:
    """A task as a folder or a result knows it: enough to show it, not to run it.

    A result keeps the EP that counts as success, `success`; a folder does not.
    """

    content: dict[str, Any]
    success: float | None = None

    def __post_init__(self) -> None:
        given: object = self.content
        if not isinstance(given, dict) or set(given) != set(FIELDS):
            raise InputError(f"the task is {shown(given)}, expected an object with {', '.join(FIELDS)}")
        text("name of the task", self.content["name"], _LONGEST_NAME)
        for name in ("inputs", "outputs"):
            integer(name, self.content[name], 1, MAX_NEURONS)
        if self.success is not None:
            number("target", self.success)
        goals = sequence("goals", self.content["goals"], "a list of names")
        integer("the number of goals", len(goals), 1)
        for goal in goals:
            text("goals", goal, _LONGEST_NAME)

    @property
    def name(self) -> str:
        """What the task is called."""
        return str(self.content["name"])

    @property
    def inputs(self) -> int:
        """The number of inputs of the network."""
        return int(self.content["inputs"])

    @property
    def outputs(self) -> int:
        """The number of outputs of the network."""
        return int(self.content["outputs"])

    @property
    def goals(self) -> tuple[str, ...]:
        """What the goals are called."""
        return tuple(self.content["goals"])

    def target(self, settings: Settings) -> float | None:
        """Return the EP at or below which the goal counted as reached, where it is known."""
        return self.success

    def begin(self, goal: int, settings: Settings) -> NoReturn:
        """Refuse: rebuild the task first."""
        raise InputError(f"the task {self.name} is only described here; rebuild it with restored")

    def table(self, settings: Settings) -> None:
        """Return None: it is not known before the task is rebuilt."""


def restored(kept: StoredTask, given: AnyTask = None) -> Task[Any]:
    """Return the task that a folder names: rebuilt, or the one that is given, if it is the same.

    Args:
        kept: what the folder says of it.
        given: the task again, where it cannot be rebuilt.

    Returns:
        A task that can be run.

    Raises:
        InputError: if it cannot be rebuilt and is not given, or is another one.
    """
    if given is not None:
        task = task_of(given)
        _check_same(kept, task)
        return task
    if kept.content["recipe"] is None:
        raise InputError(
            f"the task {kept.name} was made in Python and cannot be rebuilt from a file; "
            "continue with distal.resume(folder, task=…)"
        )
    task = rebuilt(kept.content["recipe"])
    _check_same(kept, task)
    return task


def _check_same(kept: StoredTask, task: Task[Any]) -> None:
    before, now = _identity(kept), _identity(task)
    for name, value in before.items():
        if name not in now or now[name] != value:
            here = shown(now.get(name))
            raise InputError(f"the runs are of another task: {name} is {shown(value)} there, {here} here")


def _identity(task: Task[Any]) -> dict[str, Any]:
    """Return what makes a task the same one: of a table what it holds, wherever it came from."""
    content = dict(stored(task))
    found = content.pop("recipe")
    if not isinstance(found, dict):
        return {**content, "recipe": found}
    return content | ({"digest": found["digest"]} if "digest" in found else found)
