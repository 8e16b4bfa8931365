"""The paper's experiments: evolve, test for many episodes, with and without resampling, beside chance.

`reproduce` runs them in stages (see `stages`). What it returns holds all numbers;
`comparison` sets them beside the paper's, `report` turns them into pages.
"""

from __future__ import annotations

import inspect
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal.base import memory
from distal.base.checks import flag, folder, function, integer, one_of
from distal.base.frozen import Frozen
from distal.engines import Runner
from distal.evaluation.trials import batch_of, checked_maze
from distal.learners import DEFAULT_CHANCE, Learner, chance_for
from distal.learners.shipped import Rule, published_rules
from distal.model import draws
from distal.model.maze import Maze
from distal.model.maze import maze as named_maze
from distal.model.settings import Settings, SettingsDict
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.genetic import ELITES, GeneticAlgorithm, first_population
from distal.search.results import Evolved, Fresh
from distal.studies.appendix import NARROW, Appendix, marks
from distal.studies.stages import SECONDS, Claim, Event, Request, Stage, Stages
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Task

RESAMPLE = 100  # the paper's iterative re-sampling
TRIALS = 5  # per final position
_MANY = 50  # per final position, where episodes are looked at one by one
PAPER = GeneticAlgorithm()  # the paper's genetic algorithm

# The last number of the part that a test's seeds come from; the first two are rule and test.
TEST = 7


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    name: str
    runs: int
    generations: int
    episodes: int  # of the long tests


SCALES = {
    "quick": Scale("quick", runs=5, generations=80, episodes=5_000),
    "paper": Scale("paper", runs=15, generations=300, episodes=10_000),
}

RULES = ("evolved", "published")

# The tests: name, learner, resampled?
TESTS = (
    ("dsp", "dsp", False),
    ("hc", "hc", False),
    ("dsp_resampled", "dsp", True),
    ("hc_resampled", "hc", True),
)
# Chance beside the learners of a plain test: their scales α, their trials.
CHANCE = {"chance": "dsp", "chance_hc": "hc"}
# Further tests, by the second number of the part that their seeds come from.
_AT_100 = {"dsp": 4, "hc": 5}
EPISODES, AFRESH, APPENDIX, APPENDIX_RESAMPLED = 6, 7, 8, 9


@dataclass(frozen=True, eq=False)
class Reproduction(Frozen):
    """All that the experiments gave.

    A learner is "dsp" or "hc". A test is one of these, "dsp_resampled" or "hc_resampled", or
    "chance" or "chance_hc", which have the trials and the scales α of the rules and of the
    climbers.

    Attributes:
        scale: How much was run.
        seed: The seed.
        rules: "evolved" or "published".
        elites: "remeasured" or "kept".
        settings: The settings.
        maze: The maze.
        engine: The engine that ran the trials.
        evolved: The evolution of each learner; no "dsp" with the published rules.
        otherwise: The same with the other reading of elites.
        fresh: Every rule and climber on fresh trials, beside chance, by learner.
        learners: The rules and the climbers, by learner.
        curves: The best EP so far, (rules, trials, episodes), by test.
        at_100: The best EPs after 100 episodes, (trials), of the best rule ("dsp"), the best
            climber ("hc") and "chance", in new trials; chance has those of the rule.
        episodes: The EP of every episode, (trials, 100), of the same three, in the same trials.
        seconds: How long each stage took.
        appendix: The paper's fifteen rules, whichever rules are tested otherwise.
    """

    scale: Scale
    seed: int
    rules: str
    elites: str
    settings: Settings
    maze: Maze
    engine: str
    evolved: dict[str, Evolved]
    otherwise: dict[str, Evolved]
    fresh: dict[str, tuple[Fresh, ...]]
    learners: dict[str, tuple[Learner, ...]]
    curves: dict[str, NDArray[np.int32]]
    at_100: dict[str, NDArray[np.int32]]
    episodes: dict[str, NDArray[np.int32]]
    seconds: dict[str, float]
    appendix: Appendix

    @property
    def dsp_rules(self) -> tuple[Rule, ...]:
        """The DSP rules among the learners."""
        return cast(tuple[Rule, ...], self.learners["dsp"])

    @property
    def trials(self) -> int:
        """The number of trials in a test: five for each final position."""
        return TRIALS * len(self.maze.finals)

    @cached_property
    def _fitness(self) -> dict[str, NDArray[np.float64]]:
        return {test: curves.mean(axis=1) for test, curves in self.curves.items()}

    def fitness(self, test: str) -> NDArray[np.float64]:
        """Return the mean best EP of every rule after every episode, (rules, episodes)."""
        return self._fitness[one_of("test", test, self.curves)]

    def best(self, learner: str) -> int:
        """Return which rule, or climber, has the lowest fitness at the end of the plain test."""
        return int(np.argmin(self.fitness(one_of("learner", learner, self.learners))[:, -1]))

    def ranking(self, learner: str) -> list[int]:
        """Return the rules, or climbers, in the order of their fitness at the end of the plain test."""
        fitness = self.fitness(one_of("learner", learner, self.learners))[:, -1]
        order: list[int] = np.argsort(fitness, kind="stable").tolist()
        return order

    def best_curve(self, test: str) -> NDArray[np.int32]:
        """Return the trials (trials, episodes) of the best rule or climber, or of chance beside it."""
        one_of("test", test, self.curves)
        whose = CHANCE.get(test, test.removesuffix("_resampled"))
        curve: NDArray[np.int32] = self.curves[test][self.best(whose)]
        return curve

    def beside_chance(self, learner: str, episodes: int) -> list[Fresh]:
        """Return how every rule, or climber, does beside chance after some episodes of the plain test."""
        one_of("learner", learner, self.learners)
        episodes = integer("episodes", episodes, 1, self.curves[learner].shape[-1])
        chance = next(test for test, kind in CHANCE.items() if kind == learner)
        pairs = zip(self.curves[learner], self.curves[chance], strict=True)
        return [Fresh.of(own[:, episodes - 1], by_chance[:, episodes - 1]) for own, by_chance in pairs]

    def origin(self, learner: str, number: int) -> str:
        """Say where a rule or climber comes from: the run that evolved it, or its name in the paper."""
        one_of("learner", learner, self.learners)
        number = integer("number", number, 0, len(self.learners[learner]) - 1)
        if learner in self.evolved:
            return f"run {self.evolved[learner].winners[number].run}"
        return f"paper:{number + 1}"


def paper_results() -> dict[str, Any]:
    """Return every number that the paper reports."""
    text = (resources.files("distal.studies") / "paper_results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def random_learners(kind: str, seed: int, count: int = PAPER.population) -> Sequence[Learner]:
    """Draw rules ("dsp") or climbers ("hc"), as in the first generation of an evolution."""
    config = Config(kind)
    return config.decode(first_population(count, *config.genes, seed))


def other_elites(elites: str) -> str:
    """Return the other reading of elites."""
    return next(word for word in ELITES if word != elites)


def evolution_episodes(scale_runs: int, generations: int, elites: str, finals: int) -> int:
    """Return how many episodes an evolution at 100 episodes runs."""
    children = PAPER.population - (PAPER.elite_count if elites == "kept" else 0)
    return scale_runs * (PAPER.population + children * generations) * TRIALS * finals * 100


def plan(scale: Scale, rules: str, maze: Maze, elites: str = PAPER.elites) -> list[Stage]:
    """Return the stages of a reproduction with the episodes that each will run."""
    finals = len(maze.finals)
    names = {"dsp": "DSP rules", "hc": "hill climbing"}
    stages = []
    for suffix, reading in (("", elites), ("_otherwise", other_elites(elites))):
        for kind, name in names.items():
            if (rules, kind) == ("published", "dsp"):
                continue
            title = f"evolve {name}, {scale.runs} runs of {scale.generations} generations, elites {reading}"
            episodes = evolution_episodes(scale.runs, scale.generations, reading, finals)
            stages.append(Stage(f"evolve_{kind}{suffix}", title, episodes, kind, scale.runs))
    if rules == "published":
        episodes = len(published_rules()) * _MANY * finals * 100
        stages.append(Stage("afresh_dsp", "the published rules for 100 episodes", episodes, "dsp"))
        stages.append(Stage("afresh_chance", "chance beside them", episodes, "chance"))
    for name, learner, resampled in TESTS:
        n = len(published_rules()) if (rules, learner) == ("published", "dsp") else scale.runs
        title = f"test {n} {'rules' if learner == 'dsp' else 'climbers'}, {scale.episodes:,} episodes"
        title += f", resampled every {RESAMPLE}" if resampled else ""
        stages.append(Stage(f"test_{name}", title, n * TRIALS * finals * scale.episodes, learner))
    for name, whose in (("test_chance", "rules"), ("test_chance_hc", "climbers")):
        n = len(published_rules()) if (rules, whose) == ("published", "rules") else scale.runs
        title = f"chance beside the {whose}, {scale.episodes:,} episodes"
        stages.append(Stage(name, title, n * TRIALS * finals * scale.episodes, "chance"))
    stages += _appendix_plan(scale, rules, maze)
    for kind, name in (("dsp", "the best rule"), ("hc", "the best climber"), ("chance", "chance")):
        stages.append(Stage(f"at_100_{kind}", f"{name} for 100 episodes", TRIALS * finals * 100, kind))
        stages.append(
            Stage(f"episodes_{kind}", f"{name}, every one of 100 episodes", _MANY * finals * 100, kind)
        )
    return stages


def _appendix_plan(scale: Scale, rules: str, maze: Maze) -> list[Stage]:
    """Return the stages of the appendix; published rules that are tested anyway are not run twice."""
    n, narrow = len(published_rules()), named_maze(NARROW)
    own, there = (n * TRIALS * len(one.finals) * scale.episodes for one in (maze, narrow))
    whose, long = f"the paper's {n} rules", f"{scale.episodes:,} episodes"
    stages = [
        Stage("appendix_dsp", f"test {whose}, {long}", own, "dsp"),
        Stage("appendix_dsp_resampled", f"test {whose}, {long}, resampled every {RESAMPLE}", own, "dsp"),
        Stage("appendix_chance", f"chance beside {whose}, {long}", own, "chance"),
    ]
    return [
        *(stages if rules == "evolved" else ()),
        *(
            [Stage("appendix_narrow", f"test {whose} in {NARROW}, {long}", there, "dsp")]
            if maze != narrow
            else ()
        ),
    ]


def estimated_seconds(
    stages: list[Stage], task: Task[Any], settings: Settings, run: Runner
) -> dict[str, float]:
    """Measure all learners for a moment and say how long each stage may take."""
    rates = {}
    slow = run.engine == "reference"
    count = {"reference": run.workers or 1, "gpu": 15 * PAPER.population}.get(run.engine, PAPER.population)
    for kind in ("dsp", "hc", "chance"):
        few = (DEFAULT_CHANCE,) * count if kind == "chance" else random_learners(kind, 0, count)
        batch = batch_of(
            few, np.arange(len(few), dtype=np.uint64), trials=1, episodes=5 if slow else 100,
            task=task, settings=settings,
        )  # fmt: skip
        for _ in range(2):  # the first may compile
            began = time.perf_counter()
            run.run(batch)
            rates[kind] = len(batch) * batch.episodes / (time.perf_counter() - began)
    return {stage.name: stage.episodes / rates[stage.learner] for stage in stages}


CLAIM, HOLDS = "reproduction.json", "a reproduction"

FIGURES = (
    "appendix", "maze", "evolution", "evolution_median", "distribution_100", "every_episode", "long_tests",
    "resampled_tests", "distributions", "comparison", "rule_map",
)  # fmt: skip
_TABLES = ("summary", "appendix", "rules_continuous", "rules_discrete", "climbers")
# Everything that a report writes.
REPORT = (
    "report.html", "results.json", "results.md", "evolved_rules.json",
    *(f"figures/{name}.{kind}" for name in FIGURES for kind in ("svg", "png")),
    *(f"tables/{name}.{kind}" for name in _TABLES for kind in ("csv", "tex")),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Experiments(Request):
    """The experiments that are asked for: everything that decides the results, checked."""

    scale: str
    rules: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", one_of("scale", self.scale, SCALES))
        object.__setattr__(self, "rules", one_of("rules", self.rules, RULES))
        super().__post_init__()

    @property
    def size(self) -> Scale:
        """How much is run."""
        return SCALES[self.scale]

    @cached_property
    def stages(self) -> list[Stage]:
        """What is to be done, in its order."""
        return plan(self.size, self.rules, self.maze, self.elites)

    @cached_property
    def claim(self) -> Claim:
        """What a folder for it holds."""
        own = {"format": "distal-reproduction", "scale": self.scale, "rules": self.rules}
        files = (CLAIM, SECONDS, *(file for stage in self.stages for file in stage.files), *REPORT)
        # Version 0.1 knew kept elites alone and did not say so.
        return Claim(CLAIM, HOLDS, {**own, **self.to_dict()}, files, tuple(self.stages), {"elites": "kept"})

    def config(self, kind: str, elites: str) -> Config:
        """Return one of its evolutions."""
        return Config(
            kind, self.size.runs, self.size.generations, TRIALS, 100, self.seed,
            search=replace(PAPER, elites=elites), settings=self.settings, task=MazeTask(self.maze),
        )  # fmt: skip

    def check_memory(self) -> None:
        """Refuse what the machine's free memory does not hold: the curves of all tests, and an evolution."""
        tested = sum(stage.episodes for stage in self.stages if stage.name.startswith("test_"))
        evolution = estimate(self.config("dsp", self.elites))
        parts = {"curves": memory.EP * tested, **evolution.parts}
        fewer = "take scale quick, or a maze with fewer final positions"
        memory.Estimate("the experiments", parts, fewer).check()


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
    progress: Callable[[Event], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> Reproduction:
    """Run the paper's experiments; `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for all of it.
        rules: Which rules to test: "evolved" for new ones, "published" for the paper's.
        elites: As in `evolve`. The evolutions are run with the other reading too, to compare.
        seed: The seed of all random numbers.
        out: A folder to keep the work in. Stages that it already holds are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        maze: The maze; the triple T-maze if left out.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the stages proceed.
        **settings: As in `Settings`.

    Returns:
        All curves and winners.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    out, force = None if out is None else folder("out", out), flag("force", force)
    function("progress", progress)
    in_force = Settings.of(settings, tuple(inspect.signature(reproduce).parameters))
    request = Experiments(
        scale=scale, rules=rules, elites=elites, seed=seed, settings=in_force, maze=checked_maze(maze)
    )
    return run(request, Runner.of(engine), out, force, progress)


def run(
    request: Experiments,
    runner: Runner,
    out: Path | None = None,
    force: bool = False,
    progress: Callable[[Event], None] | None = None,
) -> Reproduction:
    """Run the experiments that are asked for; see `reproduce`."""
    request.check_memory()
    with request.claim.taken(out, force) as kept:
        return _Work(request, Stages(request.stages, runner, progress, kept)).run()


@dataclass(eq=False)
class _Work:
    """A reproduction in progress."""

    request: Experiments
    stages: Stages

    def run(self) -> Reproduction:
        """Do all stages that are missing."""
        asked, episodes = self.request, self.request.size.episodes
        evolved: dict[str, Evolved] = {}
        otherwise: dict[str, Evolved] = {}
        fresh: dict[str, tuple[Fresh, ...]] = {}
        learners: dict[str, tuple[Learner, ...]] = {}
        for kind in ("dsp", "hc"):
            if f"evolve_{kind}" in self.stages.stages:
                evolved[kind] = self.stages.evolve(f"evolve_{kind}", asked.config(kind, asked.elites))
                learners[kind] = tuple(winner.learner for winner in evolved[kind].winners)
                fresh[kind] = tuple(winner.fresh for winner in evolved[kind].winners)
            else:
                learners[kind] = published_rules()
                fresh[kind] = self._afresh(learners[kind])
        curves = {}
        for number, (name, kind, resampled) in enumerate(TESTS):
            resample = RESAMPLE if resampled else None
            curves[name] = self._test(f"test_{name}", learners[kind], number, episodes, resample)
        for number, (name, kind) in enumerate(CHANCE.items()):  # in the trials of the plain tests
            by_chance = tuple(map(chance_for, learners[kind]))
            curves[name] = self._test(f"test_{name}", by_chance, number, episodes)
        result = Reproduction(
            asked.size, asked.seed, asked.rules, asked.elites, asked.settings, asked.maze,
            self.stages.runner.engine, evolved, otherwise, fresh, learners, curves, {}, {},
            self.stages.seconds, self._appendix(curves),
        )  # fmt: skip
        rule = learners["dsp"][result.best("dsp")]
        chance = chance_for(rule)
        three = {"dsp": rule, "hc": learners["hc"][result.best("hc")], "chance": chance}
        at_100 = {
            kind: self._test(f"at_100_{kind}", (one,), _AT_100.get(kind, _AT_100["dsp"]), 100)[0, :, -1]
            for kind, one in three.items()
        }
        every = {
            kind: self._test(f"episodes_{kind}", (one,), EPISODES, 100, trials=_MANY, every=True)[0]
            for kind, one in three.items()
        }
        for kind in evolved:
            otherwise[kind] = self.stages.evolve(
                f"evolve_{kind}_otherwise", asked.config(kind, other_elites(asked.elites))
            )
        return replace(
            result, at_100=at_100, episodes=every, otherwise=otherwise, seconds=self.stages.seconds
        )

    def _appendix(self, curves: dict[str, NDArray[np.int32]]) -> Appendix:
        """Return the paper's fifteen rules; tests that were run anyway are taken from their curves."""
        episodes, rules = self.request.size.episodes, published_rules()
        at, narrow = marks(episodes), named_maze(NARROW)

        def tested(name: str, learners: tuple[Learner, ...], number: int, **more: Any) -> NDArray[np.int32]:
            if f"appendix_{name}" in self.stages.stages:
                return self._test(f"appendix_{name}", learners, number, episodes, record=at, **more)
            return curves[name][:, :, [mark - 1 for mark in at]]

        return Appendix(
            at,
            plain=tested("dsp", rules, APPENDIX),
            resampled=tested("dsp_resampled", rules, APPENDIX_RESAMPLED, resample=RESAMPLE),
            chance=tested("chance", tuple(map(chance_for, rules)), APPENDIX),
            narrow=None if self.request.maze == narrow else tested("narrow", rules, APPENDIX, maze=narrow),
        )

    def _afresh(self, learners: tuple[Learner, ...]) -> tuple[Fresh, ...]:
        """Return how rules do on many trials, beside chance on the same ones."""
        chance = tuple(chance_for(learner) for learner in learners)
        own, by_chance = (
            self._test(f"afresh_{name}", those, AFRESH, 100, trials=_MANY, record=(100,))[:, :, -1]
            for name, those in (("dsp", learners), ("chance", chance))
        )
        return tuple(Fresh.of(*pair) for pair in zip(own, by_chance, strict=True))

    def _test(
        self,
        stage: str,
        learners: tuple[Learner, ...],
        number: int,
        episodes: int,
        resample: int | None = None,
        trials: int = TRIALS,
        every: bool = False,
        record: tuple[int, ...] | None = None,
        maze: Maze | None = None,
    ) -> NDArray[np.int32]:
        """Return the curves of test `number`, in the maze that is asked for if none is named."""
        asked = self.request
        seeds = draws.child_seeds(asked.seed, [[k, number, TEST] for k in range(len(learners))])
        return self.stages.test(
            stage, learners, seeds, trials=trials, episodes=episodes, task=MazeTask(maze or asked.maze),
            settings=asked.settings, resample=resample, every=every, record=record,
        )  # fmt: skip
