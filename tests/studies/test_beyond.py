"""The study beyond the paper: its questions, numbers, stages, answers, page and command."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from distal import BeyondStudy, InputError, Result, evolve, learn, study_beyond, write_report
from distal.base.colours import LIGHT
from distal.base.significance import difference_interval
from distal.cli import main
from distal.engines import Batch, Runner
from distal.engines.batch import batch_of
from distal.evaluation.phases import Phases
from distal.learners import DEFAULT_CHANCE
from distal.model.draws import child_seed
from distal.model.settings import Settings
from distal.search import cma, fitness, genetic
from distal.search.config import RUN
from distal.studies import (
    beyond_answers,
    beyond_figures,
    beyond_numbers,
    beyond_report,
    beyond_study,
    experiments,
    readings,
    stages,
    task_study,
)
from distal.studies.beyond_numbers import Comparison, Row, gain, scores
from distal.studies.beyond_plan import (
    CHANCE,
    PHASES,
    QUESTIONS,
    RULE,
    SCALES,
    Case,
    Pair,
    Place,
    Scale,
    World,
)
from distal.studies.beyond_study import BEYOND, Beyond, Outcome
from distal.studies.intervals import Gap, Interval
from distal.studies.stages import Event, Stage
from distal.tasks.mazes import MazeTask
from distal.tasks.switching import Switch

pytest.importorskip("matplotlib", reason="figures need matplotlib")

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("rough")

TINY = Scale("quick", runs=2, generations=1, trials=3, episodes=4, fresh=4, tested=5, long=6, last=2)
SEED = 3


@pytest.fixture
def tiny_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SCALES, "quick", TINY)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[BeyondStudy, Path]:
    folder = tmp_path_factory.mktemp("beyond") / "a study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(SCALES, "quick", TINY)
        study = study_beyond("quick", seed=SEED, out=folder, engine=Runner(workers=1))
    write_report(study, folder)
    return study, folder


# ------------------------------------------------------------------ the questions


def test_every_rule_is_compared_with_chance_and_with_hill_climbing_in_its_world() -> None:
    for question in QUESTIONS:
        cases = {case.name: case for case in question.cases}
        assert len(cases) == len(question.cases)
        assert len({pair.name for pair in question.pairs}) == len(question.pairs)
        for case in question.cases:
            others = {pair.other for pair in question.pairs if pair.own == case.name}
            assert CHANCE in others
            if case.kind == RULE and case.world.moves != "back":
                climbers = [cases[name] for name in others if name.startswith("hc_")]
                assert climbers
                assert {climber.world for climber in climbers} == {case.world}


def test_the_questions_hold_what_they_ask_for() -> None:
    tested = {question.name: {case.name for case in question.cases} for question in QUESTIONS}
    kinds = ("dsp", "hc")
    assert tested["neurons"] == {
        f"{kind}_{own}_in_{there}"
        for kind in kinds
        for own in ("base", "sigmoid")
        for there in ("binary", "sigmoid")
    }
    own = {f"{kind}_hidden_{size}_in_hidden_{size}" for kind in kinds for size in (5, 10, 40)}
    wide = {f"{kind}_base_in_hidden_{size}" for kind in kinds for size in (5, 10, 20, 40, 80, 160)}
    assert tested["network"] == own | wide
    assert len(tested["maze"]) == 8
    assert len([name for name in tested["transfer"] if name.startswith("dsp")]) == 16
    assert len(tested["change"]) == 10


def test_a_condition_is_what_its_name_says() -> None:
    found = {name: one for question in QUESTIONS for name, one in question.evolutions.items()}
    assert len(found) == 22
    scale = SCALES["paper"]
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


def test_the_stages_of_the_whole_study_have_names_of_their_own() -> None:
    names = [stage.name for stage in Beyond(scale="paper", seed=0).stages]
    assert len(names) == len(set(names))
    assert len([name for name in names if name.startswith("evolve_")]) == 22


def test_no_other_work_has_the_seeds_of_the_tests() -> None:
    others = {
        0, RUN, fitness.EVALUATION, fitness.REMEASUREMENT, experiments.TEST,
        readings.STUDY, task_study.TASKS, genetic._FIRST, genetic._PARENTS, genetic._REDRAW,
        genetic._DEVIATE, cma._SAMPLE,
    }  # fmt: skip
    assert BEYOND not in others


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
    curve = beyond_numbers.curve(World("long", "", long=True), ep, HAND)
    assert curve.episodes == (1, 2, 3, 4)
    assert curve.mean == (8, 5, 5, 3)
    many = np.arange(1000)[None].repeat(2, axis=0)
    curve = beyond_numbers.curve(World("long", "", long=True), many, SCALES["paper"])
    before, last = curve.episodes[-2:]
    assert last == 1000
    assert curve.mean[-1] == np.arange(before, 1000).mean()  # all episodes since the point before


def test_the_curve_where_goals_move_begins_anew_in_every_phase() -> None:
    ep = np.array([[9, 5, 8, 7, 6, 9, 4, 5, 2, 9]] * 2, np.int32)
    curve = beyond_numbers.curve(World("new", "", moves="new"), ep, HAND)
    assert curve.episodes == (1, 3, 5, 7, 9, 10)  # the first of every phase, and every fifth
    assert curve.mean == (9, 8, 6, 4, 2, 2)


def test_the_way_from_chance_to_perfection() -> None:
    def row(best: float, chance: float) -> Row:
        values = {"best": Interval(best, 0, 0), "chance_best": Interval(chance, 0, 0)}
        return Row(values, {}, None, None)  # type: ignore[arg-type]

    assert gain(row(60, 100), 20) == 0.5
    assert gain(row(110, 100), 20) == -0.125
    assert gain(row(20, 20), 20) is None


def test_runs_are_compared_by_the_rank_sum_test_and_both_samples_are_redrawn() -> None:
    own, other = np.array([1.0, 2, 3, 4]), np.array([6.0, 7, 8, 9, 10])
    gap = Gap.of_runs(own, other)
    assert gap.difference.value == 2.5 - 8
    assert gap.p == pytest.approx(stats.mannwhitneyu(own, other, method="asymptotic").pvalue, rel=1e-5)
    assert gap.difference.low < -5.5 < gap.difference.high < 0
    assert difference_interval(np.ones(3), np.zeros(4)) == (1, 1)


def by_hand_holm(ps: list[float]) -> list[float]:
    """Return Holm's correction, straight from its definition."""
    found = []
    for p in ps:
        lower = [one for one in ps if one <= p]
        found.append(max(min(1.0, (len(ps) - sorted(ps).index(one)) * one) for one in lower))
    return found


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
    ep = result.ep
    assert ep is not None
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
    assert phases.forgetting is not None
    assert np.mean(returns) == pytest.approx(phases.forgetting.lost)
    return {"lost": np.mean(returns, axis=0)}


@pytest.mark.parametrize("position", range(len(QUESTIONS)), ids=[one.name for one in QUESTIONS])
def test_numbers_are_those_of_plain_evaluations(tiny: tuple[BeyondStudy, Path], position: int) -> None:
    study = tiny[0]
    outcome = study.outcomes[position]
    found, ps = {}, []
    for case in outcome.question.cases:
        result = plain(study, position, case)
        assert result.chance is not None
        found[case.name] = by_hand(case.world, result)
        found[f"chance of {case.name}"] = by_hand(case.world, result.chance)
        row = outcome.rows[case.name]
        for name, values in found[case.name].items():
            if name in row.values:
                assert row.values[name].value == pytest.approx(values.mean())
        for name, values in found[f"chance of {case.name}"].items():
            if name in row.values:
                assert row.values[f"chance_{name}"].value == pytest.approx(values.mean())
        check_details(case, row, result)
    for pair, comparison in outcome.comparisons.items():
        ps.append(comparison.gap.p)
        if pair.runs:
            own, other = (np.array(outcome.runs[name][pair.of]) for name in (pair.own, pair.other))
            assert comparison.gap.difference.value == pytest.approx(own.mean() - other.mean())
            continue
        second = f"chance of {pair.own}" if pair.other == CHANCE else pair.other
        own, other = found[pair.own][pair.of], found[second][pair.of]
        assert comparison.gap.difference.value == pytest.approx((own - other).mean())
        if (own - other).std() > 0:
            assert comparison.gap.p == pytest.approx(stats.ttest_rel(own, other).pvalue, abs=1e-6)
    assert [one.corrected for one in outcome.comparisons.values()] == pytest.approx(by_hand_holm(ps))


def check_details(case: Case, row: Row, result: Result) -> None:
    """Compare what is counted beside the scores."""
    if case.world.moves is None:
        assert result.ep is not None
        reached = result.ep[:, : TINY.episodes] <= result.settings.steps - 1
        assert row.values["reached"].value == reached.any(axis=1).mean()
        after = [trial[np.flatnonzero(trial)[0] + 1 :] for trial in reached if trial.any()]
        again = np.concatenate([np.zeros(0), *after])
        assert row.numbers["retained"] == (again.mean() if len(again) else None)
        return
    phases = result.phases
    assert phases is not None
    assert phases.reached is not None
    assert phases.median_until is not None
    if case.world.moves == "new":
        for phase in range(PHASES):
            assert row.values[f"best_{phase + 1}"].value == phases.best[:, phase].mean()
            assert row.values[f"reached_{phase + 1}"].value == phases.reached[phase]
            assert row.numbers[f"until_{phase + 1}"] == phases.median_until[phase]
    else:
        assert phases.forgetting is not None
        assert row.values["left"].value == pytest.approx(phases.forgetting.left_with)
        assert row.values["returned"].value == pytest.approx(phases.forgetting.came_back_with)
        assert row.numbers["until_again"] == phases.forgetting.until_again


@pytest.mark.parametrize("name", ["dsp_sigmoid", "hc_change", "dsp_last", "dsp_levels_2"])
def test_the_winners_are_those_of_a_plain_evolution(tiny: tuple[BeyondStudy, Path], name: str) -> None:
    known = {name: one for question in QUESTIONS for name, one in question.evolutions.items()}
    kind, condition = known[name]
    goals = len(condition.place.task.goals)
    evolved = evolve(
        kind, runs=2, generations=1, trials=-(-3 // goals), episodes=12 if condition.moving else 4, seed=SEED,
        fresh=4,
        maze=condition.place.task.maze, neurons=condition.place.neurons, steps=condition.place.settings.steps,
        fitness="last:2" if condition.fitness == "last" else "best", switch=4 if condition.moving else None,
    )  # fmt: skip
    winners = tiny[0].evolutions[name]
    assert winners.remeasured == tuple(winner.remeasured for winner in evolved.winners)
    best = min(evolved.winners, key=lambda winner: winner.remeasured)
    assert (winners.run, winners.learner) == (best.run, best.learner)


def test_the_winners_of_all_runs_are_tested_where_their_own_fitness_cannot_be_compared(
    tiny: tuple[BeyondStudy, Path],
) -> None:
    study = tiny[0]
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
    """An engine that takes no network of more than 64 hidden neurons, as a card does not."""

    def supports(self, batch: Batch) -> str | None:
        return "hidden is too large; use engine cpu for more" if batch.settings.hidden > 64 else None


def test_what_an_engine_cannot_run_goes_to_the_next() -> None:
    narrow = Runner("cpu")
    narrow.engine, narrow.module = "gpu", Narrow()  # type: ignore[assignment]
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


@pytest.mark.usefixtures("tiny_scale")
def test_an_interrupted_study_resumes_and_does_only_what_is_missing(
    tiny: tuple[BeyondStudy, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "stopped"

    def stop(event: Event) -> None:
        if event.stage.name == QUESTIONS[1].name and event.done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study_beyond("quick", seed=SEED, out=out, engine=Runner(workers=1), progress=stop)
    assert (out / "neurons_sigmoid_dsp.npz").exists()
    again = study_beyond("quick", seed=SEED, out=out, engine=Runner(workers=1))
    assert without_times(again) == without_times(tiny[0])
    run: list[int] = []

    def counted(learners: Any, *rest: Any, **options: Any) -> Batch:
        run.append(len(options["task"].goals))
        return batch_of(learners, *rest, **options)

    monkeypatch.setattr(stages, "batch_of", counted)
    (out / "change_back_hc.npz").unlink()
    (out / "maze_levels_2_chance.npz").write_bytes(b"damaged")
    assert without_times(
        study_beyond("quick", seed=SEED, out=out, engine=Runner(workers=1))
    ) == without_times(tiny[0])
    assert run == [4, 8]  # the maze of two levels, then that of three
    with pytest.raises(InputError, match="holds a study beyond the paper with other options"):
        study_beyond("quick", seed=SEED + 1, out=out, engine=Runner(workers=1))


def without_times(study: BeyondStudy) -> dict[str, Any]:
    return {name: value for name, value in study.to_dict().items() if name != "seconds"}


@pytest.mark.usefixtures("tiny_scale")
def test_a_damaged_folder_is_refused(tiny: tuple[BeyondStudy, Path], tmp_path: Path) -> None:
    out = tmp_path / "damaged"
    shutil.copytree(tiny[1], out)
    config = out / "evolve-dsp-sigmoid" / "config.json"
    config.write_text(config.read_text().replace('"sigmoid"', '"sigmoidal"'))
    with pytest.raises(InputError, match=r"config\.json"):
        study_beyond("quick", seed=SEED, out=out, engine=Runner(workers=1))
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "beyond-study.json").write_text("[]")
    with pytest.raises(InputError, match="damaged"):
        study_beyond("quick", seed=SEED, out=tmp_path / "foreign", engine=Runner(workers=1))


def test_a_study_is_read_back_as_it_was_written(tiny: tuple[BeyondStudy, Path]) -> None:
    study, folder = tiny
    data = json.loads((folder / "beyond.json").read_text())
    read = BeyondStudy.from_dict(data)
    assert read.to_dict() == data
    assert read.outcomes == study.outcomes
    assert beyond_report.to_markdown(read) == (folder / "beyond.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="not a study beyond the paper"):
        BeyondStudy.from_dict({"format": "distal-tasks"})


def damages(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield copies of a study, each with something missing or wrong."""
    yield {**data, "questions": data["questions"][1:]}
    yield {**data, "questions": data["questions"][::-1]}
    yield {**data, "evolutions": {}}
    yield {**data, "scale": "quick"}
    for part in ("rows", "comparisons", "runs"):
        yield {**data, "questions": [{**data["questions"][0], part: {}}, *data["questions"][1:]]}
    copy = json.loads(json.dumps(data))
    del copy["questions"][4]["rows"]["dsp_change_in_new"]["values"]["reached_3"]
    yield copy


def test_a_damaged_file_is_refused(tiny: tuple[BeyondStudy, Path]) -> None:
    for damaged in damages(json.loads((tiny[1] / "beyond.json").read_text())):
        with pytest.raises(InputError, match="study beyond the paper"):
            BeyondStudy.from_dict(damaged)


# ------------------------------------------------------------------ the answers


def comparison(better: bool | None, difference: float = 3.0, p: float | None = None) -> Comparison:
    """Return a comparison that shows that the first is better, is worse, or nothing."""
    value = difference if better is False else -difference
    corrected = p if p is not None else (0.2 if better is None else 0.01)
    return Comparison(Gap(Interval(value, value - 1, value + 1), corrected / 2), corrected)


def told(outcome: Outcome, usual: bool | None, **others: bool | None) -> Outcome:
    """Return an outcome in which all comparisons show the same but those of rows that are named."""
    made = {pair: comparison(others.get(pair.own, usual)) for pair in outcome.question.pairs}
    return dataclasses.replace(outcome, comparisons=made)


def say(outcome: Outcome) -> str:
    return beyond_answers.answer(outcome, TINY)


@pytest.mark.parametrize(
    ("verdicts", "word"),
    [
        ([True, True], "Yes"), ([True, None], "In part"), ([True, False], "In part"), ([None, False], "No"),
        ([None, None], "Not shown"),
    ],
)  # fmt: skip
def test_the_first_word_says_whether_all_some_or_none_is_shown(
    verdicts: list[bool | None], word: str
) -> None:
    assert beyond_answers.lead(verdicts) == word


def test_a_verdict_needs_a_p_below_the_level() -> None:
    assert (
        beyond_answers.verdict([(comparison(True, p=0.049), "chance")]) == "beats chance (−3.00, p = 0.049)"
    )
    assert (
        beyond_answers.verdict([(comparison(False), "it")], plural=True)
        == "are worse than it (+3.00, p = 0.010)"
    )
    assert (
        beyond_answers.verdict([(comparison(True, p=0.05), "chance")])
        == "is not shown to differ from chance (−3.00, p = 0.050)"
    )
    found = [(comparison(None), "a"), (comparison(True), "b"), (comparison(None), "c")]
    assert beyond_answers.verdict(found) == (
        "beats b (−3.00, p = 0.010), but is not shown to differ from a (−3.00, p = 0.200) "
        "and c (−3.00, p = 0.200)"
    )
    said = beyond_answers.verdict([*found, (comparison(False), "d")])
    assert (
        re.sub(r" \([^)]*\)", "", said) == "beats b, is worse than d and is not shown to differ from a and c"
    )


def test_a_rule_that_beats_chance_with_sigmoid_neurons_needs_no_binary_ones(
    tiny: tuple[BeyondStudy, Path],
) -> None:
    outcome = tiny[0].outcomes[0]
    said = say(told(outcome, None, dsp_sigmoid_in_sigmoid=True, dsp_base_in_sigmoid=False, dsp_sigmoid=False))
    assert said.startswith(
        "No: a rule evolved with sigmoid neurons beats chance (−3.00, p = 0.010), hill climbing"
    )
    assert "the winners with sigmoid neurons are worse than those with binary ones" in said
    assert "given sigmoid neurons, the rule of binary ones is worse than chance" in said
    assert "given binary neurons, the rule of sigmoid ones is not shown to differ from chance" in said
    for nothing in (None, False):
        said = say(told(outcome, None, dsp_sigmoid_in_sigmoid=nothing))
        assert said.startswith("Not shown that it does without: ")


def test_the_sizes_are_named_at_which_a_rule_beats_chance(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[1]
    said = say(told(outcome, True, dsp_base_in_hidden_160=False, dsp_base_in_hidden_80=None))
    assert said.startswith(
        "In part: a rule evolved for its network beats chance with 5, 10, 20 and 40 hidden neurons and"
    )
    assert (
        "the rule of 20 beats chance with 5, 10, 20 and 40 hidden neurons (not shown with 80, worse with 160)"
        in said
    )
    assert "the winners with 40 beat those with 5" in said
    assert say(told(outcome, True)).startswith("Yes: ")
    nothing = say(told(outcome, None))
    assert nothing.startswith("Not shown: ")
    assert "beats chance nowhere (not shown with 5, 10, 20 and 40)" in nothing
    assert say(told(outcome, False)).startswith("No: ")


def test_the_levels_are_named_and_the_share_of_the_way(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[2]
    values = {"best": Interval(80, 79, 81), "chance_best": Interval(100, 99, 101)}
    rows = {
        name: dataclasses.replace(row, values={**row.values, **values}) for name, row in outcome.rows.items()
    }
    made = dataclasses.replace(told(outcome, True, dsp_levels_4_in_levels_4=None), rows=rows)
    said = say(made)
    assert said.startswith(
        "In part: a rule evolved for its maze beats chance with 1, 2 and 3 levels (not shown with 4)"
    )
    # 20 of 100 − 13, of 100 − 24.5, of 100 − 38.5 and of 100 − 66.5.
    assert "it comes 23.0%, 26.5%, 32.5% and 59.7% of the way with 1, 2, 3 and 4 levels." in said


@pytest.mark.parametrize(
    ("missed", "retained", "word"),
    [
        (True, 0.5, "Yes"), (True, 0.49, "In part"), (True, None, "In part"), (None, 0.9, "Not shown"),
        (False, 0.1, "No"),
    ],
)  # fmt: skip
def test_a_rule_keeps_what_it_found_from_half_of_the_later_episodes_on(
    tiny: tuple[BeyondStudy, Path], missed: bool | None, retained: float | None, word: str
) -> None:
    outcome = tiny[0].outcomes[3]
    numbers = {"retained": retained, "first": 2.0}
    own, usual = "dsp_last_in_long", "dsp_base_in_long"
    rows = {
        **outcome.rows,
        own: dataclasses.replace(outcome.rows[own], numbers=numbers),
        usual: dataclasses.replace(outcome.rows[usual], numbers={"retained": 0.25, "first": None}),
    }
    # A lower EP alone is not enough: it is had by standing in the right place, too.
    made = told(outcome, None)
    low = {Pair(f"dsp_{name}_in_long", usual, "last"): comparison(True) for name in ("last", "mean")}
    compared = {**made.comparisons, **low, Pair(own, usual, "missed"): comparison(missed)}
    said = say(dataclasses.replace(made, rows=rows, comparisons=compared))
    assert said.startswith(
        f"{word}: beside a rule judged by its best episode (in brackets), one judged by its last 2 "
    )
    share = "no episode" if retained is None else f"{retained:.1%} of the episodes"
    assert (
        "reaches the goal first after 2 episodes at the median (more than 4 episodes), and again in "
        f"{share} from then on (25.0% of the episodes); one judged by all its episodes is better"
    ) in said


def test_speed_that_is_lost_is_said(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[3]
    made = told(outcome, True)
    costs = {
        Pair(f"dsp_{name}_in_long", "dsp_base_in_long", "best"): comparison(False)
        for name in ("last", "mean")
    }
    said = say(dataclasses.replace(made, comparisons={**made.comparisons, **costs}))
    assert said.count("but is worse in the best EP, its speed (+3.00, p = 0.010)") == 2
    assert say(made).count("and in the best EP, its speed (−3.00, p = 0.010), reaches the goal") == 2


def test_adapting_faster_is_judged_against_everybody_but_chance(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[4]
    rule = "dsp_change_in_new"
    made = told(outcome, None, **{rule: True, "dsp_change": False})
    said = say(made)
    assert said.startswith(
        "Yes: in the mean best EP of phases 2 to 5, a rule evolved under change beats the rule "
    )
    assert "of all runs, the winners under change are worse than those without" in said
    assert "not shown" not in said
    by_chance = {**made.comparisons, Pair(rule, CHANCE, "adapted"): comparison(None)}
    said = say(dataclasses.replace(made, comparisons=by_chance))
    assert said.startswith("Yes: ")
    assert "but is not shown to differ from chance (−3.00, p = 0.200);" in said
    one = {**made.comparisons, Pair(rule, "hc_base_in_new_anew", "adapted"): comparison(False)}
    said = say(dataclasses.replace(made, comparisons=one))
    assert said.startswith("In part: ")
    assert "but is worse than hill climbing started anew (+3.00, p = 0.010);" in said
    assert say(told(outcome, None)).startswith("Not shown: ")


def test_what_is_left_of_a_goal_that_returns_is_said(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[4]
    own = "dsp_change_in_back"
    for again, words in ((2.0, "2 episodes"), (None, "more than 4 episodes")):
        row = dataclasses.replace(
            outcome.rows[own],
            values={**outcome.rows[own].values, "lost": Interval(12.34, 1, 2)},
            numbers={"until_first": 3.5, "until_again": again},
        )
        said = say(dataclasses.replace(outcome, rows={**outcome.rows, own: row}))
        assert "its first episode is 12.3 worse than its best before" in said
        assert said.endswith(f"the goal is found at the median after {words} (at first 3.5 episodes).")


def test_transfer_is_counted_over_the_twelve_other_mazes(tiny: tuple[BeyondStudy, Path]) -> None:
    outcome = tiny[0].outcomes[5]
    at_home = {
        f"dsp_{'base' if level == 3 else f'levels_{level}'}_in_levels_{level}": True for level in (1, 2, 3, 4)
    }
    said = say(told(outcome, None, **at_home, dsp_base_in_levels_4=True, dsp_base_in_levels_1=False))
    assert said == (
        "In part: in a maze that it was not evolved for, a rule beats chance in 1 of 12 cases (not shown in "
        "10, worse in 1), hill climbing evolved for that maze in 1 of 12 (not shown in 10, worse in 1), and "
        "the rule evolved for it in 1 of 12 (not shown in 10, worse in 1)."
    )
    assert say(told(outcome, None, **at_home)).startswith("Not shown: ")
    assert "beats chance in 12 of 12 cases, hill" in say(told(outcome, True))


# ------------------------------------------------------------------ the page


def test_the_page_answers_every_question_and_shows_every_learner_beside_chance(
    tiny: tuple[BeyondStudy, Path],
) -> None:
    study, folder = tiny
    page = (folder / "beyond.md").read_text(encoding="utf-8")
    assert "This is a reduced scale" in page
    full = dataclasses.replace(study, scale=dataclasses.replace(study.scale, name="paper"))
    assert "This is a reduced scale" not in beyond_report.to_markdown(full)
    for outcome in study.outcomes:
        assert page.replace("**", "").count(say(outcome)) == 2  # in short, and in its own section
        assert f"**{say(outcome).partition(';')[0]}**" in page
        section = page.split(f"## {outcome.question.title}\n")[1].split("\n## ")[0]
        assert f"figures/beyond_{outcome.question.name}.svg" in section
        rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("|")]
        for case in outcome.question.cases:
            first = next(row for row in rows if row[:2] == [case.words, case.world.words])
            pair = next(pair for pair in outcome.question.pairs if pair.own == case.name)
            values = outcome.rows[case.name].values
            cells = dict(zip(beyond_report.COLUMNS[:6], first, strict=False))
            assert cells["mean"].startswith(f"{values[pair.of].value:.2f} (".replace("-", "−"))
            assert cells["chance"].startswith(f"{values[f'chance_{pair.of}'].value:.2f} (".replace("-", "−"))


def test_every_comparison_is_in_one_table_of_the_page(tiny: tuple[BeyondStudy, Path]) -> None:
    for outcome in tiny[0].outcomes:
        beside = list(beyond_report.rows(outcome, TINY))
        shown = sum(2 - (row[-1] == "–") for row in beside)
        assert shown + len(list(beyond_report.others(outcome, TINY))) == len(outcome.comparisons)


def test_the_winners_of_all_runs_have_their_mean(tiny: tuple[BeyondStudy, Path]) -> None:
    study = tiny[0]
    found = list(beyond_report.winners(study, study.outcomes[3]))
    assert len(found) == 6
    values = study.evolutions["dsp_last"].remeasured
    row = next(row for row in found if row[0] == "rule judged by the last episodes")
    assert row[1] == "2"
    assert row[2].startswith(f"{np.mean(values):.2f} (")
    assert row[3] == f"{min(values):.2f}"
    assert "mean EP, last 2 of 4: " in row[4]


LINES = {"neurons": [5, 5], "keeping": [5, 5], "change": [10]}  # curves, and lines where goals move


def test_the_figures_show_rule_climber_and_chance(tiny: tuple[BeyondStudy, Path]) -> None:
    study, folder = tiny
    for outcome in study.outcomes:
        name = outcome.question.name
        panels = beyond_figures.figure_of(outcome, TINY).axes
        if name in LINES:
            assert [len(axes.lines) for axes in panels] == LINES[name]
        svg = (folder / "figures" / f"beyond_{name}.svg").read_text(encoding="utf-8")
        texts = "".join(ET.fromstring(svg).itertext())  # noqa: S314 - our own file
        if name != "transfer":
            assert "chance" in texts
        drawn = svg[svg.index("</style>") :]
        assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawn)) <= set(LIGHT.values())
        assert (folder / "figures" / f"beyond_{name}.png").read_bytes().startswith(b"\x89PNG")
    heat = beyond_figures.figure_of(study.outcomes[5], TINY).axes[0]
    row = study.outcomes[5].rows["dsp_base_in_levels_2"]
    share = gain(row, 23.5)
    assert share is not None
    shown = {text.get_position(): text.get_text() for text in heat.texts}
    assert len(shown) == 16
    assert shown[1.5, 2.5].startswith(f"{share:.0%}".replace("-", "−"))  # evolved for 3 levels, tested in 2


# ------------------------------------------------------------------ the command


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int, str]]:
    """Measure no pace, which takes seconds, but take a second per 1,000 episodes; list what is asked for."""
    asked: list[tuple[int, int, str]] = []

    def pace(planned: list[Stage], task: MazeTask, settings: Settings, run: Runner) -> dict[str, float]:
        asked.append((len(task.goals), settings.hidden, settings.neurons))
        return {stage.name: stage.episodes / 1_000 for stage in planned}

    monkeypatch.setattr(experiments, "estimated_seconds", pace)
    return asked


def test_the_time_of_a_question_is_that_of_its_stages_and_every_place_is_measured_once(
    measured: list[tuple[int, int, str]],
) -> None:
    planned = Beyond(scale="paper", seed=0).planned
    seconds = beyond_study.estimated_seconds(planned, Runner("cpu"))
    assert len(measured) == len(set(measured)) == 10
    for one in planned:
        assert seconds[one.question.name] == pytest.approx(one.outline.episodes / 1_000)


@pytest.mark.usefixtures("tiny_scale", "measured", "undrawn")
def test_the_command_prints_the_answers_and_writes_the_report(
    tiny: tuple[BeyondStudy, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(tiny[1], out)  # all is stored: the command reads it
    (out / "beyond.md").unlink()
    options = ["beyond", "--seed", str(SEED), "--workers", "1", "--out", str(out)]
    assert main(options) == 0
    captured = capsys.readouterr()
    assert (out / "beyond.md").exists()
    assert str(out / "beyond.md") in captured.out
    for outcome in tiny[0].outcomes:
        assert say(outcome) in " ".join(captured.out.split())
    assert "Does a rule need binary neurons?" in captured.err  # the plan, with its time
    assert max(map(len, captured.out.replace(str(out), "").splitlines())) <= 100
    assert main([*options, "--json", "--beside", str(tiny[1] / "beyond.json")]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert "## The same, once more" in (out / "beyond.md").read_text(encoding="utf-8")
    assert printed["questions"] == [outcome.to_dict() for outcome in tiny[0].outcomes]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--scale", "papr"], "scale is 'papr', expected one of quick, paper; did you mean 'paper'?"),
        (["--seed", "-1"], "seed is -1"),
        (["--workers", "0"], "workers is 0"),
        (["--engine", "cpuu"], "did you mean 'cpu'?"),
    ],
)
def test_bad_options_are_refused_in_one_line_before_any_work(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new"
    assert main(["beyond", *arguments, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1
    assert not out.exists()


# ------------------------------------------------------------------ the document


@pytest.mark.usefixtures("exact")
def test_the_document_is_what_the_kept_numbers_say() -> None:
    study, beside = (
        BeyondStudy.from_dict(json.loads((ROOT / "docs" / name).read_text(encoding="utf-8")))
        for name in ("beyond.json", "beyond_seed_0.json")
    )
    page = beyond_report.to_markdown(study, beside)
    assert (ROOT / "docs" / "beyond-tables.md").read_text(encoding="utf-8") == page
    assert (study.seed, beside.seed) == (1, 0)
    for outcome in beside.outcomes:
        assert beyond_answers.answer(outcome, beside.scale) in page.split("## The same, once more")[1]
    assert study.scale == SCALES[study.scale.name]  # what it says was run is what the command runs
    assert "beyond.md" in (ROOT / "zensical.toml").read_text()
    for outcome in study.outcomes:
        svg = (ROOT / "docs" / "figures" / f"beyond_{outcome.question.name}.svg").read_text(encoding="utf-8")
        assert svg == beyond_report.draw(outcome, study.scale)[0]
