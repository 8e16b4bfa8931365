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

import distal
from distal import checks, engines
from distal.checks import InputError, flag, folder, function, instance, integer, one_of, path, shown
from distal.draws import MAX_COUNT, MAX_SEED, child_seed, child_seeds
from distal.engines import Runner
from distal.evaluation import batch_of, checked_maze
from distal.evolution import Evolution, Genotypes, Options, chances
from distal.learners import Learner, chance_for, hill_climbing
from distal.learners.hill_climbing import HillClimbing
from distal.maze import Maze
from distal.rule import NUMBERS, ROWS, Rule
from distal.runs import RunFolder, read_run
from distal.settings import Settings, SettingsDict
from distal.significance import SIGNIFICANT, paired, paired_superiority

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
            "distal": distal.__version__,
            **{name: getattr(self, name) for name in names},
            **asdict(self.options),
            **asdict(self.settings),
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """Read what `to_dict` returns, or returned in version 0.1."""
        own = {name: data[name] for name in ("learner", "runs", "generations", "trials", "episodes", "seed")}
        if "remeasure" in data:  # 0.1: `elites` was their number
            words = {False: "kept", True: "remeasured"}
            data = {**data, "elite_count": data["elites"], "elites": words[data["remeasure"]]}
        return cls(
            **own,
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
    if out is None:
        return _run(config, None, run, progress)
    with RunFolder.create(folder("out", out), config.to_dict(), force) as kept:
        return _run(config, kept, run, progress)


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
        config = kept.parsed(Config.from_dict)
        if generations is not None and generations != config.generations:
            done = kept.state["runs"][0]["generation"] if kept.state else 0
            integer("generations", generations, done, MAX_COUNT)
            config = replace(config, generations=generations)
            kept.extend(generations)
        return _run(config, kept, run, progress)


def summary(out: str | Path) -> dict[str, Any]:
    """Return what a folder of runs holds, without changing it."""
    config, state = read_run(out)
    runs = state["runs"] if state else []
    winners = (state or {}).get("winners") or []
    return {
        "learner": config["learner"],
        "seed": config["seed"],
        "elites": Config.from_dict(config).options.elites,
        "generations": config["generations"],
        "done": runs[0]["generation"] if runs else None,
        "finished": bool(winners),
        "runs": [
            {
                "run": number,
                "best": run["best"]["fitness"],
                "found_in_generation": run["best"]["generation"],
                **{
                    name: winners[number - 1].get(name) if winners else None
                    for name in ("remeasured", "standard_error", "chance", "p", "superiority")
                },
            }
            for number, run in enumerate(runs, start=1)
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
        learners, seeds, trials=trials, episodes=config.episodes, maze=config.maze, settings=config.settings,
        record=(config.episodes,),
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
    trials = -(-REMEASURED // len(config.maze.finals))
    own = measure(config, learners, seeds, trials, run)
    by_chance = measure(config, [chance_for(learner) for learner in learners], seeds, trials, run)
    return [Fresh.of(*pair) for pair in zip(own, by_chance, strict=True)]


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
    folder: RunFolder | None,
    run: Runner,
    progress: Callable[[Step], None] | None,
) -> Evolved:
    """Run all generations that are missing, keep them, and find the winners."""
    discrete, continuous = config.genes
    evolutions = [
        Evolution(discrete, continuous, run_seed(config, k), config.options) for k in range(config.runs)
    ]
    history: list[tuple[Any, ...]] = []
    seconds = 0.0
    if folder is not None and folder.state:
        for evolution, state in zip(evolutions, folder.state["runs"], strict=True):
            evolution.restore(state)
        history = folder.history()
        seconds = folder.seconds()

    while evolutions[0].generation < config.generations:
        began = time.perf_counter()
        evaluations = next_generation(config, evolutions, run)
        rows = list(_rows(evolutions))
        took = time.perf_counter() - began
        history += rows
        seconds += took
        if folder is not None:
            folder.append(rows, took, [evolution.state() for evolution in evolutions])
        if progress is not None:
            progress(
                Step(
                    generation=evolutions[0].generation,
                    generations=config.generations,
                    best=[evolution.best_fitness for evolution in evolutions],
                    mean=float(np.mean([row[3] for row in rows])),
                    evaluations=evaluations,
                    seconds=took,
                )
            )

    winners = None
    if folder is not None and folder.state and folder.state["winners"] is not None:
        winners = tuple(Winner.from_dict(entry) for entry in folder.state["winners"])
    if winners is None:
        winners = winners_of(config, evolutions, run)
    if folder is not None:
        folder.finish([winner.to_dict() for winner in winners])
    values = np.array([row[2:5] for row in history]).reshape(config.generations + 1, config.runs, 3)
    best, mean, worst = np.moveaxis(values, (2, 1), (0, 1))
    return Evolved(config, best, mean, worst, seconds, winners)
