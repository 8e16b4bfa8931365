"""Run the paper's experiments and write a report.

Rules and hill climbing are evolved and tested for many episodes, with and without resampling, and
compared with chance. `agreement` compares the numbers of a `Reproduction` with the paper's.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
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
AT_100, AT_100_HC, EPISODES, AFRESH, APPENDIX, APPENDIX_RESAMPLED = range(4, 10)
_CLOSE_LOOKS = {"dsp": "the best rule", "hc": "the best climber", "chance": "chance"}


@dataclass(frozen=True)
class _Test:
    """A test of rules ("dsp") or climbers ("hc"), or of their chance, by its number.

    `who` is "all" that the study tests, the "paper"'s rules, or the "best" of all. `more` is for
    `Stages.test`.
    """

    title: str
    kind: str
    number: int
    episodes: int
    who: str = "all"
    chance: bool = False
    trials: int = TRIALS
    maze: Maze | None = None
    more: dict[str, Any] = field(default_factory=dict)


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
        return [replace(stage, cost=cost) for stage in (*self._evolutions(), *self._test_stages())]

    def _evolutions(self) -> Iterator[Stage]:
        """Yield the evolutions with both readings of elites."""
        size = self.size
        for suffix, reading in (("", self.elites), ("_otherwise", other_elites(self.elites))):
            for kind, name in (("dsp", "DSP rules"), ("hc", "hill climbing")):
                if (self.rules, kind) == ("published", "dsp"):
                    continue
                title = f"evolve {name}, {size.runs} runs of {size.generations} generations, elites {reading}"
                yield evolution_stage(f"evolve_{kind}{suffix}", title, self.config(kind, reading))

    def _test_stages(self) -> Iterator[Stage]:
        published = len(published_rules())
        count = {"paper": published, "best": 1}
        for name, test in self.tests.items():
            every = published if (self.rules, test.kind) == ("published", "dsp") else self.size.runs
            trials = count.get(test.who, every) * test.trials * len((test.maze or self.maze).finals)
            yield Stage(name, test.title, trials * test.episodes, "chance" if test.chance else test.kind)

    @cached_property
    def tests(self) -> dict[str, _Test]:
        """The tests, by their stages. Published rules that are tested anyway are not run twice."""
        found, episodes = {}, self.size.episodes
        long, again = f"{episodes:,} episodes", f", resampled every {RESAMPLE}"
        own, n = self.rules == "evolved", len(published_rules())
        if not own:
            afresh = partial(
                _Test, kind="dsp", number=AFRESH, episodes=100, trials=_MANY, more={"record": (100,)}
            )
            found["afresh_dsp"] = afresh("the published rules for 100 episodes")
            found["afresh_chance"] = afresh("chance for them", chance=True)
        for number, (name, kind, resampled) in enumerate(TESTS):
            whose = "rules" if kind == "dsp" else "climbers"
            count = n if kind == "dsp" and not own else self.size.runs
            title = f"test {count} {whose}, {long}{again * resampled}"
            more = {"resample": RESAMPLE if resampled else None}
            found[f"test_{name}"] = _Test(title, kind, number, episodes, more=more)
        for number, (name, kind) in enumerate(CHANCE.items()):  # in the trials of the plain tests
            title = f"chance for the {'rules' if kind == 'dsp' else 'climbers'}, {long}"
            found[f"test_{name}"] = _Test(title, kind, number, episodes, chance=True)
        whose, at, narrow = f"the paper's {n} rules", {"record": marks(episodes)}, named_maze(NARROW)
        paper = partial(_Test, kind="dsp", number=APPENDIX, episodes=episodes, who="paper", more=at)
        if own:
            found["appendix_dsp"] = paper(f"test {whose}, {long}")
            found["appendix_dsp_resampled"] = paper(
                f"test {whose}, {long}{again}", number=APPENDIX_RESAMPLED, more={**at, "resample": RESAMPLE}
            )
            found["appendix_chance"] = paper(f"chance for {whose}, {long}", chance=True)
        if self.maze != narrow:
            found["appendix_narrow"] = paper(f"test {whose} in {NARROW}, {long}", maze=narrow)
        for which, name in _CLOSE_LOOKS.items():
            kind, by_chance = ("dsp", True) if which == "chance" else (which, False)
            best = partial(_Test, kind=kind, episodes=100, who="best", chance=by_chance)
            at_100 = AT_100_HC if kind == "hc" else AT_100
            found[f"at_100_{which}"] = best(f"{name} for 100 episodes", number=at_100)
            found[f"episodes_{which}"] = best(
                f"{name}, every one of 100 episodes", number=EPISODES, trials=_MANY, more={"every": True}
            )
        return found

    # -------------------------------------------------------------- the work

    def run_stages(self, stages: Stages) -> Reproduction:
        """Run all stages that are missing."""
        evolved: dict[str, Evolved] = {}
        fresh: dict[str, tuple[Fresh, ...]] = {}
        learners: dict[str, tuple[Learner, ...]] = {}
        best: dict[str, tuple[Learner, ...]] = {}
        groups: dict[str, Mapping[str, tuple[Learner, ...]]] = {
            "all": learners, "paper": {"dsp": published_rules()}, "best": best,
        }  # fmt: skip

        def test(name: str) -> NDArray[np.int32]:
            """Return the curves of a test, in the study's maze if it names none."""
            one = self.tests[name]
            those = groups[one.who][one.kind]
            seeds = draws.child_seeds(self.seed, [[k, one.number, TEST] for k in range(len(those))])
            return stages.test(
                name, tuple(map(chance_for, those)) if one.chance else those, seeds, trials=one.trials,
                episodes=one.episodes, task=MazeTask(one.maze or self.maze), settings=self.settings, **one.more,
            )  # fmt: skip

        for kind in ("dsp", "hc"):
            if f"evolve_{kind}" in stages.stages:
                evolved[kind] = stages.evolve(f"evolve_{kind}", self.config(kind, self.elites))
                learners[kind] = tuple(winner.learner for winner in evolved[kind].winners)
                fresh[kind] = tuple(winner.fresh for winner in evolved[kind].winners)
            else:
                learners[kind] = published_rules()
                own, by_chance = (test(f"afresh_{name}")[:, :, -1] for name in ("dsp", "chance"))
                fresh[kind] = tuple(Fresh.of(*pair) for pair in zip(own, by_chance, strict=True))
        curves = {name: test(f"test_{name}") for name in (*(name for name, _, _ in TESTS), *CHANCE)}
        at = marks(self.size.episodes)

        def of_paper(name: str) -> NDArray[np.int32]:
            stage = f"appendix_{name}"
            return test(stage) if stage in self.tests else curves[name][:, :, [mark - 1 for mark in at]]

        appendix = Appendix(
            at, plain=of_paper("dsp"), resampled=of_paper("dsp_resampled"), chance=of_paper("chance"),
            narrow=of_paper("narrow") if "appendix_narrow" in self.tests else None,
        )  # fmt: skip
        result = Reproduction(
            scale=self.size, seed=self.seed, rules=self.rules, elites=self.elites, settings=self.settings,
            maze=self.maze, engine=stages.runner.engine, evolved=evolved, otherwise={}, fresh=fresh,
            learners=learners, curves=curves, at_100={}, episodes={}, seconds=stages.seconds, appendix=appendix,
        )  # fmt: skip
        best.update({kind: (learners[kind][result.best(kind)],) for kind in learners})
        at_100 = {which: test(f"at_100_{which}")[0, :, -1] for which in _CLOSE_LOOKS}
        every = {which: test(f"episodes_{which}")[0] for which in _CLOSE_LOOKS}
        otherwise = {
            kind: stages.evolve(f"evolve_{kind}_otherwise", self.config(kind, other_elites(self.elites)))
            for kind in evolved
        }
        return replace(result, at_100=at_100, episodes=every, otherwise=otherwise, seconds=stages.seconds)


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
