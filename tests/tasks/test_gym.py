"""Learning in any Gymnasium environment."""

from __future__ import annotations

import json
import pickle
import re
import sys
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import distal
from distal import HillClimbing, InputError, Maze, Result, Settings
from distal.cli import main
from distal.engines import reference
from distal.evaluation.trials import batch_of
from distal.learners import Learner
from distal.model.draws import child_seed
from distal.tasks.encoders import Encoder
from distal.tasks.gym import EnvTask, EnvWalk
from distal.tasks.mazes import MazeTask
from tests.command_line import output, output_json
from tests.given import some
from tests.refusals import refused
from tests.strategies import climbers, mazes, rules, settings_of

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")


def every_goal(maze: Maze) -> list[dict[str, int]]:
    return [{"goal": goal} for goal in range(len(maze.finals))]


def learned(env: Any, learner: Any, *, options: Any = ({},), ep: Any = None, **asked: Any) -> Result:
    """Learn in an environment, step by step, and keep everything."""
    task = EnvTask(env, options=options, ep=ep)
    return distal.learn(learner, task=task, chance=False, keep_ep=True, keep_weights=True, **asked)


@given(mazes(), settings_of(), st.one_of(rules, climbers), st.sampled_from(["episode", "step"]))
@hypothesis_settings(max_examples=30)
def test_so_it_is_in_any_maze_with_any_settings_and_either_reward(
    maze: Maze, settings: Settings, learner: Learner, reward: str
) -> None:
    env = gymnasium.make(
        "distal/Maze-v0", maze=maze, max_steps=settings.steps, blocked=settings.blocked, reward=reward
    )
    chosen: dict[str, Any] = vars(settings)
    in_env = learned(env, learner, options=every_goal(maze), episodes=8, trials=1, seed=5, **chosen)
    batch = batch_of(
        [learner], np.array([5], np.uint64), trials=1, episodes=8, task=MazeTask(maze), settings=settings
    )
    eps = [[episode.ep for episode in reference.episodes(batch, trial)] for trial in range(len(batch))]
    assert some(in_env.ep).tolist() == eps


class Cue(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """The first observation says which of `n` actions is right in the third step; numbers begin at 5."""

    def __init__(self, n: int = 3) -> None:
        self.observation_space = gymnasium.spaces.Discrete(n + 1, start=5)
        self.action_space = gymnasium.spaces.Discrete(n, start=-1)
        self.n, self.taken, self.seeds = n, [], []  # type: ignore[var-annotated]

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        self.seeds.append(seed)
        self.cue, self.time = (options or {}).get("cue", 0), 0
        return 5 + self.cue, {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        assert action in self.action_space
        self.taken.append(action)
        self.time += 1
        reward = float(action + 1 == self.cue) if self.time == 3 else 0.0
        return 5 + self.n, reward, self.time == 3, False, {"time": self.time}


def test_the_network_has_an_input_for_every_value_and_an_output_for_every_action() -> None:
    task = EnvTask(Cue(), options=[{"cue": 2}], encode="one-hot")
    assert (task.inputs, task.outputs) == (4, 3)
    walk = task.begin(0, Settings(steps=9))
    assert walk.sense() == (0, 0, 1, 0)
    walk.act(2)
    assert task.env.taken == [1]  # actions begin at −1
    assert walk.sense() == (0, 0, 0, 1)


def test_every_goal_has_trials_of_its_own_and_a_trial_seeds_its_first_reset_alone() -> None:
    env = Cue()
    result = learned(
        env, HillClimbing(0.5, 0.2, 0.2), options=[{"cue": 1}, {"cue": 2}], trials=2, episodes=20, steps=5
    )
    assert result.best.shape == (4, 20)
    assert (result.best == np.minimum.accumulate(some(result.ep), axis=1)).all()
    assert set(np.unique(some(result.ep))) <= {0, -1}  # minus the return
    assert result.fitness == result.best[:, -1].mean()
    first = [child_seed(0, trial, task, 0) % 2**31 for trial in range(2) for task in range(2)]
    assert [seed for seed in env.seeds if seed is not None] == first
    assert len(env.seeds) == 4 * 20
    assert "4 trials of 20 episodes" in result.summary()


def test_ep_is_any_function_of_the_episode_and_steps_limit_it() -> None:
    seen: list[EnvWalk] = []

    def ep(walk: EnvWalk) -> int:
        seen.append(walk)
        return len(walk.actions)

    result = learned(Cue, "paper:1", ep=ep, episodes=4, trials=1, steps=2)
    assert (some(result.ep) == 2).all()
    assert seen[0].cut
    assert seen[0].truncated
    assert result.cut == 4
    assert "4 of 4 episodes cut off after 2 steps" in result.summary()
    assert [info.get("time") for info in seen[0].infos] == [None, 1, 2]
    assert len(seen[0].observations) == 3
    whole = learned(Cue, "paper:1", ep=ep, episodes=4, trials=1)
    assert some(whole.ep).tolist() == [[3] * 4]
    assert whole.cut == 0


FAILED = f"trial 0 (goal 0, seed {child_seed(0, 0, 0, 0)}) failed: "


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"env": lambda: 3}, "env() returns 3, expected an environment; "),
        ({"ep": lambda walk: float("nan")}, f"{FAILED}the result of `ep` for an episode is nan, expected"),
        (
            {"env": "distal/TripleTMaze-v1", "steps": 50},
            f"{FAILED}steps is 50, but the environment ends an episode after 100; make it with max_steps=50",
        ),
    ],
)
def test_bad_arguments_are_refused_by_name(arguments: dict[str, Any], message: str) -> None:
    assert refused(
        lambda: learned(**{"env": Cue, "learner": "paper:1", "episodes": 2, "trials": 1, **arguments})
    ).startswith(message)


# ---------------------------------------------------------------- an environment as a task


def test_every_start_is_a_goal_that_resets_with_its_number_in_every_episode() -> None:
    env = Cue()
    task = EnvTask(env, starts=3)
    assert task.goals == ("0", "1", "2")
    trial = task.for_trial(77)
    for goal in (2, 2, 1):
        trial.begin(goal, Settings())
    assert env.seeds == [2, 2, 1]


def half(reward: Any) -> Any:
    return reward / 2


def test_steps_and_target_are_the_environments_own() -> None:
    task = EnvTask("MountainCar-v0")
    assert (task.name, task.steps, task.whole) == ("MountainCar-v0", 200, False)
    assert task.target(Settings(steps=200)) == 110.0
    assert task.target(Settings(steps=50)) is None  # whoever is cut off after 50 steps has paid 50
    assert EnvTask("CartPole-v1").target(Settings(steps=50)) == -475.0
    assert EnvTask("MountainCar-v0", args={"max_episode_steps": 30}).steps == 30
    assert EnvTask(lambda: gymnasium.wrappers.TimeLimit(Cue(), 7)).steps == 7
    assert EnvTask("MountainCar-v0", ep=lambda walk: 0).target(Settings(steps=200)) is None
    halved = EnvTask("MountainCar-v0", wrap=lambda env: gymnasium.wrappers.TransformReward(env, half))
    assert halved.target(Settings(steps=200)) is None  # solved at 55, but that nobody knows
    assert (EnvTask(Cue).steps, EnvTask(Cue).target(Settings())) == (None, None)
    maze = EnvTask("distal/TripleTMaze-v1", args={"max_steps": 40})
    assert maze.steps == 40
    with pytest.raises(
        InputError, match="steps is 50, but the environment ends an episode after 40; make it"
    ):
        maze.begin(0, Settings(steps=50))


def test_bins_by_quantiles_are_the_same_whenever_they_are_made() -> None:
    one, two = (EnvTask("CartPole-v1") for _ in range(2))
    assert one.encoder.to_dict() == two.encoder.to_dict()
    assert (one.inputs, one.encoder.word) == (12, "bins:4:quantiles")
    walk = one.for_trial(1).begin(0, Settings())
    assert len(walk.sense()) == 12


class Locked(Cue):
    """One that cannot be pickled, and is closed only when it should be."""

    made: list[Any] = []  # noqa: RUF012

    def __init__(self) -> None:
        super().__init__()
        self.lock, self.closed = Lock(), 0
        self.made.append(self)

    def close(self) -> None:
        self.closed += 1


def test_a_task_is_pickled_without_its_environment() -> None:
    task = EnvTask(Locked, options=[{"cue": 2}], encode="one-hot")
    before = len(Locked.made)
    again = pickle.loads(pickle.dumps(task))  # noqa: S301
    assert len(Locked.made) == before
    assert (again.inputs, again.outputs, again.goals, again.name) == (4, 3, ("0",), "Locked")
    assert again.for_trial(1).begin(0, Settings()).sense() == (0, 0, 1, 0)
    assert len(Locked.made) == before + 1


def test_every_thread_has_an_environment_of_its_own() -> None:
    task = EnvTask(Locked)
    found = [task.env, task.env]
    thread = Thread(target=lambda: found.append(task.env))
    thread.start()
    thread.join()
    assert found[0] is found[1]
    assert found[2] is not found[0]
    given = EnvTask(Cue())
    thread = Thread(target=lambda: found.append(given.env))
    thread.start()
    thread.join()
    assert found[3] is not given.env


def test_what_was_made_here_is_closed_and_what_was_given_is_not() -> None:
    task = EnvTask(Locked)
    made = task.env
    task.close()
    assert made.closed == 1
    assert task.env is not made  # it can go on
    forgotten = EnvTask(Locked)
    made = forgotten.env
    del forgotten
    assert made.closed == 1
    given = Locked()
    EnvTask(given).close()
    assert given.closed == 0


@pytest.mark.filterwarnings("ignore:.*Using the latest versioned environment")
def test_a_task_says_what_it_is() -> None:
    task = EnvTask("FrozenLake", args={"is_slippery": False}, starts=2)
    said = json.loads(json.dumps(task.to_dict()))
    assert said == {
        "kind": "environment",
        "id": "FrozenLake-v1",
        "arguments": {"is_slippery": False},
        "options": [{}],
        "starts": 2,
        "ep": None,
        "encoder": {"word": "binary", "bits": 4, "edges": []},
        "package": "gymnasium",
        "version": gymnasium.__version__,
        "gymnasium": gymnasium.__version__,
    }
    assert EnvTask("distal/Maze-v0").to_dict()["package"] == "distal"
    odd = EnvTask(
        "FrozenLake-v1", args={"desc": ("SF", "FG")}, ep=minus_two, options=[{"a": {1, 2}}]
    ).to_dict()
    assert (odd["arguments"], odd["options"], odd["ep"]) == (None, None, "tests.tasks.test_gym.minus_two")
    assert EnvTask(Cue).to_dict()["given"] == "tests.tasks.test_gym.Cue"
    assert EnvTask(Cue()).to_dict()["given"] == "tests.tasks.test_gym.Cue"


def minus_two(walk: EnvWalk) -> float:
    return -2


class Breaking(Cue):
    """One that goes wrong in the third step, in a way that can be chosen."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how

    def reset(self, **given: Any) -> tuple[Any, Any]:
        if self.how == "reset":
            raise RuntimeError("no beginning")
        return super().reset(**given)

    def step(self, action: Any) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        observation, reward, *rest = super().step(action)
        if self.time == 3 and self.how == "step":
            raise ValueError("lost\nits way")
        if self.time == 3 and self.how == "quit":
            sys.exit(7)
        rewards = {"nan": float("nan"), "inf": np.float32("inf"), "text": "x", "none": None}
        return observation, rewards.get(self.how, reward), *rest


@pytest.mark.parametrize(
    ("how", "problem"),
    [
        ("step", "Breaking failed in step: ValueError: lost"),
        ("quit", "Breaking failed in step: SystemExit: 7"),
        ("reset", "Breaking failed in reset: RuntimeError: no beginning"),
        ("nan", "a reward is nan, expected a finite number; mend the environment"),
        ("text", "a reward is 'x', expected a finite number"),
    ],
)
def test_an_environment_that_breaks_is_one_line_with_the_goal_and_the_seed(how: str, problem: str) -> None:
    task, rule = EnvTask(Breaking(how)), distal.published_rules()[0]
    batch = batch_of(
        [rule], np.array([3], np.uint64), trials=1, episodes=2, task=task, settings=Settings(steps=9)
    )
    assert refused(lambda: reference.engine.run(batch)).startswith(
        f"trial 0 (goal 0, seed {batch.seed[0]}) failed: {problem}"
    )
    assert refused(lambda: learned(Breaking(how), rule, trials=1, episodes=2)).startswith(FAILED + problem)


class Heedless(Cue):
    """One that begins anywhere, whatever the seed is."""

    count = 0

    def reset(self, **given: Any) -> tuple[Any, Any]:
        super().reset(**given)
        Heedless.count += 1
        return 5 + Heedless.count % 2, {}


def test_a_reset_that_ignores_its_seed_is_told_once(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "distal")
    EnvTask(Cue)
    assert caplog.messages == []
    task = EnvTask(Heedless)
    for _ in range(3):
        task.for_trial(1).begin(0, Settings())
    (message,) = caplog.messages
    assert message.startswith("Heedless ignores the seed of its reset: two resets with one seed differ")


class Unsteady(Cue):
    """One whose steps differ, whatever the seed is."""

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        observation, _, *rest = super().step(action)
        Heedless.count += 1
        return observation, float(Heedless.count), *rest


def test_steps_that_ignore_the_seed_are_told(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level("WARNING", "distal")
    EnvTask(Unsteady)
    (message,) = caplog.messages
    assert message.startswith("Unsteady ignores the seed of its reset: the same actions after one seed have")


def test_an_environment_for_gym_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "old_games.py").write_text("import gym")
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)  # where its module is found
    with pytest.raises(InputError, match="made for Gym, the predecessor of Gymnasium: write a"):
        EnvTask("old_games:Pong-v0")


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("FrozenLak-v1", "did you mean 'FrozenLake-v1'?"),
        ("FrozenLake-v99", "did you mean 'FrozenLake-v1'?"),
        ("distal:FrozenLak-v1", "did you mean 'distal:FrozenLake-v1'?"),
        ("ALE/Pong-v5", "pip install ale-py"),
        ("nosuchmodule:Foo-v1", "pip install nosuchmodule"),
        ("a" * 500, "cannot make environment 'aaa"),
    ],
)
def test_an_id_that_is_not_known_is_refused_with_what_to_do(name: str, problem: str) -> None:
    said = refused(lambda: EnvTask(name))
    assert said.startswith(f"cannot make environment '{name[:20]}")
    assert problem in said
    assert said.lower().count("did you mean") <= 1
    assert ".; did you mean" not in said


def test_a_package_that_gymnasium_misses_is_named_with_what_gymnasium_says() -> None:
    def make() -> Any:
        raise gymnasium.error.DependencyNotInstalled(
            "Box2D is not installed, you can install it by run `pip install swig` followed by "
            '`pip install "gymnasium[box2d]"`'
        )

    with pytest.raises(
        InputError, match=r"cannot make the environment: .*pip install \"gymnasium\[box2d\]\""
    ):
        EnvTask(make)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"starts": 2, "options": [{}, {"cue": 1}]}, "there are 2 options and starts=2; give one or the oth"),
        ({"options": [3]}, "options is [3], expected a list of options for reset"),
        ({"args": {"n": 3}, "env": Cue()}, "args are for an id, or a function that makes an environment"),
        ({"args": {"m": 3}}, "cannot make the environment: "),
    ],
)
def test_what_makes_no_task_is_refused(given: dict[str, Any], problem: str) -> None:
    assert refused(lambda: EnvTask(**{"env": Cue, **given})).startswith(problem)


# ---------------------------------------------------------------- MiniGrid: pictures, and missions in words

in_minigrid = pytest.mark.skipif(find_spec("minigrid") is None, reason="pip install minigrid")
ROOM, IMAGE = "minigrid:MiniGrid-Empty-5x5-v0", "minigrid.wrappers:ImgObsWrapper"


NAMES = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


@in_minigrid
def test_its_observations_become_bits_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    task = distal.task_of(ROOM)
    assert isinstance(task, EnvTask)
    assert caplog.messages == ["MiniGrid-Empty-5x5-v0: mission is text, which is left out"]
    assert task.actions == NAMES
    assert isinstance(task.encoder, Encoder)
    assert task.encoder.word == "binary"
    # Where it looks in two bits; a wall is object 2, colour 5, and empty cells are 1, 0.
    picture: Any = {"image": np.zeros((7, 7, 3), np.uint8), "direction": 1, "mission": "go"}
    picture["image"][...] = 1, 0, 0
    there = np.array(task.encoder(picture))
    picture["image"][3, 5] = 2, 5, 0
    assert (np.array(task.encoder(picture)) != there).sum() >= 2


@in_minigrid
def test_its_reward_depends_on_the_steps_so_that_it_is_no_table_and_says_why() -> None:
    task = distal.task_of(ROOM, wrap=IMAGE)
    assert some(task.no_table).startswith(
        "rewards of MiniGrid-Empty-5x5-v0 depend on how many steps were taken"
    )
    flat = distal.task_of(ROOM, wrap=[IMAGE, sign_of])
    assert flat.no_table is None  # with the same reward at any time, it is one


def sign(reward: Any) -> float:
    return float(np.sign(reward))


def sign_of(env: Any) -> Any:
    import gymnasium

    return gymnasium.wrappers.TransformReward(env, sign)


@in_minigrid
def test_the_command_line_shows_trains_and_evolves(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    chosen, short = ["--wrap", IMAGE, "--hidden", "3"], ["--trials", "1", "--episodes", "2"]
    plain = output_json(capsys, "env", ROOM, "--hidden", "3", *short)
    assert plain["observations"].endswith("'mission': MissionSpace(<function EmptyEnv._gen_mission>, None))")
    text = output(capsys, "env", ROOM, *chosen, *short)
    assert f"outputs       7 actions: {', '.join(NAMES)}" in text
    assert re.search(r"speed +about [\d,]+ steps a second on .*: stepped in Python by engines", text)
    data = output_json(capsys, "learn", "paper:1", "--env", ROOM, *chosen, *short)
    assert data["task"]["recipe"]["wrap"][0]["name"] == IMAGE
    tiny = ["--runs", "1", "--generations", "1", "--population", "3", "--elite-count", "1", "--fresh", "2"]
    folder = str(tmp_path / "runs")
    assert main(["evolve", "--env", ROOM, *chosen, *short, *tiny, "--out", folder]) == 0
    assert main(["evolve", "--resume", folder, "--generations", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Beats chance: not shown. Try more episodes")
