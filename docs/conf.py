"""Settings of the documentation site: `make docs` builds it into site/ with Sphinx.

Nothing is fetched, neither when it is built nor by its pages, which open from a folder as well as
from a server. Three things are made here, because no extension makes them: the command reference,
from the parser itself; figures that take the page's colours; and links out of docs/, which a reader
of the repository can follow, as plain names.
"""

from __future__ import annotations

import json
import os
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

DOCS = Path(__file__).parent
sys.path[:0] = [str(DOCS), str(DOCS.parent / "src")]

from address import links, repository  # noqa: E402
from command_reference import commands  # noqa: E402

from distal import __version__  # noqa: E402

if TYPE_CHECKING:
    from sphinx.application import Sphinx

project = "Distal"
author = "The Distal developers"
copyright = "the Distal developers, MIT licence"  # noqa: A001 - Sphinx calls it so
version = release = __version__

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["**.ipynb_checkpoints", "templates"]
templates_path = ["templates"]
nitpicky = True
smartquotes = False  # an option begins with two hyphens
# Signatures name types of other packages, whose documentation is on the network, and of the inside.
nitpick_ignore_regex = [("py:class", ".*")]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_links_external_new_tab = False
nb_execution_mode = "off"  # pages show what the notebooks hold; the tests run them
nb_merge_streams = True

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
# Beside the page of distal.Maze, also where a file system does not tell cases apart.
autosummary_filename_map = {"distal.maze": "distal.maze-function"}
default_role = "code"
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_maximum_signature_line_length = 88

html_theme = "pydata_sphinx_theme"
html_title = "Distal"
html_baseurl = ""
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["style"]
html_css_files = ["distal.css"]
html_favicon = "style/favicon.svg"
html_context = {"default_mode": "auto"}  # light or dark, as the reader has it
html_theme_options = {
    "logo": {"text": "Distal", "image_light": "style/favicon.svg", "image_dark": "style/favicon.svg"},
    "navbar_persistent": ["search-button"],
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "navigation_with_keys": False,
    "search_as_you_type": True,
    "search_bar_text": "Search",
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "show_nav_level": 1,
}

ADDRESS = repository()
if ADDRESS:
    html_theme_options["navbar_end"] = ["theme-switcher", "navbar-icon-links"]
    html_theme_options["icon_links"] = [
        {"name": "Repository", "url": ADDRESS, "icon": "fa-brands fa-git-alt", "type": "fontawesome"}
    ]
COMMANDS = "<!-- commands -->"
FIGURE = re.compile(r"^!\[([^\]]*)\]\((pictures/[\w-]+\.svg)\)$", re.MULTILINE)
PICTURE = re.compile(r"^(!\[[^\]]*\]\((?:figures/)?[\w-]+\.svg\))$", re.MULTILINE)
TABLE = re.compile(r"(?:^\|.*\n){9,}", re.MULTILINE)
WIDE = 480  # pixels of a picture that a phone scrolls; narrower ones shrink
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s#:]+)(#[^)\s]*)?\)")


def prepare(_app: Sphinx, page: str, source: list[str]) -> None:
    """Make the text of a page ready: commands, figures, links out of docs/, and a notebook's links."""
    opened = links(f"docs/{page}.ipynb", ADDRESS)
    if page.startswith("notebooks/") and opened:
        notebook = json.loads(source[0])
        notebook["cells"][0]["source"] += ["\n", "\n", opened]
        source[0] = json.dumps(notebook)
    text = source[0].replace(COMMANDS, commands() if COMMANDS in source[0] else "")
    text = FIGURE.sub(lambda found: inlined(DOCS / found[2], found[1]), text)
    if page.endswith("-tables"):
        first = TABLE.search(text)  # the one that answers the page's question stays open
        start = 0 if first is None else first.end()
        text = text[:start] + TABLE.sub(folded, text[start:])
        title, newline, rest = text.partition("\n")
        text = f"{title}{'' if title.endswith('tables') else ': tables'}{newline}{rest}"
    text = PICTURE.sub(widened, text)
    source[0] = LINK.sub(partial(link, folder=Path(page).parent), text)


def folded(found: re.Match[str]) -> str:
    """Return a long table folded."""
    rows = found[0].count("\n") - 2
    return f"<details>\n<summary>{rows} rows</summary>\n\n{found[0]}\n</details>\n"


def widened(found: re.Match[str]) -> str:
    """Return a picture, marked if it is too wide for a phone."""
    path = DOCS / found[1].rpartition("(")[2].rstrip(")")
    size = re.search(r'<svg[^>]* width="([\d.]+)(pt)?"', path.read_text(encoding="utf-8"))
    pixels = 0.0 if size is None else float(size[1]) * (4 / 3 if size[2] else 1)
    return f"{found[1]}{{.wide}}" if pixels > WIDE else found[1]


def inlined(path: Path, caption: str) -> str:
    """Return a figure as a part of the page, where a style sheet reaches it: on one line."""
    svg = " ".join(path.read_text(encoding="utf-8").split())
    return f'<figure class="drawn"><div>{svg}</div><figcaption>{caption}</figcaption></figure>'


def link(found: re.Match[str], folder: Path) -> str:
    """Return a link as it is, to the page of a Python name, or, where it leaves docs/, as its text alone."""
    name, target, anchor = found[1], found[2], found[3] or ""
    if os.path.normpath(folder / target).startswith(".."):
        return name
    return f"[{name}](<{anchor}>)" if target == "api.md" and anchor.startswith("#distal.") else found[0]


def dashes(_app: Sphinx, page: Any) -> None:
    """Put a dash between a parameter and its description, where autodoc has two hyphens."""
    for text in [node for node in page.findall() if node == " -- "]:
        text.parent.replace(text, type(text)(" – "))


def setup(app: Sphinx) -> None:
    """Let pages be made ready as they are read."""
    app.connect("source-read", prepare)
    app.connect("doctree-read", dashes)
