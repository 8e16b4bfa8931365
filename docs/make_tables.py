"""Write the pages of tables, and their figures, from the numbers of studies that are kept in `docs/`.

Run `python docs/make_tables.py`. Nothing is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from distal.studies.figures import standalone
from distal.studies.registry import find_study
from distal.studies.report import Figure, Report, to_markdown, unfolded

DOCS = Path(__file__).parent
# The studies by the name of their page: the word for the command, and the files of numbers.
PAGES = {
    "readings": ("readings", ["readings.json"]),
    "tasks": ("tasks", ["tasks.json"]),
    "tasks-steps": ("tasks", ["tasks_steps.json"]),
    "beyond": ("beyond", ["beyond.json", "beyond_seed_0.json"]),
    "rivals": ("rivals", ["rivals.json"]),
}


TITLES = {"tasks-steps": "Other tasks, run step by step"}  # where two pages are of one study


def report(name: str) -> Report[Any]:
    """Return the report of a page, from its numbers."""
    word, files = PAGES[name]
    kind: Any = find_study(word).report_class
    return kind(*(kind.of.from_dict(json.loads((DOCS / file).read_text("utf-8"))) for file in files))  # type: ignore[no-any-return]


def pages(name: str) -> Iterator[tuple[Path, str]]:
    """Yield the page of a study and its figures, each with the path that it has."""
    shown = report(name)
    yield DOCS / f"{name}-tables.md", to_markdown(TITLES.get(name, shown.title), shown.blocks())
    for block in unfolded(shown.blocks()):
        if isinstance(block, Figure):
            yield DOCS / "figures" / f"{block.name}.svg", standalone(block.drawn[0])


if __name__ == "__main__":
    for page in PAGES:
        for path, text in pages(page):
            path.write_text(text, encoding="utf-8")
