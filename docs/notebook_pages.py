"""Turn a notebook into a page of the site, with the outputs that are kept in it.

Markdown cells are taken as they are, code cells are shown as Python. Of an output that comes in
several forms the richest is shown: a picture, which becomes a file beside the page, HTML, Markdown
or text. Nothing is run. A cell with the tag `remove-cell` is left out.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from distal.base.checks import InputError

PICTURES: dict[str, tuple[str, Callable[[str], bytes]]] = {
    "image/svg+xml": ("svg", str.encode),
    "image/png": ("png", base64.b64decode),
}
OUTPUT = "{.text .output}"  # the style sheet tells it from code by the second class
TERMINAL = re.compile(r"\x1b\[[0-9;]*m")


def write_page(notebook: Path) -> None:
    """Write a notebook's page, NAME.md, and its pictures beside it."""
    content = json.loads(notebook.read_text(encoding="utf-8"))
    if content.get("nbformat") != 4:
        raise InputError(f"{notebook.name} is no notebook of format 4; save it with a current Jupyter")
    parts = []
    for number, cell in enumerate(content["cells"], start=1):
        source = joined(cell["source"])
        if "remove-cell" in cell["metadata"].get("tags", []):
            continue
        if cell["cell_type"] == "markdown":
            parts.append(source)
        elif cell["cell_type"] == "code":
            parts += [fenced(source, "python")] if source.strip() else []
            for place, output in enumerate(cell["outputs"], start=1):
                name = f"{notebook.stem}-{number}-{place}"
                parts.append(shown_output(output, notebook, name, cell["metadata"].get("alt")))
    notebook.with_suffix(".md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def shown_output(output: dict[str, Any], notebook: Path, name: str, alt: str | None) -> str:
    """Return an output as Markdown; a picture is written as a file of this name."""
    if output["output_type"] == "error":
        raise InputError(f"{notebook.name} holds an error ({output['ename']}); run it again until it ends")
    if output["output_type"] == "stream":
        return fenced(joined(output["text"]), OUTPUT)
    data = {kind: joined(form) for kind, form in output["data"].items()}
    for kind, (suffix, decoded) in PICTURES.items():
        if kind in data:
            path = notebook.with_name(f"{name}.{suffix}")
            path.write_bytes(decoded(data[kind]))
            return f"![{alt or 'Output of the cell above'}]({path.name})"
    if "text/html" in data:
        return f'<div class="output">\n{data["text/html"]}\n</div>'
    return data["text/markdown"] if "text/markdown" in data else fenced(data["text/plain"], OUTPUT)


def fenced(text: str, language: str) -> str:
    """Return text as a block of code, whatever backticks it holds."""
    plain = TERMINAL.sub("", text).rstrip("\n")
    fence = "`" * max(3, 1 + max(map(len, re.findall(r"`+", plain)), default=0))
    return f"{fence}{language}\n{plain}\n{fence}"


def joined(text: str | list[str]) -> str:
    """Return a text that a notebook may keep line by line."""
    return text if isinstance(text, str) else "".join(text)
