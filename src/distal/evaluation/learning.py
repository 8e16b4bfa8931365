"""Evaluate a learner: several trials for each final position, all independent.

`learn` trains fresh networks with any learner, `climb` by hill climbing; both return
a `Result`, with chance beside it.
"""

from __future__ import annotations

import csv
import inspect
import io
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import engines
from distal.base import memory
from distal.base.checks import InputError, counted, flag, function, instance, integer
from distal.base.significance import SIGNIFICANT, paired, standard_error
from distal.engines import Batch, Progress, Runner
from distal.learners import Learner, chance_for, checked_learner, embedded, name_of
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seeds
from distal.model.maze import Maze, triple_t_maze
from distal.model.network import OUTPUTS, Weights, incoming
from distal.model.settings import MAX_STEPS, Settings, SettingsDict
from distal.tasks.task import Task
from distal.tasks.walk import MazeTask

KEPT = 0.5  # the share of the episodes after a first success from which on a learner keeps it


@dataclass(frozen=True, eq=False)
class Behaviour:
    """What happened in the episodes themselves; `best` shows only the best so far.

    An episode reached the goal if its EP is below N_steps, the paper's definition. (One
    that got there late, after a pit, does not count.)

    Attributes:
        first_reached: The first episode of each trial that reached the goal, from 1; 0 if none did.
        reached: The share of all episodes that reached it.
        retained: The share of the episodes after a trial's first success that reached it
            again; None if there are no such episodes.
        first_tenth: The mean EP of the first tenth of the episodes.
        last_tenth: The mean EP of the last tenth.
        reached_first_tenth: The share of the first tenth that reached the goal.
        reached_last_tenth: The share of the last tenth that reached it.
    """

    first_reached: NDArray[np.int64]
    reached: float
    retained: float | None
    first_tenth: float
    last_tenth: float
    reached_first_tenth: float
    reached_last_tenth: float

    @classmethod
    def of(cls, ep: NDArray[np.int32], steps: int) -> Behaviour:
        """Sum up the EPs (trials, episodes) of trials with this many steps per episode."""
        expected = "an array (trials, episodes) of numbers"
        numbers = instance("ep", ep, np.ndarray, expected)
        if numbers.ndim != 2 or not numbers.size or numbers.dtype.kind not in "iuf":
            raise InputError(
                f"ep has the shape {numbers.shape} and the type {numbers.dtype}, expected {expected}"
            )
        reached = ep < integer("steps", steps, 1, MAX_STEPS)
        first = np.where(reached.any(axis=1), reached.argmax(axis=1) + 1, 0)
        found = int((first > 0).sum())
        # Counted without another array of this size: all that reached it but the firsts came after one.
        after = found * ep.shape[1] - int(first.sum())
        tenth = max(1, ep.shape[1] // 10)
        return cls(
            first_reached=first,
            reached=float(reached.mean()),
            retained=(int(reached.sum()) - found) / after if after else None,
            first_tenth=float(ep[:, :tenth].mean()),
            last_tenth=float(ep[:, -tenth:].mean()),
            reached_first_tenth=float(reached[:, :tenth].mean()),
            reached_last_tenth=float(reached[:, -tenth:].mean()),
        )

    @property
    def keeps(self) -> bool | None:
        """Whether the learner keeps what it found: `retained` is at least a half."""
        return None if self.retained is None else self.retained >= KEPT

    @property
    def median_first(self) -> float | None:
        """The median of the first episodes that reached the goal, in trials that did."""
        found = self.first_reached[self.first_reached > 0]
        return float(np.median(found)) if len(found) else None

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers, ready for JSON."""
        return {
            "first_reached": self.first_reached.tolist(),
            "median_first_reached": self.median_first,
            "episodes_reached": self.reached,
            "episodes_reached_first_tenth": self.reached_first_tenth,
            "episodes_reached_last_tenth": self.reached_last_tenth,
            "retained": self.retained,
            "mean_ep_first_tenth": self.first_tenth,
            "mean_ep_last_tenth": self.last_tenth,
        }


@dataclass(frozen=True)
class Difference:
    """Two learners compared trial by trial.

    Attributes:
        mean: The mean difference of the best EP.
        standard_error: Its standard error; None for a single pair.
        p: From the two-sided paired t-test.
    """

    mean: float
    standard_error: float | None
    p: float

    @property
    def decided(self) -> bool:
        """Whether there is a difference, at the paper's level of 0.05."""
        return self.p < SIGNIFICANT


@dataclass(frozen=True, eq=False)
class Result:
    """The outcome of an evaluation.

    Trials are ordered trial-major: row t · finals + g is trial t towards final position g.

    Attributes:
        best: The lowest EP so far of every trial after every episode, (trials, episodes).
        learner: The learner.
        maze: The maze.
        settings: The settings.
        trials: Trials for each final position.
        resample: After how many episodes fresh weights were drawn; None if never.
        seed: The seed.
        engine: The engine that ran the trials.
        workers: The number of workers that was asked for.
        ep: The EP of every episode, (trials, episodes), if it was kept.
        hidden: The best hidden weights of each trial, (trials, H, 4 + H + 4), if they were kept.
        output: The best output weights of each trial, (trials, 4, H + 1), if they were kept.
        chance: The same evaluation by chance, with the same trial seeds, unless it was left out.
    """

    best: NDArray[np.int32]
    learner: Learner
    maze: Maze
    settings: Settings
    trials: int
    resample: int | None
    seed: int
    engine: str
    workers: int | None
    ep: NDArray[np.int32] | None = None
    hidden: NDArray[np.float32] | None = None
    output: NDArray[np.float32] | None = None
    chance: Result | None = None

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
        return standard_error(self.final) if len(self.final) > 1 else None

    @property
    def reached(self) -> float:
        """The share of trials that reached the goal: best EP below N_steps, as in the paper."""
        return float((self.final < self.settings.steps).mean())

    @property
    def difference(self) -> Difference | None:
        """The learner minus chance, trial by trial; None if chance was left out."""
        if self.chance is None:
            return None
        pairs = self.final - self.chance.final
        p = paired(self.final, self.chance.final)
        return Difference(float(pairs.mean()), standard_error(pairs) if len(pairs) > 1 else None, p)

    @property
    def behaviour(self) -> Behaviour | None:
        """What happened in the episodes themselves; None unless `ep` was kept."""
        return None if self.ep is None else Behaviour.of(self.ep, self.settings.steps)

    @property
    def checkpoints(self) -> dict[int, float]:
        """The mean best EP after 1, 10, 100, … episodes and after the last."""
        marks = [10**k for k in range(len(str(self.episodes))) if 10**k < self.episodes]
        return {mark: float(self.best[:, mark - 1].mean()) for mark in [*marks, self.episodes]}

    def weights(self, trial: int) -> Weights:
        """Return the weights of the first episode of a trial that had its best EP."""
        if self.hidden is None or self.output is None:
            raise InputError("no weights were kept; run again with keep_weights=True")
        number = integer("trial", trial, 0, len(self.hidden) - 1)
        return Weights(self.hidden[number], self.output[number])

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the numbers and every setting that made them, ready for JSON.

        With `curves`, also the best EP so far, and the EP if it was kept, of every
        trial and episode.
        """
        own = self._numbers(flag("curves", curves))
        difference = self.difference
        if self.chance is not None and difference is not None:
            own["chance"] = {
                **self.chance.learner.numbers,
                **self.chance._numbers(curves),
                "difference": difference.mean,
                "difference_standard_error": difference.standard_error,
                "p": difference.p,
            }
        return {
            **own,
            "episodes": self.episodes,
            "trials": self.trials,
            "resample": self.resample,
            "seed": self.seed,
            "engine": self.engine,
            "workers": self.workers,
            "learner": self.learner.kind,
            self.learner.key: embedded(self.learner),
            **asdict(self.settings),
            "maze": list(self.maze.picture),
            "heading": self.maze.heading,
        }

    def _numbers(self, curves: bool) -> dict[str, Any]:
        behaviour = self.behaviour
        numbers: dict[str, Any] = {
            "fitness": self.fitness,
            "standard_error": self.standard_error,
            "reached": self.reached,
            "best": self.final.tolist(),
            "checkpoints": {str(mark): value for mark, value in self.checkpoints.items()},
            "behaviour": None if behaviour is None else behaviour.to_dict(),
        }
        if curves:
            numbers["curves"] = {
                "best": self.best.tolist(),
                "ep": None if self.ep is None else self.ep.tolist(),
            }
        return numbers

    def to_csv(self) -> str:
        """Return every episode of every trial as a row: its EP and the best so far, chance's beside them."""
        return "".join(self.csv_pieces())

    def csv_pieces(self) -> Iterator[str]:
        """Yield the same table trial by trial; the whole of it is several times as large as the curves."""
        columns: dict[str, NDArray[np.int32] | None] = {"ep": self.ep, "best": self.best}
        if self.chance is not None:
            columns |= {"chance_ep": self.chance.ep, "chance_best": self.chance.best}
        kept = {name: values for name, values in columns.items() if values is not None}
        yield _csv([("trial", "final_position", "episode", *kept)])
        numbers = range(1, self.episodes + 1)
        for row in range(len(self.best)):
            trial, goal = divmod(row, len(self.maze.finals))
            symbol = self.maze.symbols[goal]
            values = zip(numbers, *(array[row].tolist() for array in kept.values()), strict=True)
            yield _csv((trial + 1, symbol, *each) for each in values)

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        curve = ", ".join(f"{value:.2f} at {mark:,}" for mark, value in self.checkpoints.items())
        asked = f"{counted(len(self.best), 'trial')} of {counted(self.episodes, 'episode')}"
        lines = [
            f"{name_of(self.learner)}: {asked}, seed {self.seed}",
            f"fitness  {_with_error(self.fitness, self.standard_error)}",
        ]
        difference = self.difference
        if self.chance is not None and difference is not None:
            lines += [
                f"chance   {_with_error(self.chance.fitness, self.chance.standard_error)}",
                f"difference  {_with_error(difference.mean, difference.standard_error)}, paired",
            ]
        return "\n".join([*lines, f"reached  {self.reached:.0%} of the trials", f"mean best EP  {curve}"])


def _csv(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO()
    csv.writer(text).writerows(rows)
    return text.getvalue()


def _with_error(mean: float, error: float | None) -> str:
    return f"{mean:.2f}" + (f" ± {error:.2f} (standard error)" if error is not None else "")


def learn(
    learner: Learner | str | Path,
    *,
    episodes: int = 100,
    trials: int = 5,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner = engines.DEFAULT,
    workers: int | None = None,
    executor: Executor | None = None,
    keep_ep: bool = False,
    keep_weights: bool = False,
    chance: bool = True,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> Result:
    """Train fresh networks and return how well they did, with chance beside it.

    Args:
        learner: A Rule, HillClimbing or Chance, one of another registered kind, or a name:
            "paper:1" … "paper:15", "evolved:1" … "evolved:15", "hc", "chance", or the path of
            a learner's file.
        episodes: Episodes in each trial.
        trials: Trials for each final position.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers.
        maze: The maze; the triple T-maze if left out.
        engine: "cpu", "gpu", "reference" or "auto"; all give identical results. Or a runner that
            `distal.engines.runner` made of an engine, workers and an executor.
        workers: Threads of the cpu engine, or the executor's workers if it does not say how many it has.
        executor: Anything that follows `concurrent.futures.Executor`; its workers run the trials.
        keep_ep: Keep the EP of every episode, as `Result.ep`.
        keep_weights: Keep the weights of the first episode that had the best EP.
        chance: Evaluate chance too, with the same settings and trial seeds, as `Result.chance`.
        progress: Called with the number of episodes run since its last call.
        **settings: As in `Settings`.

    Returns:
        The best EP so far of every trial after every episode, and what follows from it.

    Raises:
        InputError: If an argument is wrong, or the curves would not fit in memory.
    """
    learner = checked_learner(learner)
    in_force = Settings.of(settings, tuple(inspect.signature(learn).parameters))
    keep_ep, keep_weights = flag("keep_ep", keep_ep), flag("keep_weights", keep_weights)
    chance = flag("chance", chance) and learner.kind != Chance.kind
    function("progress", progress)
    maze = checked_maze(maze)
    episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample)
    run = engines.runner(engine, workers, executor)
    _check_memory(trials * len(maze.finals), episodes, in_force, keep_ep, keep_weights, chance)

    def evaluate(one: Learner, keep_weights: bool = False) -> Result:
        batch = batch_of(
            [one], np.array([seed], np.uint64), trials=trials, episodes=episodes, task=MazeTask(maze),
            settings=in_force, resample=resample,
        )  # fmt: skip
        suited = run.suited(batch)
        outcome = suited.run(batch, keep_weights=keep_weights, keep_ep=keep_ep, progress=progress)
        return Result(
            best=outcome.best,
            learner=one,
            maze=maze,
            settings=in_force,
            trials=trials,
            resample=resample,
            seed=seed,
            engine=suited.engine,
            workers=suited.workers,
            ep=outcome.ep,
            hidden=outcome.hidden,
            output=outcome.output,
        )

    result = evaluate(learner, keep_weights)
    return replace(result, chance=evaluate(chance_for(learner))) if chance else result


def climb(climber: HillClimbing, **options: Any) -> Result:
    """Train fresh networks by hill climbing; options and result are those of `learn`."""
    return learn(
        instance("climber", climber, HillClimbing, "HillClimbing(sigma, alpha_h, alpha_o)"), **options
    )


def batch_of(
    learners: Sequence[Learner],
    seeds: NDArray[np.uint64],
    *,
    trials: int,
    episodes: int,
    task: Task[Any],
    settings: Settings,
    resample: int | None = None,
    record: tuple[int, ...] | None = None,
) -> Batch:
    """Return the trials that evaluate several learners, each with its own seed (n).

    Learners follow one another, each with its trials, trial-major. A trial's seed is a
    function of its learner's seed, its own number and its goal.

    Args:
        learners: The learners, all of one kind.
        seeds: The seed of each learner.
        trials: Trials for each goal of the task.
        episodes: Episodes in each trial.
        task: What is to be learned.
        settings: The network and the readings.
        resample: Draw fresh weights after this many episodes.
        record: As in `Batch`.

    Returns:
        The batch.

    Raises:
        InputError: If the batch would not be valid.
    """
    goals, n = len(task.goals), len(learners)
    trial, goal = np.divmod(np.arange(trials * goals), goals)
    parts = np.stack([trial, goal, np.zeros_like(trial)], axis=1)
    return Batch(
        learners=tuple(learners),
        learner=np.repeat(np.arange(n, dtype=np.int32), trials * goals),
        goal=np.tile(goal.astype(np.int32), n),
        seed=child_seeds(seeds[:, None], parts[None]).ravel(),
        task=task,
        settings=settings,
        episodes=episodes,
        resample=resample,
        record=record,
    )


def checked_maze(maze: Maze | None) -> Maze:
    """Return the maze, or the triple T-maze for None; refuse anything else."""
    if maze is None:
        return triple_t_maze()
    return instance("maze", maze, Maze, "a Maze; read one with Maze.from_file")


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


def _check_memory(
    trials: int, episodes: int, settings: Settings, keep_ep: bool, keep_weights: bool, chance: bool
) -> None:
    """Refuse an evaluation that the machine's free memory does not hold."""
    given = {"chance": chance, "keep_ep": keep_ep, "keep_weights": keep_weights}
    less = " or ".join(f"{name}=False" for name, value in given.items() if value)
    hidden = settings.hidden
    memory.evaluation(
        trials,
        episodes,
        curves=(1 + keep_ep) * (1 + chance),
        weights=keep_weights * (hidden * incoming(hidden) + OUTPUTS * (hidden + 1)),
        instead="ask for fewer trials or episodes" + (f", pass {less}" if less else ""),
    ).check()
