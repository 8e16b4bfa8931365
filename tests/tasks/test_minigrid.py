"""MiniGrid works the first time: its pictures become bits, its missions are left out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distal
from distal.cli import main
from distal.tasks.encoders import Encoder
from distal.tasks.gym import EnvTask
from distal.tasks.sources import rebuilt
from tests.command_line import output, output_json, refusal
from tests.given import some

pytest.importorskip("minigrid", reason="MiniGrid is not installed: pip install minigrid")

ROOM, IMAGE = "minigrid:MiniGrid-Empty-5x5-v0", "minigrid.wrappers:ImgObsWrapper"
NAMES = ("left", "right", "forward", "pickup", "drop", "toggle", "done")


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


def test_it_is_made_again_and_learns_the_same() -> None:
    task = distal.task_of(ROOM, wrap=IMAGE, encode="one-hot")
    again = rebuilt(task.to_dict())
    one, other = (
        distal.learn("paper:1", task=each, trials=1, episodes=2, hidden=3) for each in (task, again)
    )
    assert one.best.tolist() == other.best.tolist()


def test_the_command_line_shows_trains_and_evolves(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    chosen, short = ["--wrap", IMAGE, "--hidden", "3"], ["--trials", "1", "--episodes", "2"]
    plain = output_json(capsys, "env", ROOM, "--hidden", "3", *short)
    assert plain["observations"].endswith("'mission': MissionSpace(<function EmptyEnv._gen_mission>, None))")
    text = output(capsys, "env", ROOM, *chosen, *short)
    assert f"outputs       7 actions: {', '.join(NAMES)}" in text
    assert "speed         stepped in Python; the environment alone takes " in text
    data = output_json(capsys, "learn", "paper:1", "--env", ROOM, *chosen, *short)
    assert data["task"]["recipe"]["wrap"][0]["name"] == IMAGE
    tiny = ["--runs", "1", "--generations", "1", "--population", "3", "--elite-count", "1", "--fresh", "2"]
    folder = str(tmp_path / "runs")
    assert main(["evolve", "--env", ROOM, *chosen, *short, *tiny, "--out", folder]) == 0
    assert main(["evolve", "--resume", folder, "--generations", "2"]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("Beats chance: not shown. Try more episodes")


def test_what_is_wrong_is_said_with_what_to_type(capsys: pytest.CaptureFixture[str]) -> None:
    assert "did you mean 'ImgObsWrapper'?" in refusal(capsys, "env", ROOM, "--wrap", f"{IMAGE}s")
    assert "--env-arg max_steps=9" in refusal(capsys, "env", ROOM, "--steps", "9", "--trials", "1")
