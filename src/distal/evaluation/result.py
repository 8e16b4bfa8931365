"""The result of an evaluation: curves, weights and settings, with the result of chance."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import (
    InputError,
    counted,
    flag,
    integer,
)
from distal.base.colours import LIGHT
from distal.base.display import html_table, or_dash, short
from distal.base.drawing import axes_or_new, curve, curve_axes, kind_colour, literal
from distal.base.files import to_csv
from distal.base.frames import frame
from distal.base.frozen import Frozen, read_only
from distal.base.records import NotNegative, Record, Share
from distal.base.significance import SIGNIFICANT, paired, standard_error, with_error
from distal.engines import Runner
from distal.engines.batch import EPs, Trials
from distal.evaluation import result_file
from distal.evaluation.agent import MAX_NAME, Agent, Goals
from distal.evaluation.behaviour import Behaviour
from distal.evaluation.phases import Phases
from distal.evaluation.trials import Conditions
from distal.learners import Learner, name_of
from distal.learners.chance import Chance
from distal.model.maze import Maze
from distal.model.settings import Settings
from distal.networks import Network, Weights, network_for
from distal.tasks.sources import AnyTask
from distal.tasks.stored import StoredTask
from distal.tasks.switching import Switch
from distal.tasks.task import Task

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame


@dataclass(frozen=True)
class Difference(Record):
    """Two learners compared trial by trial.

    Attributes:
        mean: The mean difference of the best EP.
        standard_error: Its standard error; None for a single pair.
        p: From the two-sided paired t-test.
    """

    mean: float
    standard_error: NotNegative | None
    p: Share

    @property
    def decided(self) -> bool:
        """Whether there is a difference, at the paper's level of 0.05."""
        return self.p < SIGNIFICANT


@dataclass(frozen=True, eq=False)
class Result(Frozen):
    """The outcome of an evaluation.

    Trials are ordered trial-major: row t · goals + g is trial t towards goal g of the task.
    The goals of a maze are its final positions.

    Attributes:
        best: The lowest EP so far of every trial after every episode, (trials, episodes).
        learner: The learner.
        task: The task.
        settings: The settings.
        trials: Trials for each goal.
        resample: The number of episodes after which fresh weights were drawn; None if never.
        seed: The seed.
        engine: The engine that ran the trials.
        workers: The requested number of workers.
        ep: The EP of every episode, (trials, episodes), if it was kept.
        hidden: The best hidden weights of each trial, (trials, H, I + 1 + H + O), if they were kept.
        output: The best output weights of each trial, (trials, O, H + 1), if they were kept.
        chance: The same evaluation of chance, with the same trial seeds; None if it was left out.
        cut: The number of episodes that ran out of steps before the environment ended them; their EP
            covers only the steps until then.
        switch: The schedule of moving goals, if there is one. Then `best` is the lowest EP since
            the last move, and weights are the best of the last phase.
    """

    best: EPs
    learner: Learner
    task: Task[Any]
    settings: Settings
    trials: int
    resample: int | None
    seed: int
    engine: str
    workers: int | None
    ep: EPs | None = None
    hidden: NDArray[np.float32] | None = None
    output: NDArray[np.float32] | None = None
    chance: Result | None = None
    cut: int = 0
    switch: Switch | None = None

    def __repr__(self) -> str:
        fitness = with_error(self.fitness, self.standard_error)
        return f"Result({short(name_of(self.learner))}, {self._asked}: fitness {fitness}{self._beside})"

    def _repr_html_(self) -> str:
        both, gap = self.beside_chance, self.difference
        rows = [
            ["fitness: mean best EP", *(with_error(one.fitness, one.standard_error) for one in both)],
            *(
                [f"mean best EP after {mark:,}", *(f"{one.checkpoints[mark]:z.2f}" for one in both)]
                for mark in self.checkpoints
            ),
        ]
        if self.target is not None:
            rows.append(
                [f"{self._units} that reached the goal", *(or_dash(one.reached, ".1%") for one in both)]
            )
        names = ["± standard error", *(name_of(one.learner) for one in both)]
        if gap is not None:
            names.append("difference")
            rows = [[*row, with_error(gap.mean, gap.standard_error) * (row is rows[0])] for row in rows]
        title = f"{name_of(self.learner)}: {self._asked}, seed {self.seed}; lower EP is better"
        return html_table(title, names, rows)

    @property
    def beside_chance(self) -> list[Result]:
        """The result, and chance if it is there."""
        return [self] if self.chance is None else [self, self.chance]

    @property
    def size(self) -> str:
        """The numbers of trials and episodes in words."""
        return f"{counted(len(self.best), 'trial')} of {counted(self.episodes, 'episode')}"

    @property
    def _asked(self) -> str:
        return self.size + ("" if self.switch is None else f", goals move {self.switch}")

    @property
    def _units(self) -> str:
        """The word for the parts that are judged one by one."""
        return "trials" if self.switch is None else "phases"

    @property
    def _beside(self) -> str:
        if self.chance is not None:
            return f", chance {self.chance.fitness:z.2f}"
        return "" if self.learner.kind == Chance.kind else ", chance left out"

    @property
    def maze(self) -> Maze | None:
        """The maze; None if the task is another."""
        return self.task.maze

    @property
    def episodes(self) -> int:
        """The number of episodes of each trial."""
        return len(self.best[0])

    @property
    def final(self) -> EPs:
        """The best EP of each trial, (trials); where goals moved, the mean over its phases."""
        if self.switch is None:
            return self.best[:, -1]
        means: EPs = self.best[:, self.switch.ends(self.episodes)].mean(axis=1)
        return means

    @cached_property
    def goals(self) -> NDArray[np.int32]:
        """The goal of each trial in each phase, by number, (trials, phases); one phase, if goals stay."""
        return cast(NDArray[np.int32], read_only(self.conditions.batch([self.learner]).goals))

    @cached_property
    def seeds(self) -> NDArray[np.uint64]:
        """The seed of each trial, (trials): all of its random numbers follow from it."""
        return cast(NDArray[np.uint64], read_only(self.conditions.batch([self.learner]).seed))

    @property
    def conditions(self) -> Conditions:
        """The conditions of the evaluation."""
        return Conditions(
            self.task, self.settings, self.episodes, self.trials, self.resample, self.seed, self.switch
        )

    @cached_property
    def phases(self) -> Phases | None:
        """The speed of finding each new goal, and the memory of old ones; None if goals did not move."""
        return None if self.switch is None else Phases.of(self.best, self.goals, self.switch, self.target)

    @property
    def target(self) -> float | None:
        """The EP at or below which the goal counts as reached; None if the task has none."""
        return self.task.target(self.settings)

    @property
    def fitness(self) -> float:
        """The mean best EP over all trials; lower is better."""
        return float(self.final.mean())

    @property
    def standard_error(self) -> float | None:
        """The standard error of the fitness; None for a single trial."""
        return standard_error(self.final) if len(self.final) > 1 else None

    @property
    def reached(self) -> float | None:
        """The share of trials that reached the goal: in a maze, best EP below N_steps, as in the paper.

        Where goals moved, the share of all phases in which their goal was reached.
        """
        if self.target is None:
            return None
        ends = [-1] if self.switch is None else self.switch.ends(self.episodes)
        return float((self.best[:, ends] <= self.target).mean())

    @property
    def chance_fitness(self) -> float | None:
        """The fitness of chance; None if it was left out."""
        return None if self.chance is None else self.chance.fitness

    @cached_property
    def difference(self) -> Difference | None:
        """The learner minus chance, trial by trial; None if chance was left out."""
        if self.chance is None:
            return None
        pairs = self.final - self.chance.final
        p = paired(self.final, self.chance.final)
        return Difference(float(pairs.mean()), standard_error(pairs) if len(pairs) > 1 else None, p)

    @cached_property
    def behaviour(self) -> Behaviour | None:
        """A summary of all episodes; None unless `ep` was kept."""
        phase = None if self.switch is None else self.switch.every
        return None if self.ep is None else Behaviour.of(self.ep, phase=phase, target=self.target)

    @property
    def shortest(self) -> float | None:
        """The mean length of the shortest paths to the goals of all trials; None outside mazes."""
        if self.maze is None:
            return None
        return float(np.array(self.maze.start_distances)[self.goals].mean())

    @cached_property
    def checkpoints(self) -> dict[int, float]:
        """The mean best EP after 1, 10, 100, … episodes and after the last; or of each phase, by its end."""
        if self.switch is not None:
            ends = self.switch.ends(self.episodes)
            return dict(zip((ends + 1).tolist(), self.best[:, ends].mean(axis=0).tolist(), strict=True))
        marks = [10**k for k in range(len(str(self.episodes))) if 10**k < self.episodes]
        return {mark: float(self.best[:, mark - 1].mean()) for mark in [*marks, self.episodes]}

    def weights(self, trial: int) -> Weights:
        """Return the weights of the first episode with the best EP of a trial, or of its last phase."""
        if self.hidden is None or self.output is None:
            raise InputError("no weights were kept; run again with keep_weights=True")
        number = integer("trial", trial, 0, len(self.hidden) - 1)
        return self.network.weights(self.hidden[number], self.output[number])

    @property
    def network(self) -> Network:
        """The network that was trained, without weights."""
        return network_for(self.settings, self.task.inputs, self.task.outputs, self.learner.numbers)

    def _goals(self, trained: int) -> Goals | None:
        """Return the goals of the task for an agent, where there are several in its environment."""
        task = self.task
        if len(task.goals) == 1 or task.resets is None:
            return None
        return Goals(trained, tuple(task.goals), tuple(task.resets))

    def agent(self, trial: int | None = None) -> Agent:
        """Return the best network of a trial as an agent that acts in an environment.

        With the same inputs, its first episode is the trial's, even if actions are drawn.

        Args:
            trial: Which trial, from 0; the first with the lowest EP if left out. Where goals
                moved, EPs of the last phase count, and the agent is the best of that phase.

        Raises:
            InputError: If no weights were kept, there is no such trial, the result was loaded
                without its task and needs it, or its learner changes the weights within an
                episode, too, which an agent does not.
        """
        if isinstance(self.task, StoredTask) and not self.task.senses_bits and self.hidden is not None:
            why = self.task.unmade or f"{self.task.name} is only described here"
            raise InputError(
                f"an agent needs its task: {why}; Result.load(path, task=…) takes the task itself"
            )
        if self.learner.within:
            raise InputError(
                f"learner is of kind {self.learner.kind}, which changes weights within an episode, and the "
                "weights of an agent are fixed; use a PlasticNetwork"
            )
        chosen = int(self.best[:, -1].argmin()) if trial is None else trial
        last = 0 if self.switch is None else (self.episodes - 1) // self.switch.every * self.switch.every
        weights, learner = self.weights(chosen), self.learner
        return Agent(
            weights,
            self.network,
            encoder=self.task.encoder,
            first_action=self.task.first_action,
            actions=self.task.acting,
            goals=self._goals(int(self.goals[chosen, -1])),
            name=f"{name_of(learner)}, trial {chosen}"[:MAX_NAME],
            seed=int(self.seeds[chosen]),
            episode=last + int(self.best[chosen, last:].argmin()),
        )

    def to_dict(self, curves: bool = False) -> dict[str, Any]:
        """Return the numbers and every setting, ready for JSON.

        With `curves`, also the best EP so far, and the EP if it was kept, of every
        trial and episode: all that `from_dict` needs.
        """
        return result_file.to_dict(self, flag("curves", curves))

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Read the data of `to_dict(curves=True)`.

        Weights are not in it. A task other than a maze is only described: it can be shown, not run.
        """
        return result_file.from_dict(cls, data)

    def save(self, path: str | Path) -> None:
        """Write the curves, the weights and all settings to an NPZ file, which `load` reads.

        Args:
            path: The file; its name ends in .npz.

        Raises:
            InputError: If it cannot be written.
        """
        result_file.save(self, path)

    @classmethod
    def load(cls, path: str | Path, task: AnyTask = None) -> Self:
        """Read a result from a file written by `save`, with the same numbers.

        A task that the file can rebuild, such as an environment by its id, is rebuilt; any other is
        only described, unless you pass it. A description is enough for all numbers; an agent needs
        the task itself if the task has observations of its own.

        Args:
            path: The file.
            task: The task again, if it was made in Python.

        Raises:
            InputError: If the file cannot be read, is damaged, is not a result, or belongs to
                another task.
        """
        return result_file.load(cls, path, task)

    def to_csv(self) -> str:
        """Return every episode of every trial as a row: its EP and the best so far, and chance's."""
        return "".join(self.csv_pieces())

    def csv_pieces(self) -> Iterator[str]:
        """Yield the same table trial by trial; the whole of it is several times as large as the curves."""
        yield to_csv([tuple(episode_columns(self, []))])
        yield from trial_rows(partial(episode_columns, self), len(self.best))

    def to_frame(self) -> DataFrame:
        """Return the table of `to_csv` as a pandas DataFrame, one row for each trial and episode."""
        return frame(episode_columns(self, range(len(self.best))))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the mean best EP so far over the episodes, and chance, with 95% bands.

        A band is 1.96 standard errors wide on either side.

        Args:
            ax: Where to draw; on a new figure if left out.

        Returns:
            The axes, with `figure.savefig` to write them to a file.
        """
        on = axes_or_new(ax)
        for end in [] if self.switch is None else self.switch.ends(self.episodes)[:-1]:
            on.axvline(end + 1.5, color=LIGHT["line"], linewidth=1)  # the goal moves
        curve(on, self.best, literal(name_of(self.learner)), kind_colour(self.learner.kind))
        if self.chance is not None:
            curve(on, self.chance.best, "chance", LIGHT["chance"], style=":")
        curve_axes(on, self.episodes)
        return on

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        curve = ", ".join(f"{value:z.2f} at {mark:,}" for mark, value in self.checkpoints.items())
        lines = [
            f"{name_of(self.learner)}: {self._asked}, seed {self.seed}",
            f"fitness  {_with_error(self.fitness, self.standard_error)}",
        ]
        difference = self.difference
        if self.chance is not None and difference is not None:
            lines += [
                f"chance   {_with_error(self.chance.fitness, self.chance.standard_error)}",
                f"difference  {_with_error(difference.mean, difference.standard_error)}, paired",
            ]
        if self.reached is not None:
            lines.append(f"reached  {self.reached:.0%} of the {self._units}")
        lines.append(f"mean best EP{'' if self.switch is None else ' of the phase'}  {curve}")
        if self.cut:
            whole = counted(len(self.best) * self.episodes, "episode")
            lines.append(f"{self.cut:,} of {whole} cut off after {counted(self.settings.steps, 'step')}")
        return "\n".join(lines)


def result_of(conditions: Conditions, learner: Learner, runner: Runner, outcome: Trials) -> Result:
    """Return the result of a learner in some conditions, without chance; the runner ran its trials."""
    return Result(
        learner=learner, task=conditions.task, settings=conditions.settings, trials=conditions.trials,
        resample=conditions.resample, seed=conditions.seed, switch=conditions.switch,
        engine=runner.engine, workers=runner.workers, best=outcome.best, ep=outcome.ep,
        hidden=outcome.hidden, output=outcome.output, cut=outcome.cut,
    )  # fmt: skip


def episode_columns(result: Result, rows: Sequence[int]) -> dict[str, NDArray[Any]]:
    """Return the episodes of some trials, by their rows in `best`, as the columns of a table."""
    trial, goal = np.divmod(np.array(rows, np.int64), len(result.task.goals))
    names = np.array(result.task.goals, object)
    moved: dict[str, NDArray[Any]] = {}
    if result.switch is not None:
        phase = np.arange(result.episodes) // result.switch.every
        moved["phase"] = np.tile(phase + 1, len(rows))
        moved["goal_of_phase"] = names[result.goals[list(rows)][:, phase].ravel()]
    curves = {"ep": result.ep, "best": result.best}
    if result.chance is not None:
        curves |= {"chance_ep": result.chance.ep, "chance_best": result.chance.best}
    return {
        "trial": np.repeat(trial + 1, result.episodes),
        "goal" if result.maze is None else "final_position": np.repeat(names[goal], result.episodes),
        **moved,
        "episode": np.tile(np.arange(1, result.episodes + 1), len(rows)),
        **{name: eps[list(rows)].ravel() for name, eps in curves.items() if eps is not None},
    }


def trial_rows(columns: Callable[[Sequence[int]], dict[str, NDArray[Any]]], trials: int) -> Iterator[str]:
    """Yield the rows of each trial as CSV; `columns` returns the columns of some trials."""
    for row in range(trials):
        yield to_csv(list(zip(*(one.tolist() for one in columns([row]).values()), strict=True)))


def _with_error(mean: float, error: float | None) -> str:
    return with_error(mean, error) + ("" if error is None else " (standard error)")
