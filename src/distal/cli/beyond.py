"""`distal beyond`: ask what the paper leaves to future work."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from distal.base.checks import InputError, folder
from distal.base.files import read_json
from distal.cli import options, work
from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, print_json
from distal.studies import beyond_answers, beyond_report, beyond_study
from distal.studies.beyond_study import Beyond, BeyondStudy


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "beyond",
        run,
        "ask six questions that the paper leaves open",
        "Evolve rules and hill climbing with continuous neurons, in larger networks and mazes, to keep what "
        "they learn and under goals that move; test them beside chance, and write a report that answers six "
        "questions. Stages are stored; a second call only does what is missing.",
    )
    command.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: a few minutes on two cores; paper: a few minutes on a card (quick)",
    )
    command.add_argument("--out", metavar="DIR", help="folder of the report (beyond-SCALE)")
    command.add_argument(
        "--beside", metavar="FILE", help="the beyond.json of another study; the page gets its answers too"
    )
    options.add_force(command)
    options.add_seed(command)
    options.add_engine(command)


def run(args: argparse.Namespace) -> None:
    """Run the study and write the report."""
    request = Beyond(scale=args.scale, seed=args.seed)
    out = args.out if args.out is not None else f"beyond-{args.scale}"
    folder("--out", out)
    beside = None if args.beside is None else read_study(args.beside)
    request.claim.check(out, args.force)
    with work.resumable(work.AGAIN), options.runner_of(args, at_once=True) as given:
        runner = given.falling_back()
        seconds = beyond_study.estimated_seconds(request.planned, runner)
        work.show_plan([one.outline for one in request.planned], seconds, out)
        with work.stage_progress(runner.executor) as progress:
            study = beyond_study.run(request, runner, Path(out), args.force, progress)
    page = beyond_report.write(study, out, beside)
    if args.json:
        print_json(study.to_dict())
    else:
        show_answers(study, str(page))


def read_study(path: str) -> BeyondStudy:
    """Read the numbers of a study that was written before."""
    data = read_json(path, "file")
    try:
        return BeyondStudy.from_dict(data)
    except InputError as error:
        raise InputError(f"file {path!r}: {error}") from None


def show_answers(study: BeyondStudy, page: str) -> None:
    """Print every question with its answer, and where the report is."""
    out = console()
    for outcome in study.outcomes:
        out.print(*textwrap.wrap(outcome.question.title, 98), sep="\n", style="bold")
        out.print(*textwrap.wrap(beyond_answers.answer(outcome, study.scale), 98), sep="\n")
        out.print()
    out.print(f"report: {page}", soft_wrap=True)
