"""`distal watch`: pages and films."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from distal.cli import main
from distal.learners import DEFAULT_CLIMBER
from distal.show import watch
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.command_line import output, output_json, refusal
from tests.show.pages import gym_task


def test_the_command_refuses_an_environment_that_is_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    gym_task("CliffWalking-v1")
    line = refusal(capsys, "watch", "paper:1", "--env", "FrozenLake-v1")
    assert "FrozenLake-v1 is no table" in line
    assert "the result of action 0 in state" in line
    assert line.endswith("use distal learn\n")


def test_watch_writes_a_page_and_tells_of_it(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    out = tmp_path / "a page.html"
    words = ["watch", "paper:1", "--episodes", "5", "--steps", "9", "--hidden", "3", "--out", str(out)]
    assert f"page: {out}" in output(capsys, *words, "--open")
    assert opened == [out.as_uri()]
    data = output_json(capsys, *words, "--against", "hc", "--sigma", "0.5", "--goal", "0", "--resample", "2")
    assert data["bytes"] == out.stat().st_size
    eps = watch.watch(
        "paper:1", replace(DEFAULT_CLIMBER, sigma=0.5), goal=0, episodes=5, steps=9, hidden=3, resample=2
    ).eps
    assert [learner["best_ep"] for learner in data["learners"]] == eps.min(axis=1).tolist()
    assert [learner["name"] for learner in data["learners"]] == ["paper:1", "hill climbing"]
    assert (data["goal"], data["resample"], data["steps"]) == ("0", 2, 9)


def test_the_command_takes_an_environment_as_learn_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["watch", "hc", "--episodes", "4", "--hidden", "3", "--out", str(tmp_path / "page.html")]
    told = output(capsys, *words, "--env", "FrozenLake-v1", "--env-arg", "is_slippery=false")
    assert "FrozenLake-v1: 4 episodes, seed 0" in told
    data = output_json(
        capsys, *words, "--env", "Taxi-v4", "--starts", "2", "--encode", "binary", "--goal", "1"
    )
    eps = watch.watch("hc", task=gym_task("Taxi-v4", starts=2), goal="1", episodes=4, hidden=3).eps
    assert data["learners"][0]["best_ep"] == eps.min()
    assert (data["task"]["name"], data["goal"], data["steps"]) == ("Taxi-v4", "1", 200)


def test_the_command_takes_goals_that_move_and_sigmoid_neurons_as_learn_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["watch", "paper:1", "--against", "hc", "--episodes", "7", "--hidden", "3", "--steps", "9"]
    words += ["--out", str(tmp_path / "page.html"), "--neurons", "sigmoid", "--switch", "3"]
    told = output(capsys, *words, "--switch-to", "6,1")
    assert "the way to 6: 7 episodes, the goal moves every 3, seed 0" in told
    watched = watch.watch(
        "paper:1", "hc", episodes=7, hidden=3, steps=9, neurons="sigmoid", switch=Switch(3, (6, 1))
    )
    for number, goal in ((1, "6"), (2, "1"), (3, "6")):
        phase = watched.phases[number - 1]
        cells = [str(number), goal, *map(str, phase["best_ep"]), f"{phase['chance']:.1f}"]
        assert cells in [line.split() for line in told.splitlines()]
    data = output_json(capsys, *words, "--switch-to", "6,1")
    assert data["phases"] == watched.phases
    assert (data["neurons"], data["switch"]) == ("sigmoid", {"every": 3, "goals": [6, 1]})
    told = output(capsys, *words, "--switch", "1", "--episodes", "20")  # of many, the first and the last
    assert re.findall(r"^ (\d+) ", told, re.MULTILINE) == [*map(str, range(1, 12)), "20"]


def test_the_command_writes_films_and_a_page_only_if_it_is_named(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["watch", "paper:1", "--steps", "20", "--after", "1,30"]
    assert main([*command, "--gif", "a.gif", "--mp4", "a.mp4"]) == 0
    assert sorted(path.name for path in here.iterdir()) == ["a.gif", "a.mp4"]
    assert "film: a.gif" in capsys.readouterr().out
    assert main([*command, "--gif", "b.gif", "--out", "b.html", "--episodes", "3", "--json"]) == 0
    data = json.loads(capsys.readouterr().out)
    assert [scene["after"] for scene in data["scenes"]] == [1, 30]
    assert (data["gif"], data["page"], data["episodes"]) == ("b.gif", "b.html", 3)
    assert (here / "b.html").exists()


def test_a_table_without_a_picture_has_no_film(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bare = TableTask(Table.of([[0], [1]], [[0, 1]] * 2, [[1, 1]] * 2, [0, 1]), name="bare")
    bare.save("bare.npz")
    line = refusal(capsys, "watch", "hc", "--env", "bare.npz", "--gif", "a.gif", "--out", "a.html")
    assert "bare has no picture that a film could show; write a page, without a film" in line
    assert [path.name for path in here.iterdir()] == ["bare.npz"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--after", "0"], "'0' should be 1 to 8 ascending numbers of episodes from 1 to 10000000"),
        (["--after", "5,1"], "'5,1' should be 1 to 8 ascending numbers"),
        (["--episodes", "3"], "--episodes is for the page; a film takes --after"),
        (["--mp4", "a.gif"], "'a.gif' is named twice; give every file its own name"),
        (["--against", "hc"], "a film shows one learner; leave out --against, or --gif and --mp4"),
        (["--gif", "no/such/folder.gif"], "cannot write 'no/such/folder.gif': its folder does not exist"),
    ],
)
def test_what_a_film_cannot_show_is_refused_in_one_line(
    options: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["watch", "paper:1", "--after", "1", "--steps", "5", "--gif", "a.gif"]
    assert message in refusal(capsys, *command, *options)
    assert not list(here.iterdir())
