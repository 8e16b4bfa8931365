"""The command line, end to end, good and bad."""

from __future__ import annotations

import csv
import json
import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

import distal
from distal import InputError, published_rule
from distal.cli import main
from distal.cli.maze import small
from distal.engines import Runner, resolve
from distal.model.maze import MAZES
from distal.studies.experiments import Experiments
from distal.studies.reproduction_report import ReproductionReport
from distal.studies.study import Scale
from tests.command_line import output, output_json, refusal
from tests.mazes import T
from tests.processes import DISTAL, interrupt, started, wait_until

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]
PLAIN = [
    *SHORT,
    "--engine",
    "reference",
]  # in a process of its own: compiled code takes half a second to load


@pytest.fixture
def maze_file(tmp_path: Path) -> str:
    path = tmp_path / "a maze.txt"
    path.write_text(str(T) + "\n")
    return str(path)


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
    command: str, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    expected = "expected a file or one of triple-t, narrow-t, narrow-h"
    assert refusal(capsys, *TAKE_A_MAZE[command], "narow-t") == (
        f"distal: error: no maze and no file is called 'narow-t', {expected}; did you mean 'narrow-t'?\n"
    )
    assert refusal(capsys, *TAKE_A_MAZE[command], "labyrinth") == (
        f"distal: error: no maze and no file is called 'labyrinth', {expected}\n"
    )
    assert "No such file" in refusal(capsys, *TAKE_A_MAZE[command], "narow-t.txt")
    assert list(tmp_path.iterdir()) == []


def test_a_file_without_a_dot_is_a_maze_too_but_a_name_comes_first(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("mine", "narrow-t"):
        Path(name).write_text(str(T))
    assert output_json(capsys, "maze", "mine")["picture"] == list(T.picture)
    assert output_json(capsys, "maze", "narrow-t")["picture"] == list(distal.maze("narrow-t").picture)
    assert output_json(capsys, "maze", "./narrow-t")["picture"] == list(T.picture)


@pytest.mark.parametrize("name", [None, *MAZES])
def test_a_named_maze_is_learned_in(name: str | None, capsys: pytest.CaptureFixture[str]) -> None:
    chosen = [] if name is None else ["--maze", name]
    short: Any = {"episodes": 12, "trials": 1, "steps": 45}
    words = ["paper:1", "--episodes", "12", "--trials", "1", "--steps", "45"]
    maze = distal.maze() if name is None else distal.maze(name)
    learned = output_json(capsys, "learn", *words, *chosen)
    assert learned["fitness"] == distal.learn("paper:1", maze=maze, **short).fitness
    compared = distal.compare(["paper:1", "hc"], maze=maze, **short).to_dict()
    told = output_json(capsys, "compare", words[0], "hc", *words[1:], *chosen)
    assert told["learners"] == json.loads(json.dumps(compared))["learners"]
    inspected = output_json(capsys, "inspect", *words, *chosen)
    assert inspected["fitness"] == learned["fitness"]


def test_a_named_maze_is_evolved_in_and_watched(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    few = ["--runs=1", "--generations=0", "--trials=1", "--episodes=2", "--steps=3", "--fresh=8"]
    for number, (name, title) in enumerate(MAZES.items()):
        out = tmp_path / str(number)
        assert main(["evolve", "--maze", name, *few, "--out", str(out)]) == 0
        assert json.loads((out / "config.json").read_text())["maze"] == list(distal.maze(name).picture)
        capsys.readouterr()
        said = output(capsys, "runs", str(out))
        assert (f"task {title}" in said) == (name != "triple-t")
        page = tmp_path / f"{number}.html"
        words = ["--episodes", "3", "--steps", "8", "--maze", name, "--out", str(page)]
        output(capsys, "watch", "hc", *words)
        assert json.dumps(distal.maze(name).picture[1]) in page.read_text()


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


def test_a_width_without_levels_is_no_maze(capsys: pytest.CaptureFixture[str]) -> None:
    said = refusal(capsys, "maze", "--width", "2")
    assert said.endswith("--width is for a T-maze of some levels; give --levels N too, or leave it out\n")


def test_maze_draws_a_file_and_writes_a_picture(
    capsys: pytest.CaptureFixture[str], maze_file: str, tmp_path: Path
) -> None:
    picture = tmp_path / "picture.svg"
    text = output(capsys, "maze", maze_file, "--heading", "west", "--svg", str(picture))
    assert "heading west" in text
    assert picture.read_text() == T.to_svg()


def test_rules_lists_the_published_rules_and_shows_one(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys, "rules")
    assert all(f"paper:{n} " in text for n in range(1, 16))
    assert output(capsys, "rules", "paper:2").rstrip() == str(published_rule(2))
    data = output_json(capsys, "rules")
    names = [f"{source}:{n}" for source in ("paper", "evolved") for n in range(1, 16)]
    assert [rule["name"] for rule in data["rules"]] == names


def test_a_rule_printed_as_json_is_a_rule_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    path.write_text(output(capsys, "rules", "paper:7", "--json"))
    assert output(capsys, "rules", str(path)) == output(capsys, "rules", "paper:7")


def test_learn_prints_every_number_and_every_setting(
    capsys: pytest.CaptureFixture[str], maze_file: str
) -> None:
    data = output_json(
        capsys, "learn", "paper:1", *SHORT, "--maze", maze_file, "--seed", "3", "--hidden", "6"
    )
    result = distal.learn("paper:1", episodes=12, trials=1, steps=8, maze=T, seed=3, hidden=6)
    assert data["fitness"] == result.fitness
    assert data["standard_error"] == result.standard_error
    assert data["reached"] == result.reached
    assert data["best"] == result.best[:, -1].tolist()
    assert data["checkpoints"] == {str(k): result.best[:, k - 1].mean() for k in (1, 10, 12)}
    expected = {
        "episodes": 12, "trials": 1, "seed": 3, "hidden": 6, "steps": 8, "resample": None, "workers": None,
        "outputs": "winner", "blocked": "turn", "m_ties": "reward", "trace_pre": "current",
        "normalise": "neuron", "heading": "north", "maze": list(T.picture), "version": distal.__version__,
        "engine": distal.engines.DEFAULT,
    }  # fmt: skip
    assert {name: data[name] for name in expected} == expected
    assert data["rule"] == published_rule(1).to_dict()


def test_every_option_reaches_the_evaluation(capsys: pytest.CaptureFixture[str], maze_file: str) -> None:
    options = {
        "resample": "4", "outputs": "binary", "blocked": "stay", "m-ties": "punish", "trace-pre": "previous",
        "normalise": "layer", "heading": "east", "engine": "reference", "workers": "1",
    }  # fmt: skip
    flat = [word for name, value in options.items() for word in (f"--{name}", value)]
    data = output_json(capsys, "learn", "paper:2", *SHORT, "--maze", maze_file, *flat)
    assert {name: str(data[name.replace("-", "_")]) for name in options} == options
    result = distal.learn(
        "paper:2", episodes=12, trials=1, steps=8, maze=distal.Maze(T.picture, "east"), resample=4,
        outputs="binary", blocked="stay", m_ties="punish", trace_pre="previous", normalise="layer",
    )  # fmt: skip
    assert data["best"] == result.best[:, -1].tolist()


def test_climb_takes_its_three_parameters(capsys: pytest.CaptureFixture[str], maze_file: str) -> None:
    parameters = ["--sigma", "0.2", "--alpha-h", "0.1", "--alpha-o", "0.3"]
    data = output_json(capsys, "climb", *parameters, *SHORT, "--maze", maze_file, "--resample", "5")
    climber = distal.HillClimbing(0.2, 0.1, 0.3)
    result = distal.climb(climber, episodes=12, trials=1, steps=8, maze=T, resample=5)
    assert data["best"] == result.best[:, -1].tolist()
    assert data["hill_climbing"] == {"sigma": 0.2, "alpha_h": 0.1, "alpha_o": 0.3}
    without = output_json(capsys, "climb", *SHORT, "--maze", maze_file)
    assert without == output_json(capsys, "learn", "hc", *SHORT, "--maze", maze_file)


def test_without_json_learn_and_climb_print_a_readable_table(
    capsys: pytest.CaptureFixture[str], maze_file: str
) -> None:
    result = distal.learn("paper:1", episodes=12, trials=1, steps=8, maze=T)
    text = output(capsys, "learn", "paper:1", *SHORT, "--maze", maze_file)
    for part in (
        f"{result.fitness:.2f} ± {result.standard_error:.2f}",
        "mean best EP",
        "chance",
        "Beats chance:",
        "Keeps what it found:",
        "final position",
        "12 episodes",
        "seed 0",
    ):
        assert part in text
    parameters = ["--sigma", "0.2", "--alpha-h", "0.1", "--alpha-o", "0.3"]
    assert "hill climbing, sigma 0.2" in output(capsys, "climb", *parameters, *SHORT, "--maze", maze_file)


def test_one_of_a_thing_is_written_in_the_singular(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    corridor = tmp_path / "corridor.txt"
    corridor.write_text("####\n#S0#\n####\n")
    text = output(capsys, "learn", "hc", "--maze", str(corridor), "--trials", "1", "--episodes", "1")
    assert "\n1 trial (1 for each of 1 final position), 1 episode, seed 0" in text
    page = ["--out", str(tmp_path / "page.html")]
    assert ": 1 episode, seed 0" in output(capsys, "watch", "hc", "--episodes", "1", "--steps", "9", *page)


def test_without_a_command_the_help_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    text = output(capsys)
    assert text.startswith("usage: distal")
    assert all(command in text for command in ("learn", "climb", "evolve", "reproduce", "readings", "watch"))


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["lern"], ["'lern'", "did you mean 'learn'?"]),
        (["learn"], ["RULE"]),
        (["learn", "paper:16"], ["'paper:16'", "paper:1 to paper:15"]),
        (["learn", "papr:3"], ["'papr:3'", "did you mean 'paper:3'?"]),
        (["learn", "paper:1", "--episodes", "0"], ["episodes is 0", "a whole number from 1"]),
        (["learn", "paper:1", "--episodes", "many"], ["--episodes", "'many' is not a whole number"]),
        (["learn", "paper:1", "--episode", "5"], ["'--episode'", "did you mean '--episodes'?"]),
        (["learn", "paper:1", "--steps", "0"], ["steps is 0"]),
        (["learn", "paper:1", "--hidden", "1000"], ["hidden is 1000", "1 to 256"]),
        (["learn", "paper:1", "--engine", "gpuu"], ["engine is 'gpuu'"]),
        (["learn", "paper:1", "--engine", "referense"], ["did you mean 'reference'?"]),
        (["learn", "paper:1", "--outputs", "winer"], ["outputs is 'winer'", "did you mean 'winner'?"]),
        (["learn", "paper:1", "--heading", "up"], ["heading is 'up'", "north, east, south, west"]),
        (["learn", "paper:1", "--maze", "missing.txt"], ["'missing.txt'", "No such file"]),
        (["learn", "paper:1", "--seed", "-3"], ["seed is -3"]),
        (["learn", "paper:1", "--workers", "0"], ["workers is 0"]),
        (["learn", "paper:1", "extra"], ["'extra'"]),
        (["climb", "--sigma", "0.1"], ["--alpha-h is missing"]),
        (["climb", "--sigma", "2", "--alpha-h", "0", "--alpha-o", "0"], ["sigma is 2.0", "0 to 1"]),
        (["climb", "--sigma", "x", "--alpha-h", "0", "--alpha-o", "0"], ["'x' is not a number"]),
        (["climb", "--sigma", "nan", "--alpha-h", "0", "--alpha-o", "0"], ["sigma is nan"]),
        (["learn", ""], ["no rule ''"]),
        (["learn", "x" * 5000], ["no rule 'xxx"]),
        (["learn", "paper:" + "1" * 5000], ["paper:1 to paper:15"]),
        (["learn", "paper:1", "--trials", "4000000000"], ["GiB are free", "fewer trials or episodes"]),
        (["--json", "maze"], ["--json belongs after the command: distal maze --json"]),
        (["maze", "missing.txt"], ["'missing.txt'", "No such file"]),
        (["maze", "--svg", "no/such/folder/m.svg"], ["'no/such/folder/m.svg'"]),
        (["rules", "missing.json"], ["'missing.json'"]),
    ],
)
def test_bad_input_gets_one_line_that_names_the_value_and_the_fix(
    capsys: pytest.CaptureFixture[str], arguments: list[str], parts: list[str]
) -> None:
    line = refusal(capsys, *arguments)
    for part in parts:
        assert part in line


def test_a_bad_maze_file_is_refused_with_file_row_and_column(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "bad.txt"
    path.write_text("####\n#S?#\n####\n")
    line = refusal(capsys, "maze", str(path))
    assert f"maze file {str(path)!r}: row 1, column 2: unknown character '?'" in line


def test_help_and_version_are_there(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--help"], ["learn", "--help"], ["--version"]):
        with pytest.raises(SystemExit) as leave:
            main(arguments)
        assert leave.value.code == 0
        assert "distal" in capsys.readouterr().out


def test_ctrl_c_ends_with_one_line_and_exit_code_130() -> None:
    with started(*DISTAL, "learn", "paper:1", "--episodes", "1000000", "--engine", "reference") as process:
        time.sleep(1)
        assert process.poll() is None
        interrupt(process)
        out, err = process.communicate(timeout=20)
    assert (process.returncode, out, err) == (130, "", "distal: interrupted\n")


def test_ctrl_c_during_an_evolution_says_how_to_continue(tmp_path: Path) -> None:
    small = ("--trials", "1", "--episodes", "2", "--runs", "1")
    command = (*DISTAL, "evolve", "--generations", "100000", *small, "--out", tmp_path / "a run")
    with started(*command) as process:
        wait_until((tmp_path / "a run" / "state.json").exists)
        interrupt(process)
        _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert (
        err.splitlines()[-1]
        == f"distal: interrupted; continue with: distal evolve --resume '{tmp_path / 'a run'}'"
    )


@pytest.mark.parametrize("arguments", [["rules"], ["rules", "--json"]])
def test_a_reader_that_leaves_early_is_no_error(arguments: list[str]) -> None:
    with started(*DISTAL, *arguments) as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None
        assert process.stderr.read() == ""
        assert process.wait(timeout=20) == 141


def test_a_full_disk_is_told_in_one_line() -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "distal", "maze"]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == "distal: error: cannot write the output: No space left on device\n"


def test_names_and_pictures_are_printed_as_they_are(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    rule = tmp_path / "rule.json"
    rule.write_text(json.dumps({**published_rule(1).to_dict(), "name": "[/bold] :smile: run [ 1, 2 ]"}))
    assert output(capsys, "learn", str(rule), *SHORT).startswith("[/bold] :smile: run [ 1, 2 ]\n")
    assert output_json(capsys, "rules", str(rule))["name"] == "[/bold] :smile: run [ 1, 2 ]"
    wide = tmp_path / "wide.txt"
    wide.write_text("#" * 255 + "\n#S0" + "." * 251 + "#\n" + "#" * 255 + "\n")
    assert output(capsys, "maze", str(wide)).startswith(wide.read_text())


def test_an_ascii_terminal_is_no_error() -> None:
    environment = {**os.environ, "PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    with started(*DISTAL, "learn", "paper:1", *PLAIN, env=environment) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "fitness" in out


# ---------------------------------------------------------------- single files

SMALL = ["--steps", "8", "--episodes", "3"]
FILES = {  # a command that writes a file of each kind, by its name
    "page.html": ["watch", "hc", *SMALL, "--out"],
    "film.gif": ["watch", "hc", "--steps", "8", "--after", "1", "--gif"],
    "film.mp4": ["watch", "hc", "--steps", "8", "--after", "1", "--mp4"],
    "inside.html": ["inspect", "evolved:1", *SMALL, "--trials", "1", "--html"],
    "learned.csv": ["learn", "hc", *SMALL, "--trials", "1", "--csv"],
    "compared.csv": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--csv"],
    "compared.json": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--out"],
    "curves.svg": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--figure"],
    "curves.png": ["compare", "hc", "chance", *SMALL, "--trials", "1", "--figure"],
    "maze.txt": ["maze", "--out"],
    "maze.svg": ["maze", "--svg"],
    "lake.npz": ["env", "CliffWalking-v1", "--episodes", "1", "--trials", "1", "--save"],
}


@pytest.fixture(params=FILES)
def writing(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[list[str], Path]:
    """Return a command and the file that it is to write."""
    name: str = request.param
    if name == "film.mp4":
        pytest.importorskip("imageio_ffmpeg", reason="pip install 'distal[video]'")
    if name == "lake.npz":
        pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    return [*FILES[name], str(tmp_path / name)], tmp_path / name


def test_a_file_is_written_again_and_over_an_empty_one(
    writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    file.touch()
    output(capsys, *command)
    assert (size := file.stat().st_size) > 0
    output(capsys, *command)
    assert abs(file.stat().st_size - size) < 200
    assert [path.name for path in file.parent.iterdir()] == [file.name]


def test_a_file_of_another_kind_stays_as_it_is(
    writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    file.write_text("alias ll='ls -l'\n")
    wanted = f"cannot write {str(file)!r}: a file of another kind is there; name another, or remove that one"
    assert wanted in refusal(capsys, *command)
    assert file.read_text() == "alias ll='ls -l'\n"


@pytest.mark.parametrize("there", [True, False])
def test_nothing_is_written_through_a_link(
    there: bool, writing: tuple[list[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    command, file = writing
    other = file.parent / "other"
    if there:
        other.touch()
    file.symlink_to(other)
    wanted = f"cannot write {str(file)!r}: it is a link; name the file that it leads to"
    assert wanted in refusal(capsys, *command)
    assert file.is_symlink()
    assert other.exists() is there
    assert not there or other.read_bytes() == b""


@pytest.mark.parametrize("shell", [
    "{} --csv /dev/stdout > out; head -1 out",
    "{} --csv /dev/stdout | cat",
    "{} --csv /dev/fd/3 3> out > said; head -1 out",
    "{} --csv >(cat > out) > said; sleep 1; cat out",
    "mkfifo pipe; cat pipe & {} --csv pipe > out; wait",
    "{} --csv /dev/null > out; echo trial,final_position,episode,ep,best,chance_ep,chance_best",
    "echo before > out; {} --csv /dev/stdout >> out; sed -n '1d; 2p' out",
])  # fmt: skip
def test_pipes_devices_and_what_a_shell_has_opened_are_written_to(shell: str, tmp_path: Path) -> None:
    line = shell.format(shlex.join([*DISTAL, "learn", "hc", *PLAIN]))
    with started("bash", "-c", line, cwd=tmp_path) as process:
        out, errors = process.communicate(timeout=60)
    assert errors == ""
    assert out.splitlines()[0] == "trial,final_position,episode,ep,best,chance_ep,chance_best"


def test_a_handle_that_nobody_has_opened_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    error = refusal(capsys, "learn", "hc", *SMALL, "--csv", "/dev/fd/987654")
    assert "cannot write '/dev/fd/987654': Bad file descriptor" in error


# ---------------------------------------------------------------- names that a terminal would obey

# An escape sequence, a bell, a C1 control, DEL, a line break, a line separator, a change of direction,
# and half a character, as a file name that is not UTF-8 holds it.
EVIL = "ev\x1b[31mil\a\x9b\x7f\n\u2028\u202eX\udcff"
SHOWN = r"ev\x1b[31mil\x07\x9b\x7f\n\u2028\u202eX\udcff"


def obeyed(text: str) -> set[str]:
    """Return what a terminal would not show but do, or could not show; line breaks are for layout."""
    return {letter for letter in text if not letter.isprintable()} - {"\n"}


# What a rule's name may hold, for there are languages that need such characters.
TURNED = "ev\u202eil\u200b"
TURNED_SHOWN = r"ev\u202eil\u200b"


@pytest.fixture
def evil(tmp_path: Path) -> Path:
    path = tmp_path / "rule.json"
    data = {**published_rule(1).to_dict(), "name": TURNED}
    path.write_text(json.dumps(data))
    return path


def test_a_name_with_control_characters_is_refused_without_obeying_it(
    evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    evil.write_text(json.dumps({**published_rule(1).to_dict(), "name": EVIL}))
    assert main(["rules", str(evil)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert SHOWN in err
    assert not obeyed(err)


@pytest.mark.parametrize("command", [["rules"], ["learn", *SHORT]])
def test_names_are_shown_and_not_obeyed(
    command: list[str], evil: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([command[0], str(evil), *command[1:]]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[0] == TURNED_SHOWN
    assert not obeyed(out + err)


def test_json_holds_the_same_name_and_nothing_to_obey(evil: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", str(evil), "--json"]) == 0
    out = capsys.readouterr().out
    assert json.loads(out)["name"] == TURNED
    assert not obeyed(out)


def test_colours_go_on_working(evil: Path) -> None:
    environment = {**os.environ, "FORCE_COLOR": "1", "TERM": "xterm"}
    with started(*DISTAL, "learn", evil, *PLAIN, env=environment) as process:
        out, _ = process.communicate(timeout=60)
    assert f"\x1b[1m{TURNED_SHOWN}\x1b[0m" in out
    assert obeyed(out) == {"\x1b"}


def test_a_page_a_table_and_a_notebook_do_not_turn_a_name_round(
    evil: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page, table, inside = (str(tmp_path / name) for name in ("page.html", "table.csv", "inside.html"))
    assert main(["watch", str(evil), "--steps", "8", "--episodes", "3", "--out", page]) == 0
    assert main(["compare", str(evil), "hc", *SHORT, "--csv", table]) == 0
    assert main(["inspect", str(evil), *SHORT, "--html", inside]) == 0
    capsys.readouterr()
    shown = {page: r"ev\\u202eil\u200b", table: "ev\\u202eil\u200b", inside: "ev\\u202eil\u200b"}
    for file, name in shown.items():
        text = Path(file).read_text()
        assert name in text
        assert "\u202e" not in text
    data = re.search(r'id="trial"[^>]*>([^<]*)<', Path(page).read_text())
    assert data is not None
    # What the page's own script makes of it: the name is shown letter by letter there, too.
    assert json.loads(data[1])["learners"][0]["name"] == "ev\\u202eil\u200b"
    result = distal.learn(evil, episodes=2, trials=1, steps=4)
    assert "\u202e" not in result._repr_html_()


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"), ("+1+1", "'+1+1"), ("-a", "'-a"), ("@sum", "'@sum"),
        (" =a", "' =a"), ("a=b", "a=b"), ("-1.5", "-1.5"),
    ],
)  # fmt: skip
def test_a_table_holds_no_name_that_a_spreadsheet_takes_for_a_formula(name: str, written: str) -> None:
    rule = published_rule(1).named(name)
    compared = distal.compare([rule, "hc"], episodes=1, trials=2, steps=2)
    _, first, *_ = csv.reader("".join(compared.csv_pieces()).splitlines())
    assert first[0] == written


@pytest.mark.parametrize(
    "command",
    [
        ["BIG"], ["maze", "BIG"], ["learn", "BIG"], ["learn", "hc", "--seed", "BIG"], ["learn", "--BIG"],
        ["learn", "hc", "--env-arg", "BIG"], ["learn", "hc", "--csv", "BIG/x"], ["--version=BIG"],
        ["runs", "BIG"], ["champions", "--prize", "BIG"], ["learn", "hc", "--cluster", "BIG"],
        ["champions", "--runs", "4", "--out", "BIG"], ["learn", "hc", "--switch", "1", "--switch-to", "BIG"],
    ],
)  # fmt: skip
@pytest.mark.parametrize("big", ["a" * 5000, "a b " * 1250, "ab/" * 1200 + "x", "\x1b" * 1000])
def test_a_refusal_shows_the_beginning_of_what_is_too_long(
    command: list[str], big: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("distal.cli.work.show_plan", lambda *_: None)
    assert len(refusal(capsys, *(word.replace("BIG", big) for word in command))) < 1300


def test_a_report_of_another_machine_is_shown_and_not_obeyed(capsys: pytest.CaptureFixture[str]) -> None:
    from distal.cli.bench import show_change

    earlier = {"distal": EVIL, "date": EVIL, "machine": {"processor": EVIL, "cores": 2}}
    for to_stderr in (False, True):
        show_change([], earlier, to_stderr)
        text = "".join(capsys.readouterr())
        assert text.count(SHOWN) == 3
        assert not obeyed(text)


def test_errors_are_one_line_whatever_they_hold(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from distal.engines.spread import WorkError

    for error in (distal.InputError(EVIL), WorkError(EVIL), KeyboardInterrupt(EVIL)):
        monkeypatch.setattr("distal.cli.maze.show_maze", Mock(side_effect=error))
        assert main(["maze"]) > 0
        err = capsys.readouterr().err
        assert SHOWN in err
        assert err.count("\n") == 1
        assert not obeyed(err)


@pytest.mark.parametrize("name", [b"\xff", b"a\x1b[31mb", b"line\nbreak", "\u202e".encode()])
def test_any_file_name_will_do(name: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rule = os.fsdecode(os.fsencode(tmp_path) + b"/" + name)
    missing, folder = f"{rule}.none", f"{rule}.runs"
    published_rule(1).save(rule)
    small = ["--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2"]
    for command, code in (
        (["rules", rule], 0),
        (["learn", rule, *SHORT, "--csv", f"{rule}.csv"], 0),
        (["evolve", *small, "--out", folder], 0),
        (["runs", folder], 0),
        (["runs", folder, "--json"], 0),
        (["evolve", *small, "--out", folder], 2),
        (["rules", missing], 2),
        (["maze", missing], 2),
        (["runs", missing], 2),
        (["learn", "paper:1", "--cluster", missing], 2),
    ):
        assert main(command) == code, command
        out, err = capsys.readouterr()
        assert not obeyed(out + err)
        assert "line\nbreak" not in out + err
        assert code == 0 or err.count("\n") == 1
    assert repr(missing)[1:-1] in err


def test_a_loop_of_links_is_no_file_and_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    loop = tmp_path / "loop"
    loop.symlink_to(loop)
    for command in (["rules"], ["maze"], ["climb"], ["runs"], ["evolve", "--resume"], ["evolve", "--out"]):
        assert str(loop) in refusal(capsys, *command, str(loop))


@pytest.mark.parametrize("load", [distal.Rule.load, distal.HillClimbing.load, distal.Maze.from_file])
def test_a_nul_in_a_name_is_refused(load: Callable[[str], object]) -> None:
    with pytest.raises(distal.InputError, match=r"file is 'a\\x00b', which no file system takes"):
        load("a\0b")


@pytest.mark.parametrize("closed", ["2>&-", ">&-", ">&- 2>&- <&-"])
def test_closed_streams_are_no_error_and_no_file_takes_their_place(closed: str, tmp_path: Path) -> None:
    table = tmp_path / "table.csv"
    command = ("sh", "-c", f'exec "$@" {closed}', "sh", *DISTAL, "learn", "paper:1", *PLAIN, "--csv")
    with started(*command, table) as process:
        _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert len(table.read_text().splitlines()) == 1 + 8 * 12


@pytest.mark.parametrize("variables", [{"COLUMNS": "1"}, {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}])
def test_a_narrow_or_plain_terminal_is_no_error(variables: dict[str, str]) -> None:
    with started(*DISTAL, "learn", "paper:1", *PLAIN, env={**os.environ, **variables}) as process:
        out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "Beats chance" in out


SMALL = ["--steps", "8", "--hidden", "3"]


@pytest.mark.parametrize(
    "command",
    [
        ["learn", "paper:1", "--episodes", "2", "--trials", "1"],
        ["compare", "paper:1", "hc", "--episodes", "2", "--trials", "1"],
        ["evolve", "--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2", "--out", "runs"],
        ["reproduce", "--out", "paper"],
        ["watch", "paper:1", "--episodes", "2", "--out", "page.html"],
    ],
    ids=lambda command: command[0],
)
def test_a_command_chooses_its_engine_once_and_has_one_runner(
    command: list[str], maze_file: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    chosen, made, begin = Mock(side_effect=resolve), Mock(), Runner.__init__

    def counted(*given: Any, **options: Any) -> None:
        made()
        begin(*given, **options)

    for module in ("registry", "runner", "spread"):
        monkeypatch.setattr(sys.modules[f"distal.engines.{module}"], "resolve", chosen)
    monkeypatch.setattr(Runner, "__init__", counted)
    monkeypatch.setitem(Experiments.SCALES, "quick", Scale("quick", 1, 0, 3))
    monkeypatch.setattr(ReproductionReport, "write", Mock(side_effect=InputError("all is run")))
    monkeypatch.chdir(tmp_path)
    engine = ["--engine", "cpu"] if command[0] != "watch" else []
    assert main([*command, *SMALL, *engine, "--maze", maze_file]) == (2 if command[0] == "reproduce" else 0)
    assert (chosen.call_count, made.call_count) == (1, 1)


def test_mazes_are_given_by_name(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "maze", "triple-t").startswith(str(distal.maze("triple-t")))
    wide = json.loads(output(capsys, "learn", "paper:1", "--maze", "triple-t", "--trials", "1", "--json"))
    assert wide["maze"] == list(distal.maze("triple-t").picture)
    found = json.loads(output(capsys, "maze", "--list", "--json"))
    assert list(found) == ["triple-t", "narrow-t", "narrow-h"]
    drawn = output(capsys, "maze", "--list")
    assert all(name in drawn for name in found)


def test_t_mazes_have_levels_and_a_width(capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "maze", "--levels", "2", "--width", "3") == f"{distal.t_maze(2, 3)}\n"


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["maze", "narow-t"], "no maze and no file is called 'narow-t'"),
        (["maze", "--width", "2"], "--width is for a T-maze of some levels"),
        (["maze", "--list", "--levels", "2"], "--list shows all mazes that have a name"),
        (["learn", "paper:1", "--maze", "triple-t", "--levels", "2"], "--maze and --levels are both given"),
    ],
)
def test_mazes_that_are_none_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert main(arguments) == 2
    assert capsys.readouterr().err.startswith(f"distal: error: {problem}")
