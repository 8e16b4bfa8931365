"""The numbers about champions: they are what trials give, and the kept tables and figures show them."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import distal
from distal.model.draws import child_seed
from tests.given import some

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
KEPT: dict[str, Any] = json.loads((DOCS / "champions.json").read_text(encoding="utf-8"))


@pytest.fixture(autouse=True)
def scripts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)


@pytest.fixture
def making() -> ModuleType:
    import make_champions

    return make_champions


@pytest.fixture
def numbers() -> ModuleType:
    import champion_numbers

    return champion_numbers


def test_the_tables_and_figures_show_the_kept_numbers(
    making: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "measure", None)  # a call would fail: no trial is run
    shutil.copy(DOCS / "champions.json", tmp_path)
    making.main(["--page", "--out", str(tmp_path)])
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 5 + len(KEPT["champions"])
    for path in written:
        kept = DOCS / path.relative_to(tmp_path)
        assert path.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), kept.name


def test_the_kept_numbers_are_about_the_champions_of_the_package() -> None:
    assert KEPT["champions"] == [
        {"rule": rule.to_dict(), "record": distal.champion_record(number)}
        for number, rule in enumerate(distal.champion_rules(), start=1)
    ]


def test_the_kept_numbers_were_made_at_full_length(numbers: ModuleType) -> None:
    full = numbers.Size()
    for name in ("short", "look", "long"):
        assert KEPT["size"][name] == getattr(full, name)
    assert KEPT["size"]["main"] >= full.main


@pytest.mark.usefixtures("undrawn")
def test_a_quick_run_writes_tables_and_numbers_which_are_those_of_learn(
    making: ModuleType, numbers: ModuleType, tmp_path: Path
) -> None:
    making.main(["--quick", "--out", str(tmp_path)])
    data = json.loads((tmp_path / "champions.json").read_text(encoding="utf-8"))
    seed, quick = child_seed(1, 0, 0, numbers.CHAMPIONS), numbers.QUICK
    result = distal.learn("champion:1", trials=quick.main // 8, episodes=quick.short, seed=seed, keep_ep=True)
    found = data["does"]["champion:1"]
    assert found["own"]["best"]["value"] == result.fitness
    assert found["chance"]["best"]["value"] == some(result.chance).fitness
    assert found["own"]["reached"]["value"] == result.reached
    assert found["own"]["retained"] == some(result.behaviour).retained
    sigmoid = next(row for row in data["elsewhere"]["champion:1"] if row["place"] == "neurons = sigmoid")
    there = distal.learn("champion:1", trials=1, episodes=quick.short, seed=seed, neurons="sigmoid")
    assert sigmoid["own"]["value"] == there.fitness
    assert sigmoid["minus_chance"]["value"] == pytest.approx(there.fitness - some(there.chance).fitness)
    page = (tmp_path / "champions-tables.md").read_text(encoding="utf-8")
    assert all(f"### Rows of {rule.name}" in page for rule in distal.champion_rules())


def test_what_is_inside_is_what_inspect_finds(numbers: ModuleType) -> None:
    rule, seed = distal.find_rule("champion:1"), 5
    trials = numbers.Trials(seed, distal.engines.Runner(None))
    size = numbers.Size(trials=16, moved=1, short=12)
    measure = numbers.Measure()
    found = numbers.inside(trials, size, rule, measure, size.short)
    right = distal.inspect(rule, trials=2, episodes=size.short, seed=seed)
    for one, knockout in zip(found["knockouts"], right.knockouts, strict=True):
        assert (one["row"], one["change"]) == (knockout.row, knockout.change)
        assert one["difference"] == knockout.effect.difference
        assert one["corrected"] == knockout.p
    assert found["signals"]["swapped"]["difference"] == right.signal["swapped"].difference
    assert found["use"] == right.usage.rows.tolist()


def test_behaviour_is_counted_as_by_hand(numbers: ModuleType) -> None:
    # Two goals take turns; 100 is the target. Rows are trials, columns episodes.
    ep = np.array([[130, 90, 90, 130, 140], [120, 120, 125, 125, 125], [110, 80, 130, 140, 140]])
    found = numbers.behaviour(np.vstack([ep, [[120, 120, 120, 120, 125]]]), 100, 2)
    assert found["reached"]["value"] == 0.5
    assert found["reached_by_goal"] == [1, 0]
    assert found["again_at_once"] == 1 / 3  # three successes, one of them followed by another
    assert found["median_first"] == 2
    assert found["different"]["value"] == np.mean([3, 2, 4, 2])
    assert found["same_end"] == 1  # 140 and 140 towards the first goal, 125 and 125 towards the other
    assert found["usual_end"] == [140, 125]
    late = numbers.after_success(np.tile([130, 90, 130, 90], (5, 1)), 100)
    assert late == {"share": [0, 1], "trials": [5, 5]}


def test_the_lowest_of_fewer_runs_is_a_mean_over_all_ways_to_choose_them(making: ModuleType) -> None:
    import champion_tables

    assert champion_tables.lowest_of([5, 1, 3], 1) == 3
    assert champion_tables.lowest_of([5, 1, 3], 2) == pytest.approx((1 + 1 + 3) / 3)
    assert champion_tables.lowest_of([5, 1, 3], 3) == 1
