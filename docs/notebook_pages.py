"""Turn a notebook into a page of the site, with the outputs that are kept in it.

Markdown cells are taken as they are, code cells are shown as Python. Of an output that comes in
several forms the richest is shown: a picture, which becomes a file beside the page, HTML, Markdown
or text. Nothing is run. A cell with the tag `remove-cell` is left out.
"""

from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

from distal.base.checks import InputError

PICTURES = {"image/svg+xml": "svg", "image/png": "png"}
OUTPUT = "{.text .output}"  # the style sheet tells it from code by the second class
TERMINAL = re.compile(r"\x1b\[[0-9;]*m")


def write_page(notebook: Path) -> Path:
    """Write a notebook's page and its pictures beside it; return the page, NAME.md."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    if content.get("nbformat") != 4:
        raise InputError(f"{notebook.name} is no notebook of format 4; save it with a current Jupyter")
    parts = [
        part
        for number, cell in enumerate(content["cells"], start=1)
        if "remove-cell" not in cell["metadata"].get("tags", [])
        for part in cell_parts(cell, notebook, number)
    ]
    page = notebook.with_suffix(".md")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def cell_parts(cell: dict[str, Any], notebook: Path, number: int) -> list[str]:
    """Return a cell, and what came out of it, as pieces of Markdown."""
    source = joined(cell["source"])
    if cell["cell_type"] != "code":
        return [source] if cell["cell_type"] == "markdown" else []
    parts = [fenced(source, "python")] if source.strip() else []
    for place, output in enumerate(cell["outputs"], start=1):
        name = f"{notebook.stem}-{number}-{place}"
        parts.append(shown_output(output, notebook, name, cell["metadata"].get("alt")))
    return parts


def shown_output(output: dict[str, Any], notebook: Path, name: str, alt: str | None) -> str:
    """Return an output as Markdown; a picture is written as a file of this name."""
    if output["output_type"] == "error":
        raise InputError(f"{notebook.name} holds an error ({output['ename']}); run it again until it ends")
    if output["output_type"] == "stream":
        return fenced(joined(output["text"]), OUTPUT)
    data = output["data"]
    for kind, suffix in PICTURES.items():
        if kind in data:
            path = notebook.with_name(f"{name}.{suffix}")
            path.write_bytes(picture(joined(data[kind]), kind))
            return f"![{alt or 'Output of the cell above'}]({path.name})"
    if "text/html" in data:
        return f'<div class="output">\n{joined(data["text/html"])}\n</div>'
    if "text/markdown" in data:
        return joined(data["text/markdown"])
    return fenced(joined(data["text/plain"]), OUTPUT)


def picture(content: str, kind: str) -> bytes:
    """Return the bytes of a picture's file."""
    return base64.b64decode(content) if kind == "image/png" else content.encode()


def fenced(text: str, language: str) -> str:
    """Return text as a block of code, whatever backticks it holds."""
    plain = TERMINAL.sub("", text).rstrip("\n")
    longest = max(map(len, re.findall(r"`+", plain)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{plain}\n{fence}"


def joined(text: str | list[str]) -> str:
    """Return a text that a notebook may keep line by line."""
    return text if isinstance(text, str) else "".join(text)
