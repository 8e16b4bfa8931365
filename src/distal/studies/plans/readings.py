"""Measure the effect of every reading of the paper.

The study measures a base, the defaults or the options of the command, then every other value of every
reading and every other named maze, one at a time and with the same seeds.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Unpack

from distal import engines
from distal.base import memory
from distal.engines import Runner, pace
from distal.evaluation.trials import checked_maze
from distal.learners import Learner, chance_for
from distal.learners.shipped import published_rules
from distal.model.draws import child_seeds
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.genetic import GeneticAlgorithm
from distal.studies.reading_outcome import (
    EPISODES,
    PARTS,
    SEARCH_READINGS,
    Findings,
    ReadingStudy,
    Variant,
    variants,
)
from distal.studies.reading_report import ReadingReport
from distal.studies.reading_tests import pairs
from distal.studies.registry import register
from distal.studies.reproduction import TRIALS
from distal.studies.stages import Event, Stage, Stages, evolution_stage
from distal.studies.study import Based, Scale
from distal.tasks.mazes import MazeTask

# The last number of the part that seeds of the study come from; the second is the test.
STUDY = 8
PUBLISHED, PAIRS, APPENDIX = 0, 1, 2


@register
@dataclass(frozen=True, kw_only=True)
class Readings(Based[ReadingStudy]):
    """The study of readings."""

    name: ClassVar[str] = "readings"
    about: ClassVar[str] = (
        "Measure the effect of every reading of the paper on chance, on the published rules and on evolution, "
        "and write a report. The options set the base. The study then changes one thing at a time: every "
        "other value of every reading, and every other named maze. Stages are stored; the same command "
        "again runs only the missing ones."
    )
    file: ClassVar[str] = "reading-study.json"
    format: ClassVar[str] = "distal-reading-study"
    report_class: ClassVar[type[ReadingReport]] = ReadingReport
    SCALES: ClassVar[dict[str, Scale]] = {
        "quick": Scale(
            "quick", runs=5, generations=40, trials=50, pairs=10, episodes=1_000,
            about="five to ten minutes on two cores",
        ),
        "paper": Scale(
            "paper", runs=15, generations=300, trials=50, pairs=50, episodes=10_000,
            about="for a card, about a minute",
        ),
    }  # fmt: skip

    @cached_property
    def variants(self) -> list[Variant]:
        """The base, and every other value and maze."""
        return variants(self.settings, GeneticAlgorithm(elites=self.elites), self.maze)

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages of every variant, with the episodes that each will run."""
        return [stage for variant in self.variants for stage in self._parts(variant)]

    def _parts(self, variant: Variant) -> list[Stage]:
        """Return the stages of a variant, which people see as one."""
        alone = "" if len(variant.own) == len(PARTS) else ": rules alone"
        alone = ": evolution alone" if variant.reading in SEARCH_READINGS else alone
        group, cost = variant.label + alone, pace.cost(MazeTask(variant.maze), variant.settings)
        found = []
        for part in variant.own:
            (title, kind), name = PARTS[part], f"{part}_{variant.name}"
            if part in self.tests:
                learners, _, trials, episodes = self.tests[part]
                run = len(learners) * trials * len(variant.maze.finals) * episodes
                found.append(Stage(name, title, run, kind, group=group, cost=cost))
            else:
                found.append(evolution_stage(name, title, self.config(kind, variant), group=group))
        return found

    @cached_property
    def tests(self) -> dict[str, tuple[Sequence[Learner], int, int, int]]:
        """The tests of a variant: learners, the number of the test, trials for each goal, and episodes."""
        size, rules = self.size, published_rules()
        return {
            "published": (rules, PUBLISHED, size.trials, EPISODES),
            "chance": (tuple(map(chance_for, rules)), PUBLISHED, size.trials, EPISODES),
            "appendix": (rules, APPENDIX, TRIALS, size.episodes),
            "pairing": (pairs(rules), PAIRS, size.pairs, EPISODES),
        }

    def check_memory(self) -> None:
        """Refuse more than the machine's free memory holds: all pairs at once, and an evolution."""
        largest = max(self.variants, key=lambda variant: len(variant.maze.finals))
        trials = len(published_rules()) ** 2 * self.size.pairs * len(largest.maze.finals)
        evolution = estimate(self.config("dsp", largest))
        parts = {"pairs": memory.MEASURED * trials, **evolution.parts}
        fewer = "take scale quick, or a maze with fewer final positions"
        memory.Estimate("the variants", parts, fewer).check()

    def config(self, kind: str, variant: Variant) -> Config:
        """Return the evolution of a variant."""
        return Config(
            kind, self.size.runs, self.size.generations, TRIALS, EPISODES, self.seed,
            search=variant.search, settings=variant.settings, task=MazeTask(variant.maze),
        )  # fmt: skip

    def run_stages(self, stages: Stages) -> ReadingStudy:
        """Run all stages that are missing."""
        base: dict[str, Any] = {}
        found = []
        for variant in self.variants:  # what a reading does not touch is the base's
            parts = {**base, **{part: self._part(part, variant, stages) for part in variant.own}}
            base = base or parts
            found.append(Findings.of(variant, parts, self.seed))
        return ReadingStudy(
            scale=self.size, settings=self.settings, elites=self.elites, maze=self.maze,
            outcomes=tuple(found), **self.made(stages),
        )  # fmt: skip

    def _part(self, part: str, variant: Variant, stages: Stages) -> Any:
        """Return the output of a part: the best EP of every trial, (learners, trials), or an evolution."""
        name = f"{part}_{variant.name}"
        if part not in self.tests:
            return stages.evolve(name, self.config(part.removeprefix("evolve_"), variant))
        learners, test, trials, episodes = self.tests[part]
        # All pairs have the same trials, so that what a trial does to all of them alike falls out.
        places = [0] * len(learners) if part == "pairing" else range(len(learners))
        seeds = child_seeds(self.seed, [[k, test, STUDY] for k in places])
        best = stages.test(
            name, learners, seeds, trials=trials, episodes=episodes, task=MazeTask(variant.maze),
            settings=variant.settings, record=(episodes,),
        )  # fmt: skip
        return best[:, :, -1]


def study_readings(
    scale: str = "quick",
    *,
    elites: str = GeneticAlgorithm.elites,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    maze: Maze | None = None,
    engine: str | Runner = engines.DEFAULT,
    progress: Callable[[Event], None] | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> ReadingStudy:
    """Measure a base, every other value of every reading and every other named maze, one at a time.

    `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for as many runs and generations as the paper has.
        elites: As in `GeneticAlgorithm`, for the base.
        maze: The maze of the base; the triple T-maze if left out.
        seed: As in `reproduce`.
        out: As in `reproduce`.
        force: As in `reproduce`.
        engine: As in `reproduce`.
        progress: Called with an `Event` as the variants proceed. If left out, a terminal shows the
            progress; False shows nothing.
        **settings: As in `Settings`, for the base.

    Returns:
        One outcome for the base, and one for every other value and maze.

    Raises:
        InputError: As in `reproduce`.
    """
    asked = Readings(
        scale=scale, elites=elites, seed=seed, maze=checked_maze(maze),
        settings=Settings.of(settings, tuple(inspect.signature(study_readings).parameters)),
    )  # fmt: skip
    return asked.run(engine, out=out, force=force, progress=progress)
