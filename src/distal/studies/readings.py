"""The study of readings: what each one does to chance, to the published rules and to evolution.

It measures a base, the defaults or what is asked for, every other value of every reading
and every other maze that has a name, one at a time. All have the same seeds, so they
differ by that alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal._version import __version__
from distal.base import memory
from distal.engines import Runner
from distal.learners import Learner, chance_for
from distal.learners.shipped import published_rules
from distal.model.draws import child_seeds
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.genetic import GeneticAlgorithm
from distal.search.results import Fresh
from distal.studies import pace
from distal.studies.experiments import evolution_episodes
from distal.studies.reading_outcome import (
    EPISODES,
    PARTS,
    SEARCH_READINGS,
    Findings,
    ReadingStudy,
    Runs,
    Variant,
    variants,
)
from distal.studies.reading_report import ReadingReport
from distal.studies.reading_tests import Appendix, Pairing, pairs, papers_fitness
from distal.studies.reproduction import TRIALS
from distal.studies.stages import Event, Stage, Stages
from distal.studies.study import Based, Scale
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import checked_maze

# The last number of the part that seeds of the study come from; the second is the test.
STUDY = 8
PUBLISHED, PAIRS, APPENDIX = 0, 1, 2

_TITLES = {
    "published": "published rules",
    "chance": "chance",
    "appendix": "appendix",
    "pairing": "pairing",
    "evolve_dsp": "evolution of rules",
    "evolve_hc": "evolution of hill climbing",
}


@dataclass(frozen=True, kw_only=True)
class Readings(Based[ReadingStudy]):
    """The study of readings."""

    name: ClassVar[str] = "readings"
    folder: ClassVar[str] = "readings"
    title: ClassVar[str] = "measure what every reading of the paper does to the results"
    about: ClassVar[str] = (
        "Measure what every reading of the paper does to chance, to the published rules and to evolution, "
        "and write a report. The base is the defaults, or what the options say; every other value of every "
        "reading, and every other maze that has a name, is tried on it, one at a time. Stages "
        "are stored; a second call only does what is missing."
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
        size, rules, finals = self.size, len(published_rules()), len(variant.maze.finals)
        evolution = evolution_episodes(size.runs, size.generations, variant.search.elites, finals)
        at_100 = rules * size.trials * finals * EPISODES
        episodes = {
            "published": at_100,
            "chance": at_100,
            "appendix": rules * TRIALS * finals * size.episodes,
            "pairing": rules**2 * size.pairs * finals * EPISODES,
        }
        alone = "" if len(variant.own) == len(PARTS) else ": rules alone"
        alone = ": evolution alone" if variant.reading in SEARCH_READINGS else alone
        cost = pace.cost(MazeTask(variant.maze), variant.settings)
        return [
            Stage(
                f"{part}_{variant.name}", _TITLES[part], episodes.get(part, evolution), PARTS[part],
                runs=0 if part in episodes else size.runs, group=variant.label + alone, cost=cost,
            )
            for part in variant.own
        ]  # fmt: skip

    def check_memory(self) -> None:
        """Refuse what the machine's free memory does not hold: all pairs at once, and an evolution."""
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

    def work(self, stages: Stages) -> ReadingStudy:
        """Do all stages that are missing."""
        trials = _Trials(self, stages)
        found = tuple(trials.run(variant) for variant in self.variants)
        return ReadingStudy(
            scale=self.size, seed=self.seed, settings=self.settings, elites=self.elites, maze=self.maze,
            engine=stages.runner.engine, version=__version__,
            machine=engines.machine_of(stages.runner.engine), seconds=stages.seconds, outcomes=found,
        )  # fmt: skip


@dataclass(eq=False)
class _Trials:
    """The trials of all variants; what a reading does not touch is the base's."""

    study: Readings
    stages: Stages
    base: Findings | None = None
    base_chance: NDArray[np.int32] | None = None  # (rules, trials)

    def run(self, variant: Variant) -> Findings:
        """Do all stages of a variant that are missing; what the reading does not touch is the base's."""
        base, own = self.base, variant.own
        outcome = Findings(
            variant,
            rules=self._rules(variant) if base is None or "published" in own else base.rules,
            appendix=self._appendix(variant) if base is None or "appendix" in own else base.appendix,
            pairing=self._pairing(variant) if base is None or "pairing" in own else base.pairing,
            dsp=self._search("dsp", variant) if base is None or "evolve_dsp" in own else base.dsp,
            hc=self._search("hc", variant) if base is None or "evolve_hc" in own else base.hc,
        )
        if base is None:
            self.base = outcome
        return outcome

    def _rules(self, variant: Variant) -> tuple[Fresh, ...]:
        rules, trials = published_rules(), self.study.size.trials
        seeds = child_seeds(self.study.seed, [[k, PUBLISHED, STUDY] for k in range(len(rules))])
        own = self._test("published", rules, seeds, trials, variant)
        chance = self.base_chance
        if chance is None or "chance" in variant.own:
            chance = self._test("chance", [chance_for(rule) for rule in rules], seeds, trials, variant)
        if self.base is None:
            self.base_chance = chance
        return tuple(Fresh.of(*each) for each in zip(own, chance, strict=True))

    def _appendix(self, variant: Variant) -> Appendix:
        rules = published_rules()
        seeds = child_seeds(self.study.seed, [[k, APPENDIX, STUDY] for k in range(len(rules))])
        episodes = self.study.size.episodes
        best = self._test("appendix", rules, seeds, TRIALS, variant, episodes)
        return Appendix.of(best, papers_fitness())

    def _pairing(self, variant: Variant) -> Pairing:
        rules = published_rules()
        every = pairs(rules)
        # All pairs have the same trials, so that what a trial does to all of them alike falls out.
        seeds = np.repeat(child_seeds(self.study.seed, [[0, PAIRS, STUDY]]), len(every))
        fitness = self._test("pairing", every, seeds, self.study.size.pairs, variant).mean(axis=1)
        return Pairing.of(fitness.reshape(len(rules), len(rules)), self.study.seed)

    def _test(
        self,
        part: str,
        learners: Sequence[Learner],
        seeds: NDArray[np.uint64],
        trials: int,
        variant: Variant,
        episodes: int = EPISODES,
    ) -> NDArray[np.int32]:
        """Return the best EP of every trial, (learners, trials)."""
        best = self.stages.test(
            f"{part}_{variant.name}", learners, seeds, trials=trials, episodes=episodes,
            task=MazeTask(variant.maze), settings=variant.settings, record=(episodes,),
        )  # fmt: skip
        return best[:, :, -1]

    def _search(self, kind: str, variant: Variant) -> Runs:
        config = self.study.config(kind, variant)
        return Runs.of(self.stages.evolve(f"evolve_{kind}_{variant.name}", config))


def study_readings(
    scale: str = "quick",
    *,
    elites: str = GeneticAlgorithm.elites,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    maze: Maze | None = None,
    engine: str | Runner = engines.DEFAULT,
    progress: Callable[[Event], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> ReadingStudy:
    """Measure a base, every other value of every reading and every other named maze, one at a time.

    `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for as many runs and generations as the paper has.
        elites: As in `evolve`, for the base.
        seed: The seed of all random numbers.
        out: A folder to keep the work in. Stages that it already holds are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        maze: The maze of the base; the triple T-maze if left out.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the variants proceed.
        **settings: As in `Settings`, for the base.

    Returns:
        One outcome for the base, and one for every other value and maze.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    asked = Readings(
        scale=scale, elites=elites, seed=seed, maze=checked_maze(maze),
        settings=Settings.of(settings, tuple(inspect.signature(study_readings).parameters)),
    )  # fmt: skip
    return asked.run(engine, out=out, force=force, progress=progress)
