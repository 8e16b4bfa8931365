"""`distal reproduce`: run the paper's experiments and write a report."""

from __future__ import annotations

import argparse
import textwrap
from pathlib import Path

from distal.base.checks import folder
from distal.cli import options, work
from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, print_json
from distal.model.settings import Settings
from distal.studies import experiments, report
from distal.studies.comparison import agreement, compare
from distal.tasks.mazes import MazeTask


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "reproduce",
        run,
        "run the paper's experiments and write a report",
        "Run the paper's experiments and write a report: figures, tables, and every number of the paper "
        "beside ours. Each stage is stored; a second call only does what is missing.",
    )
    command.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: about three minutes on two cores; paper: about twenty (quick)",
    )
    command.add_argument("--rules", default="evolved", metavar="WORD", help="evolved, published (evolved)")
    options.add_report(command, "reproduction-SCALE")


def run(args: argparse.Namespace) -> None:
    """Run the paper's experiments and write the report."""
    request = experiments.Experiments(
        scale=args.scale, rules=args.rules, elites=args.elites, seed=args.seed,
        settings=Settings(**options.settings(args)), maze=options.maze(args.maze, args.heading),
    )  # fmt: skip
    out = args.out if args.out is not None else f"reproduction-{args.scale}"
    folder("--out", out)
    request.check_memory()
    request.claim.check(out, args.force)
    with work.resumable(work.AGAIN), work.runner_of(args) as runner:
        seconds = experiments.estimated_seconds(
            request.stages, MazeTask(request.maze), request.settings, runner
        )
        work.show_plan(request.stages, seconds, out)
        with work.stage_progress(runner.executor) as progress:
            result = experiments.run(request, runner, Path(out), args.force, progress)
    lines = compare(result)
    page = report.write(result, out, lines)
    if args.json:
        print_json(report.numbers(result, lines))
    else:
        _show_comparison(report.short_rows(lines), (str(result.appendix), agreement(lines)), str(page))


def _show_comparison(rows: list[tuple[str, ...]], last: tuple[str, ...], page: str) -> None:
    """Print the paper's numbers beside ours, in 80 columns, and where the report is."""
    out = console()

    def show(what: str, *cells: str) -> None:
        first, *rest = textwrap.wrap(what, 36, subsequent_indent="  ", break_on_hyphens=False)
        out.print(
            f"{first:37}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, (11, 9, 11, 12), strict=True))
        )
        for line in rest:
            out.print(line)

    section = ""
    show("the paper's numbers and ours", "paper", "ours", "difference", "verdict")
    for here, *cells in rows:
        if here != section:
            section = here
            out.print()
            for line in textwrap.wrap(here, 80):
                out.print(line, style="bold")
        show(*cells)
    out.print()
    out.print("–: the paper reports no such number. Rows without a verdict are not counted.")
    out.print(f"report: {page}", soft_wrap=True)
    for sentence in last:
        out.print(sentence, soft_wrap=True)
