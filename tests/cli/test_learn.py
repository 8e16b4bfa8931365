"""`distal learn` and `distal climb`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import distal
from distal import learn, published_rule
from distal.cli import learn as learn_command
from distal.cli import terminal
from tests.command_line import output, output_json, refusal
from tests.evaluation.test_difference import result_of
from tests.given import some
from tests.mazes import T

SHORT = ["--episodes", "12", "--trials", "1", "--steps", "8"]


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


def test_one_of_a_thing_is_written_in_the_singular(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    corridor = tmp_path / "corridor.txt"
    corridor.write_text("####\n#S0#\n####\n")
    text = output(capsys, "learn", "hc", "--maze", str(corridor), "--trials", "1", "--episodes", "1")
    assert "\n1 trial (1 for each of 1 final position), 1 episode, seed 0" in text
    page = ["--out", str(tmp_path / "page.html")]
    assert ": 1 episode, seed 0" in output(capsys, "watch", "hc", "--episodes", "1", "--steps", "9", *page)


def test_the_command_line_shows_chance_beside_a_rule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    few = ["--trials", "1", "--episodes", "20"]
    result = learn("paper:1", trials=1, episodes=20, keep_ep=True)
    assert result.difference is not None
    data = json.loads(output(capsys, "learn", "paper:1", *few, "--json"))
    assert data["chance"]["fitness"] == some(result.chance).fitness
    assert data["chance"]["difference"] == result.difference.mean
    assert data["chance"]["difference_standard_error"] == result.difference.standard_error
    assert data["chance"]["p"] == result.difference.p
    assert data["chance"]["behaviour"] == some(some(result.chance).behaviour).to_dict()
    assert "curves" not in data
    data = json.loads(output(capsys, "learn", "paper:1", *few, "--json", "--curves"))
    assert data["curves"] == {"best": result.best.tolist(), "ep": some(result.ep).tolist()}
    assert "chance" not in json.loads(output(capsys, "learn", "paper:1", *few, "--json", "--no-chance"))
    table = tmp_path / "curves.csv"
    output(capsys, "learn", "paper:1", *few, "--csv", str(table))
    assert table.read_text() == result.to_csv().replace("\r\n", "\n")
    text = output(capsys, "climb", "--sigma", "0.1", "--alpha-h", "0.2", "--alpha-o", "0.2", *few)
    for part in ("hill climbing, sigma 0.1", "chance", "Beats chance:"):
        assert part in text


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
    note = "; the climb keeps its best weights and tries a change to them in each episode."
    assert " ".join(climber.split()).endswith(note)
    assert "climb" not in rule
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


def test_learn_saves_the_result_with_its_weights(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = str(tmp_path / "result.npz")
    printed = output_json(capsys, "learn", "hc", *SHORT, "--save", path)
    kept = distal.Result.load(path)
    assert {**kept.to_dict(), "version": distal.__version__} == printed
    assert kept.agent(3).name == "hill climbing, trial 3"
    assert (
        output_json(capsys, "climb", *SHORT, "--save", path)["best"]
        == distal.Result.load(path).final.tolist()
    )
    said = refusal(capsys, "learn", "hc", *SHORT, "--save", str(tmp_path / "result.json"))
    assert "expected a name that ends in .npz" in said


def test_a_result_that_takes_too_much_memory_to_save_is_refused_in_the_words_of_the_command(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISTAL_MEMORY", "1M")
    said = refusal(capsys, "learn", "hc", "--trials", "9999", "--save", str(tmp_path / "result.npz"))
    assert "ask for fewer trials or episodes, add --no-chance, leave out --save, or set" in said
