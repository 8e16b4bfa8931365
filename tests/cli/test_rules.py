"""`distal rules`."""

from __future__ import annotations

from pathlib import Path

import pytest

from distal import published_rule
from tests.command_line import output, output_json


def test_rules_lists_the_published_rules_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "rules")
    assert all(f"paper:{n} " in text for n in range(1, 16))
    assert output(capsys, "rules", "paper:2").rstrip() == str(published_rule(2))
    data = output_json(capsys, "rules")
    names = [f"{source}:{n}" for source in ("paper", "evolved") for n in range(1, 16)]
    assert [rule["name"] for rule in data["rules"]] == names


def test_a_rule_printed_as_json_is_a_rule_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(output(capsys, "rules", "paper:7", "--json"))
    assert output(capsys, "rules", str(path)) == output(capsys, "rules", "paper:7")
