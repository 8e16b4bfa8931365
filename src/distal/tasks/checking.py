"""A check of tasks: `check_task` tests one before anything is learned in it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from distal.base.checks import InputError, counted, flag, instance, integer, number, sequence, shown, text
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import MAX_STEPS, Settings
from distal.tasks.gym import said
from distal.tasks.picture import Picture
from distal.tasks.table import Table
from distal.tasks.table_task import TableWalk
from distal.tasks.task import Task, Walk, checked_task

_EPISODES = 5  # towards each goal, and at least one that begins with each action
_GOALS = 10  # the first of them
_LONGEST_NAME = 1_000  # letters that a folder takes


class _Played(NamedTuple):
    """The record of an episode: the bits of every step, and the EP."""

    sensed: list[tuple[int, ...]]
    ep: float


def check_task(task: Task[Any], *, seed: int = 0) -> None:
    """Check a task of your own; refuse, in one line, the first broken promise.

    Random actions run towards each of the first ten goals, twice with the same
    seed, and once in the table if there is one.

    Args:
        task: The task.
        seed: The seed of the actions, and of the trials.

    Raises:
        InputError: If it breaks a promise: one line with the promise, the place and the fix.
    """
    seed = integer("seed", seed, 0, MAX_SEED)
    if isinstance(task, type):
        raise InputError(f"task is the class {task.__name__}, expected one of its objects: {task.__name__}()")
    checked_task(task)
    _check_words(task)
    settings = Settings() if task.steps is None else Settings(steps=task.steps)
    _check_answers(task, settings, seed)
    table = _checked_table(task, settings)
    chosen = np.random.default_rng(seed)
    for goal in range(min(len(task.goals), _GOALS)):
        plans = chosen.integers(task.outputs, size=(max(_EPISODES, task.outputs), settings.steps))
        plans[:, 0] = np.arange(len(plans)) % task.outputs
        once, again = (_trial(task, goal, settings, seed, plans.tolist()) for _ in range(2))
        _compare(task, goal, once, again)
        if table is not None:
            _compare_table(task, goal, settings, table, plans.tolist(), once)


def _check_words(task: Task[Any]) -> None:
    """Refuse what a task says of itself if it is of another type, or out of range."""
    integer("first_action", task.first_action, -MAX_COUNT, MAX_COUNT)
    goals = sequence("goals", task.goals, "a list of names")
    for what, words in (("name", [task.name]), ("goals", goals), ("actions", task.actions)):
        for word in sequence(what, words, "a list of names"):
            if not text(what, word, _LONGEST_NAME):
                raise InputError(f"{what} holds an empty name, expected text")
    if len(set(goals)) < len(goals):
        raise InputError(f"goals are {shown(list(goals))}, expected different names")
    if len(task.actions) != task.outputs:
        raise InputError(f"actions has {len(task.actions)} names, the task has {task.outputs} outputs")
    flag("whole", task.whole)
    if task.lowest != -np.inf:
        number("lowest", task.lowest)
    if task.steps is not None:
        integer("steps", task.steps, 1, MAX_STEPS)
    if task.encoder is not None and task.encoder.bits != task.inputs:
        raise InputError(f"encoder gives {task.encoder.bits} bits, the task has {task.inputs} inputs")


def _check_answers(task: Task[Any], settings: Settings, seed: int) -> None:
    """Refuse wrong answers of the methods that begin no episode."""
    with failing("target(settings)"):
        target: object = task.target(settings)
    if target is not None:
        number("the target", target)
    with failing("to_dict()"):
        content: object = task.to_dict()
    if content is not None and not (isinstance(content, dict) and _is_json(content)):
        raise InputError(
            f"to_dict() returns {shown(content)}, expected a dictionary that JSON can hold, or None "
            "if the task cannot be made again from a file"
        )
    with failing("for_trial(seed)"):
        own: object = task.for_trial(seed)
    if not isinstance(own, Task) or _sizes(own) != _sizes(task):
        raise InputError(f"for_trial(seed) returns {shown(own)}, expected the same task with this seed")


def _sizes(task: Task[Any]) -> tuple[int, int, tuple[str, ...]]:
    return task.inputs, task.outputs, tuple(task.goals)


def _is_json(content: object) -> bool:
    try:
        return bool(json.loads(json.dumps(content, allow_nan=False)) == content)
    except (TypeError, ValueError, RecursionError):
        return False


def _checked_table(task: Task[Any], settings: Settings) -> Table | None:
    """Return the table of the task, if it has one, and it is of the same size."""
    with failing("table(settings)"):
        found: object = task.table(settings)
    if found is None:
        return None
    table = instance("the table", found, Table, "a Table, or None")
    for name, of_table, of_task in (
        ("inputs", table.inputs, task.inputs),
        ("outputs", table.outputs, task.outputs),
        ("goals", table.goals, len(task.goals)),
    ):
        if of_table != of_task:
            raise InputError(f"the table has {of_table} {name}, the task {of_task}; they must be the same")
    if not task.whole:
        raise InputError("whole is False, but EPs of a table are whole; leave out table, or whole")
    if task.picture is not None:
        states = instance("picture", task.picture, Picture, "a Picture").states
        if states != len(table.following):
            raise InputError(f"picture has {states} states, the table {len(table.following)}")
    return table


def _trial(
    task: Task[Any], goal: int, settings: Settings, seed: int, plans: Sequence[Sequence[int]]
) -> list[_Played]:
    """Walk through the episodes of a trial, with the actions that are planned for each."""
    trial = task.for_trial(seed)
    played, before = [], None
    for actions in plans:
        with failing(f"begin({goal}, settings)"):
            begun: object = trial.begin(goal, settings)
        if not isinstance(begun, Walk):
            raise InputError(
                f"begin returns {shown(begun)}, expected a walk, of a class that inherits from "
                "distal.tasks.task.Walk"
            )
        if begun is before:
            raise InputError("begin returns the walk of the episode before; make a new one for each episode")
        before = begun
        played.append(_episode(task, begun, actions, f"an episode towards goal {shown(task.goals[goal])}"))
    return played


def _episode(task: Task[Any], walk: Walk, actions: Sequence[int], where: str) -> _Played:
    """Walk through an episode, until it is over or has had all of its steps."""
    sensed: list[tuple[int, ...]] = []
    for step, action in enumerate(actions):
        at = f"in step {step + 1} of {where}"
        with failing("over", at):
            over = flag(f"over {at}", walk.over)
        if over and step == 0:
            raise InputError(
                f"over is True before the first step of {where}; an episode has at least one step"
            )
        if over:
            break
        with failing("sense()", at):
            bits = _bits(task, walk.sense(), at)
            again = _bits(task, walk.sense(), at)
        if bits != again:
            raise InputError(
                f"sense() {at} gives {_written(bits)}, and then {_written(again)}; it must change nothing"
            )
        sensed.append(bits)
        with failing(
            f"act({action})", f"{at}; every action from 0 to {task.outputs - 1} can come in any step"
        ):
            walk.act(action)
    flag("cut", walk.cut)
    with failing("ep", f"at the end of {where}"):
        ep: object = walk.ep
    found = number(f"ep at the end of {where}", ep)
    if task.whole and found != int(found):
        raise InputError(
            f"ep at the end of {where} is {shown(ep)}; say whole = False in the class of the task"
        )
    if found < task.lowest:
        raise InputError(f"ep at the end of {where} is {shown(ep)}, but lowest is {task.lowest}")
    return _Played(sensed, found)


def _bits(task: Task[Any], given: object, at: str) -> tuple[int, ...]:
    """Return the inputs of a step, if each is 0 or 1 and their number is the one the task states."""
    bits = sequence(f"sense() {at}", given, "a list of bits")
    if len(bits) != task.inputs:
        raise InputError(f"sense() {at} gives {counted(len(bits), 'bit')}, the task has {task.inputs} inputs")
    for bit in bits:
        if not isinstance(bit, int | np.integer | np.bool_) or bit not in (0, 1):
            raise InputError(f"sense() {at} gives {shown(bit)}, expected 0 or 1")
    return tuple(map(int, bits))


def _written(bits: tuple[int, ...]) -> str:
    return "".join(map(str, bits))


def _compare(task: Task[Any], goal: int, once: list[_Played], again: list[_Played]) -> None:
    """Refuse a task in which the same trial is not always the same."""
    for number_of, (one, other) in enumerate(zip(once, again, strict=True), start=1):
        if one != other:
            raise InputError(
                f"a trial with one seed is not the same twice: episode {number_of} towards goal "
                f"{shown(task.goals[goal])} differs in {_difference(one, other)}; reset everything "
                "in begin, and draw random numbers from the seed that for_trial gets"
            )


def _compare_table(
    task: Task[Any],
    goal: int,
    settings: Settings,
    table: Table,
    plans: Sequence[Sequence[int]],
    played: list[_Played],
) -> None:
    """Refuse a task whose table is not what happens in its walks."""
    for actions, own in zip(plans, played, strict=True):
        walk, sensed = TableWalk(table, goal, settings), []
        for action in actions:
            if walk.over:
                break
            sensed.append(walk.sense())
            walk.act(action)
        theirs = _Played(sensed, walk.ep)
        if own != theirs:
            raise InputError(
                f"the table and the walk disagree: after the actions {_first(actions)} towards goal "
                f"{shown(task.goals[goal])} they differ in {_difference(own, theirs)}; mend one of them"
            )


def _first(actions: Sequence[int]) -> str:
    return ", ".join(map(str, actions[:5])) + (", …" if len(actions) > 5 else "")


def _difference(one: _Played, other: _Played) -> str:
    """Return where two episodes differ first."""
    for step, (here, there) in enumerate(zip(one.sensed, other.sensed, strict=False), start=1):
        if here != there:
            return f"the bits of step {step}, {_written(here)} and {_written(there)}"
    if len(one.sensed) != len(other.sensed):
        return f"their steps, {len(one.sensed)} and {len(other.sensed)}"
    return f"their EP, {one.ep:g} and {other.ep:g}"


@contextmanager
def failing(what: str, where: str = "") -> Iterator[None]:
    """Turn what a newcomer raises into one line."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"{what} fails with {said(error)}{f', {where}' if where else ''}") from error
