"""REINFORCE: the gradient by hand and by differences, the advantage, and the networks that it refuses."""

from __future__ import annotations

import math
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError, PlasticNetwork, Reinforce, Settings, learners
from distal.learners import Memory, Trial
from distal.learners.reinforce import gradient
from distal.networks import Episode, Softmax, Weights
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim
from tests.mazes import T

ONE = Reinforce(0.0625, 0.25, 0.2, 0.2)
BEGINNING = Weights(np.zeros((1, 5), np.float32), np.array([[math.log(3), 0], [0, 0]], np.float32))


def small(**settings: Any) -> Softmax:
    """Return a network of one input, one hidden neuron and two outputs."""
    return Softmax(1, 2, Settings(hidden=1, network="softmax", **settings))


def lived(ep: float) -> Episode[Any]:
    """Return an episode of three steps: hidden neuron 1 1 0, action 0 1 1."""
    hidden, actions = np.array([[1], [1], [0]], np.uint8), (0, 1, 1)
    return Episode(
        BEGINNING, None, ep, actions, np.ones((3, 2), np.uint8), hidden, np.eye(2, dtype=np.uint8)[[*actions]]
    )


def test_the_gradient_by_hand() -> None:
    """With the hidden neuron the first action has ¾, without it ½.

    The three steps pull at the first output with ¼, −¾ and −½, at the second with the opposite; the
    hidden neuron was active in two of them.
    """
    found = gradient(small(), lived(5))
    assert found.dtype == np.float32
    assert found == pytest.approx(np.array([[-0.5, -1], [0.5, 1]]), rel=1e-6)


def test_the_gradient_is_that_of_the_log_probability_of_all_actions() -> None:
    """By differences, in double precision, at a network and an episode of the maze."""
    settings = Settings(hidden=4, steps=12, network="softmax")
    episode = next(learners.episodes(ONE, Aim(MazeTask(T), 0), settings, seed=3))
    sources = np.hstack([episode.hidden, episode.inputs[:, -1:]]).astype(float)

    def log_probability(output: Any) -> float:
        sums = sources @ output.T
        chosen = sums[np.arange(episode.steps), list(episode.actions)]
        return float((chosen - np.log(np.exp(sums).sum(axis=1))).sum())

    output, by_differences = episode.weights.output.astype(float), np.zeros((4, 5))
    for at in np.ndindex(4, 5):
        step = np.zeros((4, 5))
        step[at] = 1e-5
        by_differences[at] = (log_probability(output + step) - log_probability(output - step)) / 2e-5
    assert gradient(Softmax(settings=settings), episode) == pytest.approx(by_differences, abs=1e-4)


def test_updates_by_hand() -> None:
    """The first EP is the baseline; 2 below it is all that is known of distances, so the advantage is 1.

    Then the baseline is 5 − 2/4 = 4½; 5½ lies 1 above it, where 2 − ¼ = 1¾ is usual.
    """
    network, trial = small(), Trial()
    first = ONE.update(network, trial, Memory(BEGINNING), lived(5))
    assert first.kept == {"baseline": 5, "usual": 0}
    assert first.weights is BEGINNING
    better = ONE.update(network, trial, first, lived(3))
    assert better.kept == {"baseline": 4.5, "usual": 2}
    change = 0.0625 * np.array([[-0.5, -1], [0.5, 1]])
    assert better.weights.output == pytest.approx(BEGINNING.output + change, rel=1e-6)
    assert better.weights.hidden is BEGINNING.hidden
    worse = ONE.update(network, trial, better, lived(5.5))
    assert worse.kept == {"baseline": 4.75, "usual": 1.75}
    assert worse.weights.output == pytest.approx(BEGINNING.output - change / 1.75, rel=1e-6)


def test_as_long_as_every_ep_is_the_same_nothing_changes() -> None:
    memory = Memory(BEGINNING)
    for _ in range(3):
        memory = ONE.update(small(), Trial(), memory, lived(5))
    assert memory.kept == {"baseline": 5, "usual": 0}
    assert memory.weights is BEGINNING


def test_a_reward_that_is_turned_round_lies_as_far_on_the_other_side_of_the_baseline() -> None:
    before = Memory(BEGINNING, {"baseline": 5.0, "usual": 2.0})
    turned = ONE.update(small(flip=1), Trial(), before, lived(3))
    same = ONE.update(small(), Trial(), before, lived(7))
    assert turned.kept == same.kept
    assert (turned.weights.output == same.weights.output).all()


def test_an_action_that_is_rewarded_becomes_likely() -> None:
    network = PlasticNetwork(Reinforce(0.1, 0.1, 0.2, 0.2), inputs=1, outputs=2, network="softmax", seed=1)
    rewards = []
    for _ in range(200):
        network.start_episode()
        rewards.append(network.act([1]))
        network.end_episode(reward=rewards[-1])
    assert sum(rewards[-50:]) > 45


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({}, "network is 'recurrent', but reinforce trains 'softmax' alone; write network='softmax'"),
        (
            {"network": "softmax", "neurons": "sigmoid"},
            "neurons is 'sigmoid', but reinforce trains 'binary' ones alone; write neurons='binary'",
        ),
    ],
)
def test_a_network_without_the_gradient_is_refused_before_any_work(settings: Any, problem: str) -> None:
    for call in (
        lambda: distal.learn("reinforce", maze=T, trials=1, episodes=2, **settings),
        lambda: distal.evolve("reinforce", maze=T, runs=1, generations=1, **settings),
        lambda: PlasticNetwork("reinforce", inputs=3, outputs=4, **settings),
    ):
        with pytest.raises(InputError, match=problem):
            call()


def test_a_trial_follows_the_update() -> None:
    task, settings = Aim(MazeTask(T), 0), Settings(hidden=4, steps=9, network="softmax")
    network = Softmax(settings=settings, alpha_h=0.2, alpha_o=0.2)
    memory = Memory(network.fresh_weights(3, 0))
    for episode in islice(learners.episodes(ONE, task, settings, seed=3), 12):
        assert (episode.weights.output == memory.weights.output).all()
        memory = ONE.update(network, Trial(3), memory, episode)


def test_it_keeps_the_promises_of_a_learner_and_its_learning_rate_has_a_range_of_its_own() -> None:
    distal.check_learner(ONE)
    assert Reinforce.from_genes((), (0.5, 0.25, 0.75, 1)) == Reinforce(0.05, 0.25, 0.75, 1)
    with pytest.raises(InputError, match=r"eta is 0\.2, expected a number from 0 to 0\.1"):
        Reinforce(0.2, 0.25, 0.75, 1)


def test_a_network_goes_on_from_its_file(tmp_path: Path) -> None:
    one = PlasticNetwork(ONE, inputs=1, outputs=2, network="softmax", seed=3)

    def live(network: PlasticNetwork, ep: float) -> None:
        network.start_episode()
        network.act([1])
        network.end_episode(ep=ep)

    for ep in (3, 1, 4):
        live(one, ep)
    one.save(tmp_path / "network.json")
    other = PlasticNetwork.load(tmp_path / "network.json")
    for network in (one, other):
        live(network, 1)
    assert (one.weights.output == other.weights.output).all()
