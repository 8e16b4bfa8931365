"""The appendix: how near the paper's fifteen rules come to the numbers that the paper reports for them."""

from __future__ import annotations

import csv
import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import distal
from distal import InputError, Settings
from distal.base import significance
from distal.base.colours import LIGHT
from distal.base.folders import Manifest, read_manifest
from distal.learners import chance_for
from distal.learners.shipped import published_fitness, published_rules
from distal.model import draws
from distal.model.maze import maze
from distal.studies import appendix
from distal.studies import reproduction_figures as figures
from distal.studies.agreement import PaperNumber, agreement, compare
from distal.studies.appendix import Appendix
from distal.studies.plans import reproduce as experiments
from distal.studies.plans.reproduce import Experiments, reproduce
from distal.studies.report import Sheet, unfolded
from distal.studies.reproduction import Reproduction
from distal.studies.reproduction_report import ReproductionReport
from distal.studies.stages import Event
from tests.given import some
from tests.mazes import T

pytestmark = pytest.mark.usefixtures("rough")

NEW = ("appendix_dsp", "appendix_dsp_resampled", "appendix_chance", "appendix_narrow")


def as_in_the_paper(shifts: dict[int, int] | None = None) -> NDArray[np.int32]:
    """Make up 40 EPs for each rule whose mean is the paper's number, rounded; some rules are shifted.

    One half of them is 10 above the mean, the other 10 below, so their deviation is about 10.
    """
    eps = np.empty((15, 40, 2), np.int32)
    for k in range(15):
        whole = round(40 * published_fitness(k + 1))
        eps[k] = (whole // 40 + (np.arange(40) < whole % 40) + np.tile([-10, 10], 20))[:, None]
        eps[k] += (shifts or {}).get(k + 1, 0)
    return eps


def made_up(shifts: dict[int, int] | None = None) -> Appendix:
    plain = as_in_the_paper(shifts)
    return Appendix((1_000, 10_000), plain, plain - 5, plain + 2, plain + 30)


# ------------------------------------------------------------------ numbers


def test_correlation_and_difference_by_hand() -> None:
    paper, ours = np.array([1.0, 2, 3]), np.array([2.0, 2, 5])
    # deviations −1 0 1 and −1 −1 2: products 3, squares 2 and 6; differences 1 0 2
    assert appendix.correlation(paper, ours) == pytest.approx(3 / np.sqrt(2 * 6))
    assert appendix.rms(paper, ours) == pytest.approx(np.sqrt((1 + 0 + 4) / 3))
    both = np.array([ours, -paper])
    assert appendix.correlation(paper, both) == pytest.approx([3 / np.sqrt(12), -1])
    assert appendix.rms(paper, both) == pytest.approx([np.sqrt(5 / 3), np.sqrt((4 + 16 + 36) / 3)])


@pytest.mark.usefixtures("exact")
def test_an_interval_over_rows_redraws_each_row_by_itself() -> None:
    # Rows of 100 values with means 0 and 50, both with deviation 10: their difference has error √(1 + 1).
    rows = np.array([[-10, 10] * 50, [40, 60] * 50])
    low, high = significance.rows_interval(rows, lambda means: means[:, 1] - means[:, 0])
    assert (low, high) == pytest.approx((50 - 1.96 * np.sqrt(2), 50 + 1.96 * np.sqrt(2)), abs=0.15)
    still = np.array([[3] * 4, [5] * 4])
    assert significance.rows_interval(still, lambda means: means.sum(axis=1)) == (8, 8)


def test_numbers_that_are_the_papers_agree_completely() -> None:
    found = made_up()
    assert found.agree == 15
    assert some(found.here.r).value == pytest.approx(1)
    assert found.here.rms.value == pytest.approx(0, abs=0.005)
    assert found.mean.value == pytest.approx(63.85, abs=0.01)
    narrow = some(found.in_narrow)
    assert (some(narrow.r).value, narrow.rms.value) == pytest.approx((1, 30), rel=1e-4)
    assert found.beat_chance == 15  # by 2 in every trial


def test_the_papers_numbers_have_an_error_too() -> None:
    # Deviation 10 and 40 trials on both sides: the difference has error 10 √(2 / 40) = 2.24. So 4 is within
    # two of them, though not within two errors of ours alone, which are 1.6; 5 is beyond.
    found = made_up({1: 4, 2: -4, 3: 5, 4: -5})
    assert [row.agrees for row in found.rows[:5]] == [True, True, False, False, True]
    assert found.agree == 13
    assert found.here.rms.value == pytest.approx(np.sqrt((16 + 16 + 25 + 25) / 15), abs=0.005)


def test_numbers_that_are_all_the_same_have_no_correlation() -> None:
    same = np.full((15, 40, 1), 50, np.int32)
    found = Appendix((10_000,), same, same, same, None)
    assert found.here.r is None
    assert str(found.here).startswith("r –, rms ")
    assert found.to_dict()["r"] is None


def test_the_lowest_with_resampling_is_found_at_every_mark() -> None:
    eps = np.full((15, 2, 2), 50, np.int32)
    eps[3, :, 0], eps[8, :, 1] = (40, 42), (38, 39)
    found = Appendix((1_000, 10_000), eps, eps, eps, None)
    assert found.lowest_resampled(1_000) == (4, 41)
    assert found.lowest_resampled(10_000) == (9, 38.5)


# ------------------------------------------------------------------ in a reproduction


def of_appendix(lines: list[PaperNumber]) -> list[PaperNumber]:
    return [line for line in lines if line.section.startswith("The appendix")]


def at_paper_scale(result: Reproduction, found: Appendix) -> Reproduction:
    """Pretend that nothing happened after the last episode until the paper's last."""
    longer = {
        test: np.concatenate([curve, np.repeat(curve[:, :, -1:], 10_000 - curve.shape[2], axis=2)], axis=2)
        for test, curve in result.curves.items()
    }
    return replace(result, scale=Experiments.SCALES["paper"], curves=longer, appendix=found)


def test_fifteen_of_the_45_judged_numbers_are_those_of_the_appendix(tiny: tuple[Reproduction, Path]) -> None:
    shifts = {1: 30, 2: -30, 5: 4}
    lines = compare(at_paper_scale(tiny[0], made_up(shifts)))
    assert agreement(lines).split(" numbers")[0].endswith(" of 45")
    first, *_ = rest = of_appendix(lines)
    assert first.section == "The appendix: the fifteen published rules after 10,000 episodes (here 10,000)"
    judged, shown = rest[:15], {line.what: line for line in rest[15:]}
    expected = {1: "ours higher", 2: "ours lower"}
    assert [line.verdict for line in judged] == [expected.get(k, "agrees") for k in range(1, 16)]
    assert [line.paper for line in judged] == [published_fitness(k) for k in range(1, 16)]
    assert {line.verdict for line in shown.values()} == {""}
    assert shown["how many of the fifteen agree"].ours == "13 of 15"
    assert shown["mean of the fifteen"].paper == pytest.approx(63.85, abs=0.01)
    assert shown["mean of the fifteen"].difference == pytest.approx(4 / 15, abs=0.005)
    rms = shown["root mean squared difference from the paper's fifteen numbers (rms)"]
    assert rms.ours == pytest.approx(np.sqrt((900 + 900 + 16) / 15), abs=0.005)
    assert shown["resampled, the lowest of the fifteen at 10,000"].paper == 39.32


def test_fewer_episodes_than_the_papers_are_shown_and_not_judged(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    lines = of_appendix(compare(result))
    assert lines[0].section.endswith("after 10,000 episodes (here 120)")
    assert {line.verdict for line in lines} == {""}
    assert not any("agree" in line.what for line in lines)
    data = json.loads((folder / "results.json").read_text())["appendix"]
    assert (data["judged"], data["agree"]) == (False, None)


def test_the_trials_are_those_of_each_rule_alone(tiny: tuple[Reproduction, Path]) -> None:
    found, rule = tiny[0].appendix, published_rules()[6]
    assert found.marks == (100, 120)
    plain, resampled = (int(seed) for seed in draws.child_seeds(3, [[6, number, 7] for number in (8, 9)]))
    given: Any = {"trials": 5, "episodes": 120}
    expected = {
        "plain": distal.learn(rule, seed=plain, **given),
        "resampled": distal.learn(rule, seed=resampled, resample=100, **given),
        "chance": distal.learn(chance_for(rule), seed=plain, **given),
        "narrow": distal.learn(rule, seed=plain, maze=maze("narrow-t"), **given),
    }
    for name, learned in expected.items():
        assert (getattr(found, name)[6] == learned.best[:, [99, 119]]).all()


@pytest.mark.usefixtures("at_tiny_scale")
def test_published_rules_are_not_run_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    # A private number: how many trials are many.
    monkeypatch.setattr(experiments, "_MANY", 1)
    result = reproduce("quick", rules="published", maze=T, steps=25, hidden=5)
    assert {name for name in result.seconds if name.startswith("appendix")} == {"appendix_narrow"}
    for name, test in (("plain", "dsp"), ("resampled", "dsp_resampled"), ("chance", "chance")):
        assert (getattr(result.appendix, name) == result.curves[test][:, :, [99, 119]]).all()


def test_the_narrow_maze_is_not_shown_beside_itself(tiny: tuple[Reproduction, Path]) -> None:
    stages = {stage.name for stage in Experiments(settings=Settings(), maze=maze("narrow-t")).plan}
    assert stages & set(NEW) == set(NEW[:3])
    result = replace(tiny[0], appendix=replace(tiny[0].appendix, narrow=None))
    assert result.appendix.to_dict()["narrow_t"] is None
    (table,) = [
        block
        for block in unfolded(ReproductionReport(result).blocks())
        if isinstance(block, Sheet) and block.name == "appendix"
    ]
    assert {row[-1] for row in table.rows} == {"–"}
    assert len(figures.appendix(result).axes[0].containers) == 1


# ------------------------------------------------------------------ folders


@pytest.mark.usefixtures("at_tiny_scale")
def test_a_folder_of_an_earlier_version_gets_what_it_lacks(
    tiny: tuple[Reproduction, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(tiny[1], folder)
    manifest = some(read_manifest(folder))
    for path in folder.rglob("*appendix*"):
        path.unlink()
    earlier = Manifest(manifest.holds, tuple(name for name in manifest.files if "appendix" not in name))
    (folder / "manifest.json").write_text(earlier.to_text())
    kept = {path: path.read_bytes() for path in folder.glob("*.npz")}
    run: list[str] = []

    def told(event: Event) -> None:
        if event.done == 0 and not event.stage.runs:
            run.append(event.stage.name)

    again = reproduce("quick", seed=3, out=folder, progress=told)
    assert run == list(NEW)
    assert (again.appendix.plain == tiny[0].appendix.plain).all()
    assert {path: path.read_bytes() for path in kept} == kept


@pytest.mark.usefixtures("at_tiny_scale")
def test_a_folder_with_another_maze_is_refused_by_the_name_of_its_maze(tmp_path: Path) -> None:
    asked = Experiments(settings=Settings(), maze=maze("narrow-t"))
    for described, words in ((asked, "maze narrow-t"), (replace(asked, maze=T), "maze")):
        out = tmp_path / words
        with described.opened(out):
            pass
        with pytest.raises(InputError, match=rf"with other options \({words}\); name another, or start over"):
            reproduce("quick", out=out)


# ------------------------------------------------------------------ the report


def test_the_figure_is_the_first_and_shows_both_mazes_and_chance(tiny: tuple[Reproduction, Path]) -> None:
    assert figures.all_figures(tiny[0])[0].name == "appendix"
    found = made_up({1: 30})
    figure = figures.appendix(at_paper_scale(tiny[0], found))
    (axes,) = figure.axes
    assert axes.get_xlim() == axes.get_ylim()
    assert axes.get_xlabel() == "fitness after 10,000 episodes: the paper"
    assert axes.get_ylabel() == "fitness after 10,000 episodes: here"
    for points, shift in zip(axes.containers, (0, 30), strict=True):
        line: Any = points[0]
        paper = np.array([published_fitness(k) for k in range(1, 16)])
        assert line.get_xdata() == pytest.approx(paper)
        assert line.get_ydata() == pytest.approx(paper + shift + 30 * (np.arange(15) == 0), abs=0.006)
    (chance,) = [line for line in axes.lines if line.get_color() == LIGHT["chance"]]
    assert chance.get_ydata() == pytest.approx([found.chance.mean()] * 2)
    texts = [text.get_text() for text in figure.legends[0].get_texts()]
    assert texts[0].endswith(f": {found.here}")
    assert texts[1] == f"narrow-t: {found.in_narrow}"


def test_table_and_json_hold_the_fifteen(tiny: tuple[Reproduction, Path]) -> None:
    result, folder = tiny
    rows = list(csv.DictReader((folder / "tables" / "appendix.csv").read_text().splitlines()))
    data = json.loads((folder / "results.json").read_text())["appendix"]
    assert len(rows) == len(data["rules"]) == 15
    for k, (row, one) in enumerate(zip(rows, data["rules"], strict=True)):
        assert row["rule"] == one["rule"] == f"paper:{k + 1}"
        assert one["paper"] == published_fitness(k + 1)
        for name, column, values in (
            ("ours", "ours", result.appendix.plain),
            ("chance", "chance", result.appendix.chance),
            ("resampled", "resampled", result.appendix.resampled),
            ("narrow_t", "narrow-t", result.appendix.narrow),
        ):
            assert one[name] == some(values)[k, :, -1].mean()
            assert row[column] == f"{one[name]:.2f}"
        assert one["low"] <= one["ours"] <= one["high"]
    assert set(data["rms"]) == set(data["narrow_t"]["rms"]) == {"value", "low", "high"}
    assert data["fitness_at"]["100"] == result.appendix.plain[:, :, 0].mean(axis=1).tolist()
