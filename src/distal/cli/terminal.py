"""Output for a person at a terminal: tables on stdout, refusals on stderr."""

from __future__ import annotations

import json
import re
import sys
import unicodedata
from collections.abc import Mapping
from typing import Any

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table
from rich.text import Text

from distal.base.files import to_json

TABLE = 80  # columns that every table fits in
NARROWEST = 120  # columns, where output is not a terminal and has no width


def visible(text: str) -> str:
    """Return text in which `repr` writes each character that a terminal would obey and not show.

    Names come from files and folders: one may hold an escape sequence, a line break, or
    a character that turns the direction of writing round.
    """
    return re.sub("[^ -~]", lambda found: found[0] if _only_shown(found[0]) else ascii(found[0])[1:-1], text)


def _visible_json(text: str) -> str:
    """Return JSON with the same values, without characters that a terminal would obey."""
    return re.sub(
        "[^\n -~]", lambda found: found[0] if _only_shown(found[0]) else json.dumps(found[0])[1:-1], text
    )


def _only_shown(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def tell(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"{visible(text)}\n")


def print_json(data: dict[str, Any]) -> None:
    """Write one JSON object to stdout."""
    sys.stdout.write(_visible_json(to_json(data)) + "\n")


def console() -> Console:
    """Return a console on stdout that cuts no number off: a narrow terminal breaks the rows of a table."""
    plain = PlainConsole()
    return PlainConsole(width=max(plain.width, TABLE if plain.is_terminal else NARROWEST))


class PlainConsole(Console):
    """A console that shows every string as it is: names of rules may hold brackets, colons, or worse.

    Our own line breaks are in a `Text`, which is printed as rich prints it.
    """

    def __init__(self, width: int | None = None, stderr: bool = False) -> None:
        super().__init__(width=width, stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a string; rich calls this for all that it prints and measures."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to the command line."""
        raise BrokenPipeError


def new_table(*columns: str | Text, wrap: bool = False) -> Table:
    """Make an empty table: the first column to the left, wrapped if it may be, the others to the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=position > 0 or not wrap)
    return table


def print_named(out: Console, lines: Mapping[str, str], width: int) -> None:
    """Print lines with their names before them; at a terminal a long one goes on beneath its start."""
    if not out.is_terminal:
        for name, line in lines.items():
            out.print(f"{name:{width}} {line}", soft_wrap=True)
        return
    table = Table.grid(padding=(0, 1, 0, 0))
    table.add_column(width=width, no_wrap=True)
    table.add_column(overflow="fold")
    for name, line in lines.items():
        table.add_row(name, line)
    out.print(table)
