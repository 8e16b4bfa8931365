"""Run the paper's experiments and write a report.

Rules and hill climbing are evolved and tested for many episodes, with and without resampling, and
compared with chance. `agreement` compares the numbers of a `Reproduction` with the paper's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal.base import memory
from distal.base.checks import one_of
from distal.engines import Runner, pace
from distal.evaluation.trials import checked_maze
from distal.learners import Learner, chance_for
from distal.learners.shipped import published_rules
from distal.model import draws
from distal.model.maze import Maze
from distal.model.maze import maze as named_maze
from distal.model.settings import Settings, SettingsDict
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.genetic import GeneticAlgorithm, first_population
from distal.search.results import Evolved, Fresh
from distal.studies.appendix import NARROW, Appendix, marks
from distal.studies.registry import register
from distal.studies.reproduction import CHANCE, RESAMPLE, TESTS, TRIALS, Reproduction, other_elites
from distal.studies.reproduction_report import ReproductionReport
from distal.studies.stages import Event, Stage, Stages, evolution_stage
from distal.studies.study import Based, Option, Scale
from distal.tasks.mazes import MazeTask

PAPER = GeneticAlgorithm()  # the paper's genetic algorithm
RULES = ("evolved", "published")
_MANY = 50  # trials per final position, where episodes are looked at one by one
TEST = 7  # the last number of the part that a test's seeds come from; the first two are rule and test
# Further tests, by the second number of that part; the first four are `TESTS`.
_AT_100 = {"dsp": 4, "hc": 5}
EPISODES, AFRESH, APPENDIX, APPENDIX_RESAMPLED = 6, 7, 8, 9


def random_learners(kind: str, seed: int, count: int = PAPER.population) -> Sequence[Learner]:
    """Draw rules ("dsp") or climbers ("hc"), as in the first generation of an evolution."""
    config = Config(kind)
    return config.decode(first_population(count, *config.genes, seed))


@register
@dataclass(frozen=True, kw_only=True)
class Experiments(Based[Reproduction]):
    """The paper's experiments.

    Args:
        rules: The rules that are tested: "evolved" for new ones, "published" for the paper's.
    """

    name: ClassVar[str] = "reproduce"
    folder: ClassVar[str] = "reproduction"
    about: ClassVar[str] = (
        "Run the paper's experiments and write a report: figures, tables, and every number of the paper "
        "with ours. Stages are stored; the same command again runs only the missing ones."
    )
    file: ClassVar[str] = "reproduction.json"
    format: ClassVar[str] = "distal-reproduction"
    report_class: ClassVar[type[ReproductionReport]] = ReproductionReport
    SCALES: ClassVar[dict[str, Scale]] = {
        "quick": Scale(
            "quick", runs=5, generations=80, episodes=5_000, about="about three minutes on two cores"
        ),
        "paper": Scale("paper", runs=15, generations=300, episodes=10_000, about="about seven"),
    }
    options: ClassVar[tuple[Option, ...]] = (Option("rules", "evolved", "evolved, published"),)

    rules: str = "evolved"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rules", one_of("rules", self.rules, RULES))

    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON."""
        return {"scale": self.scale, "rules": self.rules, **super().asked()}

    def check_memory(self) -> None:
        """Refuse more than the machine's free memory holds: the curves of all tests, and an evolution."""
        tested = sum(stage.episodes for stage in self.plan if stage.name.startswith("test_"))
        evolution = estimate(self.config("dsp", self.elites))
        parts = {"curves": memory.EP * tested, **evolution.parts}
        fewer = "take scale quick, or a maze with fewer final positions"
        memory.Estimate("the experiments", parts, fewer).check()

    def config(self, kind: str, elites: str) -> Config:
        """Return one of its evolutions."""
        return Config(
            kind, self.size.runs, self.size.generations, TRIALS, 100, self.seed,
            search=replace(PAPER, elites=elites), settings=self.settings, task=MazeTask(self.maze),
        )  # fmt: skip

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages, with the episodes that each will run."""
        cost = pace.cost(MazeTask(self.maze), self.settings)
        stages = (*self._evolutions(), *self._tests(), *self._appendix_tests(), *self._close_looks())
        return [replace(stage, cost=cost) for stage in stages]

    def _evolutions(self) -> Iterator[Stage]:
        """Yield the evolutions with both readings of elites; of published rules, fresh trials instead."""
        size = self.size
        for suffix, reading in (("", self.elites), ("_otherwise", other_elites(self.elites))):
            for kind, name in (("dsp", "DSP rules"), ("hc", "hill climbing")):
                if (self.rules, kind) == ("published", "dsp"):
                    continue
                title = f"evolve {name}, {size.runs} runs of {size.generations} generations, elites {reading}"
                yield evolution_stage(f"evolve_{kind}{suffix}", title, self.config(kind, reading))
        if self.rules == "published":
            episodes = self._learners("dsp") * _MANY * len(self.maze.finals) * 100
            yield Stage("afresh_dsp", "the published rules for 100 episodes", episodes, "dsp")
            yield Stage("afresh_chance", "chance for them", episodes, "chance")

    def _learners(self, kind: str) -> int:
        """Return the number of rules ("dsp") or climbers ("hc") that are tested."""
        return len(published_rules()) if (self.rules, kind) == ("published", "dsp") else self.size.runs

    def _tests(self) -> Iterator[Stage]:
        each, long = TRIALS * len(self.maze.finals) * self.size.episodes, f"{self.size.episodes:,} episodes"
        for name, kind, resampled in TESTS:
            n, whose = self._learners(kind), "rules" if kind == "dsp" else "climbers"
            title = f"test {n} {whose}, {long}" + (f", resampled every {RESAMPLE}" if resampled else "")
            yield Stage(f"test_{name}", title, n * each, kind)
        for name, kind in CHANCE.items():
            title = f"chance for the {'rules' if kind == 'dsp' else 'climbers'}, {long}"
            yield Stage(f"test_{name}", title, self._learners(kind) * each, "chance")

    def _appendix_tests(self) -> Iterator[Stage]:
        """Yield the tests of the appendix; published rules that are tested anyway are not run twice."""
        n, narrow = len(published_rules()), named_maze(NARROW)
        own, there = (n * TRIALS * len(one.finals) * self.size.episodes for one in (self.maze, narrow))
        whose, long = f"the paper's {n} rules", f"{self.size.episodes:,} episodes"
        if self.rules == "evolved":
            resampled = f"test {whose}, {long}, resampled every {RESAMPLE}"
            yield Stage("appendix_dsp", f"test {whose}, {long}", own, "dsp")
            yield Stage("appendix_dsp_resampled", resampled, own, "dsp")
            yield Stage("appendix_chance", f"chance for {whose}, {long}", own, "chance")
        if self.maze != narrow:
            yield Stage("appendix_narrow", f"test {whose} in {NARROW}, {long}", there, "dsp")

    def _close_looks(self) -> Iterator[Stage]:
        finals = len(self.maze.finals)
        for kind, name in (("dsp", "the best rule"), ("hc", "the best climber"), ("chance", "chance")):
            many = f"{name}, every one of 100 episodes"
            yield Stage(f"at_100_{kind}", f"{name} for 100 episodes", TRIALS * finals * 100, kind)
            yield Stage(f"episodes_{kind}", many, _MANY * finals * 100, kind)

    # -------------------------------------------------------------- the work

    def run_stages(self, stages: Stages) -> Reproduction:
        """Run all stages that are missing."""
        test, episodes = partial(self._test, stages), self.size.episodes
        evolved: dict[str, Evolved] = {}
        fresh: dict[str, tuple[Fresh, ...]] = {}
        learners: dict[str, tuple[Learner, ...]] = {}
        for kind in ("dsp", "hc"):
            if f"evolve_{kind}" in stages.stages:
                evolved[kind] = stages.evolve(f"evolve_{kind}", self.config(kind, self.elites))
                learners[kind] = tuple(winner.learner for winner in evolved[kind].winners)
                fresh[kind] = tuple(winner.fresh for winner in evolved[kind].winners)
            else:
                learners[kind] = published_rules()
                fresh[kind] = self._afresh(stages, learners[kind])
        curves = {}
        for number, (name, kind, resampled) in enumerate(TESTS):
            resample = RESAMPLE if resampled else None
            curves[name] = test(f"test_{name}", learners[kind], number, episodes, resample=resample)
        for number, (name, kind) in enumerate(CHANCE.items()):  # in the trials of the plain tests
            curves[name] = test(f"test_{name}", tuple(map(chance_for, learners[kind])), number, episodes)
        result = Reproduction(
            scale=self.size, seed=self.seed, rules=self.rules, elites=self.elites, settings=self.settings,
            maze=self.maze, engine=stages.runner.engine, evolved=evolved, otherwise={}, fresh=fresh,
            learners=learners, curves=curves, at_100={}, episodes={}, seconds=stages.seconds,
            appendix=self._appendix(stages, curves),
        )  # fmt: skip
        rule = learners["dsp"][result.best("dsp")]
        three = {"dsp": rule, "hc": learners["hc"][result.best("hc")], "chance": chance_for(rule)}
        at_100 = {
            kind: test(f"at_100_{kind}", (one,), _AT_100.get(kind, _AT_100["dsp"]), 100)[0, :, -1]
            for kind, one in three.items()
        }
        every = {
            kind: test(f"episodes_{kind}", (one,), EPISODES, 100, trials=_MANY, every=True)[0]
            for kind, one in three.items()
        }
        otherwise = {
            kind: stages.evolve(f"evolve_{kind}_otherwise", self.config(kind, other_elites(self.elites)))
            for kind in evolved
        }
        return replace(result, at_100=at_100, episodes=every, otherwise=otherwise, seconds=stages.seconds)

    def _appendix(self, stages: Stages, curves: dict[str, NDArray[np.int32]]) -> Appendix:
        """Return the paper's fifteen rules; tests that were run anyway are taken from their curves."""
        episodes, rules = self.size.episodes, published_rules()
        at, narrow = marks(episodes), named_maze(NARROW)

        def tested(name: str, learners: tuple[Learner, ...], number: int, **more: Any) -> NDArray[np.int32]:
            if f"appendix_{name}" in stages.stages:
                stage = f"appendix_{name}"
                return self._test(stages, stage, learners, number, episodes, record=at, **more)
            return curves[name][:, :, [mark - 1 for mark in at]]

        return Appendix(
            at,
            plain=tested("dsp", rules, APPENDIX),
            resampled=tested("dsp_resampled", rules, APPENDIX_RESAMPLED, resample=RESAMPLE),
            chance=tested("chance", tuple(map(chance_for, rules)), APPENDIX),
            narrow=None if self.maze == narrow else tested("narrow", rules, APPENDIX, maze=narrow),
        )

    def _afresh(self, stages: Stages, learners: tuple[Learner, ...]) -> tuple[Fresh, ...]:
        """Return the scores of rules in many trials, with chance in the same ones."""
        chance = tuple(chance_for(learner) for learner in learners)
        own, by_chance = (
            self._test(stages, f"afresh_{name}", those, AFRESH, 100, trials=_MANY, record=(100,))[:, :, -1]
            for name, those in (("dsp", learners), ("chance", chance))
        )
        return tuple(Fresh.of(*pair) for pair in zip(own, by_chance, strict=True))

    def _test(
        self,
        stages: Stages,
        stage: str,
        learners: tuple[Learner, ...],
        number: int,
        episodes: int,
        *,
        trials: int = TRIALS,
        maze: Maze | None = None,
        **more: Any,
    ) -> NDArray[np.int32]:
        """Return the curves of test `number`, in the study's maze if none is named."""
        seeds = draws.child_seeds(self.seed, [[k, number, TEST] for k in range(len(learners))])
        return stages.test(
            stage, learners, seeds, trials=trials, episodes=episodes, task=MazeTask(maze or self.maze),
            settings=self.settings, **more,
        )  # fmt: skip


def reproduce(
    scale: str = "quick",
    *,
    rules: str = "evolved",
    elites: str = PAPER.elites,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    maze: Maze | None = None,
    engine: str | Runner = engines.DEFAULT,
    progress: Callable[[Event], None] | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Reproduction:
    """Run the paper's experiments; `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for the full size.
        rules: Which rules to test: "evolved" for new ones, "published" for the paper's.
        elites: As in `GeneticAlgorithm`. The evolutions are run with the other reading too, to
            compare.
        seed: The seed of all random numbers.
        out: A folder for the work. Stages in it are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        maze: The maze; the triple T-maze if left out.
        engine: "cpu", "gpu", "steps", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the stages proceed. If left out, a terminal shows the
            progress; False shows nothing.
        **settings: As in `Settings`.

    Returns:
        All curves and winners.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    asked = Experiments(
        scale=scale, rules=rules, elites=elites, seed=seed, maze=checked_maze(maze),
        settings=Settings.of(settings, tuple(inspect.signature(reproduce).parameters)),
    )  # fmt: skip
    return asked.run(engine, out=out, force=force, progress=progress)
