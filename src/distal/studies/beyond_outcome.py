"""The outcome of the study beyond the paper: what learners are compared by, and the numbers of each."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, fields, instance, integer, not_negative, number, sequence, text
from distal.engines.batch import EPs, best_so_far
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.measures import BEST, LAST
from distal.evaluation.phases import median_until_reached
from distal.learners import Learner, embedded, from_embedded
from distal.search.results import Evolved
from distal.studies.beyond_plan import (
    ADAPTED,
    CHANCE,
    LONG,
    LOST,
    MISSED,
    PHASES,
    QUESTIONS,
    REMEASURED,
    Pair,
    Question,
    World,
)
from distal.studies.intervals import Corrected, Curve, Interval, optional_share
from distal.studies.study import Scale, made_by, read_as
from distal.tasks.switching import BACK

_POINTS = 40  # of a curve of every episode
_EVERY = 5  # episodes between two points of a curve where goals move


def scores(world: World, ep: EPs, scale: Scale) -> dict[str, NDArray[Any]]:
    """Return what learners are compared by, a number for each trial; lower is better.

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
    """Return what is said of a learner in a world: the names of numbers with an interval, and of others."""
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
        ends = np.unique(np.geomspace(1, ep.shape[1], _POINTS).round().astype(int))
        parts = np.split(ep, ends[:-1], axis=1)
        return Curve.at(ends, np.stack([part.mean(axis=1) for part in parts], axis=1))
    return Curve.of(ep)


@dataclass(frozen=True)
class Row:
    """A learner in a world, and chance beside it, whose numbers begin with `chance_`."""

    values: dict[str, Interval]
    numbers: dict[str, float | None]
    curve: Curve
    chance_curve: Curve

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {
            "values": {name: asdict(value) for name, value in self.values.items()},
            "numbers": dict(self.numbers),
            "curve": self.curve.to_dict(),
            "chance_curve": self.chance_curve.to_dict(),
        }

    @classmethod
    def of(cls, world: World, ep: EPs, by_chance: EPs, scale: Scale) -> Row:
        """Sum up the EPs (trials, episodes) of a learner, and of chance in the same trials."""
        values, numbers = _sums(world, ep, scale)
        other_values, other_numbers = _sums(world, by_chance, scale)
        return cls(
            {**values, **{f"{CHANCE}_{name}": value for name, value in other_values.items()}},
            {**numbers, **{f"{CHANCE}_{name}": value for name, value in other_numbers.items()}},
            curve(world, ep, scale),
            curve(world, by_chance, scale),
        )

    @classmethod
    def from_dict(cls, data: Any, world: World) -> Row:
        """Read what `to_dict` returns."""
        values, numbers = ([*names, *(f"{CHANCE}_{name}" for name in names)] for names in _names(world))
        return cls(
            {name: _read_interval(name, data["values"][name]) for name in values},
            {name: _read_number(name, data["numbers"][name]) for name in numbers},
            Curve.from_dict(data["curve"]),
            Curve.from_dict(data["chance_curve"]),
        )


def _read_interval(name: str, data: Any) -> Interval:
    """Read a number with its interval; what a goal was reached in, or missed in, is a share."""
    is_share = name.removeprefix(f"{CHANCE}_").startswith(("reached", MISSED))
    return Interval.share_from_dict(data) if is_share else Interval.from_dict(data)


def _read_number(name: str, value: object) -> float | None:
    """Read a number that may be missing: a share that was retained, or a number of episodes."""
    if name.removeprefix(f"{CHANCE}_").startswith("retained"):
        return optional_share(name, value)
    return None if value is None else not_negative(name, value)


def gain(row: Row, perfect: float) -> float | None:
    """Return how much of the way from chance to a perfect agent a learner comes; None if chance is there."""
    left = row.values[f"{CHANCE}_{BEST}"].value - perfect
    return (row.values[f"{CHANCE}_{BEST}"].value - row.values[BEST].value) / left if left > 0 else None


@dataclass(frozen=True)
class Evolution:
    """The winners of an evolution: the re-measured fitness of all runs, and the one with the lowest."""

    remeasured: tuple[float, ...]
    run: int
    learner: Learner

    @classmethod
    def of(cls, evolved: Evolved) -> Evolution:
        """Take the winners."""
        best = min(evolved.winners, key=lambda winner: winner.remeasured)
        return cls(tuple(winner.remeasured for winner in evolved.winners), best.run, best.learner)

    def to_dict(self) -> dict[str, Any]:
        """Return it, ready for JSON."""
        return {"remeasured": list(self.remeasured), "run": self.run, "learner": embedded(self.learner)}

    @classmethod
    def from_dict(cls, data: Any) -> Evolution:
        """Read what `to_dict` returns."""
        values = tuple(number(REMEASURED, value) for value in data["remeasured"])
        return cls(values, integer("run", data["run"], 1, len(values)), from_embedded(data["learner"]))


@dataclass(frozen=True)
class Outcome:
    """What was measured for a question.

    `runs` holds what the winners of all runs are compared by: a number for each, by evolution
    and score.
    """

    question: Question
    rows: dict[str, Row]
    comparisons: dict[Pair, Corrected]
    runs: dict[str, dict[str, tuple[float, ...]]]

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {
            "question": self.question.name,
            "rows": {name: row.to_dict() for name, row in self.rows.items()},
            "comparisons": {pair.name: asdict(one) for pair, one in self.comparisons.items()},
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
        compared, runs = data["comparisons"], data["runs"]
        return cls(
            question,
            {case.name: Row.from_dict(data["rows"][case.name], case.world) for case in question.cases},
            {pair: Corrected.from_dict(compared[pair.name]) for pair in question.pairs},
            {
                name: {
                    score: tuple(number(score, value) for value in runs[name][score])
                    for score in question.scores
                }
                for name in question.compared
            },
        )


FORMAT, VERSION = "distal-beyond", 1
FIELDS = ("distal", "scale", "seed", "engine", "machine", "seconds", "evolutions", "questions")
_SIZES = ("name", "runs", "generations", "trials", "episodes", "fresh", "tested", "long", "last")


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
            "scale": self.scale.to_dict(),
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
            found = fields(data, FORMAT, VERSION, FIELDS)
            scale = instance("scale", found["scale"], dict, "how much was run")
            evolved = instance("evolutions", found["evolutions"], dict, "the winners of every evolution")
            questions = sequence("questions", found["questions"], f"a list of {len(QUESTIONS)} outcomes")
            pairs = zip(questions, QUESTIONS, strict=True)
            return cls(
                scale=Scale.from_dict({name: scale[name] for name in _SIZES}),
                engine=text("engine", found["engine"]),
                **made_by(found),
                evolutions={
                    name: Evolution.from_dict(evolved[name])
                    for question in QUESTIONS
                    for name in question.evolutions
                },
                outcomes=tuple(Outcome.from_dict(*each) for each in pairs),
            )
