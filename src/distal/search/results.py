"""The outcome of an evolution: curves of fitness, and winners that are measured on fresh trials."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base import checks
from distal.base.checks import (
    InputError,
    counted,
    finite_numbers,
    instance,
    integer,
    not_negative,
    one_of,
    reading,
    sequence,
    shown,
)
from distal.base.display import html_table, or_dash
from distal.base.drawing import axes_or_new, evolution, kind_colour
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.base.records import NotNegative, Record, Share
from distal.base.significance import (
    SIGNIFICANT,
    paired,
    paired_superiority,
    standard_error,
    with_error,
)
from distal.learners import KINDS, Learner, embedded, from_embedded, name_of
from distal.search.config import Config

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


_CURVES = ("best", "mean", "worst")
_CHANGE = (
    "Try more episodes in a trial, a larger population or more generations; for observations, another "
    "encoding."
)
# The last line about an evolution, by the words for its winners.
_VERDICTS = {
    "all": "Beats chance: yes.",
    "some": f"Beats chance: in some runs. {_CHANGE}",
    "worse": f"Beats chance: no, worse than random weights. {_CHANGE}",
    "none": f"Beats chance: not shown. {_CHANGE}",
}
_BY_CHANCE = ("chance", "chance_standard_error", "difference_standard_error", "p", "superiority")


@dataclass(frozen=True)
class Fresh(Record):
    """The scores of a learner on fresh trials, which did not select it, and of chance on the same ones.

    Chance has the learner's scales of recurrent and feedback sums. Its numbers are None in a
    folder of runs that version 0.1 finished.

    Attributes:
        fitness: The learner's mean best EP.
        standard_error: Its standard error.
        chance: The mean best EP of chance.
        chance_standard_error: Its standard error.
        difference_standard_error: The standard error of fitness − chance, paired.
        p: From the two-sided paired t-test.
        superiority: The share of trials in which the learner is better; a tie counts half.
    """

    fitness: float
    standard_error: NotNegative
    chance: float | None = None
    chance_standard_error: NotNegative | None = None
    difference_standard_error: NotNegative | None = None
    p: Share | None = None
    superiority: Share | None = None

    @classmethod
    def of(cls, own: NDArray[np.int32], chance: NDArray[np.int32]) -> Fresh:
        """Compare the best EPs of a learner with the best EPs of chance in the same trials."""
        for name, values in (("own", own), ("chance", chance)):
            given = instance(name, values, np.ndarray, "an array of best EPs")
            if given.ndim != 1 or given.dtype.kind not in "iuf":
                raise InputError(f"{name} is {shown(given)}, expected an array of best EPs")
        if len(own) != len(chance) or len(own) < 2:
            raise InputError(
                f"there are {len(own)} and {len(chance)} trials, expected the same number, and at least two"
            )
        return cls(
            fitness=float(own.mean()),
            standard_error=standard_error(own),
            chance=float(chance.mean()),
            chance_standard_error=standard_error(chance),
            difference_standard_error=standard_error(own - chance),
            p=paired(own, chance),
            superiority=paired_superiority(own, chance),
        )

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the numbers by name; the numbers of chance may be missing."""
        expected = "the numbers of fresh trials, by name"
        given = instance("fresh", data, dict, expected)
        if not set(given) <= set(cls._kinds()):
            raise InputError(f"fresh is {shown(data)}, expected {expected}")
        return cls._read({**dict.fromkeys(_BY_CHANCE), **given})

    def _check(self) -> None:
        """Refuse some numbers of chance without the others."""
        missing = [name for name in _BY_CHANCE if getattr(self, name) is None]
        if missing and len(missing) < len(_BY_CHANCE):
            raise InputError(f"{missing[0]} is missing, but there are other numbers of chance")

    @property
    def difference(self) -> float | None:
        """The mean difference from chance; negative is better than chance."""
        return None if self.chance is None else self.fitness - self.chance

    @property
    def beats_chance(self) -> bool | None:
        """Whether it is better than chance, at the paper's level of 0.05."""
        return self._decided(-1)

    @property
    def loses_to_chance(self) -> bool | None:
        """Whether it is worse than chance, at the same level."""
        return self._decided(1)

    def _decided(self, sign: int) -> bool | None:
        """Whether the difference from chance has a sign, by the test; None without chance."""
        if self.p is None or self.difference is None:
            return None
        return self.p < SIGNIFICANT and self.difference * sign > 0


@dataclass(frozen=True)
class Winner:
    """The best individual of a run's last generation.

    With kept elites it is the individual with the lowest fitness ever measured.

    Attributes:
        run: The run, from 1.
        learner: The learner.
        generation: The generation in which it first appeared.
        selected: The fitness that selected it, hence optimistic.
        fresh: Its scores on fresh trials.
    """

    run: int
    learner: Learner
    generation: int
    selected: float
    fresh: Fresh

    def __repr__(self) -> str:
        fresh = with_error(self.fresh.fitness, self.fresh.standard_error)
        return (
            f"Winner(run {self.run}, {self.learner.label}: selected with {self.selected:z.2f}, "
            f"fresh {fresh}, chance {or_dash(self.fresh.chance)})"
        )

    def _repr_html_(self) -> str:
        return _winners_html(name_of(self.learner), [self])

    @property
    def remeasured(self) -> float:
        """The fitness on fresh trials."""
        return self.fresh.fitness

    @property
    def standard_error(self) -> float:
        """The standard error of the fitness on fresh trials."""
        return self.fresh.standard_error

    def to_dict(self) -> dict[str, Any]:
        """Return the winner, ready for JSON."""
        fresh = self.fresh.to_dict()
        return {
            "run": self.run,
            "generation": self.generation,
            "selected": self.selected,
            "remeasured": fresh.pop("fitness"),
            **fresh,
            "learner": embedded(self.learner),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Winner:
        """Read the data of `to_dict`."""
        given = instance("winner", data, dict, "the result of Winner.to_dict")
        for name in ("run", "generation", "selected", "remeasured", "learner"):
            if name not in given:
                raise InputError(f"field {name!r} of a winner is missing")
        numbers = {name: given[name] for name in Fresh._kinds() if name in given}
        return cls(
            run=integer("run", given["run"], 1),
            learner=from_embedded(given["learner"]),
            generation=integer("generation", given["generation"], 0),
            selected=checks.number("selected", given["selected"]),
            fresh=Fresh.from_dict({**numbers, "fitness": given["remeasured"]}),
        )


def _winners_html(title: str, winners: Iterable[Winner]) -> str:
    """Return winners as a table for a notebook."""
    header = ("run", "generation", "selected with", "on fresh trials", "chance", "difference", "p")
    rows = (
        (
            one.run, one.generation, f"{one.selected:z.2f}",
            with_error(one.fresh.fitness, one.fresh.standard_error),
            or_dash(one.fresh.chance), or_dash(one.fresh.difference), or_dash(one.fresh.p, ".2g"),
        )
        for one in winners
    )  # fmt: skip
    return html_table(f"{title}; fitness, lower is better", header, rows)


@dataclass(frozen=True, eq=False)
class Evolved(Frozen):
    """The outcome of an evolution.

    Attributes:
        config: Everything that decides the result.
        best: The best fitness of every generation, (runs, generations + 1).
        mean: The mean fitness, in the same shape.
        worst: The worst fitness, in the same shape.
        seconds: The time it took.
        winners: The winner of each run.
    """

    config: Config
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    worst: NDArray[np.float64]
    seconds: float
    winners: tuple[Winner, ...]

    def __repr__(self) -> str:
        fresh = float(np.mean([winner.remeasured for winner in self.winners]))
        return f"Evolved({self._size}: winners {fresh:z.2f} on fresh trials, chance {or_dash(self.chance)})"

    def _repr_html_(self) -> str:
        return _winners_html(f"{self._size}, seed {self.config.seed}; {self._measured}", self.winners)

    @property
    def _measured(self) -> str:
        """The measure whose mean is the fitness, and when goals move."""
        switch = self.config.switch
        return self.config.measure.words + ("" if switch is None else f" of each phase, goals move {switch}")

    @property
    def _size(self) -> str:
        return f"{self.config.learner}, {self.config.size}"

    @property
    def chance(self) -> float | None:
        """The mean best EP of chance on the fresh trials of all winners; None if it was not measured."""
        by_chance = [one.fresh.chance for one in self.winners if one.fresh.chance is not None]
        return float(np.mean(by_chance)) if by_chance else None

    @property
    def verdict(self) -> str | None:
        """Whether the winners beat chance on fresh trials, with the remedy if not; None without chance."""
        fresh = [one.fresh for one in self.winners if one.fresh.beats_chance is not None]
        if not fresh:
            return None
        if any(one.beats_chance for one in fresh):
            return _VERDICTS["all" if all(one.beats_chance for one in fresh) else "some"]
        return _VERDICTS["worse" if all(one.loses_to_chance for one in fresh) else "none"]

    def summary(self) -> str:
        """Return the outcome in a few lines of text: every winner on fresh trials, with chance."""
        lines = [f"{self._size}, seed {self.config.seed}; fitness: {self._measured}"]
        for one in self.winners:
            fresh = one.fresh
            beside = (
                "" if fresh.chance is None else f", chance {fresh.chance:z.2f}, p = {or_dash(fresh.p, '.2g')}"
            )
            lines.append(f"run {one.run}  {with_error(fresh.fitness, fresh.standard_error)}{beside}")
        verdict = self.verdict
        return "\n".join(lines if verdict is None else [*lines, verdict])

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the best fitness over the generations, one line per run; winners on fresh trials, and chance.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.
        """
        on = axes_or_new(ax)
        fresh = [(winner.remeasured, winner.standard_error) for winner in self.winners]
        evolution(on, self.best, fresh, self.chance, kind_colour(self.config.learner))
        return on

    def to_frame(self, what: str = "generations") -> DataFrame:
        """Return a pandas DataFrame: one row for each run and generation, or, for "winners", each of them."""
        if one_of("what", what, ("generations", "winners")) == "winners":
            rows = [{**winner.to_dict(), **winner.learner.numbers} for winner in self.winners]
            return frame_of_rows([{name: row[name] for name in row if name != "learner"} for row in rows])
        runs, generations = self.best.shape
        return frame(
            {
                "run": np.repeat(np.arange(1, runs + 1), generations),
                "generation": np.tile(np.arange(generations), runs),
                **{name: getattr(self, name).ravel() for name in _CURVES},
            }
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {
            "config": self.config.to_dict(),
            **{name: getattr(self, name).tolist() for name in _CURVES},
            "seconds": self.seconds,
            "winners": [winner.to_dict() for winner in self.winners],
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict`; a task other than a maze is only described, and cannot be run."""
        given = instance("data", data, dict, "the result of Evolved.to_dict")
        with reading("an evolution"):
            config = Config.from_dict(instance("config", given["config"], dict, "that of an evolution"))
            curves = {name: finite_numbers(name, given[name], 2).astype(np.float64) for name in _CURVES}
            for name, curve in curves.items():
                if curve.shape != (config.runs, config.generations + 1):
                    raise InputError(
                        f"{name} has the shape {curve.shape}, expected one of {config.runs} runs and "
                        f"{config.generations + 1} generations"
                    )
            winners = tuple(map(Winner.from_dict, sequence("winners", given["winners"], "a list of winners")))
            if (curves["best"] > curves["worst"]).any():
                raise InputError("best is above worst in a generation")
            check_winners(winners, config, config.generations)
            return cls(config, **curves, seconds=not_negative("seconds", given["seconds"]), winners=winners)


def check_winners(winners: Sequence[Winner], config: Config, generation: int) -> None:
    """Refuse winners that an evolution cannot have after a generation."""
    if len(winners) != config.runs:
        raise InputError(f"there is not one winner for each of {counted(config.runs, 'run')}")
    for run, winner in enumerate(winners, start=1):
        integer("run of a winner", winner.run, run, run)
        integer("generation of a winner", winner.generation, 0, generation)
        instance("winner", winner.learner, KINDS[config.learner], f"a learner of kind {config.learner}")
