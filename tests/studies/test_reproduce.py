"""The paper's experiments: which trials they run, their command, and their folder."""

from __future__ import annotations

import csv
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from distal import InputError
from distal.cli import main
from distal.studies.plans import reproduce as experiments
from distal.studies.plans.reproduce import Experiments, reproduce
from distal.studies.reproduction import Reproduction
from distal.studies.stages import Event
from tests.mazes import T
from tests.studies.conftest import TINY

pytestmark = pytest.mark.usefixtures("rough")

SMALL: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 5}


def test_chance_has_the_scales_and_the_trials_of_what_it_stands_beside(
    tiny: tuple[Reproduction, Path],
) -> None:
    result = tiny[0]
    for kind, chance in (("dsp", "chance"), ("hc", "chance_hc")):
        # The first episode of a trial is that of the same network, whoever learns.
        assert (result.curves[kind][:, :, 0] == result.curves[chance][:, :, 0]).all()
    first = {kind: eps[:, 0].tolist() for kind, eps in result.episodes.items()}
    assert first["dsp"] == first["chance"]


@pytest.mark.usefixtures("undrawn")
def test_the_published_rules_can_be_tested_instead(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(Experiments.SCALES, "quick", replace(TINY, generations=1, episodes=30))
    # A private number: how many trials are many.
    monkeypatch.setattr(experiments, "_MANY", 5)
    assert main(["reproduce", "--rules", "published", "--out", str(tmp_path / "out")]) == 0
    captured = capsys.readouterr()
    screen = captured.out.splitlines()
    assert len(screen) <= 22  # of the 25 that `make run` ends with, two are its own
    assert screen[-1] == f"report: {tmp_path / 'out' / 'report.html'}"
    table, last = captured.out.split("The paper’s numbers and ours")[1].split("–: the paper")
    assert max(map(len, table.splitlines())) <= 80
    names = re.findall(r"^ +(\S.*?) +(?:–|\d+\.\d\d) +\d+\.\d\d ", table, re.MULTILINE)
    scores, chance = ([one for one in names if one.startswith("chance") is which] for which in (False, True))
    assert len(scores) == 5
    assert len(chance) == 4  # the best rule and the best climber have one
    assert re.search(r"\d+ of \d+ numbers and statements agree with the paper", last)
    text = (tmp_path / "out" / "results.md").read_text(encoding="utf-8")
    assert "not run" in text
    assert "paper:15: fitness" in text
    assert text.count("chance: ") >= 10
    with (tmp_path / "out" / "tables" / "rules_continuous.csv").open() as file:
        rules = list(csv.DictReader(file))
    assert {row["from"] for row in rules} == {f"paper:{k}" for k in range(1, 16)}
    assert {row["selected at 100"] for row in rules} == {"–"}
    for row in rules:
        assert row["beats chance"] in ("yes", "no")
    assert "evolve DSP rules" not in captured.err
    assert not (tmp_path / "out" / "evolve-dsp").exists()


@pytest.mark.usefixtures("at_tiny_scale")
def test_a_second_call_only_does_what_is_missing(tiny: tuple[Reproduction, Path], tmp_path: Path) -> None:
    result, folder = tiny
    (folder / "test_hc.npz").unlink()
    damaged = folder / "test_dsp.npz"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    run: list[str] = []

    def told(event: Event) -> None:
        if event.done == 0:
            run.append(event.stage.name)

    again = reproduce("quick", seed=3, out=folder, progress=told)
    evolutions = ["evolve_dsp", "evolve_hc", "evolve_dsp_otherwise", "evolve_hc_otherwise"]  # read again
    assert run == [*evolutions[:2], "test_dsp", "test_hc", *evolutions[2:]]
    for test, curves in result.curves.items():
        assert (again.curves[test] == curves).all()
    assert again.evolved["dsp"].winners == result.evolved["dsp"].winners
    on_disk, in_memory = (reproduce("quick", out=out, **SMALL) for out in (tmp_path / "out", None))
    for test, curves in on_disk.curves.items():
        assert (in_memory.curves[test] == curves).all()


@pytest.mark.usefixtures("at_tiny_scale")
def test_force_starts_over_and_leaves_other_files_alone(
    tiny: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny[1], folder)
    (folder / "thesis.tex").write_text("years of work")
    for damage in ("", "null", '{"evolve_dsp": "x"}', "[1"):
        (folder / "seconds.json").write_text(damage)
        reproduce("quick", seed=3, out=folder)  # times are for information: damaged ones stop nothing
    with pytest.raises(InputError, match="other options"):
        reproduce("quick", seed=4, out=folder)
    result = reproduce("quick", seed=4, out=folder, force=True, rules="published", **SMALL)
    assert result.seed == 4
    assert not (folder / "evolve-dsp").exists()
    assert not (folder / "report.html").exists()
    assert (folder / "thesis.tex").read_text() == "years of work"
