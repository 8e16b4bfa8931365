"""A plastic network: in one's own loop it does what `learn` does, to the bit; a file keeps it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import distal
from distal import HillClimbing, InputError, PlasticNetwork, Settings
from distal.learners import Memory
from distal.tasks.environment import MazeEnv
from tests.given import some
from tests.mazes import T

LEARNERS = ("evolved:1", HillClimbing(0.4, 0.2, 0.3), "chance")


def in_maze(network: PlasticNetwork, goals: np.ndarray[Any, Any], every: int, episodes: int) -> list[int]:
    """Let a network learn in the maze's environment; return the EP of every episode."""
    env, eps = MazeEnv(T, max_steps=network.network.settings.steps), []
    for number in range(network.episode, network.episode + episodes):
        observation, info = env.reset(options={"goal": int(goals[number // every])})
        network.start_episode()
        over = False
        while not over:
            action = network.act(observation)
            observation, _, terminated, truncated, info = env.step(np.int64(action))
            over = terminated or truncated
        network.end_episode(ep=info["ep"])
        eps.append(info["ep"])
    return eps


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("outputs", ["winner", "random"])
def test_a_loop_of_ones_own_gives_the_eps_of_a_trial(learner: Any, outputs: str) -> None:
    settings: Any = {"steps": 20, "hidden": 5, "outputs": outputs}
    result = distal.learn(learner, maze=T, trials=2, episodes=30, resample=13, keep_ep=True, **settings)
    assert result.engine == "cpu"  # so it is compared with compiled code
    for trial in (1, 2):
        network = PlasticNetwork(
            learner, inputs=3, outputs=4, seed=int(result.seeds[trial]), resample=13,
            settings=Settings(**settings),
        )  # fmt: skip
        assert in_maze(network, result.goals[trial], 30, 30) == some(result.ep)[trial].tolist()


@pytest.mark.parametrize("learner", LEARNERS)
def test_where_the_goal_moves_the_learner_is_told_by_switch(learner: Any) -> None:
    settings = Settings(hidden=5, steps=15)
    result = distal.learn(learner, maze=T, trials=1, episodes=21, switch=6, keep_ep=True, steps=15, hidden=5)
    network = PlasticNetwork(
        learner, inputs=3, outputs=4, seed=int(result.seeds[0]), switch=6, settings=settings
    )
    assert in_maze(network, result.goals[0], 6, 21) == some(result.ep)[0].tolist()


@pytest.mark.parametrize("learner", ["evolved:1", "hc"])
def test_with_a_task_it_takes_raw_observations_and_hears_a_reward(learner: str) -> None:
    task = distal.EnvTask("CartPole-v1", encode="bins:2:quantiles")
    result = distal.learn(learner, task=task, trials=1, episodes=6, hidden=5, keep_ep=True, chance=False)
    seed = int(result.seeds[0])
    network = PlasticNetwork(learner, task=task, seed=seed, hidden=5)
    env, eps = gymnasium.make("CartPole-v1"), []
    for episode in range(6):
        observation, _ = env.reset(seed=seed % 2**31 if episode == 0 else None)
        network.start_episode()
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(network.act(observation))
            total, over = total + float(reward), terminated or truncated
        network.end_episode(reward=total)
        eps.append(-total)
    assert eps == some(result.ep)[0].tolist()


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_saved_network_goes_on_as_if_it_had_not_stopped(learner: Any, tmp_path: Path) -> None:
    def fresh() -> PlasticNetwork:
        return PlasticNetwork(learner, inputs=3, outputs=4, seed=8, resample=9, hidden=5, steps=12)

    goals, whole, stopped = np.zeros(1, np.int32), fresh(), fresh()
    expected = in_maze(whole, goals, 99, 16)
    eps = in_maze(stopped, goals, 99, 7)
    stopped.save(tmp_path / "network.json")
    again = PlasticNetwork.load(tmp_path / "network.json")
    assert again.weights.hidden.tobytes() == stopped.weights.hidden.tobytes()
    assert eps + in_maze(again, goals, 99, 9) == expected
    assert again.weights.output.tobytes() == whole.weights.output.tobytes()


def test_an_array_that_a_learner_remembers_is_kept_in_its_file(tmp_path: Path) -> None:
    network = PlasticNetwork("evolved:1", inputs=2, outputs=2, hidden=3)
    traces = np.array([[0.1, 0.7]], np.float32)
    # A private field: none of our learners has an array yet.
    network._memory = Memory(network.weights, {"traces": traces})
    network.save(tmp_path / "network.json")
    found = PlasticNetwork.load(tmp_path / "network.json")._memory.kept["traces"]
    assert isinstance(found, np.ndarray)
    assert (found.dtype, found.tobytes()) == (traces.dtype, traces.tobytes())


def test_a_network_of_a_task_is_loaded_with_its_task(tmp_path: Path) -> None:
    task = distal.EnvTask("CartPole-v1", encode="bins:2:quantiles")
    PlasticNetwork("evolved:1", task=task, hidden=5).save(tmp_path / "network.json")
    with pytest.raises(InputError, match=r"observations of an environment; give it: PlasticNetwork.load"):
        PlasticNetwork.load(tmp_path / "network.json")
    with pytest.raises(InputError, match="its observations were encoded in another way than in this task"):
        PlasticNetwork.load(
            tmp_path / "network.json", distal.EnvTask("CartPole-v1", encode="bins:3:quantiles")
        )
    assert PlasticNetwork.load(tmp_path / "network.json", task).network.inputs == task.inputs


def network(**given: Any) -> PlasticNetwork:
    return PlasticNetwork(**{"learner": "evolved:1", "inputs": 3, "outputs": 4, **given})


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"inputs": None}, "neither a task nor the numbers of inputs and outputs are given; add one"),
        ({"task": T}, "task is given with inputs or outputs; leave these out, the task sets them"),
        ({"settings": Settings(), "hidden": 4}, "settings is given with hidden; give the settings or"),
        ({"outputs": "random"}, "outputs is 'random', expected the number of actions; a reading of"),
        ({"hiden": 4}, "unknown keyword 'hiden', .*did you mean 'hidden'"),
        ({"network": "feedforward"}, "network is 'feedforward', expected one of recurrent"),
    ],
)
def test_a_wrong_argument_is_refused(given: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        network(**given)


def test_acting_and_ending_need_an_episode() -> None:
    one = network()
    for call in (lambda: one.act([0, 0, 0]), lambda: one.end_episode(ep=3)):
        with pytest.raises(InputError, match="no episode has begun; call start_episode first"):
            call()
    one.start_episode()
    with pytest.raises(InputError, match="an episode is under way; call end_episode before save"):
        one.save("network.json")
    with pytest.raises(InputError, match="episode 0 has no step; act at least once before it ends"):
        one.end_episode(ep=3)
    with pytest.raises(InputError, match=r"an observation is \[0, 2, 0\], expected 3 bits"):
        one.act([0, 2, 0])
    one.act([0, 1, 0])
    for both in ({}, {"ep": 1, "reward": 1}):
        with pytest.raises(InputError, match=r"either ep .lower is better. or reward .higher is better."):
            one.end_episode(**both)
    one.end_episode(ep=3)
    assert (one.episode, repr(one).endswith("episode 1)")) == (1, True)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"format": "distal-agent"}, "format is 'distal-agent', expected 'distal-plastic-network'"),
        ({"trial": {"seed": 1}}, "trial is .*, expected seed, resample, phase, phases"),
        ({"weights": {"hidden": [[1.0]], "output": [[1.0]]}}, r"the weights have the shapes \(1, 1\)"),
        ({"weights": 3}, "weights is 3.0, expected two matrices"),
        ({"inputs": 0}, "inputs is 0, expected a whole number"),
    ],
)
def test_a_damaged_file_is_refused_in_one_line(change: Any, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "network.json"
    path.write_text(json.dumps({**network().to_dict(), **change}))
    with pytest.raises(InputError, match=rf"plastic network file '.*network\.json': .*{problem}"):
        PlasticNetwork.load(path)
