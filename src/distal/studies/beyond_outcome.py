"""The outcome of the study beyond the paper: the scores of learners, and all numbers of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, integer, unit_interval
from distal.base.records import Count, NotNegative, Record
from distal.engines.batch import EPs, best_so_far
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.measures import BEST, LAST
from distal.evaluation.phases import median_until_reached
from distal.learners import Learner
from distal.search.results import Evolved
from distal.studies.beyond_plan import (
    ADAPTED,
    CHANCE,
    LONG,
    LOST,
    MISSED,
    PHASES,
    QUESTIONS,
    Pair,
    Question,
    World,
)
from distal.studies.finished import Finished
from distal.studies.intervals import Corrected, Curve, Interval, curve_points
from distal.studies.stages import best_winner
from distal.studies.study import Scale
from distal.tasks.switching import BACK

_EVERY = 5  # episodes between two points of a curve where goals move


def scores(world: World, ep: EPs, scale: Scale) -> dict[str, NDArray[Any]]:
    """Return the scores of a learner, a number for each trial; lower is better.

    Args:
        world: What was tested in.
        ep: The EP of every episode, (trials, episodes).
        scale: How many episodes there are.

    Returns:
        Where goals stay: `best`, the best EP; `last`, the mean EP of the last episodes; `missed`,
        the share of these that do not reach the goal; all also over the long test. Where they
        move: `adapted`, the mean over all phases but the first of the best EP in the phase. Where
        they return: `lost`, by how much the first episode after a return is worse than the best
        one before.
    """
    if world.moves is not None:
        phases = ep.reshape(len(ep), PHASES, scale.episodes)
        best = phases.min(axis=2)
        if world.moves == BACK:
            return {LOST: (phases[:, 2:, 0] - best[:, :-2]).mean(axis=1)}
        return {ADAPTED: best[:, 1:].mean(axis=1)}
    found = {}
    for suffix, eps in _parts(world, ep, scale).items():
        found[f"{BEST}{suffix}"] = eps.min(axis=1)
        found[f"{LAST}{suffix}"] = eps[:, -scale.last :].mean(axis=1)
        found[f"{MISSED}{suffix}"] = (eps[:, -scale.last :] > world.target).mean(axis=1)
    return found


def _parts(world: World, ep: EPs, scale: Scale) -> dict[str, EPs]:
    """Return the episodes that are summed up: the first of them, and all of a long test."""
    short = {"": ep[:, : scale.episodes]}
    return {**short, LONG: ep} if world.long else short


def _names(world: World) -> tuple[list[str], list[str]]:
    """Return the names of the numbers of a learner in a world: those with an interval, and the others."""
    if world.moves == BACK:
        return [LOST, "left", "returned"], ["until_first", "until_again"]
    if world.moves is not None:
        phases = range(1, PHASES + 1)
        ends = [f"{name}_{phase}" for name in (BEST, "reached") for phase in phases]
        return [ADAPTED, *ends], [f"until_{phase}" for phase in phases]
    suffixes = ("", LONG) if world.long else ("",)
    values, numbers = (BEST, LAST, MISSED, "reached"), ("retained", "first")
    return [name + end for end in suffixes for name in values], [
        name + end for end in suffixes for name in numbers
    ]


def _sums(world: World, ep: EPs, scale: Scale) -> tuple[dict[str, Interval], dict[str, float | None]]:
    """Sum up the EPs (trials, episodes) of a learner: see `_names`."""
    values = {name: Interval.mean(one) for name, one in scores(world, ep, scale).items()}
    numbers: dict[str, float | None] = {}
    if world.moves is None:
        for suffix, eps in _parts(world, ep, scale).items():
            behaviour = Behaviour.of(eps, world.target)
            values[f"reached{suffix}"] = Interval.share(behaviour.first_reached > 0)
            numbers[f"retained{suffix}"] = behaviour.retained
            numbers[f"first{suffix}"] = median_until_reached(behaviour.first_reached)
        return values, numbers
    phases = np.split(ep, PHASES, axis=1)
    until = np.stack([Behaviour.of(eps, world.target).first_reached for eps in phases], axis=1)
    best = np.stack([eps.min(axis=1) for eps in phases], axis=1)
    if world.moves == BACK:  # phases 3 to 5 have the goals of phases 1 to 3
        first = np.stack([eps[:, 0] for eps in phases], axis=1)
        values["left"] = Interval.mean(best[:, :-2].mean(axis=1))
        values["returned"] = Interval.mean(first[:, 2:].mean(axis=1))
        numbers["until_first"] = median_until_reached(until[:, [phase % 2 for phase in range(2, PHASES)]])
        numbers["until_again"] = median_until_reached(until[:, 2:])
        return values, numbers
    for phase in range(PHASES):
        values[f"{BEST}_{phase + 1}"] = Interval.mean(best[:, phase])
        values[f"reached_{phase + 1}"] = Interval.share(until[:, phase] > 0)
        numbers[f"until_{phase + 1}"] = median_until_reached(until[:, phase])
    return values, numbers


def curve(world: World, ep: EPs, scale: Scale) -> Curve:
    """Return the curve of a learner in a world.

    It is the best EP so far; in the long test the EP of every episode, each point a mean over
    the episodes since the point before; where goals move the best EP of the phase so far.
    """
    if world.moves is not None:
        firsts, others = range(1, ep.shape[1] + 1, scale.episodes), range(_EVERY, ep.shape[1] + 1, _EVERY)
        points = np.unique([*firsts, *others])
        return Curve.at(points, best_so_far(ep, scale.episodes)[:, points - 1])
    if world.long:
        ends = curve_points(ep.shape[1])
        parts = np.split(ep, ends[:-1], axis=1)
        return Curve.at(ends, np.stack([part.mean(axis=1) for part in parts], axis=1))
    return Curve.of(ep)


@dataclass(frozen=True)
class InWorld(Record):
    """A learner in a world, and its chance, whose numbers begin with `chance_`."""

    values: dict[str, Interval]
    numbers: dict[str, NotNegative | None]
    curve: Curve
    chance_curve: Curve

    @classmethod
    def of(cls, world: World, ep: EPs, by_chance: EPs, scale: Scale) -> InWorld:
        """Sum up the EPs (trials, episodes) of a learner, and of chance in the same trials."""
        values, numbers = _sums(world, ep, scale)
        other_values, other_numbers = _sums(world, by_chance, scale)
        return cls(
            {**values, **{f"{CHANCE}_{name}": value for name, value in other_values.items()}},
            {**numbers, **{f"{CHANCE}_{name}": value for name, value in other_numbers.items()}},
            curve(world, ep, scale),
            curve(world, by_chance, scale),
        )

    def check_world(self, world: World) -> None:
        """Refuse a row without exactly the numbers of a learner in a world."""
        held: tuple[dict[str, Any], ...] = (self.values, self.numbers)
        for found, names in zip(held, _names(world), strict=True):
            needed = {*names, *(f"{CHANCE}_{name}" for name in names)}
            if set(found) != needed:
                raise InputError(f"a row has {', '.join(found)}, expected {', '.join(sorted(needed))}")
        for name, value in (*self.values.items(), *self.numbers.items()):
            if value is not None and name.removeprefix(f"{CHANCE}_").startswith(
                ("reached", MISSED, "retained")
            ):
                ends = (value.low, value.value, value.high) if isinstance(value, Interval) else (value,)
                for end in ends:
                    unit_interval(name, end)


def gain(row: InWorld, perfect: float) -> float | None:
    """Return the share of the way from chance to a perfect agent; None if chance is perfect."""
    left = row.values[f"{CHANCE}_{BEST}"].value - perfect
    return (row.values[f"{CHANCE}_{BEST}"].value - row.values[BEST].value) / left if left > 0 else None


@dataclass(frozen=True)
class Evolution(Record):
    """The winners of an evolution: the re-measured fitness of all runs, and the one with the lowest."""

    remeasured: tuple[float, ...]
    run: Count
    learner: Learner

    @classmethod
    def of(cls, evolved: Evolved) -> Evolution:
        """Take the winners."""
        best = best_winner(evolved)
        return cls(tuple(winner.remeasured for winner in evolved.winners), best.run, best.learner)

    def _check(self) -> None:
        """Refuse a winner of a run that there was not."""
        integer("run", self.run, 1, len(self.remeasured))


@dataclass(frozen=True)
class QuestionOutcome(Record):
    """The measurements for a question.

    `runs` holds what the winners of all runs are compared by: a number for each, by evolution
    and score.
    """

    question: Question
    rows: dict[str, InWorld]
    comparisons: dict[Pair, Corrected]
    runs: dict[str, dict[str, tuple[float, ...]]]

    @classmethod
    def of_thing(cls, data: Any, thing: Question, **known: Any) -> QuestionOutcome:
        """Read the measurements for a question."""
        compared = {pair: Corrected.from_dict(data["comparisons"][str(pair)]) for pair in thing.pairs}
        return super().of_thing(data, thing, comparisons=compared, **known)

    def _check(self) -> None:
        """Refuse an outcome without the rows and runs of its question."""
        question = self.question
        parts: list[tuple[str, dict[str, Any], Sequence[str]]] = [
            ("rows", self.rows, [case.name for case in question.cases]),
            ("runs", self.runs, question.compared),
            *((f"runs of {name}", found, question.scores) for name, found in self.runs.items()),
        ]
        for name, found, needed in parts:
            if set(found) != set(needed):
                raise InputError(f"{name} of {question.title!r} are not the ones that it asks for")
        for case in question.cases:
            self.rows[case.name].check_world(case.world)


_SIZES = ("name", "runs", "generations", "trials", "episodes", "fresh", "tested", "long", "last")


@dataclass(frozen=True)
class BeyondStudy(Finished):
    """The results of the study beyond the paper.

    Attributes:
        version: The version of Distal.
        scale: The scale of the run.
        seed: The seed.
        engine: The engine that ran the trials.
        machine: A description of the machine.
        seconds: The time of each stage.
        evolutions: The winners of every evolution.
        outcomes: The measurements for each question.
    """

    FORMAT: ClassVar[tuple[str, int]] = ("distal-beyond", 1)
    HOLDS: ClassVar[str] = "study beyond the paper"
    KEYS: ClassVar[Mapping[str, str]] = {"version": "distal", "outcomes": "questions"}

    scale: Scale
    engine: str
    evolutions: dict[str, Evolution]
    outcomes: tuple[QuestionOutcome, ...]

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the scale, with all sizes, and the outcome of each question."""
        scale = Scale.from_dict({name: data["scale"][name] for name in _SIZES})
        return {"scale": scale, "outcomes": QuestionOutcome.of_each(data["questions"], QUESTIONS)}

    def _check(self) -> None:
        """Refuse a study without the evolutions that its questions need."""
        needed = {name for question in QUESTIONS for name in question.evolutions}
        if set(self.evolutions) != needed:
            raise InputError(
                f"evolutions are {', '.join(self.evolutions)}, expected {', '.join(sorted(needed))}"
            )
