"""Settings and readings: what they are is said in one place."""

from __future__ import annotations

import pytest

from distal import Settings
from distal.cli import main
from distal.model.readings import READINGS, default
from distal.tasks.environment import MazeEnv


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
    assert MazeEnv().blocked == default("blocked")


def test_every_value_of_a_reading_is_explained_in_the_help(capsys: pytest.CaptureFixture[str]) -> None:
    for command in ("learn", "climb", "watch", "evolve", "reproduce", "readings"):
        with pytest.raises(SystemExit):
            main([command, "--help"])
        text = " ".join(capsys.readouterr().out.split())
        for name, values in READINGS.items():
            for value, meaning in values.items():
                assert f"{value}: {meaning}" in text
            assert f"({default(name)})" in text
