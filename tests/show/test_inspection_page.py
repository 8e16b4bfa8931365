"""The page of an inspection: everything in one file, in the colours of light and dark."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import distal
from distal.show import inspection_page
from tests.mazes import T

if TYPE_CHECKING:
    from playwright.sync_api import Browser


@pytest.fixture(scope="module")
def found() -> distal.Inspection:
    return distal.inspect("evolved:1", maze=T, episodes=12, trials=8, steps=12, hidden=5)


def test_the_page_holds_every_row_and_needs_no_network(found: distal.Inspection, tmp_path: Path) -> None:
    inspection_page.write_page(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(f"<td>{row // 2:04b}</td>" in page for row in range(2, 32))
    assert not re.search(r"(?:src|href)=\"http", page)
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(?:fill|stroke): #(?!ffffff)", page)  # colours are the page's
    assert page.count("<svg") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    for about, told in found.findings:
        assert f"<li>{about}: {told}</li>" in page.replace("−", "-")
    body = page.split("</style>")[1]
    assert not re.search(r">[^<]*[ (]-\d", body)  # a number has a minus sign, not a hyphen


def test_the_page_is_no_wider_than_a_phone(
    found: distal.Inspection, browser: Browser, tmp_path: Path
) -> None:
    page = browser.new_page(viewport={"width": 390, "height": 844})
    inspection_page.write_page(found, tmp_path / "page.html")
    page.goto((tmp_path / "page.html").as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    page.close()


def test_no_name_of_a_rule_is_taken_for_a_link(tmp_path: Path) -> None:
    rules = [distal.find_rule("evolved:1").named(name) for name in ("[x](javascript:y)", "<b>")]
    found = distal.inspect_set(rules, maze=T, episodes=3, trials=1, steps=5, hidden=2)
    inspection_page.write_page(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "[x] (javascript:y)" in page
    assert not re.search('<b>|href="(?!#)', page)
