"""The grids that the states of a table lie on."""

from __future__ import annotations

from enum import IntEnum
from functools import partial
from typing import Any

import numpy as np
import pytest

from distal import Settings
from distal.tasks.picture import Picture, Spot
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.tabulation import tabulate
from tests.given import some
from tests.refusals import refused
from tests.tasks.test_tabulation import Errand, dear_lake, gymnasium, lake, newest

LAKE = ("....", ".H.H", "...H", "H..G")  # as its documentation draws it


def walked(task: Any, *actions: int, goal: int = 0) -> list[Spot]:
    """Return where everything is in a walk through a table, from the start on."""
    walk = task.begin(goal, Settings(steps=50))
    spots = [task.picture.spot(walk.state)]
    for action in actions:
        walk.act(action)
        spots.append(task.picture.spot(walk.state))
    return spots


@pytest.mark.parametrize("make", [lake, dear_lake])  # by its transitions, and explored
def test_a_frozen_lake_is_drawn_as_its_map(make: Any) -> None:
    task = tabulate(make)
    assert task.picture is not None
    assert (task.picture.rows, task.picture.shape, task.picture.states) == (LAKE, (4, 4), 16)
    spots = walked(task, 1, 1, 2, 2, 1, 2)  # around the holes
    assert [spot.cell for spot in spots] == [0, 4, 8, 9, 10, 14, 15]
    assert set(spots) == {Spot(cell) for cell in (0, 4, 8, 9, 10, 14, 15)}
    assert task.actions == ("left", "down", "right", "up")
    assert task.picture.rows_from(0) == ("S...", *LAKE[1:])


def test_a_cliff_is_a_row_of_pits_and_a_fall_ends_at_the_start() -> None:
    task = tabulate(newest("CliffWalking"))
    assert some(task.picture).rows == ("." * 12, "." * 12, "." * 12, "." + "H" * 10 + "G")
    assert [spot.cell for spot in walked(task, 0, 1, 2)] == [36, 24, 25, 36]
    assert task.actions == ("up", "right", "down", "left")


def test_a_taxi_has_walls_a_passenger_and_a_goal_of_its_own() -> None:
    task = tabulate(newest("Taxi"), starts=4)
    picture = some(task.picture)
    inside = ("#r..#....g#", "#...#.....#", "#.........#", "#.#...#...#", "#y#...#b..#")
    walls = ("#" * 11, *inside, "#" * 11)
    assert picture.rows == walls
    env = gymnasium.make(newest("Taxi")).unwrapped
    for goal in range(4):
        state, _ = env.reset(seed=goal)
        row, column, passenger, destination = env.decode(state)
        (spot,) = walked(task, goal=goal)
        assert divmod(spot.cell, 11) == (row + 1, 2 * column + 1)
        assert walls[spot.thing // 11][spot.thing % 11] == "rgyb"[passenger]
        assert walls[spot.goal // 11][spot.goal % 11] == "rgyb"[destination]
        drawn = "".join(picture.rows_from(int(task.table(Settings()).starts[goal])))
        assert (drawn[spot.goal], drawn.count("G")) == ("G", 1)
    spots = map(picture.spot, range(picture.states))
    carried = [spot for spot in spots if spot.thing == spot.cell]
    assert 0 < len(carried) < picture.states


class Turn(IntEnum):
    """What an agent of MiniGrid can do, in short."""

    left = 0
    forward = 1


class MiniGridEnv(gymnasium.Env[Any, Any]):  # type: ignore[misc]
    """Has what MiniGrid's environments say of themselves: two cells beside each other, behind walls."""

    actions = Turn
    width, height = 4, 3

    def __init__(self) -> None:
        self.observation_space = gymnasium.spaces.MultiDiscrete([2, 4])
        self.action_space = gymnasium.spaces.Discrete(2)
        self.grid = self

    def get(self, column: int, row: int) -> Any:
        inside = row == 1 and column in (1, 2)
        return type("Thing", (), {"type": "wall"}) if not inside else None if column == 1 else Goal

    def reset(self, **given: Any) -> Any:
        self.agent_pos, self.agent_dir = np.array([1, 1]), 0  # looks east
        return np.array([0, 0]), {}

    def step(self, action: Any) -> Any:
        if action == Turn.left:
            self.agent_dir = (self.agent_dir - 1) % 4
        elif self.agent_dir == 0:
            self.agent_pos = np.array([2, 1])
        seen = np.array([self.agent_pos[0] - 1, self.agent_dir])
        return seen, -1, bool(self.agent_pos[0] == 2), False, {}


class Goal:
    """A thing in a MiniGrid."""

    type = "goal"


def test_a_minigrid_is_drawn_with_the_way_that_its_agent_looks() -> None:
    task = tabulate(MiniGridEnv)
    assert some(task.picture).rows == ("####", "#.G#", "####")
    assert walked(task, 0, 0, 0, 0, 1) == [Spot(5, k) for k in (1, 0, 3, 2, 1)] + [Spot(6, 1)]
    assert task.actions == ("left", "forward")


class OtherLake(type(gymnasium.make("FrozenLake-v1").unwrapped)):  # type: ignore[misc]
    """Calls itself a lake, and has no map."""

    def __init__(self) -> None:
        super().__init__(is_slippery=False)
        self.desc = None


def test_what_is_not_known_has_no_picture_and_its_actions_are_numbers() -> None:
    errand = tabulate(Errand)
    assert errand.picture is None
    assert errand.actions == ("1", "2", "3")  # as the environment counts them
    assert tabulate(OtherLake).picture is None


def test_actions_that_a_wrapper_may_change_have_no_names() -> None:
    def turned(action: Any) -> Any:
        return 3 - action

    space = gymnasium.spaces.Discrete(4)
    task = tabulate(lambda: gymnasium.wrappers.TransformAction(lake(), turned, space))
    assert task.actions == ("0", "1", "2", "3")
    assert task.picture is not None
    assert [spot.cell for spot in walked(task, 2)] == [0, 4]  # down


def test_a_table_that_is_made_by_hand_can_have_a_picture_and_names() -> None:
    table = Table.of([[0], [1]], [[0, 1], [0, 1]], [[1, 1], [1, 2]], [0, 1])
    picture = Picture(["a#", ".G"], cells=[0, 2], headings=[2, 3])
    task = TableTask(table, picture=picture, actions=["stay", "go"])
    assert some(task.picture).spot(1) == Spot(2, 3)
    assert task.actions == ("stay", "go")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": ["..", "."]}, "rows of the picture holds '.', expected strings of one length, of # . G H,"),
        ({"rows": ["?"]}, "rows of the picture holds '?', expected strings"),
        ({"cells": [0, 4]}, "cells holds 4, expected numbers from 0 to 3"),
        ({"cells": [[0]]}, "cells is [[0]], expected whole numbers of the shape (states)"),
        ({"headings": [0, 4]}, "headings holds 4, expected numbers from -1 to 3"),
        ({"things": [0]}, "things is [0], expected whole numbers of the shape (2)"),
        ({"goals": [0, 9]}, "goals holds 9, expected numbers from -1 to 3"),
    ],
)
def test_a_picture_that_is_none_is_refused_in_one_line(change: dict[str, Any], message: str) -> None:
    assert refused(lambda: Picture(**{"rows": ["..", ".G"], "cells": [0, 1], **change})).startswith(message)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"picture": Picture(["..."], [0, 1, 2])}, "picture has 3 states, the table has 2 states"),
        ({"picture": ["..."]}, "picture is ['...'], expected a Picture"),
        ({"actions": ["go"]}, "actions has 1 names, the table has 2 actions"),
    ],
)
def test_a_picture_and_names_fit_their_table(options: dict[str, Any], message: str) -> None:
    table = Table.of([[0], [1]], [[0, 1], [0, 1]], [[1, 1], [1, 2]], [0, 1])
    assert refused(lambda: partial(TableTask, table)(**options)).startswith(message)
