"""Watch a trial: run it with the reference engine, with chance beside it, and write its page or film."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Unpack

import numpy as np

from distal.base import memory
from distal.base.checks import InputError, counted, function, integer, path, shown
from distal.base.files import PAGE, check_target, write_text
from distal.engines import Batch, Progress, Runner, reference
from distal.engines.batch import batch_of, checked_numbers, named_in_errors
from distal.engines.numbers import COMPILED_INPUTS, COMPILED_OUTPUTS
from distal.evaluation.usage import LAYERS, Tally
from distal.learners import Learner, find_learner, name_of
from distal.learners.chance import Chance
from distal.learners.dsp import ROWS, Rule
from distal.learners.hill_climbing import HillClimbing
from distal.model.draws import MAX_SEED
from distal.model.maze import Maze
from distal.model.readings import unknown_to
from distal.model.settings import Settings, SettingsDict
from distal.show.chance import CHANCE_TRIALS, by_chance
from distal.show.recording import MAX_BYTES, Recording, episode_bytes, states_of, table_of
from distal.show.watched import Watched
from distal.tasks.sources import AnyTask, chosen_task
from distal.tasks.switching import Switch, switch_of
from distal.tasks.task import Task, settings_in

_DEFAULT_GOAL = "3"
MAX_EPISODES = 100_000  # every EP of them is in the page
_CHANCE_COST = 0.001  # of an episode of the cpu engine, in episodes of the reference engine: about
COMPUTED: tuple[type[Learner], ...] = (Rule, HillClimbing, Chance)  # the kinds in page/learners.js
_MOST_NAMED = 40  # goals in an error


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
    for one in map(find_learner, both):
        all_goals = batch_of(
            [one], np.array([seed], np.uint64), trials=1, episodes=episodes, task=world,
            settings=in_force, resample=resample, switch=moving,
        )  # fmt: skip
        number = _first_goal(goal, world, moving)
        batches.append(all_goals.part(number, number + 1))
    return tuple(batches)


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
    return run(batches, integer("seed", seed, 0, MAX_SEED), progress)


def run(batches: Sequence[Batch], seed: int, progress: Progress | None = None) -> Watched:
    """Run trials that `check_page` has passed, and chance beside them.

    Args:
        batches: The trial of each learner, as `trials` returns them.
        seed: The seed of the evaluation that they are trials of.
        progress: As in `watch`.

    Returns:
        The trial, and chance.
    """
    chance = by_chance(batches[0], seed)
    eps = np.empty((len(batches), batches[0].episodes), np.int32)
    report = _shared(progress, eps.size, eps.size + _CHANCE_COST * len(chance) * chance.episodes)
    random = Runner("cpu").run(chance, progress=lambda episodes: report(_CHANCE_COST * episodes))
    recordings = tuple(None if _is_computed(batch) else Recording(_layers(batch)) for batch in batches)
    tallies = tuple(map(_tally, batches))
    for curve, batch, recording, tally in zip(eps, batches, recordings, tallies, strict=True):
        table, goals = table_of(batch), batch.goals[0].tolist()
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
    return Watched(tuple(names), tuple(batches), seed, eps, random.best.mean(axis=0), recordings, usage)


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
    """Refuse what a page cannot show or compute, and what the machine's memory does not hold."""
    task = batches[0].task
    unknown = unknown_to("page", batches[0].settings)
    if unknown is not None:
        raise InputError(unknown)
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
    _check_memory(batches)


def _check_table(task: Task[Any], settings: Settings) -> None:
    """Refuse a task that is no table: nobody knows its states."""
    if task.table(settings) is None:
        why = "" if task.no_table is None else f" ({task.no_table})"
        raise InputError(f"{task.name} is no table, and nothing else can be watched{why}; use distal learn")


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


def _check_memory(batches: Sequence[Batch]) -> None:
    """Refuse what the machine's free memory does not hold: the trials by chance, and the page."""
    episodes, steps = batches[0].episodes, batches[0].settings.steps
    recorded = sum(episode_bytes(_layers(batch), steps) for batch in batches if not _is_computed(batch))
    parts = {
        "trials by chance": memory.TRIAL * CHANCE_TRIALS * len(batches[0].task.goals)
        + memory.EP * CHANCE_TRIALS * (episodes + batches[0].goals.size),
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
