"""The scripts in examples/: each runs on its own, in under a minute, and does what its top says."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import distal

EXAMPLES = Path(__file__).parent.parent / "examples"
NUMBER = r"(-?\d+\.\d\d)"


def run(name: str, folder: Path) -> str:
    """Run an example in a folder of its own, with warnings as errors; return what it printed."""
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
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    assert text is not None
    assert f"\nRun it: python examples/{script.name}\n" in text
    assert re.search(r"^Writes: \S", text, re.MULTILINE)
    seconds = re.search(r"^Takes: about (\d+) seconds on two cores", text, re.MULTILINE)
    assert seconds is not None
    assert int(seconds[1]) < 60
    assert f"def test_{script.stem}_" in Path(__file__).read_text(encoding="utf-8")


def test_own_maze_compares_in_a_maze_of_its_own_and_draws(tmp_path: Path) -> None:
    printed = run("own_maze.py", tmp_path)
    assert "a perfect agent has 12" in printed
    names = ("paper:3", "evolved:6", "hill climbing", "chance")
    assert all(12 <= fitness(printed, name) < 60 for name in names)
    assert fitness(printed, "evolved:6") < fitness(printed, "chance")
    drawn = (tmp_path / "own_maze.svg").read_text(encoding="utf-8")
    assert all(name in drawn for name in (*names, "perfect agent", "mean best EP"))
    assert [path.name for path in tmp_path.iterdir()] == ["own_maze.svg"]


def test_evolve_and_inspect_shows_the_rows_of_the_rule_it_writes(tmp_path: Path) -> None:
    printed = run("evolve_and_inspect.py", tmp_path)
    rule = distal.Rule.load(tmp_path / "inspected_rule.json")
    whole = distal.learn(rule, trials=50, seed=1)
    assert f"the whole rule, 400 trials: {whole.fitness:.2f}" in printed
    rows = re.findall(r"^ *(\d+)   [01]  [01]  [01]  [01]  [+-]1 +(-?\d) +(\d+\.\d)%", printed, re.MULTILINE)
    assert len(rows) == 12
    assert all(rule.delta_w[int(row)] == int(change) for row, change, _ in rows)
    shares = [float(share) for _, _, share in rows]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) <= 100.5


def test_compare_your_method_sets_a_foreign_learner_beside_ours(tmp_path: Path) -> None:
    printed = run("compare_your_method.py", tmp_path)
    assert "40 trials of 100 episodes" in printed
    assert 38.5 <= fitness(printed, "search over finite-state machines") < 110
    for name, rule in (("DSP, the rule evolved:6", "evolved:6"), ("DSP, the rule paper:1", "paper:1")):
        assert fitness(printed, name) == pytest.approx(distal.learn(rule).fitness, abs=0.0051)
    assert not list(tmp_path.iterdir())


def test_learn_any_environment_learns_where_there_is_no_maze(tmp_path: Path) -> None:
    printed = run("learn_any_environment.py", tmp_path)
    lines = re.findall(rf"^  (\S.+?) +{NUMBER} at 1 +{NUMBER} at 10 +{NUMBER} at 100$", printed, re.MULTILINE)
    assert len(lines) == 8
    for _, first, tenth, last in lines:
        assert float(first) >= float(tenth) >= float(last)
    assert min(float(last) for *_, last in lines[:4]) == -2
    assert all(float(last) < float(first) for _, first, _, last in lines)
    assert not list(tmp_path.iterdir())
