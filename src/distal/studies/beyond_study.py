"""The study beyond the paper: what the paper leaves to future work, asked and measured.

`study_beyond` answers the questions of `beyond_plan`. It evolves rules and hill climbing in
every condition, chooses the winner with the lowest re-measured fitness, and tests it on
trials that no search has seen, beside hill climbing and chance. It runs in stages (see
`stages`); `beyond_answers` and `beyond_report` turn the numbers into sentences and pages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal._version import __version__
from distal.base.checks import (
    InputError,
    fields,
    flag,
    folder,
    function,
    instance,
    integer,
    number,
    one_of,
    sequence,
    text,
    unit_interval,
)
from distal.engines import Runner
from distal.engines.batch import EPs, batch_of
from distal.learners import DEFAULT_CHANCE, Learner, chance_for
from distal.model.draws import MAX_SEED, child_seed
from distal.search.genetic import GeneticAlgorithm
from distal.search.results import Evolved
from distal.studies import experiments
from distal.studies.beyond_numbers import Comparison, Evolution, Row, scores
from distal.studies.beyond_plan import (
    CHANCE,
    KINDS,
    QUESTIONS,
    REMEASURED,
    RULE,
    SCALES,
    Case,
    Condition,
    Pair,
    Place,
    Question,
    Scale,
    World,
)
from distal.studies.intervals import Gap
from distal.studies.stages import SECONDS, Claim, Event, Grouped, Stage, Stages
from distal.studies.study import made_by, read_as

BEYOND = 10  # the last number of the part that seeds of the tests come from; the first is the question


@dataclass(frozen=True)
class Outcome:
    """What was measured for a question.

    `runs` holds what the winners of all runs are compared by: a number for each, by evolution
    and score.
    """

    question: Question
    rows: dict[str, Row]
    comparisons: dict[Pair, Comparison]
    runs: dict[str, dict[str, tuple[float, ...]]]

    def compared(self, own: str, other: str, of: str, runs: bool = False) -> Comparison:
        """Return a comparison of two rows, of a row with chance, or of the runs of two evolutions."""
        return self.comparisons[Pair(own, other, of, runs)]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {
            "question": self.question.name,
            "rows": {name: row.to_dict() for name, row in self.rows.items()},
            "comparisons": {
                pair.name: {**asdict(one.gap), "corrected": one.corrected}
                for pair, one in self.comparisons.items()
            },
            "runs": {
                name: {score: list(values) for score, values in found.items()}
                for name, found in self.runs.items()
            },
        }

    @classmethod
    def from_dict(cls, data: Any, question: Question) -> Outcome:
        """Read what `to_dict` returns."""
        if data["question"] != question.name:
            raise InputError(f"there is no answer to {question.title!r} where it should be")
        compared = data["comparisons"]
        return cls(
            question,
            {case.name: Row.from_dict(data["rows"][case.name], case.world) for case in question.cases},
            {
                pair: Comparison(
                    Gap.from_dict(compared[pair.name]),
                    unit_interval("corrected", compared[pair.name]["corrected"]),
                )
                for pair in question.pairs
            },
            {
                name: {
                    score: tuple(number(score, value) for value in data["runs"][name][score])
                    for score in question.scores
                }
                for name in question.compared
            },
        )


FORMAT, VERSION = "distal-beyond", 1
FIELDS = ("distal", "scale", "seed", "engine", "machine", "seconds", "evolutions", "questions")


@dataclass(frozen=True)
class BeyondStudy:
    """All that the study beyond the paper gave.

    Attributes:
        scale: How much was run.
        seed: The seed.
        engine: The engine that ran the trials.
        version: The version of Distal.
        machine: A description of the machine.
        seconds: How long each stage took.
        evolutions: The winners of every evolution.
        outcomes: What was measured for each question.
    """

    scale: Scale
    seed: int
    engine: str
    version: str
    machine: dict[str, Any]
    seconds: dict[str, float]
    evolutions: dict[str, Evolution]
    outcomes: tuple[Outcome, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and what made them, ready for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "distal": self.version,
            "scale": asdict(self.scale),
            "seed": self.seed,
            "engine": self.engine,
            "machine": self.machine,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "evolutions": {name: one.to_dict() for name, one in self.evolutions.items()},
            "questions": [outcome.to_dict() for outcome in self.outcomes],
        }

    @classmethod
    def from_dict(cls, data: object) -> BeyondStudy:
        """Read what `to_dict` returns."""
        with read_as("study beyond the paper"):
            return cls._read(fields(data, FORMAT, VERSION, FIELDS))

    @classmethod
    def _read(cls, data: dict[str, Any]) -> BeyondStudy:
        scale = instance("scale", data["scale"], dict, "how much was run")
        evolved = instance("evolutions", data["evolutions"], dict, "the winners of every evolution")
        found = sequence("questions", data["questions"], f"a list of {len(QUESTIONS)} outcomes")
        sizes = [name for name in Scale.__dataclass_fields__ if name != "name"]
        return cls(
            scale=Scale(text("scale", scale["name"]), *(integer(name, scale[name], 0) for name in sizes)),
            engine=text("engine", data["engine"]),
            **made_by(data),
            evolutions={
                name: Evolution.from_dict(evolved[name])
                for question in QUESTIONS
                for name in question.evolutions
            },
            outcomes=tuple(Outcome.from_dict(*each) for each in zip(found, QUESTIONS, strict=True)),
        )


# ------------------------------------------------------------------ the plan


@dataclass(frozen=True)
class _Test:
    """A test: learners of one kind, all in the same trials of one world.

    The learners are those of the cases, or chance with their scales; `everyone` stands for the
    winners of all runs of the evolutions that a question compares.
    """

    question: Question
    world: World
    kind: str
    cases: tuple[Case, ...] = ()
    anew: bool = False

    @property
    def name(self) -> str:
        """The name of its stage."""
        what = f"{self.kind}{'_anew' if self.anew else ''}" if self.cases else "everyone"
        return f"{self.question.name}_{self.world.name}_{what}"

    def stage(self, scale: Scale) -> Stage:
        """Return the stage, with the episodes that it will run."""
        place = self.world.place
        learners = len(self.cases) or len(self.question.compared) * scale.runs
        trials = place.per_goal(scale.tested) * len(place.task.goals)
        kind = CHANCE if self.kind == CHANCE else KINDS[self.kind]
        title = f"test {kind if self.cases else 'all winners'}, {self.world.words}"
        return Stage(self.name, title, learners * trials * self.world.episodes(scale), self.kind)


def _tests(question: Question) -> list[_Test]:
    """Return all tests of a question."""
    found = []
    for world in question.worlds:
        cases = [case for case in question.cases if case.world == world]
        for kind, anew in dict.fromkeys((case.kind, case.anew) for case in cases):
            alike = tuple(case for case in cases if (case.kind, case.anew) == (kind, anew))
            found.append(_Test(question, world, kind, alike, anew))
        found.append(_Test(question, world, CHANCE, tuple(cases)))
    if question.everyone is not None:
        found.append(_Test(question, question.everyone, RULE))
    return found


@dataclass(frozen=True)
class _Plan:
    """What is to be done for a question: the evolutions that no earlier question needs, and its tests."""

    question: Question
    scale: Scale
    evolutions: dict[str, tuple[str, Condition]]

    @cached_property
    def places(self) -> dict[Place, list[Stage]]:
        """The stages, by the place that they run in."""
        found: dict[Place, list[Stage]] = {}
        for name, (kind, condition) in self.evolutions.items():
            config = condition.config(kind, self.scale, 0)
            each = config.trials * len(config.task.goals) * config.episodes
            episodes = config.runs * (config.generations + 1) * GeneticAlgorithm.population * each
            title = f"{KINDS[kind]} {condition.words}"
            stage = Stage(f"evolve_{name}", title, episodes, kind, config.runs)
            found.setdefault(condition.place, []).append(stage)
        for test in _tests(self.question):
            found.setdefault(test.world.place, []).append(test.stage(self.scale))
        return found

    @property
    def stages(self) -> list[Stage]:
        """All stages."""
        return [stage for stages in self.places.values() for stage in stages]

    @property
    def outline(self) -> Stage:
        """One stage for people: all of them together."""
        episodes = sum(stage.episodes for stage in self.stages)
        return Stage(self.question.name, self.question.title, episodes, RULE)


def plan(scale: Scale) -> list[_Plan]:
    """Return what is to be done for every question."""
    planned, known = [], set[str]()
    for question in QUESTIONS:
        own = {name: one for name, one in question.evolutions.items() if name not in known}
        known.update(own)
        planned.append(_Plan(question, scale, own))
    return planned


def estimated_seconds(planned: list[_Plan], runner: Runner) -> dict[str, float]:
    """Measure all learners for a moment in every place and say how long each question may take."""
    found: dict[Place, list[Stage]] = {}
    for one in planned:
        for place, stages in one.places.items():
            found.setdefault(place, []).extend(stages)
    seconds = {}
    for place, stages in found.items():
        seconds.update(experiments.estimated_seconds(stages, place.task, place.settings, runner))
    return {one.outline.name: sum(seconds[stage.name] for stage in one.stages) for one in planned}


# ------------------------------------------------------------------ the work

CLAIM, HOLDS = "beyond-study.json", "a study beyond the paper"
# Everything that a report writes.
REPORT = (
    "beyond.md", "beyond.json",
    *(f"figures/beyond_{question.name}.{kind}" for question in QUESTIONS for kind in ("svg", "png")),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Beyond:
    """The study that is asked for: everything that decides the results, checked."""

    scale: str
    seed: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", one_of("scale", self.scale, SCALES))
        object.__setattr__(self, "seed", integer("seed", self.seed, 0, MAX_SEED))

    @cached_property
    def planned(self) -> list[_Plan]:
        """What is to be done for every question."""
        return plan(SCALES[self.scale])

    @cached_property
    def stages(self) -> list[Stage]:
        """What is to be done for all of them."""
        return [stage for one in self.planned for stage in one.stages]

    @cached_property
    def claim(self) -> Claim:
        """What a folder for it holds."""
        content = {"format": "distal-beyond-study", "scale": self.scale, "seed": self.seed}
        files = (CLAIM, SECONDS, *(file for stage in self.stages for file in stage.files), *REPORT)
        return Claim(CLAIM, HOLDS, content, files, tuple(self.stages))


def study_beyond(
    scale: str = "quick",
    *,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    engine: str | Runner | None = None,
    progress: Callable[[Event], None] | None = None,
) -> BeyondStudy:
    """Ask what the paper leaves open: other neurons, networks and mazes, rules that keep, goals that move.

    `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for as many runs and generations as the paper has.
        seed: The seed of all random numbers.
        out: A folder to keep the work in. Stages that it already holds are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`. What the engine
            cannot run goes to the next that can: a card takes no network of 80 hidden neurons.
        progress: Called with an `Event` as the questions proceed.

    Returns:
        One outcome for each question.

    Raises:
        InputError: If an argument is wrong, or the folder cannot be used.
    """
    out, force = None if out is None else folder("out", out), flag("force", force)
    function("progress", progress)
    request = Beyond(scale=scale, seed=seed)
    return run(request, Runner.of(engine), out, force, progress)


def run(
    request: Beyond,
    runner: Runner,
    out: Path | None = None,
    force: bool = False,
    progress: Callable[[Event], None] | None = None,
) -> BeyondStudy:
    """Run the study that is asked for; see `study_beyond`."""
    groups = ((one.outline, one.stages) for one in request.planned)
    told = None if progress is None else Grouped(groups, progress)
    with request.claim.taken(out, force) as kept:
        stages = Stages(request.stages, runner.falling_back(), told, kept)
        work = _Work(request, stages)
        outcomes = tuple(work.run(number, one) for number, one in enumerate(request.planned))
        found = {name: Evolution.of(evolved) for name, evolved in work.evolved.items()}
        return BeyondStudy(
            SCALES[request.scale], request.seed, runner.engine, __version__,
            engines.machine_of(runner.engine), stages.seconds, found, outcomes,
        )  # fmt: skip


@dataclass(eq=False)
class _Work:
    """A study in progress."""

    request: Beyond
    stages: Stages
    evolved: dict[str, Evolved] = field(default_factory=dict)

    def run(self, position: int, planned: _Plan) -> Outcome:
        """Do all stages of a question that are missing, and sum them up."""
        question, scale, seed = planned.question, planned.scale, self.request.seed
        for name, (kind, condition) in planned.evolutions.items():
            self.evolved[name] = self.stages.evolve(f"evolve_{name}", condition.config(kind, scale, seed))
        # All learners of a question have the same trials, so that any two can be compared in pairs.
        trials = _Trials(self.stages, scale, child_seed(seed, position, 0, BEYOND))
        rows, own, luck = {}, {}, {}
        for world in question.worlds:
            goals = trials.goals(world)
            for name, (ep, by_chance) in self._eps(question, world, trials).items():
                rows[name] = Row.of(world, ep, by_chance, goals, scale)
                own[name], luck[name] = scores(world, ep, scale), scores(world, by_chance, scale)
        runs = self._runs(question, trials)

        def gap(pair: Pair) -> Gap:
            if pair.runs:
                return Gap.of_runs(*(np.array(runs[name][pair.of]) for name in (pair.own, pair.other)))
            other = luck[pair.own] if pair.other == CHANCE else own[pair.other]
            return Gap.of(own[pair.own][pair.of], other[pair.of])

        compared = Comparison.family([gap(pair) for pair in question.pairs])
        rows = {case.name: rows[case.name] for case in question.cases}
        return Outcome(question, rows, dict(zip(question.pairs, compared, strict=True)), runs)

    def _eps(self, question: Question, world: World, trials: _Trials) -> dict[str, tuple[EPs, EPs]]:
        """Return the EPs (trials, episodes) of all cases in a world, each with those of chance beside it."""
        found: dict[str, EPs] = {}
        by_chance: dict[str, EPs] = {}
        for test in _tests(question):
            if test.world == world and test.cases:
                learners = [Evolution.of(self.evolved[case.evolution]).learner for case in test.cases]
                if test.kind == CHANCE:
                    learners = [chance_for(learner) for learner in learners]
                names = (case.name for case in test.cases)
                kept = by_chance if test.kind == CHANCE else found
                kept.update(zip(names, trials.run(test, learners), strict=True))
        return {name: (ep, by_chance[name]) for name, ep in found.items()}

    def _runs(self, question: Question, trials: _Trials) -> dict[str, dict[str, tuple[float, ...]]]:
        """Return what the winners of all runs are compared by."""
        winners = {name: self.evolved[name].winners for name in question.compared}
        world = question.everyone
        if world is None:
            return {
                name: {REMEASURED: tuple(winner.remeasured for winner in found)}
                for name, found in winners.items()
            }
        learners = [winner.learner for found in winners.values() for winner in found]
        eps = trials.run(_Test(question, world, RULE), learners)
        each = iter([scores(world, ep, trials.scale) for ep in eps])
        by_run = {name: [next(each) for _ in found] for name, found in winners.items()}
        return {
            name: {score: tuple(float(one[score].mean()) for one in found) for score in question.scores}
            for name, found in by_run.items()
        }


@dataclass(frozen=True)
class _Trials:
    """The trials of a question: the same for all that are tested in a world."""

    stages: Stages
    scale: Scale
    seed: int

    def run(self, test: _Test, learners: list[Learner]) -> EPs:
        """Return the EP of every episode, (learners, trials, episodes)."""
        world, scale = test.world, self.scale
        return self.stages.test(
            test.name, learners, np.full(len(learners), self.seed, np.uint64),
            trials=world.place.per_goal(scale.tested), episodes=world.episodes(scale),
            task=world.place.task, settings=world.place.settings,
            resample=scale.episodes if test.anew else None, every=True, switch=world.switch(scale),
        )  # fmt: skip

    def goals(self, world: World) -> NDArray[np.int32]:
        """Return the goals, (trials, phases)."""
        place, scale = world.place, self.scale
        return batch_of(
            [DEFAULT_CHANCE], np.array([self.seed], np.uint64), trials=place.per_goal(scale.tested),
            episodes=world.episodes(scale), task=place.task, settings=place.settings,
            switch=world.switch(scale),
        ).goals  # fmt: skip
