"""Agents: what a trial learned acts on its own, and is kept in a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from distal import Agent, EnvTask, HillClimbing, InputError, Settings, evaluate, learn, task_of
from distal.networks import Recurrent
from distal.tasks.environment import MazeEnv
from tests.mazes import T
from tests.refusals import refused

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

DRY = {"is_slippery": False}
SHORT: Any = {"trials": 3, "episodes": 20, "hidden": 5, "seed": 4, "keep_weights": True, "chance": False}


class Turns(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """Seven places with actions from −1 on, rewards of its own for each; no chance."""

    def __init__(self, mood: str = "calm") -> None:
        self.observation_space = gymnasium.spaces.Discrete(7, start=3)
        self.action_space = gymnasium.spaces.Discrete(3, start=-1)
        self.mood = mood

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        if options:
            raise LookupError("no options here\nat all")
        self.place = 0
        return 3, {}

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        self.place = (2 * self.place + int(action) + 3) % 7
        reward: Any = float(self.place * 5 % 7) - 2.5
        if self.mood == "nan":
            reward = float("nan")
        elif self.mood == "text":
            reward = "much"
        return 3 + self.place, reward, self.place == 6, False, {}


def high(observation: Any) -> list[int]:
    return [int(observation > 5), int(observation % 2)]


def returned(agent: Agent, env: Any, options: Any = None) -> float:
    """Return what an agent gets in one episode, counted here."""
    agent.reset()
    observation, _ = env.reset(seed=0, options=options)
    total, steps, over = 0.0, 0, False
    while not over and steps < agent.settings.steps:
        observation, reward, terminated, truncated, _ = env.step(agent.act(observation))
        total, steps, over = total + float(reward), steps + 1, terminated or truncated
    return total


# ---------------------------------------------------------------- it acts as it did


@pytest.mark.parametrize("outputs", ["winner", "binary", "random"])
@pytest.mark.parametrize("trial", range(6))
def test_in_a_maze_an_agent_acts_as_in_the_best_episode_of_its_trial(outputs: str, trial: int) -> None:
    result = learn("evolved:1", maze=T, **SHORT, steps=9, outputs=outputs)
    env = MazeEnv(T, goal=trial % 2, max_steps=9)
    assert returned(result.agent(trial), env) == -result.final[trial]


@pytest.mark.parametrize("outputs", ["winner", "random"])
@pytest.mark.parametrize("trial", range(3))
@pytest.mark.parametrize(
    "make",
    [
        lambda: EnvTask(Turns),
        lambda: EnvTask(Turns, encode="one-hot"),
        lambda: EnvTask(Turns, encode=high),
        lambda: task_of("FrozenLake-v1", args=DRY),
    ],
)
def test_in_an_environment_and_in_a_table_likewise(make: Callable[[], Any], trial: int, outputs: str) -> None:
    task = make()
    result = learn(HillClimbing(0.5, 0.3, 0.2), task=task, **SHORT, outputs=outputs)
    env = Turns() if isinstance(task, EnvTask) else gymnasium.make("FrozenLake-v1", **DRY)
    assert returned(result.agent(trial), env) == -result.final[trial]


def test_without_a_number_it_is_the_best_trial() -> None:
    result = learn("evolved:1", task=Turns, **SHORT)
    best = int(result.final.argmin())
    assert result.agent().name == f"evolved:1, trial {best}"
    assert result.agent().weights.hidden.tobytes() == result.weights(best).hidden.tobytes()
    with pytest.raises(InputError, match="trial is 3, expected a whole number from 0 to 2"):
        result.agent(3)
    with pytest.raises(InputError, match="no weights were kept; run again with keep_weights=True"):
        learn("evolved:1", task=Turns, **{**SHORT, "keep_weights": False}).agent()


def test_an_agent_forgets_with_its_reset_and_draws_other_actions_in_every_episode() -> None:
    result = learn("evolved:1", task=Turns, **SHORT, outputs="random")
    agent, env = result.agent(0), Turns()
    first = [returned(agent, env) for _ in range(8)]
    assert len(set(first)) > 1
    again = result.agent(0)
    again.reset()
    again.reset()  # nothing was done in between
    assert [returned(again, env) for _ in range(8)] == first


def test_observations_that_it_was_not_made_for_are_refused() -> None:
    agent = learn("evolved:1", maze=T, **SHORT, steps=9).agent()
    for wrong in ([1, 0], [1, 0, 2], 3, "101", None, [0.0, 1.0, 1.0], [[1], [0, 1]]):
        with pytest.raises(InputError, match=r"an observation is .*, expected 3 bits"):
            agent.act(wrong)
    agent = learn("evolved:1", task=Turns, **SHORT).agent()
    with pytest.raises(InputError, match=r"an observation is 2, which is not in Discrete\(7, start=3\)"):
        agent.act(2)


# ---------------------------------------------------------------- files


@cache
def agents() -> dict[str, tuple[Agent, dict[str, Any]]]:
    """Return agents, and what their files are read with."""
    small: Any = {**SHORT, "outputs": "random"}
    return {
        "a maze": (learn("evolved:1", maze=T, **SHORT).agent(1), {}),
        "a table": (learn("hc", task=Turns, **small).agent(), {"env": Turns}),
        "an environment": (learn("hc", task=EnvTask(Turns), **small).agent(), {"env": Turns()}),
        "bins": (learn("hc", task="CartPole-v1", **small).agent(), {"env": "CartPole-v1"}),
        "a function": (learn("hc", task=EnvTask(Turns, encode=high), **small).agent(), {"encode": high}),
    }


@pytest.mark.parametrize("kind", ["a maze", "a table", "an environment", "bins", "a function"])
def test_a_file_holds_all_of_an_agent(kind: str, tmp_path: Path) -> None:
    agent, needs = agents()[kind]
    agent.save(tmp_path / "agent.json")
    again = Agent.load(tmp_path / "agent.json", **needs)
    assert again.weights.hidden.tobytes() == agent.weights.hidden.tobytes()
    assert again.weights.output.tobytes() == agent.weights.output.tobytes()
    assert again.to_dict() == agent.to_dict()
    assert again.settings == agent.settings
    if kind != "a maze":
        env = gymnasium.make("CartPole-v1") if kind == "bins" else Turns()
        one, other = (evaluate(each, env, episodes=4).to_dict() for each in (agent, again))
        assert one == other
    again.save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "agent.json").read_bytes()


def test_the_largest_network_can_be_read_again(tmp_path: Path) -> None:
    network = Recurrent(256, 256, Settings(hidden=256))
    weights = network.fresh_weights(1, 0)
    agent = Agent(weights, network)
    agent.save(tmp_path / "agent.json")
    assert Agent.load(tmp_path / "agent.json").weights.hidden.tobytes() == weights.hidden.tobytes()


def test_a_file_is_read_only_with_what_it_needs(tmp_path: Path) -> None:
    for kind, problem in (
        ("an environment", r"it acts on observations of an environment; name it: Agent.load\(path, env\)"),
        (
            "a function",
            r"observations became bits by the function high; pass it: Agent.load\(path, encode=…\)",
        ),
    ):
        agents()[kind][0].save(tmp_path / "agent.json")
        with pytest.raises(InputError, match=problem):
            Agent.load(tmp_path / "agent.json")
    agents()["an environment"][0].save(tmp_path / "agent.json")
    with pytest.raises(InputError, match="encoder 'binary' of 3 bits was not made for Discrete"):
        Agent.load(tmp_path / "agent.json", "FrozenLake-v1")
    with pytest.raises(InputError, match="no function turned its observations into bits; leave encode out"):
        Agent.load(tmp_path / "agent.json", Turns, encode=high)


DAMAGED: dict[str, Callable[[dict[str, Any]], object]] = {
    "another format": lambda data: data.update(format="distal-rule"),
    "a later version": lambda data: data.update(version=2),
    "a field less": lambda data: data.pop("seed"),
    "a field more": lambda data: data.update(code="x"),
    "weights that are text": lambda data: data.update(hidden="abc"),
    "a number too large": lambda data: data["hidden"][0].__setitem__(0, 1e300),
    "a whole number too large": lambda data: data["hidden"][0].__setitem__(0, 10**400),
    "a row too short": lambda data: data["hidden"][0].pop(),
    "other inputs": lambda data: data.update(inputs=4),
    "a setting less": lambda data: data["settings"].pop("steps"),
    "other hidden neurons": lambda data: data["settings"].update(hidden=6),
    "a reading that is none": lambda data: data["settings"].update(outputs="often"),
    "a scale out of range": lambda data: data.update(alpha_h=1.5),
    "a first action without end": lambda data: data.update(first_action=10**30),
    "a negative episode": lambda data: data.update(episode=-1),
    "a name that colours the terminal": lambda data: data.update(name="\x1b[31m"),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_a_damaged_file_is_refused_in_one_line(damage: str, tmp_path: Path) -> None:
    agent = learn("evolved:1", maze=T, **{**SHORT, "trials": 1, "episodes": 1}).agent(0)
    data = json.loads(json.dumps(agent.to_dict()))
    DAMAGED[damage](data)
    (tmp_path / "agent.json").write_text(json.dumps(data))
    with pytest.raises(InputError, match=r"agent file .*agent\.json'") as refused:
        Agent.load(tmp_path / "agent.json", Turns if damage.startswith("an encoder") else None)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"network": Recurrent(4, 3, Settings(hidden=9))}, "the weights have the shapes (2, 10)"),
        ({"encoder": high}, "encoder is <function high"),
        ({"encoder": EnvTask(Turns).encoder}, "the network has 4 inputs, the encoder gives 3 bits"),
    ],
)
def test_parts_that_do_not_go_together_make_no_agent(given: dict[str, Any], problem: str) -> None:
    network = Recurrent(4, 3, Settings(hidden=2))
    parts: Any = {"weights": network.fresh_weights(0, 0), "network": network}
    assert refused(lambda: Agent(**{**parts, **given})).startswith(problem)


# ---------------------------------------------------------------- one goal of several
