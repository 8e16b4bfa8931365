"""Every study at a tiny scale, done once with its report, for all tests that look at one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from distal import Maze, study_beyond, study_readings, study_rivals, study_tasks
from distal import write_report as write
from distal.base import significance
from distal.engines import Runner
from distal.studies.plans import rivals, tasks
from distal.studies.plans.beyond import Beyond
from distal.studies.plans.readings import Readings
from distal.studies.plans.reproduce import Experiments, reproduce
from distal.studies.plans.rivals import Rivals
from distal.studies.plans.tasks import PACED, SLOW, Tasks
from distal.studies.problems import PROBLEMS, STEPPED, Problem
from distal.studies.stages import Event
from distal.studies.study import Scale, Study
from distal.tasks.sources import task_of
from tests.conftest import REDRAWN

PICTURE = """\
#######
#0...1#
###.###
###S###
#######
"""
SETTINGS: Any = {"steps": 15, "hidden": 6}
SEED = 3
TINY = Scale("quick", runs=2, generations=2, episodes=120)
READINGS_TINY = Scale("quick", runs=2, generations=1, trials=3, pairs=1, episodes=120)
TASKS_TINY = Scale("quick", runs=2, generations=1, trials=3, episodes=3, fresh=6, tested=5, long=6)
COMPILED_TINY = Scale("quick", runs=1, generations=1, trials=2, episodes=3, fresh=4, tested=4, long=6)
SLOW_TINY = Scale("quick", runs=1, generations=0, trials=1, episodes=2, fresh=2, tested=3, long=3)
BEYOND_TINY = Scale("quick", runs=2, generations=1, trials=3, episodes=4, fresh=4, tested=5, long=6, last=2)
BY_NAME = {problem.name: problem for problem in PROBLEMS}
UNTABLED = Problem(
    "slow_lake", "Lake without a table",
    lambda: task_of("FrozenLake-v1", args={"is_slippery": False}, tabulated=False), -1, "the goal is reached",
)  # fmt: skip
FEW = (BY_NAME["t_maze_1"], BY_NAME["frozen_lake_4x4"], UNTABLED)
STEPPED_BY_NAME = {problem.name: problem for problem in STEPPED}
FEW_STEPPED = (STEPPED_BY_NAME["cart_pole"], UNTABLED)  # other tests compile this one


@dataclass(frozen=True)
class Tiny:
    """A study that takes seconds: its class, what runs it, its scale, what its command is told."""

    study: type[Study[Any]]
    run: Callable[..., Any]
    scale: Scale
    options: tuple[str, ...] = ()
    asked: dict[str, str] = field(default_factory=dict)
    told: dict[str, list[float]] = field(default_factory=dict)

    def shrink(self, patch: pytest.MonkeyPatch) -> None:
        """Let scale quick be the tiny one."""
        scales: Any = self.study
        patch.setitem(scales.SCALES, "quick", self.scale)
        if self.study is Tasks:  # three tasks, and marks after 3 and 6 episodes
            patch.setattr(tasks, "PROBLEMS", FEW)
            patch.setattr(tasks, "MARKS", (3, 6))
            patch.setattr(tasks, "STEPPED", FEW_STEPPED)
            patch.setitem(SLOW, "quick", SLOW_TINY)
            patch.setitem(PACED, "quick", SLOW_TINY)
            patch.setitem(Tasks.COMPILED, "quick", COMPILED_TINY)
        if self.study is Rivals:  # two tasks, three kinds
            patch.setattr(rivals, "PROBLEMS", FEW[:2])
            patch.setattr(rivals, "MARKS", (3, 6))
            for name in rivals.KINDS.keys() - {"dsp", "eligibility", "es"}:
                patch.delitem(rivals.KINDS, name)

    def tell(self, event: Event) -> None:
        """Note progress."""
        self.told.setdefault(event.stage.name, []).append(event.done)


alone = partial(Runner, workers=1)
STUDIES = {
    "reproduce": Tiny(Experiments, reproduce, TINY),
    "readings": Tiny(
        Readings, lambda **options: study_readings(maze=Maze.from_text(PICTURE), **SETTINGS, **options),
        READINGS_TINY, ("--maze", "maze.txt", "--steps", "15", "--hidden", "6"),
    ),
    "tasks": Tiny(
        Tasks, lambda **options: study_tasks(engine=alone(), **options), TASKS_TINY, ("--workers", "1")
    ),
    "tasks_steps": Tiny(
        Tasks, lambda **options: study_tasks(worlds="steps", engine=alone(), **options), TASKS_TINY,
        ("--worlds", "steps", "--workers", "1"), {"worlds": "steps"},
    ),
    "beyond": Tiny(
        Beyond, lambda **options: study_beyond(engine=alone(), **options), BEYOND_TINY, ("--workers", "1")
    ),
    "rivals": Tiny(
        Rivals, lambda **options: study_rivals(engine=alone(), **options), TASKS_TINY, ("--workers", "1")
    ),
}  # fmt: skip
Finished = Callable[[str], tuple[Any, Path]]


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Finished:
    """Return what gives the outcome and the folder of a study, which it runs if that is not done yet."""
    done: dict[str, tuple[Any, Path]] = {}

    def give(name: str) -> tuple[Any, Path]:
        if name not in done:
            folder = tmp_path_factory.mktemp(name) / "a study"
            with pytest.MonkeyPatch.context() as patch:
                STUDIES[name].shrink(patch)
                patch.setattr("distal.search.config.REMEASURED", 40)
                for redrawn in REDRAWN:
                    patch.setattr(significance, redrawn, 99)
                outcome = STUDIES[name].run(seed=SEED, out=folder, progress=STUDIES[name].tell)
                write(outcome, folder)
            done[name] = outcome, folder
        return done[name]

    return give


def _done(fixture: str, study: str) -> Any:
    """Return the fixture of the outcome and the folder of a study."""

    @pytest.fixture(name=fixture)
    def give(finished: Finished) -> tuple[Any, Path]:
        return finished(study)

    return give


_tiny, _studied, _tasked = _done("tiny", "reproduce"), _done("studied", "readings"), _done("tasked", "tasks")
_stepped, _beyond, _rivalled = (
    _done("stepped", "tasks_steps"), _done("beyond", "beyond"), _done("rivalled", "rivals")
)  # fmt: skip


@pytest.fixture
def at_tiny_scale(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let scale quick be the tiny one, of every study."""
    for one in STUDIES.values():
        one.shrink(monkeypatch)
