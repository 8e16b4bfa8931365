"""Online Hebbian learning: the weights change after every step, by the m of the episode before."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

import distal
from distal import InputError, OnlineHebbian, PlasticNetwork, Settings, learners
from distal.engines import reference
from distal.evaluation.trials import batch_of
from distal.learners import Memory, Trial
from distal.learners.online_hebbian import hebbian
from distal.show.scenes import scenes
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim
from tests.learners.by_hand import lived, tiny, weights
from tests.mazes import T

ONE = OnlineHebbian(0.5, 0.25, -0.5, 0.125, -1, 0, 0.5, 0, eta=0.5, alpha_h=0.2, alpha_o=0.2)
SETTINGS = Settings(hidden=4, steps=9)


def test_the_change_of_a_step_by_hand() -> None:
    pre, post = np.array([0, 1], np.uint8), np.array([0, 1], np.uint8)
    found = hebbian(pre, post, np.array([0.5, 0.25, -0.5, 0.125], np.float32))
    # rows: post 0 and 1; columns: pre 0 and 1
    assert found.tolist() == [[0.125, 0.375], [-0.375, 0.375]]


def test_a_step_by_hand() -> None:
    """The last step of the episode: input and bias 1, hidden neuron 0, output 1."""
    found = ONE.step(tiny(), Trial(), Memory(weights()), weights(), lived())
    assert found.hidden.tolist() == [[0.25 + 0.375 / 2, 0.5 + 0.375 / 2, 0, -0.25 + 0.375 / 2]]
    assert found.output.tolist() == [[0.5 - 0.375 / 2, -0.5 + 0.375 / 2]]


@pytest.mark.parametrize(("m", "change"), [(None, 0.375), (1, 0.375), (-1, 0)])
def test_m_is_that_of_the_episode_before_and_plus_one_at_first(m: int | None, change: float) -> None:
    memory = Memory(weights(), {} if m is None else {"ep": 3.0, "m": m})
    found = ONE.step(tiny(), Trial(), memory, weights(), lived())
    assert found.hidden[0, 0] == np.float32(0.25 + change / 2)


def test_after_an_episode_the_weights_are_those_of_its_last_step() -> None:
    last = weights([[1, 2, 0, 3]], [[4, 5]])
    found = ONE.update(tiny(), Trial(), Memory(weights(), {"ep": 4.0}), replace(lived(5), changed=last))
    assert found.weights is last
    assert (found.number("ep"), found.number("m")) == (5, -1)


def test_weights_are_normalised_after_every_step() -> None:
    found = ONE.step(tiny("neuron"), Trial(), Memory(weights()), weights(), lived())
    for matrix in vars(found).values():
        assert np.linalg.norm(matrix) == pytest.approx(1)


def test_a_loop_of_ones_own_gives_the_same_and_its_file_goes_on(tmp_path: object) -> None:
    stream = list(islice(learners.episodes(ONE, Aim(MazeTask(T), 0), SETTINGS, seed=3), 4))
    network, maze = PlasticNetwork(ONE, inputs=3, outputs=4, seed=3, settings=SETTINGS), MazeTask(T)
    for number, episode in enumerate(stream):
        if number == 2:
            network.save(f"{tmp_path}/network.json")
            network = PlasticNetwork.load(f"{tmp_path}/network.json")
        walk = maze.begin(0, SETTINGS)
        network.start_episode()
        while not walk.over and len(walk.cells) <= SETTINGS.steps:
            walk.act(network.act(walk.sense()))
        network.end_episode(ep=walk.ep)
        assert walk.ep == episode.ep


def test_a_film_shows_the_episode_itself_and_no_agent_is_made_of_weights_that_change() -> None:
    batch = batch_of(
        [ONE], np.zeros(1, np.uint64), trials=1, episodes=6, task=MazeTask(T), settings=SETTINGS
    ).part(0, 1)
    (scene,) = scenes(batch, [6], engine="reference")
    best = min(reference.episodes(batch, 0), key=lambda episode: episode.ep)
    assert isinstance(scene.walk, MazeWalk)
    assert scene.walk.cells == best.walk.cells
    result = distal.learn(
        ONE, maze=T, hidden=4, steps=9, trials=1, episodes=3, engine="reference", keep_weights=True
    )
    with pytest.raises(InputError, match="changes weights within an episode"):
        result.agent()
