"""The engine to read: plain NumPy, one trial after another, never optimised.

It defines the result of every other engine. Follow `PlasticNetwork` and a learner's
`update` to the equations.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from distal.base.checks import integer, number
from distal.base.progress import tell
from distal.engines.batch import Batch, EPs, Trials, best_so_far, named_in_errors
from distal.engines.engine import Asked, Engine, Progress
from distal.engines.processes import processes_for
from distal.learners import PlasticNetwork, Trial
from distal.networks import Episode, Weights, network_for
from distal.tasks.task import Aim

_WORTH = 20_000  # steps that are worth the start of processes
MAX_EP = 2**31 - 1  # that the arrays of results hold


def episodes(batch: Batch, trial: int) -> Iterator[Episode[Any]]:
    """Yield the episodes of one trial of a batch."""
    learner, settings, seed = batch.learners[batch.learner[trial]], batch.settings, int(batch.seed[trial])
    goals = batch.goals[trial].tolist()
    task = Aim(batch.task.for_trial(seed), goals[0], goals, batch.phase)
    network = network_for(settings, task.inputs, task.outputs, learner.numbers)
    plastic = PlasticNetwork.in_trial(learner, network, Trial(seed, batch.resample, batch.phase))
    for _ in range(batch.episodes):
        yield plastic.run_episode(task)


def run_trial(batch: Batch, trial: int, progress: Progress | None) -> tuple[EPs, Weights, int, int]:
    """Run one trial; return EPs, the first best weights of the last phase, episodes cut off, and steps."""
    ep, cut, steps = np.empty(batch.episodes, _eps(batch)), 0, 0
    best: Episode[Any] | None = None
    for index, episode in enumerate(_named_episodes(batch, trial)):
        ep[index] = episode.ep
        cut += episode.walk.cut
        if best is None or index % batch.phase == 0 or episode.ep < best.ep:
            best = episode
        steps += episode.steps
        tell(progress, 1, episode.steps)
    assert best is not None  # noqa: S101 - a trial has at least one episode
    return ep, best.weights, cut, steps


def _named_episodes(batch: Batch, trial: int) -> Iterator[Episode[Any]]:
    """Yield the episodes of a trial; what a learner or a task raises says in which trial it was."""
    with named_in_errors(batch, trial):
        for episode in episodes(batch, trial):
            if batch.task.whole:
                integer("the EP of an episode", episode.ep, -MAX_EP, MAX_EP)
            else:
                number("the EP of an episode", episode.ep)
            yield episode


def _eps(batch: Batch) -> Any:
    """Return the type of the EPs of a batch's task."""
    return np.int32 if batch.task.whole else np.float64


class Reference(Engine):
    """Runs every batch, one trial after another; its workers are processes, by default one per core."""

    name = "reference"
    pace = 100

    def processes(self, batch: Batch, workers: int | None) -> int:
        """Return how many processes should run a batch: as many as there are cores, if it is worth it."""
        return processes_for(batch, workers, _WORTH)

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch."""
        keep_weights, keep_ep, _, progress = asked
        best = np.empty((len(batch), len(batch.recorded)), _eps(batch))
        eps = np.empty((len(batch), batch.episodes), _eps(batch)) if keep_ep else None
        weights, cut, steps = [], 0, 0
        for trial in range(len(batch)):
            ep, of_best, cut_off, taken = run_trial(batch, trial, progress)
            cut, steps = cut + cut_off, steps + taken
            best[trial] = best_so_far(ep, batch.phase)[batch.columns >= 0]
            if eps is not None:
                eps[trial] = ep
            if keep_weights:
                weights.append(of_best)
        return Trials(
            best=best,
            ep=eps,
            hidden=np.stack([w.hidden for w in weights]) if keep_weights else None,
            output=np.stack([w.output for w in weights]) if keep_weights else None,
            cut=cut,
            steps=steps,
        )


engine = Reference()
