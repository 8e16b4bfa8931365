"""`distal compare`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import distal
from distal import HillClimbing
from tests.command_line import output, output_json, refusal
from tests.evaluation.test_comparison import IDLE, SMALL
from tests.given import some
from tests.mazes import T

OPTIONS = ["--episodes", "6", "--steps", "8", "--hidden", "4"]


@pytest.fixture
def maze(tmp_path: Path) -> list[str]:
    path = tmp_path / "maze.txt"
    path.write_text(str(T))
    return ["--maze", str(path)]


def test_the_command_prints_and_writes_what_python_returns(
    capsys: pytest.CaptureFixture[str], maze: list[str], tmp_path: Path
) -> None:
    files = [str(tmp_path / name) for name in ("out.json", "curves.csv", "figure.svg")]
    idle = str(tmp_path / "idle.json")
    IDLE.save(idle)
    command = ["compare", idle, "hc", "--sigma", "0.5", *OPTIONS, *maze, "--trials", "3", "--seed", "2"]
    data = output_json(
        capsys, *command, "--resample", "4", "--out", files[0], "--csv", files[1], "--figure", files[2]
    )
    climber = distal.find_learner("hc")
    expected = distal.compare(
        [IDLE, HillClimbing(0.5, climber.numbers["alpha_h"], climber.numbers["alpha_o"])],
        trials=3,
        seed=2,
        resample=4,
        **SMALL,
    )
    assert data == {"version": distal.__version__, **json.loads(json.dumps(expected.to_dict()))}
    assert json.loads(Path(files[0]).read_text()) == data
    assert Path(files[1]).read_bytes().decode() == "".join(expected.csv_pieces())
    svg = Path(files[2]).read_text()
    assert all(word in svg for word in ("idle", "hill climbing", "chance", "mean best EP so far"))


def test_the_table_fits_in_80_columns_and_says_what_is_decided(
    capsys: pytest.CaptureFixture[str], maze: list[str], tmp_path: Path
) -> None:
    named = str(tmp_path / "named.json")
    IDLE.named("a rule with a rather long name [bold]").save(named)
    text = output(capsys, "compare", named, "hc", "chance", "--trials", "20", *OPTIONS, *maze)
    assert max(map(len, text.splitlines())) <= 80
    assert "[bold]" in text
    assert "corrected for all pairs (Holm)" in text
    assert "chance is better than a rule with a rather long name [bold].\n" in text


def test_the_table_shows_chance_and_the_numbers(capsys: pytest.CaptureFixture[str], maze: list[str]) -> None:
    both = distal.compare(["paper:1", "hc"], **SMALL)
    text = output(capsys, "compare", "paper:1", "hc", *OPTIONS, *maze)
    assert max(map(len, text.splitlines())) <= 80
    (difference,) = both.differences
    for result, (low, high) in zip(both.results, both.intervals, strict=True):
        assert f"{result.fitness:.2f} ({low:.2f}, {high:.2f})" in text
        assert f"{some(result.chance).fitness:.2f}" in text
    low, high = difference.interval
    assert f"{difference.mean:+.2f} ({low:+.2f}, {high:+.2f})" in text
    assert f"{difference.verdict}." in text
    assert "p: signed-rank in pairs, rank-sum unpaired" in text


def test_the_command_adds_trials(capsys: pytest.CaptureFixture[str], maze: list[str], tmp_path: Path) -> None:
    idle, figure = str(tmp_path / "idle.json"), tmp_path / "figure.png"
    IDLE.save(idle)
    command = ["compare", idle, "chance", *OPTIONS, *maze, "--until-decided", "--most-trials", "90"]
    text = output(capsys, *command, "--figure", str(figure))
    assert "chance is better than idle." in text
    assert "confidence sequence" in text
    assert "p:" not in text
    assert figure.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["hc", "chance", "--most-trials", "9"], "--most-trials is for --until-decided"),
        (["hc", "chance", "--figure", "curves.pdf"], "'curves.pdf', expected a name that ends in .png or .s"),
        (["hc", "paper:1", "--trials", "100000000"], "fewer trials or episodes"),
    ],
)
def test_what_the_command_cannot_do_is_refused(
    arguments: list[str], problem: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "1G")
    assert problem in refusal(capsys, "compare", *arguments)


def test_an_environment_is_compared_in(capsys: pytest.CaptureFixture[str]) -> None:
    lake = ["--env", "FrozenLake-v1", "--env-arg", "is_slippery=false", "--trials", "2", "--episodes", "2"]
    data = output_json(capsys, "compare", "paper:1", "hc", *lake)
    assert data["trials"] == 2
    assert len(data["learners"][0]["best"]) == 2
    assert "task" in data


def test_the_table_says_which_scales_chance_has(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--trials", "1", "--episodes", "5"]
    text = output(capsys, "compare", "evolved:1", "chance", *few)
    assert "chance: random weights in every episode, with α_h " in text
    text = output(capsys, "compare", "evolved:1", "hc", *few)
    assert "chance: random weights in every episode, the learner's own α; p: paired t-test" in text
