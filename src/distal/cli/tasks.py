"""`distal tasks`: ask in other tasks whether rules learn there."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from distal.base.checks import folder
from distal.cli import options, work
from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, new_table, print_json
from distal.studies import task_report, task_study
from distal.studies.task_study import Crew, Tasks, TaskStudy


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "tasks",
        run,
        "ask in nine tasks whether rules learn there",
        "Evolve rules and hill climbing for T-mazes of one to four levels, CliffWalking, FrozenLake, Taxi "
        "and CartPole, measure them beside chance and the learners of the maze, and write a report. Stages "
        "are stored; a second call only does what is missing.",
    )
    command.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: five minutes on two cores; full: for a card, half an hour (quick)",
    )
    command.add_argument("--out", metavar="DIR", help="folder of the report (tasks-SCALE)")
    options.add_force(command)
    options.add_seed(command)
    options.add_engine(command)


def run(args: argparse.Namespace) -> None:
    """Run the study and write the report."""
    request = Tasks(scale=args.scale, seed=args.seed)
    out = args.out if args.out is not None else f"tasks-{args.scale}"
    folder("--out", out)
    request.claim.check(out, args.force)
    with work.resumable(work.AGAIN), options.runner_of(args, at_once=True) as runner:
        crew = Crew.of(runner)
        seconds = task_study.estimated_seconds(request.planned, crew)
        work.show_plan([one.outline for one in request.planned], seconds, out)
        with work.stage_progress(runner.executor) as progress:
            study = task_study.run(request, crew, Path(out), args.force, progress)
    page = task_report.write(study, out)
    if args.json:
        print_json(study.to_dict())
    else:
        show_tasks(study, str(page))


def show_tasks(study: TaskStudy, page: str) -> None:
    """Print what the rules evolved for each task do at the end of the test, and where the report is."""
    out = console()
    heads = ("episodes", "mean best EP", "chance", "hill climbing", "reached", "kept")
    table = new_table("rule evolved for it", *heads)
    for outcome in study.outcomes:
        rule, climber = (outcome.tested[name].marks[-1] for name in (task_study.RULE, task_study.CLIMBER))
        kept = "" if rule.retained is None else f"{rule.retained:.1%}"
        best = [f"{value.value:.2f}" for value in (rule.best, rule.chance, climber.best)]
        table.add_row(outcome.world.title, f"{rule.episodes:,}", *best, f"{rule.reached.value:.0%}", kept)
    out.print(table)
    out.print(*textwrap.wrap(task_report.summary(study), 98), sep="\n")
    out.print(f"report: {page}", soft_wrap=True)
