"""The page about champions: it is what the kept numbers say, and the numbers are what trials give."""

from __future__ import annotations

import json
import shutil
from copy import deepcopy
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError
from distal.model.draws import child_seed

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
def text() -> ModuleType:
    import champion_page

    return champion_page


@pytest.fixture
def numbers() -> ModuleType:
    import champion_numbers

    return champion_numbers


def test_the_page_its_figures_and_the_readme_are_what_the_kept_numbers_say(
    making: ModuleType, tmp_path: Path
) -> None:
    making.write(KEPT, tmp_path)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(written) == 4 + len(KEPT["champions"])
    for path in written:
        kept = DOCS / path.relative_to(tmp_path)
        assert path.read_text(encoding="utf-8") == kept.read_text(encoding="utf-8"), kept.name
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert making.readme(KEPT) in readme
    assert making.with_part(readme, making.readme(KEPT)) == readme


def test_the_page_is_about_the_champions_of_the_package() -> None:
    assert KEPT["champions"] == [
        {"rule": rule.to_dict(), "record": distal.champion_record(number)}
        for number, rule in enumerate(distal.champion_rules(), start=1)
    ]


def test_the_page_can_be_found() -> None:
    assert '"champions.md"' in (ROOT / "zensical.toml").read_text()
    assert "(champions.md)" in (DOCS / "index.md").read_text(encoding="utf-8")


def test_the_kept_numbers_were_made_at_full_length(numbers: ModuleType) -> None:
    full = numbers.Size()
    for name in ("short", "look", "long"):
        assert KEPT["size"][name] == getattr(full, name)
    assert KEPT["size"]["main"] >= full.main


@pytest.fixture
def without_figures(making: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw none: the test of the kept page draws them all, and that is most of the time."""
    monkeypatch.setattr(making, "figures", lambda data: {})


@pytest.mark.usefixtures("without_figures")
def test_a_quick_run_writes_page_and_numbers_which_are_those_of_learn(
    making: ModuleType, numbers: ModuleType, tmp_path: Path
) -> None:
    readme = (ROOT / "README.md").read_bytes()
    making.main(["--quick", "--out", str(tmp_path)])
    assert (ROOT / "README.md").read_bytes() == readme
    data = json.loads((tmp_path / "champions.json").read_text(encoding="utf-8"))
    seed, quick = child_seed(1, 0, 0, numbers.CHAMPIONS), numbers.QUICK
    result = distal.learn("champion:1", trials=quick.main // 8, episodes=quick.short, seed=seed, keep_ep=True)
    assert result.chance is not None
    assert result.behaviour is not None
    found = data["does"]["champion:1"]
    assert found["own"]["best"]["value"] == result.fitness
    assert found["chance"]["best"]["value"] == result.chance.fitness
    assert found["own"]["reached"]["value"] == result.reached
    assert found["own"]["retained"] == result.behaviour.retained
    sigmoid = next(row for row in data["elsewhere"]["champion:1"] if row["place"] == "neurons = sigmoid")
    there = distal.learn("champion:1", trials=1, episodes=quick.short, seed=seed, neurons="sigmoid")
    assert sigmoid["own"]["value"] == there.fitness
    assert there.chance is not None
    assert sigmoid["minus_chance"]["value"] == pytest.approx(there.fitness - there.chance.fitness)
    page = (tmp_path / "champions.md").read_text(encoding="utf-8")
    assert all(f"### {rule.name}: " in page for rule in distal.champion_rules())


@pytest.mark.usefixtures("without_figures")
def test_the_page_is_written_again_without_a_trial(
    making: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(making, "measure", None)  # a call would fail
    shutil.copy(DOCS / "champions.json", tmp_path)
    making.main(["--page", "--out", str(tmp_path)])
    assert (tmp_path / "champions.md").read_bytes() == (DOCS / "champions.md").read_bytes()


def test_a_quick_run_does_not_replace_the_page(making: ModuleType) -> None:
    with pytest.raises(InputError, match="--quick is for another folder"):
        making.main(["--quick"])


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
    assert found["repeated"]["goal"] == 1 / 3
    # Worse than the one before: 130 after 90, 125 after 120, 130 and 140 of the third.
    assert found["repeated"]["worse"] == 2 / 4
    late = numbers.after_success(np.tile([130, 90, 130, 90], (5, 1)), 100)
    assert late == {"share": [0, 1], "trials": [5, 5]}


@pytest.mark.parametrize(
    ("value", "low", "high", "said"),
    [
        (61, 60, 61.5, "met"),
        (61, 59, 63, "met, but the interval reaches beyond it"),
        (63, 61, 65, "not met, but the interval reaches it"),
        (67, 66, 68, "**not met**"),
    ],
)
def test_a_target_is_judged_by_the_value_and_its_interval(
    text: ModuleType, value: float, low: float, high: float, said: str
) -> None:
    record = {"held_out": {"fitness": value, "low": low, "high": high}}
    assert text.verdict(text.TARGETS[0], record) == said
    assert text.TARGETS[0].limit == 62
    shares = {"reached": 1 - value / 100, "reached_low": 1 - high / 100, "reached_high": 1 - low / 100}
    assert text.verdict(text.Target("", 0.38, (), "reached", "", ()), {"held_out": shares}) == said


def test_the_targets_that_are_not_met_are_named(text: ModuleType) -> None:
    data = deepcopy(KEPT)
    for entry in data["champions"]:
        entry["record"]["held_out"] |= {"fitness": 0.0, "reached": 1.0}
    assert text.in_targets(data).startswith("4 of 4 targets are met")
    assert "Not met" not in text.in_targets(data)
    data["champions"][0]["record"]["held_out"] |= {"fitness": 62.5}
    assert "Not met: best EP after 100 episodes (62.50, where 62 was the target)" in text.in_targets(data)


def test_sentences_follow_the_numbers(text: ModuleType) -> None:
    data = deepcopy(KEPT)
    name = "champion:1"
    moved, own = data["inside"][name]["movement"], data["does"][name]["own"]
    swapped = data["inside"][name]["signals"]["swapped"]
    for goal, even, worse, head in (
        (0.01, 0.3, 1.0, "Win, stay"),
        (0.2, 0.2, 0.2, "It walks on at one pace"),
        (0.9, 0.3, 0.1, "How far it moves"),
    ):
        for after, value in (("goal", goal), ("no worse", even), ("worse", worse)):
            moved[after]["mean"] = value
        assert text.moves(data, name).startswith(f"**{head}")
    for retained, head in ((0.49, "It does not keep"), (0.5, "It keeps what it finds")):
        own["retained"] = retained
        assert text.keeps(data, name).startswith(f"**{head}")
    for p, difference, head in (
        (1e-9, 5.0, "It does worse with m turned"),
        (0.9, 5.0, "It is not shown to care"),
        (1e-9, -5.0, "It does better with m turned round"),
    ):
        swapped |= {"p": p, "difference": difference}
        assert text.hears(data, name).startswith(f"**{head}")
    for share, head in ((0.79, "Its networks do not end alike"), (0.8, "Its networks end alike")):
        own["same_end"] = share
        assert text.ends(data, name).startswith(f"**{head}")
    for cosine, head in ((-0.5, "It takes back"), (0.0, "It does not take back"), (0.5, "It goes on")):
        moved["worse"]["cosine"] = cosine
        assert text.turns(data, name).startswith(f"**{head}")


def test_a_record_that_its_rule_does_not_bear_out_is_pointed_at(text: ModuleType) -> None:
    entry = deepcopy(KEPT["champions"][0])
    entry["record"]["held_out"]["fitness"] = KEPT["does"]["champion:1"]["own"]["best"]["value"]
    assert text.agreement(KEPT, entry).endswith("the two agree.")
    entry["record"]["held_out"]["fitness"] -= 20
    assert "**the two differ by more than their errors explain**" in text.agreement(KEPT, entry)


def test_a_row_is_put_into_words(text: ModuleType) -> None:
    assert text.row_words(21, 1) == (
        "strengthens synapses that saw both silent and the sender active alone, "
        "after an episode that was no worse"
    )
    assert (
        text.row_words(0, -1) == "weakens synapses that saw no state often, after an episode that was worse"
    )
