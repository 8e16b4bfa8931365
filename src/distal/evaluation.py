"""Evaluate a learner: several trials for each final position, all independent.

`learn` trains fresh networks with a rule, `climb` by hill climbing; both return
a `Result`.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal.checks import InputError, integer
from distal.draws import child_seeds
from distal.engines import Batch, Progress, Runner
from distal.learners import name_of
from distal.learners.hill_climbing import HillClimbing
from distal.maze import Maze, triple_t_maze
from distal.network import Weights
from distal.rule import Rule, find_rule
from distal.settings import Settings, SettingsDict

MAX_SEED = 2**64 - 1
MAX_POINTS = 2**33  # curves of 32 GiB
MAX_COUNT = 2**32 - 1  # episodes and trials are one word of the generator's counter


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of an evaluation.

    `best` (trials, episodes) is the lowest EP so far of every trial after every
    episode. Trials are ordered trial-major: row t · finals + g is trial t towards
    final position g.
    """

    best: NDArray[np.int32]
    learner: Rule | HillClimbing
    maze: Maze
    settings: Settings
    trials: int
    resample: int | None
    seed: int
    engine: str
    workers: int | None
    hidden: NDArray[np.float32] | None = None
    output: NDArray[np.float32] | None = None

    @property
    def episodes(self) -> int:
        """The number of episodes of each trial."""
        return len(self.best[0])

    @property
    def final(self) -> NDArray[np.int32]:
        """The best EP of each trial, (trials)."""
        return self.best[:, -1]

    @property
    def fitness(self) -> float:
        """The mean best EP over all trials; lower is better."""
        return float(self.final.mean())

    @property
    def standard_error(self) -> float | None:
        """The standard error of the fitness; None for a single trial."""
        n = len(self.best)
        return float(self.final.std(ddof=1)) / math.sqrt(n) if n > 1 else None

    @property
    def reached(self) -> float:
        """The share of trials that reached the goal: best EP below N_steps, as in the paper."""
        return float((self.final < self.settings.steps).mean())

    @property
    def checkpoints(self) -> dict[int, float]:
        """The mean best EP after 1, 10, 100, … episodes and after the last."""
        marks = [10**k for k in range(len(str(self.episodes))) if 10**k < self.episodes]
        return {mark: float(self.best[:, mark - 1].mean()) for mark in [*marks, self.episodes]}

    def weights(self, trial: int) -> Weights:
        """Return the weights of the first episode of a trial that had its best EP."""
        if self.hidden is None or self.output is None:
            raise InputError("no weights were kept; run again with keep_weights=True")
        return Weights(self.hidden[trial], self.output[trial])

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers and every setting that made them, ready for JSON."""
        learner = "rule" if isinstance(self.learner, Rule) else "hill_climbing"
        return {
            "fitness": self.fitness,
            "standard_error": self.standard_error,
            "reached": self.reached,
            "best": self.final.tolist(),
            "checkpoints": {str(mark): value for mark, value in self.checkpoints.items()},
            "episodes": self.episodes,
            "trials": self.trials,
            "resample": self.resample,
            "seed": self.seed,
            "engine": self.engine,
            "workers": self.workers,
            learner: self.learner.to_dict(),
            **asdict(self.settings),
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
        }

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        error = self.standard_error
        spread = f" ± {error:.2f} (standard error)" if error is not None else ""
        curve = ", ".join(f"{value:.2f} at {mark:,}" for mark, value in self.checkpoints.items())
        name = name_of(self.learner)
        return "\n".join(
            [
                f"{name}: {len(self.best)} trials of {self.episodes:,} episodes, seed {self.seed}",
                f"fitness  {self.fitness:.2f}{spread}",
                f"reached  {self.reached:.0%} of the trials",
                f"mean best EP  {curve}",
            ]
        )


def learn(
    rule: Rule | str | Path,
    *,
    episodes: int = 100,
    trials: int = 5,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    keep_weights: bool = False,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Result:
    """Train fresh networks with a rule and return how well they did.

    `rule` is a Rule, "paper:1" … "paper:15", "evolved:1" … "evolved:15" or the path
    of a rule file; `trials`
    counts per final position; `resample` draws fresh weights every so many
    episodes; further keywords are those of `Settings`. `progress` is called with
    the number of episodes run since its last call. `executor`, anything that follows
    `concurrent.futures.Executor`, lets its workers do the work; `workers` says how
    many there are, if it does not.
    """
    if not isinstance(rule, Rule | str | Path):
        raise InputError(
            f"rule is {rule!r}, expected a Rule, paper:1 to paper:15, evolved:1 to evolved:15 or a file"
        )
    learner = rule if isinstance(rule, Rule) else find_rule(str(rule))
    run = engines.runner(engine, workers, executor)
    return _evaluate(learner, episodes, trials, resample, seed, maze, run, keep_weights, progress, settings)


def climb(
    climber: HillClimbing,
    *,
    episodes: int = 100,
    trials: int = 5,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    keep_weights: bool = False,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Result:
    """Train fresh networks by hill climbing; arguments and result are those of `learn`."""
    if not isinstance(climber, HillClimbing):
        raise InputError(f"climber is {climber!r}, expected HillClimbing(sigma, alpha_h, alpha_o)")
    run = engines.runner(engine, workers, executor)
    return _evaluate(climber, episodes, trials, resample, seed, maze, run, keep_weights, progress, settings)


def batch_of(
    learners: Sequence[Rule | HillClimbing],
    seeds: NDArray[np.uint64],
    *,
    trials: int,
    episodes: int,
    maze: Maze,
    settings: Settings,
    resample: int | None = None,
    record: tuple[int, ...] | None = None,
) -> Batch:
    """Return the trials that evaluate several learners, each with a seed of its own (n).

    A learner has `trials` for every final position, trial-major; learners follow
    one another. A trial's seed is a function of its learner's seed, its own number
    and its goal alone.
    """
    finals, n = len(maze.finals), len(learners)
    trial, goal = np.divmod(np.arange(trials * finals), finals)
    parts = np.stack([trial, goal, np.zeros_like(trial)], axis=1)
    return Batch(
        learners=tuple(learners),
        learner=np.repeat(np.arange(n, dtype=np.int32), trials * finals),
        goal=np.tile(goal.astype(np.int32), n),
        seed=child_seeds(seeds[:, None], parts[None]).ravel(),
        maze=maze,
        settings=settings,
        episodes=episodes,
        resample=resample,
        record=record,
    )


def checked_maze(maze: Maze | None) -> Maze:
    """Return the maze, or the triple T-maze for None; refuse what is none."""
    maze = triple_t_maze() if maze is None else maze
    if not isinstance(maze, Maze):
        raise InputError(f"maze is {maze!r}, expected a Maze; read one with Maze.from_file")
    return maze


def checked_numbers(
    episodes: int, trials: int, seed: int, resample: int | None, most_episodes: int = MAX_COUNT
) -> tuple[int, int, int, int | None]:
    """Return the numbers that every evaluation has, as plain integers within their bounds."""
    return (
        integer("episodes", episodes, 1, most_episodes),
        integer("trials", trials, 1, MAX_COUNT),
        integer("seed", seed, 0, MAX_SEED),
        None if resample is None else integer("resample", resample, 1, MAX_COUNT),
    )


def _evaluate(
    learner: Rule | HillClimbing,
    episodes: int,
    trials: int,
    resample: int | None,
    seed: int,
    maze: Maze | None,
    run: Runner,
    keep_weights: bool,
    progress: Progress | None,
    settings: SettingsDict,
) -> Result:
    in_force = Settings.of(settings, inspect.signature(learn).parameters)
    maze = checked_maze(maze)
    episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample)
    finals = len(maze.finals)
    if trials * finals * episodes > MAX_POINTS:
        raise InputError(
            f"{trials * finals} trials of {episodes} episodes make {trials * finals * episodes} points of "
            f"curves, at most {MAX_POINTS} fit in one call; ask for fewer trials or episodes"
        )
    batch = batch_of(
        [learner],
        np.array([seed], np.uint64),
        trials=trials,
        episodes=episodes,
        maze=maze,
        settings=in_force,
        resample=resample,
    )
    outcome = run.run(batch, keep_weights, progress)
    return Result(
        best=outcome.best,
        learner=learner,
        maze=maze,
        settings=in_force,
        trials=trials,
        resample=resample,
        seed=seed,
        engine=run.engine,
        workers=run.workers,
        hidden=outcome.hidden,
        output=outcome.output,
    )
