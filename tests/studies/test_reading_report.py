"""The report of the study of readings: tables, figures and one page."""

from __future__ import annotations

import dataclasses
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import Maze, ReadingStudy, Settings, write_report
from distal.studies import reading_report
from distal.studies.plans.readings import Readings
from distal.studies.reading_figures import all_figures
from distal.studies.reading_outcome import readings
from tests.studies.conftest import PICTURE

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.usefixtures("rough")


def test_the_page_is_one_file_that_holds_every_variant(studied: tuple[ReadingStudy, Path]) -> None:
    study, folder = studied
    page = (folder / "readings.html").read_text(encoding="utf-8")
    for link in re.findall(r'(?:src|href)="([^"#][^"]*)"', page):
        assert (folder / link).is_file(), link
    for outcome in study.outcomes:
        assert page.count(f"<td>{outcome.variant.label}</td>") == 6  # in all tables
    assert page.count('<tr class="marked"><td>base</td>') == 6
    assert page.index("<td>base</td>") < page.index("<td>outputs = binary</td>")
    assert page.count('class="scroll"') == 8  # all that is wide scrolls in a frame of its own
    assert page.count('class="card"') == len(all_figures(study))


def test_what_is_the_bases_stands_in_brackets(studied: tuple[ReadingStudy, Path]) -> None:
    published, appendix, pairing, likelihood, dsp, hc = (
        table.rows for table in reading_report.tables(studied[0])
    )

    def brackets(rows: Any, label: str) -> list[bool]:
        (row,) = [row[1:] for row in rows if row[0] == label]
        return [cell.startswith("(") for cell in row]

    # chance, hill climbing, and three numbers of the published rules
    assert brackets(published, "base") == [False] * 5
    assert brackets(published, "outputs = binary") == [False] * 5
    assert brackets(published, "m_ties = punish") == [True, True, False, False, False]
    assert brackets(published, "elites = kept") == [True, False, True, True, True]
    assert brackets(published, "maze = narrow-t") == [False] * 5
    assert brackets(appendix, "elites = kept") == [True, True, True]
    assert brackets(appendix, "m_ties = punish") == [False, False, False]
    assert brackets(pairing, "elites = kept") == [True, True]
    assert brackets(pairing, "m_ties = punish") == [False, False]
    assert not any("(" in cell for row in (*dsp, *likelihood) for cell in row)
    assert {row[0] for row in hc if row[1].startswith("(")} == {
        "m_ties = punish", "trace_pre = previous", "normalise = layer", "normalise = none",
    }  # fmt: skip


def test_hill_climbing_and_chance_stand_in_the_tables(studied: tuple[ReadingStudy, Path]) -> None:
    study = studied[0]
    published, _, _, _, dsp, hc = reading_report.tables(study)
    for k, outcome in enumerate(study.outcomes):
        for table, search in ((dsp, outcome.dsp), (hc, outcome.hc)):
            shown = dict(zip(table.columns[1:], table.rows[k][1:], strict=True))
            assert list(shown) == ["first", "last", "re-measured", "chance", "beat it"]
            chances = [winner.chance for winner in search.winners if winner.chance is not None]
            assert shown["chance"].strip("()") == f"{sum(chances) / 2:.1f}"
        climbing = dict(zip(published.columns[1:], published.rows[k][1:], strict=True))["hill climbing"]
        assert climbing.strip("()") == hc.rows[k][3].strip("()") == f"{outcome.hc.afresh.mean:.1f}"


@pytest.fixture(scope="module")
def kept() -> ReadingStudy:
    """Return the study of the document, whose maze and network are the paper's."""
    return ReadingStudy.from_dict(json.loads((DOCS / "readings.json").read_text(encoding="utf-8")))


def test_the_papers_numbers_stand_beside_those_of_its_maze_and_network(kept: ReadingStudy) -> None:
    _, appendix, _, likelihood, dsp, hc = (table.rows[-1] for table in reading_report.tables(kept))
    assert appendix == ["the paper", "63.8", "", ""]
    assert likelihood == ["the paper", "25.1", "15.9"]
    assert dsp == ["the paper", "113.8 ± 4.3", "81.4 ± 4.0", "", "", ""]
    assert hc == ["the paper", "98.7 ± 1.6", "93.5 ± 0.9", "", "", ""]


@pytest.mark.parametrize(
    "changed",
    [{"maze": Maze.from_text(PICTURE)}, {"settings": Settings(steps=20)}, {"settings": Settings(hidden=6)}],
    ids=["maze", "steps", "hidden"],
)
def test_another_maze_or_network_is_not_the_papers(kept: ReadingStudy, changed: dict[str, Any]) -> None:
    assert kept.is_papers
    assert dataclasses.replace(kept, maze=Maze(distal.maze("narrow-h").picture, "south")).is_papers
    assert not dataclasses.replace(kept, scale=Readings.SCALES["quick"], **changed).is_papers


def test_the_papers_numbers_are_left_out_with_another_maze_or_network(kept: ReadingStudy) -> None:
    study = dataclasses.replace(kept, maze=Maze.from_text(PICTURE))
    rows = [row for table in reading_report.tables(study) for row in table.rows]
    assert "the paper" not in {row[0] for row in rows}
    texts = [ET.fromstring(figure.drawn[0]).itertext() for figure in all_figures(study)]  # noqa: S314 - our own
    assert not any("the paper: 81.4" in text or "the paper, last" in text for each in texts for text in each)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({}, ""),
        ({"maze": distal.maze("narrow-h")}, " --maze narrow-h"),
        ({"maze": Maze.from_text(PICTURE)}, " --maze FILE"),
        ({"maze": Maze.from_text(PICTURE, "east")}, " --maze FILE --heading east"),
    ],
    ids=["default", "named", "file", "heading"],
)
def test_the_command_names_the_maze(kept: ReadingStudy, changed: dict[str, Any], words: str) -> None:
    asked = reading_report.command(dataclasses.replace(kept, **changed))
    assert asked == f"distal readings --scale {kept.scale.name} --seed 0{words}"


@pytest.fixture(scope="module")
def written(kept: ReadingStudy, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(kept, tmp_path_factory.mktemp("page"))


@pytest.mark.parametrize("width", [390, 1200])
def test_a_phone_wraps_the_words_and_says_what_scrolls(browser: Any, written: Path, width: int) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900})
    page.goto(written.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == width
    boxes = page.evaluate(
        """[...document.querySelectorAll(".scroll, .card")].map(box => [box.scrollWidth > box.clientWidth,
            getComputedStyle(box.previousElementSibling).display !== "none"])"""
    )
    assert any(scrolls for scrolls, _ in boxes) == (width == 390)
    assert all(said for scrolls, said in boxes if scrolls)
    page.close()


def test_the_document_explains_every_reading_with_its_default_first() -> None:
    text = (DOCS / "readings.md").read_text(encoding="utf-8")
    for reading, values in readings().items():
        row = next(line for line in text.splitlines() if line.startswith(f"| `{reading}` |"))
        places = [row.index(f"`{value}`") for value in values]
        assert places == sorted(places)
