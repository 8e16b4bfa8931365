"""Build the documentation site: `python docs/make_site.py [FOLDER]`, into site/ if no folder is given.

The generator, Zensical, reads Markdown and runs no code of ours. So the pages are made ready in a
temporary folder, and built from there:

- The command reference is rendered from the parser itself.
- Figures that are drawn with the page's colours are put into the page, where a style sheet reaches them.
- Links out of docs/, which a reader of the repository can follow, become plain names.
- Notebooks become pages, with their outputs (notebook_pages.py).
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import partial
from pathlib import Path

from notebook_pages import write_page

from distal.base.checks import InputError
from distal.cli import make_parser

ROOT = Path(__file__).parent.parent
COMMANDS = "<!-- commands -->"
FIGURE = re.compile(r"^!\[([^\]]*)\]\((pictures/[\w-]+\.svg)\)$", re.MULTILINE)
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+)(#[^)\s]*)?\)")
CLEAN = "No issues found"  # all that Zensical says on stderr if nothing is wrong
NOT_PAGES = shutil.ignore_patterns("*.py", "__pycache__", ".ipynb_checkpoints")


def build(root: Path, site: Path) -> None:
    """Build the site of a project from its zensical.toml, docs/ and src/; replace one that is there."""
    if site.exists() and any(site.iterdir()) and not (site / "search.json").is_file():
        raise InputError(f"{site} holds other files; name a new folder, or one with a site to replace")
    with tempfile.TemporaryDirectory() as temporary:
        project = Path(temporary)
        shutil.copy(root / "zensical.toml", project)
        (project / "src").symlink_to(root.resolve() / "src")
        prepare(root / "docs", project / "docs")
        generate(project)
        shutil.rmtree(site, ignore_errors=True)
        shutil.copytree(project / "site", site)


def prepare(docs: Path, folder: Path) -> None:
    """Copy the pages and all that they show into a folder, ready for the generator."""
    shutil.copytree(docs, folder, ignore=NOT_PAGES)
    for notebook in sorted(folder.rglob("*.ipynb")):
        write_page(notebook)
        notebook.unlink()
    for path in sorted(folder.rglob("*.md")):
        text = path.read_text(encoding="utf-8")
        if COMMANDS in text:
            text = text.replace(COMMANDS, commands())
        text = FIGURE.sub(lambda found: inlined(docs / found[2], found[1]), text)
        page = path.relative_to(folder)
        path.write_text(LINK.sub(partial(link, page=page), text), encoding="utf-8")


def inlined(path: Path, caption: str) -> str:
    """Return a figure as a part of the page: on one line, which Markdown leaves alone."""
    svg = " ".join(path.read_text(encoding="utf-8").split())
    return f'<figure class="drawn"><div>{svg}</div><figcaption>{caption}</figcaption></figure>'


def link(found: re.Match[str], page: Path) -> str:
    """Return a link as it is, to a notebook's page, or, where it leaves docs/, as its text alone."""
    name, target, anchor = found[1], found[2], found[3] or ""
    if os.path.normpath(page.parent / target).startswith(".."):
        return name
    return f"[{name}]({re.sub(r'[.]ipynb$', '.md', target)}{anchor})"


def generate(project: Path) -> None:
    """Run the generator; whatever it complains of is an error.

    Its own strict mode knows links alone. What mkdocstrings finds wrong in docstrings it merely prints.
    """
    build = ["build", "--strict", "-f", str(project / "zensical.toml")]
    done = subprocess.run(
        [sys.executable, "-m", "zensical", *build], stderr=subprocess.PIPE, text=True, check=False
    )
    if done.returncode != 0 or done.stderr.strip() != CLEAN:
        raise InputError(f"{done.stderr}the site was not built; mend what is named above")


def commands() -> str:
    """Return the command reference: what each command does, how it is called, its options."""
    actions = make_parser()._actions
    (choices,) = (action.choices for action in actions if isinstance(action, argparse._SubParsersAction))
    return "\n".join(line for parser in choices.values() for line in command(parser))


def command(parser: argparse.ArgumentParser) -> list[str]:
    """Return the section of one command."""
    name = parser.prog.split()[-1]
    formatter = argparse.HelpFormatter(parser.prog, width=78)  # however wide the terminal is
    formatter.add_usage(parser.usage, parser._actions, parser._mutually_exclusive_groups)
    usage = formatter.format_help().removeprefix("usage: ").rstrip()
    lines = [f"## distal {name} {{#{name}}}", "", sentence(parser.description or ""), ""]
    lines += ["```", usage, "```", ""]
    for group in parser._action_groups:
        shown = (one for one in group._group_actions if one.help != argparse.SUPPRESS)
        rows = [row(one) for one in shown if "-h" not in one.option_strings]
        title = group.title or ""
        own = {"positional arguments": "argument", "options": "option"}
        if rows and title not in own:
            lines += [sentence(title), ""]
        what = own.get(title, "reading" if title.startswith("readings") else "option")
        lines += [f"| {what} | |", "|---|---|", *rows, ""] if rows else []
    return lines


def row(action: argparse.Action) -> str:
    """Return an argument or option as a line of a table."""
    value = "" if action.nargs == 0 else str(action.metavar or action.dest)
    called = ", ".join(f"`{option} {value}".rstrip() + "`" for option in action.option_strings)
    help_text = (action.help or "").replace("|", "\\|").replace("<", "&lt;")
    return f"| {called or f'`{value}`'} | {help_text % vars(action) if '%' in help_text else help_text} |"


def sentence(text: str) -> str:
    """Return text that begins with a capital letter and ends with a full stop."""
    return text[:1].upper() + text[1:].rstrip(".:") + "." if text else ""


if __name__ == "__main__":
    try:
        build(ROOT, Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
    except InputError as error:
        sys.exit(str(error))
