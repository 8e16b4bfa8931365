"""Looking into a rule: what is compared, what is left, and what is shown."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, Rule
from distal.engines import Batch
from distal.evaluation.inspection import Effect
from distal.evaluation.inspect import points, with_row
from distal.evaluation.trials import batch_of
from distal.evaluation.usage import count_usage
from tests.command_line import output, output_json, refusal
from tests.given import some
from tests.mazes import T

SMALL: Any = {"maze": T, "episodes": 12, "trials": 8, "steps": 12, "hidden": 5}


LINE = ["--episodes", "8", "--trials", "2", "--steps", "8", "--hidden", "4"]


@pytest.fixture(scope="module")
def found() -> distal.Inspection:
    return distal.inspect("evolved:1", **SMALL)


def test_every_row_is_given_both_of_its_other_changes(found: distal.Inspection) -> None:
    asked = {(one.row, one.change) for one in found.knockouts}
    assert len(found.knockouts) == len(asked) == 64
    assert all(found.rule.delta_w[row] != change for row, change in asked)
    assert found.knockout(3, 0).row == 3
    with pytest.raises(InputError, match="change is -1, which row 3 has; give another"):
        found.knockout(3, -1)


def test_a_knock_out_is_the_fitness_of_the_changed_rule_in_the_same_trials(found: distal.Inspection) -> None:
    one = found.knockout(3, 0)
    changed = distal.learn(with_row(found.rule, 3, 0), chance=False, **SMALL)
    pairs = changed.final - found.result.final
    assert one.effect.fitness == changed.fitness
    assert one.effect.difference == pytest.approx(changed.fitness - found.fitness)
    assert one.effect.low < pairs.mean() < one.effect.high
    assert [one.effect.difference for one in found.knockouts if one.row in found.usage.unused] == [0] * (
        2 * len(found.usage.unused)
    )
    assert found.usage.unused == (0, 1)


def test_the_own_value_of_every_number_has_the_rules_own_fitness(found: distal.Inspection) -> None:
    for name, along in found.sensitivity.items():
        own = getattr(found.rule, name)
        assert along[own].fitness == found.fitness
        assert along[own].difference == 0
        assert list(along) == sorted(along) == points(own)
        assert 0 <= min(along) <= max(along) <= 1
    for value in (0.0, 0.3, 1.0):
        assert {0.0, value, 1.0} <= set(points(value))
        assert len(points(value)) >= 4


def test_a_swapped_signal_swaps_the_rows_of_both_signals(found: distal.Inspection) -> None:
    changes = found.rule.delta_w
    swapped = replace(
        found.rule, delta_w=[changes[k + 1] if k % 2 == 0 else changes[k - 1] for k in range(32)]
    )
    deaf = replace(found.rule, delta_w=[changes[2 * (k // 2) + 1] for k in range(32)])
    for name, rule in (("swapped", swapped), ("always +1", deaf)):
        assert found.signal[name].fitness == distal.learn(rule, chance=False, **SMALL).fitness


def test_the_smallest_rule_meets_its_criterion_and_is_measured_in_fresh_trials(
    found: distal.Inspection,
) -> None:
    smallest = found.smallest
    assert smallest.removed
    for row, change in enumerate(smallest.rule.delta_w):
        assert change == (0 if row in smallest.removed else found.rule.delta_w[row])
    assert smallest.effect.difference <= smallest.effect.standard_error
    assert smallest.effect.fitness == distal.learn(smallest.rule, chance=False, **SMALL).fitness
    assert smallest.fresh.fitness - smallest.fresh.difference != found.fitness  # other trials
    for row in smallest.rows:  # each of the rows that are left was tried in its turn, and missed
        assert row not in found.usage.unused


@pytest.mark.parametrize(
    ("low", "high", "verdict"),
    [
        (0.1, 2, "shown to be worse"),
        (0, 2, "not shown to be worse"),
        (-1, 2, "not shown to be worse"),
        (-2, -1, "not shown to be worse"),
    ],
)
def test_the_smallest_rule_is_judged_by_the_interval_in_fresh_trials(
    low: float, high: float, verdict: str, found: distal.Inspection
) -> None:
    fresh = replace(found.smallest.fresh, low=low, high=high)
    judged = replace(found, smallest=replace(found.smallest, fresh=fresh))
    assert judged.smallest.verdict == verdict
    assert dict(judged.findings)["smallest rule found, fresh trials"].endswith(f"): {verdict}")
    assert judged.to_dict()["smallest"]["verdict"] == verdict


def test_the_file_of_an_inspection_without_a_verdict_is_read(found: distal.Inspection) -> None:
    kept = found.to_dict(curves=True)
    del kept["smallest"]["verdict"]
    assert distal.Inspection.from_dict(kept).smallest == found.smallest


def test_the_same_seed_finds_the_same_smallest_rule(found: distal.Inspection) -> None:
    again = distal.inspect("evolved:1", **SMALL, engine=distal.Runner(workers=1))
    assert again.smallest == found.smallest
    assert again.to_dict() == {**found.to_dict(), "workers": 1}


def test_what_does_not_fit_in_one_batch_is_run_in_several(
    found: distal.Inspection, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    run = distal.engines.Runner.run

    def noted(self: distal.engines.Runner, batch: Batch, **options: Any) -> Any:
        sizes.append(len(batch))
        return run(self, batch, **options)

    monkeypatch.setattr(distal.engines.Runner, "run", noted)
    # A private number: so that a few rules take several batches.
    monkeypatch.setattr("distal.evaluation.inspect._AT_ONCE", 50)
    assert distal.inspect("evolved:1", **SMALL).to_dict() == found.to_dict()
    assert max(sizes) == 48  # three rules of 16 trials


def test_a_rule_that_does_nothing_is_its_own_smallest_rule() -> None:
    nothing = Rule([0] * 32, 0.1, 0.1, 0.1, 0.1)
    found = distal.inspect(nothing, **{**SMALL, "trials": 1})
    assert found.smallest.rule == nothing
    assert found.smallest.fresh.difference == 0
    assert found.signal["swapped"] == Effect(found.fitness, 0, 0, 0, 0, 1)


def test_an_environment_is_inspected_as_a_table_and_without_one() -> None:
    asked: Any = {"episodes": 3, "trials": 2, "steps": 5, "hidden": 2}
    lake = distal.task_of("FrozenLake-v1", args={"is_slippery": False})
    fast, slow = (distal.inspect("paper:1", task=lake, engine=name, **asked) for name in (None, "reference"))
    assert (fast.result.engine, slow.result.engine) == ("cpu", "reference")
    assert (fast.usage.counts == slow.usage.counts).all()
    assert fast.knockouts == slow.knockouts


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"rule": "hc"}, "'hill climbing' is no rule, and has no rows to inspect; give one such as evolved:"),
        ({"episodes": 1}, "episodes is 1, expected a whole number from 2 to"),
        ({"resample": 1}, "resample is 1, expected a whole number from 2 to"),
        (
            {"maze": distal.Maze.from_text("#####\n#S.7#\n#####"), "trials": 1},
            "trials is 1 in a task of one goal, expected 2 or more: differences need pairs",
        ),
    ],
)
def test_what_cannot_be_inspected_is_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=re.escape(problem)):
        distal.inspect(**{"rule": "paper:1", **SMALL, **options})


def test_plots_are_drawn_on_the_axes_that_are_given(found: distal.Inspection) -> None:
    first = found.plot()
    assert found.plot("knockouts", first) is first
    for name in ("eta", "theta", "alpha_h", "alpha_o"):
        assert found.plot(name).get_xlabel() == name
    widths = np.array([bar.get_width() for bar in found.plot("usage").patches]).reshape(5, 32)  # type: ignore[attr-defined]
    assert widths.sum(axis=0) == pytest.approx(found.usage.rows)


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


def test_inspect_refuses_what_has_no_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert "is no rule, and has no rows to inspect; give one such as evolved:1" in refusal(
        capsys, "inspect", "hc"
    )
    assert "--figures" in refusal(capsys, "inspect", "paper:1", "--figures", __file__)
    assert "its folder does not exist" in refusal(
        capsys, "inspect", "paper:1", "--html", str(tmp_path / "a/b")
    )


DOCS = Path(__file__).parents[2] / "docs"


def kept(name: str) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((DOCS / f"inspect_{name}.json").read_text())
    return data


@pytest.mark.parametrize("name", ["evolved_1", "paper_1"])
def test_the_kept_numbers_are_what_the_command_prints(name: str) -> None:
    data = kept(name)
    assert data["version"] == distal.__version__
    rule = distal.find_rule(name.replace("_", ":"))
    own = distal.learn(rule, trials=data["trials"])
    assert (data["fitness"], data["chance"]["fitness"]) == (own.fitness, some(own.chance).fitness)
    shape: Any = {"task": own.task, "settings": own.settings, "trials": own.trials, "episodes": own.episodes}
    usage = count_usage(batch_of([rule], np.zeros(1, np.uint64), **shape), "cpu")
    assert data["usage"]["counts"] == usage.counts.tolist()
    knocked = data["knockouts"][5]
    changed = distal.learn(with_row(rule, knocked["row"], knocked["change"]), trials=own.trials, chance=False)
    assert knocked["fitness"] == changed.fitness
    smallest = Rule.from_dict(data["smallest"]["rule"])
    assert data["smallest"]["found"]["fitness"] == distal.learn(smallest, trials=50, chance=False).fitness


def test_the_page_about_rules_says_what_the_kept_numbers_say() -> None:
    page = "".join((DOCS / f"{name}.md").read_text(encoding="utf-8") for name in ("inside-a-rule", "reward"))
    ours, papers = kept("evolved_1"), kept("paper_1")

    def cost(data: dict[str, Any], row: int, change: int, interval: bool = False) -> str:
        one = next(one for one in data["knockouts"] if (one["row"], one["change"]) == (row, change))
        text = f"{one['difference']:+.1f}".replace("-", "−")
        if not interval:
            return text
        text += f" ± {(one['high'] - one['low']) / 2:.1f}"
        return f"**{text}**" if one["matters"] else text

    def spoken(effect: dict[str, float]) -> str:
        return "{difference:+.2f} ({low:+.2f} to {high:+.2f})".format(**effect).replace("-", "−")

    changes, shares = ours["rule"]["delta_w"], ours["usage"]["rows"]
    table = [line.split(" | ") for line in page.splitlines() if re.match(r"\| \d+ \| [01]{4} ", line)]
    assert [int(cells[0][2:]) for cells in table] == ours["smallest"]["rows"]
    for cells in table:
        row = int(cells[0][2:])
        assert cells[1:7] == [
            f"{row // 2:04b}", "+1" if row % 2 else "−1", f"{changes[row]:+d}".replace("-", "−"),
            f"{shares[row]:.1%}", cost(ours, row, 0, True), cost(ours, row, -changes[row], True),
        ]  # fmt: skip

    def gone(data: dict[str, Any]) -> list[int]:
        zeroed = [one for one in data["knockouts"] if one["change"] == 0 and one["matters"]]
        return [one["row"] for one in sorted(zeroed, key=lambda one: -one["difference"])]

    def along(name: str, factor: float) -> str:
        value = factor * ours["rule"][name]
        (one,) = (one for one in ours["sensitivity"][name] if one["value"] == value)
        return f"{one['difference']:+.1f}"

    assert gone(ours) == [5, 9, 3, 2, 4, 8, 25]
    assert {format(row // 2, "04b") for row in gone(ours)[:6]} == {"0001", "0010", "0100"}
    assert gone(papers) == [19]
    bits = {format(row // 2, "04b"): changes[row] for row in ours["smallest"]["rows"]}
    assert {b for b, change in bits.items() if change < 0} == {"0001", "0011", "0100"}
    assert {b for b, change in bits.items() if change > 0} == {"0010", "0110"}
    apart = [
        sum(ours["usage"][part][row] for row in range(32) if row // 2 in (0b0010, 0b0100))
        for part in ("first_tenth", "last_tenth")
    ]
    still, papers_still = (
        sum(
            share
            for share, change in zip(one["usage"]["rows"], one["rule"]["delta_w"], strict=True)
            if change == 0
        )
        for one in (ours, papers)
    )
    nonzero, left = sum(change != 0 for change in changes), len(ours["smallest"]["rows"])
    assert shares.index(max(shares)) == 17
    for phrase in (
        f"Row 17 has most of the updates, {max(shares):.1%}; {still:.1%} of the updates change nothing",
        "rows "
        + ", ".join(f"{row} ({cost(ours, row, 0)})" for row in gone(ours)[:-1])
        + f" and {gone(ours)[-1]} ({cost(ours, gone(ours)[-1], 0)})",
        f"{nonzero - left} of the {nonzero} rows",
        f"{ours['smallest']['fresh']['fitness']:.2f}, a difference of {spoken(ours['smallest']['fresh'])}; "
        f"chance {ours['smallest']['chance']:.2f}",
        f"to strengthen there costs {cost(ours, 17, 1)}",
        f"{apart[0]:.1%} of the updates in the first tenth of a trial and {apart[1]:.1%} in the last",
        f"it is not shown to be worse: {spoken(ours['signal']['always +1'])}",
        f"with m always −1, is no use alone: {spoken(ours['signal']['always -1'])}",
        f"chance, which is at {ours['chance']['fitness']:.2f}: {spoken(ours['signal']['swapped'])}",
        f"η costs {along('eta', 0.5)}, twice as much {along('eta', 2)}",
        f"θ {along('theta', 0.5)}, twice as much {along('theta', 2)}",
        f"no memory at all: {spoken(ours['sensitivity']['alpha_h'][0])}",
        f"fitness is {papers['fitness']:.2f}, chance {papers['chance']['fitness']:.2f}",
        f"row 3 must not become positive ({cost(papers, 3, 1)}) "
        f"and row 5 not negative ({cost(papers, 5, -1)})",
        f"{papers_still:.1%} of its updates change nothing",
        f"row 19 ({cost(papers, 19, 0)})",
        "rows, 3, 4, 5, 11, 13 and 19"
        if papers["smallest"]["rows"] == [3, 4, 5, 11, 13, 19]
        else "other rows",
        f"{papers['smallest']['fresh']['fitness']:.2f}, a difference of "
        f"{spoken(papers['smallest']['fresh'])}; "
        f"chance {papers['smallest']['chance']:.2f}",
        f"Always +1 is even better, {spoken(papers['signal']['always +1'])}",
        f"these trials show, {spoken(papers['signal']['swapped'])}",
        f"worse than chance, {spoken(papers['signal']['always -1'])}",
    ):
        assert phrase in page, phrase
    assert ours["rule"]["alpha_o"] == 0
