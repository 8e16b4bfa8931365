"""What every network has: a choice of its action, a shape that fits its weights, a word, a checker."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
import pytest

import distal
from distal import InputError, Settings, networks
from distal.model.maze import LEFT, RIGHT, STOP, STRAIGHT
from distal.networks import (
    LAYERS,
    Network,
    Recurrent,
    State,
    Sums,
    Weights,
    check_network,
    choose,
    ordered_sum,
    psi,
)
from distal.networks.network import Word
from distal.tasks.environment import MazeEnv
from tests.mazes import T


def no_word() -> np.uint32:
    raise AssertionError("a reading that draws nothing asked for a random word")


def drawing(word: np.uint32) -> Word:
    return lambda: word


def test_winner_takes_the_largest_sum_and_the_first_if_equal() -> None:
    assert choose(np.array([-3, -1, -2, -1], np.float32), "winner", no_word)[0] == LEFT
    action, active = choose(np.array([1, 5, 5, 2], np.float32), "winner", no_word)
    assert (action, active.tolist()) == (LEFT, [0, 1, 0, 0])


def test_binary_acts_by_the_largest_sum_but_activates_all_positive_ones() -> None:
    action, active = choose(np.array([1, 0, 3, 2], np.float32), "binary", no_word)
    assert (action, active.tolist()) == (RIGHT, [1, 0, 1, 1])
    action, active = choose(np.array([-1, -2, -3, -0.5], np.float32), "binary", no_word)
    assert (action, active.tolist()) == (STRAIGHT, [0, 0, 0, 0])


def test_random_draws_from_the_active_outputs_or_from_all_when_none_is_active() -> None:
    words = [np.uint32(k * 2**30 + 5) for k in range(4)]
    sums = np.array([-1, 2, 0, 1], np.float32)
    assert [choose(sums, "random", drawing(word))[0] for word in words] == [LEFT, LEFT, STRAIGHT, STRAIGHT]
    assert choose(sums, "random", lambda: words[0])[1].tolist() == [0, 1, 0, 1]
    silent = np.array([-1, -1, 0, -1], np.float32)
    assert [choose(silent, "random", drawing(word))[0] for word in words] == [STOP, LEFT, RIGHT, STRAIGHT]
    assert choose(silent, "random", lambda: words[0])[1].tolist() == [0, 0, 0, 0]


def test_a_value_that_nobody_has_code_for_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="outputs is 'loudest', but there is code for winner, binary"):
        choose(np.zeros(4, np.float32), "loudest", no_word)
    with pytest.raises(InputError, match="trace_pre is 'next', but there is code for current, previous"):
        networks.before(np.zeros((3, 2), np.uint8), "next")


class FeedForward(Network):
    """Hidden neurons see the inputs alone."""

    kind: ClassVar[str] = "feedforward"
    label: ClassVar[str] = "a feed-forward network"

    @property
    def columns(self) -> tuple[int, int]:
        return self.inputs + 1, self.hidden + 1

    def propagate(self, weights: Weights, state: State, inputs: Any) -> Sums:
        active = psi(ordered_sum(weights.hidden * inputs))
        return Sums(active, active, ordered_sum(weights.output * np.append(active, np.uint8(1))))

    def sources(self, record: Any, trace_pre: str) -> tuple[Any, Any]:
        return record.inputs, np.hstack([record.hidden, record.inputs[:, -1:]])


@pytest.fixture
def registered() -> Iterator[None]:
    networks.register(FeedForward)
    yield
    networks.unregister("feedforward")


SHORT: Any = {"maze": T, "steps": 12, "hidden": 4, "episodes": 15, "trials": 2, "network": "feedforward"}


@pytest.mark.usefixtures("registered")
def test_an_inspection_counts_the_synapses_of_a_second_network_into_hidden_neurons_and_outputs() -> None:
    found = distal.inspect("evolved:1", engine="reference", **SHORT)
    counts = dict(zip(LAYERS, found.usage.counts.sum(axis=(0, 2)).tolist(), strict=True))
    updates = 14 * len(found.result.best)
    assert counts == {
        "inputs": 4 * 4 * updates,
        "recurrent": 0,
        "feedback": 0,
        "outputs": 4 * 5 * updates,
        "biases": 0,
    }


@pytest.mark.usefixtures("registered")
def test_a_second_network_learns_and_its_agent_walks_as_the_trial_did() -> None:
    result = distal.learn("evolved:1", engine="reference", keep_weights=True, keep_ep=True, **SHORT)
    assert result.weights(0).hidden.shape == (4, 4)  # three inputs and a bias: nothing comes back
    assert isinstance(result.agent().network, FeedForward)
    assert result.to_dict()["network"] == "feedforward"
    agent = result.agent(3)
    env = MazeEnv(T, max_steps=12)
    observation, _ = env.reset(options={"goal": int(result.goals[3, 0])})
    over, info = False, dict[str, Any]()
    while not over:
        observation, _, terminated, truncated, info = env.step(np.int64(agent.act(observation)))
        over = terminated or truncated
    assert info["ep"] == result.best[3, -1]


def test_a_word_that_nobody_registered_is_refused() -> None:
    with pytest.raises(
        InputError, match="network is 'feedforward', expected one of recurrent, softmax; a net"
    ):
        distal.learn("evolved:1", engine="reference", **SHORT)


def broken(**parts: Any) -> type[Network]:
    return type("Broken", (FeedForward,), {"kind": "broken", **parts})


@pytest.mark.parametrize(
    ("parts", "problem"),
    [
        ({"columns": property(lambda self: (0, 1))}, "columns is .0, 1., expected two numbers from 1 on"),
        ({"columns": property(lambda self: (self.inputs + 9, 2))}, "Broken fails with .*not be broadcast"),
        (
            {"sources": lambda self, record, trace_pre: (record.inputs, record.hidden)},
            r"Broken.sources\(\) gives \(5, 1\) for output, expected bits \(5, 2\)",
        ),
        ({"start": lambda self: None}, r"start\(\) gives no State"),
        ({"synapses": lambda self: (np.ones((1, 1), bool),) * 2}, r"synapses\(\) gives bool \(1, 1\)"),
        (
            {"fresh_weights": lambda self, seed, episode: self.weights(
                *(np.random.default_rng().random(shape, np.float32) for shape in self.shapes)
            )},
            "gives other weights the second time",
        ),
        ({"layers": (("inputs",), ("bias",))}, r"layers gives \('inputs',\), expected one of inputs, rec"),
        ({"label": None}, "label of Broken is None, expected text"),
        ({"kind": "recurrent"}, "kind 'recurrent' of Broken belongs to Recurrent; choose another"),
    ],
)  # fmt: skip
def test_a_class_that_breaks_a_promise_is_not_registered(parts: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        networks.register(broken(**parts))
    assert list(networks.NETWORKS) == ["recurrent", "softmax"]


def test_the_networks_of_the_package_keep_their_promises_and_stay() -> None:
    check_network(Recurrent)
    with pytest.raises(InputError, match="Network has no columns, propagate, sources, which every network"):
        check_network(Network)
    with pytest.raises(InputError, match="kind is 'recurrent', expected one of"):
        networks.unregister("recurrent")


def test_weights_of_another_shape_are_refused() -> None:
    weights = Recurrent(settings=Settings(3)).fresh_weights(0, 0)
    with pytest.raises(InputError, match=r"the weights have the shapes \(3, 11\) and \(4, 4\), expected"):
        Recurrent(settings=Settings(2)).weights(weights.hidden, weights.output)


def test_a_scale_that_is_none_is_refused() -> None:
    with pytest.raises(InputError, match="tau is not a scale of network 'recurrent'; its scales are"):
        Recurrent(tau=0.5)
