"""`distal inspect`."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from tests.command_line import output, output_json

LINE = ["--episodes", "8", "--trials", "2", "--steps", "8", "--hidden", "4"]


def test_inspect_prints_writes_and_counts_what_it_says(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    files = ["--html", str(tmp_path / "page.html"), "--figures", str(tmp_path / "figures")]
    text = output(capsys, "inspect", "evolved:1", *LINE, *files)
    data = output_json(capsys, "inspect", "evolved:1", *LINE)
    assert len(data["knockouts"]) == 64
    assert data["usage"]["total"] == sum(np.ravel(data["usage"]["counts"]))
    assert f"fitness (mean best EP): {data['fitness']:.2f}\nchance: {data['chance']['fitness']:.2f}" in text
    for row in range(2, 32):
        share = data["usage"]["rows"][row]
        if row not in data["usage"]["unused"]:
            assert re.search(rf"^ {row} +{row // 2:04b} .* {share:.1%} ", text, re.MULTILINE), row
    assert max(len(line.rstrip()) for line in text.splitlines() if line.startswith(" ")) <= 80
    assert sorted(path.name for path in (tmp_path / "figures").iterdir()) == [
        "evolved_1_numbers.svg", "evolved_1_rows.svg",
    ]  # fmt: skip


def test_inspect_says_what_a_set_shares(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = ["--html", str(tmp_path / "page.html"), "--figures", str(tmp_path)]
    text = output(capsys, "inspect", "evolved:1", "evolved:5", "paper:2", *LINE, *files)
    data = output_json(capsys, "inspect", "evolved:1", "evolved:5", "paper:2", *LINE)
    assert "rules: 3\nmean distance of two rules: " in text
    assert [one["rule"]["name"] for one in data["rules"]] == ["evolved:1", "evolved:5", "paper:2"]
    assert "consensus" in (tmp_path / "set_rules.svg").read_text()
    assert "evolved:5" in (tmp_path / "page.html").read_text()
