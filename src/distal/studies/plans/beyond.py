"""Test rules beyond the paper: other neurons, networks, mazes and goals.

In every condition of `beyond_plan`, rules and hill climbing are evolved. The winner with the lowest
re-measured fitness is tested in trials that no search has seen, with hill climbing and chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Unpack

import numpy as np

from distal.base.checks import InputError
from distal.base.files import read_json
from distal.engines import Runner, pace
from distal.engines.batch import EPs
from distal.evaluation.trials import per_goal
from distal.learners import Learner, chance_for
from distal.model.draws import child_seed
from distal.search.results import Evolved
from distal.studies.beyond_outcome import BeyondStudy, Evolution, InWorld, QuestionOutcome, scores
from distal.studies.beyond_plan import (
    BEYOND,
    CHANCE,
    KINDS,
    QUESTIONS,
    REMEASURED,
    RULE,
    Case,
    Pair,
    Question,
    World,
)
from distal.studies.beyond_report import BeyondReport
from distal.studies.intervals import Corrected, Gap
from distal.studies.registry import register
from distal.studies.stages import Stage, Stages, evolution_stage
from distal.studies.study import Option, RunOptions, Scale, Scaled


@dataclass(frozen=True)
class _Test:
    """A test: learners of one kind, all in the same trials of one world.

    The learners are those of the cases, or chance with their scales; without cases, they are the
    winners of all runs of the evolutions that a question compares.
    """

    world: World
    kind: str
    cases: tuple[Case, ...] = ()
    anew: bool = False

    def name(self, question: Question) -> str:
        """Return the name of its stage."""
        what = f"{self.kind}{'_anew' if self.anew else ''}" if self.cases else "everyone"
        return f"{question.name}_{self.world.name}_{what}"


def _tests(question: Question) -> list[_Test]:
    """Return all tests of a question."""
    found = []
    for world in question.worlds:
        cases = [case for case in question.cases if case.world == world]
        for kind, anew in dict.fromkeys((case.kind, case.anew) for case in cases):
            alike = tuple(case for case in cases if (case.kind, case.anew) == (kind, anew))
            found.append(_Test(world, kind, alike, anew))
        found.append(_Test(world, CHANCE, tuple(cases)))
    if question.everyone is not None:
        found.append(_Test(question.everyone, RULE))
    return found


@register
@dataclass(frozen=True, kw_only=True)
class Beyond(Scaled[BeyondStudy]):
    """The study beyond the paper.

    Args:
        second: The beyond.json of another study, whose verdicts the page shows too; it decides no result.
    """

    name: ClassVar[str] = "beyond"
    about: ClassVar[str] = (
        "Evolve rules and hill climbing with continuous neurons, in larger networks and mazes, to keep their "
        "success and under goals that move; test them against chance, and write a report on six questions. "
        "Stages are stored; the same command again runs only the missing ones."
    )
    report_class: ClassVar[type[BeyondReport]] = BeyondReport
    SCALES: ClassVar[dict[str, Scale]] = {
        "quick": Scale(
            "quick", runs=3, generations=25, trials=40, episodes=100, fresh=200, tested=200, long=1_000,
            last=20, about="a few minutes on two cores",
        ),
        "paper": Scale(
            "paper", runs=15, generations=300, trials=40, episodes=100, fresh=400, tested=400, long=1_000,
            last=20, about="a few minutes on a card",
        ),
    }  # fmt: skip
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "second", None, "the beyond.json of another study, whose verdicts the page also shows", "FILE"
        ),
    )

    second: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.other  # refused before any work

    @cached_property
    def other(self) -> BeyondStudy | None:
        """The study in the file `second`."""
        if self.second is None:
            return None
        data = read_json(self.second, "file")
        try:
            return BeyondStudy.from_dict(data)
        except InputError as error:
            raise InputError(f"file {self.second!r}: {error}") from None

    def report(self, outcome: BeyondStudy) -> BeyondReport:
        """Return the report of an outcome, with the verdicts of the other study."""
        return BeyondReport(outcome, self.other)

    def runner(self, given: Runner) -> Runner:
        """Return a runner that falls back: not every card can run 160 hidden neurons."""
        return given.falling_back()

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages of all questions; an evolution belongs to the first question that needs it."""
        size = self.size
        found: dict[str, Stage] = {}
        for question in QUESTIONS:
            seen: dict[str, Any] = {"group": question.name, "heading": question.title}
            for name, (kind, condition) in question.evolutions.items():
                config, title = condition.config(kind, size, self.seed), f"{KINDS[kind]} {condition.words}"
                stage = evolution_stage(f"evolve_{name}", title, config, **seen)
                found.setdefault(stage.name, stage)
            for test in _tests(question):
                world, place = test.world, test.world.place
                learners = len(test.cases) or len(question.compared) * size.runs
                trials = per_goal(place.task, size.tested) * len(place.task.goals)
                who = KINDS.get(test.kind, CHANCE) if test.cases else "all winners"
                name, title = test.name(question), f"test {who}, {world.words}"
                episodes, cost = (
                    learners * trials * world.episodes(size),
                    pace.cost(place.task, place.settings),
                )
                found[name] = Stage(name, title, episodes, test.kind, cost=cost, **seen)
        return list(found.values())

    def run_stages(self, stages: Stages) -> BeyondStudy:
        """Run all stages that are missing."""
        evolved: dict[str, Evolved] = {}
        outcomes = []
        for position, question in enumerate(QUESTIONS):
            for name, (kind, condition) in question.evolutions.items():
                if name not in evolved:
                    config = condition.config(kind, self.size, self.seed)
                    evolved[name] = stages.evolve(f"evolve_{name}", config)
            # All learners of a question have the same trials, so that any two can be compared in pairs.
            seed = child_seed(self.seed, position, 0, BEYOND)
            outcomes.append(_QuestionTrials(stages, self.size, question, seed, evolved).outcome())
        return BeyondStudy(
            scale=self.size, outcomes=tuple(outcomes), **self.made(stages),
            evolutions={name: Evolution.of(one) for name, one in evolved.items()},
        )  # fmt: skip


@dataclass(frozen=True)
class _QuestionTrials:
    """The trials of a question: the same for all that are tested in a world."""

    stages: Stages
    size: Scale
    question: Question
    seed: int
    evolved: dict[str, Evolved]

    def outcome(self) -> QuestionOutcome:
        """Run all tests that are missing, and sum them up."""
        size, eps, by_chances = self.size, dict[str, EPs](), dict[str, EPs]()
        for test in _tests(self.question):
            learners = [Evolution.of(self.evolved[case.evolution]).learner for case in test.cases]
            if test.kind == CHANCE:
                learners = [chance_for(learner) for learner in learners]
            if learners:
                names = (case.name for case in test.cases)
                kept = by_chances if test.kind == CHANCE else eps
                kept.update(zip(names, self._run(test, learners), strict=True))
        rows, own, luck = {}, {}, {}
        for case in self.question.cases:
            ep, by_chance = eps[case.name], by_chances[case.name]
            rows[case.name] = InWorld.of(case.world, ep, by_chance, size)
            own[case.name] = scores(case.world, ep, size)
            luck[case.name] = scores(case.world, by_chance, size)
        runs = self._runs()

        def gap(pair: Pair) -> Gap:
            if pair.runs:
                return Gap.of_runs(*(np.array(runs[name][pair.of]) for name in (pair.own, pair.other)))
            other = luck[pair.own] if pair.other == CHANCE else own[pair.other]
            return Gap.of(own[pair.own][pair.of], other[pair.of])

        pairs = self.question.pairs
        compared = Corrected.family([gap(pair) for pair in pairs])
        return QuestionOutcome(self.question, rows, dict(zip(pairs, compared, strict=True)), runs)

    def _runs(self) -> dict[str, dict[str, tuple[float, ...]]]:
        """Return the scores of the winners of all runs."""
        question = self.question
        winners = {name: self.evolved[name].winners for name in question.compared}
        if question.everyone is None:
            return {
                name: {REMEASURED: tuple(winner.remeasured for winner in found)}
                for name, found in winners.items()
            }
        learners = [winner.learner for found in winners.values() for winner in found]
        eps = self._run(_Test(question.everyone, RULE), learners)
        each = iter([scores(question.everyone, ep, self.size) for ep in eps])
        by_run = {name: [next(each) for _ in found] for name, found in winners.items()}
        return {
            name: {score: tuple(float(one[score].mean()) for one in found) for score in question.scores}
            for name, found in by_run.items()
        }

    def _run(self, test: _Test, learners: list[Learner]) -> EPs:
        """Return the EP of every episode, (learners, trials, episodes)."""
        world, size = test.world, self.size
        return self.stages.test(
            test.name(self.question), learners, np.full(len(learners), self.seed, np.uint64),
            trials=per_goal(world.place.task, size.tested), episodes=world.episodes(size), task=world.place.task,
            settings=world.place.settings, resample=size.episodes if test.anew else None, every=True,
            switch=world.switch(size),
        )  # fmt: skip


def study_beyond(scale: str = "quick", *, seed: int = 0, **how: Unpack[RunOptions]) -> BeyondStudy:
    """Test rules beyond the paper: other neurons, networks and mazes, retention, and moving goals.

    `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for as many runs and generations as the paper has.
        seed: The seed of all random numbers.
        **how: `engine`, `out`, `force` and `progress`, as in `reproduce`. Work that the engine cannot run
            goes to the next that can.

    Returns:
        One outcome for each question.

    Raises:
        InputError: If an argument is wrong, or the folder cannot be used.
    """
    return Beyond(scale=scale, seed=seed).run(**how)
