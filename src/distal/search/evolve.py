"""Evolve rules, or the parameters of hill climbing: several independent runs, side by side.

The runs advance together, one generation at a time, so that one call of the engine
measures the children of all of them. That changes no run's result: each has its own
seed, and every evaluation its own trial seeds.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal._version import __version__
from distal.base import checks, memory
from distal.base.checks import (
    InputError,
    flag,
    folder,
    function,
    instance,
    integer,
    one_of,
    path,
    shown,
    suggestion,
)
from distal.base.memory import Estimate
from distal.base.significance import SIGNIFICANT, paired, paired_superiority
from distal.engines import Runner
from distal.evaluation.learning import batch_of, checked_maze
from distal.learners import Learner, chance_for, hill_climbing
from distal.learners.hill_climbing import HillClimbing
from distal.learners.rule import NUMBERS, ROWS, Rule
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seed, child_seeds
from distal.model.maze import Maze
from distal.model.settings import Settings, SettingsDict
from distal.search.genetic import Evolution, Genotypes, Options, chances
from distal.search.runs import RunFolder, damaged, read_run
from distal.tasks.walk import MazeTask

LEARNERS = ("dsp", "hc")
REMEASURED = 400  # trials on which a winner is measured afresh

# Parts of the work, as the last number of a seed's part.
RUN, EVALUATION, REMEASUREMENT = 4, 5, 6


@dataclass(frozen=True)
class Config:
    """Everything that decides the result of an evolution."""

    learner: str = "dsp"
    runs: int = 15
    generations: int = 300
    trials: int = 5  # per final position
    episodes: int = 100
    seed: int = 0
    options: Options = field(default_factory=Options)
    settings: Settings = field(default_factory=Settings)
    maze: Maze = field(default_factory=lambda: checked_maze(None))

    def __post_init__(self) -> None:
        given: object = self.learner
        if isinstance(given, str) and given == "chance":
            raise InputError(
                "learner is 'chance', which has nothing to evolve; measure it with learn, or evolve dsp or hc"
            )
        object.__setattr__(self, "learner", one_of("learner", given, LEARNERS))
        bounds = {
            "runs": (1, 2**20), "generations": (0, MAX_COUNT), "trials": (1, MAX_COUNT),
            "episodes": (1, MAX_COUNT), "seed": (0, MAX_SEED),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            object.__setattr__(self, name, integer(name, getattr(self, name), low, high))
        instance("options", self.options, Options, "an Options")
        instance("settings", self.settings, Settings, "a Settings")
        instance("maze", self.maze, Maze, "a Maze")

    @property
    def genes(self) -> tuple[int, int]:
        """The number of discrete and of continuous genes."""
        return (ROWS, len(NUMBERS)) if self.learner == "dsp" else (0, len(hill_climbing.NUMBERS))

    def decode(self, genotypes: Genotypes) -> list[Rule] | list[HillClimbing]:
        """Turn genotypes into learners: 32 changes, then η, θ, α_h, α_o; or σ, α_h, α_o."""
        if self.learner == "dsp":
            pairs = zip(genotypes.discrete, genotypes.continuous, strict=True)
            return [Rule(changes.tolist(), *numbers.tolist()) for changes, numbers in pairs]
        return [HillClimbing(*numbers.tolist()) for numbers in genotypes.continuous]

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration, ready for JSON."""
        names = ("learner", "runs", "generations", "trials", "episodes", "seed")
        return {
            "distal": __version__,
            **{name: getattr(self, name) for name in names},
            **asdict(self.options),
            **asdict(self.settings),
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """Read what `to_dict` returns, or returned in version 0.1."""
        data = dict(data)
        if "remeasure" in data:  # 0.1: `elites` was their number
            remeasure = flag("remeasure", data.pop("remeasure"))
            data.update(elite_count=data["elites"], elites="remeasured" if remeasure else "kept")
        own = ("learner", "runs", "generations", "trials", "episodes", "seed")
        known = (
            "distal",
            *own,
            *Options.__dataclass_fields__,
            *Settings.__dataclass_fields__,
            "maze",
            "heading",
        )
        for name in data:
            if name not in known:
                raise InputError(f"unknown field {name!r}{suggestion(name, known)}")
        if not isinstance(data["maze"], list):
            raise InputError("the maze is not a list of rows")
        return cls(
            **{name: data[name] for name in own},
            options=Options(**{name: data[name] for name in Options.__dataclass_fields__}),
            settings=Settings(**{name: data[name] for name in Settings.__dataclass_fields__}),
            maze=Maze(tuple(data["maze"]), data["heading"]),
        )


@dataclass(frozen=True)
class Fresh:
    """How a learner does on fresh trials, which selection has not favoured, and chance on the same ones.

    Chance has the learner's scales of recurrent and feedback sums. It is None in a folder
    of runs that version 0.1 finished.
    """

    fitness: float
    standard_error: float
    chance: float | None = None  # its mean best EP
    chance_standard_error: float | None = None
    difference_standard_error: float | None = None  # of fitness − chance, paired
    p: float | None = None  # paired t-test, two-sided
    superiority: float | None = None  # the share of trials in which the learner is better, ties half

    @classmethod
    def of(cls, own: NDArray[np.int32], chance: NDArray[np.int32]) -> Fresh:
        """Compare the best EPs of a learner with those of chance in the same trials."""
        for name, values in (("own", own), ("chance", chance)):
            given = instance(name, values, np.ndarray, "an array of best EPs")
            if given.ndim != 1 or given.dtype.kind not in "iuf":
                raise InputError(f"{name} is {shown(given)}, expected an array of best EPs")
        if len(own) != len(chance) or len(own) < 2:
            raise InputError(
                f"there are {len(own)} and {len(chance)} trials, expected as many, and two at least"
            )

        def error(values: NDArray[np.int32]) -> float:
            return float(values.std(ddof=1) / np.sqrt(len(values)))

        return cls(
            fitness=float(own.mean()),
            standard_error=error(own),
            chance=float(chance.mean()),
            chance_standard_error=error(chance),
            difference_standard_error=error(own - chance),
            p=paired(own, chance),
            superiority=paired_superiority(own, chance),
        )

    @classmethod
    def from_dict(cls, data: object) -> Fresh:
        """Read the numbers by name."""
        expected = "the numbers of fresh trials, by name"
        given = instance("fresh", data, dict, expected)
        needed = ("fitness", "standard_error")
        if not set(needed) <= set(given) <= set(cls.__dataclass_fields__):
            raise InputError(f"fresh is {shown(data)}, expected {expected}")
        numbers: dict[str, Any] = {
            name: None if value is None and name not in needed else checks.number(name, value)
            for name, value in given.items()
        }
        return cls(**numbers)

    @property
    def difference(self) -> float | None:
        """The mean difference from chance; negative is better than chance."""
        return None if self.chance is None else self.fitness - self.chance

    @property
    def beats_chance(self) -> bool | None:
        """Whether it is better than chance, at the paper's level of 0.05."""
        if self.p is None or self.difference is None:
            return None
        return self.p < SIGNIFICANT and self.difference < 0


@dataclass(frozen=True)
class Winner:
    """The best individual of a run's last generation.

    With kept elites it is the individual with the lowest fitness ever measured.
    """

    run: int
    learner: Rule | HillClimbing
    generation: int  # in which it first appeared
    selected: float  # the fitness that selected it, hence optimistic
    fresh: Fresh

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
        fresh = asdict(self.fresh)
        return {
            "run": self.run,
            "generation": self.generation,
            "selected": self.selected,
            "remeasured": fresh.pop("fitness"),
            **fresh,
            "learner": self.learner.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Winner:
        """Read what `to_dict` returns."""
        instance("winner", data, dict, "what Winner.to_dict returns")
        needed = ("run", "generation", "selected", "remeasured", "learner")
        for name in needed:
            if name not in data:
                raise InputError(f"field {name!r} of a winner is missing")
        numbers = instance("learner", data["learner"], dict, "a rule, or the parameters of hill climbing")
        climber = {"format": hill_climbing.FORMAT, "version": hill_climbing.VERSION, **numbers}
        given = {name: data[name] for name in Fresh.__dataclass_fields__ if name in data}
        return cls(
            run=integer("run", data["run"], 1),
            learner=Rule.from_dict(numbers) if "delta_w" in numbers else HillClimbing.from_dict(climber),
            generation=integer("generation", data["generation"], 0),
            selected=checks.number("selected", data["selected"]),
            fresh=Fresh.from_dict({**given, "fitness": data["remeasured"]}),
        )


@dataclass(frozen=True, eq=False)
class Evolved:
    """The outcome of an evolution: fitness of every generation, and the winners.

    `best`, `mean` and `worst` are those of the population, (runs, generations + 1).
    """

    config: Config
    best: NDArray[np.float64]
    mean: NDArray[np.float64]
    worst: NDArray[np.float64]
    seconds: float
    winners: tuple[Winner, ...]


@dataclass(frozen=True)
class Step:
    """What is told after every generation."""

    generation: int
    generations: int
    best: list[float]  # of the generation, by run; with kept elites the lowest ever
    mean: float  # of all populations
    evaluations: int  # in this generation
    seconds: float  # for this generation


def evolve(
    learner: str = "dsp",
    *,
    runs: int = 15,
    generations: int = 300,
    trials: int = 5,
    episodes: int = 100,
    seed: int = 0,
    population: int = 14,
    elite_count: int = 4,
    crossover: float = 0.5,
    mutation: float = 0.15,
    deviation: float = 0.1,
    elites: str = Options.elites,
    maze: Maze | None = None,
    out: str | Path | None = None,
    force: bool = False,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Step], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> Evolved:
    """Evolve DSP rules ("dsp") or the parameters of hill climbing ("hc").

    `trials` counts per final position. `elites` says whether the `elite_count` best are
    measured again in every generation ("remeasured") or keep the fitness they were first
    given ("kept"). `out` names a folder to keep the runs in, so that they can be resumed
    with `resume`; an existing one is refused unless `force`. `progress` is told of every
    generation.
    """
    config = Config(
        learner=learner,
        runs=runs,
        generations=generations,
        trials=trials,
        episodes=episodes,
        seed=seed,
        options=Options(population, elite_count, crossover, mutation, deviation, elites),
        settings=Settings.of(settings, tuple(inspect.signature(evolve).parameters)),
        maze=checked_maze(maze),
    )
    run = engines.runner(engine, workers, executor)
    force = flag("force", force)
    function("progress", progress)
    estimate(config).check()
    if out is None:
        return _run(config, _begun(config), run, progress)
    with RunFolder.create(folder("out", out), config.to_dict(), force) as kept:
        return _run(config, _begun(config), run, progress, kept)


def resume(
    out: str | Path,
    *,
    generations: int | None = None,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Evolved:
    """Go on with the runs in a folder, to `generations` if given; a finished run is only read."""
    run = engines.runner(engine, workers, executor)
    function("progress", progress)
    if generations is not None:
        generations = integer("generations", generations, 0, MAX_COUNT)
    with RunFolder.open(path("out", out)) as kept:
        config, evolutions, winners = _restored(kept.path, kept.config, kept.state)
        history = kept.history()
        if generations is not None and generations != config.generations:
            integer("generations", generations, max(evolutions[0].generation, 0), MAX_COUNT)
            config = replace(config, generations=generations)
        estimate(config).check()
        kept.recover()  # all is well: from here on the folder may be changed
        if config.generations != kept.config["generations"]:
            kept.extend(config.generations)
            winners = None
        return _run(config, evolutions, run, progress, kept, history, kept.seconds(), winners)


def _restored(
    folder: Path, stored: dict[str, Any], state: dict[str, Any] | None
) -> tuple[Config, list[Evolution], tuple[Winner, ...] | None]:
    """Return what a folder holds, all of it checked: configuration, runs, and winners if it is finished."""
    with damaged(folder / "config.json"):
        config = Config.from_dict(stored)
    evolutions, winners = _begun(config), None
    if state is None:
        return config, evolutions, None
    with damaged(folder / "state.json"):
        for evolution, entry in zip(evolutions, state["runs"], strict=True):
            evolution.restore(entry)
        generation = integer("generation", evolutions[0].generation, 0, config.generations)
        if any(evolution.generation != generation for evolution in evolutions):
            raise InputError("its runs are in different generations")
        if state["winners"] is not None:
            if generation < config.generations:
                raise InputError(f"it has winners before generation {config.generations}")
            winners = tuple(map(Winner.from_dict, state["winners"]))
            kind = Rule if config.learner == "dsp" else HillClimbing
            for run, winner in enumerate(winners, start=1):
                integer("run of a winner", winner.run, run, run)
                integer("generation of a winner", winner.generation, 0, generation)
                instance("winner", winner.learner, kind, f"a learner of kind {config.learner}")
    return config, evolutions, winners


def _begun(config: Config) -> list[Evolution]:
    """Return the runs of an evolution before their first generation."""
    return [Evolution(*config.genes, run_seed(config, k), config.options) for k in range(config.runs)]


def estimate(config: Config) -> Estimate:
    """Estimate the memory that an evolution needs."""
    finals = len(config.maze.finals)
    return memory.evolution(
        config.learner, runs=config.runs, population=config.options.population,
        generations=config.generations, trials=config.trials * finals, episodes=config.episodes,
        afresh=_trials_afresh(config) * finals,
    )  # fmt: skip


def summary(out: str | Path) -> dict[str, Any]:
    """Return what a folder of runs holds, without changing it."""
    stored, state, _ = read_run(out)
    config, evolutions, winners = _restored(Path(out), stored, state)
    names = ("remeasured", "standard_error", "chance", "p", "superiority")
    found = [winner.to_dict() for winner in winners] if winners else [{} for _ in evolutions]
    return {
        "learner": config.learner,
        "seed": config.seed,
        "elites": config.options.elites,
        "generations": config.generations,
        "done": evolutions[0].generation if state else None,
        "finished": winners is not None,
        "runs": [
            {
                "run": number,
                "best": evolution.best_fitness,
                "found_in_generation": evolution.best_generation,
                **{name: winner.get(name) for name in names},
            }
            for number, (evolution, winner) in enumerate(zip(evolutions, found, strict=True), start=1)
            if state
        ],
    }


def run_seed(config: Config, run: int) -> int:
    """Return the seed of a run, counted from 0; the two learners' runs have nothing in common."""
    return child_seed(config.seed, run, LEARNERS.index(config.learner), RUN)


def measure(
    config: Config,
    learners: Sequence[Learner],
    seeds: NDArray[np.uint64],
    trials: int,
    run: Runner,
) -> NDArray[np.int32]:
    """Return the best EPs of every learner, (learners, trials)."""
    batch = batch_of(
        learners, seeds, trials=trials, episodes=config.episodes, task=MazeTask(config.maze),
        settings=config.settings, record=(config.episodes,),
    )  # fmt: skip
    final: NDArray[np.int32] = run.run(batch).best[:, -1].reshape(len(learners), -1)
    return final


def next_generation(config: Config, evolutions: list[Evolution], run: Runner) -> int:
    """Advance all runs by one generation; return the number of evaluations it took."""
    first, options = evolutions[0], config.options
    seeds_of_runs = [evolution.seed for evolution in evolutions]
    children = options.population - options.elite_count
    drawn = chances(seeds_of_runs, first.generation + 1, children, *config.genes)
    asked = [evolution.ask(own) for evolution, own in zip(evolutions, drawn, strict=True)]
    n = len(asked[0])
    learners = [learner for genotypes in asked for learner in config.decode(genotypes)]
    run_seeds = np.array(seeds_of_runs, np.uint64)
    parts = [[first.generation + 1, individual, EVALUATION] for individual in range(n)]
    seeds = child_seeds(run_seeds[:, None], np.array(parts)[None]).ravel()
    fitness = measure(config, learners, seeds, config.trials, run).mean(axis=1)
    for k, evolution in enumerate(evolutions):
        evolution.tell(asked[k], fitness[k * n : (k + 1) * n])
    return len(learners)


def measured_afresh(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], run: Runner
) -> list[Fresh]:
    """Measure every learner on about 400 trials from its seed, and chance on the same trials."""
    trials = _trials_afresh(config)
    own = measure(config, learners, seeds, trials, run)
    by_chance = measure(config, [chance_for(learner) for learner in learners], seeds, trials, run)
    return [Fresh.of(*pair) for pair in zip(own, by_chance, strict=True)]


def _trials_afresh(config: Config) -> int:
    """Return how many trials for each final position a winner is measured on."""
    return -(-REMEASURED // len(config.maze.finals))


def winners_of(config: Config, evolutions: list[Evolution], run: Runner) -> tuple[Winner, ...]:
    """Return every run's winner, measured afresh."""
    learners = [config.decode(e.best)[0] for e in evolutions if e.best is not None]
    seeds = np.array([child_seed(e.seed, 0, 0, REMEASUREMENT) for e in evolutions], np.uint64)
    winners = []
    for number, (evolution, learner, fresh) in enumerate(
        zip(evolutions, learners, measured_afresh(config, learners, seeds, run), strict=True), start=1
    ):
        if isinstance(learner, Rule):
            learner = replace(learner, name=f"run {number}, seed {config.seed}")  # noqa: PLW2901
        winners.append(Winner(number, learner, evolution.best_generation, evolution.best_fitness, fresh))
    return tuple(winners)


def _rows(evolutions: list[Evolution]) -> Iterator[tuple[Any, ...]]:
    """Yield what is recorded of the current generation, a row a run."""
    for run, evolution in enumerate(evolutions, start=1):
        assert evolution.fitness is not None  # noqa: S101 - told at least once
        assert evolution.population is not None  # noqa: S101
        leader = int(np.argmin(evolution.fitness))
        genes = [
            *evolution.population.discrete[leader].tolist(),
            *evolution.population.continuous[leader].tolist(),
        ]
        fitness = evolution.fitness
        yield (
            run,
            evolution.generation,
            float(fitness[leader]),
            float(fitness.mean()),
            float(fitness.max()),
            " ".join(map(str, genes)),
        )


def _run(
    config: Config,
    evolutions: list[Evolution],
    run: Runner,
    progress: Callable[[Step], None] | None,
    folder: RunFolder | None = None,
    history: NDArray[np.float64] | None = None,
    seconds: float = 0.0,
    winners: tuple[Winner, ...] | None = None,
) -> Evolved:
    """Run all generations that are missing, keep them, and find the winners if they are not known."""
    values = np.empty((config.generations + 1, config.runs, 3))  # best, mean, worst
    if history is not None:
        values[: len(history)] = history

    while evolutions[0].generation < config.generations:
        began = time.perf_counter()
        evaluations = next_generation(config, evolutions, run)
        rows = list(_rows(evolutions))
        took = time.perf_counter() - began
        generation = evolutions[0].generation
        values[generation] = [row[2:5] for row in rows]
        seconds += took
        if folder is not None:
            folder.append(rows, took, [evolution.state() for evolution in evolutions])
        if progress is not None:
            progress(
                Step(
                    generation=generation,
                    generations=config.generations,
                    best=[evolution.best_fitness for evolution in evolutions],
                    mean=float(np.mean([row[3] for row in rows])),
                    evaluations=evaluations,
                    seconds=took,
                )
            )

    if winners is None:
        winners = winners_of(config, evolutions, run)
    if folder is not None:
        folder.finish([winner.to_dict() for winner in winners])
    best, mean, worst = np.moveaxis(values, (2, 1), (0, 1))
    return Evolved(config, best, mean, worst, seconds, winners)
