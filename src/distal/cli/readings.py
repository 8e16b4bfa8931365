"""`distal readings`: measure what every reading of the paper does."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from distal.base.checks import folder
from distal.cli import options, work
from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, new_table, print_json
from distal.model.settings import Settings
from distal.studies import reading_report, reading_study
from distal.studies.reading_study import ReadingStudy


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "readings",
        run,
        "measure what every reading of the paper does to the results",
        "Measure what every reading of the paper does to chance, to the published rules and to evolution, "
        "and write a report. The base is the defaults, or what the options say; every other value of every "
        "reading, and every other maze that has a name, is tried on it, one at a time. Stages "
        "are stored; a second call only does what is missing.",
    )
    command.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: five to ten minutes on two cores; paper: for a card, about a minute (quick)",
    )
    options.add_report(command, "readings-SCALE")


def run(args: argparse.Namespace) -> None:
    """Measure what every reading does, and write the report."""
    request = reading_study.Readings(
        scale=args.scale, elites=args.elites, seed=args.seed,
        settings=Settings(**options.settings(args)), maze=options.maze(args.maze, args.heading),
    )  # fmt: skip
    out = args.out if args.out is not None else f"readings-{args.scale}"
    folder("--out", out)
    request.check_memory()
    request.claim.check(out, args.force)
    with work.resumable(work.AGAIN), work.runner_of(args) as runner:
        seconds = reading_study.estimated_seconds(request.planned, runner)
        work.show_plan(reading_study.outline(request.planned), seconds, out)
        with work.stage_progress(runner.executor) as progress:
            study = reading_study.run(request, runner, Path(out), args.force, progress)
    page = reading_report.write(study, out)
    if args.json:
        print_json(study.to_dict())
    else:
        show_readings(study, str(page))


def show_readings(study: ReadingStudy, page: str) -> None:
    """Print what every reading does, in 100 columns, and where the report is."""
    out = console()
    for title, columns, rows in reading_report.tables(study):
        out.print(title, style="bold")
        table = new_table("", *columns)
        for cells in rows:
            table.add_row(*cells, style="bold" if cells[0] == "base" else None)
        out.print(table)
    for line in (*reading_report.legend(study), f"In brackets: {reading_report.REUSED}."):
        out.print(*textwrap.wrap(line, 98), sep="\n", style="dim")
    out.print()
    for line in reading_report.findings(study):
        out.print(*textwrap.wrap(line, 98), sep="\n")
    note = reading_report.scale_note(study)
    if note:
        out.print(*textwrap.wrap(note, 98), sep="\n")
    out.print()
    out.print(f"report: {page}", soft_wrap=True)
