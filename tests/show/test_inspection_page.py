"""The page of an inspection: everything in one file, in the colours of light and dark."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import distal
from distal.show import inspection_page
from tests.mazes import T


@pytest.fixture(scope="module")
def found() -> distal.Inspection:
    return distal.inspect("evolved:1", maze=T, episodes=12, trials=8, steps=12, hidden=5)


def test_the_page_holds_every_row_and_needs_no_network(found: distal.Inspection, tmp_path: Path) -> None:
    inspection_page.write_page(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(f'<td class="">{row // 2:04b}</td>' in page for row in range(2, 32))
    assert not re.search(r"(?:src|href)=\"http", page)
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(?:fill|stroke): #(?!ffffff)", page)  # colours are the page's
    assert page.count("<svg") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))
    for about, told in found.findings:
        assert f'<td class="">{about}</td><td class="words">{told}</td>' in page
