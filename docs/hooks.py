"""What the site adds to the pages as they are written.

- The command reference is rendered from the parser itself.
- Figures that are drawn with the page's colours are put into the page, where a style sheet reaches them.
- Links out of docs/, which a reader of the repository can follow, become plain names.
"""

from __future__ import annotations

import argparse
import os
import re
from pathlib import Path
from typing import Any

from distal.cli import _parser

COMMANDS = "<!-- commands -->"
FIGURE = re.compile(r"^!\[([^\]]*)\]\((pictures/[\w-]+\.svg)\)$", re.MULTILINE)
OUTSIDE = re.compile(r"\[([^\]]+)\]\(\.\./[^)]+\)")


def on_page_markdown(markdown: str, *, page: Any, config: Any, files: Any) -> str:
    """Rewrite a page before it is rendered."""
    docs = Path(config["docs_dir"])
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands())
    markdown = FIGURE.sub(lambda found: inlined(docs / found[2], found[1]), markdown)
    return OUTSIDE.sub(r"\1", markdown)


def inlined(path: Path, caption: str) -> str:
    """Return a figure as a part of the page: on one line, which Markdown leaves alone."""
    svg = " ".join(path.read_text(encoding="utf-8").split())
    return f'<figure class="drawn"><div>{svg}</div><figcaption>{caption}</figcaption></figure>'


def commands() -> str:
    """Return the command reference: what each command does, how it is called, its options."""
    parser = _parser()
    choices = next(
        action for action in parser._actions if isinstance(action, argparse._SubParsersAction)
    ).choices
    return "\n".join(line for name in choices for line in command(choices[name]))


def command(parser: argparse.ArgumentParser) -> list[str]:
    """Return the section of one command."""
    name = parser.prog.split()[-1]
    lines = [f"## distal {name} {{#{name}}}", "", sentence(parser.description or ""), ""]
    lines += ["```", usage(parser), "```", ""]
    for group in parser._action_groups:
        rows = [row(action) for action in group._group_actions if action.help != argparse.SUPPRESS]
        rows = [entry for entry in rows if not entry.startswith("| `-h`")]
        if not rows:
            continue
        title = {"positional arguments": "argument", "options": "option"}.get(group.title or "")
        if title is None:
            title = "reading" if (group.title or "").startswith("readings") else "option"
            lines += [sentence(group.title or ""), ""]
        lines += [f"| {title} | |", "|---|---|", *rows, ""]
    return lines


def row(action: argparse.Action) -> str:
    """Return an argument or option as a line of a table."""
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    called = ", ".join(f"`{option} {value}`".replace(" `", "`") for option in action.option_strings)
    help_text = (action.help or "").replace("|", "\\|").replace("<", "&lt;")
    return f"| {called or f'`{value}`'} | {help_text % vars(action) if '%' in help_text else help_text} |"


def usage(parser: argparse.ArgumentParser) -> str:
    """Return the line of usage, folded to 80 columns wherever the site is built."""
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = "80"
    try:
        return parser.format_usage().removeprefix("usage: ").rstrip()
    finally:
        if before is None:
            del os.environ["COLUMNS"]
        else:
            os.environ["COLUMNS"] = before


def sentence(text: str) -> str:
    """Return text that begins with a capital letter and ends with a full stop."""
    return text[:1].upper() + text[1:].rstrip(".:") + "." if text else ""
