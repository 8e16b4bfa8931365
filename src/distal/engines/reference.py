"""The engine to read: plain NumPy, one trial after another, never optimised.

It defines what every other engine has to return. Follow `episodes` in
`distal.learners` to the equations.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from itertools import chain, islice
from multiprocessing import get_context

import numpy as np
from numpy.typing import NDArray

from distal.engines import Batch, Progress, Trials
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
    """Run all trials of a batch, in this process or in `workers` processes."""
    if workers is None or workers == 1:
        results = [run_trial(batch, trial, progress) for trial in range(len(batch))]
    else:
        results = []
        # Fresh processes rather than forks: a fork copies the locks of running threads.
        # Leaving the block ends the processes, whatever they are doing.
        with get_context("spawn").Pool(workers, _start_worker, (batch,)) as pool:
            for result in pool.imap(_run_in_worker, range(len(batch))):
                results.append(result)
                if progress is not None:
                    progress(batch.episodes)
    curves, weights = zip(*results, strict=True)
    return Trials(
        best=np.stack(curves),
        hidden=np.stack([w.hidden for w in weights]) if keep_weights else None,
        output=np.stack([w.output for w in weights]) if keep_weights else None,
    )


def _start_worker(batch: Batch) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's to handle
    global _batch  # noqa: PLW0603 - sent once to each process, not once a trial
    _batch = batch


def _run_in_worker(trial: int) -> tuple[NDArray[np.int32], Weights]:
    return run_trial(_batch, trial)


_batch: Batch
