"""Learners side by side: each with its chance, and the difference of each pair."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, flag, instance, integer, one_of, reading, text
from distal.base.colours import LIGHT
from distal.base.display import html_table, or_dash, short
from distal.base.drawing import axes_or_new, curve, curve_axes, literal
from distal.base.files import to_csv
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.base.significance import interval, share_interval
from distal.evaluation.difference import PairedDifference, differences
from distal.evaluation.result import Result, episode_columns, trial_rows
from distal.learners import Learner, embedded
from distal.learners.chance import Chance

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

MOST_LEARNERS = 20
_OWN_COLOURS = ("dsp", "hc", "chance")  # of the first learner of these kinds
_COLOURS = ("dsp", "hc", "goal", "pit", "start", "paper", "other", "dsp_resampled", "hc_resampled")


# The methods of the intervals and p-values: with a fixed number of trials, and until all is decided.
_FIXED = (
    "difference: 95% by paired bootstrap, each pair on its own",
    "p: signed-rank in pairs, rank-sum unpaired; corrected for all pairs (Holm)",
)
_DECIDED = {True: "yes", False: "no"}
_GROWING = ("difference: confidence sequence, at any look; all pairs share its 5%",)


@dataclass(frozen=True, eq=False)
class Comparison(Frozen):
    """Learners side by side, in trials with the same seeds.

    Attributes:
        names: The names of the learners, in their order; equal names are numbered.
        results: The evaluation of each learner, with chance unless chance is a learner here.
        most_trials: The limit of the trials for each goal, where they were added until all
            differences were decided; None if their number was fixed.
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]
    most_trials: int | None = None

    def __repr__(self) -> str:
        decided = sum(one.decided for one in self.differences)
        beside = [one.chance.fitness for one in self.results if one.chance is not None]
        chance = f", chance {_span(beside)}" if beside else ""
        fitness = _span([one.fitness for one in self.results])
        return (
            f"Comparison({short(', '.join(self.names))}: fitness {fitness}{chance}; "
            f"{decided} of {len(self.differences)} decided)"
        )

    def _repr_html_(self) -> str:
        own = [
            (
                name, written(result.fitness, between), or_dash(result.reached, ".0%"),
                or_dash(result.chance_fitness),
            )
            for name, result, between in zip(self.names, self.results, self.intervals, strict=True)
        ]  # fmt: skip
        pairs = [
            (
                f"{one.first} − {one.second}", written(one.mean, one.interval, sign=True),
                or_dash(one.signed_rank, ".2g"), "yes" if one.decided else "no",
            )
            for one in self.differences
        ]  # fmt: skip
        first = self.results[0]
        return html_table(
            f"{first.size} each, seed {first.seed}; lower EP is better",
            ("", "fitness (95%)", "reached", "chance"),
            own,
        ) + html_table("", ("difference", "mean (95%)", "signed-rank p", "decided"), pairs)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learners."""
        return tuple(result.learner for result in self.results)

    @cached_property
    def differences(self) -> tuple[PairedDifference, ...]:
        """The difference of each pair of learners."""
        finals = [one.final.astype(np.float64) for one in self.results]
        return tuple(differences(self.names, finals, fixed=self.most_trials is None))

    @property
    def decided(self) -> bool:
        """Whether all differences are decided."""
        return all(difference.decided for difference in self.differences)

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The 95% interval of each learner's fitness, by bootstrap."""
        return tuple(interval(result.final) for result in self.results)

    @cached_property
    def reached_intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """The 95% interval of each learner's share of trials that reached the goal, by Wilson's method."""
        return tuple(
            None
            if one.target is None
            else share_interval(int((one.final <= one.target).sum()), len(one.best))
            for one in self.results
        )

    @property
    def tests(self) -> tuple[str, ...]:
        """The methods of the intervals and p-values, in words."""
        return _FIXED if self.most_trials is None else _GROWING

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the numbers and every setting, ready for JSON.

        With `curves`, also the best EP so far of every trial and episode: all that `from_dict` needs.
        """
        first = self.results[0]
        curves = flag("curves", curves)
        return {
            "learners": [
                {**self._numbers(k), **({"result": result.to_dict(curves)} if curves else {})}
                for k, result in enumerate(self.results)
            ],
            "differences": [difference.to_dict() for difference in self.differences],
            "tests": list(self.tests),
            "decided": self.decided,
            "until_decided": self.most_trials is not None,
            "most_trials": self.most_trials,
            "episodes": first.episodes,
            "trials": first.trials,
            "resample": first.resample,
            "seed": first.seed,
            "workers": first.workers,
            **first.settings.to_dict(),
            **first.task.fields(),
        }

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict(curves=True)`; the differences are computed again."""
        given = instance("data", data, dict, "the result of Comparison.to_dict(curves=True)")
        with reading("a comparison"):
            if any("result" not in one for one in given["learners"]):
                raise InputError("it has no curves; write it with to_dict(curves=True)")
            names = tuple(text("name", one["name"]) for one in given["learners"])
            results = _sharing_chance([Result.from_dict(one["result"]) for one in given["learners"]])
            if len({one.best.shape for one in results}) != 1 or not 2 <= len(results) <= MOST_LEARNERS:
                raise InputError("its learners do not have the same trials, or are fewer than two")
            most = given["most_trials"]
            most = None if most is None else integer("most_trials", most, results[0].trials)
            return cls(names, results, most)

    def _numbers(self, k: int) -> dict[str, Any]:
        """Return the numbers of a learner, ready for JSON."""
        result = self.results[k]
        reached = self.reached_intervals[k]
        return {
            "name": self.names[k],
            "fitness": result.fitness,
            "standard_error": result.standard_error,
            "interval": list(self.intervals[k]),
            "reached": result.reached,
            "reached_interval": None if reached is None else list(reached),
            "checkpoints": {str(mark): value for mark, value in result.checkpoints.items()},
            "best": result.final.tolist(),
            "cut": result.cut,
            "chance": self._chance(k),
            "engine": result.engine,
            "learner": result.learner.kind,
            result.learner.key: embedded(result.learner),
        }

    def _chance(self, k: int) -> dict[str, Any] | None:
        """Return the numbers of the chance of a learner, ready for JSON."""
        chance, difference = self.results[k].chance, self.results[k].difference
        if chance is None or difference is None:
            return None
        return {
            **chance.learner.numbers,
            "fitness": chance.fitness,
            "standard_error": chance.standard_error,
            "reached": chance.reached,
            "difference": difference.mean,
            "difference_standard_error": difference.standard_error,
            "p": difference.p if self.most_trials is None else None,
        }

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        first = self.results[0]
        lines = [
            f"{first.size} each, seed {first.seed}, the same for all; lower EP is better; intervals are 95%"
        ]
        for name, result, between in zip(self.names, self.results, self.intervals, strict=True):
            chance = result.chance_fitness
            reached = or_dash(result.reached, ".0%")
            lines.append(
                f"{name}: {written(result.fitness, between)}, reached {reached}, chance {or_dash(chance)}"
            )
        lines += [
            f"{one.first} − {one.second}: {written(one.mean, one.interval, sign=True)}, signed-rank p = "
            f"{or_dash(one.signed_rank, '.2g')}, better in {one.paired_superiority:.0%} of the trials, "
            f"decided: {_DECIDED[one.decided]}"
            for one in self.differences
        ]
        return "\n".join([*lines, *self.tests])

    def csv_pieces(self) -> Iterator[str]:
        """Yield the curves as a table, one row for each learner, trial and episode, trial by trial."""
        yield to_csv([tuple(self._episodes(0, []))])
        for k, result in enumerate(self.results):
            yield from trial_rows(partial(self._episodes, k), len(result.best))

    def _episodes(self, k: int, rows: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Return the episodes of some trials of a learner as the columns of a table."""
        columns = episode_columns(self.results[k], rows)
        return {"learner": np.full(len(columns["trial"]), self.names[k], object), **columns}

    def to_frame(self, what: str = "learners") -> DataFrame:
        """Return a pandas DataFrame of the learners, the differences or the episodes.

        Args:
            what: "learners", "differences" (one row for each pair of learners) or "episodes" (one
                for each learner, trial and episode).
        """
        what = one_of("what", what, ("learners", "differences", "episodes"))
        if what == "episodes":
            parts = [self._episodes(k, range(len(one.best))) for k, one in enumerate(self.results)]
            return frame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        if what == "differences":
            return frame_of_rows([_row(one) for one in self.differences])
        return frame_of_rows([self._row(k) for k in range(len(self.results))])

    def _row(self, k: int) -> dict[str, Any]:
        """Return the row of a learner in a frame."""
        result, (low, high), reached = self.results[k], self.intervals[k], self.reached_intervals[k]
        difference = result.difference
        return {
            "learner": self.names[k],
            "fitness": result.fitness,
            "standard_error": result.standard_error,
            "low": low,
            "high": high,
            "reached": result.reached,
            "reached_low": None if reached is None else reached[0],
            "reached_high": None if reached is None else reached[1],
            "chance": result.chance_fitness,
            "difference": None if difference is None else difference.mean,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean best EP so far of every learner, with a 95% band, and of its chance, dotted.

        A band is 1.96 standard errors wide on either side. Chance has the α of its learner:
        learners with another α have another chance, in their colour. If chance is one of the learners,
        there is no other; the legend shows its α.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.
        """
        on = axes_or_new(ax)
        colours, beside = _colours(self.learners), self._chances()
        for result, name, colour in zip(self.results, self.names, colours, strict=True):
            alone = isinstance(result.learner, Chance)
            alphas = (
                "".join(f", α_{key[-1]} {value:g}" for key, value in result.learner.numbers.items()) * alone
            )
            curve(on, result.best, literal(f"{name}{alphas}"), colour)
        for chance, sharing in beside:
            names = " and ".join(self.names[k] for k in sharing)
            own = literal(f"chance with the α of {names}"), colours[sharing[0]]
            label, colour = own if len(beside) > 1 else ("chance", LIGHT["chance"])
            curve(on, chance.best, label, colour, style=":", band=False)
        curve_axes(on, self.results[0].episodes)
        return on

    def _chances(self) -> list[tuple[Result, list[int]]]:
        """Return each chance, one for each pair of α, with the places of the learners that share it."""
        found: dict[int, tuple[Result, list[int]]] = {}
        for k, one in enumerate(self.results):
            if one.chance is not None:
                found.setdefault(id(one.chance), (one.chance, []))[1].append(k)
        return list(found.values())


def _colours(learners: Sequence[Learner]) -> list[str]:
    """Return the colour of each learner: the first of a kind has the kind's own, where it has one."""
    kinds = [learner.kind for learner in learners]
    others = cycle([role for role in _COLOURS if role not in kinds])
    return [
        LIGHT[kind if kind in _OWN_COLOURS and kind not in kinds[:k] else next(others)]
        for k, kind in enumerate(kinds)
    ]


def _sharing_chance(results: Sequence[Result]) -> tuple[Result, ...]:
    """Let learners with the same α share one evaluation of chance, as `compare` does."""
    chances: dict[Learner, Result] = {}
    shared = []
    for one in results:
        chance = one.chance
        if chance is not None:
            chance = chances.setdefault(chance.learner, chance)
        shared.append(replace(one, chance=chance))
    return tuple(shared)


def _row(one: PairedDifference) -> dict[str, Any]:
    """Return the row of two learners in a frame."""
    numbers = one.to_dict()
    low, high = numbers.pop("interval")
    return {**numbers, "low": low, "high": high}


def _span(values: Sequence[float]) -> str:
    """Write the lowest and the highest of some numbers."""
    low, high = f"{min(values):z.2f}", f"{max(values):z.2f}"
    return low if low == high else f"{low} to {high}"


def written(mean: float, between: tuple[float, float], sign: bool = False) -> str:
    """Write a mean with its interval."""
    form = "+.2f" if sign else ".2f"
    return f"{mean:{form}} ({between[0]:{form}}, {between[1]:{form}})"
