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

from distal import InputError, TaskStudy, evolve, learn, study_tasks, write_report
from distal.base.colours import LIGHT
from distal.cli import main
from distal.engines import Runner
from distal.evaluation import trials as evaluation
from distal.evaluation.trials import settings_in
from distal.learners import find_learner
from distal.model.draws import child_seed
from distal.search import cma, fitness, genetic
from distal.search.config import RUN
from distal.studies import beyond_plan, experiments, readings, stages, tasks
from distal.studies.intervals import Interval
from distal.studies.report import Table, to_markdown
from distal.studies.stages import Event
from distal.studies.study import Scale
from distal.studies.tasks import (
    CLIMBER,
    LEARNERS,
    MAZE_CLIMBER,
    MAZE_RULE,
    RULE,
    SLOW,
    WORLDS,
    Tasks,
    TasksReport,
    World,
)
from distal.tasks.sources import task_of

pytest.importorskip("matplotlib", reason="figures need matplotlib")

ROOT = Path(__file__).parents[2]
BY_NAME = {world.name: world for world in WORLDS}
UNTABLED = World(
    "slow_lake", "Lake without a table",
    lambda: task_of("FrozenLake-v1", args={"is_slippery": False}, tabulated=False), -1, "the goal is reached",
)  # fmt: skip
FEW = (BY_NAME["t_maze_1"], BY_NAME["frozen_lake_4x4"], UNTABLED)
pytestmark = pytest.mark.usefixtures("rough")

TINY = Scale("quick", runs=2, generations=1, trials=3, episodes=3, fresh=6, tested=5, long=6)
TINY_SLOW = Scale("quick", runs=1, generations=0, trials=1, episodes=2, fresh=2, tested=3, long=3)


def small(patch: pytest.MonkeyPatch) -> None:
    """Make the study tiny: three tasks, and marks after 3 and 6 episodes."""
    patch.setattr(tasks, "WORLDS", FEW)
    patch.setattr(tasks, "MARKS", (3, 6))
    patch.setitem(Tasks.SCALES, "quick", TINY)
    patch.setitem(SLOW, "quick", TINY_SLOW)


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


def test_every_task_has_a_name_of_its_own_and_its_stages_too() -> None:
    assert len({world.name for world in WORLDS}) == len({world.title for world in WORLDS}) == len(WORLDS) == 9
    names = [stage.name for stage in Tasks().plan]
    assert len(names) == len(set(names)) == len(WORLDS) * (2 + 2 * len(LEARNERS))


def test_no_two_studies_share_seeds() -> None:
    """Private names: the last number of the part that the seeds of each search come from."""
    parts = [
        0, RUN, fitness.EVALUATION, fitness.REMEASUREMENT, experiments.TEST, readings.STUDY,
        tasks.TASKS, beyond_plan.BEYOND, genetic._FIRST, genetic._PARENTS, genetic._REDRAW, genetic._DEVIATE,
        cma._SAMPLE,
    ]  # fmt: skip
    assert len(set(parts)) == len(parts)


# ------------------------------------------------------------------ numbers


def test_numbers_are_those_of_plain_evaluations(tiny: tuple[TaskStudy, Path]) -> None:
    for position, outcome in enumerate(tiny[0].outcomes):
        task = FEW[position].make()
        seed = child_seed(3, position, 0, tasks.TASKS)
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
    assert [outcome.budget for outcome in tiny[0].outcomes] == [TINY, TINY, TINY_SLOW]
    assert [len(outcome.versus) for outcome in tiny[0].outcomes] == [2, 2, 1]


# ------------------------------------------------------------------ stages and folders


@pytest.mark.usefixtures("tiny_scale")
def test_an_interrupted_study_resumes_and_does_only_what_is_missing(
    tiny: tuple[TaskStudy, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "stopped"

    def stop(event: Event) -> None:
        if event.stage.name == UNTABLED.title and event.done > 0:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        study_tasks("quick", seed=3, out=out, engine=Runner(workers=1), progress=stop)
    assert (out / "test_rule_frozen_lake_4x4.npz").exists()
    tested: list[str] = []
    batch_of = evaluation.batch_of

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
    assert page(read) == (folder / "tasks.md").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="not a study of tasks"):
        TaskStudy.from_dict({"format": "distal-results"})
    damages: Any = ({"tasks": data["tasks"][1:]}, {"tasks": data["tasks"][::-1]}, {"tasks": [{}] * 3})
    for damage in damages:
        with pytest.raises(InputError, match="stud"):
            TaskStudy.from_dict({**data, **damage})


def page(study: TaskStudy) -> str:
    return to_markdown(TasksReport.title, TasksReport(study).blocks())


def cells(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]


def test_the_page_holds_every_learner_of_every_task_beside_chance(tiny: tuple[TaskStudy, Path]) -> None:
    text = page(tiny[0])
    for outcome in tiny[0].outcomes:
        section = text.split(f"### {outcome.world.title}\n")[1].split("\n#")[0]
        assert outcome.world.success in section
        assert outcome.world.remark in section
        for name, tested in outcome.tested.items():
            found = [row for row in cells(section) if row[0] == LEARNERS[name].words]
            for row, mark in zip(found, tested.marks, strict=True):
                for cell, value in ((row[2], mark.best), (row[3], mark.chance)):
                    assert cell.startswith(f"{value.value:.2f} (".replace("-", "−"))


def test_a_verdict_is_what_the_tests_decided(tiny: tuple[TaskStudy, Path]) -> None:
    first = tiny[0].outcomes[0]
    better, worse = (
        dataclasses.replace(first.versus[0], difference=Interval(gap, gap - 1, gap + 1), p=0.01)
        for gap in (-5, 5)
    )
    mark = dataclasses.replace(first.tested[RULE].marks[0], gap=worse, retained=0.25)
    outcome = dataclasses.replace(
        first,
        tested={name: dataclasses.replace(first.tested[name], marks=(mark,)) for name in (RULE, CLIMBER)},
        versus=(better,),
    )
    (table,) = TasksReport(dataclasses.replace(tiny[0], outcomes=(outcome,))).summary()
    assert isinstance(table, Table)
    (row,) = table.rows
    assert row[4:] == ["worse (0.010)", "better (0.010)", "25.0%"]
    undecided = dataclasses.replace(better, p=0.2)
    outcome = dataclasses.replace(outcome, versus=(undecided,))
    (table,) = TasksReport(dataclasses.replace(tiny[0], outcomes=(outcome,))).summary()
    assert isinstance(table, Table)
    assert table.rows[0][5] == "not shown (0.200)"


def test_the_figure_has_a_panel_for_each_task_and_five_lines_in_it(tiny: tuple[TaskStudy, Path]) -> None:
    study, folder = tiny
    panels = [axes for axes in tasks.figure_of(study).axes if axes.lines]
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
    for world in FEW:
        assert world.title in captured.out
        assert world.title in captured.err
    assert max(map(len, captured.out.replace(str(out), "").splitlines())) <= 100
    assert main([*options, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["tasks"] == [outcome.to_dict() for outcome in tiny[0].outcomes]


# ------------------------------------------------------------------ the document


def test_the_document_is_what_the_kept_numbers_say() -> None:
    study = TaskStudy.from_dict(json.loads((ROOT / "docs" / "tasks.json").read_text(encoding="utf-8")))
    assert (ROOT / "docs" / "tasks-tables.md").read_text(encoding="utf-8") == page(study)
    for outcome in study.outcomes:  # what it says was run is what the command runs
        scales = SLOW if outcome.world.name == "cart_pole" else Tasks.SCALES
        assert outcome.budget == scales[study.scale]
    svg = (ROOT / "docs" / "figures" / "tasks.svg").read_text(encoding="utf-8")
    assert all(world.title in svg for world in WORLDS)
