"""Benchmarks: what they report, and how runs are compared. No time is asserted."""

from __future__ import annotations

import importlib.util
import json
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import distal
from distal import InputError, bench
from distal.bench import Timing, tables
from distal.cli import main
from tests.command_line import refusal

ROOT = Path(__file__).parents[2]


def timed(jobs: Sequence[Callable[[], object]], repeats: int) -> NDArray[np.float64]:
    """Say that the first job takes one second, the second two, and so on; run none of them."""
    return np.repeat(np.arange(1.0, len(jobs) + 1)[:, np.newaxis], repeats, axis=1)


@pytest.fixture
def no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("distal.bench", "distal.bench.cpu", "distal.bench.cluster", "distal.bench.tables"):
        importlib.import_module(module)
        monkeypatch.setattr(f"{module}.alternating", timed)


@pytest.mark.usefixtures("no_clock")
def test_the_ratios_of_a_quick_run_are_of_the_right_things_the_right_way_round(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distal.bench.cpu.available_cores", lambda: 2)
    # Private numbers: the work itself may be short.
    monkeypatch.setattr(tables, "_TRIALS", 1)
    monkeypatch.setattr(tables, "_EPISODES", 3)
    assert main(["bench", "--quick", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    values = {row["name"]: row["value"] for row in data["results"]}
    of_tables = {name: values.pop(name) for name in list(values) if name.startswith(("table_", "synapse_"))}
    assert len(of_tables) == 2 * 2 * 2  # two tables in two codes: what a table takes, and a step of a synapse
    assert min(of_tables.values()) > 0
    assert values == {
        "dsp_episode": pytest.approx(1e6 / (15 * 40 * 100)),  # µs: a second for all rules, trials, episodes
        "against_reference": pytest.approx((15 * 40) / 4),  # it takes as long for four trials
        "dsp_episode_narrow": pytest.approx(1e6 / (15 * 40 * 100)),
        "against_reference_narrow": pytest.approx((15 * 40) / 4),
        "sigmoid_against_reference": pytest.approx((15 * 40) / 4),
        "dsp_random": pytest.approx(1e6 / (14 * 40 * 100)),
        "dsp_evolved": pytest.approx(3e6 / (15 * 40 * 100)),  # the third that runs
        "climbing_episode": 2,
        "chance": 2,
        "every_ep": 2,
        "wide_random_rules": 0.5,  # the default maze is the first that runs
        "wide_published_rules": 0.5,
        "wide_evolved_rules": 0.5,
        "wide_hill_climbing": 0.5,
        "two_workers": 0.5,
        "hidden_40": 2,
        "hidden_80": 3,
        "hidden_160": 4,
    }
    wide = next(row for row in data["results"] if row["name"] == "wide_evolved_rules")
    assert (wide["target"], wide["at_least"], wide["met"]) == (1.1, False, True)
    assert wide["note"] == "16.67 µs in triple-t, 33.33 µs in narrow-t"
    two = next(row for row in data["results"] if row["name"] == "two_workers")
    assert "two threads of bare arithmetic do 1.50 times the work" in two["note"]  # 2 · 3 s / 4 s
    assert {"processor", "cores", "memory_gib", "python", "numba"} <= set(data["machine"])


class Threads(ThreadPoolExecutor):
    """Two threads in the place of a cluster."""

    workers = 2

    def __init__(self, address: str) -> None:
        super().__init__(self.workers)


@pytest.mark.usefixtures("no_clock")
def test_a_cluster_is_compared_with_one_process_on_as_many_cores_and_on_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def once(jobs: Sequence[Callable[[], object]], repeats: int) -> NDArray[np.float64]:
        jobs[1]()
        return timed(jobs, repeats)

    monkeypatch.setattr("distal.bench.cluster.Cluster", Threads)
    monkeypatch.setattr("distal.bench.cluster.alternating", once)
    monkeypatch.setattr("distal.bench.cluster.available_cores", lambda: 2)
    monkeypatch.setattr(
        "distal.bench.cluster.generation", lambda learners, trials=1: bench.generation(learners, trials=1)
    )
    rows = {row.name: row for row in bench.run(quick=True, cluster="local:2")}
    assert list(rows) == ["overhead", "efficiency", "speedup", "episode", "task"]
    assert rows["efficiency"].value == 3 / 2  # the threads of one process take 3 s, the cluster 2 s
    assert rows["speedup"].value == 1 / 2  # one core takes 1 s
    assert rows["episode"].value == pytest.approx(1e6 / (60 * 8 * 100))
    assert (rows["task"].value or 0) > 0


@pytest.mark.parametrize(
    ("neurons", "name", "target"), [("binary", "against_jax", 100), ("sigmoid", "sigmoid_against_jax", 30)]
)
def test_a_generation_on_a_card_is_compared_with_the_jax_program_for_the_same_neurons(
    neurons: str, name: str, target: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    called: list[list[str]] = []

    def program(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        called.append(command)
        printed = {"all_seconds": [30.0, 50.0, 40.0], "seconds": 40.0, "device": "a card"}
        return subprocess.CompletedProcess(command, 0, stdout=json.dumps(printed))

    monkeypatch.setattr(bench, "find_spec", lambda name: name == "jax")
    monkeypatch.setattr(bench, "times", lambda job, repeats: np.full(repeats, 0.5))
    monkeypatch.setattr("distal.bench.subprocess.run", program)
    batch = bench.generation(distal.published_rules(), trials=1, neurons=neurons)
    # A private function: the others need a card.
    row = importlib.import_module("distal.bench.gpu")._against_jax(batch, 3)
    assert (row.name, row.value, row.target) == (name, 80, target)  # 40 s against half a second
    assert called[0][called[0].index("--neurons") + 1] == neurons


def test_targets_are_floors_or_ceilings() -> None:
    assert Timing("a", "", 2, "times", 1).met is True
    assert Timing("a", "", 2, "times", 3).met is False
    assert Timing("a", "", 2, "s", 3, at_least=False).met is True
    assert Timing("a", "", None, "s", 3).met is None
    assert Timing("a", "", 2, "s").met is None


def test_a_regression_is_noticed() -> None:
    earlier = {"results": [{"name": "speed", "value": 100.0}, {"name": "time", "value": 2.0}]}
    rows = [
        Timing("speed", "", 80.0, "times"),
        Timing("speed", "", 99.0, "times"),
        Timing("speed", "", 130.0, "times"),
        Timing("time", "", 3.0, "s", at_least=False),
        Timing("time", "", 1.0, "s", at_least=False),
        Timing("new", "", 1.0, "s"),
    ]
    assert [verdict for _, _, verdict in bench.compare(rows, earlier)] == [
        "WORSE", "as before", "better", "WORSE", "better", "not measured in both",
    ]  # fmt: skip


def test_the_change_is_printed_against_a_file(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        bench,
        "run",
        lambda engine, quick, cluster: iter([Timing("against_jax", "as JAX", 1.0, "times", 40)]),
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
    assert "expected one of cpu, gpu" in refusal(capsys, "bench", "--engine", "reference")
    if importlib.util.find_spec("cupy") is None:
        assert "engine gpu: CuPy is not installed" in refusal(capsys, "bench", "--engine", "gpu")


@pytest.mark.parametrize(
    ("measured", "page"),
    [("cpu", "engine-measurements"), ("gpu", "engine-measurements"), ("cluster", "cluster")],
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


def test_the_document_names_the_last_tests_on_a_card() -> None:
    kept = json.loads((ROOT / "benchmarks" / "results" / "gpu-tests.json").read_text())
    document = (ROOT / "docs" / "inside-the-gpu.md").read_text(encoding="utf-8")
    assert kept["failed"] == 0
    assert (
        f"{kept['passed']} tests passed, 0 failed, {kept['batches_compared']:,} batches compared" in document
    )
    assert f"{kept['card']['card']}, {kept['date']}" in document
