"""`distal runs`: summarise folders of runs."""

from __future__ import annotations

import argparse
import shlex
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from distal.base.checks import InputError, path
from distal.cli.parser import Commands, add_command
from distal.cli.terminal import console, new_table, print_json, spread
from distal.search.evolve import summary
from distal.search.results import Fresh
from distal.search.runs import is_run_folder

SINCE = "since generation: when it first appeared"


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(commands, "runs", run, "summarise a folder of runs")
    command.add_argument(
        "folder", metavar="DIR", help="what distal evolve --out wrote, or a folder of such folders"
    )


def run(args: argparse.Namespace) -> None:
    """Summarise folders of runs."""
    top = path("DIR", args.folder)
    if not top.is_dir():
        raise InputError(f"{args.folder!r} is not a folder")
    inner = sorted(path for path in top.iterdir() if path.is_dir() and is_run_folder(path))
    found = [top] if (top / "config.json").exists() else inner
    if not found:
        raise InputError(f"{args.folder!r} holds no runs: distal evolve wrote neither it nor a folder in it")
    summaries = [{"folder": str(path), **summary(path)} for path in found]
    if args.json:
        print_json({"folders": summaries})
    else:
        _show_runs(summaries)


def _show_runs(summaries: list[dict[str, Any]]) -> None:
    """Print what folders of runs hold."""
    out = console()
    for entry in summaries:
        done = entry["done"] if entry["done"] is not None else "none"
        unfinished = f"continue with: distal evolve --resume {shlex.quote(entry['folder'])}"
        state = "finished" if entry["finished"] else unfinished
        out.print(
            f"{entry['folder']}: learner {entry['learner']}, "
            f"{search_used(entry['search'], entry['elites'])}, seed {entry['seed']}, "
            f"generation {done} of {entry['generations']}, {state}",
            soft_wrap=True,
        )
        best = "selected" if entry["finished"] else "best fitness"
        table, _ = winners_table(out, best)
        for run in entry["runs"]:
            fresh, chance = "", ("", "", "", "")
            if run["remeasured"] is not None:
                fresh = spread(run["remeasured"], run["standard_error"])
            if run["chance"] is not None:
                own = Fresh(run["remeasured"], run["standard_error"], run["chance"], p=run["p"])
                beats = "yes" if own.beats_chance else "no"
                chance = (f"{run['chance']:.2f}", beats, f"{run['p']:.2g}", f"{run['superiority']:.2f}")
            found = str(run["found_in_generation"])
            table.add_row(str(run["run"]), found, f"{run['best']:.2f}", fresh, *chance)
        out.print(table)
    out.print(SINCE, style="dim")


def search_used(name: str, elites: str | None) -> str:
    """Say which search it was; the genetic algorithm by what it did with its elites."""
    return f"search {name}" if elites is None else f"elites {elites}"


def winners_table(out: Console, best: str) -> tuple[Table, bool]:
    """Make an empty table of winners, and say whether the console is too narrow for all of it."""
    narrow = out.width < 104
    heads = ("run", "since generation", best, "re-measured", "chance", "beats it", "p", "P(better)")
    table = new_table(*(Text(head.replace(" ", "\n")) if narrow else head for head in heads))
    table.collapse_padding = narrow
    return table, narrow
