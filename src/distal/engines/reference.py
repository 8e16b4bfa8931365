"""The engine to read: plain NumPy, one trial after another, never optimised.

It defines what every other engine has to return. Follow `episodes` in
`distal.learners` to the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import learners
from distal.base.checks import instance, integer
from distal.engines.batch import Batch, Progress, Trials, checked_call, named_in_errors
from distal.model.network import Weights
from distal.tasks.episode import Episode
from distal.tasks.task import Aim

_MAX_EP = 2**31 - 1  # what the arrays of results hold


def episodes(batch: Batch, trial: int) -> Iterator[Episode[Any]]:
    """Yield the episodes of one trial of a batch."""
    learner, settings = batch.learners[batch.learner[trial]], batch.settings
    task = Aim(batch.task, int(batch.goal[trial]))
    stream = learners.episodes(learner, task, settings, int(batch.seed[trial]), batch.resample)
    return islice(stream, batch.episodes)


def run_trial(
    batch: Batch, trial: int, progress: Progress | None = None
) -> tuple[NDArray[np.int32], Weights]:
    """Run one trial; return the EP of every episode and the weights of the first best one."""
    ep = np.empty(batch.episodes, np.int32)
    with named_in_errors(batch, trial):
        stream = episodes(batch, trial)
        best = next(stream)
        for number, episode in enumerate(chain([best], stream)):
            ep[number] = integer("the EP of an episode", episode.ep, -_MAX_EP, _MAX_EP)
            if episode.ep < best.ep:
                best = episode
            if progress is not None:
                progress(1)
    return ep, best.weights


def supports(batch: Batch) -> str | None:
    """Return None: this engine runs every batch."""
    instance("batch", batch, Batch, "a Batch")
    return None


def run(
    batch: Batch,
    *,
    keep_weights: bool = False,
    keep_ep: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Trials:
    """Run all trials of a batch, one after another, however many workers are offered."""
    keep_weights, keep_ep, workers = checked_call(batch, keep_weights, keep_ep, workers, progress)
    best = np.empty((len(batch), len(batch.recorded)), np.int32)
    eps = np.empty((len(batch), batch.episodes), np.int32) if keep_ep else None
    weights = []
    for trial in range(len(batch)):
        ep, of_best = run_trial(batch, trial, progress)
        best[trial] = np.minimum.accumulate(ep)[batch.columns >= 0]
        if eps is not None:
            eps[trial] = ep
        if keep_weights:
            weights.append(of_best)
    return Trials(
        best=best,
        ep=eps,
        hidden=np.stack([w.hidden for w in weights]) if keep_weights else None,
        output=np.stack([w.output for w in weights]) if keep_weights else None,
    )
