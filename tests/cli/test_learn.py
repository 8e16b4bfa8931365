"""`distal learn` and `distal climb`."""

from __future__ import annotations

from pathlib import Path

import pytest

import distal
from distal import published_rule
from tests.command_line import output, output_json
from tests.mazes import T

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]


@pytest.fixture
def maze_file(tmp_path: Path) -> str:
    path = tmp_path / "a maze.txt"
    path.write_text(str(T) + "\n")
    return str(path)


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
