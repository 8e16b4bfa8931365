"""The page about searching under noise: its tables, and its statements, are those that were measured."""

from __future__ import annotations

import importlib.util
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import distal
from tests.given import some

ROOT = Path(__file__).parents[2]


def ways() -> Any:
    spec = some(importlib.util.spec_from_file_location("search_ways", ROOT / "benchmarks" / "search_ways.py"))
    module = importlib.util.module_from_spec(spec)
    some(spec.loader).exec_module(module)
    return module


def test_the_page_has_the_tables_that_were_measured_and_says_what_they_show() -> None:
    script, page = ways(), (ROOT / "docs" / "searching.md").read_text()
    results = ROOT / "benchmarks" / "results"
    wide, narrow = (
        json.loads((results / f"{name}.json").read_text()) for name in ("search_ways", "search_ways_narrow")
    )
    assert (wide["maze"], narrow["maze"]) == ("triple-t", "narrow-t")
    for kept in (wide, narrow):
        assert script.table(kept) in page
        assert f"(chance {kept['chance']:.1f}" in page
        found = [one for way in kept["ways"].values() for one in way.values()]
        assert {len(one["fresh"]) for one in found} == {15}
        assert all(one["spent"] <= float(b) for way in kept["ways"].values() for b, one in way.items())
        assert set(kept["ways"]) == set(script.WAYS)

    def fresh(kept: dict[str, Any], way: str, budget: str = "17000000") -> list[float]:
        return [float(value) for value in kept["ways"][way][budget]["fresh"]]

    def better(way: str) -> bool:
        return (
            float(stats.mannwhitneyu(fresh(wide, way), fresh(wide, "paper"), alternative="less").pvalue)
            < 0.05
        )

    assert "no way is shown to be better than the paper's" in page
    assert not any(better(way) for way in wide["ways"])
    for way in ("trials", "restarts", "cma"):
        assert np.mean(fresh(wide, way)) > np.mean(fresh(wide, "paper")) + 3
        assert f"({np.mean(fresh(wide, way)):.1f})" in page
    best = min(narrow["ways"], key=lambda way: np.mean(fresh(narrow, way, "100000000")))
    assert best == "focused_finalists"
    spreads = [np.std(fresh(narrow, way, "100000000"), ddof=1) for way in ("restarts", "finalists")]
    told = some(re.search(r"winners is (\S+), and (\S+) with finalists", page))
    assert [f"{spread:.1f}" for spread in spreads] == list(told.groups())
    by_success, by_ep = distal.champion_record(4), distal.champion_record(1)
    assert [one["prize"] for one in (by_success, by_ep)] == ["reached", "best"]
    assert by_success["run_winners"] == by_ep["run_winners"]  # the same runs
    shares = [one["held_out"]["reached"] for one in (by_success, by_ep)]
    assert f"{shares[0]:.1%} of 4,000 held-out trials" in page
    assert f"in {shares[1]:.1%}: in this maze" in page
    assert f"(chance: {by_success['held_out']['chance_reached']:.1%})" in page


def test_ways_are_compared_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "ways.json"
    asked = ["--engine", "cpu", "--runs", "2", "--out", str(out), "--budgets", "6e4", "--ways", "paper"]
    ways().main([*asked, "--picture", str(tmp_path / "ways.svg")])
    first = out.read_text()
    assert json.loads(first)["ways"]["paper"]["60000"]["generations"] == 0
    ways().main(asked)  # only reads
    assert out.read_text() == first
    assert capsys.readouterr().out.count("paper 60000:") == 1
    assert (tmp_path / "ways.svg").stat().st_size > 1000
