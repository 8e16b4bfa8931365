"""Chance for a trial: the best of as many random networks, the mean of 200 trials towards its goal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from distal.engines import Batch
from distal.evaluation.trials import batch_of
from distal.learners import chance_for
from distal.tasks.switching import Switch

CHANCE_TRIALS = 200
VISIBLE = 0.5  # EP in a maze: less than a pixel of the page's curve


def by_chance(trial: Batch, seed: int) -> Batch:
    """Return the trials by chance that a trial is compared with.

    They are the first 200 that `learn`, with this seed, runs towards the trial's goal.
    The first of them begins with the same weights as the trial itself. Where the goal moves, it
    is in each phase that of the trial, whatever their own seeds would draw.
    """
    goals = trial.goals[0].tolist()
    batch = batch_of(
        [chance_for(trial.learners[0])], np.array([seed], np.uint64), trials=CHANCE_TRIALS,
        episodes=trial.episodes, task=trial.task, settings=trial.settings,
        switch=Switch(trial.phase, goals) if len(goals) > 1 else None,
    )  # fmt: skip
    towards = batch.goal == trial.goal[0]
    return replace(batch, learner=batch.learner[towards], goal=batch.goal[towards], seed=batch.seed[towards])


def visible_points(curve: NDArray[np.float64], visible: float = VISIBLE) -> list[tuple[int, float]]:
    """Return (episode, from 0, and value) where a falling curve has moved as far as can be seen.

    A line through these points is nowhere more than `visible` off.
    """
    values, at = curve.tolist(), [0]
    for episode, value in enumerate(values):
        if values[at[-1]] - value >= max(visible, np.finfo(float).eps):
            at += [episode - 1, episode]
    return [(episode, round(values[episode], 4)) for episode in sorted({*at, len(curve) - 1})]
