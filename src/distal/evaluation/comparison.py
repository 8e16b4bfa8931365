"""Compare learners: all have trials with the same seeds, so their differences are paired.

`compare` runs a fixed number of trials, or adds trials until every difference is decided. It
returns a `Comparison`: each learner with chance beside it, and each pair of learners.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from itertools import combinations, cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import (
    InputError,
    counted,
    flag,
    function,
    instance,
    integer,
    one_of,
    reading,
    sequence,
    text,
)
from distal.base.colours import LIGHT
from distal.base.display import html_table, or_dash, short
from distal.base.drawing import axes_or_new, curve, curve_axes, literal
from distal.base.files import to_csv
from distal.base.frames import frame, frame_of_rows
from distal.base.frozen import Frozen
from distal.base.significance import (
    SIGNIFICANT,
    confidence_sequence,
    holm,
    interval,
    paired_superiority,
    rank_sum,
    share_interval,
    signed_rank,
    superiority,
)
from distal.engines import Batch, Progress, Runner, Trials
from distal.evaluation.result import Result, episode_columns
from distal.evaluation.trials import batch_of, checked_numbers, chosen_task, settings_in
from distal.learners import Learner, chance_for, checked_learner, embedded, name_of
from distal.learners.chance import Chance
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.tasks.sources import AnyTask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

_MOST_LEARNERS = 20
MOST_TRIALS = 1000  # for each goal, where trials are added and no limit is given
# Pairs before the first look. A confidence sequence rests on the central limit theorem; in
# simulations it keeps its 5 % from about this number on, if skew is no worse than exponential.
FEWEST_PAIRS = 100

BOOTSTRAP, SEQUENCE = "paired bootstrap", "confidence sequence"  # what an interval is
_OWN_COLOURS = ("dsp", "hc", "chance")  # of the first learner of these kinds
_COLOURS = ("dsp", "hc", "goal", "pit", "start", "paper", "other", "dsp_resampled", "hc_resampled")

_Finals = NDArray[np.float64]  # the best EP of each trial


@dataclass(frozen=True)
class PairedDifference:
    """Two learners compared in trials with the same seeds; below zero, the first one is better.

    Attributes:
        first: The name of the one.
        second: The name of the other.
        mean: The mean of the first one's best EP minus the second one's, trial by trial.
        interval: The 95 % interval of the mean.
        interval_by: "paired bootstrap", for this pair on its own; or "confidence sequence",
            where trials were added, which holds at every number of trials and for all pairs at once.
        signed_rank: p of the two-sided Wilcoxon signed-rank test, by Holm's method corrected for
            the number of pairs of learners; None where trials were added, since no such test
            allows that.
        rank_sum: The same of the rank-sum test, which does not use that trials are paired.
        paired_superiority: The share of trials in which the first is better than the second in
            the same trial; a tie counts half.
        superiority: The same for any two trials, the probability of superiority without pairs.
    """

    first: str
    second: str
    mean: float
    interval: tuple[float, float]
    interval_by: str
    signed_rank: float | None
    rank_sum: float | None
    paired_superiority: float
    superiority: float

    @property
    def decided(self) -> bool:
        """Whether zero is outside the interval and, if there is a signed-rank test, its p is below 0.05."""
        low, high = self.interval
        apart = low > 0 or high < 0
        return apart and (self.signed_rank is None or self.signed_rank < SIGNIFICANT)

    @property
    def verdict(self) -> str:
        """Which learner is better, in words."""
        if not self.decided:
            return f"{self.first} and {self.second}: not decided"
        better, worse = (self.first, self.second) if self.mean < 0 else (self.second, self.first)
        return f"{better} is better than {worse}"

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON."""
        return {**asdict(self), "interval": list(self.interval), "decided": self.decided}


@dataclass(frozen=True, eq=False)
class Comparison(Frozen):
    """Learners side by side, in trials with the same seeds.

    Attributes:
        names: What the learners are called here, in their order; those of the same name are numbered.
        results: The evaluation of each learner, with chance beside it unless chance is a learner here.
        differences: Each pair of learners.
        most_trials: The limit of the trials for each goal, where they were added until all
            differences were decided; None where their number was fixed.
    """

    names: tuple[str, ...]
    results: tuple[Result, ...]
    differences: tuple[PairedDifference, ...]
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
                or_dash(None if result.chance is None else result.chance.fitness),
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
        asked = f"{counted(len(first.best), 'trial')} of {counted(first.episodes, 'episode')} each"
        return html_table(
            f"{asked}, seed {first.seed}; lower EP is better",
            ("", "fitness (95 %)", "reached", "chance"),
            own,
        ) + html_table("", ("difference", "mean (95 %)", "signed-rank p", "decided"), pairs)

    @property
    def learners(self) -> tuple[Learner, ...]:
        """The learners."""
        return tuple(result.learner for result in self.results)

    @property
    def decided(self) -> bool:
        """Whether all differences are."""
        return all(difference.decided for difference in self.differences)

    @cached_property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """The 95 % interval of each learner's fitness, by bootstrap."""
        return tuple(interval(result.final) for result in self.results)

    @cached_property
    def reached_intervals(self) -> tuple[tuple[float, float] | None, ...]:
        """The 95 % interval of each learner's share of trials that reached the goal, Wilson's."""
        return tuple(
            None
            if one.target is None
            else share_interval(int((one.final <= one.target).sum()), len(one.best))
            for one in self.results
        )

    @property
    def tests(self) -> tuple[str, ...]:
        """What the intervals and p-values of the differences are, in words."""
        pairs = len(self.differences)
        if self.most_trials is not None:
            shared = f"; {pairs} pairs share its 5 %" if pairs > 1 else ""
            return (f"difference: confidence sequence, which holds however often one looks{shared}",)
        corrected = f"; corrected for {pairs} pairs (Holm)" if pairs > 1 else ""
        return (
            f"difference: 95 % by paired bootstrap{', each pair on its own' if pairs > 1 else ''}",
            f"p: signed-rank in pairs, rank-sum unpaired{corrected}",
        )

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the numbers and every setting that made them, ready for JSON.

        With `curves`, also the best EP so far of every trial and episode: all that `from_dict` needs.
        """
        first = self.results[0]
        own = [self._numbers(k) for k in range(len(self.results))]
        if flag("curves", curves):
            own = [
                {**one, "result": result.to_dict(curves)}
                for one, result in zip(own, self.results, strict=True)
            ]
        return {
            "learners": own,
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
        """Read what `to_dict(curves=True)` returns; the differences are computed again."""
        given = instance("data", data, dict, "what Comparison.to_dict(curves=True) returns")
        with reading("a comparison"):
            if any("result" not in one for one in given["learners"]):
                raise InputError("it has no curves; write it with to_dict(curves=True)")
            names = tuple(text("name", one["name"]) for one in given["learners"])
            results = _sharing_chance([Result.from_dict(one["result"]) for one in given["learners"]])
            if len({one.best.shape for one in results}) != 1 or not 2 <= len(results) <= _MOST_LEARNERS:
                raise InputError("its learners do not have the same trials, or are fewer than two")
            most = given["most_trials"]
            most = None if most is None else integer("most_trials", most, results[0].trials)
            finals = [one.final.astype(np.float64) for one in results]
            return cls(names, results, tuple(_differences(names, finals, fixed=most is None)), most)

    def _numbers(self, k: int) -> dict[str, Any]:
        """Return what JSON says of a learner."""
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
        """Return what JSON says of chance beside a learner."""
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
        asked = f"{counted(len(first.best), 'trial')} of {counted(first.episodes, 'episode')}"
        lines = [f"{asked} each, seed {first.seed}, the same for all; lower EP is better; intervals are 95 %"]
        for name, result, between in zip(self.names, self.results, self.intervals, strict=True):
            said = f"{name}: {written(result.fitness, between)}"
            said += "" if result.reached is None else f", reached {result.reached:.0%}"
            lines.append(said + ("" if result.chance is None else f", chance {result.chance.fitness:.2f}"))
        for one in self.differences:
            p = "" if one.signed_rank is None else f", signed-rank p = {one.signed_rank:.2g}"
            lines.append(
                f"{one.first} − {one.second}: {written(one.mean, one.interval, sign=True)}{p}, better in "
                f"{one.paired_superiority:.0%} of the trials{'' if one.decided else '; not decided'}"
            )
        return "\n".join([*lines, *self.tests])

    def csv_pieces(self) -> Iterator[str]:
        """Yield the curves as a table, one row for each learner, trial and episode, trial by trial."""
        yield to_csv([tuple(self._episodes(0, []))])
        for k, result in enumerate(self.results):
            for row in range(len(result.best)):
                columns = self._episodes(k, [row]).values()
                yield to_csv(list(zip(*(one.tolist() for one in columns), strict=True)))

    def _episodes(self, k: int, rows: Sequence[int]) -> dict[str, NDArray[Any]]:
        """Return the episodes of some trials of a learner as the columns of a table."""
        columns = episode_columns(self.results[k], rows)
        return {"learner": np.full(len(columns["trial"]), self.names[k], object), **columns}

    def to_frame(self, what: str = "learners") -> DataFrame:
        """Return a pandas DataFrame with one row for each learner, or for each of something else.

        Args:
            what: "learners", "differences" (one row for each pair of learners) or "episodes" (one
                for each learner, trial and episode).

        Returns:
            The table.

        Raises:
            InputError: If there is no such table, or pandas is not installed.
        """
        what = one_of("what", what, ("learners", "differences", "episodes"))
        if what == "episodes":
            parts = [self._episodes(k, range(len(one.best))) for k, one in enumerate(self.results)]
            return frame({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})
        if what == "differences":
            return frame_of_rows([_row(one) for one in self.differences])
        return frame_of_rows([self._row(k) for k in range(len(self.results))])

    def _row(self, k: int) -> dict[str, Any]:
        """Return what a frame says of a learner."""
        result, (low, high), reached = self.results[k], self.intervals[k], self.reached_intervals[k]
        chance, difference = result.chance, result.difference
        return {
            "learner": self.names[k],
            "fitness": result.fitness,
            "standard_error": result.standard_error,
            "low": low,
            "high": high,
            "reached": result.reached,
            "reached_low": None if reached is None else reached[0],
            "reached_high": None if reached is None else reached[1],
            "chance": None if chance is None else chance.fitness,
            "difference": None if difference is None else difference.mean,
        }

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean best EP so far of every learner, with a 95 % band, and of chance.

        A band is 1.96 standard errors wide on either side.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.

        Raises:
            InputError: If `ax` is no Matplotlib Axes.
        """
        on = axes_or_new(ax)
        for result, name, colour in zip(self.results, self.names, _colours(self.learners), strict=True):
            curve(on, result.best, literal(name), colour)
        chances = {id(one.chance): one.chance for one in self.results if one.chance is not None}
        for k, chance in enumerate(chances.values()):  # one for each pair of scales
            curve(on, chance.best, "_" if k else "chance", LIGHT["chance"], style=":", band=False)
        curve_axes(on, self.results[0].episodes)
        return on


def _colours(learners: Sequence[Learner]) -> list[str]:
    """Return the colour of each learner: the first of a kind has the kind's own, where it has one."""
    kinds = [learner.kind for learner in learners]
    others = cycle([role for role in _COLOURS if role not in kinds])
    return [
        LIGHT[kind if kind in _OWN_COLOURS and kind not in kinds[:k] else next(others)]
        for k, kind in enumerate(kinds)
    ]


def _sharing_chance(results: Sequence[Result]) -> tuple[Result, ...]:
    """Let learners with the same scales share one evaluation of chance, as `compare` does."""
    chances: dict[Learner, Result] = {}
    shared = []
    for one in results:
        chance = one.chance
        if chance is not None:
            chance = chances.setdefault(chance.learner, chance)
        shared.append(replace(one, chance=chance))
    return tuple(shared)


def _row(one: PairedDifference) -> dict[str, Any]:
    """Return what a frame says of two learners."""
    numbers = one.to_dict()
    low, high = numbers.pop("interval")
    return {**numbers, "low": low, "high": high}


def _span(values: Sequence[float]) -> str:
    """Write the lowest and the highest of some numbers."""
    low, high = f"{min(values):.2f}", f"{max(values):.2f}"
    return low if low == high else f"{low} to {high}"


def written(mean: float, between: tuple[float, float], sign: bool = False) -> str:
    """Write a mean with its interval."""
    form = "+.2f" if sign else ".2f"
    return f"{mean:{form}} ({between[0]:{form}}, {between[1]:{form}})"


# ---------------------------------------------------------------- differences


def _named(learners: Sequence[Learner]) -> tuple[str, ...]:
    """Return what each learner is called; those of one name are numbered in their order."""
    own = [name_of(learner) for learner in learners]
    names: list[str] = []
    for name in own:
        numbered = (f"{name} ({k})" for k in range(1, 2 * len(own) + 1))
        free = (one for one in numbered if one not in own and one not in names)
        names.append(name if own.count(name) == 1 else next(free))
    return tuple(names)


def _in_sequence(finals: Sequence[_Finals]) -> list[tuple[float, float]]:
    """Return the interval of each pair's difference; all hold at once with 95 %, at every look."""
    pairs = list(combinations(finals, 2))
    ends = (confidence_sequence(one - other, SIGNIFICANT / len(pairs)) for one, other in pairs)
    return [(float(low[-1]), float(high[-1])) for low, high in ends]


def _differences(names: Sequence[str], finals: Sequence[_Finals], fixed: bool) -> list[PairedDifference]:
    """Compare each pair of learners; `fixed` says that the number of trials did not depend on them."""
    pairs = list(combinations(finals, 2))
    tests: list[Sequence[float | None]] = [
        holm([test(one, other) for one, other in pairs]) if fixed else [None] * len(pairs)
        for test in (signed_rank, rank_sum)
    ]
    ends = [interval(one - other) for one, other in pairs] if fixed else _in_sequence(finals)
    kind = BOOTSTRAP if fixed else SEQUENCE
    return [
        PairedDifference(
            first, second, float((one - other).mean()), between, kind, signed, ranked,
            paired_superiority(one, other), superiority(one, other),
        )
        for (first, second), (one, other), between, signed, ranked in zip(
            combinations(names, 2), pairs, ends, *tests, strict=True
        )
    ]  # fmt: skip


# ---------------------------------------------------------------- trials


def compare(
    learners: Sequence[Learner | str | Path],
    *,
    task: AnyTask = None,
    episodes: int = 100,
    trials: int = 5,
    until_decided: bool = False,
    most_trials: int | None = None,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Comparison:
    """Train fresh networks with several learners, in trials with the same seeds, and compare them.

    Chance stands beside each learner, as in `learn`, unless chance is one of them.

    Args:
        learners: Two or more, each as `learn` takes it: a learner, a name or a file.
        task: What is to be learned, as in `learn`.
        episodes: Episodes in each trial.
        trials: Trials for each goal; with `until_decided`, as many more before each further look,
            or a tenth of those there are.
        until_decided: Add trials until the confidence sequence of every difference leaves out
            zero, or `most_trials` are run. The first look is after 100 trials or more.
        most_trials: That limit, for each goal; 1000 if left out.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers; a trial's own does not depend on how many there are.
        maze: Short for `task=maze`.
        engine: As in `learn`.
        progress: Called with the number of episodes run since its last call.
        **settings: As in `learn`.

    Returns:
        The learners side by side, and each pair of them.

    Raises:
        InputError: If an argument is wrong, or the curves would not fit in memory.
    """
    chosen = checked_learners(learners)
    Settings.of(settings, tuple(inspect.signature(compare).parameters))
    function("progress", progress)
    episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample)
    what = chosen_task(task, maze)
    goals = len(what.goals)
    until_decided = flag("until_decided", until_decided)
    first, most = limits(trials, goals, until_decided, most_trials)
    in_force = settings_in(what, settings)
    run = Runner.of(engine)
    beside = chances_beside(chosen)
    measured = [*chosen, *beside.values()]
    check_memory(most * goals, episodes, len(measured), what.whole)

    blocks: list[list[Trials]] = [[] for _ in measured]
    done = 0
    for look in _looks(first, most, trials):
        more = batch_of(
            chosen[:1], np.array([seed], np.uint64), trials=look, episodes=episodes, task=what,
            settings=in_force, resample=resample,
        ).part(done * goals, look * goals)  # fmt: skip
        for one, kept in zip(measured, blocks, strict=True):
            kept.append(run.run(_of(more, one), progress=progress))
        done = look
        finals = [_finals(kept) for kept in blocks[: len(chosen)]]
        if until_decided and all(low > 0 or high < 0 for low, high in _in_sequence(finals)):
            break

    def result(one: Learner, kept: list[Trials]) -> Result:
        suited = run.suited(_of(more, one))
        return Result(
            best=np.concatenate([block.best for block in kept]), learner=one, task=what, settings=in_force,
            trials=done, resample=resample, seed=seed, engine=suited.engine, workers=suited.workers,
            cut=sum(block.cut for block in kept),
        )  # fmt: skip

    evaluated = [result(one, kept) for one, kept in zip(measured, blocks, strict=True)]
    chances = dict(zip(beside, evaluated[len(chosen) :], strict=True))
    results = (replace(one, chance=chances.get(chance_for(one.learner))) for one in evaluated[: len(chosen)])
    names = _named(chosen)
    differences = _differences(names, finals, fixed=not until_decided)
    return Comparison(names, tuple(results), tuple(differences), most if until_decided else None)


def checked_learners(given: object) -> list[Learner]:
    """Return the learners, or those that names stand for, if there are enough to compare."""
    chosen = sequence("learners", given, "a list of learners")
    if not 2 <= len(chosen) <= _MOST_LEARNERS:
        raise InputError(f"learners has {len(chosen)} entries, expected 2 to {_MOST_LEARNERS} to compare")
    return [checked_learner(one) for one in chosen]


def chances_beside(learners: Sequence[Learner]) -> dict[Chance, Chance]:
    """Return chance once for all learners with the same scales; none if chance is one of them."""
    if any(isinstance(one, Chance) for one in learners):
        return {}
    return {chance: chance for chance in map(chance_for, learners)}


def limits(trials: int, goals: int, until_decided: bool, most_trials: int | None) -> tuple[int, int]:
    """Return after how many trials for each goal the differences are looked at first, and at the latest."""
    if not until_decided:
        if most_trials is not None:
            raise InputError("most_trials is the limit of until_decided; leave it out, or set both")
        return trials, trials
    first = max(trials, -(-FEWEST_PAIRS // goals))
    limit = max(first, MOST_TRIALS) if most_trials is None else most_trials
    return first, integer("most_trials", limit, first, MAX_COUNT)


def _looks(first: int, most: int, step: int) -> Iterator[int]:
    """Yield the numbers of trials to look after; a tenth is added, so that looks stay few."""
    look = first
    while look < most:
        yield look
        look += max(step, look // 10)
    yield most


def check_memory(trials: int, episodes: int, learners: int, whole: bool) -> None:
    """Refuse a comparison that the machine's free memory does not hold."""
    memory.evaluation(
        trials,
        episodes,
        curves=(learners + 1) * (1 if whole else 2),  # one of them twice, while its parts are joined
        instead="ask for fewer trials or episodes",
    ).check()


def _of(batch: Batch, learner: Learner) -> Batch:
    """Return the same trials of another learner."""
    return replace(batch, learners=(learner,))


def _finals(blocks: list[Trials]) -> _Finals:
    return np.concatenate([block.best[:, -1] for block in blocks]).astype(np.float64)
