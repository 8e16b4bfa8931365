"""A finite task is a table: walked step by step or compiled, it gives the same bits, whatever it is about."""

from __future__ import annotations

import json
import re
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from distal import Chance, HillClimbing, InputError, Maze, Settings, published_rules
from distal.engines import Batch, gpu
from distal.engines.cpu import engine as cpu
from distal.engines.cpu.cache import PACKAGE, SOURCES
from distal.engines.reference import engine as reference
from distal.evaluation.trials import batch_of
from distal.learners import Learner
from distal.model.maze import FINALS, MAX_SIDE
from distal.tasks.mazes import MazeTask, maze_table
from distal.tasks.switching import Switch
from distal.tasks.table import MAX_COST, Table
from distal.tasks.table_task import TableTask
from distal.tasks.task import Task, Walk
from tests.conftest import assert_equal_trials
from tests.refusals import assert_damage_is_refused, refused
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


@given(mazes())
def test_the_table_of_a_maze_is_valid_though_nothing_checks_it(maze: Maze) -> None:
    table = maze_table(maze, "turn")
    checked = Table(**{one.name: getattr(table, one.name) for one in fields(Table)})
    assert table.digest == checked.digest
    assert not any(array.flags.writeable for array in vars(table).values() if isinstance(array, np.ndarray))


# ---------------------------------------------------------------- tables for people


def plain(table: Table) -> dict[str, Any]:
    """Return what a table says about every transition and goal, without events."""
    return {
        "costs": table.step_cost + table.costs[:, table.events],
        "ends": table.ends[:, table.events],
        "left": table.left,
        "starts": table.starts,
    }


@given(st.integers(0, 2**32 - 1), st.data())
def test_a_table_of_costs_and_ends_says_what_it_was_given(seed: int, data: st.DataObject) -> None:
    random = np.random.default_rng(seed)
    states, actions, goals = (data.draw(st.integers(1, most)) for most in (5, 3, 3))
    shaped = [data.draw(st.booleans()) for _ in range(4)]  # whether it is by goal
    several = [(goals,) if own else () for own in shaped]
    costs = random.integers(-2, 2, (*several[0], states, actions))
    ends = random.random((*several[1], states)) < 0.3
    left = random.integers(-9, 9, (*several[2], states))
    start = random.integers(0, states, goals) if shaped[3] else int(random.integers(states))
    following = random.integers(0, states, (states, actions))
    sensed = random.integers(0, 2, (states, 2))
    table = Table.of(sensed, following, costs, ends, left=left, start=start)
    wanted = goals if any(shaped) else 1
    found = plain(table)
    assert table.goals == wanted
    assert (found["costs"] == np.broadcast_to(costs, (wanted, states, actions))).all()
    assert (found["ends"] == np.broadcast_to(ends[..., following], (wanted, states, actions))).all()
    assert (found["left"] == np.broadcast_to(left, (wanted, states))).all()
    assert (found["starts"] == np.broadcast_to(start, (wanted,))).all()
    assert (table.following == following).all()
    assert (table.observations == sensed).all()


def test_costs_may_be_as_far_apart_as_a_table_holds() -> None:
    table = Table.of([[0]], [[0, 0, 0]], [[MAX_COST, MAX_COST, -MAX_COST]], [0])
    assert plain(table)["costs"].tolist() == [[[MAX_COST, MAX_COST, -MAX_COST]]]


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"costs": np.arange(70)[:, None]}, "steps differ in cost and end in 70 ways, at most 64 fit in a"),
        # event 0 has to be there, even if no step is plain
        ({"costs": np.arange(70)[:, None] % 64, "ends": np.ones(70, int)}, "steps differ in cost and end in"),
        ({"costs": np.zeros((2, 70, 1), int), "ends": np.zeros((3, 70), int)}, "costs is for 2 goals, other"),
        ({"costs": np.zeros((70, 2), int)}, "costs is array([[0, 0],"),
        ({"ends": [0, 1]}, "ends is [0, 1], expected whole numbers of the shape (70)"),
        ({"start": [0, 70]}, "start holds 70, expected numbers from 0 to 69"),
    ],
)
def test_costs_and_ends_that_make_no_table_are_refused(change: dict[str, Any], problem: str) -> None:
    right: dict[str, Any] = {
        "observations": np.zeros((70, 1), int),
        "following": np.zeros((70, 1), int),
        "costs": np.zeros((70, 1), int),
        "ends": np.zeros(70, int),
    }
    assert refused(lambda: Table.of(**{**right, **change})).startswith(problem)


# ---------------------------------------------------------------- what a task of a table says, and its file


def test_a_limit_is_the_most_steps() -> None:
    task = TableTask(Table(**ROOMS), name="rooms", limit=30)
    assert task.steps == 30
    task.begin(0, Settings(steps=30))
    for ask in (lambda: task.begin(0, Settings(steps=31)), lambda: task.table(Settings(steps=31))):
        with pytest.raises(
            InputError, match="steps is 31, but rooms ends an episode after 30; ask for no mo"
        ):
            ask()
    with pytest.raises(InputError, match="steps is 31, expected a whole number from 1 to 30"):
        TableTask(Table(**ROOMS), steps=31, limit=30)


def test_a_saved_table_is_loaded_as_it_was(tmp_path: Path) -> None:
    task = TableTask(
        Table(**{**ROOMS, "start": [1, 0]}), ["out", "shop"], name="rooms", steps=20, target=3.5, limit=40
    )
    task.save(tmp_path / "rooms.npz")
    again = TableTask.load(tmp_path / "rooms.npz")
    for name in ("goals", "name", "steps", "limit", "inputs", "outputs"):
        assert getattr(again, name) == getattr(task, name)
    assert again.target(Settings()) == 3.5
    there, here = (one.table(Settings(steps=9)) for one in (task, again))
    for name in ROOMS:
        assert np.array_equal(getattr(here, name), getattr(there, name))
    assert [path.name for path in tmp_path.iterdir()] == ["rooms.npz"]
    described = again.to_dict()
    assert described == {
        **task.to_dict(), "source": {"file": str(tmp_path / "rooms.npz")},
    }  # fmt: skip
    assert (described["states"], described["inputs"], described["outputs"]) == (2, 3, 4)
    other = TableTask(Table(**{**ROOMS, "start": [1, 1]}))
    assert other.to_dict()["digest"] != described["digest"]
    assert task.to_dict()["source"] is None


def damaged(tmp_path: Path, **change: Any) -> Path:
    """Write a file like that of a table, but for some entries; None leaves one out."""
    about = {
        "format": "distal-table", "version": 1, "name": "rooms", "goals": ["a", "b"], "steps": None,
        "target": None, "limit": None, "step_cost": 2,
    }  # fmt: skip
    said = {**about, **change.pop("about", {})}
    arrays = {name: ROOMS[name] for name in ROOMS if name != "step_cost"}
    entries = {"about": json.dumps(said), "start": [0, 0], **arrays, **change}
    path = tmp_path / "table.npz"
    kept: Any = {name: np.array(value) for name, value in entries.items() if value is not None}
    np.savez(path, **kept)
    return path


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"about": {"format": "other"}}, "format is 'other', expected 'distal-table'"),
        ({"about": {"version": 2}}, "version is 2, this release reads version 1"),
        ({"about": {"goals": ["a"]}}, "goals has 1 names, the table has 2 goals"),
        ({"about": {"colour": 3}}, "unknown field 'colour'"),
        ({"following": [[0, 1, 0, 9]] * 2}, "following holds 9, expected numbers from 0 to 1"),
        ({"left": [[0.5, 0], [0, 0]]}, "left is array([[0.5, 0. ]"),
        ({"ends": None}, "it holds ['about', 'costs', "),
        ({"costs": np.array([object()])}, "it is damaged"),
    ],
)
def test_a_file_that_holds_no_table_is_refused_in_one_line(
    change: dict[str, Any], problem: str, tmp_path: Path
) -> None:
    path = damaged(tmp_path, **change)
    assert refused(lambda: TableTask.load(path)).startswith(f"cannot read table {str(path)!r}: {problem}")


def test_a_file_that_is_cut_short_garbled_or_a_bomb_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert_damage_is_refused(damaged(tmp_path), TableTask.load)
    bomb = damaged(tmp_path, left=np.zeros((2, 10**6), int))
    monkeypatch.setenv("DISTAL_MEMORY", "1M")
    with pytest.raises(InputError, match=r"the numbers of the table need about 15\.3 MiB"):
        TableTask.load(bomb)


# ---------------------------------------------------------------- engines


@given(
    tables(),
    st.one_of(*(st.lists(kind, min_size=1, max_size=2) for kind in (rules, climbers, chances))),
    settings_of(max_hidden=12, max_steps=60),
    seeds,
)
@hypothesis_settings(max_examples=50)
def test_any_table_gives_the_same_bits(
    table: Table, learners: list[Learner], settings: Settings, seed: int
) -> None:
    batch = trials(TableTask(table), tuple(learners), settings, seed % 2**63)
    assert_equal_trials(
        cpu.run(batch, keep_weights=True, keep_ep=True, workers=1),
        reference.run(batch, keep_weights=True, keep_ep=True),
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


class Endless(Task[Any], Walk):
    """A task without a table, and with an EP that is given."""

    inputs, outputs, goals = 3, 4, ("only",)
    over, ep = False, 7

    def __init__(self, ep: Any = 7, table: Any = None) -> None:
        self.ep, self._table = ep, table

    def begin(self, goal: int, settings: Settings) -> Endless:
        return self

    def table(self, settings: Settings) -> Any:
        return self._table

    def sense(self) -> tuple[int, ...]:
        return (0, 1, 0)

    def act(self, action: int) -> None:
        pass


def test_more_than_64_inputs_run_on_the_reference_engine_alone() -> None:
    table = {**ROOMS, "observations": np.eye(2, 65, dtype=int)}
    batch = trials(TableTask(Table(**table)), (published_rules()[0],), Settings(hidden=2, steps=3))
    assert reference.run(batch, keep_weights=True).best.shape == (2, 8)
    with pytest.raises(InputError, match="65 inputs and 4 actions, compiled engines take at most 64 and 16"):
        cpu.run(batch)


@pytest.mark.parametrize("ep", [6.5, float("nan"), 2**31, None, "7"])
def test_an_ep_that_results_cannot_hold_is_refused(ep: object) -> None:
    batch = trials(Endless(ep), (Chance(0.1, 0.2),), Settings(hidden=2, steps=3))
    with pytest.raises(InputError, match=r"trial 0 \(goal only, seed .*the EP of an episode is"):
        reference.run(batch)


def test_a_table_that_is_none_or_has_too_few_goals_never_reaches_a_kernel() -> None:
    several = Endless(table=Table(**ROOMS))
    several.goals = ("0", "1", "2")  # type: ignore[assignment]
    batch = trials(several, (Chance(0.1, 0.2),), Settings(hidden=2, steps=3))
    with pytest.raises(InputError, match="the table of the task has 2 goals, the task 3"):
        cpu.run(batch)
    first = batch.part(0, 1)
    assert first.goal.tolist() == [0]
    with pytest.raises(InputError, match="the table of the task has 2 goals, the task 3"):
        cpu.run(replace(first, switch=Switch(1, (0, 2))))  # the second phase has the goal that is not there
    wide = Endless(table=Table(**{**ROOMS, "observations": [[0, 1], [1, 1]]}))
    with pytest.raises(InputError, match="task has 2 inputs and 4 actions, the task 3 and 4"):
        cpu.run(trials(wide, (Chance(0.1, 0.2),), Settings(hidden=2, steps=3)))
    with pytest.raises(InputError, match="the table of the task is 'x', expected a Table, or None"):
        cpu.run(trials(Endless(table="x"), (Chance(0.1, 0.2),), Settings(hidden=2, steps=3)))


@pytest.mark.parametrize(
    "source",
    [
        *(PACKAGE / one for one in SOURCES if "/cpu/" in one),
        Path(gpu.__file__).with_name("trials.cu"),
    ],
    ids=lambda source: source.name,
)
def test_kernels_know_nothing_of_mazes(source: Path) -> None:
    text = re.sub(r"(?m)^from distal.*", "", source.read_text().lower())  # the sizes of the paper's network
    words = {"maze", "mazes", "pit", "pits", "wall", "walls", "distance", "distances", "cell", "cells"}
    assert not words & set(re.findall(r"[a-z]+", text))


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"observations": [[0, 2, 0]] * 2}, "observations holds 2, expected numbers from 0 to 1"),
        ({"following": [[0, 1, 0, 2], [0] * 4]}, "following holds 2, expected numbers from 0 to 1"),
        ({"following": [[0] * 4] * 3}, "following is [[0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]], expected w"),
        ({"events": [[0, 0, 3, 0], [0] * 4]}, "events holds 3, expected numbers from 0 to 2"),
        ({"costs": [[1, 0, 0]] * 2}, "event 0 costs something or ends an episode, expected a step like any"),
        ({"ends": [[1, 0, 0]] * 2}, "event 0 costs something or ends an episode, expected a step like any o"),
    ],
)
def test_a_table_that_is_none_cannot_be_made(change: dict[str, Any], problem: str) -> None:
    assert refused(lambda: Table(**{**ROOMS, **change})).startswith(problem)


def test_a_table_keeps_a_copy_of_what_it_was_made_of() -> None:
    given = np.array(ROOMS["following"], np.int32)
    table = Table(**{**ROOMS, "following": given})
    given[:] = 10**6
    assert table.following.tolist() == ROOMS["following"]
