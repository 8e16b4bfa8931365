"""A trial as a page: one HTML file in which every step of learning can be looked at.

The page holds what decides the trial and the EP of every episode as the reference
engine computed it. Its JavaScript (`page/simulate.js`) computes the trial again, bit
for bit, and says where an EP differs. So a page is small however long the trial is.
A learner of a kind that the script has no code for is recorded instead (`recording`), and so is
every learner in a task that is no maze; `page/recording.js` plays what happened. Beside it
stands chance: what the best of as many random networks comes to on average. Where the goal moves,
every phase has its own goal, and the best so far begins anew in each.
"""

from __future__ import annotations

import html
import inspect
import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, counted, function, integer, path, shown, straight
from distal.base.colours import DARK, LIGHT, css
from distal.base.files import PAGE, check_target, write_text
from distal.base.frozen import Frozen
from distal.engines import Batch, Progress, Runner, reference
from distal.engines.batch import best_so_far, named_in_errors
from distal.engines.numbers import COMPILED_INPUTS, COMPILED_OUTPUTS
from distal.evaluation.trials import batch_of, checked_numbers, chosen_task, settings_in
from distal.evaluation.usage import LAYERS, Tally
from distal.learners import Learner, chance_for, checked_learner, embedded, name_of
from distal.learners.chance import Chance
from distal.learners.dsp import ROWS, Rule
from distal.learners.hill_climbing import HillClimbing
from distal.model.draws import MAX_SEED
from distal.model.maze import Maze
from distal.model.settings import READINGS, Settings, SettingsDict, default
from distal.show.recording import MAX_BYTES, Recording, episode_bytes, states_of
from distal.tasks.picture import Picture
from distal.tasks.sources import AnyTask
from distal.tasks.switching import Switch, switch_of
from distal.tasks.table import Table
from distal.tasks.task import Task

_DEFAULT_GOAL = "3"
MAX_EPISODES = 100_000  # every EP of them is in the page
_CHANCE_TRIALS = 200
_CHANCE_COST = 0.001  # of an episode of the cpu engine, in episodes of the reference engine: about
COMPUTED: tuple[type[Learner], ...] = (Rule, HillClimbing, Chance)  # the kinds that page/simulate.js knows
VISIBLE = 0.5  # EP in a maze: less than a pixel of the page's curve
_MOST_NAMED = 40  # goals in an error
_PIXELS = 200  # of the height of a curve, at most
# An escaped backslash, or an escaped character that turns the direction of writing round.
_TURNING = re.compile(r"\\(\\|u(?:061c|200[ef]|202[a-e]|206[6-9]))")


@dataclass(frozen=True, eq=False)
class Watched(Frozen):
    """A trial of one learner, or of two with the same goal and seed.

    Attributes:
        names: The names of the learners.
        batches: The trial of each learner, as a batch of one trial.
        seed: The seed of the evaluation, as in `learn`; the trial is its first one towards
            the goal.
        eps: The EP of every episode, (learners, episodes).
        chance: The best EP so far by chance, (episodes): the mean of its first 200 trials
            towards the goal; where it moves, towards those of the trial, each in its phase.
        recordings: What happened in the trial of each learner that the page cannot compute;
            None for the others.
        usage: How often each row was used in the trial of each rule that is recorded, (32), counted
            as `inspect` does; None for the others, which the page counts or which have no rows.
    """

    names: tuple[str, ...]
    batches: tuple[Batch, ...]
    seed: int
    eps: NDArray[np.int32]
    chance: NDArray[np.float64]
    recordings: tuple[Recording | None, ...]
    usage: tuple[NDArray[np.int64] | None, ...]

    @property
    def task(self) -> Task[Any]:
        """What is to be learned."""
        return self.batches[0].task

    @property
    def goal(self) -> str:
        """What the goal is called; in a maze, the symbol of the final position. That of the first phase."""
        return self.goals[0]

    @property
    def goals(self) -> tuple[str, ...]:
        """What the goal of each phase is called; there is one phase, if the goal does not move."""
        return tuple(str(self.task.goals[goal]) for goal in self.batches[0].goals[0])

    @property
    def title(self) -> str:
        """Who learns what."""
        names = " against ".join(self.names)
        moves = len(self.goals) > 1
        return f"{names}, learning {self.task.lesson(None if moves else self.goal)}"

    def to_dict(self) -> dict[str, Any]:
        """Return a summary of the trial, ready for JSON.

        Where the goal moves, best EPs are those of the last phase, and `phases` has those of all.
        """
        batch = self.batches[0]
        last = batch.phase * (len(self.goals) - 1)
        return {
            "goal": self.goal,
            "seed": self.seed,
            "trial_seed": int(batch.seed[0]),
            "episodes": batch.episodes,
            "resample": batch.resample,
            **({} if batch.switch is None else {"switch": batch.switch.to_dict(), "phases": self.phases}),
            "learners": [
                {
                    "name": name,
                    "first_ep": int(eps[0]),
                    "best_ep": int(eps[last:].min()),
                    "best_episode": last + int(eps[last:].argmin()) + 1,
                    "last_ep": int(eps[-1]),
                    "mean_ep": float(eps.mean()),
                }
                for name, eps in zip(self.names, self.eps, strict=True)
            ],
            "chance": {"mean_best_ep": float(self.chance[-1]), "trials": _CHANCE_TRIALS},
            **batch.settings.to_dict(),
            **self.task.fields(),
        }

    @property
    def phases(self) -> list[dict[str, Any]]:
        """The goal of each phase, its first episode, the best EP of each learner in it, and chance's mean."""
        first = np.arange(len(self.goals)) * self.batches[0].phase
        last = np.append(first[1:], self.eps.shape[1]) - 1
        best = best_so_far(self.eps, self.batches[0].phase)[:, last]
        return [
            {"goal": goal, "first_episode": start + 1, "best_ep": eps, "chance": chance}
            for goal, start, eps, chance in zip(
                self.goals, first.tolist(), best.T.tolist(), self.chance[last].tolist(), strict=True
            )
        ]

    def page_data(self) -> dict[str, Any]:
        """Return what the page holds: all that decides the trial, and the EPs to compare with.

        Of a learner that the page cannot compute it holds a recording.
        """
        batch = self.batches[0]
        seed = int(batch.seed[0])
        return {
            "title": self.title,
            "phases": {"every": batch.phase, "goals": self.goals},
            "evaluation_seed": str(self.seed),  # 64 bits are more than a JavaScript number holds
            "seed": [seed & 0xFFFFFFFF, seed >> 32],
            "resample": batch.resample,
            "settings": batch.settings.to_dict(),
            "defaults": {name: default(name) for name in READINGS},
            **({"task": self._table_data()} if self.task.maze is None else self.task.fields()),
            "learners": [
                {
                    "kind": learner.kind, **_content(learner, recording, usage), "name": name,
                    "eps": eps.tolist(),
                }
                for name, learner, recording, usage, eps in zip(
                    self.names,
                    (batch.learners[0] for batch in self.batches),
                    self.recordings,
                    self.usage,
                    self.eps,
                    strict=True,
                )
            ],
            "chance": {"trials": _CHANCE_TRIALS, "curve": self._chance_points()},
        }  # fmt: skip

    def _chance_points(self) -> list[tuple[int, float]]:
        """Return (episode, from 0, and value) of a line through chance, which falls in each phase."""
        phase = self.batches[0].phase
        return [
            (first + episode, value)
            for first in range(0, len(self.chance), phase)
            for episode, value in visible_points(self.chance[first : first + phase], self._visible)
        ]

    @property
    def _visible(self) -> float:
        """The difference between two EPs that can just be seen in the curve."""
        if self.task.maze is not None:
            return VISIBLE
        low, high = (float(find([find(self.eps), find(self.chance)])) for find in (np.min, np.max))
        return (high - low) / _PIXELS

    def _table_data(self) -> dict[str, Any]:
        """Return what the page says of a task that is no maze, and where its states lie."""
        batch, task = self.batches[0], self.task
        table = _table_of(batch)
        starts = {str(task.goals[goal]): int(table.starts[goal]) for goal in np.unique(batch.goals)}
        picture, encoder = task.picture, task.encoder
        return {
            "name": task.name,
            "states": len(table.following),
            "starts": starts,  # by goal
            "target": task.target(batch.settings),
            "encoder": None if encoder is None else encoder.word,
            "bits": task.inputs,
            "actions": task.actions,
            "picture": None if picture is None else self._picture_data(picture, starts),
        }

    def _picture_data(self, picture: Picture, starts: dict[str, int]) -> dict[str, Any]:
        """Return the grid of each goal, and where everything is in the states that were visited."""
        recorded = (recording for recording in self.recordings if recording is not None)
        visited = sorted(set(starts.values()).union(*(recording.visited for recording in recorded)))
        spots = {state: picture.spot(state)[:3] for state in visited}
        return {"rows": {goal: picture.rows_from(start) for goal, start in starts.items()}, "spots": spots}

    def to_html(self) -> str:
        """Return the page."""
        return _filled(
            _asset("watch.html"),
            {
                "title": html.escape(straight(self.title)),
                "style": _filled(_asset("watch.css"), {"light": css(LIGHT), "dark": css(DARK)}),
                "data": _for_script(self.page_data()),
                "simulate": _asset("simulate.js"),
                "recording": _asset("recording.js"),
                "watch": _asset("watch.js"),
            },
        )


def trials(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    *,
    goal: str | int | None = None,
    episodes: int = 1_000,
    resample: int | None = None,
    switch: int | Switch | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    task: AnyTask = None,
    **settings: Unpack[SettingsDict],
) -> tuple[Batch, ...]:
    """Return the trial of a learner, and the same trial of another one, as batches of one trial each.

    The trial is the first one that `learn` runs towards this goal.

    Args:
        learner: A learner, or what `find_learner` takes.
        against: Another learner, to set beside it.
        goal: What the goal is called, in a maze the symbol of a final position; "3" if left out,
            or the first if there is no 3. Where it moves, that of the first phase.
        episodes: Episodes in the trial.
        resample: Draw fresh weights after this many episodes.
        switch: Move the goal after every so many episodes, or as a `Switch` says.
        seed: The seed of the evaluation, as in `learn`.
        maze: Short for `task=maze`.
        task: What is to be learned, as in `learn`: a maze, a table, or an environment that is a
            table; the triple T-maze if left out.
        **settings: As in `Settings`.

    Returns:
        One batch, or two.

    Raises:
        InputError: If an argument is wrong, or the task is no table.
    """
    Settings.of(settings, (*inspect.signature(trials).parameters, "progress"))
    world = chosen_task(task, maze)
    in_force = settings_in(world, settings)
    _check_table(world, in_force)
    episodes, _, seed, resample = checked_numbers(episodes, 1, seed, resample, MAX_EPISODES)
    moving = switch_of(switch)
    batches = []
    both = (learner,) if against is None else (learner, against)
    for one in map(checked_learner, both):
        all_goals = batch_of(
            [one], np.array([seed], np.uint64), trials=1, episodes=episodes, task=world,
            settings=in_force, resample=resample, switch=moving,
        )  # fmt: skip
        number = _first_goal(goal, world, moving)
        batches.append(all_goals.part(number, number + 1))
    return tuple(batches)


def by_chance(trial: Batch, seed: int) -> Batch:
    """Return the trials by chance that a trial is compared with.

    They are the first 200 that `learn`, with this seed, runs towards the trial's goal.
    The first of them begins with the same weights as the trial itself. Where the goal moves, it
    is in each phase that of the trial, whatever their own seeds would draw.
    """
    goals = trial.goals[0].tolist()
    batch = batch_of(
        [chance_for(trial.learners[0])], np.array([seed], np.uint64), trials=_CHANCE_TRIALS,
        episodes=trial.episodes, task=trial.task, settings=trial.settings,
        switch=Switch(trial.phase, goals) if len(goals) > 1 else None,
    )  # fmt: skip
    towards = batch.goal == trial.goal[0]
    return replace(batch, learner=batch.learner[towards], goal=batch.goal[towards], seed=batch.seed[towards])


def visible_points(curve: NDArray[np.float64], visible: float = VISIBLE) -> list[tuple[int, float]]:
    """Return (episode, from 0, and value) where a falling curve has moved as far as can be seen.

    A line through these points is nowhere more than `visible` off.
    """
    points = [(0, float(curve[0]))]
    for episode, value in enumerate(curve.tolist()):
        if points[-1][1] - value >= max(visible, np.finfo(float).eps):
            before = episode - 1
            if before > points[-1][0]:
                points.append((before, float(curve[before])))
            points.append((episode, value))
    if points[-1][0] < len(curve) - 1:
        points.append((len(curve) - 1, float(curve[-1])))
    return [(episode, round(value, 4)) for episode, value in points]


def watch(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Watched:
    """Run a trial of one learner, or of two, with the reference engine, and chance beside it.

    Args:
        learner: A learner, or what `find_learner` takes.
        against: Another learner, to set beside it.
        seed: The seed of the evaluation, as in `learn`.
        progress: Called with the number of episodes run since its last call. They add up to
            those of the learners; the work for chance is shared out among them.
        **options: As in `trials`.

    Returns:
        The trial, and chance.

    Raises:
        InputError: If an argument is wrong, or the work, or a recording, would be too large.
    """
    function("progress", progress)
    batches = trials(learner, against, seed=seed, **options)
    check_page(batches)
    _check_memory(batches)
    seed = integer("seed", seed, 0, MAX_SEED)
    chance = by_chance(batches[0], seed)
    eps = np.empty((len(batches), batches[0].episodes), np.int32)
    report = _shared(progress, eps.size, eps.size + _CHANCE_COST * len(chance) * chance.episodes)
    random = Runner("cpu").run(chance, progress=lambda episodes: report(_CHANCE_COST * episodes))
    recordings = tuple(None if _is_computed(batch) else Recording(_layers(batch)) for batch in batches)
    tallies = tuple(map(_tally, batches))
    for curve, batch, recording, tally in zip(eps, batches, recordings, tallies, strict=True):
        table, goals = _table_of(batch), batch.goals[0].tolist()
        with named_in_errors(batch, 0):
            for k, episode in enumerate(reference.episodes(batch, 0)):
                curve[k] = episode.ep
                if recording is not None:
                    recording.add(episode, states_of(table, goals[k // batch.phase], episode.actions))
                if tally is not None:
                    tally.add(episode)
                report(1)
    names = [name_of(batch.learners[0]) for batch in batches]
    if len(set(names)) < len(names):  # two climbers, or a rule beside itself
        names = [f"{name} ({k})" for k, name in enumerate(names, start=1)]
    usage = tuple(None if tally is None else tally.counts.sum(axis=(0, 1)) for tally in tallies)
    return Watched(tuple(names), batches, seed, eps, random.best.mean(axis=0), recordings, usage)


def page(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    **options: Any,
) -> str:
    """Run a trial as `watch` does and return its page."""
    return watch(learner, against, **options).to_html()


def write_page(
    out: str | Path,
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    **options: Any,
) -> Watched:
    """Run a trial as `watch` does, write its page and return the trial.

    Args:
        out: The file to write.
        learner: A learner, or what `find_learner` takes.
        against: Another learner, to set beside it.
        **options: As in `watch`.

    Returns:
        The trial, and chance.

    Raises:
        InputError: If an argument is wrong, or the file cannot be written.
    """
    out = path("out", out)
    check_target(out, PAGE)
    watched = watch(learner, against, **options)
    write_text(out, watched.to_html())
    return watched


def check_page(batches: Sequence[Batch]) -> None:
    """Refuse what a page cannot show: tasks that are too wide, and recordings that are too long."""
    task = batches[0].task
    if task.inputs > COMPILED_INPUTS or task.outputs > COMPILED_OUTPUTS:
        raise InputError(
            f"{task.name} has {task.inputs} inputs and {task.outputs} actions, a page takes at most "
            f"{COMPILED_INPUTS} and {COMPILED_OUTPUTS}: chance beside it needs engine cpu; use fewer bits"
        )
    for batch in batches:
        most = MAX_BYTES // episode_bytes(_layers(batch), batch.settings.steps)
        if not _is_computed(batch) and batch.episodes > most:
            kind = f"has no code for learners of kind {batch.learners[0].kind!r} and records them"
            why = kind if task.maze is not None else "computes mazes alone and records other tasks"
            raise InputError(
                f"episodes is {batch.episodes}, expected {most} at most: the page {why}; "
                "ask for fewer episodes or steps"
            )


def _check_table(task: Task[Any], settings: Settings) -> None:
    """Refuse a task that is no table: nobody knows its states."""
    if task.table(settings) is None:
        why = "" if task.no_table is None else f" ({task.no_table})"
        raise InputError(f"{task.name} is no table, and nothing else can be watched{why}; use distal learn")


def _table_of(batch: Batch) -> Table:
    """Return the table of a trial, which `trials` has checked."""
    table = batch.task.table(batch.settings)
    if table is None:
        raise AssertionError("a trial that is watched has a table")
    return table


def _is_computed(batch: Batch) -> bool:
    """Say whether the page computes the trial itself."""
    return batch.task.maze is not None and type(batch.learners[0]) in COMPUTED


def _layers(batch: Batch) -> tuple[int, int, int]:
    """Return the numbers of inputs with the bias, hidden neurons and outputs."""
    return batch.task.inputs + 1, batch.settings.hidden, batch.task.outputs


def _tally(batch: Batch) -> Tally | None:
    """Return what counts the rows of a rule that is recorded; the page counts those that it computes."""
    if _is_computed(batch) or type(batch.learners[0]) is not Rule:
        return None
    return Tally(batch, 0, np.zeros((1, len(LAYERS), ROWS), np.int64))


def _content(
    learner: Learner, recording: Recording | None, usage: NDArray[np.int64] | None
) -> dict[str, Any]:
    """Return what the page holds of a learner: all that decides what it does, or what it did."""
    if recording is None:
        return embedded(learner)
    content: dict[str, Any] = {
        "label": learner.label,
        "numbers": learner.numbers,
        "recording": recording.to_dict(),
    }
    if isinstance(learner, Rule) and usage is not None:
        content |= {"delta_w": list(learner.delta_w), "usage": usage.tolist()}
    return content


def _check_memory(batches: Sequence[Batch]) -> None:
    """Refuse what the machine's free memory does not hold: the trials by chance, and the page."""
    episodes, steps = batches[0].episodes, batches[0].settings.steps
    recorded = sum(episode_bytes(_layers(batch), steps) for batch in batches if not _is_computed(batch))
    parts = {
        "trials by chance": memory.TRIAL * _CHANCE_TRIALS * len(batches[0].task.goals)
        + memory.EP * _CHANCE_TRIALS * (episodes + batches[0].goals.size),
        "the page": memory.LISTED_LARGE * len(batches) * episodes,
        "recordings": 3 * episodes * recorded,  # with copies: joined, and compressed as text
    }
    memory.Estimate(counted(episodes, "episode"), parts, "ask for fewer episodes").check()


def _shared(progress: Progress | None, promised: int, work: float) -> Callable[[float], None]:
    """Return what takes work as it is done and passes it on in episodes, up to the number promised."""
    done, told = 0.0, 0

    def report(more: float) -> None:
        nonlocal done, told
        done += more
        now = min(round(promised * done / work), promised)
        if progress is not None and now > told:
            progress(now - told)
        told = now

    return report


def _first_goal(goal: object, task: Task[Any], switch: Switch | None) -> int:
    """Return the number of the goal that a trial begins with; listed goals say so themselves."""
    if switch is None or isinstance(switch.goals, str):
        return _goal(goal, task)
    first = switch.goals[0]
    if goal is not None and _goal(goal, task) != first:
        raise InputError(
            f"goal is {shown(goal)}, but the goals of the switch begin with {task.goals[first]}; leave it out"
        )
    return first


def _goal(goal: object, task: Task[Any]) -> int:
    """Return the number of the goal with this name."""
    goals = tuple(task.goals)
    if goal is None:
        return goals.index(_DEFAULT_GOAL) if task.maze is not None and _DEFAULT_GOAL in goals else 0
    name = goal if isinstance(goal, str) else shown(goal.item() if isinstance(goal, np.integer) else goal)
    if name not in goals:
        what = f"{task.goal_label} of {task.name if task.maze is None else 'the maze'}"
        named = goals if len(goals) <= _MOST_NAMED else (*goals[: _MOST_NAMED - 1], "…", goals[-1])
        raise InputError(f"goal is {shown(goal)}, expected a {what}: {', '.join(named)}")
    return goals.index(name)


def _asset(name: str) -> str:
    return (resources.files("distal.show") / "page" / name).read_text(encoding="utf-8")


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it ends that, or turns writing round."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return _TURNING.sub(lambda found: found[0] if found[1] == "\\" else f"\\{found[0]}", text)


def _filled(template: str, parts: dict[str, str]) -> str:
    """Put the parts in their places, in one pass, so that no part is searched for places itself."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)
