"""`distal env`: an environment as a network senses it, and the score of chance in it."""

from __future__ import annotations

import argparse
from typing import Any, cast

from distal import engines
from distal._version import __version__
from distal.base.checks import InputError, counted, without_addresses
from distal.base.files import NPZ, check_target
from distal.base.progress import LINES
from distal.base.significance import with_error
from distal.cli import Parser, add_options, options
from distal.cli.spelling import spelled
from distal.cli.terminal import console, new_table, print_json, print_named, visible
from distal.engines import Runner
from distal.engines.compiled_engine import COMPILED_INPUTS, COMPILED_OUTPUTS
from distal.engines.engine import imported
from distal.engines.pace import steps_a_second
from distal.evaluation.learn import learn
from distal.evaluation.result import Result
from distal.model.settings import SettingsDict
from distal.tasks.encoders import Encoder
from distal.tasks.gym import EnvTask
from distal.tasks.table_task import TableTask
from distal.tasks.task import Task

_MOST_NAMES = 12  # of actions, in a line


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Show an environment as a task: the bits that a network senses, its actions, the engine that runs it "
        "(a table runs at full speed), and the score of chance: random weights in every episode."
    )
    command.add_argument("env", metavar="ID", help=options.task_help())
    options.add_environment(command.add_argument_group("the environment"))
    add_options(command, {
        "--save FILE": "write the table to a file, for --env (FILE.npz)",
        "--episodes N": "episodes of chance (100)",
        "--trials N": "trials of chance per goal (5)",
        "--hidden N": "hidden neurons (20)",
        "--steps N": "steps per episode (the environment's limit, or 100)",
    })  # fmt: skip
    command.set_defaults(episodes=100, trials=5)
    options.add_seed(command)
    options.add_engine(command)


def run(args: argparse.Namespace) -> None:
    """Show an environment as a task."""
    given = {name: getattr(args, name) for name in ("hidden", "steps")}
    settings = cast(SettingsDict, {name: value for name, value in given.items() if value is not None})
    if args.save is not None:
        check_target(args.save, NPZ)
        if not args.save.endswith(".npz"):
            raise InputError(f"--save is {args.save!r}, expected a name that ends in .npz")
    task = options.environment(args.env, args)
    if args.save is not None and not isinstance(task, TableTask):
        raise InputError(f"--save needs a table: {task.no_table or 'this is none'}")
    with options.runner_of(args) as runner:
        chance = learn(
            "chance", task=task, episodes=args.episodes, trials=args.trials, seed=args.seed, engine=runner,
            keep_ep=True, progress=LINES, **settings,
        )  # fmt: skip
        about = described(task, chance, runner)
    if isinstance(task, TableTask) and args.save is not None:
        task.save(args.save)
    if args.json:
        print_json({"version": __version__, **about, "chance": chance.to_dict()})
    else:
        _show(task, chance, about)
        if args.save is not None:
            console().print(f"table: {args.save}", soft_wrap=True)


def described(task: Task[Any], chance: Result, runner: Runner) -> dict[str, Any]:
    """Return a description of a task, ready for JSON."""
    pace, cores = steps_a_second(chance.conditions.batch([chance.learner]), runner) or (None, None)
    encoder = task.encoder
    space = without_addresses(str(encoder.space)) if isinstance(encoder, Encoder) else ""
    states = task.states if isinstance(task, TableTask) else None
    return {
        **task.about(),
        "observations": None if encoder is None else space,
        "encoder": None if encoder is None else encoder.word,
        "left_out": list(encoder.left_out) if isinstance(encoder, Encoder) else [],
        "actions": without_addresses(str(task.env.action_space)) if isinstance(task, EnvTask) else None,
        "action_names": list(task.actions),
        "steps": task.steps,
        "states": states,
        "table": states is not None,
        "why_no_table": task.no_table,
        "engines": _engines_for(chance),
        "steps_per_second": pace,
        "cores": cores,
        "hidden": chance.settings.hidden,
    }


def _show(task: Task[Any], chance: Result, about: dict[str, Any]) -> None:
    """Print the description of an environment, and the score of chance."""
    out = console()
    bits = counted(task.inputs, "bit")
    lines = {
        "observations": about["observations"] or None,  # a function of one's own has no space
        "inputs": bits if about["encoder"] is None else f"{bits}, {about['encoder']}",
        "left out": f"{' and '.join(about['left_out'])}, which is text" if about["left_out"] else None,
        "outputs": _actions_line(task),
        "goals": str(len(task.goals)),
        "steps": f"{chance.settings.steps} per episode",
        "speed": _speed_line(task, about),
        "reached": None if chance.target is None else f"at an EP of {chance.target:g} or less",
    }
    out.print(visible(task.name), style="bold", soft_wrap=True)
    print_named(out, {name: line for name, line in lines.items() if line is not None}, width=13)
    score = new_table(
        f"chance, {chance.size}",
        "",
        wrap=True,
    )
    score.add_row("mean EP of an episode", f"{chance.ep.mean():z.2f}" if chance.ep is not None else "")
    score.add_row("mean best EP", with_error(chance.fitness, chance.standard_error))
    if chance.reached is not None:
        score.add_row("trials that reached the goal", f"{chance.reached:.1%}")
    if chance.cut:
        score.add_row("episodes that were cut off", f"{chance.cut:,}")
    out.print(score)


def _actions_line(task: Task[Any]) -> str:
    """Return the number of actions, and their names, if they have any."""
    count, names = counted(task.outputs, "action"), task.actions
    if all(name.isdigit() for name in names):
        return count
    more = ", …" if len(names) > _MOST_NAMES else ""
    return f"{count}: {', '.join(names[:_MOST_NAMES])}{more}"


def _engines_for(chance: Result) -> list[str]:
    """Return the engines that can run the trials of a result."""
    batch = chance.conditions.batch([chance.learner])
    return [name for name in engines.ENGINES if imported(name).supports(batch) is None]


def _speed_line(task: Task[Any], about: dict[str, Any]) -> str:
    """Say how fast trials are, who takes the steps, and which engines run them."""
    pace, able = about["steps_per_second"], about["engines"]
    who = f"engine{'s' * (len(able) > 1)} {_listed(able)}"
    if set(able) == set(engines.ENGINES):
        who = "all engines"
    if about["table"]:
        how = f"a table of {counted(about['states'], 'state')}, for {who}"
        if not {"cpu", "gpu"} & set(able):
            how += f" (cpu and gpu take {COMPILED_INPUTS} inputs and {COMPILED_OUTPUTS} actions at most)"
    elif not task.in_python:
        how = f"compiled, for {who}"
    else:
        how = f"stepped in Python by {who}"
        if about["why_no_table"] is not None:
            how += f"; no table, because {spelled(about['why_no_table'], ())}"
    if pace is None:
        return how
    cores = counted(about["cores"], "core")
    network = f"a network of {counted(about['hidden'], 'hidden neuron')}"
    return f"about {_rounded(pace)} steps a second on {cores} with {network}: {how}"


def _listed(words: list[str]) -> str:
    """Return words as a sentence lists them."""
    return " and ".join(part for part in (", ".join(words[:-1]), words[-1]) if part)


def _rounded(pace: float) -> str:
    """Return a number in two digits: it differs from one second to the next."""
    return f"{float(f'{pace:.1e}'):,.0f}"
