"""`distal maze`."""

from __future__ import annotations

from pathlib import Path

import pytest

import distal
from distal.cli.maze import small
from distal.model.maze import MAZES
from tests.command_line import output, output_json, refusal
from tests.mazes import T


def test_maze_draws_the_triple_t_maze_with_its_distances(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "maze")
    assert text.startswith(str(distal.triple_t_maze()))
    assert "perfect agent (mean distance)  38.50" in text
    data = output_json(capsys, "maze")
    assert [final["distance"] for final in data["finals"]] == [37, 34, 34, 37, 43, 40, 40, 43]
    assert data["start"] == {"row": 26, "column": 14}
    assert data["perfect_agent"] == 38.5


def test_maze_prints_a_t_maze_that_is_a_maze_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert output(capsys, "maze", "--levels", "3", "--width", "1") == f"{distal.maze('narrow-t')}\n"
    assert output(capsys, "maze", "--levels", "1") == f"{distal.t_maze(1, 3)}\n"
    file = tmp_path / "two.txt"
    assert "perfect agent" in output(capsys, "maze", "--levels", "2", "--out", str(file))
    assert distal.Maze.from_file(file) == distal.t_maze(2)
    data = output_json(capsys, "maze", "--levels", "4", "--heading", "east")
    assert (data["picture"], data["heading"]) == (list(distal.t_maze(4).picture), "east")
    assert refusal(capsys, "maze", "--levels", "5").endswith("expected a whole number from 1 to 4\n")
    assert "both given" in refusal(capsys, "maze", str(file), "--levels", "1")
    assert "both given" in refusal(capsys, "maze", "narrow-t", "--levels", "1")
    assert refusal(capsys, "maze", "--levels", "1", "--out", str(tmp_path))
    assert "give --levels N too" in refusal(capsys, "maze", "--width", "2")


@pytest.mark.parametrize("name", MAZES)
def test_maze_draws_a_maze_by_its_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "maze", name)
    assert text.startswith(str(distal.maze(name)))
    assert "perfect agent (mean distance)  38.50" in text
    assert output_json(capsys, "maze", name)["picture"] == list(distal.maze(name).picture)
    assert output_json(capsys, "maze", name, "--heading", "west")["heading"] == "west"


def test_maze_lists_the_mazes_that_have_a_name(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "maze", "--list")
    for name in MAZES:
        assert text.split().count(name) == 1
    assert text.count("(default)") == 1
    assert "triple-t (default)" in text
    assert text.count("29 × 29, perfect agent 38.50") == 3
    for symbol in "S01234567":  # every start and final position is marked, in each of the three
        assert "".join(text.splitlines()[2:]).count(symbol) == 3
    data = output_json(capsys, "maze", "--list")
    assert list(data) == list(MAZES)
    for name, described in data.items():
        assert described == output_json(capsys, "maze", name)


def test_a_small_picture_has_two_rows_of_cells_in_a_line() -> None:
    assert small(T) == ["█0▀1█", "██S██", "▀▀▀▀▀"]


@pytest.mark.parametrize(
    "more", [["narrow-t"], ["--levels", "2"], ["--out", "maze.txt"], ["--svg", "maze.svg"]]
)
def test_the_list_of_mazes_comes_alone(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "maze", "--list", *more)
    assert said.endswith("--list shows all mazes that have a name; leave out everything else\n")


def test_maze_draws_a_file_and_writes_a_picture(
    capsys: pytest.CaptureFixture[str], maze_file: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.svg"
    text = output(capsys, "maze", maze_file, "--heading", "west", "--svg", str(picture))
    assert "heading west" in text
    assert picture.read_text() == T.to_svg()
