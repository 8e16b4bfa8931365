"""The study of tasks: its tasks, its numbers, its page and its figure."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from distal import InputError, TaskStudy, evolve, learn, study_tasks
from distal.engines import Runner
from distal.evaluation.trials import settings_in
from distal.learners import find_learner
from distal.model.draws import child_seed
from distal.model.settings import Settings
from distal.search import cma, fitness, genetic
from distal.search.config import RUN
from distal.studies import beyond_plan
from distal.studies.intervals import Interval
from distal.studies.plans import readings, reproduce, tasks
from distal.studies.plans.tasks import (
    CLIMBER,
    LEARNERS,
    MAZE_CLIMBER,
    MAZE_RULE,
    PACED,
    RULE,
    SLOW,
    Tasks,
    TasksReport,
)
from distal.studies.problems import Problem
from distal.studies.report import Sheet, to_markdown
from tests.given import some
from tests.studies.conftest import (
    BY_NAME,
    COMPILED_TINY,
    FEW,
    FEW_STEPPED,
    SLOW_TINY,
    STEPPED_BY_NAME,
    TASKS_TINY,
)

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.usefixtures("rough")

# ------------------------------------------------------------------ the tasks


def ep(problem: Problem, actions: list[int], goal: int = 0) -> float:
    """Return the EP of an episode of these actions, the last of them again and again."""
    task = problem.make()
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
    problem = BY_NAME["taxi"]
    task = problem.make()
    assert len(task.goals) == 8
    assert ep(problem, [0]) == 200 == problem.target + 1
    # Every start can be served, in as few steps as a search over the table finds; the last one gains 20.
    table = some(task.table(settings_in(task, {})))
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
        assert some(best) <= problem.target


def test_the_pole_stands_for_475_steps() -> None:
    problem = BY_NAME["cart_pole"]
    task = problem.make()
    assert task.target(settings_in(task, {})) == problem.target == -475
    assert task.table(settings_in(task, {})) is None


def test_of_the_tasks_that_are_stepped_a_success_is_what_its_words_say() -> None:
    car = STEPPED_BY_NAME["mountain_car"]
    assert ep(car, [2]) == ep(car, [1]) == 200 > car.target  # the engine is too weak
    walk = car.make().begin(0, Settings(steps=200))
    speed = 0.0
    while not walk.over:  # with the way the car goes, it gains
        before = walk.state[0]
        walk.act(2 if speed >= 0 else 0)
        speed = walk.state[0] - before
    assert walk.ep <= car.target
    pole = STEPPED_BY_NAME["cart_pole"]
    assert ep(pole, [0]) > pole.target == -475
    foot = STEPPED_BY_NAME["acrobot"]
    assert ep(foot, [1]) == 500 > foot.target
    assert ep(STEPPED_BY_NAME["pendulum"], [1]) > STEPPED_BY_NAME["pendulum"].target
    light = STEPPED_BY_NAME["phototaxis"]
    assert ep(light, [0]) == 0 > light.target


def test_a_room_is_left_by_a_way_that_is_known() -> None:
    pytest.importorskip("minigrid", reason="MiniGrid is not installed: pip install minigrid")
    room = STEPPED_BY_NAME["minigrid"]
    way = ep(room, [2, 2, 1, 2, 2])  # forward twice, to the right, forward twice
    assert way == pytest.approx(-(1 - 0.9 * 5 / 100))
    assert way <= room.target < ep(room, [2]) == 0


def test_the_stages_of_both_sets_have_names_of_their_own_and_only_one_set_tries_rules_elsewhere() -> None:
    pytest.importorskip("minigrid", reason="MiniGrid is not installed: pip install minigrid")
    for word, transfers in (("tables", 0), ("steps", 6 * 5)):
        names = [stage.name for stage in Tasks(worlds=word).plan]
        assert len(names) == len(set(names))
        assert sum(name.startswith("move_") for name in names) == transfers


def test_an_unknown_set_of_tasks_is_refused_and_another_set_in_the_same_folder_too(
    tasked: tuple[TaskStudy, Path],
) -> None:
    with pytest.raises(InputError, match="worlds is 'step', expected one of tables, steps"):
        study_tasks(worlds="step")
    with pytest.raises(InputError, match="other options"):
        study_tasks(worlds="steps", seed=3, out=tasked[1])


def test_no_two_studies_share_seeds() -> None:
    """Private names: the last number of the part that the seeds of each search come from."""
    parts = [
        0, RUN, fitness.EVALUATION, fitness.REMEASUREMENT, reproduce.TEST, readings.STUDY,
        tasks.TASKS, beyond_plan.BEYOND, genetic._FIRST, genetic._PARENTS, genetic._REDRAW, genetic._DEVIATE,
        cma._SAMPLE,
    ]  # fmt: skip
    assert len(set(parts)) == len(parts)


# ------------------------------------------------------------------ numbers


def test_numbers_are_those_of_plain_evaluations(tasked: tuple[TaskStudy, Path]) -> None:
    for position, outcome in enumerate(tasked[0].outcomes):
        task = FEW[position].make()
        seed = child_seed(3, position, 0, tasks.TASKS)
        for name, tested in outcome.tested.items():
            for mark in tested.marks:
                options: Any = {"trials": -(-outcome.budget.tested // outcome.goals), "seed": seed}
                plain = learn(tested.learner, task=task, episodes=mark.episodes, keep_ep=True, **options)
                assert mark.best.value == plain.fitness, name
                assert mark.chance.value == some(plain.chance).fitness
                assert mark.gap.p == some(plain.difference).p
                assert mark.reached.value == (plain.final <= FEW[position].target).mean()
                if plain.target is not None and FEW[position].target == round(plain.target):
                    assert mark.retained == some(plain.behaviour).retained
            assert tested.curve.mean[-1] == tested.marks[-1].best.value
            assert tested.chance_curve.mean[-1] == tested.marks[-1].chance.value
        assert outcome.versus[-1].difference.value == pytest.approx(
            outcome.tested[RULE].marks[-1].best.value - outcome.tested[CLIMBER].marks[-1].best.value
        )
        assert outcome.tested[MAZE_RULE].learner == find_learner("evolved:1")
        assert outcome.tested[MAZE_CLIMBER].learner == find_learner("hc")


def test_the_winner_with_the_lowest_remeasured_fitness_is_tested(tasked: tuple[TaskStudy, Path]) -> None:
    for position, outcome in enumerate(tasked[0].outcomes):
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


def test_a_task_without_a_table_is_run_step_by_step(tasked: tuple[TaskStudy, Path]) -> None:
    assert [outcome.engine for outcome in tasked[0].outcomes] == ["cpu", "cpu", "steps"]
    assert [outcome.budget for outcome in tasked[0].outcomes] == [TASKS_TINY, TASKS_TINY, SLOW_TINY]
    assert [len(outcome.versus) for outcome in tasked[0].outcomes] == [2, 2, 1]


def test_a_rule_is_tried_in_the_other_tasks_in_the_trials_of_their_own_rules(
    stepped: tuple[TaskStudy, Path],
) -> None:
    study = stepped[0]
    names = [problem.name for problem in FEW_STEPPED]
    assert [outcome.engine for outcome in study.outcomes] == ["steps"] * 2
    assert [outcome.budget for outcome in study.outcomes] == [COMPILED_TINY, SLOW_TINY]
    assert [(one.rule, one.task) for one in study.transfers] == [
        (rule, task) for task in names for rule in names if rule != task
    ]
    rules = {outcome.problem.name: outcome.tested[RULE].learner for outcome in study.outcomes}
    for one in study.transfers:
        position = names.index(one.task)
        budget = study.outcomes[position].budget
        assert one.episodes == budget.episodes == study.outcomes[position].tested[RULE].marks[0].episodes
        options: Any = {
            "task": FEW_STEPPED[position].make(), "trials": budget.tested, "episodes": one.episodes,
            "seed": child_seed(3, position, 1, tasks.TASKS),
        }  # fmt: skip
        moved, own = (learn(rules[name], **options) for name in (one.rule, one.task))
        assert (one.best.value, one.chance.value) == (moved.fitness, some(moved.chance).fitness)
        assert one.gap.p == some(moved.difference).p
        assert own.fitness == study.outcomes[position].tested[RULE].marks[0].best.value
        assert one.versus.difference.value == pytest.approx(moved.fitness - own.fitness)


def test_transfers_of_other_rules_are_refused(stepped: tuple[TaskStudy, Path]) -> None:
    data = stepped[0].to_dict()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tasks, "STEPPED", FEW_STEPPED)
        assert TaskStudy.from_dict(data).transfers == stepped[0].transfers
        wrong: Any
        for wrong in (data["transfers"][1:], data["transfers"][::-1], []):
            with pytest.raises(InputError, match="every rule"):
                TaskStudy.from_dict({**data, "transfers": wrong})


# ------------------------------------------------------------------ what the page says


def page(study: TaskStudy) -> str:
    return to_markdown(TasksReport.title, TasksReport(study).blocks())


def cells(text: str) -> list[list[str]]:
    return [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("|")]


def test_the_page_holds_every_learner_of_every_task_beside_chance(tasked: tuple[TaskStudy, Path]) -> None:
    text = page(tasked[0])
    for outcome in tasked[0].outcomes:
        section = text.split(f"### {outcome.problem.title}\n")[1].split("\n#")[0]
        assert outcome.problem.success in section
        assert outcome.problem.remark in section
        for name, tested in outcome.tested.items():
            found = [row for row in cells(section) if row[0] == LEARNERS[name].words]
            for row, mark in zip(found, tested.marks, strict=True):
                for cell, value in ((row[2], mark.best), (row[3], mark.chance)):
                    assert cell.startswith(f"{value.value:.2f} (".replace("-", "−"))


def test_the_page_holds_every_rule_in_every_task_its_own_first(stepped: tuple[TaskStudy, Path]) -> None:
    study = stepped[0]
    text = page(study)
    assert "`distal tasks --worlds steps --scale quick --seed 3`" in text
    rows = cells(text.split("## Rules in other tasks\n")[1].split("\n#")[0])[2:]
    assert [row[:2] for row in rows[:3]] == [
        ["CartPole", "the same"], ["CartPole", "Lake without a table"], ["Lake without a table", "the same"],
    ]  # fmt: skip
    moved = iter(study.transfers)
    for row in rows:
        if row[1] != "the same":
            one = next(moved)
            assert row[3].startswith(f"{one.best.value:.2f} (".replace("-", "−"))
            assert row[4].startswith(f"{one.chance.value:.2f} (".replace("-", "−"))
    assert next(moved, None) is None


def test_a_verdict_is_what_the_tests_decided(tasked: tuple[TaskStudy, Path]) -> None:
    first = tasked[0].outcomes[0]
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
    (table,) = TasksReport(dataclasses.replace(tasked[0], outcomes=(outcome,))).summary()
    assert isinstance(table, Sheet)
    (row,) = table.rows
    assert row[4:] == ["worse (0.010)", "better (0.010)", "25.0%"]
    undecided = dataclasses.replace(better, p=0.2)
    outcome = dataclasses.replace(outcome, versus=(undecided,))
    (table,) = TasksReport(dataclasses.replace(tasked[0], outcomes=(outcome,))).summary()
    assert isinstance(table, Sheet)
    assert table.rows[0][5] == "not shown (0.200)"


def test_the_figure_has_a_panel_for_each_task_and_five_lines_in_it(tasked: tuple[TaskStudy, Path]) -> None:
    study = tasked[0]
    panels = [axes for axes in TasksReport(study).draw().axes if axes.lines]
    assert [axes.get_title(loc="left") for axes in panels] == [problem.title for problem in FEW]
    for axes, outcome in zip(panels, study.outcomes, strict=True):
        ends = [float(np.asarray(line.get_ydata())[-1]) for line in axes.lines]
        assert ends == [
            outcome.tested[RULE].chance_curve.mean[-1],
            *(one.curve.mean[-1] for one in outcome.tested.values()),
        ]
        low, high = axes.get_ylim()
        assert all(low <= end <= high for end in ends)


def test_an_estimate_knows_what_is_compiled_and_how_many_cores_there_are() -> None:
    pytest.importorskip("minigrid", reason="MiniGrid is not installed: pip install minigrid")
    study = Tasks(worlds="steps")
    alone, both = (study.seconds(Runner("cpu", workers=workers)) for workers in (1, 2))
    assert sum(alone.values()) == pytest.approx(2 * sum(both.values()))
    per_episode = {
        name: alone[name] / sum(stage.episodes for stage in study.plan if stage.group == name)
        for name in ("MountainCar", "Pendulum")
    }  # both have 200 steps
    assert 10 < per_episode["Pendulum"] / per_episode["MountainCar"] < 100


# ------------------------------------------------------------------ the document


def test_the_document_holds_what_the_command_runs() -> None:
    study = TaskStudy.from_dict(json.loads((ROOT / "docs" / "tasks.json").read_text(encoding="utf-8")))
    for outcome in study.outcomes:
        scales = SLOW if outcome.problem.name == "cart_pole" else Tasks.SCALES
        assert outcome.budget == scales[study.scale]
    study = TaskStudy.from_dict(json.loads((ROOT / "docs" / "tasks_steps.json").read_text(encoding="utf-8")))
    for outcome in study.outcomes:
        scales = PACED if outcome.problem.name in ("pendulum", "minigrid") else Tasks.COMPILED
        assert outcome.budget == scales[study.scale]
