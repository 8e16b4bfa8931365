"""Settings and readings: what they are is said in one place."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import distal
from distal import Settings
from distal.cli import main
from distal.model.readings import READINGS, default
from tests.given import some


def test_the_defaults_are_those_of_the_definition() -> None:
    # SPEC, section 10
    assert {name: default(name) for name in READINGS} == {
        "outputs": "winner",
        "blocked": "turn",
        "m_ties": "reward",
        "trace_pre": "current",
        "normalise": "neuron",
    }
    assert {name: getattr(Settings(), name) for name in READINGS} == {n: default(n) for n in READINGS}


def test_every_value_of_a_reading_is_explained_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("learn", "climb", "watch", "evolve", "reproduce", "readings"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        for name, values in READINGS.items():
            for value, meaning in values.items():
                assert f"{value}: {meaning}" in text
            assert f"({default(name)})" in text


# Turns the order as the module is imported: a copy of the package would have to be compiled again.
SCRIPT = '''
import json
from importlib.machinery import SourceFileLoader

read = SourceFileLoader.get_code

def turned(loader, name):
    if name != "distal.model.readings":
        return read(loader, name)
    before, mark, after = loader.get_source(name).partition("\\ndef default(")
    turn = """
for row in READINGS.values():
    turned = list(row.items())[::-1]
    row.clear()
    row.update(turned)
"""
    return compile(before + turn + mark + after, loader.path, "exec")

SourceFileLoader.get_code = turned
import distal
from distal.tasks.environment import MazeEnv
options = {"trials": 1, "episodes": 6, "steps": 30, "keep_ep": True, "chance": False}
one, other = (distal.learn("paper:1", engine=engine, **options) for engine in ("cpu", "reference"))
readings = distal.model.readings.READINGS
print(json.dumps({
    "equal": (one.ep == other.ep).all().item(),
    "python": {name: getattr(distal.Settings(), name) for name in readings},
    "environment": MazeEnv().blocked,
    "ep": one.ep.tolist(),
}))
'''


def test_the_order_of_words_in_one_place_decides_every_default() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    last = {name: list(values)[-1] for name, values in READINGS.items()}
    assert found["python"] == last
    assert found["environment"] == last["blocked"]
    assert found["equal"]
    ours = distal.learn("paper:1", trials=1, episodes=6, steps=30, keep_ep=True, **last)  # type: ignore[arg-type]
    assert found["ep"] == some(ours.ep).tolist()
