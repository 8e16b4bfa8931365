"""Evaluate a learner: `learn` trains fresh networks with any learner, `climb` by hill climbing."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Unpack

from distal.base.checks import flag, instance
from distal.base.progress import followed
from distal.engines import Asked, Progress, Runner, pace
from distal.evaluation.result import Result, result_of
from distal.evaluation.trials import Conditions, tell_ignored
from distal.learners import Learner, chance_for, find_learner
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.tasks.sources import AnyTask
from distal.tasks.switching import Switch

_LABELS = {HillClimbing.kind: "climbing", Chance.kind: "chance"}  # of the work, in progress


def learn(
    learner: Learner | str | Path,
    *,
    task: AnyTask = None,
    episodes: int = 100,
    trials: int = 5,
    resample: int | None = None,
    switch: int | Switch | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    engine: str | Runner | None = None,
    keep_ep: bool = False,
    keep_weights: bool = False,
    chance: bool = True,
    progress: Progress | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Result:
    """Train fresh networks with a learner, and with chance for comparison.

    Args:
        learner: A Rule, HillClimbing or Chance, a learner of another registered kind, or a name:
            "paper:1" … "paper:15", "evolved:1" … "evolved:15", "champion:1" and so on, "hc",
            "chance", or the path of a learner's file.
        task: The task: a Maze, a table, an environment or its id, as in `task_of`;
            the triple T-maze if left out.
        episodes: Episodes in each trial.
        trials: Trials for each goal; in a maze, for each final position.
        resample: Draw fresh weights after this many episodes.
        switch: Move the goals after this many episodes, or as a `Switch` describes.
        seed: The seed of all random numbers.
        maze: Short for `task=maze`.
        engine: "cpu", "gpu", "steps", "reference" or "auto"; all give identical results. If left
            out, cpu where it can run the work, else steps, else reference. A `Runner` adds workers
            or an executor.
        keep_ep: Keep the EP of every episode, as `Result.ep`.
        keep_weights: Keep the weights of the first episode that had the best EP.
        chance: Evaluate chance too, with the same settings and trial seeds, as `Result.chance`.
        progress: Called with the number of episodes run since its last call. If left out, a terminal
            shows the progress; False shows nothing.
        **settings: As in `Settings`. An episode has as many steps as the task itself allows, if
            it has a limit, or 100.

    Returns:
        The best EP so far of every trial after every episode, with summaries.

    Raises:
        InputError: If an argument is wrong, or the curves would not fit in memory.
    """
    learner = find_learner(learner)
    conditions = Conditions.of(
        settings, learn, task=task, maze=maze, episodes=episodes, trials=trials, resample=resample,
        seed=seed, switch=switch,
    )  # fmt: skip
    keep_ep, keep_weights = flag("keep_ep", keep_ep), flag("keep_weights", keep_weights)
    chance = flag("chance", chance) and learner.kind != Chance.kind
    tell_ignored(settings, [learner], conditions.task)
    given = {"chance": chance, "keep_ep": keep_ep, "keep_weights": keep_weights}
    less = " or ".join(f"{name}=False" for name, value in given.items() if value)
    conditions.check_memory(
        curves=(1 + keep_ep) * (1 + chance),
        weights=sum(rows * columns for rows, columns in conditions.shapes) if keep_weights else 0,
        less=f", pass {less}" if less else "",
    )
    batch = conditions.batch([learner])
    runner = Runner.of(engine)
    suited = runner.suited(batch)
    promised = conditions.count * conditions.episodes * (1 + chance)
    label, expected = _LABELS.get(learner.kind, "learning"), partial(pace.expected, batch, promised, suited)
    with followed(progress, label, promised, expected) as hear:
        own = suited.trials(batch, Asked(keep_weights, keep_ep, progress=hear))
        result = result_of(conditions, learner, suited, own)
        if not chance:
            return result
        batch = replace(batch, learners=(chance_for(learner),))
        suited = runner.suited(batch)
        by_chance = suited.trials(batch, Asked(keep_ep=keep_ep, progress=hear))
    return replace(result, chance=result_of(conditions, batch.learners[0], suited, by_chance))


def climb(climber: HillClimbing, **options: Any) -> Result:
    """Train fresh networks by hill climbing; options and result as in `learn`."""
    return learn(
        instance("climber", climber, HillClimbing, "HillClimbing(sigma, alpha_h, alpha_o)"), **options
    )
