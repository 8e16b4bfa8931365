"""A study is one file: of the package, or of somebody else."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from distal import InputError
from distal.base import plugins
from distal.base.folders import read_manifest
from distal.cli import main
from distal.studies import registry
from distal.studies.registry import all_studies, register, titles
from distal.studies.study import Study
from tests.command_line import output, refusal
from tests.given import some

PLANS = Path(registry.__file__).parent / "plans"
MAZE = "#####\n#0S1#\n#####\n"
LUCK = '''\
"""Count how often chance reaches the goal."""

from dataclasses import asdict, dataclass
from typing import ClassVar

import numpy as np

from distal import Chance, Maze, Settings
from distal.studies.registry import register
from distal.studies.report import Report, Sheet
from distal.studies.stages import Stage
from distal.studies.study import Option, Study
from distal.tasks.mazes import MazeTask


@dataclass(frozen=True)
class Luck:
    reached: float

    def to_dict(self):
        return asdict(self)


class LuckReport(Report[Luck]):
    holds, of, title = "a count of luck", Luck, "Luck"
    page, data = "luck.md", "luck.json"

    def summary(self):
        return [Sheet("Chance", "", ("", "reached"), [["chance", f"{self.outcome.reached:.0%}"]])]


@register
@dataclass(frozen=True, kw_only=True)
class CountLuck(Study[Luck]):
    name = "luck"
    report_class = LuckReport
    options = (Option("episodes", "20", "episodes of a trial", "N"),)

    episodes: int = 20
    seed: int = 0
    maze: Maze
    settings: Settings

    @property
    def plan(self):
        return [Stage("chance", "chance", 5 * len(self.maze.finals) * self.episodes, "chance")]

    def asked(self):
        return {"episodes": self.episodes, "seed": self.seed, "maze": list(self.maze.picture)}

    def run_stages(self, stages):
        (best,) = stages.test(
            "chance", [Chance(0.5, 0.5)], np.array([self.seed], np.uint64), trials=5, episodes=self.episodes,
            task=MazeTask(self.maze), settings=self.settings,
        )
        return Luck(float((best[:, -1] < self.settings.steps).mean()))
'''


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield a folder with a study of somebody's own; after the test it is not known."""
    # Private tables: what is known is forgotten again.
    for module, name in ((registry, "_known"), (plugins, "_imported"), (plugins, "_noted")):
        monkeypatch.setattr(module, name, dict(getattr(module, name)))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "luck.py").write_text(LUCK)
    (tmp_path / "maze.txt").write_text(MAZE)
    yield tmp_path
    sys.modules.pop("luck", None)


@pytest.mark.usefixtures("here")
def test_a_study_in_a_file_of_ones_own_is_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert re.search(r"luck +count how often chance reaches the goal\n", output(capsys, "--import", "luck"))
    asked = ("luck", "--import", "luck", "--maze", "maze.txt", "--steps", "4", "--episodes", "30")
    assert main(asked) == 0
    captured = capsys.readouterr()
    assert "reached" in captured.out
    assert "together, if nothing is stored yet" in captured.err
    folder = Path("luck-0")
    assert set(some(read_manifest(folder)).files) >= {"luck-study.json", "chance.npz", "luck.md", "luck.json"}
    assert json.loads((folder / "luck-study.json").read_text())["format"] == "distal-luck-study"
    assert main([*asked, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == json.loads((folder / "luck.json").read_text())
    assert main([*asked[:-1], "31"]) == 2
    assert "other options (episodes 30)" in capsys.readouterr().err


def test_without_its_module_the_command_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert "'luck' is none of maze" in refusal(capsys, "luck")


def test_every_file_in_plans_is_a_study_with_its_name_and_its_first_line() -> None:
    assert [study.name for study in all_studies()] == sorted(path.stem for path in PLANS.glob("[a-z]*.py"))
    for study in all_studies():
        assert study.__module__ == f"distal.studies.plans.{study.name}"
        first = str(sys.modules[study.__module__].__doc__).splitlines()[0]
        assert titles()[study.name] == first[0].lower() + first[1:].rstrip(".")


@pytest.mark.usefixtures("here")
def test_what_is_no_study_or_has_the_name_of_another_is_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="expected a frozen dataclass that is a subclass of Study"):
        register(Path)  # type: ignore[type-var]
    with pytest.raises(InputError, match="lacks asked, plan, run_stages; define"):
        register(dataclass(type("Empty", (Study,), {"name": "empty"})))
    monkeypatch.setattr(
        sys, "dont_write_bytecode", True
    )  # of the first file, as long and as old as the second
    for name, words in (
        ("tasks", "there is a study 'tasks' already; choose another name"),
        ("learn", "the name of a study is 'learn', which is a command already; choose another name"),
    ):
        Path("other.py").write_text(LUCK.replace('"luck"', f'"{name}"'))
        assert words in refusal(capsys, "--import", "other")
        sys.modules.pop("other", None)
        # A private table, as above.
        registry._known.pop(name, None)
