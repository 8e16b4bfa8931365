"""Tasks from their sources: a maze, a table, a file, an environment or its id."""

from __future__ import annotations

import importlib.metadata
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

from distal.base import plugins
from distal.base.checks import InputError, flag, function, instance, sequence, shown
from distal.model.maze import Maze
from distal.tasks.classic_control import PREFIX, classic_task
from distal.tasks.encoders import Encoder
from distal.tasks.gym import EnvError, EnvTask, Judge, is_env, said
from distal.tasks.mazes import MazeTask
from distal.tasks.naming import is_name, is_trusted, may_be_imported
from distal.tasks.registry import maker_of
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.tabulation import LIMIT, Key, NoTable, Progress, table_task
from distal.tasks.task import Registered, Task, checked_task

# A Maze, a Table, a task, an environment, a function that makes one, its id, or the file of a saved table.
AnyTask: TypeAlias = Any

AT_ONCE = 2_000  # states that are looked for where nobody asked for a table


def task_of(
    given: Any,
    *,
    args: Mapping[str, Any] | None = None,
    encode: object = None,
    starts: int | None = None,
    ep: Judge | None = None,
    key: Key | None = None,
    tabulated: bool | None = None,
    wrap: object = None,
    actions: str | None = None,
    scale: int | None = None,
    progress: Progress | None = None,
) -> Task[Any]:
    """Return the task that an environment, a table, a name or a file stands for.

    An environment becomes a table if possible, so that every engine runs it.

    Args:
        given: A Maze, a Table, a task, a Gymnasium environment, a function that makes one, the
            id of one, the word of a task that was registered, or the path of a table that was saved
            (`.npz`).
        args: Arguments for the function, or for `gymnasium.make`.
        encode: The encoding of observations as bits: words, such as "one-hot,bins:3", or a
            function, or its name, "module:function".
        starts: The number of goals: goal k resets with seed k in every episode.
        ep: A function that returns the EP of an episode, lower is better; minus the return if left out.
        key: A function of the unwrapped environment that returns its state.
        tabulated: Whether an environment must become a table; with None it does if no observed
            number has many values, and it has few states.
        wrap: Wrappers, the innermost first: classes or functions, or their names, "module:Class".
        actions: Turns a continuous action into a few, "bins:3": three values of each number.
        scale: The factor on rewards; a table with fractional rewards finds its own.
        progress: Called with the number of new states, while a table is made.

    Returns:
        The task.

    Raises:
        InputError: If it is none of these, or must become a table and cannot.
    """
    must = None if tabulated is None else flag("tabulated", tabulated)
    function("progress", progress)
    if isinstance(given, str) and given.startswith(PREFIX) and encode is not None:
        made, encode = classic_task(given, encode), None
        given = made
    made_with: dict[str, Any] = {
        "args": args, "encode": encode, "starts": starts, "ep": ep, "wrap": wrap, "actions": actions,
        "scale": scale,
    }  # fmt: skip
    maker, asked = maker_of(given), {**made_with, "key": key, "tabulated": must}
    if maker is not None:
        return _registered(given, maker, progress=progress, **asked)
    plain = _plain(given)
    if plain is not None:
        for name, value in asked.items():
            if value is not None:
                raise InputError(f"{name} is for environments, and the task is {shown(given)}; leave it out")
        return plain
    world = EnvTask(given, **made_with)
    if must is False:
        return world
    try:
        if must is None and _is_continuous(world):
            raise NoTable("a Box observation usually has too many states for a table")
        return table_task(world, key=key, limit=LIMIT if must else AT_ONCE, progress=progress)
    except (NoTable, EnvError) as reason:
        if must:
            raise
        world.no_table = str(reason)
        return world


def _registered(word: str, maker: Callable[..., Any], args: Any, **options: Any) -> Task[Any]:
    """Return the task of a word; what its maker returns may be anything that `task_of` takes."""
    given: dict[str, Any] = {} if args is None else dict(args)
    made = _made(word, maker, given)
    if is_env(made):
        made.close()
        task = task_of(maker, args=given, **options)
    else:
        task = task_of(made, **options)
    if task.maze is None:  # a maze is kept whole
        kept = {name: value for name, value in given.items() if isinstance(value, bool | int | float | str)}
        object.__setattr__(task, "registered", Registered(word, plugins.module_of(maker), kept))
    return task


def _made(word: str, maker: Callable[..., Any], args: Mapping[str, Any]) -> Any:
    """Return what the maker of a word makes."""
    try:
        return maker(**args)
    except InputError:
        raise
    except Exception as error:
        raise InputError(f"cannot make the task {word}: {said(error)}") from None


def rebuilt(data: object) -> Task[Any]:
    """Make a task again from the data of its `to_dict`.

    The id of an environment may name a module, which is imported if it is part of an installed
    package; no other code is run.

    Args:
        data: The data.

    Returns:
        The task: the same table, or the same environment and encoder.

    Raises:
        InputError: If it cannot be made again, or would differ here.
    """
    if isinstance(data, dict) and data.get("kind") == "compiled":
        return classic_task(data.get("name", ""), data.get("encoder"))
    if isinstance(data, dict) and data.get("kind") == "registered":
        return _registered_again(data)
    if not isinstance(data, dict) or data.get("kind") not in ("table", "environment"):
        raise InputError(f"task is {shown(data)}, expected the dictionary that a task's to_dict returns")
    if data["kind"] == "environment":
        return _environment(data)
    source = data.get("source")
    if not isinstance(source, dict):
        raise InputError(
            f"table {shown(data.get('name'))} was made in a program; save it, and give the file as the task"
        )
    made = TableTask.load(source["file"]) if "file" in source else _table(source, data.get("states"))
    found = made.to_dict()["digest"]
    if found != data.get("digest"):
        where = f"file {shown(source['file'])}" if "file" in source else "the environment"
        raise InputError(f"{where} gives another table than before: {found[:12]}, expected the one it gave")
    return made


def _registered_again(data: dict[str, Any]) -> Task[Any]:
    """Make the task of a word again, if its module has been imported."""
    word, args = data.get("task"), data.get("arguments", {})
    maker = maker_of(word)
    if maker is None:
        raise plugins.unknown("task", word, data.get("module"))
    kept = data.get("made")
    made = kept if isinstance(kept, dict) else {}
    source = made.get("source") if made.get("kind") == "table" else made
    options: dict[str, Any] = {}
    if isinstance(source, dict) and source.get("kind") == "environment":
        options = {
            "starts": source.get("starts"), "encode": source.get("encoder"), "scale": source.get("scale"),
            "actions": source.get("actions"), "wrap": _wrap(source.get("wrap", ())) or None,
            "tabulated": made.get("kind") == "table",
        }  # fmt: skip
    return _registered(str(word), maker, args, **options)


def _table(source: dict[str, Any], states: object) -> TableTask:
    """Tabulate an environment again."""
    if source.get("key") is not None:
        raise InputError(
            f"the environment was tabulated with the function {shown(source['key'])}; give the task again"
        )
    most = states if isinstance(states, int) and 0 < states < LIMIT else LIMIT
    try:
        return table_task(_environment(source), limit=most)
    except NoTable as reason:
        raise InputError(f"the environment gives another table than before: {reason}") from None


def _environment(data: dict[str, Any]) -> EnvTask:
    """Make an environment again, if it is the same package that makes it."""
    name, args, options = data.get("id"), data.get("arguments"), data.get("options")
    if not isinstance(name, str):
        raise InputError(f"the environment was given as {shown(data.get('given'))}; give the task again")
    if data.get("ep") is not None:
        raise InputError(f"the EP of {shown(name)} was the function {shown(data['ep'])}; give the task again")
    if args is None or options is None:
        raise InputError(f"the arguments of {shown(name)} were more than JSON can hold; give the task again")
    module, named, _ = name.partition(":")
    if named and not is_trusted(module):
        raise InputError(
            f"{shown(name)} names a module of no installed package: import {module} first, if you trust it"
        )
    origin = data.get("package")
    if not named and isinstance(origin, str) and data.get("version") is None and origin not in sys.modules:
        raise InputError(
            f"environment {shown(name)} came from module {origin}, of no installed package: "
            f"import {origin} first, if you trust it"
        )
    for package, version in (
        (data.get("package"), data.get("version")),
        ("gymnasium", data.get("gymnasium")),
    ):
        _check_version(name, package, version)
    encoder = instance("encoder", data.get("encoder"), dict, "word, bits and edges")
    function = str(encoder.get("word")).removeprefix("function ")
    if is_name(function) and not may_be_imported(function):
        raise InputError(
            f"encode was the function {function}, of no installed package: "
            f"import {function.partition(':')[0]} first, if you trust it"
        )
    return EnvTask(
        name, args=args, options=options, starts=data.get("starts"), encode=encoder,
        wrap=_wrap(data.get("wrap", ())), actions=data.get("actions"), scale=data.get("scale"),
    )  # fmt: skip


def _wrap(data: object) -> list[str]:
    """Return the names of wrappers that a file holds, if each is of an installed package, of this version."""
    names = []
    for one in sequence("wrap", data, "a list of wrappers"):
        name = str(one.get("name")) if isinstance(one, dict) else ""
        if not is_name(name):
            raise InputError(f"the environment was wrapped in {shown(name)}; give the task again")
        if not may_be_imported(name):
            raise InputError(
                f"the environment was wrapped in {name}, of no installed package: "
                f"import {name.partition(':')[0]} first, if you trust it"
            )
        _check_version(name, one.get("package"), one.get("version"))
        names.append(name)
    return names


def _check_version(name: str, package: object, version: object) -> None:
    """Refuse a package of another version than the one that an environment came from."""
    try:
        here = importlib.metadata.version(str(package))
    except (importlib.metadata.PackageNotFoundError, ValueError):
        here = None
    if here != version:
        found = "which is not installed here" if here is None else f"here is {here}"
        raise InputError(
            f"{shown(name)} came from {shown(package)} {shown(version)}, {found}; "
            "install the version that it came from"
        )


def _plain(given: Any) -> Task[Any] | None:
    """Return the task that something is or holds, if it is no environment."""
    if isinstance(given, Maze):
        return MazeTask(given)
    if isinstance(given, Table):
        return TableTask(given)
    if isinstance(given, str) and given.startswith(PREFIX):
        return classic_task(given)
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".npz")):
        return TableTask.load(given)
    return checked_task(given) if isinstance(given, Task) else None


def _is_continuous(task: EnvTask) -> bool:
    """Say whether an observed number of an environment has so many values that it is in bins."""
    if isinstance(task.encoder, Encoder):
        return task.encoder.binned
    return _holds_box(task.env.observation_space)


def _holds_box(space: Any) -> bool:
    from gymnasium.spaces import Box, Dict, Tuple  # noqa: PLC0415 - an extra

    if isinstance(space, Dict):
        return any(map(_holds_box, space.values()))
    return any(map(_holds_box, space)) if isinstance(space, Tuple) else isinstance(space, Box)
