"""A reproduction and a study of readings at a tiny scale, with their reports, for all that look at one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from distal import Maze, ReadingStudy, study_readings, write_report
from distal.base import significance
from distal.studies.experiments import Experiments, reproduce
from distal.studies.readings import Readings
from distal.studies.reproduction import Reproduction
from distal.studies.stages import Event
from distal.studies.study import Scale
from tests.conftest import REDRAWN

READINGS_TINY = Scale("quick", runs=2, generations=1, trials=3, pairs=1, episodes=120)
PICTURE = """\
#######
#0...1#
###.###
###S###
#######
"""
SETTINGS: Any = {"steps": 15, "hidden": 6}
TINY = Scale("quick", runs=2, generations=2, episodes=120)


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> tuple[Reproduction, Path]:
    folder = tmp_path_factory.mktemp("report") / "a report"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Experiments.SCALES, "quick", TINY)
        patch.setattr("distal.search.config.REMEASURED", 40)
        for name in REDRAWN:
            patch.setattr(significance, name, 99)
        result = reproduce("quick", seed=3, out=folder)
        write_report(result, folder)
    return result, folder


@pytest.fixture(scope="session")
def told() -> dict[str, list[float]]:
    """Return what the study of readings told of each variant while it ran."""
    return {}


@pytest.fixture(scope="session")
def studied(
    tmp_path_factory: pytest.TempPathFactory, told: dict[str, list[float]]
) -> tuple[ReadingStudy, Path]:
    def note(event: Event) -> None:
        told.setdefault(event.stage.name, []).append(event.done)

    folder = tmp_path_factory.mktemp("readings") / "a study"
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(Readings.SCALES, "quick", READINGS_TINY)
        patch.setattr("distal.search.config.REMEASURED", 40)
        maze = Maze.from_text(PICTURE)
        study = study_readings("quick", seed=3, out=folder, maze=maze, progress=note, **SETTINGS)
        write_report(study, folder)
    return study, folder


@pytest.fixture
def at_tiny_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scale quick be the tiny one."""
    monkeypatch.setitem(Experiments.SCALES, "quick", TINY)
