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
from pathlib import Path, PurePosixPath

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
        if site.exists():
            shutil.rmtree(site)
        shutil.copytree(project / "site", site)


def generate(project: Path) -> None:
    """Run the generator; whatever it complains of is an error.

    Its own strict mode knows links alone. What mkdocstrings finds wrong in docstrings it merely prints.
    """
    done = subprocess.run(
        [sys.executable, "-m", "zensical", "build", "--strict", "-f", str(project / "zensical.toml")],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    if done.returncode != 0 or done.stderr.strip() != CLEAN:
        raise InputError(f"{done.stderr}the site was not built; mend what is named above")


def prepare(docs: Path, folder: Path) -> None:
    """Copy the pages and all that they show into a folder, ready for the generator."""
    shutil.copytree(docs, folder, ignore=NOT_PAGES)
    for notebook in sorted(folder.rglob("*.ipynb")):
        write_page(notebook)
        notebook.unlink()
    for page in sorted(folder.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        page.write_text(ready(text, page.relative_to(folder), docs), encoding="utf-8")


def ready(markdown: str, page: Path, docs: Path) -> str:
    """Return a page as the generator gets it; `page` is its path in docs."""
    if COMMANDS in markdown:
        markdown = markdown.replace(COMMANDS, commands())
    markdown = FIGURE.sub(lambda found: inlined(docs / found[2], found[1]), markdown)
    return LINK.sub(lambda found: link(found, page), markdown)


def link(found: re.Match[str], page: Path) -> str:
    """Return a link as it is, to a notebook's page, or, where it leaves docs/, as its text alone."""
    name, target, anchor = found[1], found[2], found[3] or ""
    if os.path.normpath(page.parent / target).startswith(".."):
        return name
    path = PurePosixPath(target)
    return f"[{name}]({path.with_suffix('.md') if path.suffix == '.ipynb' else target}{anchor})"


def inlined(path: Path, caption: str) -> str:
    """Return a figure as a part of the page: on one line, which Markdown leaves alone."""
    svg = " ".join(path.read_text(encoding="utf-8").split())
    return f'<figure class="drawn"><div>{svg}</div><figcaption>{caption}</figcaption></figure>'


def commands() -> str:
    """Return the command reference: what each command does, how it is called, its options."""
    parser = make_parser()
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


if __name__ == "__main__":
    try:
        build(ROOT, Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "site")
    except InputError as error:
        sys.exit(str(error))
