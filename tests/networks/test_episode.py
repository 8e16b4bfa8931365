"""An episode: the walk, its EP, its record."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from distal.model import draws
from distal.model.maze import LEFT, STOP, STRAIGHT, Maze
from distal.model.settings import Settings
from distal.networks import Recurrent, Weights, run_episode
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim
from tests.mazes import T
from tests.reflex import reflex, walk
from tests.strategies import mazes, seeds, settings_of, unit


def test_the_goal_ends_the_episode_and_ep_is_the_steps_taken() -> None:
    episode = walk(reflex(), T, goal=0)
    assert episode.actions == (STRAIGHT, STRAIGHT, LEFT)
    assert episode.walk.cells == [(3, 2), (2, 2), (1, 2), (1, 1)]
    assert (episode.ep, episode.walk.reached, episode.walk.pits, episode.steps) == (3, True, 0, 3)


def test_a_pit_costs_five_and_does_not_end_the_episode() -> None:
    episode = walk(reflex(), T, goal=1)
    # into pit 0, a blocked turn inside it, out again and straight into the goal
    assert episode.actions == (STRAIGHT, STRAIGHT, LEFT, LEFT, LEFT, STRAIGHT)
    assert episode.walk.cells[3:] == [(1, 1), (1, 1), (1, 2), (1, 3)]
    assert (episode.ep, episode.walk.reached, episode.walk.pits) == (6 + 5, True, 1)


def test_with_blocked_stay_the_same_agent_is_caught_in_the_pit() -> None:
    episode = walk(reflex(), T, goal=1, blocked="stay")
    assert episode.walk.cells[3:] == [(1, 1)] * 98
    # 100 steps, 2 cells from the goal, one pit entry: standing in it counts once
    assert (episode.ep, episode.steps) == (100 + 2 + 5, 100)
    assert (episode.walk.reached, episode.walk.pits) == (False, 1)


def test_a_pit_counts_again_each_time_it_is_entered() -> None:
    corridor = Maze.from_text("######\n#1S0.#\n######", heading="east")
    episode = walk(reflex(), corridor, goal=1)
    # through the pit to the end, two left turns, back through the pit, past the start to the goal
    assert [cell[1] for cell in episode.walk.cells] == [2, 3, 4, 4, 3, 2, 1]
    assert (episode.ep, episode.walk.pits) == (6 + 10, 2)


def test_an_agent_that_stops_has_ep_n_steps_plus_its_distance() -> None:
    episode = walk(Weights(np.zeros((1, 9), np.float32), np.zeros((4, 2), np.float32)), T, goal=1, steps=7)
    assert episode.actions == (STOP,) * 7  # all sums equal: the first output wins
    assert (episode.ep, episode.walk.reached) == (7 + 3, False)


def test_the_goal_may_be_reached_in_the_very_last_step() -> None:
    assert walk(reflex(), T, goal=0, steps=3).ep == 3
    assert walk(reflex(), T, goal=0, steps=2).ep == 2 + 1


def test_the_record_holds_the_activations_of_every_step() -> None:
    episode = walk(reflex(), T, goal=0)
    assert episode.inputs.tolist() == [[1, 0, 1, 1], [1, 0, 1, 1], [0, 1, 0, 1]]
    assert episode.hidden.tolist() == [[0], [0], [1]]
    assert episode.outputs.tolist() == [[0, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0]]


def test_random_actions_use_the_word_of_their_step() -> None:
    silent = Weights(np.zeros((1, 9), np.float32), np.zeros((4, 2), np.float32))
    settings = Settings(hidden=1, outputs="random", steps=50)
    episode = run_episode(Recurrent(settings=settings), silent, Aim(MazeTask(T)), seed=12, episode=34)
    words = draws.words(12, draws.ACTION, 34, range(1), 50)[0]
    assert episode.actions == tuple(int(word) >> 30 for word in words[: episode.steps])


@given(mazes(), settings_of(), seeds, unit, unit, st.data())
def test_the_record_of_any_episode_is_consistent(
    maze: Maze, settings: Settings, seed: int, alpha_h: float, alpha_o: float, data: st.DataObject
) -> None:
    goal = data.draw(st.integers(0, len(maze.finals) - 1))
    network = Recurrent(settings=settings, alpha_h=alpha_h, alpha_o=alpha_o)
    task = Aim(MazeTask(maze), goal)
    episode = run_episode(network, network.fresh_weights(seed, 0), task, seed, 0)
    assert 1 <= episode.steps <= settings.steps
    assert not any(maze.walls[cell] for cell in episode.walk.cells)
    assert episode.walk.reached == (episode.walk.cells[-1] == maze.finals[goal])
    assert maze.finals[goal] not in episode.walk.cells[:-1]
    entries = [
        new in maze.finals and new != maze.finals[goal] and new != old
        for old, new in zip(episode.walk.cells, episode.walk.cells[1:], strict=False)
    ]
    assert episode.walk.pits == sum(entries)
    left = 0 if episode.walk.reached else int(maze.distances[goal][episode.walk.cells[-1]])
    assert episode.ep == (episode.steps if episode.walk.reached else settings.steps + left) + 5 * sum(entries)
    if settings.outputs == "winner":
        assert (episode.outputs.sum(axis=1) == 1).all()
        assert episode.outputs.argmax(axis=1).tolist() == list(episode.actions)
