"""The scripts in examples/: each runs on its own, in under a minute, and does what its top says."""

from __future__ import annotations

import ast
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import distal
from distal.learners import chance_for
from tests.given import some

EXAMPLES = Path(__file__).parents[2] / "examples"
Run = Callable[[str], str]
NUMBER = r"(-?\d+\.\d\d)"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Return what runs an example in a folder of its own, in this process, and returns what it printed.

    This process has loaded all they need, and has warnings as errors; one of them is run alone.
    """

    def example(name: str) -> str:
        monkeypatch.chdir(tmp_path)
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return example


def run_alone(name: str, folder: Path) -> str:
    """Run an example in a process of its own, with warnings as errors; return what it printed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", EXAMPLES / name],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def fitness(printed: str, name: str) -> float:
    """Return the number on the line of a method."""
    found = re.search(rf"^\s*{re.escape(name)}\s+{NUMBER}", printed, re.MULTILINE)
    assert found is not None, printed
    return float(found[1])


@pytest.mark.parametrize("script", sorted(EXAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_an_example_says_at_its_top_what_it_writes_and_how_long_it_takes(script: Path) -> None:
    text = some(ast.get_docstring(ast.parse(script.read_text(encoding="utf-8"))))
    assert f"\nRun it: python examples/{script.name}\n" in text
    assert re.search(r"^Writes: \S", text, re.MULTILINE)
    seconds = some(re.search(r"^Takes: about (\d+) seconds on two cores", text, re.MULTILINE))
    assert int(seconds[1]) < 60
    assert f"def test_{script.stem}_" in Path(__file__).read_text(encoding="utf-8")


def test_own_maze_compares_in_a_maze_of_its_own_and_draws(tmp_path: Path) -> None:
    printed = run_alone("own_maze.py", tmp_path)
    assert "a perfect agent has 12" in printed
    names = ("champion:1", "evolved:1", "paper:3", "hill climbing")
    chance = dict(re.findall(rf"^(\S.*?) {{2,}}.* chance {NUMBER}$", printed, re.MULTILINE))
    assert sorted(chance) == sorted(names)
    assert all(12 <= fitness(printed, name) < 60 for name in names)
    assert fitness(printed, "evolved:1") < float(chance["evolved:1"])
    drawn = (tmp_path / "own_maze.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in (*names, "chance", "perfect agent", "mean best EP"))
    assert [path.name for path in tmp_path.iterdir()] == ["own_maze.svg"]


def test_evolve_and_inspect_shows_the_rows_of_the_rule_it_writes(run: Run, tmp_path: Path) -> None:
    printed = run("evolve_and_inspect.py")
    rule = distal.Rule.load(tmp_path / "inspected_rule.json")
    whole = distal.learn(rule, trials=50, seed=1)
    said = f"{whole.fitness:.2f} ± {whole.standard_error:.2f}, chance {some(whole.chance).fitness:.2f}"
    assert f"the whole rule, 400 trials: {said}" in printed
    assert re.search(rf"^selected {NUMBER}, re-measured {NUMBER} ± {NUMBER}, chance {NUMBER}$", printed, re.M)
    rows = re.findall(r"^ *(\d+)   [01]  [01]  [01]  [01]  [+-]1 +(-?\d) +(\d+\.\d)%", printed, re.MULTILINE)
    assert len(rows) == 12
    assert all(rule.delta_w[int(row)] == int(change) for row, change, _ in rows)
    shares = [float(share) for _, _, share in rows]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 100.5


def test_compare_your_method_sets_a_foreign_learner_beside_ours_and_chance(run: Run, tmp_path: Path) -> None:
    printed = run("compare_your_method.py")
    assert "16 trials of 100 episodes" in printed
    assert 38.5 <= fitness(printed, "search over finite-state machines") < 110
    for name, learner in (
        *((f"DSP, the rule {name}", name) for name in ("evolved:1", "champion:1", "champion:2", "paper:1")),
        ("chance: fresh weights every episode", chance_for(distal.find_rule("evolved:1"))),
    ):
        result = distal.learn(learner, trials=2, keep_ep=True)
        assert fitness(printed, name) == pytest.approx(result.fitness, abs=0.0051)
        line = next(line for line in printed.splitlines() if line.startswith(name))
        # The share by hand: every episode after the first below 100, trial by trial.
        after = [ep for trial in some(result.ep).tolist() for ep in after_success(trial)]
        assert line.endswith(f" {sum(ep < 100 for ep in after) / len(after):.1%}")
    assert not list(tmp_path.iterdir())


def after_success(eps: list[int]) -> list[int]:
    """Return the EPs of the episodes after the first that reached the goal."""
    first = next((n for n, ep in enumerate(eps) if ep < 100), len(eps))
    return eps[first + 1 :]


def test_own_task_evolves_for_its_room_and_its_agent_leaves_it(run: Run, tmp_path: Path) -> None:
    printed = run("own_task.py")
    assert "49 states, 5 bits, 4 actions" in printed
    winners = re.findall(rf"^run \d  {NUMBER} on fresh trials, chance {NUMBER}$", printed, re.MULTILINE)
    assert len(winners) == 2
    assert all(12 <= float(own) < float(chance) <= 50 for own, chance in winners)
    assert 12 <= fitness(printed, "fitness") < fitness(printed, "chance")
    found = some(re.search(r"^its way out: (\S+)$", printed, re.MULTILINE))
    way = found[1]
    # The way by hand: from the middle of five by five cells, key in the first, door in the last.
    place, keys = [2, 2], []
    for arrow in way:
        axis, change = {"↑": (0, -1), "↓": (0, 1), "←": (1, -1), "→": (1, 1)}[arrow]
        place[axis] = min(max(place[axis] + change, 0), 4)
        keys.append(place == [0, 0])
    assert any(keys)
    assert place == [4, 4]
    assert re.search(rf"^mean return +-{len(way)}\.00 ", printed, re.MULTILINE)
    assert [path.name for path in tmp_path.iterdir()] == ["own_task_agent.json"]


def test_learn_any_environment_trains_where_there_is_no_maze_and_shows_chance(
    run: Run, tmp_path: Path
) -> None:
    printed = run("learn_any_environment.py")
    lines = re.findall(
        rf"^  (\S.+?) +{NUMBER} at 1 +{NUMBER} at 10 +{NUMBER} at 100 +chance +{NUMBER}$",
        printed,
        re.MULTILINE,
    )
    assert len(lines) == 8
    for _, first, tenth, last, chance in lines:
        assert float(first) >= float(tenth) >= float(last)
        assert float(first) > float(chance)  # the best of many random networks beats the first of them
    assert all(-2 <= float(last) <= 0 for _, _, _, last, _ in lines[:4])
    assert all(6 <= float(last) <= 46 for _, _, _, last, _ in lines[4:])
    assert not list(tmp_path.iterdir())
