"""Options that several commands share, and the values that they stand for.

In the order of a command: first its options are added, the rules' names last; then the values are
read, the learner first, how to run it last.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from distal import engines
from distal.base import plugins
from distal.base.checks import InputError, counted, shown, suggestion
from distal.base.progress import followed
from distal.cli import Parser, add_options, number
from distal.cli.terminal import tell
from distal.engines import Runner
from distal.engines.spread import WorkError
from distal.learners import DEFAULTS, Learner, find_learner
from distal.learners.shipped import is_there, shipped_names
from distal.model import maze as mazes
from distal.model.maze import DEFAULT_MAZE, HEADINGS, MAZES, Maze, t_maze, triple_t_maze
from distal.model.readings import NEURONS, READINGS
from distal.model.settings import Settings, SettingsDict
from distal.networks import NETWORKS
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.tasks.mazes import MazeTask
from distal.tasks.naming import is_name, is_trusted
from distal.tasks.registry import TASKS
from distal.tasks.sources import task_of
from distal.tasks.switching import NEW, SCHEDULES, Switch
from distal.tasks.task import Task

if TYPE_CHECKING:
    from distal.engines.cluster import Cluster

T = TypeVar("T")
_OF = "of_learner_"  # begins the names of its numbers among the arguments

ENVIRONMENT = ("env_arg", "wrap", "encode", "actions", "reward_scale", "starts")  # the options of --env


def add_evaluation(
    command: Parser, trials: int = 5, about: str = "", remark: str = "", switch: bool = False
) -> None:
    """Add what every evaluation has: how long, what for, in which task and network, and how it is run."""
    add_options(command, {
        "--episodes N": "episodes per trial (100)",
        "--trials N": f"trials per goal; in a maze, per final position ({trials}){about}",
    })  # fmt: skip
    command.set_defaults(episodes=100, trials=trials)
    add_seed(command)
    add_resample(command)
    if switch:
        add_switch(command)
    add_task(command)
    add_settings(command, remark, environments=True)
    add_engine(command)


def add_result(command: Parser, remark: str = "") -> None:
    """Add the options of an evaluation, and of its result, for `distal learn` and `distal climb`."""
    add_brief(command)
    add_options(command, {
        "--no-chance": "leave out chance; halves the time",
        "--curves": "with --json: both curves of every trial, EP and best EP so far",
        "--csv FILE": "write every episode of every trial to a CSV file, chance included",
        "--save FILE": "save the result with the best weights, for Result.load in Python (FILE.npz)",
    })  # fmt: skip
    add_evaluation(command, remark=remark, switch=True)


def add_brief(command: Parser) -> None:
    """Add the short form of the output."""
    add_options(command, {"--brief": "print only the most important numbers"})


def check_brief(args: argparse.Namespace) -> None:
    """Refuse the short form of output that is for programs."""
    if args.brief and args.json:
        raise InputError("--brief shortens the tables, and --json prints none; leave out one of the two")


def add_seed(command: Parser) -> None:
    """Add the seed."""
    add_options(command, {"--seed N": "seed of all random numbers (0)"})
    command.set_defaults(seed=0)


def add_heading(command: Parser) -> None:
    """Add the heading at the start."""
    add_options(command, {"--heading H": f"start heading: {', '.join(HEADINGS)} (north)"})


def add_resample(command: Parser) -> None:
    """Add how often fresh weights are drawn."""
    add_options(command, {"--resample R": "draw fresh weights every R episodes (never)"})


def add_settings(command: Parser, remark: str = "", environments: bool = False) -> None:
    """Add network, maze and readings."""
    own = ", or what the environment allows" if environments else ""
    networks = {word: kind.label for word, kind in NETWORKS.items()}
    add_options(command, {
        "--hidden N": f"hidden neurons ({Settings.hidden})",
        "--steps N": f"steps per episode ({Settings.steps}{own})",
        "--neurons WORD": explained(NEURONS, Settings.neurons),
        "--network WORD": explained(networks, Settings.network),
        "--flip X": "share of episodes after which the learner hears the opposite of its reward (0)",
        "--maze MAZE": maze_help(),
    })  # fmt: skip
    add_heading(command)
    readings = command.add_argument_group("readings, our choices where the paper is silent", remark or None)
    for name, values in READINGS.items():
        text = explained(values, getattr(Settings, name))
        add_options(readings, {f"--{name.replace('_', '-')} WORD": text})


def add_task(command: Parser) -> None:
    """Add an environment as the task."""
    group = command.add_argument_group("your own task, instead of the triple T-maze")
    add_levels(group, "; the step limit keeps the paper's ratio to the shortest path")
    add_environment(group)
    group.add_argument("--env", "--task", dest="env", metavar="ID", help=task_help())


def task_help() -> str:
    """Return what --env takes."""
    tasks = f", a task that was registered ({', '.join(TASKS)})" if TASKS else ""
    return f"a Gymnasium environment, compiled:NAME for a compiled task{tasks}, or a table saved as FILE.npz"


def add_levels(command: argparse._ActionsContainer, remark: str = "") -> None:
    """Add the size of a T-maze."""
    add_options(command, {
        "--levels N": f"a T-maze of 1 to 4 levels{remark}",
        "--width W": "with --levels: corridors of 1 to 5 cells (3)",
    })  # fmt: skip


def add_switch(command: Parser) -> None:
    """Add goals that move."""
    group = command.add_argument_group("conditions that change")
    add_options(group, {
        "--switch E": "the goal moves every E episodes (never)",
        "--switch-to WORD": f"{explained(SCHEDULES, NEW)}; or a list with the goals of all phases, such as "
        "0,5,0",
    })  # fmt: skip


def _argument(text: str) -> tuple[str, Any]:
    """Read NAME=VALUE; the value is JSON (true, 0.5, [1, 2]), or else the text itself."""
    name, equals, value = text.partition("=")
    if not equals or not name.isidentifier():
        raise argparse.ArgumentTypeError(f"{shown(text)} should be NAME=VALUE, such as is_slippery=false")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def add_environment(group: argparse._ArgumentGroup) -> None:
    """Add how an environment is made and sensed."""
    group.add_argument(
        "--env-arg",
        action="append",
        type=_argument,
        metavar="NAME=VALUE",
        help="an argument of the environment, such as is_slippery=false; repeatable",
    )
    group.add_argument(
        "--wrap",
        action="append",
        metavar="MODULE:CLASS",
        help="a wrapper around it, such as minigrid.wrappers:ImgObsWrapper; repeatable, innermost first",
    )
    add_options(group, {
        "--encode WORDS": "the encoding of observations as bits: binary, one-hot, bins:N, "
        "bins:N:quantiles, joined by commas; or a function of the observation, my_module:my_function",
        "--actions bins:N": "discretise continuous actions: N values for each number, from the lowest to the "
        "highest",
        "--reward-scale N": "multiply rewards: EP is minus N times the return (1; a table with "
        "fractional rewards finds its own)",
        "--starts N": "make N goals; goal k starts from reset(seed=k) (one goal)",
    })  # fmt: skip


def add_elites(command: Parser, value: str | None) -> None:
    """Add what happens to the elites, as a reading of the paper."""
    add_options(command, {"--elites WORD": explained(ELITES, GeneticAlgorithm.elites)})
    command.set_defaults(elites=value)


def explained(values: Mapping[str, str], chosen: str) -> str:
    """Return the values of a reading or an option with what they mean, and the default."""
    meanings = "; ".join(f"{value}: {text}" for value, text in values.items()).replace("%", "%%")
    return f"{meanings} ({chosen})"


def add_engine(command: Parser) -> None:
    """Add what runs the trials."""
    names = ", ".join((*engines.ENGINES, engines.AUTO))
    add_options(command, {
        "--engine NAME": f"{names} ({engines.DEFAULT} where possible, else steps, else reference)",
        "--workers N": "threads or processes of engines cpu, steps and reference (one per core), cards of "
        "engine gpu (all)",
        "--cluster ADDRESS": "run on a Dask cluster: tcp://…, a scheduler file, or local:N for N processes "
        "on this machine",
    })  # fmt: skip


def add_force(command: Parser) -> None:
    """Add what allows a folder to be overwritten."""
    text = "start over: remove only the files named in the folder's manifest"
    add_options(command, {"--force": text})


def maze_help() -> str:
    """Return the names that a maze can have."""
    return f"a maze by name ({', '.join(MAZES)}), or a file with its text picture ({DEFAULT_MAZE})"


def learner_help() -> str:
    """Return the names that a learner can have."""
    return f"{shipped_names()}, {', '.join(DEFAULTS)}, or the file of a learner"


def add_learner(command: Parser, name: str = "rule", **options: Any) -> None:
    """Add the name of a learner, and the numbers of the learners that need no file."""
    owners = _owners()
    command.add_argument(name, help=learner_help(), **{"metavar": "RULE", **options})
    for number_, words in owners.items():
        text = ", ".join(f"{word} ({getattr(DEFAULTS[word], number_):g})" for word in words)
        low, high = DEFAULTS[words[0]].ranges.get(number_, (0, 1))
        option = f"--{number_.replace('_', '-')}"
        if option not in command._option_string_actions:  # as --steps, where a learner has a number `steps`
            help_ = f"for {text}; {low:g} to {high:g}"
            command.add_argument(option, dest=_OF + number_, type=number, metavar="X", help=help_)


def _owners() -> dict[str, list[str]]:
    """Return the numbers of the learners that a word stands for, and whose they are."""
    names = dict.fromkeys(name for learner in DEFAULTS.values() for name in learner.names)
    return {name: [word for word, one in DEFAULTS.items() if name in one.names] for name in names}


# ---------------------------------------------------------------- what they stand for


def learners(args: argparse.Namespace, *names: str | None) -> list[Learner]:
    """Return the learners that names stand for; words like `hc` take their numbers from the options."""
    owners = _owners()
    numbers = {name: getattr(args, _OF + name, None) for name in owners}
    given = {name: value for name, value in numbers.items() if value is not None}
    for name in given:
        if not set(owners[name]) & set(names):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} is for {_listed(owners[name])} alone; other learners have their own")
    found = []
    for word in names:
        if word is not None:
            learner = find_learner(word)
            own = {name: given[name] for name in learner.names if name in given and word in owners[name]}
            found.append(replace(cast(Any, learner), **own) if own else learner)
    return found


def _listed(words: Sequence[str]) -> str:
    """Return words as a sentence lists them."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last


def settings(args: argparse.Namespace) -> SettingsDict:
    """Return network, steps and readings as they were given."""
    given = {name: getattr(args, name) for name in SettingsDict.__annotations__}
    return cast(SettingsDict, {name: value for name, value in given.items() if value is not None})


def task(args: argparse.Namespace) -> Task[Any]:
    """Return the environment that was asked for as a task, or the maze."""
    if args.env is None:
        for option in ENVIRONMENT:
            if getattr(args, option) is not None:
                name = option.replace("_", "-")
                raise InputError(f"--{name} is for an environment; name one with --env ID, or leave it out")
        built = levels_maze(args)
        if built is None:
            return MazeTask(maze(args.maze, args.heading))
        if args.maze is not None:
            raise InputError("--maze and --levels are both given; leave one out")
        return MazeTask.scaled(built)
    for name in ("maze", "levels", "width"):
        if getattr(args, name) is not None:
            raise InputError(f"--{name} and --env are both given; leave one out")
    if args.heading is not None:
        raise InputError("--heading is for a maze; leave it out")
    return environment(args.env, args)


def evaluation(args: argparse.Namespace) -> dict[str, Any]:
    """Return the arguments of an evaluation: task, trials and settings."""
    numbers = {name: getattr(args, name) for name in ("episodes", "trials", "resample", "seed")}
    return {"task": task(args), **numbers, **settings(args)}


def environment(name: str, args: argparse.Namespace) -> Task[Any]:
    """Return an environment as a task."""
    functions = [one for one in (args.encode, *(args.wrap or ())) if is_name(one)]
    for one in (name, *functions) if name not in TASKS else functions:
        _import_own(one.partition(":")[0])
    with followed(None, "exploring", None, unit="states") as advance:
        return task_of(
            name,
            args=dict(args.env_arg or ()) or None,
            encode=args.encode,
            starts=args.starts,
            wrap=args.wrap,
            actions=args.actions,
            scale=args.reward_scale,
            progress=advance,
        )


def _import_own(module: str) -> None:
    """Import a module that was named, if it lies in this folder: workers and --resume need it too."""
    if not all(part.isidentifier() for part in module.split(".")):
        return
    top = module.partition(".")[0]
    own = is_there(f"{top}.py") or is_there(f"{top}/__init__.py")
    if own and not is_trusted(module):
        plugins.import_named(module)


def maze(name: str | None, heading: str | None) -> Maze:
    """Return the maze of a name or in a file; the default for None, and north for no heading."""
    if name is None or name in MAZES:
        built = triple_t_maze() if name is None else mazes.maze(name)
        return built if heading is None else _turned(built, heading)
    if _is_word(name):
        raise InputError(
            f"no maze and no file is called {shown(name)}, expected a file or one of {', '.join(MAZES)}"
            f"{suggestion(name, MAZES)}"
        )
    return _turned(Maze.from_file(name), heading)


def _is_word(name: str) -> bool:
    """Return whether a name can only have been meant as one of ours: it is no path, and no file has it."""
    return name.replace("-", "").isalnum() and not os.path.lexists(name)


def _turned(built: Maze, heading: str | None) -> Maze:
    return built if heading is None else Maze(built.picture, heading)


def levels_maze(args: argparse.Namespace) -> Maze | None:
    """Return the T-maze that --levels and --width ask for; None if they do not."""
    if args.levels is None:
        if args.width is not None:
            raise InputError("--width is for a T-maze of some levels; give --levels N too, or leave it out")
        return None
    built = t_maze(args.levels) if args.width is None else t_maze(args.levels, args.width)
    return _turned(built, args.heading)


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


class _Cluster(Executor):
    """The cluster that was asked for: begun with its first task, when everything else has been checked."""

    def __init__(self, address: str) -> None:
        self.address = address

    @cached_property
    def begun(self) -> Cluster:
        from distal.engines.cluster import Cluster  # noqa: PLC0415 - imports Dask, an extra

        cluster = Cluster(self.address)
        dashboard = "" if cluster.dashboard is None else f", dashboard {cluster.dashboard}"
        tell(f"cluster {cluster.address}: {counted(cluster.workers, 'worker')}{dashboard}")
        return cluster

    @property
    def workers(self) -> int:
        return self.begun.workers

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        return self.begun.submit(fn, *args, **kwargs)

    def check(self, lost: bool = False) -> None:
        self.begun.check(lost)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        if "begun" in vars(self):
            self.begun.shutdown(wait, cancel_futures=cancel_futures)


@contextmanager
def runner_of(args: argparse.Namespace, *, at_once: bool = False) -> Iterator[Runner]:
    """Yield what runs the trials, on the cluster that was asked for, if one was; close that afterwards.

    `at_once` begins the cluster now, before a folder is written.
    """
    if args.cluster is None:
        yield args.runner
        return
    check_cluster(args)
    with _Cluster(args.cluster) as cluster:
        if at_once:
            cluster.begun  # noqa: B018
        yield args.runner.spread_over(cluster)


@contextmanager
def resumable(hint: str, begun: Path | None = None) -> Iterator[None]:
    """Add to an interrupt, or the loss of a cluster, how to continue; if the file `begun` is there."""
    try:
        yield
    except (KeyboardInterrupt, WorkError) as error:
        if begun is not None and not begun.exists():
            raise
        said = [str(error)] if isinstance(error, WorkError) else []
        raise type(error)("; ".join([*said, hint])) from None


def check_cluster(args: argparse.Namespace) -> None:
    """Refuse a cluster for the engine that no worker runs."""
    if args.runner.engine == "gpu":
        raise InputError("--cluster spreads work over processors; leave out --engine gpu")
