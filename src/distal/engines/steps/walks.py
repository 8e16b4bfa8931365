"""Episodes whose steps Python takes: environments on a lean path, all other tasks by their walks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from distal.base.checks import InputError, integer, number
from distal.engines.batch import Batch, named_in_errors
from distal.engines.reference import MAX_EP
from distal.engines.steps.encoding import encoding_of, no_encoding
from distal.engines.steps.kernels import OUTSIDE
from distal.engines.steps.worker import Worker
from distal.tasks.gym import EnvTask, played
from distal.tasks.spaces import exact_types, numbers_of
from distal.tasks.task import Task

Episode = Callable[[int], tuple[float, bool]]  # towards a goal: EP, and whether it was cut off


def encoding_for(batch: Batch) -> Any:
    """Return how the observations of a batch's task become bits in compiled code."""
    task = batch.task
    found = encoding_of(task.encoder) if is_lean(task) else None
    return no_encoding() if found is None else found


def is_lean(task: Task[Any]) -> bool:
    """Whether an episode of a task needs no record: an environment whose EP is minus the return."""
    return type(task) is EnvTask and not task.measured


def run_trial(worker: Worker, batch: Batch, trial: int) -> Iterator[bool]:
    """Run a trial; yield after every episode whether it was cut off."""
    seed, goals = int(batch.seed[trial]), batch.goals[trial].tolist()
    with named_in_errors(batch, trial):
        task = batch.task.for_trial(seed)
        episode = _lean(worker, task, batch) if is_lean(task) else _walking(worker, task, batch)
        worker.start(batch, trial)
    for index in range(batch.episodes):
        with named_in_errors(batch, trial):
            worker.begin()
            ep, cut = episode(goals[min(index // batch.phase, len(goals) - 1)])
            if batch.task.whole:
                ep = integer("the EP of an episode", ep, -MAX_EP, MAX_EP)
            else:
                ep = number("the EP of an episode", ep)
            worker.end(ep)
        yield cut


def _lean(worker: Worker, task: Any, batch: Batch) -> Episode:
    """Return what runs an episode of an environment: it writes observations, compiled code does the rest."""
    act, address, encoder = worker.kernels.act, worker.address, task.encoder
    values, bits = worker.agent.encoding.values, worker.agent.running.bits
    if len(values) == 0:

        def called(observation: Any) -> int:
            bits[:] = encoder(observation)
            return act(address)

        return lambda goal: played(task, goal, batch.settings, called)
    space = encoder.space
    kinds = exact_types(space)  # whose numbers can be written as they are
    shaped = values.reshape(space.shape) if kinds and getattr(space, "shape", None) else values

    def of_array(observation: Any) -> int:
        if (
            type(observation) is np.ndarray
            and observation.dtype in kinds
            and observation.shape == shaped.shape
        ):
            shaped[...] = observation
        else:
            values[:] = numbers_of(space, observation)
        action = act(address)
        if action == OUTSIDE:
            encoder(observation)  # says how it is wrong
        return action

    return lambda goal: played(task, goal, batch.settings, of_array)


def _walking(worker: Worker, task: Task[Any], batch: Batch) -> Episode:
    """Return what runs an episode of any task: its walk says what is sensed."""
    act, address, bits = worker.kernels.act, worker.address, worker.agent.running.bits
    settings = batch.settings

    def run(goal: int) -> tuple[float, bool]:
        walk, steps = task.begin(goal, settings), 0
        while steps < settings.steps and not walk.over:
            sensed = walk.sense()
            if len(sensed) != len(bits):
                raise InputError(f"sense() gives {len(sensed)} bits, the task has {len(bits)} inputs")
            bits[:] = sensed
            walk.act(act(address))
            steps += 1
        if steps == 0:
            number_of = int(worker.now["episode"][0])
            raise InputError(f"episode {number_of} has no step; act at least once before it ends")
        return walk.ep, walk.cut

    return run
