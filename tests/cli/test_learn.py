"""`distal learn` and `distal climb`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import distal
from distal import Result, learn, published_rule
from distal.cli import learn as learn_command
from distal.cli import main, terminal
from tests.command_line import output, output_json, refusal
from tests.evaluation.test_difference import result_of
from tests.given import some
from tests.mazes import T

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]
ASKED: Any = {"episodes": 12, "trials": 1, "steps": 8}


def printed(result: Result) -> dict[str, Any]:
    """Return what a command prints of a result as JSON."""
    return {"version": distal.__version__, **json.loads(json.dumps(result.to_dict()))}


def test_learn_prints_what_python_returns_with_every_option(
    capsys: pytest.CaptureFixture[str], maze_file: str
) -> None:
    options = {
        "outputs": "binary", "blocked": "stay", "m_ties": "punish", "trace_pre": "previous",
        "normalise": "layer", "neurons": "sigmoid", "resample": 4, "seed": 3, "hidden": 6,
    }  # fmt: skip
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    words += ["--maze", maze_file, "--heading", "east", "--engine", "reference", "--workers", "1"]
    data = output_json(capsys, "learn", "paper:2", *SHORT, *words)
    asked: Any = {"maze": distal.Maze(T.picture, "east"), **ASKED, **options}
    assert data == printed(learn("paper:2", engine=distal.Runner("reference", 1), keep_ep=True, **asked))
    assert {name: data[name] for name in options} == options
    assert data["chance"]["fitness"] > 0


def test_climb_takes_its_three_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    parameters = ["--sigma", "0.2", "--alpha-h", "0.1", "--alpha-o", "0.3"]
    climber = distal.HillClimbing(0.2, 0.1, 0.3)
    assert output_json(capsys, "climb", *parameters, *SHORT) == printed(learn(climber, keep_ep=True, **ASKED))
    assert output_json(capsys, "climb", *SHORT) == output_json(capsys, "learn", "hc", *SHORT)


def test_curves_a_table_and_all_weights_are_written_on_request(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    result = learn("paper:1", keep_ep=True, **ASKED)
    data = output_json(capsys, "learn", "paper:1", *SHORT, "--curves")
    assert data["curves"] == {"best": result.best.tolist(), "ep": some(result.ep).tolist()}
    assert "chance" not in output_json(capsys, "learn", "paper:1", *SHORT, "--no-chance")
    table, path = tmp_path / "curves.csv", tmp_path / "result.npz"
    for command in (["learn", "paper:1"], ["climb"]):
        told = output_json(capsys, *command, *SHORT, "--csv", str(table), "--save", str(path))
        kept = distal.Result.load(path)
        assert printed(kept) == told
        assert kept.agent(3).name.endswith(", trial 3")
        assert table.read_text() == kept.to_csv().replace("\r\n", "\n")
    said = refusal(capsys, "learn", "hc", *SHORT, "--save", str(tmp_path / "result.json"))
    assert "expected a name that ends in .npz" in said


def test_one_of_a_thing_is_written_in_the_singular(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    corridor = tmp_path / "corridor.txt"
    corridor.write_text("####\n#S0#\n####\n")
    text = output(capsys, "learn", "hc", "--maze", str(corridor), "--trials", "1", "--episodes", "1")
    assert "\n1 trial (1 for each of 1 final position), 1 episode, seed 0" in text
    page = ["--out", str(tmp_path / "page.html")]
    assert ": 1 episode, seed 0" in output(capsys, "watch", "hc", "--episodes", "1", "--steps", "9", *page)


def test_one_screen_says_whether_a_rule_beats_chance_and_keeps_what_it_found(
    capsys: pytest.CaptureFixture[str],
) -> None:
    text = output(capsys, "learn", "evolved:1", "--trials", "20")
    result = learn("evolved:1", trials=20)
    beats, keeps = text.splitlines()[-2:]  # last, so that they stay on a small screen
    assert beats == f"Beats chance: yes (p = {some(result.difference).p:.2g}, paired t-test)."
    assert keeps.startswith("Keeps what it found: no. Retention ")
    assert keeps.endswith("% (threshold 50%): episodes after the first success that reach the goal again.")
    assert len(text.splitlines()) <= 40
    assert max(map(len, text.splitlines())) <= 120


def test_the_short_form_is_the_first_numbers_and_the_first_verdict(
    capsys: pytest.CaptureFixture[str],
) -> None:
    few = ["evolved:1", "--trials", "2"]
    whole = [line.rstrip() for line in output(capsys, "learn", *few).splitlines()]
    short = [line.rstrip() for line in output(capsys, "learn", *few, "--brief").splitlines() if line.strip()]
    starts = (
        " lower EP is better", " ± standard error", " ───", " fitness: mean best EP",
        " trials that reached the goal", " reached after first success", "Beats chance: ",
    )  # fmt: skip
    assert all(line.startswith(start) for line, start in zip(short, starts, strict=True))
    assert set(short) <= set(whole)
    moving = output(capsys, "learn", *few, "--switch", "50", "--brief")
    assert " phases that reached the goal" in moving
    for command in (["learn", *few], ["climb"], ["evolve", "--out", "nowhere"]):
        problem = refusal(capsys, *command, "--brief", "--json")
        assert "--brief shortens the tables, and --json prints none;" in problem


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["learn", "paper:1", "--env", "compiled:CartPole", "--blocked", "stay"],
         "--blocked has no effect in compiled:CartPole"),
        (["learn", "chance", "--normalise", "layer"], "--normalise has no effect on chance"),
        (["compare", "hc", "chance", "--m-ties", "punish"],
         "--m-ties has no effect on hill climbing and chance"),
    ],
)  # fmt: skip
def test_a_reading_without_an_effect_is_named(
    caplog: pytest.LogCaptureFixture, command: list[str], told: str
) -> None:
    assert main([*command, "--trials", "1", "--episodes", "2", "--steps", "3"]) == 0
    assert [line for line in caplog.messages if "effect" in line] == [told]


def test_a_reading_with_an_effect_is_not_named(caplog: pytest.LogCaptureFixture) -> None:
    few: dict[str, Any] = {"trials": 1, "episodes": 2, "steps": 3}
    learn("paper:1", normalise="layer", blocked="stay", **few)
    distal.compare(["paper:1", "hc"], normalise="layer", **few)
    assert caplog.messages == []
    learn("hc", normalise="layer", **few)
    assert caplog.messages == ["normalise has no effect on hill climbing"]


@pytest.mark.parametrize(
    ("own", "verdict"),
    [([90, 91, 92, 93], "yes (p = "), ([110, 111, 112, 113], "no, it is worse (p = "),
     ([90, 111, 92, 113], "not shown (p = ")],
)  # fmt: skip
def test_the_verdict_has_three_words(
    capsys: pytest.CaptureFixture[str], own: list[int], verdict: str
) -> None:
    learn_command.show_result(result_of([[value] for value in own], [[100], [102], [102], [101]]))
    assert f"Beats chance: {verdict}" in capsys.readouterr().out


def test_a_terminal_of_80_columns_shows_every_number(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(learn_command, "console", lambda: terminal.PlainConsole(width=80))
    rule = replace(published_rule(1), name="run 15, seed 10")
    for learner in ("evolved:1", rule, "hc", "chance"):
        result = learn(learner, trials=2, episodes=10_000, keep_ep=True)
        learn_command.show_result(result)
        text = capsys.readouterr().out
        assert "…" not in text
        tables = [line.rstrip() for line in text.splitlines() if line.startswith(" ")]
        assert max(map(len, tables)) <= 78
        for one in (result, result.chance):
            if one is not None:
                assert f"{one.fitness:.2f} ± {one.standard_error:.2f}" in text


def test_every_final_position_has_chance_beside_it(capsys: pytest.CaptureFixture[str]) -> None:
    result = learn("evolved:1", trials=3)
    learn_command.show_result(result)
    text = capsys.readouterr().out
    rows = [line.split() for line in text.splitlines()]
    assert ["final", "position", "distance", "mean", "best", "EP", "chance", "reached", "chance"] in rows
    for g, symbol in enumerate(some(result.maze).symbols):
        own, by_chance = result.final[g::8], some(result.chance).final[g::8]
        numbers = [f"{own.mean():.2f}", f"{by_chance.mean():.2f}"]
        shares = [f"{(own < 100).mean():.0%}", f"{(by_chance < 100).mean():.0%}"]
        assert [symbol, str(some(result.maze).start_distances[g]), *numbers, *shares] in rows
    learn_command.show_result(replace(result, chance=None))
    assert "chance" not in capsys.readouterr().out


def test_only_what_applies_to_a_learner_is_said_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    few = ["--trials", "2", "--episodes", "100"]
    rule, climber, by_chance = (output(capsys, "learn", name, *few) for name in ("paper:1", "hc", "chance"))
    for reading in ("m_ties", "trace_pre", "normalise"):
        assert reading in rule
        assert reading not in climber + by_chance
    for reading in ("outputs winner", "blocked turn"):
        assert all(reading in text for text in (rule, climber, by_chance))
    assert "Keeps what it found" in rule
    assert "Keeps what it found" not in by_chance


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["learn", "paper:1", "--curves"], "--curves is for --json"),
        (["learn", "paper:1", "--sigma", "0.1"], "--sigma is for hc, es and cma alone"),
        (["learn", "paper:1", "--alpha-h", "0.1"], "--alpha-h is for hc, chance, eligibility, online, neuro"),
    ],
)
def test_options_that_mean_nothing_are_refused(
    capsys: pytest.CaptureFixture[str], arguments: list[str], problem: str
) -> None:
    assert problem in refusal(capsys, *arguments)


def test_a_result_that_takes_too_much_memory_to_save_is_refused_in_the_words_of_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "1M")
    said = refusal(capsys, "learn", "hc", "--trials", "9999", "--save", str(tmp_path / "result.npz"))
    assert "ask for fewer trials or episodes, add --no-chance, leave out --save, or set" in said
