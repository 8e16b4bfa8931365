"""The study beyond the paper: its questions, numbers, page and figures."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from distal import BeyondStudy, InputError, Result, evolve, learn, study_beyond
from distal.base.significance import holm
from distal.cli import main
from distal.engines import Batch, Runner
from distal.evaluation.phases import Phases
from distal.evaluation.trials import batch_of
from distal.learners import DEFAULT_CHANCE
from distal.model.draws import child_seed
from distal.studies import beyond_figures, beyond_outcome
from distal.studies.beyond_outcome import InWorld, gain, scores
from distal.studies.beyond_plan import CHANCE, PHASES, QUESTIONS, RULE, Case, Place, World
from distal.studies.beyond_report import BeyondReport
from distal.studies.intervals import Interval
from distal.studies.plans.beyond import Beyond
from distal.studies.report import Heading, Sheet, to_markdown
from distal.tasks.switching import Switch
from tests.given import some
from tests.studies.conftest import BEYOND_TINY as TINY
from tests.studies.conftest import SEED

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("rough")

# ------------------------------------------------------------------ the questions


def test_every_rule_is_compared_with_chance_and_with_hill_climbing_in_its_world() -> None:
    for question in QUESTIONS:
        cases = {case.name: case for case in question.cases}
        assert len(cases) == len(question.cases)
        assert len(set(map(str, question.pairs))) == len(question.pairs)
        for case in question.cases:
            others = {pair.other for pair in question.pairs if pair.own == case.name}
            assert CHANCE in others
            if case.kind == RULE and case.world.moves != "back":
                climbers = [cases[name] for name in others if name.startswith("hc_")]
                assert climbers
                assert {climber.world for climber in climbers} == {case.world}


def test_a_condition_is_what_its_name_says() -> None:
    found = {name: one for question in QUESTIONS for name, one in question.evolutions.items()}
    assert len(found) == 22
    scale = Beyond.SCALES["paper"]
    configs = {name: condition.config(kind, scale, 5) for name, (kind, condition) in found.items()}
    for name, config in configs.items():
        assert config.learner == name.partition("_")[0]
        assert (config.runs, config.generations, config.seed, config.fresh) == (15, 300, 5, 400)
        assert config.fitness == {"last": "last:20", "mean": "mean"}.get(name.partition("_")[2], "best")
        assert (config.switch, config.episodes) == (
            (Switch(100, "new"), 300) if name.endswith("change") else (None, 100)
        )
        assert config.settings.neurons == ("sigmoid" if name.endswith("sigmoid") else "binary")
        assert config.settings.hidden == (int(name.split("_")[2]) if "hidden" in name else 20)
        goals = 2 ** (int(name[-1]) if "levels" in name else 3)
        assert len(config.task.goals) == goals
        assert 40 <= config.trials * goals < 40 + goals
    # 100 steps for a shortest way of 38.5: 13 · 100 / 38.5 = 33.8, 24.5 · … = 63.6, 66.5 · … = 172.7
    assert [Place(levels).settings.steps for levels in (1, 2, 3, 4)] == [34, 64, 100, 173]
    assert [Place(levels).perfect for levels in (1, 2, 3, 4)] == [13, 24.5, 38.5, 66.5]


# ------------------------------------------------------------------ numbers

HAND = dataclasses.replace(TINY, episodes=2, long=4, last=2)


def test_scores_are_those_of_the_episodes_that_they_name() -> None:
    ep = np.array([[9, 5, 7, 1], [8, 8, 2, 4]], np.int32)
    found = scores(World("long", "", long=True), ep, HAND)
    assert {name: values.tolist() for name, values in found.items()} == {
        "best": [5, 8], "last": [7, 8], "missed": [0, 0],
        "best_long": [1, 2], "last_long": [4, 3], "missed_long": [0, 0],
    }  # fmt: skip
    late = np.array([[99, 100, 99, 99], [100, 200, 100, 99]], np.int32)  # a success is below 100 steps
    found = scores(World("long", "", long=True), late, HAND)
    assert found["missed"].tolist() == [0.5, 1]
    assert found["missed_long"].tolist() == [0, 0.5]


def test_what_is_lost_is_the_first_episode_after_a_return_minus_the_best_before() -> None:
    # Phases of two episodes; goals A B A B A.
    ep = np.array([[9, 5, 8, 7, 6, 9, 4, 3, 2, 9]], np.int32)
    assert scores(World("new", "", moves="new"), ep, HAND) == {"adapted": [(7 + 6 + 3 + 2) / 4]}
    lost = (6 - 5) + (4 - 7) + (2 - 6)
    assert scores(World("back", "", moves="back"), ep, HAND)["lost"] == [pytest.approx(lost / 3)]


def test_the_curve_of_the_long_test_is_the_mean_of_the_episodes_themselves() -> None:
    ep = np.array([[9, 5, 7, 1], [7, 5, 3, 5]], np.int32)
    curve = beyond_outcome.curve(World("long", "", long=True), ep, HAND)
    assert curve.episodes == (1, 2, 3, 4)
    assert curve.mean == (8, 5, 5, 3)
    many = np.arange(1000)[None].repeat(2, axis=0)
    curve = beyond_outcome.curve(World("long", "", long=True), many, Beyond.SCALES["paper"])
    before, last = curve.episodes[-2:]
    assert last == 1000
    assert curve.mean[-1] == np.arange(before, 1000).mean()  # all episodes since the point before


def test_the_curve_where_goals_move_begins_anew_in_every_phase() -> None:
    ep = np.array([[9, 5, 8, 7, 6, 9, 4, 5, 2, 9]] * 2, np.int32)
    curve = beyond_outcome.curve(World("new", "", moves="new"), ep, HAND)
    assert curve.episodes == (1, 3, 5, 7, 9, 10)  # the first of every phase, and every fifth
    assert curve.mean == (9, 8, 6, 4, 2, 2)


def test_the_way_from_chance_to_perfection() -> None:
    def row(best: float, chance: float) -> InWorld:
        values = {"best": Interval(best, 0, 0), "chance_best": Interval(chance, 0, 0)}
        return InWorld(values, {}, None, None)  # type: ignore[arg-type]

    assert gain(row(60, 100), 20) == 0.5
    assert gain(row(110, 100), 20) == -0.125
    assert gain(row(20, 20), 20) is None


def plain(study: BeyondStudy, position: int, case: Case) -> Result:
    """Evaluate a case by the public function."""
    place, world = case.world.place, case.world
    return learn(
        study.evolutions[case.evolution].learner, maze=place.task.maze, episodes=world.episodes(TINY),
        trials=-(-TINY.tested // len(place.task.goals)), seed=child_seed(SEED, position, 0, 10), keep_ep=True,
        switch=None if world.moves is None else Switch(TINY.episodes, world.moves),
        resample=TINY.episodes if case.anew else None, hidden=place.hidden, neurons=place.neurons,
        steps=place.settings.steps,
    )  # fmt: skip


def by_hand(world: World, result: Result) -> dict[str, NDArray[Any]]:
    """Return the scores of an evaluation, by another way than the study's."""
    ep = some(result.ep)
    if world.moves is None:
        steps = result.settings.steps
        return {
            "best": result.best[:, TINY.episodes - 1],
            "last": (ep[:, 2] + ep[:, 3]) / 2,
            "last_long": (ep[:, -2] + ep[:, -1]) / 2,
            "missed": ((ep[:, 2] >= steps) * 1 + (ep[:, 3] >= steps)) / 2,
            "missed_long": ((ep[:, -2] >= steps) * 1 + (ep[:, -1] >= steps)) / 2,
        }
    phases = result.phases
    assert isinstance(phases, Phases)
    if world.moves == "new":
        return {"adapted": (phases.best.sum(axis=1) - phases.best[:, 0]) / (PHASES - 1)}
    returns = [phases.first[:, k] - phases.best[:, k - 2] for k in (2, 3, 4)]
    assert np.mean(returns) == pytest.approx(some(phases.forgetting).lost)
    return {"lost": np.mean(returns, axis=0)}


@pytest.mark.parametrize("position", range(len(QUESTIONS)), ids=[one.name for one in QUESTIONS])
def test_numbers_are_those_of_plain_evaluations(beyond: tuple[BeyondStudy, Path], position: int) -> None:
    study = beyond[0]
    outcome = study.outcomes[position]
    found, ps = {}, []
    for case in outcome.question.cases:
        result = plain(study, position, case)
        found[case.name] = by_hand(case.world, result)
        found[f"chance of {case.name}"] = by_hand(case.world, some(result.chance))
        row = outcome.rows[case.name]
        for name, values in found[case.name].items():
            if name in row.values:
                assert row.values[name].value == pytest.approx(values.mean())
        for name, values in found[f"chance of {case.name}"].items():
            if name in row.values:
                assert row.values[f"chance_{name}"].value == pytest.approx(values.mean())
        check_details(case, row, result)
    for pair, comparison in outcome.comparisons.items():
        ps.append(comparison.p)
        if pair.runs:
            own, other = (np.array(outcome.runs[name][pair.of]) for name in (pair.own, pair.other))
            assert comparison.difference.value == pytest.approx(own.mean() - other.mean())
            continue
        second = f"chance of {pair.own}" if pair.other == CHANCE else pair.other
        own, other = found[pair.own][pair.of], found[second][pair.of]
        assert comparison.difference.value == pytest.approx((own - other).mean())
        if (own - other).std() > 0:
            assert comparison.p == pytest.approx(stats.ttest_rel(own, other).pvalue, abs=1e-6)
    assert [one.corrected for one in outcome.comparisons.values()] == pytest.approx(holm(ps))


def check_details(case: Case, row: InWorld, result: Result) -> None:
    """Compare what is counted beside the scores."""
    if case.world.moves is None:
        reached = some(result.ep)[:, : TINY.episodes] <= result.settings.steps - 1
        assert row.values["reached"].value == reached.any(axis=1).mean()
        after = [trial[np.flatnonzero(trial)[0] + 1 :] for trial in reached if trial.any()]
        again = np.concatenate([np.zeros(0), *after])
        assert row.numbers["retained"] == (again.mean() if len(again) else None)
        return
    phases = some(result.phases)
    if case.world.moves == "new":
        for phase in range(PHASES):
            assert row.values[f"best_{phase + 1}"].value == phases.best[:, phase].mean()
            assert row.values[f"reached_{phase + 1}"].value == some(phases.reached)[phase]
            assert row.numbers[f"until_{phase + 1}"] == some(phases.median_until)[phase]
    else:
        assert phases.forgetting is not None
        assert row.values["left"].value == pytest.approx(phases.forgetting.left_with)
        assert row.values["returned"].value == pytest.approx(phases.forgetting.came_back_with)
        assert row.numbers["until_again"] == phases.forgetting.until_again


@pytest.mark.parametrize("name", ["dsp_sigmoid", "hc_change", "dsp_last", "dsp_levels_2"])
def test_the_winners_are_those_of_a_plain_evolution(beyond: tuple[BeyondStudy, Path], name: str) -> None:
    known = {name: one for question in QUESTIONS for name, one in question.evolutions.items()}
    kind, condition = known[name]
    goals = len(condition.place.task.goals)
    evolved = evolve(
        kind, runs=2, generations=1, trials=-(-3 // goals), episodes=12 if condition.moving else 4, seed=SEED,
        fresh=4,
        maze=condition.place.task.maze, neurons=condition.place.neurons, steps=condition.place.settings.steps,
        fitness="last:2" if condition.fitness == "last" else "best", switch=4 if condition.moving else None,
    )  # fmt: skip
    winners = beyond[0].evolutions[name]
    assert winners.remeasured == tuple(winner.remeasured for winner in evolved.winners)
    best = min(evolved.winners, key=lambda winner: winner.remeasured)
    assert (winners.run, winners.learner) == (best.run, best.learner)


def test_the_winners_of_all_runs_are_tested_where_their_own_fitness_cannot_be_compared(
    beyond: tuple[BeyondStudy, Path],
) -> None:
    study = beyond[0]
    outcome = study.outcomes[3]
    assert set(outcome.runs) == {"dsp_base", "dsp_last", "dsp_mean"}
    chosen = study.evolutions["dsp_last"].run - 1  # whose test is also a row
    for score in ("best", "last"):
        value = outcome.rows["dsp_last_in_long"].values[score].value
        assert outcome.runs["dsp_last"][score][chosen] == pytest.approx(value)
    change = study.outcomes[4]
    chosen = study.evolutions["dsp_change"].run - 1
    value = change.rows["dsp_change_in_new"].values["adapted"].value
    assert change.runs["dsp_change"]["adapted"][chosen] == pytest.approx(value)
    assert study.outcomes[0].runs["dsp_sigmoid"]["remeasured"] == study.evolutions["dsp_sigmoid"].remeasured


class Narrow:
    """An engine that takes no network of more than 64 hidden neurons."""

    def supports(self, batch: Batch) -> str | None:
        return "hidden is too large; use engine cpu for more" if batch.settings.hidden > 64 else None


def test_what_an_engine_cannot_run_goes_to_the_next() -> None:
    narrow = Runner("cpu")
    narrow.engine, narrow.loaded = "gpu", Narrow()  # type: ignore[assignment]
    batches = {
        hidden: batch_of(
            [DEFAULT_CHANCE], np.zeros(1, np.uint64), trials=1, episodes=1, task=Place().task,
            settings=Place(hidden=hidden).settings,
        )
        for hidden in (40, 160)
    }  # fmt: skip
    with pytest.raises(InputError, match="hidden is too large"):
        narrow.suited(batches[160])
    runner = narrow.falling_back()
    assert runner.suited(batches[40]).engine == "gpu"
    assert runner.suited(batches[160]).engine == "cpu"
    auto = Runner(None)
    assert auto.falling_back() is auto


# ------------------------------------------------------------------ stages and folders


@pytest.mark.usefixtures("at_tiny_scale")
def test_a_damaged_folder_is_refused(beyond: tuple[BeyondStudy, Path], tmp_path: Path) -> None:
    out = tmp_path / "damaged"
    shutil.copytree(beyond[1], out)
    config = out / "evolve-dsp-sigmoid" / "config.json"
    config.write_text(config.read_text().replace('"sigmoid"', '"sigmoidal"'))
    with pytest.raises(InputError, match=r"config\.json"):
        study_beyond("quick", seed=SEED, out=out, engine=Runner(workers=1))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "beyond-study.json").write_text("[]")
    with pytest.raises(InputError, match="damaged"):
        study_beyond("quick", seed=SEED, out=tmp_path / "foreign", engine=Runner(workers=1))


def damages(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield copies of a study, each with something missing or wrong."""
    yield {**data, "evolutions": {}}
    yield {**data, "scale": "quick"}
    for part in ("rows", "comparisons", "runs"):
        yield {**data, "questions": [{**data["questions"][0], part: {}}, *data["questions"][1:]]}
    copy = json.loads(json.dumps(data))
    del copy["questions"][4]["rows"]["dsp_change_in_new"]["values"]["reached_3"]
    yield copy


def test_a_damaged_file_is_refused(beyond: tuple[BeyondStudy, Path]) -> None:
    for damaged in damages(json.loads((beyond[1] / "beyond.json").read_text())):
        with pytest.raises(InputError, match="study beyond the paper"):
            BeyondStudy.from_dict(damaged)


# ------------------------------------------------------------------ the page


def tables(study: BeyondStudy, position: int) -> dict[str, Sheet]:
    """Return the tables of a question's section, by title."""
    blocks = list(BeyondReport(study).blocks())
    title = QUESTIONS[position].title
    first = next(k for k, one in enumerate(blocks) if isinstance(one, Heading) and one.words == title)
    last = next(k for k in range(first + 1, len(blocks)) if isinstance(blocks[k], Heading))
    return {one.title: one for one in blocks[first:last] if isinstance(one, Sheet)}


def test_the_page_shows_every_learner_beside_chance(beyond: tuple[BeyondStudy, Path]) -> None:
    study = beyond[0]
    for position, outcome in enumerate(study.outcomes):
        rows = tables(study, position)["Compared with chance and hill climbing"].rows
        for case in outcome.question.cases:
            row = next(row for row in rows if list(row[:2]) == [case.words, case.world.words])
            pair = next(pair for pair in outcome.question.pairs if pair.own == case.name)
            for cell, name in ((row[3], pair.of), (row[4], f"chance_{pair.of}")):
                value = outcome.rows[case.name].values[name].value
                assert cell.startswith(f"{value:.2f} (".replace("-", "−"))


def test_every_comparison_is_in_one_table_of_the_page_and_counted_once(
    beyond: tuple[BeyondStudy, Path],
) -> None:
    study = beyond[0]
    counted = BeyondReport(study).summary()
    for position, outcome in enumerate(study.outcomes):
        found = tables(study, position)
        beside = found["Compared with chance and hill climbing"].rows
        shown = sum(2 - (row[-1] == "–") for row in beside)
        others = found["Other comparisons"].rows if "Other comparisons" in found else ()
        assert shown + len(others) == len(outcome.comparisons)
        table = counted[position]
        assert isinstance(table, Sheet)
        assert table.title == outcome.question.title
        assert sum(int(cell) for row in table.rows for cell in row[3:]) == len(outcome.comparisons)


def test_verdicts_are_counted_apart_at_home_and_elsewhere(beyond: tuple[BeyondStudy, Path]) -> None:
    outcome = beyond[0].outcomes[5]
    shown = {
        pair: dataclasses.replace(one, difference=Interval(value, value - 1, value + 1), corrected=0.01)
        for pair, one in outcome.comparisons.items()
        for value in [3 if pair.own == "dsp_base_in_levels_1" else -3]
    }
    changed = dataclasses.replace(outcome, comparisons=shown)
    report = BeyondReport(dataclasses.replace(beyond[0], outcomes=(*beyond[0].outcomes[:5], changed)))
    table = report.summary()[5]
    assert isinstance(table, Sheet)
    counts = {(row[0], row[1]): row[3:] for row in table.rows}
    assert table.columns[3:] == ("better", "not shown", "worse")
    assert counts["rules", "chance"] == ["4", "0", "0"]
    assert counts["rules, elsewhere", "chance"] == ["11", "0", "1"]
    assert counts["rules, elsewhere", "other rules"] == ["11", "0", "1"]


LINES = {"neurons": [5, 5], "keeping": [5, 5], "change": [10]}  # curves, and lines where goals move


def test_the_figures_show_rule_climber_and_chance(beyond: tuple[BeyondStudy, Path]) -> None:
    study = beyond[0]
    for outcome in study.outcomes:
        name = outcome.question.name
        panels = beyond_figures.figure_of(outcome, TINY).axes
        if name in LINES:
            assert [len(axes.lines) for axes in panels] == LINES[name]
    heat = beyond_figures.figure_of(study.outcomes[5], TINY).axes[0]
    row = study.outcomes[5].rows["dsp_base_in_levels_2"]
    share = some(gain(row, 23.5))
    shown = {text.get_position(): text.get_text() for text in heat.texts}
    assert len(shown) == 16
    assert shown[1.5, 2.5].startswith(f"{share:.0%}".replace("-", "−"))  # evolved for 3 levels, tested in 2


# ------------------------------------------------------------------ the document


def test_the_page_shows_the_verdicts_of_another_study_beside_its_own(
    beyond: tuple[BeyondStudy, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = to_markdown(BeyondReport.title, BeyondReport(beyond[0], beyond[0]).blocks())
    assert page.split("## Another study")[1].count("| learners | against |") == len(QUESTIONS)
    (tmp_path / "other.json").write_text('{"format": "distal-tasks"}')
    assert main(["beyond", "--out", str(tmp_path / "new"), "--second", str(tmp_path / "other.json")]) == 2
    assert "other.json': this is not a study beyond the paper" in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_the_documents_hold_what_the_command_runs_with_two_seeds() -> None:
    study, beside = (
        BeyondStudy.from_dict(json.loads((ROOT / "docs" / name).read_text(encoding="utf-8")))
        for name in ("beyond.json", "beyond_seed_0.json")
    )
    assert (study.seed, beside.seed) == (1, 0)
    assert study.scale == Beyond.SCALES[study.scale.name]
