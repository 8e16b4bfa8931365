"""The returns of an agent in an environment, and those of chance in the same episodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

from distal import Agent, EnvTask, Maze, Result, evaluate, learn, task_of
from distal.evaluation.evaluate import Evaluation
from distal.tasks.environment import MazeEnv
from tests.evaluation.test_agent import SHORT, Turns, returned
from tests.given import some
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")


@pytest.fixture(scope="module")
def balancing() -> Result:
    return learn("hc", task="CartPole-v1", **{**SHORT, "chance": False})


def test_the_same_seeds_give_the_same_numbers_with_chance_beside_them(balancing: Result) -> None:
    agent = balancing.agent()
    one = evaluate(agent, "CartPole-v1", episodes=12, seed=7)
    other = evaluate(agent, "CartPole-v1", episodes=12, seed=7)
    assert one.to_dict() == other.to_dict()
    assert one.returns.tolist() == other.returns.tolist()
    assert one.returns.tolist() == one.lengths.tolist()  # a pole gives 1 a step
    more = evaluate(agent, "CartPole-v1", episodes=6, seed=10, chance=False)
    assert more.returns.tolist() == one.returns[3:9].tolist()  # episode k resets with seed + k
    assert (more.chance, more.p, more.to_dict()["chance"]) == (None, None, None)
    assert evaluate(agent, "CartPole-v1", episodes=12, seed=8).returns.tolist() != one.returns.tolist()
    assert one.p == pytest.approx(stats.ttest_rel(one.returns, some(one.chance)).pvalue, rel=1e-5)
    low, high = one.interval
    assert low < one.mean < high
    assert "12 episodes, seed 7" in one.summary()
    assert "chance  " in one.summary()


def test_so_do_actions_that_are_drawn_whatever_the_agent_did_before() -> None:
    agent = learn("evolved:1", task=Turns, **SHORT, outputs="random").agent(0)
    one = evaluate(agent, Turns, episodes=6)
    returned(agent, Turns())
    other = evaluate(agent, Turns, episodes=6)
    assert one.returns.tolist() == other.returns.tolist()
    assert some(one.chance).tolist() == some(other.chance).tolist()
    assert len(set(one.returns.tolist())) > 1


def test_chance_is_a_network_with_fresh_weights_in_every_episode(balancing: Result) -> None:
    agent = balancing.agent()
    found = evaluate(agent, "CartPole-v1", episodes=3, seed=5)
    env = gymnasium.make("CartPole-v1")
    for k in range(3):
        weights = agent.network.fresh_weights(5, k)
        random = Agent(weights, agent.network, agent.encoder)
        observation, _ = env.reset(seed=5 + k)
        total, over = 0.0, False
        while not over:
            observation, reward, terminated, truncated, _ = env.step(random.act(observation))
            total, over = total + float(reward), terminated or truncated
        assert some(found.chance)[k] == total


def test_wrapped_environments_are_measured_as_they_are(balancing: Result) -> None:
    agent, wrappers = balancing.agent(), gymnasium.wrappers
    plain = evaluate(agent, "CartPole-v1", episodes=4)
    counted = wrappers.RecordEpisodeStatistics(gymnasium.make("CartPole-v1"))
    assert evaluate(agent, counted, episodes=4).returns.tolist() == plain.returns.tolist()
    assert sum(counted.length_queue) == plain.lengths.sum() + some(plain.chance).sum()
    double = wrappers.TransformReward(gymnasium.make("CartPole-v1"), lambda reward: 2 * float(reward))
    assert evaluate(agent, double, episodes=4).returns.tolist() == (2 * plain.returns).tolist()
    brief = wrappers.TimeLimit(gymnasium.make("CartPole-v1"), 5)
    assert evaluate(agent, brief, episodes=4).lengths.tolist() == [5] * 4


def test_episodes_that_do_not_end_are_cut_off_and_counted() -> None:
    agent = learn("evolved:1", task=Turns, **SHORT, steps=1).agent()
    found = evaluate(agent, Turns, episodes=3)
    assert (found.cut, found.lengths.tolist()) == (3, [1, 1, 1])
    assert "cut off before the environment ended them: 3 episodes" in found.summary()


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"agent": "evolved:1"}, "agent is 'evolved:1', expected an Agent, as Result.agent returns"),
        ({"env": "CliffWalking-v1"}, "the agent has 3 actions, from -1 on, the environment Discrete(4)"),
        ({"env": "Acrobot-v1"}, "the agent has 3 actions, from -1 on, the environment Discrete(3)"),
        ({"env": "Pendulum-v1"}, "the agent has 3 actions, from -1 on, the environment Box("),
        ({"env": "CartPol-v1"}, "cannot make environment 'CartPol-v1': "),
        ({"env": "compiled:CartPole"}, "env is 'compiled:CartPole', a task; an agent acts in a Gymnasium"),
        ({"seed": 2**31}, "seed is 2147483648, expected a whole number from 0 to 2147483647"),
        ({"options": {"a": 1}}, "Turns failed in reset: LookupError: no options here"),
        ({"env": lambda: Turns("nan")}, "the return of an episode is nan, expected a number; mend the env"),
        ({"env": lambda: Turns("text")}, "Turns failed in step: ValueError: could not convert string to fl"),
    ],
)
def test_what_cannot_be_measured_is_refused_in_one_line(given: dict[str, Any], problem: str) -> None:
    agent = learn("evolved:1", task=EnvTask(Turns), **SHORT).agent()
    asked = {"agent": agent, "env": Turns, "episodes": 2, **given}
    assert refused(lambda: evaluate(**asked)).startswith(problem)


def test_a_single_episode_has_no_interval_to_speak_of() -> None:
    alone = Evaluation(np.array([3.0]), np.array([2]), np.array([1.0]), 0)
    assert (alone.mean, alone.interval, alone.p) == (3, (3, 3), 1)


# ---------------------------------------------------------------- one goal of several


def test_an_agent_of_one_goal_is_measured_towards_each_and_says_so(tmp_path: Path) -> None:
    maze = Maze.from_text("#####\n#0S1#\n#####")
    result = learn("chance", maze=maze, trials=1, episodes=30, steps=4, hidden=4, keep_weights=True)
    agent = result.agent(1)  # its goal is 1, to the east: a step is enough
    agent.save(tmp_path / "agent.json")
    env = MazeEnv(maze, max_steps=4)
    for one in (agent, Agent.load(tmp_path / "agent.json")):
        found = evaluate(one, env, episodes=3)
        assert found.by_goal["1"] == -result.best[1, -1]
        assert (found.returns[3:] == found.by_goal["1"]).all()  # the episodes towards goal 0 come first
        assert found.by_goal["0"] < found.by_goal["1"]
        assert found.mean == (found.by_goal["0"] + found.by_goal["1"]) / 2
        lines = found.summary().splitlines()
        assert lines[0] == "6 episodes, seed 0; trained for goal 1 alone, tried towards all 2"
        assert lines[-2].startswith(f"goal 0: {found.by_goal['0']:.2f}, chance ")
        assert lines[-1].endswith("  (trained)")
        again = Evaluation.from_dict(found.to_dict(curves=True))
        assert again.summary() == found.summary()
    fixed = MazeEnv(maze, goal=1, max_steps=4)
    assert evaluate(agent, fixed, episodes=2).goals is None
    asked = evaluate(agent, env, episodes=2, options={"goal": 0})
    assert asked.goals is None
    assert asked.mean == found.by_goal["0"]


def test_starts_are_goals_to_an_agent(tmp_path: Path) -> None:
    task = task_of("Taxi-v4", starts=2)
    agent = learn("chance", task=task, trials=1, episodes=2, keep_weights=True).agent(0)
    found = evaluate(agent, "Taxi-v4", episodes=2, chance=False)
    assert list(found.by_goal) == ["0", "1"]
    assert len(found.returns) == 4
