"""The study of tasks: its tasks, its numbers, its stages, its page and its command."""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, TaskStudy, evolve, learn, study_tasks, write_report
from distal.base.colours import LIGHT
from distal.cli import main
from distal.engines import Runner
from distal.engines import batch as batches
from distal.learners import find_learner
from distal.model.draws import child_seed
from distal.search import cma, fitness, genetic
from distal.search.config import RUN
from distal.studies import experiments, readings, stages, task_report, task_study
from distal.studies.intervals import Curve, Gap, Interval, Measured
from distal.studies.stages import Event
from distal.studies.task_study import (
    CLIMBER,
    LEARNERS,
    MAZE_CLIMBER,
    MAZE_RULE,
    RULE,
    SCALES,
    WORLDS,
    Budget,
    Outcome,
    Scale,
    Tasks,
    World,
)
from distal.tasks.sources import task_of
from distal.tasks.task import settings_in

pytest.importorskip("matplotlib", reason="figures need matplotlib")

ROOT = Path(__file__).parents[2]
BY_NAME = {world.name: world for world in WORLDS}
SLOW = World(
    "slow_lake", "Lake without a table",
    lambda: task_of("FrozenLake-v1", args={"is_slippery": False}, tabulated=False), -1, "the goal is reached",
)  # fmt: skip
FEW = (BY_NAME["t_maze_1"], BY_NAME["frozen_lake_4x4"], SLOW)
pytestmark = pytest.mark.usefixtures("rough")

TINY = Scale("quick", Budget(2, 1, 3, 3, 6, 5, 6), Budget(1, 0, 1, 2, 2, 3, 3))


def small(patch: pytest.MonkeyPatch) -> None:
    """Make the study tiny: three tasks, and marks after 3 and 6 episodes."""
    patch.setattr(task_study, "WORLDS", FEW)
    patch.setattr(task_study, "MARKS", (3, 6))
    patch.setitem(SCALES, "quick", TINY)


@pytest.fixture
def tiny_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[TaskStudy, Path]:
    folder = tmp_path_factory.mktemp("tasks") / "a study"
    with pytest.MonkeyPatch.context() as patch:
        small(patch)
        study = study_tasks("quick", seed=3, out=folder, engine=Runner(workers=1))
    write_report(study, folder)
    return study, folder


# ------------------------------------------------------------------ the tasks


def ep(world: World, actions: list[int], goal: int = 0) -> float:
    """Return the EP of an episode of these actions, the last of them again and again."""
    task = world.make()
    walk = task.begin(goal, settings_in(task, {}))
    for step in range(1_000):
        if walk.over:
            break
        walk.act(actions[min(step, len(actions) - 1)])
    return float(walk.ep)


# For each task without chance: what ends well, by hand, and what stands still.
LEFT, DOWN, RIGHT, UP = range(4)
WAYS = {
    "t_maze_1": ([3] * 10 + [1, 3, 3], [0], 13),
    "t_maze_2": ([3] * 10 + [1, 3, 3, 3, 2, *[3] * 7, 1, 3, 3, 3], [0], 26),
    # 15 north, 7 west, 9 north, 6 west
    "t_maze_3": ([3] * 15 + [1, *[3] * 6, 2, *[3] * 8, 1, *[3] * 5], [0], 37),
    "cliff_walking": ([0, *[1] * 11, 2], [3], 13),
    "frozen_lake_4x4": ([DOWN, DOWN, RIGHT, RIGHT, DOWN, RIGHT], [LEFT], -1),
    "frozen_lake_8x8": ([RIGHT] * 7 + [DOWN] * 7, [LEFT], -1),
}


@pytest.mark.parametrize("name", WAYS)
def test_a_success_is_what_reaches_the_goal_and_standing_still_is_none(name: str) -> None:
    way, still, expected = WAYS[name]
    assert ep(BY_NAME[name], way) == expected <= BY_NAME[name].target
    assert ep(BY_NAME[name], still) > BY_NAME[name].target


def test_a_taxi_that_delivers_succeeds_and_one_that_drives_about_does_not() -> None:
    world = BY_NAME["taxi"]
    task = world.make()
    assert len(task.goals) == 8
    assert ep(world, [0]) == 200 == world.target + 1
    # Every start can be served, in as few steps as a search over the table finds; the last one gains 20.
    table = task.table(settings_in(task, {}))
    assert table is not None
    for goal in range(8):
        costs = {int(table.starts[goal]): 0}
        queue, best = [int(table.starts[goal])], None
        while queue and best is None:
            state = queue.pop(0)
            for action in range(task.outputs):
                if table.ends[goal, table.events[state, action]]:
                    best = costs[state] + 1 - 21
                following = int(table.following[state, action])
                if following not in costs:
                    costs[following] = costs[state] + 1
                    queue.append(following)
        assert best is not None
        assert best <= world.target


def test_the_pole_stands_for_475_steps() -> None:
    world = BY_NAME["cart_pole"]
    task = world.make()
    assert task.target(settings_in(task, {})) == world.target == -475
    assert task.table(settings_in(task, {})) is None


def test_every_task_has_a_name_of_its_own_and_every_mark_is_tested() -> None:
    assert len({world.name for world in WORLDS}) == len({world.title for world in WORLDS}) == len(WORLDS) == 9
    for scale in SCALES.values():
        assert scale.table.marks == (100, 1_000)
        assert scale.slow.marks[0] == 100
    assert SCALES["full"].slow.marks == (100, 1_000)


def test_no_other_work_has_the_seeds_of_the_tests() -> None:
    others = {
        0, RUN, fitness.EVALUATION, fitness.REMEASUREMENT, experiments.TEST,
        readings.STUDY, genetic._FIRST, genetic._PARENTS, genetic._REDRAW, genetic._DEVIATE, cma._SAMPLE,
    }  # fmt: skip
    assert task_study.TASKS not in others


# ------------------------------------------------------------------ numbers


def test_means_shares_and_gaps_are_those_of_the_trials() -> None:
    own = np.array([[9, 5, 7], [8, 8, 8], [6, 9, 2], [9, 9, 9]], np.int32)
    other = np.array([[9, 9, 9], [9, 9, 8], [9, 9, 9], [9, 9, 9]], np.int32)
    measured = Measured.of(own, other, 3, target=5)
    assert (measured.best.value, measured.chance.value) == (6, 8.75)  # 5, 8, 2, 9 and 9, 8, 9, 9
    assert measured.gap.difference.value == -2.75  # −4, 0, −7, 0
    assert measured.gap.difference.low <= -2.75 <= measured.gap.difference.high
    assert (measured.reached.value, measured.chance_reached.value) == (0.5, 0)
    assert measured.retained == 0  # one episode after the only success that has one
    assert measured.chance_retained is None
    assert Measured.of(own, other, 2, target=5).best.value == 7  # 5, 8, 6, 9


def test_a_gap_is_decided_by_the_paired_test() -> None:
    trials = np.arange(20)
    assert Gap.of(trials, trials + 5 + trials % 2).better is True
    assert Gap.of(trials + 5 + trials % 2, trials).better is False
    assert Gap.of(trials, trials[::-1]).better is None


def test_a_curve_is_the_mean_of_the_best_so_far() -> None:
    curve = Curve.of(np.array([[5, 7, 3], [9, 4, 6]], np.int32))
    assert curve.episodes == (1, 2, 3)
    assert curve.mean == (7, 4.5, 3.5)
    assert curve.error == pytest.approx((2, 0.5, 0.5))


def test_numbers_are_those_of_plain_evaluations(tiny: tuple[TaskStudy, Path]) -> None:
    for position, outcome in enumerate(tiny[0].outcomes):
        task = FEW[position].make()
        seed = child_seed(3, position, 0, task_study.TASKS)
        for name, tested in outcome.tested.items():
            for mark in tested.marks:
                options: Any = {"trials": -(-outcome.budget.tested // outcome.goals), "seed": seed}
                plain = learn(tested.learner, task=task, episodes=mark.episodes, keep_ep=True, **options)
                assert plain.chance is not None
                assert plain.difference is not None
                assert mark.best.value == plain.fitness, name
                assert mark.chance.value == plain.chance.fitness
                assert mark.gap.p == plain.difference.p
                assert mark.reached.value == (plain.final <= FEW[position].target).mean()
                if plain.target is not None and FEW[position].target == round(plain.target):
                    assert plain.behaviour is not None
                    assert mark.retained == plain.behaviour.retained
            assert tested.curve.mean[-1] == tested.marks[-1].best.value
            assert tested.chance_curve.mean[-1] == tested.marks[-1].chance.value
        assert outcome.versus[-1].difference.value == pytest.approx(
            outcome.tested[RULE].marks[-1].best.value - outcome.tested[CLIMBER].marks[-1].best.value
        )
        assert outcome.tested[MAZE_RULE].learner == find_learner("evolved:1")
        assert outcome.tested[MAZE_CLIMBER].learner == find_learner("hc")


def test_the_winner_with_the_lowest_remeasured_fitness_is_tested(tiny: tuple[TaskStudy, Path]) -> None:
    for position, outcome in enumerate(tiny[0].outcomes):
        budget = outcome.budget
        for name, kind in ((RULE, "dsp"), (CLIMBER, "hc")):
            evolved = evolve(
                kind, task=FEW[position].make(), runs=budget.runs, generations=budget.generations,
                trials=-(-budget.trials // outcome.goals), episodes=budget.episodes, fresh=budget.fresh,
                seed=3,
            )  # fmt: skip
            best = min(evolved.winners, key=lambda winner: winner.remeasured)
            tested = outcome.tested[name]
            assert (tested.run, tested.learner) == (best.run, best.learner)
            assert tested.remeasured == best.remeasured


def test_a_task_without_a_table_is_run_by_the_reference_engine(tiny: tuple[TaskStudy, Path]) -> None:
    assert [outcome.engine for outcome in tiny[0].outcomes] == ["cpu", "cpu", "reference"]
    assert [outcome.budget for outcome in tiny[0].outcomes] == [TINY.table, TINY.table, TINY.slow]
    assert [len(outcome.versus) for outcome in tiny[0].outcomes] == [2, 2, 1]


# ------------------------------------------------------------------ stages and folders


@pytest.mark.usefixtures("tiny_scale")
def test_an_interrupted_study_resumes_and_does_only_what_is_missing(
    tiny: tuple[TaskStudy, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "stopped"

    def stop(event: Event) -> None:
        if event.stage.name == SLOW.title and event.done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study_tasks("quick", seed=3, out=out, engine=Runner(workers=1), progress=stop)
    assert (out / "test_rule_frozen_lake_4x4.npz").exists()
    tested: list[str] = []
    batch_of = batches.batch_of

    def counted(learners: Any, *rest: Any, **options: Any) -> Any:
        tested.append(options["task"].name)
        return batch_of(learners, *rest, **options)

    monkeypatch.setattr(stages, "batch_of", counted)
    assert study_tasks("quick", seed=3, out=out, engine=Runner(workers=1)).outcomes == tiny[0].outcomes
    assert tested == ["FrozenLake-v1"] * 8  # the slow task alone
    tested.clear()
    (out / "chance_rule_t_maze_1.npz").unlink()
    assert study_tasks("quick", seed=3, out=out, engine=Runner(workers=1)).outcomes == tiny[0].outcomes
    assert tested == ["maze"]
    with pytest.raises(InputError, match="holds a study of tasks with other options"):
        study_tasks("quick", seed=4, out=out, engine=Runner(workers=1))


# ------------------------------------------------------------------ what the page says


@pytest.mark.usefixtures("tiny_scale")
def test_a_study_is_read_back_as_it_was_written(tiny: tuple[TaskStudy, Path]) -> None:
    study, folder = tiny
    data = json.loads((folder / "tasks.json").read_text())
    read = TaskStudy.from_dict(data)
    assert read.to_dict() == data
    assert read.outcomes == study.outcomes
    assert task_report.to_markdown(read) == (folder / "tasks.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="not a study of tasks"):
        TaskStudy.from_dict({"format": "distal-results"})
    damages: Any = ({"tasks": data["tasks"][1:]}, {"tasks": data["tasks"][::-1]}, {"tasks": [{}] * 3})
    for damage in damages:
        with pytest.raises(InputError, match="stud"):
            TaskStudy.from_dict({**data, **damage})


def measured(best: float, gap: float, p: float, retained: float | None) -> Measured:
    """Return a learner that is better than chance by a gap."""

    def about(value: float) -> Interval:
        return Interval(value, value - 1, value + 1)

    return Measured(
        100, about(best), about(best - gap), Gap(about(gap), p), about(0.5), about(0.1), retained, 0.01
    )


def outcome_of(study: TaskStudy, mark: Measured, versus: Gap) -> Outcome:
    """Return an outcome in which all learners have these numbers."""
    first = study.outcomes[0]
    tested = {name: dataclasses.replace(one, marks=(mark,)) for name, one in first.tested.items()}
    return dataclasses.replace(first, tested=tested, versus=(versus,))


@pytest.mark.parametrize(
    ("gap", "p", "says"),
    [(-5, 0.01, "beats chance (−5.00, p = 0.010)"), (5, 0.00001, "is worse than chance (+5.00, p < 0.0001)"),
     (-5, 0.2, "cannot be told from chance (−5.00, p = 0.200)")],
)  # fmt: skip
def test_a_finding_says_what_the_test_decided(
    tiny: tuple[TaskStudy, Path], gap: float, p: float, says: str
) -> None:
    outcome = outcome_of(tiny[0], measured(50, gap, p, 0.2), Gap(Interval(-3, -4, -2), 0.03))
    said = task_report.finding(outcome)
    assert f"a rule evolved for it {says} and beats hill climbing evolved for it (−3.00, p = 0.030)" in said
    assert "does not keep what it found: 20.0% of the episodes" in said
    both = says.split(" (", maxsplit=1)[0].replace("beats", "beat").replace("is worse", "are worse")
    assert f"Of the maze’s learners, `evolved:1` and `hc` {both} at the end." in said


@pytest.mark.parametrize(
    ("retained", "says"),
    [
        (0.5, "It keeps what it found: 50.0%"),
        (0.49, "does not keep what it found"),
        (None, "never succeeded"),
    ],
)
def test_half_of_the_later_episodes_is_what_it_takes_to_keep(
    tiny: tuple[TaskStudy, Path], retained: float | None, says: str
) -> None:
    outcome = outcome_of(tiny[0], measured(50, -5, 0.01, retained), Gap(Interval(0, -1, 1), 1))
    assert says in task_report.finding(outcome)
    study = dataclasses.replace(tiny[0], outcomes=(outcome,))
    assert f"keeps what it found in {1 if retained == 0.5 else 'none'}." in task_report.summary(study)


def test_where_no_learner_differs_from_chance_the_page_says_so(tiny: tuple[TaskStudy, Path]) -> None:
    level = Interval(0, 0, 0)
    mark = dataclasses.replace(measured(200, 0, 1, None), gap=Gap(level, 1))
    said = task_report.finding(outcome_of(tiny[0], mark, Gap(level, 1)))
    assert said.startswith(
        "Nothing beats chance here: after 100 episodes a rule evolved for it equals chance"
    )
    worse = outcome_of(tiny[0], measured(200, 5, 0.01, None), Gap(level, 1))
    assert task_report.finding(worse).startswith("Nothing beats chance here: ")
    better = outcome_of(tiny[0], measured(200, -5, 0.01, None), Gap(level, 1))
    assert "Nothing" not in task_report.finding(better)


def test_the_page_holds_every_learner_of_every_task_beside_chance(tiny: tuple[TaskStudy, Path]) -> None:
    study, folder = tiny
    page = (folder / "tasks.md").read_text(encoding="utf-8")
    assert "This is a reduced scale" in page
    assert "This is a reduced scale" not in task_report.to_markdown(dataclasses.replace(study, scale="full"))
    for outcome in study.outcomes:
        section = page.split(f"### {outcome.world.title}\n")[1].split("\n#")[0]
        assert outcome.world.success in section
        assert outcome.world.remark in section
        for name, tested in outcome.tested.items():
            found = [line for line in section.splitlines() if line.startswith(f"| {LEARNERS[name][0]} |")]
            assert len(found) == len(tested.marks)
            for line, mark in zip(found, tested.marks, strict=True):
                cells = dict(zip(task_report.COLUMNS, line.strip("| ").split(" | "), strict=True))
                assert cells["chance"].startswith(f"{mark.chance.value:.2f} (".replace("-", "−"))
                assert cells["mean best EP"].startswith(f"{mark.best.value:.2f} (".replace("-", "−"))


def test_the_figure_has_a_panel_for_each_task_and_five_lines_in_it(tiny: tuple[TaskStudy, Path]) -> None:
    study, folder = tiny
    panels = task_report.figure_of(study).axes
    assert [axes.get_title(loc="left") for axes in panels] == [world.title for world in FEW]
    for axes, outcome in zip(panels, study.outcomes, strict=True):
        ends = [float(np.asarray(line.get_ydata())[-1]) for line in axes.lines]
        assert ends == [
            outcome.tested[RULE].chance_curve.mean[-1],
            *(one.curve.mean[-1] for one in outcome.tested.values()),
        ]
        low, high = axes.get_ylim()
        assert all(low <= end <= high for end in ends)
    svg = (folder / "figures" / "tasks.svg").read_text(encoding="utf-8")
    texts = "".join(ET.fromstring(svg).itertext())  # noqa: S314 - our own file
    assert "mean best EP" in texts
    assert "episodes" in texts
    drawn = svg[svg.index("</style>") :]
    assert set(re.findall(r"(?:fill|stroke): (#[0-9a-f]{6})", drawn)) <= set(LIGHT.values())
    assert (folder / "figures" / "tasks.png").read_bytes().startswith(b"\x89PNG")


# ------------------------------------------------------------------ the command


@pytest.mark.usefixtures("tiny_scale")
@pytest.mark.usefixtures("undrawn")
def test_the_command_prints_a_table_and_writes_the_report(
    tiny: tuple[TaskStudy, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    shutil.copytree(tiny[1], out)  # all is stored: the command reads it
    (out / "tasks.md").unlink()
    options = ["tasks", "--seed", "3", "--workers", "1", "--out", str(out)]
    assert main(options) == 0
    captured = capsys.readouterr()
    assert (out / "tasks.md").exists()
    assert str(out / "tasks.md") in captured.out
    assert "a rule evolved for the task beats chance in" in captured.out
    for world in FEW:
        assert world.title in captured.out
        assert world.title in captured.err
    assert max(map(len, captured.out.replace(str(out), "").splitlines())) <= 100
    assert main([*options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tasks"] == [outcome.to_dict() for outcome in tiny[0].outcomes]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--scale", "ful"], "scale is 'ful', expected one of quick, full; did you mean 'full'?"),
        (["--seed", "-1"], "seed is -1"),
        (["--workers", "0"], "workers is 0"),
        (["--engine", "cpuu"], "did you mean 'cpu'?"),
    ],
)
def test_bad_options_are_refused_in_one_line_before_any_work(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = tmp_path / "new"
    assert main(["tasks", *arguments, "--out", str(out)]) == 2
    err = capsys.readouterr().err
    assert problem in err
    assert err.count("\n") == 1
    assert not out.exists()


# ------------------------------------------------------------------ the document


def test_the_document_is_what_the_kept_numbers_say() -> None:
    study = TaskStudy.from_dict(json.loads((ROOT / "docs" / "tasks.json").read_text(encoding="utf-8")))
    assert (ROOT / "docs" / "tasks-tables.md").read_text(encoding="utf-8") == task_report.to_markdown(study)
    assert study.seed == 0
    scale = SCALES[study.scale]
    for outcome in study.outcomes:  # what it says was run is what the command runs
        assert outcome.budget == (scale.slow if outcome.world.name == "cart_pole" else scale.table)
    assert "tasks.md" in (ROOT / "zensical.toml").read_text()
    svg = (ROOT / "docs" / "figures" / "tasks.svg").read_text(encoding="utf-8")
    assert all(world.title in svg for world in WORLDS)


def test_the_stages_of_the_whole_study_have_names_of_their_own() -> None:
    names = [stage.name for stage in Tasks(scale="quick", seed=0).stages]
    assert len(names) == len(set(names)) == len(WORLDS) * (2 + 2 * len(LEARNERS))
    assert distal.study_tasks is study_tasks
