"""The outcome of the study of readings: the variants, and the numbers that each gave."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from distal.base.checks import InputError, one_of, shown
from distal.base.records import Record
from distal.learners import Learner
from distal.learners.dsp import Rule
from distal.learners.shipped import published_rules
from distal.model import maze as mazes
from distal.model.maze import MAZES, Maze
from distal.model.readings import READINGS
from distal.model.settings import Settings
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.search.results import Evolved, Fresh
from distal.studies.appendix import in_the_paper
from distal.studies.finished import Finished
from distal.studies.reading_tests import Fifteen, Likelihood, Pairing
from distal.studies.study import Scale

EPISODES = 100  # of every trial, as in the paper's evolutions; the appendix test has more

# The parts of the study: what each is called, and whose pace it has.
PARTS = {
    "published": ("published rules", "dsp"),
    "chance": ("chance", "chance"),
    "appendix": ("appendix", "dsp"),
    "pairing": ("pairing", "dsp"),
    "evolve_dsp": ("evolution of rules", "dsp"),
    "evolve_hc": ("evolution of hill climbing", "hc"),
}
# Readings of the search: fields of `GeneticAlgorithm`, each with its values and what they mean.
SEARCH_READINGS: dict[str, dict[str, str]] = {"elites": ELITES}
# The parts that a reading touches, where it does not touch all.
_TOUCHED = {
    **dict.fromkeys(("m_ties", "trace_pre", "normalise"), ("published", "appendix", "pairing", "evolve_dsp")),
    **dict.fromkeys(SEARCH_READINGS, ("evolve_dsp", "evolve_hc")),
}


def readings() -> dict[str, Mapping[str, str]]:
    """Return every reading of settings and search, with its values and their meanings."""
    return {**READINGS, **SEARCH_READINGS}


# ------------------------------------------------------------------ variants


@dataclass(frozen=True)
class Variant:
    """The base (without a reading), the base with another value of one reading, or in another maze."""

    settings: Settings
    search: GeneticAlgorithm
    maze: Maze
    reading: str | None = None

    @property
    def value(self) -> str | None:
        """The value of the reading; None for the base."""
        return None if self.reading is None else self.of(self.reading)

    @property
    def label(self) -> str:
        """Its name for people."""
        return "base" if self.reading is None else f"{self.reading} = {self.value}"

    @property
    def name(self) -> str:
        """Its name in files."""
        return "base" if self.reading is None else f"{self.reading}_{self.value}"

    @property
    def own(self) -> tuple[str, ...]:
        """The parts that are run for it; the others are the base's, which the reading does not touch."""
        return _TOUCHED.get(self.reading or "", tuple(PARTS))

    def of(self, reading: str) -> str:
        """Return the value that a reading has here; that of "maze" is the maze's name."""
        if reading == "maze":
            return short_name(self.maze) or "a maze without a name"
        value: str = getattr(self.search if reading in SEARCH_READINGS else self.settings, reading)
        return value


def short_name(maze: Maze) -> str | None:
    """Return the name by which `--maze` knows a maze, if it has one."""
    return next((name for name in MAZES if mazes.maze(name) == maze), None)


def variants(settings: Settings, search: GeneticAlgorithm, maze: Maze) -> list[Variant]:
    """Return the base, then every other value of every reading and every other named maze, one at a time."""
    base = Variant(settings, search, maze)
    found = [base]
    for reading, values in readings().items():
        for value in values:
            if value == base.of(reading):
                continue
            if reading in SEARCH_READINGS:
                searching: GeneticAlgorithm = replace(search, **{reading: value})  # type: ignore[arg-type]
                found.append(replace(base, search=searching, reading=reading))
            else:
                changed = Settings(**{**vars(settings), reading: value})
                found.append(replace(base, settings=changed, reading=reading))
    others = (mazes.maze(name) for name in MAZES if name != short_name(maze))
    return [*found, *(replace(base, maze=other, reading="maze") for other in others)]


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Mean(Record):
    """A mean with its standard error or, of several runs, their standard deviation; None for one value."""

    mean: float
    spread: float | None

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Return the mean of runs and their standard deviation."""
        data = np.array(list(values), np.float64)
        return cls(float(data.mean()), float(data.std(ddof=1)) if len(data) > 1 else None)


@dataclass(frozen=True)
class Runs(Record):
    """An evolution, run by run: best of the first and last generation, and the winners."""

    first: tuple[float, ...]
    last: tuple[float, ...]
    winners: tuple[Fresh, ...]  # on fresh trials
    learners: tuple[Learner, ...]  # the winners themselves

    @classmethod
    def of(cls, evolved: Evolved) -> Runs:
        """Take the numbers of an evolution."""
        best = evolved.best
        fresh = tuple(winner.fresh for winner in evolved.winners)
        learners = tuple(winner.learner for winner in evolved.winners)
        return cls(tuple(best[:, 0].tolist()), tuple(best[:, -1].tolist()), fresh, learners)

    def _check(self) -> None:
        """Refuse columns that are not of the same runs."""
        if not len(self.first) == len(self.last) == len(self.winners) == len(self.learners) > 0:
            raise InputError("first, last, winners and learners do not belong to the same runs")

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        own = super().to_dict()
        return {
            "first": own.pop("first"),
            "last": own.pop("last"),
            "afresh": self.afresh.to_dict(),
            "winners_that_beat_chance": self.beat_chance,
            **own,
        }

    @property
    def afresh(self) -> Mean:
        """The winners on fresh trials: mean and standard deviation over runs."""
        return Mean.of(winner.fitness for winner in self.winners)

    @property
    def chance(self) -> float:
        """Chance in the winners' fresh trials, mean over runs."""
        return float(np.mean([np.nan if winner.chance is None else winner.chance for winner in self.winners]))

    @property
    def beat_chance(self) -> int:
        """The number of winners that beat chance."""
        return sum(bool(winner.beats_chance) for winner in self.winners)


@dataclass(frozen=True)
class Findings(Record):
    """The outcome of a variant; parts that the reading does not touch are the base's."""

    variant: Variant
    rules: tuple[Fresh, ...]  # the published rules, each beside chance with its α and its trials
    appendix: Fifteen
    pairing: Pairing
    dsp: Runs
    hc: Runs

    @classmethod
    def of(cls, variant: Variant, given: Mapping[str, Any], seed: int) -> Findings:
        """Sum up the parts: the best EPs of all trials, (learners, trials), and the evolutions."""
        n = len(published_rules())
        return cls(
            variant,
            tuple(Fresh.of(*each) for each in zip(given["published"], given["chance"], strict=True)),
            Fifteen.of(given["appendix"], in_the_paper()),
            Pairing.of(given["pairing"].mean(axis=1).reshape(n, n), seed),
            Runs.of(given["evolve_dsp"]),
            Runs.of(given["evolve_hc"]),
        )

    @property
    def published(self) -> Mean:
        """The published rules: their mean best EP, and its standard error over trials."""
        return self._over_rules("fitness", "standard_error")

    @property
    def chance(self) -> Mean:
        """Chance in the trials of the published rules, likewise."""
        return self._over_rules("chance", "chance_standard_error")

    @property
    def difference(self) -> Mean:
        """The published rules minus chance, paired; negative is better than chance."""
        return self._over_rules("difference", "difference_standard_error")

    def _over_rules(self, value: str, error: str) -> Mean:
        """Return the mean of independent means and its standard error."""
        values, errors = ([getattr(rule, name) or 0.0 for rule in self.rules] for name in (value, error))
        return Mean(float(np.mean(values)), float(np.sqrt(np.square(errors).sum()) / len(errors)))

    @property
    def beat_chance(self) -> int:
        """The number of published rules that beat chance."""
        return sum(bool(rule.beats_chance) for rule in self.rules)

    @cached_property
    def likelihood(self) -> Likelihood:
        """The likelihood of the published rules, by the winners of the evolution of rules."""
        return Likelihood.of(cast(tuple[Rule, ...], self.dsp.learners), published_rules())

    def evolution(self, kind: str) -> Runs:
        """Return the evolution of rules ("dsp") or of climbers ("hc")."""
        return self.dsp if kind == "dsp" else self.hc

    def reused(self, part: str) -> bool:
        """Whether a part is the base's."""
        return part not in self.variant.own

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        variant, own = self.variant, super().to_dict()
        return {
            "reading": variant.reading,
            "value": variant.value,
            "reused": [part for part in PARTS if self.reused(part)],
            "published": self.published.to_dict(),
            "chance": self.chance.to_dict(),
            "difference": self.difference.to_dict(),
            "published_that_beat_chance": self.beat_chance,
            **{name: own[name] for name in ("rules", "appendix", "pairing")},
            "likelihood": self.likelihood.to_dict(),
            **{name: own[name] for name in ("dsp", "hc")},
        }

    @classmethod
    def of_thing(cls, data: Any, thing: Variant, **known: Any) -> Findings:
        """Read the outcome of a variant."""
        if (data["reading"], data["value"]) != (thing.reading, thing.value):
            raise InputError(f"an outcome is of {shown(data['reading'])}, expected {thing.label}")
        return cls._read(data, variant=thing)


@dataclass(frozen=True)
class ReadingStudy(Finished):
    """The results of the study of readings: one outcome for the base, every other value and every maze.

    Attributes:
        version: The version of Distal.
        scale: The scale of the run.
        seed: The seed.
        settings: The settings of the base.
        elites: The base's reading of elites.
        maze: The maze of the base.
        engine: The engine that ran the trials.
        machine: A description of the machine.
        seconds: The time of each stage.
        outcomes: The measurements, the base first.
    """

    FORMAT: ClassVar[tuple[str, int]] = ("distal-readings", 2)
    HOLDS: ClassVar[str] = "study of readings"
    KEYS: ClassVar[Mapping[str, str]] = {"version": "distal", "outcomes": "variants"}
    MORE: ClassVar[tuple[str, ...]] = ("heading",)

    scale: Scale
    settings: Settings
    elites: str
    maze: Maze
    engine: str
    outcomes: tuple[Findings, ...]

    @property
    def heading(self) -> str:
        """The heading at the start of the maze."""
        return self.maze.heading

    @property
    def base(self) -> Findings:
        """The outcome of the base."""
        return self.outcomes[0]

    @cached_property
    def is_papers(self) -> bool:
        """Whether the paper's numbers can be compared: its steps, hidden neurons and eight final positions.

        The paper's own picture is not known, so any maze with as many final positions may be tested
        against it.
        """
        return (self.settings.steps, self.settings.hidden, len(self.maze.finals)) == (100, 20, 8)

    @classmethod
    def _known(cls, data: dict[str, Any]) -> dict[str, Any]:
        """Return the base, and the outcomes of all variants."""
        elites = one_of("elites", data["elites"], ELITES)
        base, maze = Settings.from_dict(data["settings"]), Maze(data["maze"], data["heading"])
        asked = variants(base, GeneticAlgorithm(elites=elites), maze)
        outcomes = Findings.of_each(data["variants"], asked)
        return {"elites": elites, "settings": base, "maze": maze, "outcomes": outcomes}
