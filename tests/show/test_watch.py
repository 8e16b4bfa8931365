"""Watching a trial: which one it is, what is refused, and the command."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distal
from distal.base.checks import InputError
from distal.engines.batch import best_so_far
from distal.model.settings import Settings
from distal.show import watch
from distal.show.watched import Watched
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.task import Task
from tests.mazes import T
from tests.show.pages import RING, SMALL, gym_task, ring


def test_the_trial_is_the_one_that_learn_reports(single: Watched) -> None:
    result = distal.learn("paper:1", episodes=60, trials=1, seed=0)
    assert np.minimum.accumulate(single.eps[0]).tolist() == result.best[3].tolist()
    assert single.goal == "3"


@pytest.mark.parametrize(("how", "number"), [("new", 3), ("back", 3), ((5, 1), 5)])
def test_the_trial_with_a_goal_that_moves_is_the_one_that_learn_reports(how: Any, number: int) -> None:
    options: Any = {"episodes": 14, "seed": 3, "hidden": 4, "steps": 60, "neurons": "sigmoid"}
    switch = Switch(5, how)
    watched = watch.watch("paper:1", switch=switch, **options)
    result = distal.learn("paper:1", trials=1, switch=switch, chance=False, **options)
    assert best_so_far(watched.eps, 5)[0].tolist() == result.best[number].tolist()
    assert [int(goal) for goal in watched.goals] == result.goals[number].tolist()
    told = watched.to_dict()
    ends = result.best[number, [4, 9, 13]].tolist()
    assert [phase["best_ep"] for phase in told["phases"]] == [[ep] for ep in ends]
    assert [phase["first_episode"] for phase in told["phases"]] == [1, 6, 11]
    assert [phase["chance"] for phase in told["phases"]] == watched.chance[[4, 9, 13]].tolist()
    assert told["learners"][0]["best_ep"] == ends[-1] == watched.eps[0, 10:].min()
    assert told["learners"][0]["best_episode"] == 11 + watched.eps[0, 10:].argmin()
    assert (told["switch"], told["neurons"]) == (switch.to_dict(), "sigmoid")


def test_the_trial_in_a_table_is_the_one_that_learn_reports() -> None:
    task = gym_task("Taxi-v4", starts=3)
    watched = watch.watch("evolved:1", task=task, goal="2", episodes=12, seed=4, hidden=5)
    result = distal.learn("evolved:1", task=task, episodes=12, trials=1, seed=4, hidden=5)
    assert np.minimum.accumulate(watched.eps[0]).tolist() == result.best[2].tolist()
    assert watched.batches[0].settings.steps == 200  # as Taxi itself
    assert watched.title == "evolved:1 learning Taxi-v4, goal 2"


def test_both_learners_of_a_comparison_have_the_same_goal_and_seed(compared: Watched) -> None:
    first, second = compared.batches
    assert compared.goal == "b"
    assert (first.goal[0], first.seed[0]) == (second.goal[0], second.seed[0])


def test_the_goal_is_three_or_the_first_where_there_is_none() -> None:
    goals = [watch.trials("paper:1", maze=maze)[0].goal[0] for maze in (None, T, RING)]
    assert goals == [3, 0, RING.symbols.index("3")]


def test_progress_is_told_of_as_many_episodes_as_the_learners_have() -> None:
    told: list[int] = []
    watch.watch("paper:1", "hc", episodes=25, progress=told.append, **SMALL)
    assert sum(told) == 50
    assert min(told) > 0


class Endless(Task[Any]):
    """A task that is no table, and does not say why."""

    name, inputs, outputs, goals = "endless", 3, 4, ("0",)

    def begin(self, goal: int, settings: Settings) -> Any:
        """Begin."""


MANY = Table.of([[0], [1]], [[0, 1], [0, 1]], np.ones((100, 2, 2), int), np.zeros((100, 2), int))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"task": Endless()},
            "endless is no table, and only mazes and tables can be watched; use distal learn$",
        ),
        ({"task": ring(4), "goal": "3"}, "goal is '3', expected a goal of ring: 0$"),
        ({"task": TableTask(MANY), "goal": "x"}, "expected a goal of table: 0, 1, .* 38, …, 99$"),
        ({"goal": ""}, "goal is '', expected a final position of the maze: 0, 1, 2, 3, 4, 5, 6, 7$"),
        ({"switch": Switch(5, (0, 4)), "goal": "3"}, "goal is '3', but the goals of the switch begin with 0"),
        ({"task": ring(4), "steps": 10_000, "episodes": 900}, "episodes is 900, expected 186 at most: the p"),
        (
            {"task": TableTask(Table.of(np.zeros((2, 65), int), [[0, 1]] * 2, [[1, 1]] * 2, [0, 1]))},
            "table has 65 inputs and 2 actions, a page takes at most 64 and 16: its chance needs",
        ),
    ],
)
def test_what_cannot_be_watched_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        watch.watch("evolved:1", **options)
