"""Options that several commands share, and the values that they stand for."""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Mapping
from typing import Any, cast

from distal import engines
from distal.base.checks import InputError, shown, suggestion
from distal.cli.parser import Parser, number, whole
from distal.cli.terminal import progress
from distal.learners import DEFAULTS, Learner, find_learner
from distal.learners.shipped import shipped_names
from distal.model import maze as mazes
from distal.model.maze import DEFAULT_MAZE, HEADINGS, MAZES, Maze, t_maze
from distal.model.readings import BINARY, NEURONS, READINGS, RECURRENT, default
from distal.model.settings import Settings, SettingsDict
from distal.networks import NETWORKS
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import task_of
from distal.tasks.switching import NEW, SCHEDULES, Switch
from distal.tasks.task import Task


def learner_help() -> str:
    """Return the names that a learner can have."""
    return f"{shipped_names()}, {', '.join(DEFAULTS)}, or the file of a learner"


def add_seed(command: Parser) -> None:
    """Add the seed."""
    command.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)")


def add_heading(command: Parser, default: str | None = "north") -> None:
    """Add the heading at the start."""
    command.add_argument(
        "--heading", default=default, metavar="H", help=f"start heading: {', '.join(HEADINGS)} (north)"
    )


def add_resample(command: Parser) -> None:
    """Add how often fresh weights are drawn."""
    command.add_argument(
        "--resample", type=whole, metavar="R", help="draw fresh weights every R episodes (never)"
    )


def add_settings(
    command: Parser, given_only: bool = False, remark: str = "", environments: bool = False
) -> None:
    """Add network, maze and readings; with `given_only` an option that is left out is None."""
    defaults = Settings()

    def unless_given(value: Any) -> Any:
        return None if given_only else value

    for name, text in (("hidden", "hidden neurons"), ("steps", "steps per episode")):
        value = getattr(defaults, name)
        own = ", or what the environment allows" if name == "steps" and environments else ""
        command.add_argument(f"--{name}", type=whole, metavar="N", help=f"{text} ({value}{own})")
    neurons = explained(NEURONS, BINARY)
    command.add_argument("--neurons", default=unless_given(BINARY), metavar="WORD", help=neurons)
    network = explained({word: kind.label for word, kind in NETWORKS.items()}, RECURRENT)
    command.add_argument("--network", default=unless_given(RECURRENT), metavar="WORD", help=network)
    command.add_argument("--maze", metavar="MAZE", help=maze_help())
    add_heading(command, None if environments else unless_given("north"))
    readings = command.add_argument_group(f"readings, where the paper is silent{remark}")
    for name, values in READINGS.items():
        readings.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            default=unless_given(default(name)),
            metavar="WORD",
            help=explained(values, default(name)),
        )


def add_task(command: Parser) -> None:
    """Add an environment as the task."""
    group = command.add_argument_group("a task of your own (the triple T-maze)")
    add_levels(group, ", with as many steps for its shortest ways as 100 are for the paper's")
    add_environment(group)
    group.add_argument("--env", metavar="ID", help="a Gymnasium environment, or a table saved as FILE.npz")


def add_levels(command: argparse._ActionsContainer, remark: str = "") -> None:
    """Add the size of a T-maze."""
    command.add_argument("--levels", type=whole, metavar="N", help=f"a T-maze of 1 to 4 levels{remark}")
    command.add_argument(
        "--width", type=whole, metavar="W", help="with --levels: corridors of 1 to 5 cells (3)"
    )


def add_switch(command: Parser) -> None:
    """Add goals that move."""
    group = command.add_argument_group("conditions that change")
    group.add_argument("--switch", type=whole, metavar="E", help="the goal moves every E episodes (never)")
    group.add_argument(
        "--switch-to",
        metavar="WORD",
        help=f"{explained(SCHEDULES, NEW)}; or the goals of all phases with commas between, as 0,5,0",
    )


def switch(args: argparse.Namespace, task: Task[Any]) -> Switch | None:
    """Return when goals move and where to, if they do; listed goals go by the names that the task has."""
    if args.switch is None:
        if args.switch_to is not None:
            raise InputError("--switch-to says where goals move; say when with --switch E, or leave it out")
        return None
    if args.switch_to is None or args.switch_to in SCHEDULES:
        return Switch(args.switch, args.switch_to or NEW)
    names = [name.strip() for name in args.switch_to.split(",")]
    for name in names:
        if name not in task.goals:
            expected = f"{', '.join(SCHEDULES)}, or goals of the task ({', '.join(task.goals)})"
            raise InputError(f"--switch-to names {name!r}, expected {expected}")
    return Switch(args.switch, tuple(list(task.goals).index(name) for name in names))


def add_environment(group: argparse._ArgumentGroup) -> None:
    """Add how an environment is made and sensed."""
    group.add_argument(
        "--env-arg",
        action="append",
        type=_argument,
        metavar="NAME=VALUE",
        help="an argument of the environment, as is_slippery=false; may be repeated",
    )
    group.add_argument(
        "--encode",
        metavar="WORDS",
        help="how observations become bits: binary, one-hot, bins:N, bins:N:quantiles, with commas between",
    )
    group.add_argument(
        "--starts", type=whole, metavar="N", help="N goals, which begin where reset(seed=0), … leads (one)"
    )


def _argument(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; the value is JSON (true, 0.5, [1, 2]), or else the text itself."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{shown(text)} should be NAME=VALUE, as is_slippery=false")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def task(args: argparse.Namespace) -> Task[Any]:
    """Return the environment that was asked for as a task, or the maze."""
    if args.env is None:
        for option in ("env_arg", "encode", "starts"):
            if getattr(args, option) is not None:
                name = option.replace("_", "-")
                raise InputError(f"--{name} is for an environment; name one with --env ID, or leave it out")
        heading = "north" if args.heading is None else args.heading
        built = levels_maze(args, heading)
        if built is None:
            return MazeTask(maze(args.maze, heading))
        if args.maze is not None:
            raise InputError("--maze and --levels are both given; leave one out")
        return MazeTask.scaled(built)
    for name in ("maze", "levels", "width"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name} and --env are both given; leave one out")
    if args.heading is not None:
        raise InputError("--heading is for a maze; leave it out")
    return environment(args.env, args)


def environment(name: str, args: argparse.Namespace) -> Task[Any]:
    """Return an environment as a task."""
    with progress("exploring", None, "states") as advance:
        return task_of(
            name,
            args=dict(args.env_arg or ()) or None,
            encode=args.encode,
            starts=args.starts,
            progress=advance,
        )


def add_numbers(command: Parser) -> None:
    """Add the numbers of the learners that need no file."""
    for name, words in _owners().items():
        text = " or ".join(f"{word} ({DEFAULTS[word].numbers[name]:g})" for word in words)
        option = f"--{name.replace('_', '-')}"
        command.add_argument(option, type=number, metavar="X", help=f"of the learner {text}, 0 to 1")


def _owners() -> dict[str, list[str]]:
    """Return the numbers of the learners that a word stands for, and whose they are."""
    names = dict.fromkeys(name for learner in DEFAULTS.values() for name in learner.names)
    return {name: [word for word, one in DEFAULTS.items() if name in one.names] for name in names}


def add_elites(command: Parser, value: str | None) -> None:
    """Add what happens to the elites, as a reading of the paper."""
    command.add_argument(
        "--elites", default=value, metavar="WORD", help=explained(ELITES, GeneticAlgorithm.elites)
    )


def explained(values: Mapping[str, str], chosen: str) -> str:
    """Return the values of a reading or an option with what they mean, and the default."""
    return "; ".join(f"{value}: {text}" for value, text in values.items()) + f" ({chosen})"


def add_report(command: Parser, out: str) -> None:
    """Add what the commands that write a report share; `out` is what the help calls its folder."""
    add_elites(command, GeneticAlgorithm.elites)
    command.add_argument("--out", metavar="DIR", help=f"folder of the report ({out})")
    add_force(command)
    add_seed(command)
    add_settings(command)
    add_engine(command)


def add_engine(command: Parser) -> None:
    """Add what runs the trials."""
    names = ", ".join((*engines.ENGINES, engines.AUTO))
    command.add_argument(
        "--engine", metavar="NAME", help=f"{names} ({engines.DEFAULT}; reference for what it cannot run)"
    )
    command.add_argument(
        "--workers",
        type=whole,
        metavar="N",
        help="threads of the cpu engine (one per core), processes of the reference engine (1), "
        "cards of the gpu engine (all)",
    )
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="run on a Dask cluster: tcp://…, a scheduler file, or local:N for N processes on this machine",
    )


def add_force(command: Parser) -> None:
    """Add what allows a folder to be overwritten."""
    command.add_argument(
        "--force",
        action="store_true",
        help="start over: remove the files that the folder's manifest names, and no others",
    )


def maze_help() -> str:
    """Return the names that a maze can have."""
    return f"a maze by name ({', '.join(MAZES)}), or a file with its text picture ({DEFAULT_MAZE})"


def maze(name: str | None, heading: str) -> Maze:
    """Return the maze of a name or in a file; the default for None."""
    if name is None or name in MAZES:
        return Maze(mazes.maze(name or DEFAULT_MAZE).picture, heading)
    if _is_word(name):
        raise InputError(
            f"no maze and no file is called {shown(name)}, expected a file or one of {', '.join(MAZES)}"
            f"{suggestion(name, MAZES)}"
        )
    return Maze.from_file(name, heading)


def _is_word(name: str) -> bool:
    """Return whether a name can only have been meant as one of ours: it is no path, and no file has it."""
    return name.replace("-", "").isalnum() and not os.path.lexists(name)


def levels_maze(args: argparse.Namespace, heading: str) -> Maze | None:
    """Return the T-maze that --levels and --width ask for; None if they do not."""
    if args.levels is None:
        if args.width is not None:
            raise InputError("--width is for a T-maze of some levels; give --levels N too, or leave it out")
        return None
    built = t_maze(args.levels) if args.width is None else t_maze(args.levels, args.width)
    return Maze(built.picture, heading)


def settings(args: argparse.Namespace) -> SettingsDict:
    """Return network, steps and readings as they were given."""
    given = {name: getattr(args, name) for name in Settings.__dataclass_fields__}
    return cast(SettingsDict, {name: value for name, value in given.items() if value is not None})


def learners(args: argparse.Namespace, *names: str | None) -> list[Learner]:
    """Return the learners that names stand for; words like `hc` take their numbers from the options."""
    owners = _owners()
    given = {name: getattr(args, name) for name in owners if getattr(args, name) is not None}
    for name in given:
        if not set(owners[name]) & set(names):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} is for {' and '.join(owners[name])} alone; other learners have their own"
            )
    words: dict[str, Learner] = {}
    for word, learner in DEFAULTS.items():
        own = {name: value for name, value in given.items() if name in learner.names}
        words[word] = learner.from_dict({**learner.to_dict(), **own})
    return [words[name] if name in words else find_learner(name) for name in names if name is not None]
