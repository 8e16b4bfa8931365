"""The study of readings: what each one does to chance, to the published rules and to evolution.

`study_readings` measures a base, the defaults or what is asked for, every other value of
every reading and every other maze that has a name, one at a time. All have the same seeds,
so they differ by that alone. It runs in stages (see `stages`); `reading_report` turns the
numbers into pages.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal import engines
from distal._version import __version__
from distal.base import memory
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
    shown,
    text,
    unit_interval,
)
from distal.base.significance import SIGNIFICANT
from distal.engines import Runner
from distal.evaluation.trials import checked_maze
from distal.learners import Learner, chance_for, embedded, from_embedded
from distal.learners.shipped import NUMBERS, Rule, published_rules
from distal.model import maze as mazes
from distal.model.draws import child_seeds
from distal.model.maze import MAZES, Maze
from distal.model.readings import READINGS
from distal.model.settings import Settings, SettingsDict
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.search.results import Evolved, Fresh
from distal.studies import experiments
from distal.studies.experiments import PAPER, evolution_episodes
from distal.studies.reading_tests import Appendix, Likelihood, papers_fitness
from distal.studies.stages import SECONDS, Claim, Event, Grouped, Request, Stage, Stages, made_by, read_as
from distal.tasks.mazes import MazeTask

EPISODES = 100  # of every trial, as in the paper's evolutions; the appendix test has more
SHUFFLES = 10_000  # of the columns, for the p-value of the pairing test

# The last number of the part that seeds of the study come from; the second is the test.
STUDY = 8
PUBLISHED, PAIRS, APPENDIX = 0, 1, 2

# The parts of the study, and whose pace each has.
PARTS = {
    "published": "dsp",
    "chance": "chance",
    "appendix": "dsp",
    "pairing": "dsp",
    "evolve_dsp": "dsp",
    "evolve_hc": "hc",
}
# Readings of the search: fields of `GeneticAlgorithm`, each with its values and what they mean.
SEARCH_READINGS: dict[str, dict[str, str]] = {"elites": ELITES}
# The parts that a reading touches, where it does not touch all.
_TOUCHED = {
    **dict.fromkeys(("m_ties", "trace_pre", "normalise"), ("published", "appendix", "pairing", "evolve_dsp")),
    **dict.fromkeys(SEARCH_READINGS, ("evolve_dsp", "evolve_hc")),
}


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    name: str
    runs: int
    generations: int
    trials: int  # of each published rule, per final position
    pairs: int  # trials of each pair, per final position
    episodes: int  # of the appendix test


SCALES = {
    "quick": Scale("quick", runs=5, generations=40, trials=50, pairs=10, episodes=1_000),
    "paper": Scale("paper", runs=15, generations=300, trials=50, pairs=50, episodes=10_000),
}


def readings() -> dict[str, Mapping[str, str]]:
    """Return every reading with its values and what they mean: those of `settings`, and of the search."""
    return {**READINGS, **SEARCH_READINGS}


# ------------------------------------------------------------------ variants


@dataclass(frozen=True)
class _Variant:
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
        """What it is called."""
        return "base" if self.reading is None else f"{self.reading} = {self.value}"

    @property
    def name(self) -> str:
        """What its files are called."""
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


def variants(settings: Settings, search: GeneticAlgorithm, maze: Maze) -> list[_Variant]:
    """Return the base, then every other value of every reading and every other named maze, one at a time."""
    base = _Variant(settings, search, maze)
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


# ------------------------------------------------------------------ pairing


@dataclass(frozen=True)
class Pairing:
    """Whether the published tables do better with their own numbers than with those of other rules.

    `fitness[i][j]` is that of the table of rule i with the numbers of rule j. Of it,
    the means of rows and columns are taken away: what is left are residuals.
    """

    fitness: tuple[tuple[float, ...], ...]
    effect: (
        float  # mean residual of the matched pairs, in standard deviations of the others; negative: better
    )
    p: float  # share of random matchings of tables and numbers that are at least as good
    level: float  # the effect that one in twenty random matchings reaches

    @classmethod
    def of(cls, fitness: ArrayLike, seed: int = 0, shuffles: int = SHUFFLES) -> Pairing:
        """Test a square matrix, with this many random permutations of its columns."""
        matrix = np.asarray(fitness, np.float64)
        left = residuals(matrix)
        n = len(left)
        spread = float(left[~np.eye(n, dtype=bool)].std(ddof=1))
        rows = tuple(tuple(row) for row in matrix.tolist())
        if spread < 1e-9 * max(1.0, float(np.abs(matrix).max())):  # rows and columns explain it all
            return cls(rows, 0.0, 1.0, 0.0)
        generator = np.random.default_rng(seed)
        columns = generator.permuted(np.tile(np.arange(n), (shuffles, 1)), axis=1)
        matched = left.diagonal().mean()
        shuffled = left[np.arange(n), columns].mean(axis=1)
        as_good = int((shuffled <= matched + 1e-9 * spread).sum())  # a tie may differ in its last bits
        return cls(
            rows,
            effect=float(matched / spread),
            p=(1 + as_good) / (1 + shuffles),
            level=float(np.quantile(shuffled, SIGNIFICANT) / spread),
        )


def residuals(matrix: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is left of a matrix without the means of its rows and columns."""
    rows, columns = matrix.mean(axis=1, keepdims=True), matrix.mean(axis=0, keepdims=True)
    left: NDArray[np.float64] = matrix - rows - columns + matrix.mean()
    return left


def pairs(rules: Sequence[Rule]) -> list[Rule]:
    """Return the table of every rule with the numbers of every rule, tables first."""
    return [
        replace(table, name="", **{name: getattr(numbers, name) for name in NUMBERS})
        for table in rules
        for numbers in rules
    ]


# ------------------------------------------------------------------ numbers


@dataclass(frozen=True)
class Mean:
    """A mean with its standard error or, of several runs, their standard deviation; None for one value."""

    mean: float
    spread: float | None

    @classmethod
    def of(cls, values: Iterable[float]) -> Mean:
        """Return the mean of runs and their standard deviation."""
        data = np.array(list(values), np.float64)
        return cls(float(data.mean()), float(data.std(ddof=1)) if len(data) > 1 else None)


def _stratified(values: Sequence[float], errors: Sequence[float]) -> Mean:
    """Return the mean of independent means and its standard error."""
    return Mean(float(np.mean(values)), float(np.sqrt(np.square(errors).sum()) / len(errors)))


@dataclass(frozen=True)
class Search:
    """An evolution, run by run: best of the first and last generation, and the winners."""

    first: tuple[float, ...]
    last: tuple[float, ...]
    winners: tuple[Fresh, ...]  # on fresh trials
    learners: tuple[Learner, ...]  # the winners themselves

    @classmethod
    def of(cls, evolved: Evolved) -> Search:
        """Take the numbers of an evolution."""
        best = evolved.best
        fresh = tuple(winner.fresh for winner in evolved.winners)
        learners = tuple(winner.learner for winner in evolved.winners)
        return cls(tuple(best[:, 0].tolist()), tuple(best[:, -1].tolist()), fresh, learners)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Search:
        """Read what `to_dict` returns."""
        winners = tuple(Fresh.from_dict(fresh) for fresh in data["winners"])
        learners = tuple(from_embedded(learner) for learner in data["learners"])
        first, last = _numbers("first", data["first"]), _numbers("last", data["last"])
        if not len(first) == len(last) == len(winners) == len(learners) > 0:
            raise InputError("first, last, winners and learners are not those of the same runs")
        return cls(first, last, winners, learners)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        return {
            "first": list(self.first),
            "last": list(self.last),
            "afresh": asdict(self.afresh),
            "winners_that_beat_chance": self.beat_chance,
            "winners": [asdict(winner) for winner in self.winners],
            "learners": [embedded(learner) for learner in self.learners],
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
        """How many winners beat chance."""
        return sum(bool(winner.beats_chance) for winner in self.winners)


@dataclass(frozen=True)
class Outcome:
    """What a variant gave; parts that the reading does not touch are the base's."""

    variant: _Variant
    rules: tuple[Fresh, ...]  # the published rules, each beside chance with its α and its trials
    appendix: Appendix
    pairing: Pairing
    dsp: Search
    hc: Search

    @property
    def published(self) -> Mean:
        """The published rules: their mean best EP, and its standard error over trials."""
        return _stratified(
            [rule.fitness for rule in self.rules], [rule.standard_error for rule in self.rules]
        )

    @property
    def chance(self) -> Mean:
        """Chance in the trials of the published rules, likewise."""
        return _stratified(
            [rule.chance or 0.0 for rule in self.rules],
            [rule.chance_standard_error or 0.0 for rule in self.rules],
        )

    @property
    def difference(self) -> Mean:
        """The published rules minus chance, paired; negative is better than chance."""
        return _stratified(
            [rule.difference or 0.0 for rule in self.rules],
            [rule.difference_standard_error or 0.0 for rule in self.rules],
        )

    @property
    def beat_chance(self) -> int:
        """How many of the published rules beat chance."""
        return sum(bool(rule.beats_chance) for rule in self.rules)

    @cached_property
    def likelihood(self) -> Likelihood:
        """How likely the published rules are where evolution finds what it found here."""
        return Likelihood.of(cast(tuple[Rule, ...], self.dsp.learners), published_rules())

    def reused(self, part: str) -> bool:
        """Whether a part is the base's."""
        return part not in self.variant.own

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers, ready for JSON."""
        variant = self.variant
        return {
            "reading": variant.reading,
            "value": variant.value,
            "reused": [part for part in PARTS if self.reused(part)],
            "published": asdict(self.published),
            "chance": asdict(self.chance),
            "difference": asdict(self.difference),
            "published_that_beat_chance": self.beat_chance,
            "rules": [asdict(rule) for rule in self.rules],
            "appendix": self.appendix.to_dict(),
            "pairing": {**asdict(self.pairing), "fitness": [list(row) for row in self.pairing.fitness]},
            "likelihood": asdict(self.likelihood),
            "dsp": self.dsp.to_dict(),
            "hc": self.hc.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any], variant: _Variant) -> Outcome:
        """Read what `to_dict` returns."""
        if (data["reading"], data["value"]) != (variant.reading, variant.value):
            raise InputError(f"an outcome is of {shown(data['reading'])}, expected {variant.label}")
        test = data["pairing"]
        matrix = tuple(_numbers("pairing", row) for row in test["fitness"])
        if {len(row) for row in matrix} != {len(matrix)}:
            raise InputError("the fitness of pairing is not a square")
        return cls(
            variant,
            tuple(Fresh.from_dict(rule) for rule in data["rules"]),
            Appendix.from_dict(data["appendix"]),
            Pairing(
                matrix,
                number("effect", test["effect"]),
                unit_interval("p", test["p"]),
                number("level", test["level"]),
            ),
            Search.from_dict(data["dsp"]),
            Search.from_dict(data["hc"]),
        )


def _numbers(name: str, values: object) -> tuple[float, ...]:
    return tuple(number(name, value) for value in sequence(name, values, "a list of numbers"))


_SIZES = ("runs", "generations", "trials", "pairs", "episodes")
FORMAT, VERSION = "distal-readings", 2
FIELDS = (
    "distal", "scale", "seed", "settings", "elites", "maze", "heading", "engine", "machine", "seconds",
    "variants",
)  # fmt: skip


@dataclass(frozen=True)
class ReadingStudy:
    """All that the study of readings gave: one outcome for the base, for every other value and maze.

    Attributes:
        scale: How much was run.
        seed: The seed.
        settings: The settings of the base.
        elites: What the base does with elites.
        maze: The maze of the base.
        engine: The engine that ran the trials.
        version: The version of Distal.
        machine: A description of the machine.
        seconds: How long each stage took.
        outcomes: What was measured, the base first.
    """

    scale: Scale
    seed: int
    settings: Settings
    elites: str
    maze: Maze
    engine: str
    version: str
    machine: dict[str, Any]
    seconds: dict[str, float]
    outcomes: tuple[Outcome, ...]

    @property
    def base(self) -> Outcome:
        """What the base gave."""
        return self.outcomes[0]

    @cached_property
    def is_default(self) -> bool:
        """Whether the base is the default of every setting."""
        return (self.settings, self.elites) == (Settings(), PAPER.elites)

    @cached_property
    def is_papers(self) -> bool:
        """Whether the paper's numbers can be compared: its steps, hidden neurons and eight final positions.

        The paper's own picture is not known, so any maze with as many final positions may be tested
        against it.
        """
        return (self.settings.steps, self.settings.hidden, len(self.maze.finals)) == (100, 20, 8)

    def to_dict(self) -> dict[str, Any]:
        """Return all numbers and what made them, ready for JSON."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "distal": self.version,
            "scale": asdict(self.scale),
            "seed": self.seed,
            "settings": self.settings.to_dict(),
            "elites": self.elites,
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
            "engine": self.engine,
            "machine": self.machine,
            "seconds": {name: round(value, 2) for name, value in self.seconds.items()},
            "variants": [outcome.to_dict() for outcome in self.outcomes],
        }

    @classmethod
    def from_dict(cls, data: object) -> ReadingStudy:
        """Read what `to_dict` returns."""
        with read_as("study of readings"):
            return cls._read(fields(data, FORMAT, VERSION, FIELDS))

    @classmethod
    def _read(cls, data: dict[str, Any]) -> ReadingStudy:
        scale = instance("scale", data["scale"], dict, "how much was run")
        elites = one_of("elites", data["elites"], ELITES)
        base = Settings.from_dict(data["settings"])
        maze = Maze(data["maze"], data["heading"])
        known = variants(base, replace(PAPER, elites=elites), maze)
        found = sequence("variants", data["variants"], f"a list of {len(known)} outcomes")
        outcomes = tuple(Outcome.from_dict(*each) for each in zip(found, known, strict=True))
        sizes = (integer(name, scale[name], 0) for name in _SIZES)
        return cls(
            scale=Scale(text("scale", scale["name"]), *sizes),
            settings=base,
            elites=elites,
            maze=maze,
            engine=text("engine", data["engine"]),
            **made_by(data),
            outcomes=outcomes,
        )


# ------------------------------------------------------------------ the plan

_TITLES = {
    "published": "published rules",
    "chance": "chance",
    "appendix": "appendix",
    "pairing": "pairing",
    "evolve_dsp": "evolution of rules",
    "evolve_hc": "evolution of hill climbing",
}


def plan(
    scale: Scale, settings: Settings, search: GeneticAlgorithm, maze: Maze
) -> dict[_Variant, list[Stage]]:
    """Return the stages of every variant with the episodes that each will run."""
    rules = len(published_rules())
    planned = {}
    for variant in variants(settings, search, maze):
        finals, elites = len(variant.maze.finals), variant.search.elites
        evolution = evolution_episodes(scale.runs, scale.generations, elites, finals)
        at_100 = rules * scale.trials * finals * EPISODES
        episodes = {
            "published": at_100,
            "chance": at_100,
            "appendix": rules * experiments.TRIALS * finals * scale.episodes,
            "pairing": rules**2 * scale.pairs * finals * EPISODES,
        }
        planned[variant] = [
            Stage(
                f"{part}_{variant.name}",
                _TITLES[part],
                episodes.get(part, evolution),
                PARTS[part],
                0 if part in episodes else scale.runs,
            )
            for part in variant.own
        ]
    return planned


def outline(planned: dict[_Variant, list[Stage]]) -> list[Stage]:
    """Return one stage for each variant, for people: all its parts together."""
    outlined = []
    for variant, stages in planned.items():
        alone = "" if len(stages) == len(PARTS) else ": rules alone"
        alone = ": evolution alone" if variant.reading in SEARCH_READINGS else alone
        episodes = sum(stage.episodes for stage in stages)
        outlined.append(Stage(variant.label, variant.label + alone, episodes, "dsp"))
    return outlined


def estimated_seconds(planned: dict[_Variant, list[Stage]], run: Runner) -> dict[str, float]:
    """Measure all learners for a moment in every variant and say how long each may take."""
    seconds: dict[str, float] = {}
    by_task: dict[tuple[Settings, Maze], list[_Variant]] = {}
    for variant in planned:
        by_task.setdefault((variant.settings, variant.maze), []).append(variant)
    for (settings, maze), alike in by_task.items():
        stages = [stage for variant in alike for stage in planned[variant]]
        # A machine that is busy for a moment makes one of the two long, hardly both.
        found = [experiments.estimated_seconds(stages, MazeTask(maze), settings, run) for _ in range(2)]
        for variant in alike:
            seconds[variant.label] = sum(min(one[stage.name] for one in found) for stage in planned[variant])
    return seconds


# ------------------------------------------------------------------ the work


CLAIM, HOLDS = "reading-study.json", "a study of readings"

FIGURES = (
    "readings_published", "readings_appendix", "readings_pairing", "readings_evolution",
    "readings_likelihood",
)  # fmt: skip
# Everything that a report writes.
REPORT = (
    "readings.html", "readings.md", "study.json",
    *(f"figures/{name}.{kind}" for name in FIGURES for kind in ("svg", "png")),
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Readings(Request):
    """The study that is asked for: everything that decides the results, checked."""

    scale: str

    def __post_init__(self) -> None:
        object.__setattr__(self, "scale", one_of("scale", self.scale, SCALES))
        super().__post_init__()

    @property
    def size(self) -> Scale:
        """How much is run."""
        return SCALES[self.scale]

    @cached_property
    def planned(self) -> dict[_Variant, list[Stage]]:
        """What is to be done for every variant, in its order."""
        return plan(self.size, self.settings, replace(PAPER, elites=self.elites), self.maze)

    @cached_property
    def stages(self) -> list[Stage]:
        """What is to be done for all of them."""
        return [stage for stages in self.planned.values() for stage in stages]

    @cached_property
    def claim(self) -> Claim:
        """What a folder for it holds."""
        content = {"format": "distal-reading-study", "scale": self.scale, **self.to_dict()}
        files = (CLAIM, SECONDS, *(file for stage in self.stages for file in stage.files), *REPORT)
        return Claim(CLAIM, HOLDS, content, files, tuple(self.stages))

    def config(self, kind: str, variant: _Variant) -> Config:
        """Return the evolution of a variant."""
        return Config(
            kind, self.size.runs, self.size.generations, experiments.TRIALS, EPISODES, self.seed,
            search=variant.search, settings=variant.settings, task=MazeTask(variant.maze),
        )  # fmt: skip

    def check_memory(self) -> None:
        """Refuse what the machine's free memory does not hold: all pairs at once, and an evolution."""
        largest = max(self.planned, key=lambda variant: len(variant.maze.finals))
        trials = len(published_rules()) ** 2 * self.size.pairs * len(largest.maze.finals)
        evolution = estimate(self.config("dsp", largest))
        parts = {"pairs": memory.MEASURED * trials, **evolution.parts}
        fewer = "take scale quick, or a maze with fewer final positions"
        memory.Estimate("the variants", parts, fewer).check()


def study_readings(
    scale: str = "quick",
    *,
    elites: str = PAPER.elites,
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    maze: Maze | None = None,
    engine: str | Runner = engines.DEFAULT,
    progress: Callable[[Event], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> ReadingStudy:
    """Measure a base, every other value of every reading and every other named maze, one at a time.

    `write_report` writes the report.

    Args:
        scale: "quick", or "paper" for as many runs and generations as the paper has.
        elites: As in `evolve`, for the base.
        seed: The seed of all random numbers.
        out: A folder to keep the work in. Stages that it already holds are read, the others
            are run and stored. A folder made with other options is refused.
        force: Start over in a folder made with other options.
        maze: The maze of the base; the triple T-maze if left out.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the variants proceed.
        **settings: As in `Settings`, for the base.

    Returns:
        One outcome for the base, and one for every other value and maze.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    out, force = None if out is None else folder("out", out), flag("force", force)
    function("progress", progress)
    in_force = Settings.of(settings, tuple(inspect.signature(study_readings).parameters))
    request = Readings(scale=scale, elites=elites, seed=seed, settings=in_force, maze=checked_maze(maze))
    return run(request, Runner.of(engine), out, force, progress)


def run(
    request: Readings,
    runner: Runner,
    out: Path | None = None,
    force: bool = False,
    progress: Callable[[Event], None] | None = None,
) -> ReadingStudy:
    """Run the study that is asked for; see `study_readings`."""
    request.check_memory()
    groups = zip(outline(request.planned), request.planned.values(), strict=True)
    told = None if progress is None else Grouped(groups, progress)
    with request.claim.taken(out, force) as kept:
        stages = Stages(request.stages, runner, told, kept)
        work = _Work(request, stages)
        outcomes = tuple(work.run(variant) for variant in request.planned)
        return ReadingStudy(
            request.size, request.seed, request.settings, request.elites, request.maze, runner.engine,
            __version__, engines.machine_of(runner.engine), stages.seconds, outcomes,
        )  # fmt: skip


@dataclass(eq=False)
class _Work:
    """A study in progress."""

    request: Readings
    stages: Stages
    base: Outcome | None = None
    base_chance: NDArray[np.int32] | None = None  # (rules, trials)

    def run(self, variant: _Variant) -> Outcome:
        """Do all stages of a variant that are missing; what the reading does not touch is the base's."""
        base, own = self.base, variant.own
        outcome = Outcome(
            variant,
            rules=self._rules(variant) if base is None or "published" in own else base.rules,
            appendix=self._appendix(variant) if base is None or "appendix" in own else base.appendix,
            pairing=self._pairing(variant) if base is None or "pairing" in own else base.pairing,
            dsp=self._search("dsp", variant) if base is None or "evolve_dsp" in own else base.dsp,
            hc=self._search("hc", variant) if base is None or "evolve_hc" in own else base.hc,
        )
        if base is None:
            self.base = outcome
        return outcome

    def _rules(self, variant: _Variant) -> tuple[Fresh, ...]:
        rules, trials = published_rules(), self.request.size.trials
        seeds = child_seeds(self.request.seed, [[k, PUBLISHED, STUDY] for k in range(len(rules))])
        own = self._test("published", rules, seeds, trials, variant)
        chance = self.base_chance
        if chance is None or "chance" in variant.own:
            chance = self._test("chance", [chance_for(rule) for rule in rules], seeds, trials, variant)
        if self.base is None:
            self.base_chance = chance
        return tuple(Fresh.of(*each) for each in zip(own, chance, strict=True))

    def _appendix(self, variant: _Variant) -> Appendix:
        rules = published_rules()
        seeds = child_seeds(self.request.seed, [[k, APPENDIX, STUDY] for k in range(len(rules))])
        episodes = self.request.size.episodes
        best = self._test("appendix", rules, seeds, experiments.TRIALS, variant, episodes)
        return Appendix.of(best, papers_fitness())

    def _pairing(self, variant: _Variant) -> Pairing:
        rules = published_rules()
        every = pairs(rules)
        # All pairs have the same trials, so that what a trial does to all of them alike falls out.
        seeds = np.repeat(child_seeds(self.request.seed, [[0, PAIRS, STUDY]]), len(every))
        fitness = self._test("pairing", every, seeds, self.request.size.pairs, variant).mean(axis=1)
        return Pairing.of(fitness.reshape(len(rules), len(rules)), self.request.seed)

    def _test(
        self,
        part: str,
        learners: Sequence[Learner],
        seeds: NDArray[np.uint64],
        trials: int,
        variant: _Variant,
        episodes: int = EPISODES,
    ) -> NDArray[np.int32]:
        """Return the best EP of every trial, (learners, trials)."""
        best = self.stages.test(
            f"{part}_{variant.name}", learners, seeds, trials=trials, episodes=episodes,
            task=MazeTask(variant.maze), settings=variant.settings, record=(episodes,),
        )  # fmt: skip
        return best[:, :, -1]

    def _search(self, kind: str, variant: _Variant) -> Search:
        config = self.request.config(kind, variant)
        return Search.of(self.stages.evolve(f"evolve_{kind}_{variant.name}", config))
