"""A finite task is a table: walked step by step or compiled, it gives the same bits, whatever it is about."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from distal import Chance, HillClimbing, InputError, Maze, Settings, published_rules
from distal.engines import Batch, cpu, gpu, reference
from distal.engines.cpu import kernels
from distal.evaluation.learning import batch_of
from distal.learners import Learner
from distal.model.maze import FINALS, MAX_SIDE
from distal.tasks.tables import MAX_COST, Table, TableTask
from distal.tasks.task import Task
from distal.tasks.walk import MazeTask, maze_table
from tests.conftest import assert_equal_trials
from tests.strategies import chances, climbers, mazes, rules, seeds, settings_of, tables

# Two rooms and a shop. Action 1 goes to the other room, action 2 buys (4) in room 0 and is
# the way out of room 1; all others wait. For goal 1 the way out is shut, and buying is the end.
ROOMS: dict[str, Any] = {
    "observations": [[0, 0, 1], [1, 1, 0]],
    "following": [[0, 1, 0, 0], [1, 0, 1, 1]],
    "events": [[0, 0, 1, 0], [0, 0, 2, 0]],
    "costs": [[0, 4, 0], [0, 4, 0]],
    "ends": [[0, 0, 1], [0, 1, 0]],
    "left": [[30, 20], [7, 9]],
    "step_cost": 2,
}


def trials(task: Task[Any], learners: tuple[Learner, ...], settings: Settings, seed: int = 0) -> Batch:
    own = np.arange(seed, seed + len(learners), dtype=np.uint64)
    return batch_of(learners, own, trials=1, episodes=8, task=task, settings=settings)


# ---------------------------------------------------------------- walks


@pytest.mark.parametrize(
    ("goal", "actions", "over", "ep"),
    [
        (0, (), False, 5 * 2 + 30),  # if it were cut off now: all steps, and what is left in room 0
        (0, (0, 1), False, 5 * 2 + 20),
        (0, (1, 2), True, 2 * 2),
        (0, (2, 2, 1, 2), True, 4 * 2 + 2 * 4),
        (0, (1, 0, 0, 0, 0), True, 5 * 2 + 20),
        (0, (1, 0, 0, 0, 2), True, 5 * 2),  # the last step may be the one that ends it
        (1, (1, 2, 2), False, 5 * 2 + 9),
        (1, (2,), True, 2 + 4),
    ],
)
def test_ep_is_the_sum_of_what_steps_events_and_the_end_cost(
    goal: int, actions: tuple[int, ...], over: bool, ep: int
) -> None:
    walk = TableTask(Table(**ROOMS)).begin(goal, Settings(steps=5))
    for action in actions:
        assert not walk.over
        walk.act(action)
    assert (walk.over, walk.ep) == (over, ep)


@given(mazes(), st.sampled_from(["turn", "stay"]), st.integers(1, 30), st.data())
def test_a_walk_through_the_table_of_a_maze_is_a_walk_through_the_maze(
    maze: Maze, blocked: str, steps: int, data: st.DataObject
) -> None:
    task, settings = MazeTask(maze), Settings(steps=steps, blocked=blocked)
    goal = data.draw(st.integers(0, len(task.goals) - 1))
    walk, ours = task.begin(goal, settings), TableTask(task.table(settings)).begin(goal, settings)
    while not walk.over:
        assert (ours.over, ours.ep, ours.sense()) == (False, walk.ep, walk.sense())
        action = data.draw(st.integers(0, 3))
        walk.act(action)
        ours.act(action)
    assert (ours.over, ours.ep, ours.sense()) == (True, walk.ep, walk.sense())


# ---------------------------------------------------------------- engines


@given(
    tables(),
    st.one_of(*(st.lists(kind, min_size=1, max_size=2) for kind in (rules, climbers, chances))),
    settings_of(max_hidden=12, max_steps=60),
    seeds,
)
@hypothesis_settings(max_examples=60)
def test_any_table_gives_the_same_bits(
    table: Table, learners: list[Learner], settings: Settings, seed: int
) -> None:
    batch = trials(TableTask(table), tuple(learners), settings, seed % 2**63)
    assert_equal_trials(
        cpu.run(batch, keep_weights=True, keep_ep=True, workers=1),
        reference.run(batch, keep_weights=True, keep_ep=True),
    )


def test_a_maze_and_its_table_are_the_same_task() -> None:
    maze = Maze.from_text("#######\n#0...1#\n###.###\n###S###\n#######")
    learners: tuple[Learner, ...] = (published_rules()[0],)
    ours = trials(TableTask(maze_table(maze, "turn"), tuple(maze.symbols)), learners, Settings(steps=20))
    theirs = trials(MazeTask(maze), learners, Settings(steps=20))
    assert_equal_trials(
        reference.run(ours, keep_weights=True, keep_ep=True),
        reference.run(theirs, keep_weights=True, keep_ep=True),
    )


def test_costs_at_their_limits_add_up_exactly() -> None:
    dear = {**ROOMS, "costs": [[0, MAX_COST, MAX_COST]] * 2, "ends": [[0, 0, 0]] * 2, "step_cost": MAX_COST}
    always = {**dear, "events": [[1] * 4, [2] * 4], "left": [[MAX_COST] * 2] * 2}
    settings = Settings(hidden=2, steps=10_000)
    for sign in (1, -1):
        turned = {name: np.multiply(always[name], sign) for name in ("costs", "left", "step_cost")}
        batch = trials(TableTask(Table(**{**always, **turned})), (Chance(0.1, 0.1),), settings)
        assert (cpu.run(batch, workers=1).best == sign * (20_000 * MAX_COST + MAX_COST)).all()


def test_the_largest_maze_with_all_final_positions_runs_compiled() -> None:
    inside = [["."] * (MAX_SIDE - 2) for _ in range(MAX_SIDE - 2)]
    inside[-1][-1] = "S"
    for k, symbol in enumerate(FINALS):
        inside[4 * k][4 * k] = symbol
    edge = "#" * MAX_SIDE
    maze = Maze((edge, *(f"#{''.join(row)}#" for row in inside), edge))
    batch = trials(MazeTask(maze), (HillClimbing(0.3, 0.2, 0.1),), Settings(hidden=3, steps=40))
    few = batch.part(len(FINALS) - 2, len(FINALS))
    assert (cpu.run(few, workers=1).best == reference.run(few).best).all()
    assert maze_table(maze, "turn").left.shape == (len(FINALS), 4 * MAX_SIDE**2)


class Endless:
    """A task without a table, and with an EP that is given."""

    inputs, outputs, goals = 3, 4, ("only",)

    def __init__(self, ep: Any = 7, table: Any = None) -> None:
        self.ep, self._table = ep, table

    over = False

    def begin(self, goal: int, settings: Settings) -> Endless:
        return self

    def table(self, settings: Settings) -> Any:
        return self._table

    def sense(self) -> tuple[int, ...]:
        return (0, 1, 0)

    def act(self, action: int) -> None:
        pass


def test_a_task_without_a_table_runs_on_the_reference_engine_alone() -> None:
    batch = trials(Endless(), (Chance(0.1, 0.2),), Settings(hidden=2, steps=3))
    assert (reference.run(batch).best == 7).all()
    with pytest.raises(InputError, match="Endless has no table, which engines cpu and gpu need; use engine"):
        cpu.run(batch)


def test_the_cpu_engine_refuses_other_shapes() -> None:
    one_input = {**ROOMS, "observations": [[0], [1]]}
    batch = trials(TableTask(Table(**one_input)), (published_rules()[0],), Settings(hidden=2, steps=3))
    assert reference.run(batch, keep_weights=True).best.shape == (2, 8)
    with pytest.raises(InputError, match="the task has 1 inputs and 4 actions, engine cpu takes 3 and 4"):
        cpu.run(batch)


@pytest.mark.parametrize("ep", [6.5, float("nan"), 2**31, None, "7"])
def test_an_ep_that_results_cannot_hold_is_refused(ep: object) -> None:
    batch = trials(Endless(ep), (Chance(0.1, 0.2),), Settings(hidden=2, steps=3))
    with pytest.raises(RuntimeError, match=r"trial 0 \(goal only, seed .*the EP of an episode is"):
        reference.run(batch)


def test_a_table_that_is_none_or_has_too_few_goals_never_reaches_a_kernel() -> None:
    several = Endless(table=Table(**ROOMS))
    several.goals = ("0", "1", "2")  # type: ignore[assignment]
    batch = trials(several, (Chance(0.1, 0.2),), Settings(hidden=2, steps=3))
    with pytest.raises(InputError, match="the table of the task has 2 goals, the task 3"):
        cpu.run(batch)
    with pytest.raises(InputError, match="the table of the task is 'x', expected a Table, or None"):
        cpu.run(trials(Endless(table="x"), (Chance(0.1, 0.2),), Settings(hidden=2, steps=3)))


@pytest.mark.parametrize("source", [Path(kernels.__file__), Path(gpu.__file__).with_name("trials.cu")])
def test_kernels_know_nothing_of_mazes(source: Path) -> None:
    words = set(re.findall(r"[a-z]+", source.read_text().lower()))
    assert not words & {
        "maze",
        "mazes",
        "pit",
        "pits",
        "wall",
        "walls",
        "distance",
        "distances",
        "cell",
        "cells",
    }


# ---------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"observations": [[0, 2, 0]] * 2}, "observations holds 2, expected numbers from 0 to 1"),
        (
            {"observations": [0, 1]},
            "observations is [0, 1], expected whole numbers of the shape (states, inputs)",
        ),
        (
            {"observations": np.zeros((0, 3), int)},
            "the number of states is 0, expected a whole number from 1 to",
        ),
        (
            {"observations": np.zeros((2, 300), int)},
            "the number of inputs is 300, expected a whole number from 1",
        ),
        ({"following": [[0, 1, 0, 2], [0] * 4]}, "following holds 2, expected numbers from 0 to 1"),
        ({"following": [[0, 1, 0, -1], [0] * 4]}, "following holds -1, expected numbers from 0 to 1"),
        (
            {"following": [[0] * 4] * 3},
            "following is [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], expected whole",
        ),
        (
            {"following": [[0.0] * 4] * 2},
            "following is [[0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0]], expected",
        ),
        (
            {"following": [[0, 1], [0]]},
            "following is [[0, 1], [0]], expected whole numbers of the shape (2, act",
        ),
        ({"events": [[0, 0, 3, 0], [0] * 4]}, "events holds 3, expected numbers from 0 to 2"),
        (
            {"events": [[0] * 3] * 2},
            "events is [[0, 0, 0], [0, 0, 0]], expected whole numbers of the shape (2, 4)",
        ),
        (
            {"costs": np.zeros((2, 65), int)},
            "the number of events is 65, expected a whole number from 1 to 64",
        ),
        (
            {"costs": np.zeros((0, 3), int)},
            "the number of goals is 0, expected a whole number from 1 to 1000",
        ),
        ({"costs": [[0, 10**6, 0]] * 2}, "costs holds 1000000, expected numbers from -100000 to 100000"),
        (
            {"costs": [[1, 0, 0]] * 2},
            "event 0 costs something or ends an episode, expected a step like any other",
        ),
        (
            {"ends": [[1, 0, 0]] * 2},
            "event 0 costs something or ends an episode, expected a step like any other",
        ),
        ({"ends": [[0, 0]] * 2}, "ends is [[0, 0], [0, 0]], expected whole numbers of the shape (2, 3)"),
        ({"left": [[0, 0]]}, "left is [[0, 0]], expected whole numbers of the shape (2, 2)"),
        ({"left": [[0, 2**40]] * 2}, "left holds 1099511627776, expected numbers from -100000 to 100000"),
        ({"start": 2}, "start is 2, expected a whole number from 0 to 1"),
        ({"step_cost": 10**6}, "step_cost is 1000000, expected a whole number from -100000 to 100000"),
    ],
)
def test_a_table_that_is_none_cannot_be_made(change: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError) as refusal:
        Table(**{**ROOMS, **change})
    assert str(refusal.value).startswith(problem)


def test_a_table_cannot_be_changed() -> None:
    given = np.array(ROOMS["following"], np.int32)
    table = Table(**{**ROOMS, "following": given})
    given[:] = 10**6
    assert table.following.tolist() == ROOMS["following"]
    for name in ("observations", "following", "events", "costs", "ends", "left"):
        with pytest.raises(ValueError, match="read-only"):
            getattr(table, name)[:] = 1


def test_goals_have_names_or_numbers() -> None:
    table = Table(**ROOMS)
    assert TableTask(table).goals == ("0", "1")
    assert TableTask(table, ["out", "shop"]).goals == ("out", "shop")
    with pytest.raises(InputError, match="goals has 3 names, the table has 2 goals"):
        TableTask(table, ["a", "b", "c"])
