"""The engine to read: plain NumPy, one trial after another, never optimised.

It defines what every other engine has to return. Follow `episodes` in
`distal.learners` to the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
from numpy.typing import NDArray

from distal.engines import Batch, Progress, Trials, naming
from distal.episode import Episode
from distal.learners import dsp, hill_climbing
from distal.network import Weights
from distal.rule import Rule


def episodes(batch: Batch, trial: int) -> Iterator[Episode]:
    """Yield the episodes of one trial of a batch."""
    learner = batch.learners[batch.learner[trial]]
    goal, seed = int(batch.goal[trial]), int(batch.seed[trial])
    if isinstance(learner, Rule):
        stream = dsp.episodes(learner, batch.maze, goal, batch.settings, seed, batch.resample)
    else:
        stream = hill_climbing.episodes(learner, batch.maze, goal, batch.settings, seed, batch.resample)
    return islice(stream, batch.episodes)


def run_trial(
    batch: Batch, trial: int, progress: Progress | None = None
) -> tuple[NDArray[np.int32], Weights]:
    """Run one trial; return its best-so-far curve and the weights of the first best episode."""
    curve = np.empty(batch.episodes, np.int32)
    with naming(batch, trial):
        stream = episodes(batch, trial)
        best = next(stream)
        for number, episode in enumerate(chain([best], stream)):
            if episode.ep < best.ep:
                best = episode
            curve[number] = best.ep
            if progress is not None:
                progress(1)
    return curve, best.weights


def run(
    batch: Batch, *, keep_weights: bool = False, workers: int | None = None, progress: Progress | None = None
) -> Trials:
    """Run all trials of a batch, one after another, however many workers are offered."""
    results = [run_trial(batch, trial, progress) for trial in range(len(batch))]
    curves, weights = zip(*results, strict=True)
    return Trials(
        best=np.stack(curves),
        hidden=np.stack([w.hidden for w in weights]) if keep_weights else None,
        output=np.stack([w.output for w in weights]) if keep_weights else None,
    )
