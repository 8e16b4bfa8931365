"""Watch a trial: run it with the reference engine, and chance, and write its page."""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, counted, path, shown
from distal.base.files import PAGE, check_target, write_text
from distal.base.progress import checked, followed, tell
from distal.engines import Batch, Progress, Runner, pace, reference
from distal.engines.batch import named_in_errors
from distal.engines.compiled_engine import COMPILED_INPUTS, COMPILED_OUTPUTS
from distal.evaluation.trials import batch_of, checked_numbers, chosen_task, settings_in, tell_ignored
from distal.evaluation.usage import Tally
from distal.learners import Learner, find_learner, name_of
from distal.learners.chance import Chance
from distal.learners.dsp import ROWS, Rule
from distal.learners.hill_climbing import HillClimbing
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.networks import LAYERS
from distal.show.chance_curve import CHANCE_TRIALS, by_chance
from distal.show.recording import MAX_BYTES, Recording, episode_bytes, states_of, table_of
from distal.show.watched import Watched
from distal.tasks.sources import AnyTask
from distal.tasks.switching import Switch, switch_of
from distal.tasks.task import Task

_DEFAULT_GOAL = "3"
MAX_EPISODES = 100_000  # every EP of them is in the page
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
    """Return the first trial that `learn` runs towards a goal, for one learner or for two.

    Args:
        learner: A learner, or anything that `find_learner` takes.
        against: A second learner for the same trial.
        goal: The name of the goal, in a maze the symbol of a final position; "3" if left out,
            or the first if there is no 3. If the goal moves, the goal of the first phase.
        episodes: Episodes in the trial.
        resample: Draw fresh weights after this many episodes.
        switch: Move the goal after this many episodes, or as a `Switch` describes.
        seed: The seed of the evaluation, as in `learn`.
        maze: Short for `task=maze`.
        task: The task, as in `learn`: a maze, a table, or an environment that is a
            table; the triple T-maze if left out.
        **settings: As in `Settings`.

    Returns:
        A batch of one trial for each learner.

    Raises:
        InputError: If an argument is wrong, or the task is not a table.
    """
    world = chosen_task(task, maze)
    in_force = settings_in(world, settings, (*inspect.signature(trials).parameters, "progress"))
    if world.table(in_force) is None:
        why = "" if world.no_table is None else f" ({world.no_table})"
        raise InputError(
            f"{world.name} is no table, and only mazes and tables can be watched{why}; use distal learn"
        )
    episodes, _, seed, resample = checked_numbers(episodes, 1, seed, resample, MAX_EPISODES)
    moving = switch_of(switch)
    both = [find_learner(one) for one in ((learner,) if against is None else (learner, against))]
    tell_ignored(settings, both, world)
    all_goals = [
        batch_of(
            [one], np.array([seed], np.uint64), trials=1, episodes=episodes, task=world,
            settings=in_force, resample=resample, switch=moving,
        )
        for one in both
    ]  # fmt: skip
    number = _first_goal(goal, world, moving)
    return tuple(batch.part(number, number + 1) for batch in all_goals)


def _first_goal(goal: object, task: Task[Any], switch: Switch | None) -> int:
    """Return the number of the goal that a trial begins with; listed goals say so themselves."""
    goals = tuple(task.goals)
    listed = None if switch is None or isinstance(switch.goals, str) else switch.goals[0]
    if goal is None:
        usual = goals.index(_DEFAULT_GOAL) if task.maze is not None and _DEFAULT_GOAL in goals else 0
        return usual if listed is None else listed
    name = goal if isinstance(goal, str) else shown(goal.item() if isinstance(goal, np.integer) else goal)
    if name not in goals:
        what = f"{task.goal_label} of {task.name if task.maze is None else 'the maze'}"
        named = goals if len(goals) <= _MOST_NAMED else (*goals[: _MOST_NAMED - 1], "…", goals[-1])
        raise InputError(f"goal is {shown(goal)}, expected a {what}: {', '.join(named)}")
    if listed not in (None, goals.index(name)):
        begin = f"the goals of the switch begin with {goals[listed]}"
        raise InputError(f"goal is {shown(goal)}, but {begin}; leave it out")
    return goals.index(name)


def check_page(batches: Sequence[Batch]) -> None:
    """Refuse what a page cannot show or compute, and what the machine's memory does not hold."""
    task, settings, episodes = batches[0].task, batches[0].settings, batches[0].episodes
    unknown = settings.unknown_to("page")
    if unknown is not None:
        raise InputError(unknown)
    if task.inputs > COMPILED_INPUTS or task.outputs > COMPILED_OUTPUTS:
        raise InputError(
            f"{task.name} has {task.inputs} inputs and {task.outputs} actions, a page takes at most "
            f"{COMPILED_INPUTS} and {COMPILED_OUTPUTS}: its chance needs engine cpu; use fewer bits"
        )
    recorded = [batch for batch in batches if not _is_computed(batch)]
    size = episode_bytes(_layers(batches[0]), settings.steps)
    if recorded and episodes > MAX_BYTES // size:
        kind = f"has no code for learners of kind {recorded[0].learners[0].kind!r} and records them"
        why = kind if task.maze is not None else "computes only mazes and records other tasks"
        raise InputError(
            f"episodes is {episodes}, expected {MAX_BYTES // size} at most: the page {why}; "
            "ask for fewer episodes or steps"
        )
    parts = {
        "trials by chance": memory.TRIAL * CHANCE_TRIALS * len(task.goals)
        + memory.EP * CHANCE_TRIALS * (episodes + batches[0].goals.size),
        "the page": memory.LISTED_LARGE * len(batches) * episodes,
        "recordings": 3 * episodes * size * len(recorded),  # with copies: joined, and compressed as text
    }
    memory.Estimate(counted(episodes, "episode"), parts, "ask for fewer episodes").check()


def _is_computed(batch: Batch) -> bool:
    """Say whether the page computes the trial itself."""
    return batch.task.maze is not None and type(batch.learners[0]) in COMPUTED


def _layers(batch: Batch) -> tuple[int, int, int]:
    """Return the numbers of inputs with the bias, hidden neurons and outputs."""
    return batch.task.inputs + 1, batch.settings.hidden, batch.task.outputs


def run(batches: Sequence[Batch], seed: int, progress: Progress | bool | None = None) -> Watched:
    """Return trials that `check_page` has passed, run, with chance.

    `seed` is that of the evaluation that they are trials of, `progress` as in `watch`.
    """
    promised = len(batches) * batches[0].episodes
    runner = Runner("reference")
    expected = partial(pace.expected, batches[0], promised, runner)
    with followed(progress, "learning", promised, expected) as hear:
        random = Runner("cpu").run(by_chance(batches[0], seed))
        runs = [_run_one(batch, hear) for batch in batches]
    eps, recordings, usage = zip(*runs, strict=True)
    names = [name_of(batch.learners[0]) for batch in batches]
    if len(set(names)) < len(names):  # two climbers, or a rule beside itself
        names = [f"{name} ({k})" for k, name in enumerate(names, start=1)]
    best = random.best.mean(axis=0)
    return Watched(tuple(names), tuple(batches), seed, np.stack(eps), best, recordings, usage)


def _run_one(
    batch: Batch, progress: Progress | None
) -> tuple[NDArray[np.int32], Recording | None, NDArray[np.int64] | None]:
    """Run a trial; return its EPs, and, if the page cannot compute it, a recording and the use of rows."""
    recording = None if _is_computed(batch) else Recording(_layers(batch))
    tally = None
    if recording is not None and type(batch.learners[0]) is Rule:
        tally = Tally(batch, 0, np.zeros((1, len(LAYERS), ROWS), np.int64))
    eps = np.empty(batch.episodes, np.int32)
    table, goals = table_of(batch), batch.goals[0].tolist()
    with named_in_errors(batch, 0):
        for k, episode in enumerate(reference.episodes(batch, 0)):
            eps[k] = episode.ep
            if recording is not None:
                recording.add(episode, states_of(table, goals[k // batch.phase], episode.actions))
            if tally is not None:
                tally.add(episode)
            tell(progress, 1)
    return eps, recording, None if tally is None else tally.counts.sum(axis=(0, 1))


def watch(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    *,
    seed: int = 0,
    progress: Progress | bool | None = None,
    **options: Any,
) -> Watched:
    """Run a trial of one learner, or of two, with the reference engine, and chance for comparison.

    Args:
        learner: As in `trials`.
        against: As in `trials`.
        seed: As in `trials`.
        progress: Called with the number of episodes run since its last call. The numbers add up to
            the learners' episodes. If left out, a terminal shows the progress; False shows nothing.
        **options: As in `trials`.

    Returns:
        The trial, and chance.

    Raises:
        InputError: If an argument is wrong, or the work, or a recording, would be too large.
    """
    checked(progress)
    batches = trials(learner, against, seed=seed, **options)
    check_page(batches)
    return run(batches, int(seed), progress)


def write_page(
    out: str | Path,
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    **options: Any,
) -> Watched:
    """Run a trial as `watch` does, and write its page.

    Args:
        out: The file.
        learner: As in `watch`.
        against: As in `watch`.
        **options: As in `watch`.

    Returns:
        The trial.

    Raises:
        InputError: If an argument is wrong, or the file cannot be written.
    """
    out = path("out", out)
    check_target(out, PAGE)
    watched = watch(learner, against, **options)
    write_text(out, watched.to_html())
    return watched
