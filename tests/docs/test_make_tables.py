"""The pages of tables are made from the numbers that are kept beside them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.docs.test_docs import ROOT

NAMES = ("readings", "tasks", "tasks-steps", "beyond", "rivals")


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT / "docs"))
    import make_tables

    return make_tables


def test_every_page_of_a_study_is_made(script: Any) -> None:
    assert tuple(script.PAGES) == NAMES


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.usefixtures("exact")
def test_a_page_is_what_the_kept_numbers_say(name: str, script: Any) -> None:
    for path, text in script.pages(name):
        assert path.read_text(encoding="utf-8") == text
