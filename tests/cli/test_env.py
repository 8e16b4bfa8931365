"""Environments on the command line: `distal env`, and `--env` of learn, climb and evolve."""

from __future__ import annotations

import csv
import re
import sys
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import TableTask
from distal.base import memory
from distal.cli import main
from distal.cli.runs import resume_command
from tests.command_line import output, output_json, refusal
from tests.given import some

gymnasium = pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")

DRY = ["--env-arg", "is_slippery=false"]
SHORT = ["--trials", "2", "--episodes", "4", "--hidden", "3"]
TINY = ["--runs", "1", "--generations", "1", "--population", "3", "--elite-count", "1", *SHORT]


class Odd(gymnasium.Env[Any, Any]):  # type: ignore[misc, name-defined]
    """One that has something wrong with it, by its argument."""

    def __init__(self, wrong: str = "") -> None:
        self.observation_space = gymnasium.spaces.MultiBinary(2**20 + 1 if wrong == "bits" else 3)
        self.action_space = gymnasium.spaces.Discrete(2)
        self.wrong = wrong

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Any, Any]:
        super().reset(seed=seed)
        return np.ones(3, np.int8), {}

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        known = {"nan": float("nan"), "tiny": 0.0001}
        reward = known.get(self.wrong) or float(self.np_random.normal())
        return np.ones(3, np.int8), reward, bool(self.np_random.integers(2)), False, {}


@pytest.fixture(autouse=True)
def known(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Make the environment known by an id, and winners be measured quickly."""
    monkeypatch.setattr("distal.search.config.REMEASURED", 4)
    gymnasium.register("tests/Odd-v0", entry_point=Odd, disable_env_checker=True)  # it would warn
    yield
    del gymnasium.registry["tests/Odd-v0"]


# ---------------------------------------------------------------- distal env


def test_a_table_is_shown_with_what_a_network_senses_and_what_chance_scores(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output(capsys, "env", "FrozenLake-v1", *DRY, *SHORT)
    for line in (
        r"^FrozenLake-v1$",
        r"^observations +Discrete\(16\)$",
        r"^inputs +4 bits, binary$",
        r"^outputs +4 actions: left, down, right, up$",
        r"^steps +100 per episode$",
        r"^speed +about [1-9][\d,]+ steps a second on \d+ cores? with a network of 3 hidden neurons: "
        r"a table of 16 states, for all engines$",
        r"^reached +at an EP of -0\.7 or less$",
        r"chance, 2 trials of 4 episodes",
        r"mean best EP +-?\d",
    ):
        assert re.search(line, text, re.MULTILINE), line
    data = output_json(capsys, "env", "FrozenLake-v1", *DRY, *SHORT)
    assert (data["inputs"], data["outputs"], data["states"], data["table"]) == (4, 4, 16, True)
    assert (data["name"], data["encoder"], data["why_no_table"]) == ("FrozenLake-v1", "binary", None)
    task = distal.task_of("FrozenLake-v1", args={"is_slippery": False})
    right = distal.learn("chance", task=task, trials=2, episodes=4, hidden=3, keep_ep=True)
    assert data["chance"]["best"] == right.final.tolist()


def test_what_is_no_table_is_shown_with_the_reason(
    capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    text = output(capsys, "env", "tests/Odd-v0", *SHORT)
    how = "stepped in Python by engines steps and reference; no table, because the result of action"
    assert re.search(rf"^speed +about [1-9][\d,]+ steps a second on .*: {how}", text, re.MULTILINE)
    compiled = output(capsys, "env", "compiled:CartPole", *SHORT)
    how = "compiled, for engines steps and reference"
    assert re.search(rf"^speed +about [1-9][\d,]+ steps a second on .*: {how}$", compiled, re.MULTILINE)
    assert not [line for line in caplog.messages if not line.startswith("compiling ")]
    data = output_json(capsys, "env", "CartPole-v1", *SHORT, "--encode", "bins:3:quantiles", "--starts", "2")
    assert (data["inputs"], data["table"], data["states"]) == (8, False, None)
    assert data["goals"] == ["0", "1"]
    assert data["why_no_table"].startswith("a Box observation")
    assert (data["observations"][:4], data["actions"]) == ("Box(", "Discrete(2)")


def test_a_table_that_was_saved_is_a_task_like_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert "table: lake.npz" in output(capsys, "env", "FrozenLake-v1", *DRY, *SHORT, "--save", "lake.npz")
    assert TableTask.load("lake.npz").states == 16
    there = output_json(capsys, "learn", "evolved:1", "--env", "FrozenLake-v1", *DRY, *SHORT)
    here = output_json(capsys, "learn", "evolved:1", "--env", "lake.npz", *SHORT)
    assert (here["best"], here["chance"], here["engine"]) == (there["best"], there["chance"], "cpu")
    assert output_json(capsys, "env", "lake.npz", *SHORT)["states"] == 16


# ---------------------------------------------------------------- learn, climb, evolve


def test_learn_is_that_of_python(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options: Any = {"trials": 2, "episodes": 4, "hidden": 3, "keep_ep": True}
    task = distal.task_of("CliffWalking-v1", encode="one-hot", starts=2)
    chosen = ["--env", "CliffWalking-v1", "--encode", "one-hot", "--starts", "2", *SHORT]
    rows = tmp_path / "rows.csv"
    data = output_json(capsys, "learn", "evolved:1", *chosen, "--csv", str(rows))
    right = distal.learn("evolved:1", task=task, **options)
    assert (data["best"], data["task"]["inputs"]) == (right.final.tolist(), 48)
    found = list(csv.DictReader(rows.read_text().splitlines()))
    assert [row["goal"] for row in found] == 2 * [*"00001111"]
    assert [int(row["ep"]) for row in found] == some(right.ep).ravel().tolist()
    text = output(capsys, "learn", "evolved:1", *chosen)
    assert "4 trials (2 for each of 2 goals) in CliffWalking-v1, 4 episodes" in text
    assert "final position" not in text
    assert "perfect agent" not in text


def test_an_environment_without_a_target_has_no_success_to_speak_of(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output(capsys, "learn", "evolved:1", "--env", "tests/Odd-v0", *SHORT)
    assert "reached" not in text
    assert "Keeps what it found" not in text
    assert "Beats chance: " in text
    assert "outputs winner" in text
    assert "blocked" not in text  # there are no walls


def test_a_table_that_is_too_wide_for_the_fastest_engines_is_compiled_all_the_same(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["env", "Taxi-v4", "--encode", "one-hot", "--starts", "2", *SHORT]) == 0  # 500 inputs
    text = capsys.readouterr().out
    how = r"a table of [\d,]+ states, for engines steps and reference \(cpu and gpu take 64 inputs and 16 act"
    assert re.search(rf"^speed +about [1-9][\d,]+ steps a second on .*: {how}", text, re.MULTILINE)


def test_a_module_of_this_folder_is_named_by_the_command_that_resumes(
    here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # A private table: what other tests have imported.
    monkeypatch.setattr("distal.base.plugins._imported", {})
    monkeypatch.setattr(sys, "path", list(sys.path))
    (here / "my_bits.py").write_text("def even(observation):\n    return [int(observation) % 2]\n")
    (here / "bins.py").write_text("raise SystemExit('a word, and no module')")
    output(capsys, "env", "FrozenLake-v1", *DRY, "--encode", "my_bits:even", *SHORT)
    assert resume_command("runs") == "distal evolve --resume runs --import my_bits"
    output(capsys, "env", "MountainCar-v0", "--encode", "bins:3", *SHORT)


def test_no_mean_is_minus_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    # An EP of a step is −0.0001.
    for command in (["env"], ["learn", "evolved:1", "--env"]):
        text = output(capsys, *command, "tests/Odd-v0", "--env-arg", "wrong=tiny", *SHORT)
        assert "0.00 ± 0.00" in text
        assert not re.search(r"[-−]0\.0*(?![\d.])", text)


# ---------------------------------------------------------------- refused

WRONG: dict[str, tuple[list[str], str]] = {
    "an unknown id": (["--env", "FrozenLak-v1"], "did you mean 'FrozenLake-v1'?"),
    "actions that are no choice": (["--env", "Pendulum-v1"], "and a network chooses among a few; add --acti"),
    "an argument without a value": (
        ["--env", "CartPole-v1", "--env-arg", "is_slippery"],
        "'is_slippery' should be NAME=VALUE, such as is_slippery=false",
    ),
    "no starts": (["--env", "CartPole-v1", "--starts", "0"], "--starts is 0, expected a whole number from 1"),
    "a word that is none": (["--env", "CartPole-v1", "--encode", "bin:3"], "--encode holds 'bin:3', expecte"),
    "an engine that cannot run it": (
        ["--env", "CartPole-v1", "--engine", "cpu"],
        "CartPole-v1 has no table, which engines cpu and gpu need; ",
    ),
}
TWO_TASKS: dict[str, tuple[list[str], str]] = {
    "a maze beside it": (["--env", "CartPole-v1", "--maze", "maze.txt"], "--maze and --env are both given;"),
    "a heading beside it": (["--env", "CartPole-v1", "--heading", "south"], "--heading is for a maze; leave"),
    "a word without an environment": (["--encode", "binary"], "--encode is for an environment; name one wit"),
    "starts without an environment": (["--starts", "2"], "--starts is for an environment; name one with"),
    "an argument without an environment": (["--env-arg", "a=1"], "--env-arg is for an environment; name one"),
}
COMMANDS = {
    "learn": ["learn", "evolved:1", *SHORT, "--csv", "new.csv"],
    "climb": ["climb", *SHORT, "--csv", "new.csv"],
    "evolve": ["evolve", *TINY, "--out", "new"],
}


@pytest.mark.parametrize(
    ("command", "what"), [*product(COMMANDS, [*WRONG, *TWO_TASKS]), *product(["env"], WRONG)]
)
def test_a_wrong_environment_is_refused_in_one_line_and_nothing_is_written(
    command: str, what: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    given, problem = {**WRONG, **TWO_TASKS}[what]
    line = ["env", *given[1:], *SHORT] if command == "env" else [*COMMANDS[command], *given]
    assert problem in refusal(capsys, *line)
    assert not list(here.iterdir())


def test_an_observation_for_a_function_of_ones_own_has_no_line(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (here / "signs_of.py").write_text("def signs(seen):\n    return [int(x > 0) for x in seen]\n")
    assert main(["env", "CartPole-v1", "--encode", "signs_of:signs", *SHORT]) == 0
    text = capsys.readouterr().out
    assert not re.search("^observations", text, re.MULTILINE)
    assert re.search(r"^inputs +4 bits, function signs_of:signs$", text, re.MULTILINE)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        (["CartPole-v1", "--save", "new.npz"], "--save needs a table: a Box observation"),
        (["CliffWalking-v1", "--save", "new.txt"], "--save is 'new.txt', expected a name that ends in .npz"),
        (["FrozenLake-v1", *DRY, "--save", "new.npz", "--steps", "101"], "ends an episode after 100"),
    ],
)
def test_what_cannot_be_shown_or_saved_leaves_no_file(
    given: list[str], problem: str, here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert problem in refusal(capsys, "env", *given)
    assert not list(here.iterdir())


def test_curves_of_fractions_need_more_memory(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    curves = ["learn", "hc", "--no-chance", "--trials", "1", "--episodes", "2000", "--steps", "1", "--curves"]
    whole = memory.evaluation(1, 2000, curves=2, listed=memory.LISTED, instead="").total
    monkeypatch.setenv(memory.SETTING, str(whole))
    assert main([*curves, "--json", "--env", "CliffWalking-v1"]) == 0
    capsys.readouterr()
    said = refusal(capsys, *curves, "--json", "--env", "tests/Odd-v0")
    assert "1 trial of 2,000 episodes needs" in said
    assert "most of it for JSON" in said
