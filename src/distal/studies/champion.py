"""A champion: a learner, the record of its search, and its scores in trials that no search has seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, ClassVar

from distal.base.checks import (
    InputError,
    ascending,
    counted,
    instance,
    integer,
    one_of,
    reading,
    shown,
)
from distal.base.files import read_json, to_json
from distal.base.folders import Folder, for_report, sealed, unsealed
from distal.base.records import Count, Natural, NotNegative, Record, Share
from distal.base.significance import mean_interval, share_interval
from distal.engines.batch import EPs
from distal.learners import Learner, embedded, from_embedded
from distal.model.draws import MAX_COUNT
from distal.search.results import Fresh
from distal.studies.finished import Seed
from distal.studies.prizes import PRIZES
from distal.studies.report import Report, Sheet, Text

RULE, RECORD = "champion.json", "record.json"
_FORMAT, _VERSION = "distal-champion", 1


@dataclass(frozen=True)
class HeldOut(Record):
    """The scores of a champion on trials that no search has seen, and of chance on the same ones.

    Attributes:
        trials: The number of trials.
        fitness: Its mean score.
        standard_error: Its standard error.
        low: The lower end of the 95% interval of the mean.
        high: The upper end.
        chance: The mean score of chance.
        chance_standard_error: Its standard error.
        p: From the two-sided paired t-test against chance.
        superiority: The share of trials in which it is better than chance; a tie counts half.
        reached: The share of trials that reached the goal; None if the task has no target.
        reached_low: The lower end of its 95% interval.
        reached_high: The upper end.
        chance_reached: The share of chance's trials that did.
    """

    trials: Annotated[int, partial(integer, low=2, high=MAX_COUNT)]
    fitness: float
    standard_error: NotNegative
    low: float
    high: float
    chance: float
    chance_standard_error: NotNegative
    p: Share
    superiority: Share
    reached: Share | None = None
    reached_low: Share | None = None
    reached_high: Share | None = None
    chance_reached: Share | None = None

    @classmethod
    def of(cls, own: tuple[EPs, EPs], chance: tuple[EPs, EPs], target: float | None) -> HeldOut:
        """Sum up the scores and the best EPs of all trials.

        Args:
            own: The scores and the best EPs of the champion.
            chance: The same for chance, in trials with the same seeds.
            target: The EP at or below which the goal is reached, if there is one.

        Returns:
            The numbers.
        """
        fresh: Any = Fresh.of(own[0], chance[0])  # with all numbers of chance
        held = cls(
            len(own[0]), fresh.fitness, fresh.standard_error, *mean_interval(own[0]), fresh.chance,
            fresh.chance_standard_error, fresh.p, fresh.superiority,
        )  # fmt: skip
        if target is None:
            return held
        reached = int((own[1] <= target).sum())
        low, high = share_interval(reached, held.trials)
        return replace(
            held, reached=reached / held.trials, reached_low=low, reached_high=high,
            chance_reached=float((chance[1] <= target).mean()),
        )  # fmt: skip

    @classmethod
    def from_dict(cls, data: object) -> HeldOut:
        """Read the numbers by name.

        Raises:
            InputError: If one is missing or out of its range.
        """
        given = instance("held_out", data, dict, "the numbers of held-out trials, by name")
        if set(given) != set(cls.__dataclass_fields__):
            raise InputError(f"held_out is {shown(data)}, expected {', '.join(cls.__dataclass_fields__)}")
        return cls._read(given)

    def _check(self) -> None:
        """Refuse intervals that are the wrong way round, and some numbers of success without the others."""
        ascending(self.low, self.high)
        shares = (self.reached, self.reached_low, self.reached_high, self.chance_reached)
        if any(value is None for value in shares) and shares != (None,) * len(shares):
            raise InputError("some of the shares that reached the goal are missing")
        if self.reached_low is not None and self.reached_high is not None:
            ascending(self.reached_low, self.reached_high)


@dataclass(frozen=True)
class Champion(Record):
    """A champion and the record of its search.

    Attributes:
        learner: The learner.
        prize: Its prize: a word of `PRIZES`.
        fitness: The measure of a trial.
        episodes: The episodes of a trial.
        command: The command that finds it again.
        seed: The seed of all random numbers.
        version: The version of Distal that found it.
        engine: The engine that did the work; it changes no number.
        budget: The episodes that the search might take.
        spent: The episodes that it took.
        runs: Independent runs of the search.
        generations: The generations of each run, after its first population.
        bred: Generations in which the finalists of all runs were bred together; 0 if the budget
            was too small for that.
        candidates: The number of measurements of candidates, repeated measurements of elites
            included.
        finalists: The number of candidates in the last race.
        selected: Its mean score in the last race, over the trials that chose it, hence optimistic.
        run_fitness: The measure of a trial in the runs.
        run_winners: The re-measured fitness of the winner of each run, by that measure.
        held_out: Its scores on held-out trials, measured once.
    """

    learner: Learner
    prize: Annotated[str, partial(one_of, allowed=PRIZES)]
    fitness: str
    episodes: Count
    command: str
    seed: Seed
    version: str
    engine: str
    budget: Count
    spent: Count
    runs: Count
    generations: Natural
    bred: Natural
    candidates: Count
    finalists: Count
    selected: float
    run_fitness: str
    run_winners: tuple[float, ...]
    held_out: HeldOut

    def __repr__(self) -> str:
        held = self.held_out
        return (
            f"Champion({PRIZES[self.prize].words}: {held.fitness:.2f} [{held.low:.2f}, {held.high:.2f}] "
            f"held out, chance {held.chance:.2f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {"learner": embedded(self.learner), "record": self.record}

    @property
    def record(self) -> dict[str, Any]:
        """The record of the search, ready for JSON."""
        return {name: value for name, value in super().to_dict().items() if name != "learner"}

    @classmethod
    def from_dict(cls, data: object) -> Champion:
        """Read the data of `to_dict`."""
        given = instance("data", data, dict, "the result of Champion.to_dict")
        with reading("a champion"):
            unknown = set(given["record"]) - set(cls.__dataclass_fields__)
            if unknown:
                raise InputError(f"unknown field {shown(min(unknown))}")
            return cls._read(given["record"], learner=from_embedded(given["learner"]))

    def _check(self) -> None:
        """Refuse another number of winners than of runs."""
        integer("the number of run_winners", len(self.run_winners), self.runs, self.runs)


def read_champion(folder: Folder) -> Champion | None:
    """Return the champion that a folder already holds."""
    path = folder.file(RECORD)
    if not path.exists():
        return None
    content, _ = unsealed(read_json(path, "file"), _FORMAT, (_VERSION,), path, "distal champions")
    try:
        return Champion.from_dict(content)
    except InputError as error:
        raise InputError(f"file {str(path)!r} is damaged: {error}") from None


def write_champion(folder: Folder, champion: Champion) -> None:
    """Write the rule and the record into a folder, unless they are there."""
    folder.mend_text(RULE, to_json(champion.learner.to_dict()) + "\n")
    folder.mend_text(RECORD, to_json(sealed(champion.to_dict(), _FORMAT, _VERSION)) + "\n")


class ChampionReport(Report[Champion]):
    """The report of a search: the rule, its record, and a table for the terminal."""

    holds: ClassVar[str] = "a search for a champion"
    of: ClassVar[type] = Champion
    title: ClassVar[str] = "A champion"
    page: ClassVar[str] = RECORD
    data: ClassVar[str] = RECORD
    more: ClassVar[tuple[str, ...]] = (RULE,)

    def summary(self) -> Sequence[Sheet | Text]:
        """Return the scores of the champion, and the sizes of its search."""
        one, held = self.outcome, self.outcome.held_out
        mean = f"{held.fitness:.2f} ± {held.standard_error:.2f}  [{held.low:.2f}, {held.high:.2f}]"
        chance = f"{held.chance:.2f} ± {held.chance_standard_error:.2f}"
        rows = [[f"held out, {counted(held.trials, 'trial')}", mean, chance]]
        if held.reached is not None:
            share = f"{held.reached:.1%}  [{held.reached_low:.1%}, {held.reached_high:.1%}]"
            rows.append(["trials that reached the goal", share, f"{held.chance_reached:.1%}"])
        rows.append(["in the race that selected it", f"{one.selected:.2f}", ""])
        found = (one.runs, one.generations, one.bred, one.candidates, one.finalists, one.spent, one.budget)
        columns = ("runs", "generations", "bred", "measured", "finalists", "episodes", "of")
        return [
            Sheet(f"champion: {PRIZES[one.prize].words}", "", ("", "champion", "chance"), rows),
            Sheet("the search", "", columns, [[f"{count:,}" for count in found]]),
            Text(
                "Brackets: 95% intervals. bred: the number of generations in which the finalists of all runs were bred together."
            ),
            Text(f"The rule is in {RULE}, in the same folder as its record."),
        ]

    def write(self, out: str | Path) -> Path:
        """Write the rule and the record; return the path of the record."""
        with for_report(out, self.holds, self.files()) as folder:
            write_champion(folder, self.outcome)
            return folder.file(RECORD)
