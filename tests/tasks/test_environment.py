"""The maze as a Gymnasium environment, alone and vectorised."""

from __future__ import annotations

import re
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distal import InputError, Maze, maze, triple_t_maze
from distal.base.colours import LIGHT
from distal.model.maze import LEFT, MAZES, STOP, STRAIGHT
from tests.mazes import T
from tests.strategies import mazes

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

IDS = ("distal/TripleTMaze-v1", "distal/Maze-v0")
OLD = "distal/TripleTMaze-v0"


def make(**options: Any) -> Any:
    return gymnasium.make("distal/Maze-v0", **{"maze": T, **options})


@pytest.mark.parametrize("imports", ["import distal, gymnasium", "import gymnasium, distal"])
def test_the_environments_are_registered_whichever_import_comes_first(imports: str) -> None:
    script = f"{imports}\nfor name in {(*IDS, OLD)}: print(gymnasium.make(name).observation_space)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["MultiBinary(3)"] * 3


def test_a_look_for_gymnasium_before_its_import_changes_nothing() -> None:
    look = "import distal, importlib.util; importlib.util.find_spec('gymnasium')"
    make = "import gymnasium; gymnasium.make('distal/Maze-v0')"
    again = "from distal.tasks import registration; importlib.reload(registration); registration.register()"
    script = f"{look}; {make}; {again}"
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)


@pytest.mark.parametrize("name", IDS)
@pytest.mark.parametrize("render_mode", [None, "ansi", "rgb_array"])
@pytest.mark.parametrize("reward", ["episode", "step"])
def test_gymnasiums_own_checker_is_content_without_a_warning(
    name: str, render_mode: str | None, reward: str
) -> None:
    from gymnasium.utils.env_checker import check_env

    check_env(gymnasium.make(name, render_mode=render_mode, reward=reward).unwrapped)  # warnings are errors


def test_the_agent_senses_walls_and_the_way_to_the_goal_ends_the_episode() -> None:
    env = make(goal=0)
    observation, info = env.reset(seed=0)
    assert observation.tolist() == [1, 0, 1]
    assert info == {"cell": (3, 2), "heading": "north", "distance": 3, "pits": 0, "ep": 103, "goal": 0}
    assert env.step(STRAIGHT)[:4] == (pytest.approx([1, 0, 1]), 0, False, False)
    assert env.step(STRAIGHT)[0].tolist() == [0, 1, 0]
    _, reward, terminated, truncated, info = env.step(LEFT)
    assert (reward, terminated, truncated) == (-3, True, False)
    assert info == {"cell": (1, 1), "heading": "west", "distance": 0, "pits": 0, "ep": 3, "goal": 0}


@pytest.mark.parametrize(
    ("reward", "rewards"), [("episode", [0, 0, 0, 0, -(5 + 2 + 5)]), ("step", [-1, -1, -1 - 5, -1, -1 - 2])]
)
def test_an_episode_that_fails_is_truncated_and_returns_minus_its_ep(
    reward: str, rewards: list[float]
) -> None:
    env = make(goal=1, max_steps=5, reward=reward)
    env.reset(seed=0)
    # into the pit, then standing in it, two steps from the goal: EP = 5 + 2 + 5
    steps = [env.step(action) for action in (STRAIGHT, STRAIGHT, LEFT, STOP, STOP)]
    assert [step[1] for step in steps] == rewards
    assert [step[2:4] for step in steps] == [(False, False)] * 4 + [(False, True)]
    assert steps[-1][4]["ep"] == 12
    assert steps[-1][4]["pits"] == 1


def test_the_goal_comes_from_the_options_the_constructor_or_the_seed() -> None:
    env = gymnasium.make("distal/TripleTMaze-v1")
    assert env.reset(options={"goal": 5})[1]["goal"] == 5
    assert gymnasium.make("distal/TripleTMaze-v1", goal=2).reset()[1]["goal"] == 2
    drawn = [env.reset(seed=seed)[1]["goal"] for seed in range(60)]
    assert drawn == [env.reset(seed=seed)[1]["goal"] for seed in range(60)]
    assert set(drawn) == set(range(8))


def test_text_shows_the_agent_and_pixels_show_goal_and_pit() -> None:
    env = make(goal=0, render_mode="ansi")
    env.reset(seed=0)
    env.step(STRAIGHT)
    assert env.render() == "#####\n#0.1#\n##^##\n##S##\n#####\ngoal 0, step 1, EP 102\n"
    env = make(goal=0, render_mode="rgb_array")
    env.reset(seed=0)
    pixels = env.render()
    scale = pixels.shape[0] // 5
    assert pixels.shape == (5 * scale, 5 * scale, 3)
    centre = pixels[scale // 2 :: scale, scale // 2 :: scale]
    hexed = ["#" + bytes(centre[1, column].tolist()).hex() for column in (1, 3)]
    assert hexed == [LIGHT["goal"], LIGHT["pit"]]
    assert (centre[0] == centre[0, 0]).all()  # the border


def test_bad_options_actions_and_mazes_are_refused() -> None:
    env = make().unwrapped
    with pytest.raises(gymnasium.error.ResetNeeded):
        env.step(STOP)
    with pytest.raises(InputError, match="options has an unknown name 'gaol', the only one is 'goal'"):
        env.reset(options={"gaol": 1})
    env.reset(seed=0)
    with pytest.raises(InputError, match="action is 4, expected 0 to 3"):
        env.step(4)
    for options, said in (
        ({"maze": 3}, "maze is 3, expected a Maze"),
        ({"reward": "steps"}, "expected one of episode, step; did you mean 'step'?"),
        ({"goal": 2}, "goal is 2, expected a whole number from 0 to 1"),
    ):
        with pytest.raises(InputError, match=re.escape(said)):
            make(**options)


def test_a_maze_may_be_text_a_file_or_a_name(tmp_path: Any) -> None:
    path = tmp_path / "maze.txt"
    path.write_text(str(T))
    for given_as, right in ((str(T), T), (str(path), T), (path, T), *((name, maze(name)) for name in MAZES)):
        assert gymnasium.make("distal/Maze-v0", maze=given_as).unwrapped.maze == right
        env = gymnasium.make("distal/Maze-v0", maze=given_as, heading="east")
        assert env.unwrapped.maze == Maze(right.picture, "east")


def test_the_first_version_stays_the_narrow_maze_and_the_second_is_the_default() -> None:
    assert gymnasium.make("distal/TripleTMaze-v1").unwrapped.maze == triple_t_maze() == maze("triple-t")
    assert gymnasium.make("distal/Maze-v0").unwrapped.maze == triple_t_maze()
    with pytest.warns(DeprecationWarning, match="TripleTMaze-v0 is out of date"):
        old = gymnasium.make(OLD, goal=2)
    assert old.unwrapped.maze == maze("narrow-t")
    observation, info = old.reset(seed=0)
    assert (observation.tolist(), info["cell"], info["distance"]) == ([1, 0, 1], (27, 14), 38)
    with pytest.warns(DeprecationWarning, match="TripleTMaze-v0 is out of date"):
        vector = gymnasium.make_vec(OLD, num_envs=2)
    assert vector.reset(seed=0, options={"goal": [0, 3]})[1]["distance"].tolist() == [39, 38]


@given(mazes(), st.integers(0, 2**31), st.sampled_from(["episode", "step"]), st.data())
def test_the_vectorised_environment_does_what_as_many_single_ones_do(
    maze: Maze, seed: int, reward: str, data: st.DataObject
) -> None:
    n, options = 3, {"maze": maze, "reward": reward, "max_steps": data.draw(st.integers(1, 9))}
    together = gymnasium.make_vec(
        "distal/Maze-v0", num_envs=n, vectorization_mode="vector_entry_point", **options
    )
    apart = gymnasium.make_vec("distal/Maze-v0", num_envs=n, vectorization_mode="sync", **options)
    observations, infos = together.reset(seed=seed)
    others, other_infos = apart.reset(seed=seed)
    assert (observations == others).all()
    for _ in range(20):
        actions = np.array(data.draw(st.lists(st.integers(0, 3), min_size=n, max_size=n)))
        mine, theirs = together.step(actions), apart.step(actions)
        for one, other in zip(mine[:4], theirs[:4], strict=True):
            assert (one == other).all()
        infos, other_infos = mine[4], theirs[4]
        for name in ("distance", "pits", "ep", "goal"):
            assert infos[name].tolist() == other_infos[name].tolist()
        assert infos["heading"].tolist() == list(other_infos["heading"])
        assert infos["cell"].tolist() == [list(cell) for cell in other_infos["cell"]]
    apart.close()


def test_vectorised_goals_may_differ_and_bad_input_is_refused() -> None:
    env = gymnasium.make_vec("distal/TripleTMaze-v1", num_envs=3)
    assert env.reset(seed=1, options={"goal": [5, 0, 2]})[1]["goal"].tolist() == [5, 0, 2]
    assert env.reset(seed=1, options={"goal": 4})[1]["goal"].tolist() == [4] * 3
    for options in (
        {"seed": [1, 2]},
        {"options": {"goal": [1, 2]}},
        {"options": {"goal": [1, 2, 8]}},
        {"seed": -1},
    ):
        with pytest.raises(InputError):
            env.reset(**options)
    for actions in ([True] * 3, [0.0, 1.0, 2.0], [0, 1], [0, 1, 4], ["left"] * 3):
        with pytest.raises(InputError, match="expected 3 numbers from 0 to 3"):
            env.step(np.array(actions))
