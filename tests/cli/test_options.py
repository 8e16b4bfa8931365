"""Options that several commands share: the maze, its levels and its width."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import distal
from distal.cli import main
from tests.command_line import output, output_json, refusal
from tests.mazes import T

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]


# Commands that take a maze.
TAKE_A_MAZE = {
    "maze": ["maze"],
    "learn": ["learn", "paper:1", *SHORT, "--maze"],
    "climb": ["climb", *SHORT, "--maze"],
    "compare": ["compare", "paper:1", "hc", *SHORT, "--maze"],
    "inspect": ["inspect", "paper:1", *SHORT, "--maze"],
    "watch": ["watch", "hc", "--episodes", "3", "--steps", "8", "--out", "page.html", "--maze"],
    "evolve": ["evolve", "--out", "new", "--maze"],
    "reproduce": ["reproduce", "--out", "new", "--maze"],
    "readings": ["readings", "--out", "new", "--maze"],
}


@pytest.mark.parametrize("command", TAKE_A_MAZE)
def test_a_maze_that_nobody_knows_is_refused_with_the_nearest_name(
    command: str, capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    expected = "expected a file or one of triple-t, narrow-t, narrow-h"
    assert refusal(capsys, *TAKE_A_MAZE[command], "narow-t") == (
        f"distal: error: no maze and no file is called 'narow-t', {expected}; did you mean 'narrow-t'?\n"
    )
    assert refusal(capsys, *TAKE_A_MAZE[command], "labyrinth") == (
        f"distal: error: no maze and no file is called 'labyrinth', {expected}\n"
    )
    assert "No such file" in refusal(capsys, *TAKE_A_MAZE[command], "narow-t.txt")
    assert list(here.iterdir()) == []


def test_a_file_without_a_dot_is_a_maze_too_but_a_name_comes_first(
    capsys: pytest.CaptureFixture[str], here: Path
) -> None:
    for name in ("mine", "narrow-t"):
        Path(name).write_text(str(T))
    assert output_json(capsys, "maze", "mine")["picture"] == list(T.picture)
    assert output_json(capsys, "maze", "narrow-t")["picture"] == list(distal.maze("narrow-t").picture)
    assert output_json(capsys, "maze", "./narrow-t")["picture"] == list(T.picture)


def test_a_named_maze_is_that_of_every_command(capsys: pytest.CaptureFixture[str], here: Path) -> None:
    chosen, short = ["--maze", "narrow-h"], ["--trials=1", "--episodes=2", "--steps=3", "--hidden=2"]
    picture = list(distal.maze("narrow-h").picture)
    for words in (["learn", "hc"], ["climb"], ["compare", "hc", "chance"], ["inspect", "paper:1"]):
        assert output_json(capsys, *words, *short, *chosen)["maze"] == picture
    few = ["--runs=1", "--generations=0", "--fresh=8", "--out", "runs"]
    assert main(["evolve", *few, *short, *chosen]) == 0
    assert json.loads((here / "runs" / "config.json").read_text())["maze"] == picture
    capsys.readouterr()
    output(capsys, "watch", "hc", *short[1:], *chosen, "--out", "page.html")
    assert json.dumps(picture[1]) in (here / "page.html").read_text()


@pytest.mark.parametrize("command", ["learn", "compare", "inspect", "climb"])
def test_levels_and_width_make_a_t_maze_with_its_own_steps(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    who = {"learn": ["hc"], "compare": ["hc", "chance"], "inspect": ["paper:1"], "climb": []}
    words = [command, *who[command]]
    few = ["--episodes", "3", "--trials", "1"]
    data = output_json(capsys, *words, *few, "--levels", "1", "--width", "1")
    # The shortest way has 12 cells: 12 · 100 / 38.5 = 31.2 steps, rounded up; in the wide one 13: 33.8.
    assert data["steps"] == 32
    assert output_json(capsys, *words, *few, "--levels", "1")["steps"] == 34
    alone = refusal(capsys, *words, *few, "--width", "2")
    assert alone.endswith("--width is for a T-maze of some levels; give --levels N too, or leave it out\n")
    wide = refusal(capsys, *words, *few, "--levels", "2", "--width", "6")
    assert wide.endswith("width is 6, expected a whole number from 1 to 5\n")
    both = refusal(capsys, *words, *few, "--levels", "2", "--maze", "narrow-t")
    assert both.endswith("--maze and --levels are both given; leave one out\n")
    env = refusal(capsys, *words, *few, "--width", "2", "--env", "CliffWalking-v1")
    assert env.endswith("--width and --env are both given; leave one out\n")
