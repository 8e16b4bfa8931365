"""The commands of all studies: `distal reproduce`, `readings` and the others."""

from __future__ import annotations

import argparse
import json
import sys
import textwrap
from collections.abc import Sequence
from dataclasses import Field, fields
from functools import partial
from pathlib import Path
from typing import Any

from rich.measure import Measurement
from rich.table import Table
from rich.text import Text as Words

from distal.base.checks import folder
from distal.base.progress import LINES
from distal.cli import Parser, add_options, options
from distal.cli.terminal import PlainConsole, console, new_table, print_json, visible
from distal.evaluation.trials import settings_in
from distal.model.settings import Settings
from distal.studies.outline import outline
from distal.studies.registry import find_study
from distal.studies.report import Sheet, Text
from distal.studies.stages import Stage
from distal.studies.study import Option, Scaled, Study

_AGAIN = "run the same command again to continue"
_WIDTH = 98  # columns of text
_NAMES, _SHORT = 27, 18  # columns of the names of rows, at most; where space is short
_FEW, _LONGER = 4, 40  # in a table of so few columns, names may be longer
_TASK = ("maze", "levels", "width", "heading", "env", *options.ENVIRONMENT)


def add(command: Parser, word: str) -> None:
    """Add the description of a study, and the options that set its fields."""
    study = find_study(word)
    names = _fields(study)
    command.description = study.about or command.description
    command.set_defaults(run=partial(run, study))
    for option in _options(study):
        text = option.help if option.default is None else f"{option.help} ({option.default})"
        add_options(command, {f"--{option.name.replace('_', '-')} {option.metavar}": text})
        command.set_defaults(**{option.name: option.default})
    add_options(command, {"--out DIR": f"folder of the report ({study.folder}-{study.word.upper()})"})
    options.add_force(command)
    options.add_seed(command)
    if "elites" in names:
        options.add_elites(command, str(names["elites"].default))
    if "task" in names:
        options.add_task(command)
    if "settings" in names:
        options.add_settings(command, environments="task" in names)
    options.add_engine(command)


def _fields(study: Any) -> dict[str, Field[Any]]:
    """Return the fields of a study by name."""
    return {one.name: one for one in fields(study)}


def _options(study: type[Study[Any]]) -> tuple[Option, ...]:
    """Return the options of a study, which begin with its scale, if it has one."""
    if not issubclass(study, Scaled):
        return study.options
    words = "; ".join(f"{name}: {scale.about}" for name, scale in study.SCALES.items())
    return (Option("scale", study.scale, words), *study.options)


def run(study: type[Study[Any]], args: argparse.Namespace) -> None:
    """Run a study into a folder, write its report, and print the summary."""
    asked = _asked(study, args)
    out = args.out if args.out is not None else f"{study.folder}-{getattr(args, study.word)}"
    folder("--out", out)
    with (
        options.resumable(_AGAIN),
        options.runner_of(args, at_once=True) as runner,
        asked.opened(Path(out), args.force) as kept,
    ):
        show_plan(list(outline(asked.plan)), asked.seconds(runner), out)
        outcome = asked.do(runner, kept, LINES)
    report = asked.report(outcome)
    page = report.write(out)
    if args.json:
        print_json(report.numbers())
    else:
        show(report.summary(), page)


def _asked(study: type[Study[Any]], args: argparse.Namespace) -> Study[Any]:
    """Return the study with the fields that the options set."""
    names = _fields(study)
    own = [option.name for option in _options(study)]
    given: dict[str, Any] = {name: getattr(args, name) for name in (*own, "seed", "elites") if name in names}
    typed = options.settings(args) if "settings" in names else {}
    if "maze" in names:
        given |= {"maze": options.maze(args.maze, args.heading), "settings": Settings(**typed)}
    if "task" not in names:
        return study(**given)
    task = options.task(args)
    given |= {"task": task, "settings": settings_in(task, typed)}
    # The command is in the record, and finds it again on any engine.
    words = {name: getattr(args, name) for name in _TASK if getattr(args, name) is not None}
    if args.env_arg is not None:
        words["env_arg"] = [f"{name}={json.dumps(value)}" for name, value in args.env_arg]
    return study(**given).asked_with({**words, **typed})


def show_plan(stages: list[Stage], seconds: dict[str, float], out: str) -> None:
    """Print the plan and its estimated time on stderr, which keeps stdout for the result."""
    rows = [(stage.title, f"{stage.episodes:,}", _duration(seconds[stage.name])) for stage in stages]
    rows.append(("together, if nothing is stored yet", "", _duration(sum(seconds.values()))))
    table = new_table("plan", "episodes", "about", wrap=True)
    for row in rows:
        table.add_row(*row)
    err = PlainConsole(stderr=True)
    err.print(table, soft_wrap=True)
    err.print(f"into {out}", soft_wrap=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def _filled(block: Sheet, broken: bool = False) -> Table:
    """Return a table for the terminal, with its cells broken where it does not fit otherwise."""
    table = new_table(*block.headings, wrap=True)
    table.columns[0].max_width = _NAMES if len(block.headings) > _FEW else _LONGER
    table.collapse_padding = broken
    for position, column in enumerate(table.columns):
        column.no_wrap = (position == 0) is broken  # names are broken here, and the rest as need be

    def name(text: str) -> Words | str:
        return Words(textwrap.fill(visible(text), _SHORT)) if broken else text

    for section, rows in block.sections:
        if section:
            table.add_section()
            table.add_row(name(section), style="bold")
        for row in rows:
            cells = [Words(visible(cell).replace(" (", "\n(")) if broken else cell for cell in row[1:]]
            table.add_row(name(row[0]), *cells, style="bold" if row[0] in block.marked else None)
    return table


def show(summary: Sequence[Sheet | Text], page: Path) -> None:
    """Print tables and lines, and where the report is."""
    out = console()
    width = min(_WIDTH, out.width)
    for block in summary:
        if isinstance(block, Text):
            for line in [block.words] if isinstance(block.words, str) else block.words:
                out.print(*textwrap.wrap(line, width), sep="\n")
            continue
        out.print(*textwrap.wrap(block.title, width), sep="\n", style="bold")
        wide = _filled(block)
        fits = Measurement.get(out, out.options.update(max_width=sys.maxsize), wide).maximum <= out.width
        out.print(wide if fits else _filled(block, broken=True))
    out.print(f"report: {page}", soft_wrap=True)
