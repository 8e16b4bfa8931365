"""The paper's experiments: evolve, test for many episodes, with and without resampling.

`reproduce` runs them in stages. With a folder every stage is stored as soon as it is
done, and a second call only does what is missing. What it returns holds all numbers;
`comparison` sets them beside the paper's, `report` turns them into pages.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import time
from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import resources
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

import distal
from distal import draws, engines
from distal.checks import InputError, integer, one_of
from distal.engines import Runner
from distal.evaluation import MAX_SEED, batch_of
from distal.evolution import Options, first_population
from distal.evolving import Config, Evolved, Step, evolve, resume
from distal.files import read_json, to_json, write_array, write_text
from distal.learners.hill_climbing import HillClimbing
from distal.maze import Maze, triple_t_maze
from distal.rule import Rule, published_rules
from distal.runs import FILES as RUN_FILES
from distal.runs import holds_anything, lock_folder, new_folder, remove_files
from distal.settings import Settings, SettingsDict

RESAMPLE = 100  # the paper's iterative re-sampling
TRIALS = 5  # per final position
PAPER = Options()  # the paper's genetic algorithm

# The last number of the part that a test's seeds come from; the first two are rule and test.
TEST = 7


@dataclass(frozen=True)
class Scale:
    """How much is run."""

    name: str
    runs: int
    generations: int
    episodes: int  # of the long tests


SCALES = {
    "quick": Scale("quick", runs=5, generations=80, episodes=5_000),
    "paper": Scale("paper", runs=15, generations=300, episodes=10_000),
}

# The tests: name, learner, resampled?
TESTS = (
    ("dsp", "dsp", False),
    ("hc", "hc", False),
    ("dsp_resampled", "dsp", True),
    ("hc_resampled", "hc", True),
)


@dataclass(frozen=True)
class Stage:
    """A part of the work, for the plan and for progress."""

    name: str
    title: str
    episodes: int
    learner: str

    @property
    def label(self) -> str:
        """The name in a few words."""
        return self.name.replace("_", " ").replace("dsp", "DSP").replace("hc", "hill climbing")


@dataclass(frozen=True, eq=False)
class Reproduction:
    """All that the experiments gave.

    `curves[test]` (rules, trials, episodes) is the best EP so far; tests are dsp, hc,
    dsp_resampled and hc_resampled. `at_100[learner]` (trials) are the EPs of the best
    rule and of the best climber after 100 episodes, in trials of their own.
    """

    scale: Scale
    seed: int
    rules: str  # "evolved" or "published"
    settings: Settings
    maze: Maze
    engine: str
    evolved: dict[str, Evolved]  # by learner; no "dsp" with the published rules
    learners: dict[str, tuple[Rule | HillClimbing, ...]]
    curves: dict[str, NDArray[np.int32]]
    at_100: dict[str, NDArray[np.int32]]
    seconds: dict[str, float]  # by stage

    def write_report(self, out: str | Path) -> Path:
        """Write figures, tables, numbers and the page into a folder; return the path of the page."""
        from distal import report  # noqa: PLC0415 - imports matplotlib and SciPy

        return report.write(self, out)

    @property
    def trials(self) -> int:
        """The number of trials in a test: five for each final position."""
        return TRIALS * len(self.maze.finals)

    @cached_property
    def _fitness(self) -> dict[str, NDArray[np.float64]]:
        return {test: curves.mean(axis=1) for test, curves in self.curves.items()}

    def fitness(self, test: str) -> NDArray[np.float64]:
        """Return the mean best EP of every rule after every episode, (rules, episodes)."""
        return self._fitness[test]

    def best(self, learner: str) -> int:
        """Return which rule, or climber, has the lowest fitness at the end of the plain test."""
        return int(np.argmin(self.fitness(learner)[:, -1]))

    def ranking(self, learner: str) -> list[int]:
        """Return the rules, or climbers, in the order of their fitness at the end of the plain test."""
        order: list[int] = np.argsort(self.fitness(learner)[:, -1], kind="stable").tolist()
        return order

    def best_curve(self, test: str) -> NDArray[np.int32]:
        """Return the trials (trials, episodes) of the best rule or climber in a test."""
        curve: NDArray[np.int32] = self.curves[test][self.best(test.removesuffix("_resampled"))]
        return curve


def paper_results() -> dict[str, Any]:
    """Return every number that the paper reports."""
    text = (resources.files("distal") / "data" / "paper_results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def random_learners(kind: str, seed: int, count: int = PAPER.population) -> tuple[Rule | HillClimbing, ...]:
    """Draw rules ("dsp") or climbers ("hc"), as in the first generation of an evolution."""
    config = Config(kind)
    return tuple(config.decode(first_population(count, *config.genes, seed)))


def plan(scale: Scale, rules: str, maze: Maze) -> list[Stage]:
    """Return the stages of a reproduction with the episodes that each will run."""
    finals = len(maze.finals)
    evaluations = PAPER.population + (PAPER.population - PAPER.elites) * scale.generations
    evolution = scale.runs * evaluations * TRIALS * finals * 100
    stages = [
        Stage(
            "evolve_dsp",
            f"evolve DSP rules, {scale.runs} runs of {scale.generations} generations",
            evolution,
            "dsp",
        ),
        Stage(
            "evolve_hc",
            f"evolve hill climbing, {scale.runs} runs of {scale.generations} generations",
            evolution,
            "hc",
        ),
    ]
    if rules == "published":
        stages.pop(0)
    for name, learner, resampled in TESTS:
        n = len(published_rules()) if (rules, learner) == ("published", "dsp") else scale.runs
        title = f"test {n} {'rules' if learner == 'dsp' else 'climbers'}, {scale.episodes:,} episodes"
        title += f", resampled every {RESAMPLE}" if resampled else ""
        stages.append(Stage(f"test_{name}", title, n * TRIALS * finals * scale.episodes, learner))
    for kind, name in (("dsp", "rule"), ("hc", "climber")):
        stages.append(
            Stage(f"at_100_{kind}", f"the best {name} for 100 episodes", TRIALS * finals * 100, kind)
        )
    return stages


def estimated_seconds(stages: list[Stage], maze: Maze, settings: Settings, run: Runner) -> dict[str, float]:
    """Measure both learners for a moment and say how long each stage may take."""
    rates = {}
    slow = run.engine == "reference"
    count = {"reference": 1, "gpu": 15 * PAPER.population}.get(run.engine, PAPER.population)
    for kind in ("dsp", "hc"):
        few = random_learners(kind, 0, count)
        batch = batch_of(
            few, np.arange(len(few), dtype=np.uint64), trials=1, episodes=5 if slow else 100, maze=maze,
            settings=settings,
        )  # fmt: skip
        for _ in range(2):  # the first may compile
            began = time.perf_counter()
            run.run(batch)
            rates[kind] = len(batch) * batch.episodes / (time.perf_counter() - began)
    return {stage.name: stage.episodes / rates[stage.learner] for stage in stages}


@dataclass(frozen=True)
class Event:
    """Told while a stage runs: how much of it is done, and how it goes."""

    stage: Stage
    done: float  # 0 … 1
    detail: str = ""


def reproduce(
    scale: str = "quick",
    *,
    rules: str = "evolved",
    seed: int = 0,
    out: str | Path | None = None,
    force: bool = False,
    maze: Maze | None = None,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    progress: Callable[[Event], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> Reproduction:
    """Run the paper's experiments, at "quick" or "paper" scale, on evolved or on the published rules.

    With `out`, stages that the folder already holds are read, others are run and
    stored. A folder made with other options is refused unless `force`. The report is
    written by `Reproduction.write_report`. `executor` is as in `learn`.
    """
    size = SCALES[one_of("scale", scale, SCALES)]
    one_of("rules", rules, ("evolved", "published"))
    integer("seed", seed, 0, MAX_SEED)
    run = engines.runner(engine, workers, executor)
    in_force = Settings.of(settings, inspect.signature(reproduce).parameters)
    folder = None if out is None else new_folder(out)
    lock = None if folder is None else lock_folder(folder)
    try:
        return _Work(
            scale=size,
            rules=rules,
            seed=seed,
            settings=in_force,
            maze=triple_t_maze() if maze is None else maze,
            runner=run,
            executor=executor,
            progress=progress,
            folder=folder,
        ).run(force)
    finally:
        if lock is not None:
            os.close(lock)


def claim(scale: Scale, rules: str, seed: int, settings: Settings, maze: Maze) -> dict[str, Any]:
    """Return what a folder is for: everything that decides the results."""
    return {
        "format": "distal-reproduction",
        "scale": scale.name,
        "rules": rules,
        "seed": seed,
        "settings": vars(settings),
        "maze": list(maze.picture),
        "heading": maze.heading,
    }


def check_folder(folder: Path, config: dict[str, Any], force: bool) -> None:
    """Refuse a folder that is for something else."""
    path = folder / "reproduction.json"
    if force or not folder.is_dir():
        return
    if path.exists():
        if read_json(path, "file") != config:
            raise InputError(
                f"folder {str(folder)!r} holds a reproduction with other options; "
                "name another with --out, or begin anew with --force"
            )
    elif holds_anything(folder):
        raise InputError(f"folder {str(folder)!r} is not empty and holds no reproduction; name another")


# Everything that a reproduction and its report write.
FILES = (
    "reproduction.json", "seconds.json", "*.npz", "report.html", "results.json", "results.md",
    "evolved_rules.json", "figures/*.svg", "figures/*.png", "tables/*.csv", "tables/*.tex",
    *(f"evolve-{kind}/{name}" for kind in ("dsp", "hc") for name in ("winners/run-*.json", *RUN_FILES)),
)  # fmt: skip


@dataclass(eq=False)
class _Work:
    """A reproduction in progress."""

    scale: Scale
    rules: str
    seed: int
    settings: Settings
    maze: Maze
    runner: Runner
    executor: Executor | None
    progress: Callable[[Event], None] | None
    folder: Path | None

    def run(self, force: bool) -> Reproduction:
        """Do all stages that are missing; with `force`, all."""
        self.stages = {stage.name: stage for stage in plan(self.scale, self.rules, self.maze)}
        self.seconds: dict[str, float] = {}
        if self.folder is not None:
            self._claim(self.folder, force)
        evolved: dict[str, Evolved] = {}
        learners: dict[str, tuple[Rule | HillClimbing, ...]] = {}
        for kind in ("dsp", "hc"):
            if f"evolve_{kind}" in self.stages:
                evolved[kind] = self._evolve(kind)
                learners[kind] = tuple(winner.learner for winner in evolved[kind].winners)
            else:
                learners[kind] = published_rules()
        curves = {}
        for number, (name, kind, resampled) in enumerate(TESTS):
            resample = RESAMPLE if resampled else None
            curves[name] = self._test(f"test_{name}", learners[kind], number, self.scale.episodes, resample)
        result = Reproduction(
            self.scale, self.seed, self.rules, self.settings, self.maze, self.runner.engine,
            evolved, learners, curves, {}, self.seconds,
        )  # fmt: skip
        both = {kind: learners[kind][result.best(kind)] for kind in ("dsp", "hc")}
        at_100 = {
            kind: self._test(f"at_100_{kind}", (both[kind],), len(TESTS) + number, 100, None)[0, :, -1]
            for number, kind in enumerate(both)
        }
        return replace(result, at_100=at_100)

    def _claim(self, folder: Path, force: bool) -> None:
        """Write down what this folder is for; refuse one that is for something else."""
        config = claim(self.scale, self.rules, self.seed, self.settings, self.maze)
        check_folder(folder, config, force)
        if force:
            remove_files(folder, FILES)
        path = folder / "reproduction.json"
        write_text(path, to_json(config) + "\n")
        stored = _stored_seconds(folder / "seconds.json")
        self.seconds.update({name: stored[name] for name in self.stages if name in stored})

    def _took(self, stage: str, seconds: float) -> None:
        """Note how long a stage took."""
        self.seconds[stage] = seconds
        if self.folder is not None:
            write_text(self.folder / "seconds.json", to_json(self.seconds) + "\n")

    def _tell(self, stage: Stage, done: float, detail: str = "") -> None:
        if self.progress is not None:
            self.progress(Event(stage, done, detail))

    def _evolve(self, kind: str) -> Evolved:
        stage = self.stages[f"evolve_{kind}"]
        self._tell(stage, 0)

        def told(step: Step) -> None:
            rate = step.evaluations / step.seconds
            detail = f"best {min(step.best):.1f} mean {step.mean:.1f} {rate:.0f}/s"
            self._tell(stage, (step.generation + 0.9) / (step.generations + 1), detail)

        run: dict[str, Any] = {
            "engine": self.runner.engine, "workers": self.runner.workers, "executor": self.executor,
            "progress": told,
        }  # fmt: skip
        config = Config(
            kind, self.scale.runs, self.scale.generations, TRIALS, 100, self.seed,
            settings=self.settings, maze=self.maze,
        )  # fmt: skip
        out = None if self.folder is None else self.folder / f"evolve-{kind}"
        if out is not None and out.is_dir() and holds_anything(out):
            evolved = resume(out, **run)
            if evolved.config != config:
                raise InputError(f"folder {str(out)!r} holds an evolution with other options; move it away")
        else:
            evolved = evolve(
                kind, runs=config.runs, generations=config.generations, seed=config.seed, maze=config.maze,
                out=out, **run, **vars(config.settings),
            )  # fmt: skip
        self._took(stage.name, evolved.seconds)
        self._tell(stage, 1)
        return evolved

    def _test(
        self,
        stage_name: str,
        learners: tuple[Rule | HillClimbing, ...],
        number: int,
        episodes: int,
        resample: int | None,
    ) -> NDArray[np.int32]:
        """Return best-so-far curves (learners, trials, episodes), read or run."""
        stage = self.stages[stage_name]
        seeds = draws.child_seeds(self.seed, [[k, number, TEST] for k in range(len(learners))])
        # What decides the curves: a stored file made from anything else is run again.
        key = json.dumps(
            {
                "distal": distal.__version__,
                "learners": [learner.to_dict() for learner in learners],
                "seeds": seeds.tolist(),
                "episodes": episodes,
                "resample": resample,
                "settings": vars(self.settings),
                "maze": self.maze.picture,
                "heading": self.maze.heading,
            }
        )
        path = None if self.folder is None else self.folder / f"{stage_name}.npz"
        if path is not None:
            stored = _stored_curves(path, key)
            if stored is not None:
                self._tell(stage, 1)
                return stored
        self._tell(stage, 0)
        batch = batch_of(
            learners,
            seeds,
            trials=TRIALS,
            episodes=episodes,
            maze=self.maze,
            settings=self.settings,
            resample=resample,
        )
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            self._tell(stage, done / (len(batch) * episodes))

        began = time.perf_counter()
        outcome = self.runner.run(batch, progress=advance)
        self._took(stage.name, time.perf_counter() - began)
        curves = outcome.best.reshape(len(learners), -1, episodes)
        if path is not None:
            write_array(path, curves=curves, key=np.array(key))
        self._tell(stage, 1)
        return curves


def _stored_seconds(path: Path) -> dict[str, float]:
    """Return the times in a file, as far as it is readable: they are for information alone."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): float(value) for name, value in stored.items() if np.isfinite(value)}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _stored_curves(path: Path, key: str) -> NDArray[np.int32] | None:
    """Return the curves in a file, if they are what would be run now."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            if str(stored["key"]) == key:
                curves: NDArray[np.int32] = stored["curves"]
                return curves
    except Exception:  # missing, cut short or garbled, in the many ways a zip file can be: run it again
        return None
    return None
