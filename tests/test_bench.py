"""Benchmarks: what they report, and how runs are compared. No time is asserted."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path

import pytest

from distal import InputError, bench
from distal.bench import Row
from distal.cli import main

ROOT = Path(__file__).parent.parent


def test_a_quick_run_measures_every_row_that_takes_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--quick", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    names = [row["name"] for row in data["results"]]
    assert names == [
        "dsp_episode", "against_reference", "climbing_episode", "chance", "every_ep", "two_workers",
        "hidden_40", "hidden_80", "hidden_160",
    ]  # fmt: skip
    assert all(row["value"] is None or row["value"] > 0 for row in data["results"])
    assert {"processor", "cores", "memory_gib", "python", "numba"} <= set(data["machine"])


def test_targets_are_floors_or_ceilings() -> None:
    assert Row("a", "", 2, "times", 1).met is True
    assert Row("a", "", 2, "times", 3).met is False
    assert Row("a", "", 2, "s", 3, at_least=False).met is True
    assert Row("a", "", None, "s", 3).met is None
    assert Row("a", "", 2, "s").met is None


def test_a_regression_is_noticed() -> None:
    earlier = {"results": [{"name": "speed", "value": 100.0}, {"name": "time", "value": 2.0}]}
    rows = [
        Row("speed", "", 80.0, "times"),
        Row("speed", "", 99.0, "times"),
        Row("speed", "", 130.0, "times"),
        Row("time", "", 3.0, "s", at_least=False),
        Row("time", "", 1.0, "s", at_least=False),
        Row("new", "", 1.0, "s"),
    ]
    assert [verdict for _, _, verdict in bench.compare(rows, earlier)] == [
        "WORSE", "as before", "better", "WORSE", "better", "not measured in both",
    ]  # fmt: skip


def test_the_change_is_printed_against_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        bench, "run", lambda engine, quick, cluster: iter([Row("against_jax", "as JAX", 1.0, "times", 40)])
    )
    kept = ROOT / "benchmarks" / "results" / "cpu.json"
    assert main(["bench", "--against", str(kept)]) == 0
    assert "WORSE" in capsys.readouterr().out
    assert main(["bench", "--json", "--against", str(kept)]) == 0
    captured = capsys.readouterr()
    assert json.loads(captured.out)["results"][0]["name"] == "against_jax"
    assert "WORSE" in captured.err


@pytest.mark.parametrize("text", ["{}", "[]", '{"format": "distal-bench", "version": 9}', "no"])
def test_a_file_that_is_no_benchmark_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(text)
    with pytest.raises(InputError, match=r"other\.json"):
        bench.load_report(path)


def test_an_engine_that_is_not_measured_or_not_there_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--engine", "reference"]) == 2
    assert "engine is 'reference', expected one of cpu, gpu" in capsys.readouterr().err
    if importlib.util.find_spec("cupy") is None:
        assert main(["bench", "--engine", "gpu"]) == 2
        assert "engine gpu: CuPy is not installed" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("measured", "page"), [("cpu", "performance"), ("gpu", "performance"), ("cluster", "cluster")]
)
def test_the_document_shows_the_run_that_is_kept(measured: str, page: str) -> None:
    kept = bench.load_report(ROOT / "benchmarks" / "results" / f"{measured}.json")
    document = (ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8")
    assert kept["machine"]["processor"] in document
    for row in kept["results"]:
        value = f"{row['value']:,.4g} {row['unit']}".strip()
        target = ""
        if row["target"] is not None:
            target = (
                f"{'≥' if row['at_least'] else '≤'} {row['target']:,.4g}{'' if row['met'] else ', not met'}"
            )
        assert f"| {row['what']} | {value} | {target} |" in document
        assert not row["note"] or f"- {row['name']}: {row['note']}." in document


def test_a_quick_run_measures_a_cluster(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("distributed", reason="Dask is not installed: pip install 'distal[cluster]'")
    assert main(["bench", "--cluster", "local:1", "--quick", "--json"]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)["results"]}
    assert list(rows) == ["overhead", "efficiency", "speedup", "episode", "task"]
    assert all(row["value"] > 0 for row in rows.values())


def test_the_document_names_the_last_tests_on_a_card() -> None:
    kept = json.loads((ROOT / "benchmarks" / "results" / "gpu-tests.json").read_text())
    document = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")
    assert kept["failed"] == 0
    assert (
        f"{kept['passed']} tests passed, 0 failed, {kept['batches_compared']:,} batches compared" in document
    )
    assert f"{kept['card']['card']}, {kept['date']}" in document
