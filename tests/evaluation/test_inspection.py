"""Looking into rules: what is counted, what is compared, what is left, and what rules share."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import distal
from distal import InputError, Rule, Settings
from distal.base.significance import holm, mean_interval
from distal.engines import Batch
from distal.evaluation import rule_set
from distal.evaluation.inspection import Effect, points, with_row
from distal.evaluation.trials import batch_of
from distal.evaluation.usage import LAYERS, Usage, count_usage
from distal.networks import Recurrent
from distal.show import inspection_page
from distal.tasks.mazes import MazeTask
from distal.tasks.table_task import TableTask
from tests.batches import random_batch, random_settings, random_table, random_trials
from tests.command_line import output, output_json, refusal
from tests.mazes import T
from tests.reflex import reflex

SMALL: Any = {"maze": T, "episodes": 12, "trials": 8, "steps": 12, "hidden": 5}
LINE = ["--episodes", "8", "--trials", "2", "--steps", "8", "--hidden", "4"]


@pytest.fixture(scope="module")
def found() -> distal.Inspection:
    return distal.inspect("evolved:1", **SMALL)


# ------------------------------------------------------------------ usage


def trials(rule: Rule, episodes: int = 2, count: int = 1, **settings: Any) -> Batch:
    own = Settings(**settings)
    one: Any = {"task": MazeTask(T), "settings": own, "trials": count, "episodes": episodes}
    return batch_of([rule], np.zeros(1, np.uint64), **one)


def test_the_rows_of_the_reflex_agent_are_counted_as_worked_by_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recurrent, "fresh_weights", lambda *_: reflex())
    rule = Rule([0] * 32, eta=0, theta=0.3, alpha_h=0.5, alpha_o=0.5)
    batch = trials(rule, hidden=1, trace_pre="previous").part(0, 1)  # goal 0: three steps, one update
    usage = count_usage(batch, "reference")
    expected = {  # the rows of the synapses of each layer; test_dsp works them out
        "inputs": [0b0110, 0b1001, 0b0110],  # left, front, right
        "recurrent": [],  # the one hidden neuron has none to itself
        "feedback": [0b1100, 0b1100, 0b1100, 0b1011],
        "outputs": [0b1010, 0b1001, 0b1010, 0b0110],
        "biases": [0b0011, 0b0010, 0b0011, 0b0010, 0b0011],  # of the hidden neuron, then of the outputs
    }
    for layer, counts in zip(LAYERS, usage.counts[0], strict=True):
        rows = [2 * bits + 1 for bits in expected[layer]]  # m = +1 after the first episode
        assert counts.tolist() == np.bincount(rows, minlength=32).tolist(), layer
    assert usage.rewarded == 1
    assert usage.rows[2 * 0b0011 + 1] == 3 / 16
    assert len(usage.unused) == 32 - 7


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("wide", [False, True])
def test_the_compiled_counts_are_those_of_the_reference_engine(seed: int, wide: bool) -> None:
    rng = np.random.default_rng(seed)
    settings = replace(
        random_settings(rng), hidden=int(rng.integers(1, 40)), steps=int(rng.choice([1, 7, 40]))
    )
    if wide:
        settings = replace(settings, neurons="binary")  # one more form would take long to compile
        task = TableTask(random_table(rng, 4, 3))
        batch = random_trials(rng, "dsp", task, settings, episodes=6, trials=4)
    else:
        batch = random_batch(rng, settings, climbing=False, episodes=6).part(0, 4)
    ours, theirs = count_usage(batch, "cpu"), count_usage(batch, "reference")
    assert (ours.counts == theirs.counts).all()


@pytest.mark.parametrize(("resample", "updates"), [(None, 10), (4, 8), (2, 5)])
def test_every_update_that_an_episode_follows_counts_every_synapse_once(
    resample: int | None, updates: int
) -> None:
    rule = distal.find_rule("evolved:1")
    batch = replace(trials(rule, episodes=11, count=3, hidden=6, steps=9), resample=resample)
    usage = count_usage(batch, "cpu")
    # inputs, recurrent without those to itself, feedback, outputs, the biases of both
    synapses = {"inputs": 3 * 6, "recurrent": 6 * 5, "feedback": 4 * 6, "outputs": 6 * 4, "biases": 6 + 4}
    for layer, counts in zip(LAYERS, usage.counts.swapaxes(0, 1), strict=True):
        assert counts.sum() == synapses[layer] * updates * len(batch), layer
    assert usage.counts.shape == (10, 5, 32)
    assert usage.rows.sum() == pytest.approx(1)
    if resample is None:
        assert (usage.counts.sum(axis=(1, 2)) == usage.total // 10).all()


def test_shares_of_layers_and_tenths_add_up_to_one_and_an_empty_part_has_none() -> None:
    counts = np.zeros((2, 5, 32), np.int64)
    counts[0, 0, 3], counts[0, 1, 3], counts[1, 1, 4] = 1, 1, 2
    usage = Usage(counts)
    assert usage.rows[[3, 4]].tolist() == [0.5, 0.5]
    assert usage.layers[1, [3, 4]].tolist() == [1 / 3, 2 / 3]
    assert usage.layers.sum(axis=1).tolist() == [1, 1, 0, 0, 0]
    assert usage.tenths[:, 3].tolist() == [1, 0]
    assert usage.rewarded == 0.5


@hypothesis_settings(max_examples=15)
@given(st.integers(0, 2**32), st.sampled_from([0.0, 0.1, 0.4, 0.9]))
def test_a_row_that_is_not_used_can_have_any_change(seed: int, theta: float) -> None:
    rng = np.random.default_rng(seed)
    rule = Rule(rng.choice([-1, 0, 1], 32).tolist(), 0.3, theta, 0.4, 0.2)
    usage = count_usage(batch_of(
        [rule], np.array([seed], np.uint64), task=MazeTask(T), settings=Settings(hidden=4, steps=9), trials=2,
        episodes=8,
    ), "cpu")  # fmt: skip
    assert {0, 1} & set(usage.unused) or theta >= 0.25  # one state always has a quarter of the steps
    others = rule
    for row in usage.unused:
        others = with_row(others, row, (rule.delta_w[row] + 2) % 3 - 1)
    options: Any = {"maze": T, "hidden": 4, "steps": 9, "trials": 2, "episodes": 8, "seed": seed}
    ours, theirs = (distal.learn(one, chance=False, keep_ep=True, **options) for one in (rule, others))
    assert np.array_equal(ours.ep, theirs.ep)  # type: ignore[arg-type]


# ------------------------------------------------------------------ one rule


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
    monkeypatch.setattr("distal.evaluation.inspection._AT_ONCE", 50)
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


def test_holm_corrects_the_smallest_for_all_and_the_largest_for_itself() -> None:
    assert holm([0.04, 0.01, 0.03]) == pytest.approx(
        [0.06, 0.03, 0.06]
    )  # 3 · 0.01, 2 · 0.03, max(0.04, 0.06)
    assert holm([0.9, 0.8]) == [1, 1]


def test_an_interval_of_a_mean_is_students() -> None:
    low, high = mean_interval(np.array([1.0, 2.0, 3.0]))  # t = 4.3027 with two degrees of freedom
    assert (low, high) == pytest.approx((2 - 4.3027 / 3**0.5, 2 + 4.3027 / 3**0.5), abs=1e-4)
    assert mean_interval(np.array([5, 5])) == (5, 5)


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        (
            {"rule": "hc"},
            "'hill climbing' is no rule, and has no rows to inspect; give one such as evolved:1",
        ),
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


# ------------------------------------------------------------------ several rules


def test_the_consensus_weighs_rules_by_their_use() -> None:
    table = np.zeros((3, 32), np.int64)
    use = np.zeros((3, 32))
    table[:, 5], use[:, 5] = [1, 1, -1], [0.5, 0.25, 0.25]
    table[:, 6], use[:, 6] = [1, -1, -1], [0.0, 0.0, 0.1]  # only the last one uses it
    table[:, 7] = 1  # nobody does
    mean, agreement = rule_set.consensus(table, use)
    assert mean[[5, 6, 7]].tolist() == [0.5, -1, 0]
    assert agreement[[5, 6, 7]].tolist() == [0.75, 1, 0]


def test_rules_are_as_far_apart_as_the_updates_that_they_make_differently() -> None:
    table = np.zeros((3, 32), np.int64)
    use = np.zeros((3, 32))
    table[:, 0], use[:, 0] = [1, -1, 0], [0.6, 0.4, 0.2]
    table[:, 1], use[:, 1] = [1, 1, 1], [0.4, 0.6, 0.8]
    apart = rule_set.distances(table, use)
    # Opposite in half of the updates of the first two; half of 0.4, and half of 0.3, with a change or none.
    assert [apart[0, 1], apart[0, 2], apart[1, 2]] == pytest.approx([0.5, 0.2, 0.15])
    assert (apart == apart.T).all()
    clusters, order = rule_set.clustered(apart)  # 1 and 2 join at 0.15; 0 would at 0.35, beyond 2/9
    assert clusters[1] == clusters[2] != clusters[0]
    assert order[1] == 2  # which is the nearest to both


def test_equal_rules_are_one_cluster_and_share_all_their_rows(tmp_path: Path) -> None:
    rule, other = distal.find_rule("evolved:1"), distal.find_rule("champion:2")
    rule.save(tmp_path / "a.json")
    found = distal.inspect_set([rule, tmp_path / "a.json", other], **{**SMALL, "trials": 1})
    assert found.clusters[0] == found.clusters[1] != found.clusters[2]
    assert found.distances[0, 1] == 0
    alone = distal.inspect_set([rule, rule], **{**SMALL, "trials": 1})
    assert set(alone.shared) == {row for row in range(32) if alone.use[row] >= rule_set.USED}
    assert alone.consensus[list(alone.shared)].tolist() == [rule.delta_w[row] for row in alone.shared]
    assert json.loads(json.dumps(found.to_dict()))["rules"][2]["cluster"] == found.clusters[2]


def test_a_set_is_named_by_a_word_a_folder_or_a_list(tmp_path: Path) -> None:
    few = distal.GeneticAlgorithm(population=3, elite_count=1)
    small: Any = {"generations": 1, "search": few, "trials": 1, "episodes": 2}
    evolved = distal.evolve(runs=2, maze=T, steps=5, hidden=2, out=tmp_path / "runs", **small)
    winners = [winner.learner.delta_w for winner in evolved.winners]  # type: ignore[attr-defined]
    assert [rule.delta_w for rule in rule_set.find_rules(tmp_path / "runs")] == winners
    assert [rule.delta_w for rule in rule_set.find_rules(tmp_path / "runs" / "winners")] == winners
    assert rule_set.find_rules("paper") == distal.published_rules()
    assert len(rule_set.find_rules(["paper", "evolved:1", str(tmp_path / "runs")])) == 18
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match="empty' holds no rules: neither winners/ of distal evolve nor rule files"
    ):
        rule_set.find_rules(str(tmp_path / "empty"))
    with pytest.raises(InputError, match="expected two rules or more; inspect takes one"):
        distal.inspect_set("paper:1")


# ------------------------------------------------------------------ what is shown


def test_plots_are_drawn_on_the_axes_that_are_given(found: distal.Inspection) -> None:
    first = found.plot()
    assert found.plot("knockouts", first) is first
    for name in ("eta", "theta", "alpha_h", "alpha_o"):
        assert found.plot(name).get_xlabel() == name
    widths = np.array([bar.get_width() for bar in found.plot("usage").patches]).reshape(5, 32)  # type: ignore[attr-defined]
    assert widths.sum(axis=0) == pytest.approx(found.usage.rows)
    with pytest.raises(InputError, match="what is 'eat', expected one of usage, knockouts, eta"):
        found.plot("eat")
    with pytest.raises(InputError, match="ax is 3, expected a Matplotlib Axes, or None"):
        found.plot("eta", 3)  # type: ignore[arg-type]


def test_the_page_holds_every_row_and_needs_no_network(found: distal.Inspection, tmp_path: Path) -> None:
    inspection_page.write_page(found, tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert all(f'<td class="">{row // 2:04b}</td>' in page for row in range(2, 32))
    assert not re.search(r"(?:src|href)=\"http", page)
    assert "prefers-color-scheme: dark" in page
    assert not re.search(r"(?:fill|stroke): #(?!ffffff)", page)  # colours are the page's
    assert page.count("<svg") == 2
    names = re.findall(r' id="([^"]+)"', page)
    assert len(names) == len(set(names))


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


def test_inspect_refuses_what_has_no_rows(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for name in ("hc", "chance"):
        assert "is no rule, and has no rows to inspect; give one such as evolved:1" in refusal(
            capsys, "inspect", name
        )
    assert "episodes is 1, expected" in refusal(capsys, "inspect", "paper:1", "--episodes", "1")
    assert "--figures" in refusal(capsys, "inspect", "paper:1", "--figures", __file__)
    assert "its folder does not exist" in refusal(
        capsys, "inspect", "paper:1", "--html", str(tmp_path / "a/b")
    )


# ------------------------------------------------------------------ the page of the documents

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
    assert own.chance is not None
    assert (data["fitness"], data["chance"]["fitness"]) == (own.fitness, own.chance.fitness)
    shape: Any = {"task": own.task, "settings": own.settings, "trials": own.trials, "episodes": own.episodes}
    usage = count_usage(batch_of([rule], np.zeros(1, np.uint64), **shape), "cpu")
    assert data["usage"]["counts"] == usage.counts.tolist()
    knocked = data["knockouts"][5]
    changed = distal.learn(with_row(rule, knocked["row"], knocked["change"]), trials=own.trials, chance=False)
    assert knocked["fitness"] == changed.fitness
    smallest = Rule.from_dict(data["smallest"]["rule"])
    assert data["smallest"]["found"]["fitness"] == distal.learn(smallest, trials=50, chance=False).fitness


def test_the_page_about_rules_says_what_the_kept_numbers_say() -> None:
    page = (DOCS / "inside-a-rule.md").read_text(encoding="utf-8")
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
        f"it does as well: {spoken(ours['signal']['always +1'])}",
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
