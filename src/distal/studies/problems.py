"""The tasks of the studies of tasks and rivals: a set with tables, and one that is run step by step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from distal.base.records import Named
from distal.tasks.mazes import levels_task
from distal.tasks.sources import task_of
from distal.tasks.task import Task

TABLES, STEPS = "tables", "steps"  # the words of the sets


@dataclass(frozen=True)
class Problem(Named):
    """A task of the study.

    `target` is the EP at or below which an episode is a success, described by `success`. Gymnasium's
    threshold for a solved task is a mean over many episodes and starts: in Taxi, some starts are too far
    away for it.
    """

    name: str  # of its files
    title: str
    make: Callable[[], Task[Any]]
    target: float
    success: str
    remark: str = ""

    @property
    def caption(self) -> str:
        """The meaning of a success, and the remark."""
        return f"Success: {self.success}. {self.remark}".rstrip()


def _maze(levels: int) -> Problem:
    word = ("one level", "two levels", "three levels", "four levels")[levels - 1]
    remark = "This is the paper’s maze, for which `evolved:1` and `hc` were evolved." if levels == 3 else ""
    return Problem(
        f"t_maze_{levels}", f"T-maze, {word}", lambda: levels_task(levels), 99,
        "the goal is reached in fewer than 100 steps, pits counted", remark,
    )  # fmt: skip


def _lake(size: str) -> Problem:
    args = {"is_slippery": False, "map_name": size}
    return Problem(
        f"frozen_lake_{size}", f"FrozenLake {size.replace('x', '×')}",
        partial(task_of, "FrozenLake-v1", args=args, tabulated=True), -1, "the goal is reached",
        "The EP is −1 for a success and 0 for anything else, so there is no signal before the first success.",
    )  # fmt: skip


PROBLEMS = (
    *map(_maze, (1, 2, 3, 4)),
    Problem(
        "cliff_walking", "CliffWalking", partial(task_of, "CliffWalking-v1", tabulated=True), 99,
        "the goal is reached in fewer than 100 steps, without a fall",
        "A step costs 1 and a fall 100. An agent that stands still for 100 steps has an EP of 100, which "
        "is better than nearly every move.",
    ),
    *map(_lake, ("4x4", "8x8")),
    Problem(
        "taxi", "Taxi, 8 starts", partial(task_of, "Taxi-v4", starts=8, tabulated=True), 199,
        "the passenger is delivered, with an EP below 200",
        "A step costs 1, a wrong pick-up or drop-off 10, and a delivery gains 20. An agent that only drives "
        "has an EP of 200, and gets no better signal before its first delivery.",
    ),
    Problem(
        "cart_pole", "CartPole", partial(task_of, "CartPole-v1", encode="bins:4:quantiles"), -475,
        "the pole stands for 475 of 500 steps",
        "The EP is minus the number of steps that the pole stands. The budget is smaller because the task has no table.",
    ),
)  # fmt: skip

STEPPED = (
    Problem(
        "cart_pole", "CartPole", partial(task_of, "compiled:CartPole", encode="bins:4:quantiles"), -475,
        "the pole stands for 475 of 500 steps", "The EP is minus the number of steps that the pole stands.",
    ),
    Problem(
        "mountain_car", "MountainCar", partial(task_of, "compiled:MountainCar", encode="bins:4:quantiles"),
        199, "the top is reached in fewer than 200 steps",
        "A step costs 1 and nothing else counts, so there is no signal before the agent reaches the top.",
    ),
    Problem(
        "acrobot", "Acrobot", partial(task_of, "compiled:Acrobot", encode="bins:4:quantiles"), 100,
        "the foot swings above the line within 100 steps",
        "A step costs 1, and an agent that never swings up has an EP of 500.",
    ),
    Problem(
        "phototaxis", "Phototaxis", partial(task_of, "compiled:Phototaxis", encode="bins:4:quantiles"), -4,
        "two lamps are reached, and most of the way to a third is covered",
        "The agent has two eyes and three actions: turn left, drive, turn right. When it reaches a lamp, the next one is "
        "lit. The EP is minus the distance by which the agent has approached its lamps in 200 steps.",
    ),
    Problem(
        "pendulum", "Pendulum", partial(task_of, "Pendulum-v1", actions="bins:3", encode="bins:4:quantiles"),
        200, "the pendulum swings up and stays there, at a cost of 200 or less",
        "Gymnasium’s environment, stepped in Python; the torque is one of three values.",
    ),
    Problem(
        "minigrid", "MiniGrid-Empty-5x5",
        partial(
            task_of, "minigrid:MiniGrid-Empty-5x5-v0", wrap=["minigrid.wrappers:ImgObsWrapper"],
            tabulated=False,
        ), -0.1, "the goal is reached",
        "Stepped in Python as well. The EP is between −1 and −0.1 for a success, lower for an earlier one, and 0 "
        "for anything else.",
    ),
)  # fmt: skip
