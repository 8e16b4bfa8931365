"""Scenes: the first of the best episodes so far, and what is said of it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from distal import HillClimbing, Settings, published_rule
from distal.engines import Batch, reference
from distal.learners import Learner
from distal.learners.chance import Chance
from distal.model.maze import LEFT, STOP, STRAIGHT
from distal.show import watch
from distal.show.scenes import GridWalk, Scene, scenes
from distal.tasks.mazes import MazeWalk
from distal.tasks.picture import Picture
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.batches import trials_of
from tests.mazes import T
from tests.show.pages import lake


def trial(learner: Learner, **settings: Any) -> Batch:
    return trials_of([learner], Settings(**settings), 40, seeds=np.ones(1, np.uint64)).part(3, 4)


@pytest.mark.parametrize("learner", [published_rule(1), HillClimbing(0.2, 0.2, 0.2), Chance(0.2, 0.2)])
@pytest.mark.parametrize("outputs", ["winner", "random"])
def test_a_scene_is_the_first_of_the_best_episodes_so_far(learner: Learner, outputs: str) -> None:
    batch = trial(learner, outputs=outputs)
    episodes = list(reference.episodes(batch, 0))
    for scene in scenes(batch, [1, 15, 40]):
        assert scene.kind == learner.kind
        best = min(episodes[: scene.after], key=lambda episode: episode.ep)  # min keeps the first
        assert isinstance(scene.walk, MazeWalk)
        assert scene.walk.cells == best.walk.cells
        assert scene.walk.headings == best.walk.headings
        assert scene.walk.ep == best.ep


def test_where_the_goal_moves_a_scene_is_the_best_since_then_towards_the_goal_of_its_phase() -> None:
    batch = replace(trial(HillClimbing(0.2, 0.2, 0.2)), switch=Switch(15, (3, 6, 0)))
    episodes = list(reference.episodes(batch, 0))
    found = scenes(batch, [10, 16, 40])
    for scene, first, goal in zip(found, (0, 15, 30), (3, 6, 0), strict=True):
        best = min(episodes[first : scene.after], key=lambda episode: episode.ep)
        assert isinstance(scene.walk, MazeWalk)
        assert (scene.walk.cells, scene.walk.ep, scene.walk.goal) == (best.walk.cells, best.ep, goal)
    titles = ["best of 10 episodes", "episode 16", "best of episodes 31 to 40"]
    assert [scene.caption(0)[0] for scene in found] == titles


def lake_trial(task: Any = None) -> Batch:
    (batch,) = watch.trials("chance", task=task or lake(), episodes=40, seed=2, hidden=6)
    return batch


def test_in_a_table_a_scene_is_the_first_of_the_best_episodes_so_far() -> None:
    batch = lake_trial()
    episodes = list(reference.episodes(batch, 0))
    moves = {0: (0, -1), 1: (1, 0), 2: (0, 1), 3: (-1, 0)}
    for scene in scenes(batch, [1, 40]):
        best = min(episodes[: scene.after], key=lambda episode: episode.ep)
        row, column, cells = 0, 0, [0]
        for action in best.actions:
            down, across = moves[action]
            row, column = min(max(row + down, 0), 3), min(max(column + across, 0), 3)
            cells.append(4 * row + column)
        assert isinstance(scene.walk, GridWalk)
        assert [scene.walk.picture.spot(state).cell for state in scene.walk.states] == cells
        assert (scene.walk.ep, scene.walk.reached) == (best.ep, cells[-1] == 15)


def test_in_a_table_whose_goal_moves_a_scene_begins_where_its_goal_does() -> None:
    table = Table.of([[0], [1], [0]], [[1, 2]] * 3, [[1, 1]] * 3, [0, 0, 1], start=[0, 1])
    task = TableTask(table, picture=Picture(["..G"], cells=[0, 1, 2]))
    (batch,) = watch.trials("chance", task=task, episodes=2, hidden=3, steps=4, switch=1)
    walks = [scene.walk for scene in scenes(batch, [1, 2])]
    assert [isinstance(walk, GridWalk) and walk.states[0] for walk in walks] == [0, 1]


def walk(goal: int, *actions: int) -> MazeWalk:
    walked = MazeWalk(T, goal, Settings(steps=4))
    for action in actions:
        walked.act(action)
    return walked


def test_a_caption_says_what_is_shown_and_how_it_ended() -> None:
    straight = Scene(1, walk(0, STRAIGHT, STRAIGHT, LEFT), "dsp")
    assert straight.caption(2) == ("the first episode", "step 2")
    assert straight.caption(3) == ("the first episode", "goal in 3 steps: EP 3")
    astray = Scene(1_000, walk(1, STRAIGHT, STRAIGHT, LEFT, STOP), "hc")
    # 4 steps, a pit (5), and from there 2 cells to the goal
    assert astray.caption(4) == ("best of 1,000 episodes", "goal not reached, 1 pit: EP 11")
    picture = Picture(["..G"], cells=[0, 1, 2])
    for reached, ending in ((True, "goal in 2 steps"), (False, "goal not reached"), (None, "2 steps")):
        scene = Scene(3, GridWalk(picture, (0, 1, 2), -4, reached), "hc")
        assert scene.caption(2) == ("best of 3 episodes", f"{ending}: EP -4")
