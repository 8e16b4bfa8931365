"""Actions of any space as outputs of a network."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distal
from distal import EnvTask, InputError, PlasticNetwork, Settings
from distal.tasks.actions import actions_of_space
from tests.given import some
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

from gymnasium.spaces import Box, Dict, Discrete, MultiBinary, MultiDiscrete  # noqa: E402


class Given(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """Records the actions that it is given; an episode has two steps, the sum of an action is its reward."""

    def __init__(self, space: Any) -> None:
        self.observation_space, self.action_space = Discrete(2), space
        self.given: list[Any] = []

    def reset(self, **given: Any) -> tuple[int, dict[str, Any]]:
        self.steps = 0
        return 0, {}

    def step(self, action: Any) -> tuple[int, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        self.given.append(action)
        self.steps += 1
        return self.steps % 2, float(np.sum(action)), self.steps == 2, False, {}


@pytest.mark.parametrize(
    ("space", "word", "expected"),
    [
        (Discrete(3, start=4), None, [4, 5, 6]),
        (MultiDiscrete([2, 3]), None, [[0, 0], [0, 1], [0, 2], [1, 0], [1, 1], [1, 2]]),
        (MultiDiscrete([2, 1], start=[3, -1]), None, [[3, -1], [4, -1]]),
        (MultiBinary(2), None, [[0, 0], [0, 1], [1, 0], [1, 1]]),
        (Box(-2, 2, (1,)), "bins:3", [[-2.0], [0.0], [2.0]]),
        (Box(0, 1, ()), "bins:2", [0.0, 1.0]),
        (
            Box(np.array([0, -1]), np.array([1, 1]), dtype=np.float64),
            "bins:2",
            [[0, -1], [0, 1], [1, -1], [1, 1]],
        ),
        (Box(0, 10, (1,), np.int64), "bins:3", [[0], [5], [10]]),
        (Box(0, 1, (1,), np.int64), "bins:3", [[0], [1]]),  # there are no more
    ],
)
def test_outputs_are_actions_of_the_space(space: Any, word: str | None, expected: list[Any]) -> None:
    made = actions_of_space(space, word)
    actions = [made[number] for number in range(made.count)]
    assert [np.asarray(action).tolist() for action in actions] == expected
    assert all(action in space for action in actions)
    assert len(made.names) == made.count


def test_actions_are_called_by_their_numbers() -> None:
    assert actions_of_space(Box(-1, 1, (1,)), "bins:3").names == ("-1", "0", "1")
    assert actions_of_space(MultiDiscrete([1, 2])).names == ("(0, 0)", "(0, 1)")


@pytest.mark.parametrize(
    ("space", "word", "problem"),
    [
        (Box(-1, 1, (1,)), None, "chooses among a few; pass actions='bins:3' for 3 values"),
        (Box(-1, 1, (4,)), "bins:3", "4 numbers, and bins are for up to 3; wrap the environment"),
        (Box(-np.inf, 1, (1,)), "bins:3", "infinite bounds cannot be divided evenly; wrap the environment"),
        (Box(-1, 1, (3,)), "bins:17", "there are 4913 actions, all combinations of 3 numbers, at most 4096"),
        (Box(-1, 1, (1,)), "binary", "actions is 'binary', expected 'bins:N', such as bins:3"),
        (Discrete(2), "bins:3", "actions is 'bins:3', which is for a Box, not for Discrete(2); leave it out"),
        (Dict({"a": Discrete(2)}), None, "expected Discrete, MultiDiscrete, MultiBinary or a Box; wrap the"),
    ],
)
def test_actions_that_a_network_cannot_choose_are_refused(space: Any, word: str | None, problem: str) -> None:
    assert problem in refused(lambda: actions_of_space(space, word))


def test_an_environment_is_given_the_actions_of_its_space_and_may_change_them() -> None:
    env = Given(Box(-2, 2, (1,)))
    walk = EnvTask(env, actions="bins:3").begin(0, Settings())
    walk.act(2)
    env.given[0] += 5  # what an environment does to an action is its own affair
    walk.act(2)
    assert env.given[1].tolist() == [2.0]
    assert walk.ep == -4.0


@pytest.mark.parametrize(("space", "word"), [(Box(-2, 2, (1,)), "bins:3"), (MultiDiscrete([2, 2]), None)])
def test_the_best_network_acts_as_its_environment_wants_also_from_a_file(
    space: Any, word: str | None, tmp_path: Any
) -> None:
    for tabulated in (False, None):  # a table knows the actions of its environment
        env = Given(space)
        task = distal.task_of(env, actions=word, tabulated=tabulated)
        result = distal.learn("chance", task=task, trials=3, episodes=9, keep_weights=True, hidden=4)
        agent = result.agent()
        agent.save(tmp_path / "agent.json")
        again = distal.Agent.load(tmp_path / "agent.json", env)
        for one in (agent, again):
            found = distal.evaluate(one, env, episodes=2)
            assert found.mean == -result.best.min()  # nothing is left to chance
        assert distal.evaluate(agent, env, episodes=2, chance=False).returns.tolist() == [found.mean] * 2
    with pytest.raises(InputError, match=r"name it: Agent.load\(path, env\)"):
        distal.Agent.load(tmp_path / "agent.json")
    with pytest.raises(InputError, match="the agent has other actions than the environment, MultiDiscrete"):
        distal.evaluate(agent, Given(MultiDiscrete([4, 3])))


def test_a_plastic_network_acts_in_a_loop_of_ones_own_as_its_environment_wants() -> None:
    env = Given(Box(-2, 2, (1,)))
    network = PlasticNetwork("paper:1", task=distal.task_of(env, actions="bins:3", tabulated=False))
    network.start_episode()
    assert network.act(0) in env.action_space


@pytest.mark.parametrize("name", ["Pendulum-v1", "MountainCarContinuous-v0"])
def test_continuous_control_runs_and_is_made_again(name: str) -> None:
    from distal.tasks.sources import rebuilt

    task = distal.task_of(name, actions="bins:3")
    assert task.outputs == 3
    data = some(task.to_dict())
    assert data["actions"] == "bins:3"
    again = rebuilt(data)
    one, other = (
        distal.learn("paper:1", task=each, trials=2, episodes=2, steps=9, hidden=3) for each in (task, again)
    )
    assert one.best.tolist() == other.best.tolist()
