"""`distal runs`: summarise folders of runs."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from distal.base.checks import InputError, path
from distal.base.files import check_target, to_csv, write_text
from distal.base.plugins import imported
from distal.base.significance import SIGNIFICANT, with_error
from distal.cli import Parser, add_options
from distal.cli.terminal import console, new_table, print_json
from distal.evaluation.measures import BEST
from distal.model.maze import DEFAULT_MAZE, MAZES
from distal.model.readings import BINARY, RECURRENT
from distal.search.contents import summary
from distal.search.results import Fresh
from distal.search.run_folder import gene_columns, is_run_folder

SINCE = "since generation: the one in which the winner first appeared"
BEATS = f"beats chance: the mean is lower and p, of the paired t-test, is below {SIGNIFICANT}"
BETTER = "P(better): the share of trials in which it is better than chance; a tie counts half"
LEGEND = (
    SINCE,
    "selected: the fitness that made it the winner, which is optimistic",
    "re-measured: on fresh trials; chance: random weights on the same trials; ± standard error",
    BEATS,
    BETTER,
)
# Two columns of the table of winners, in sentences for the help.
COLUMNS_EXPLAINED = " ".join(f"{line[0].upper()}{line[1:]}." for line in (BEATS, BETTER))
_USUAL = {"fitness": BEST, "neurons": BINARY, "network": RECURRENT, "switch": None}  # not worth a word
_COLUMNS = (
    "folder", "run", "kind", "task", "search", "elites", "fitness", "neurons", "network", "switch", "seed",
    "generations", "done", "finished", "found_in_generation", "selected", "remeasured", "standard_error",
    "chance", "chance_standard_error", "p", "superiority",
)  # fmt: skip


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Summarise a folder of runs: the winner of each, or the best so far, with chance. "
        f"{COLUMNS_EXPLAINED}"
    )
    command.add_argument(
        "folder", metavar="DIR", help="a folder of distal evolve --out, or a folder of such folders"
    )
    add_options(command, {
        "--csv FILE": "write a CSV file with a row for each run: its winner, or the best so far, with "
        "chance and its genes",
    })  # fmt: skip


def run(args: argparse.Namespace) -> None:
    """Summarise folders of runs."""
    top = path("DIR", args.folder)
    if not top.is_dir():
        raise InputError(f"{args.folder!r} is not a folder")
    inner = sorted(path for path in top.iterdir() if path.is_dir() and is_run_folder(path))
    found = [top] if (top / "config.json").exists() else inner
    if not found:
        raise InputError(f"{args.folder!r} contains no runs written by distal evolve")
    if args.csv is not None and set(Path(args.csv).resolve().parents) & {one.resolve() for one in found}:
        raise InputError(f"--csv is {args.csv!r}, inside a folder of runs; write the table somewhere else")
    if args.csv is not None:
        check_target(args.csv, rb"folder,run,")
    summaries = [{"folder": str(path), **summary(path)} for path in found]
    if args.csv is not None:
        write_text(args.csv, _table(summaries))
    if args.json:
        print_json({"folders": summaries})
    else:
        _show_runs(summaries)


def _table(summaries: list[dict[str, Any]]) -> str:
    """Return every run as a row; a gene that a kind of learner does not have is empty."""
    rows = []
    for entry in summaries:
        for run in entry["runs"]:
            genes = dict(zip(gene_columns(_COLUMNS, run["genes"]), run["genes"].values(), strict=True))
            rows.append({**entry, **run, "kind": entry["learner"], "selected": run["best"], "genes": genes})
    names = dict.fromkeys(name for row in rows for name in row["genes"])
    columns = (*_COLUMNS, *names)
    cells = ([{**row, **row["genes"]}.get(column, "") for column in columns] for row in rows)
    return to_csv([columns, *cells])


def _show_runs(summaries: list[dict[str, Any]]) -> None:
    """Print a summary of folders of runs."""
    out = console()
    for entry in summaries:
        done = "none" if entry["done"] is None else f"{entry['done']:,}"
        unfinished = f"continue with: {resume_command(entry['folder'])}"
        state = "finished" if entry["finished"] else unfinished
        task = "" if entry["task"] == MAZES[DEFAULT_MAZE] else f"task {entry['task']}, "
        conditions = "".join(
            f"{name} {entry[name]}, " for name, usual in _USUAL.items() if entry[name] != usual
        )
        out.print(
            f"{entry['folder']}: learner {entry['learner']}, {task}{conditions}"
            f"{search_used(entry['search'], entry['elites'], entry['options'])}, seed {entry['seed']}, "
            f"generation {done} of {entry['generations']:,}, {state}",
            soft_wrap=True,
        )
        best = "selected" if entry["finished"] else "best fitness"
        rows = ((run["run"], run["found_in_generation"], run["best"], _fresh(run)) for run in entry["runs"])
        out.print(winners_table(out, best, rows))
    for line in LEGEND if any(entry["finished"] for entry in summaries) else (SINCE,):
        out.print(line, style="dim")


def resume_command(folder: str) -> str:
    """Return the command that continues the runs in a folder, with the modules that this one has imported."""
    modules = (part for name in imported() for part in ("--import", name))
    return shlex.join(["distal", "evolve", "--resume", folder, *modules])


def search_used(name: str, elites: str | None, options: Mapping[str, object]) -> str:
    """Return the search and its options in words; the genetic algorithm is named by its elites."""
    used = f"search {name}" if elites is None else f"elites {elites}"
    return ", ".join([used, *(f"{option} {value}" for option, value in options.items())])


def _fresh(run: dict[str, Any]) -> Fresh | None:
    """Return the scores of a winner on fresh trials from a summary; None if there is no winner yet."""
    names = ("standard_error", "chance", "chance_standard_error", "p", "superiority")
    if run["remeasured"] is None:
        return None
    return Fresh(run["remeasured"], **{name: run[name] for name in names})


def winners_table(out: Console, best: str, rows: Iterable[tuple[int, int, float, Fresh | None]]) -> Table:
    """Return a table of winners.

    Args:
        out: The console; the table of a narrow one leaves out the standard error of chance.
        best: The heading of the fitness that selected them.
        rows: The run of each winner, its generation, that fitness, and its scores on fresh trials.
    """
    narrow = out.width < 108
    heads = ("run", "since generation", best, "re-measured", "chance", "beats chance", "p", "P(better)")
    table = new_table(*(Text(head.replace(" ", "\n")) if narrow else head for head in heads))
    table.collapse_padding = narrow
    for run, generation, selected, fresh in rows:
        own = "" if fresh is None else with_error(fresh.fitness, fresh.standard_error)
        cells = ("", "", "", "")
        if fresh is not None and fresh.chance is not None:
            chance = with_error(fresh.chance, None if narrow else fresh.chance_standard_error)
            beats = "yes" if fresh.beats_chance else "no"
            cells = (chance, beats, f"{fresh.p:.2g}", f"{fresh.superiority:.2f}")
        table.add_row(str(run), f"{generation:,}", f"{selected:z.2f}", own, *cells)
    return table
