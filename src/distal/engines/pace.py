"""The time that trials take, within a factor of two or three, for people who want to know whether to wait.

The times of compiled engines were measured once and are kept. The time of an environment or a task
of one's own on engines reference and steps is unknown, so a few of its episodes are run if it
matters.
"""

from __future__ import annotations

import copy
import time
from dataclasses import replace
from typing import Any

from distal.base.memory import available_cores
from distal.engines.batch import Batch
from distal.engines.engine import Engine, load
from distal.engines.reference import episodes as episodes_of
from distal.engines.runner import Runner
from distal.model.settings import Settings
from distal.tasks.task import Task

# Microseconds of an episode of the paper's maze and network, for each learner: on one core of an AMD EPYC
# (docs/results.json, benchmarks/results/cpu.json), and on an H200 that is kept busy (docs/beyond.json); for
# engine steps, processor time of one core, in the maze.
# Another engine is as fast as the one it is named after.
MICROSECONDS = {
    "cpu": {"dsp": 0.6, "hc": 1.3, "chance": 0.9, "es": 1.3, "eligibility": 0.4},
    "gpu": {"dsp": 0.012, "hc": 0.015, "chance": 0.01},
    "steps": {
        "dsp": 15.0,
        "hc": 12.0,
        "chance": 11.0,
        "es": 11.0,
        "cma": 13.0,
        "eligibility": 18.0,
        "online": 45.0,
        "neuron": 18.0,
        "reinforce": 15.0,
    },
    "reference": {"dsp": 2700.0, "hc": 3500.0, "chance": 2500.0},
}
_PYTHON = 34.0  # times as long on engine steps where Python takes the steps
_KEPT = ("cpu", "gpu")  # engines whose paces hold for all of their tasks
_LOOK = 0.5  # seconds to measure a task for, at most, once two episodes have ended
_MOST = 2**16  # episodes to measure, at most
_WORTH = 3.0  # seconds of work, by what is kept, from which on it is worth measuring
# Times as long as with binary neurons (benchmarks/results/cpu.json).
_NEURONS = {"binary": 1.0, "sigmoid": 2.4}


def cost(task: Task[Any], settings: Settings, engine: str | None = None) -> float:
    """Return how long an episode takes, in episodes of the paper's maze and network, on an engine."""
    paper = Settings()
    sizes = [
        hidden * (inputs + 1 + hidden + outputs) + outputs * (hidden + 1)
        for hidden, inputs, outputs in ((settings.hidden, task.inputs, task.outputs), (paper.hidden, 3, 4))
    ]
    factor = _NEURONS.get(settings.neurons, 1.0)
    if engine == "steps" and task.in_python:
        factor *= _PYTHON
    return settings.steps / paper.steps * sizes[0] / sizes[1] * factor


def seconds(episodes: int, learner: str, runner: Runner) -> float:
    """Return about how long episodes of the paper's maze and network take.

    A kind of learner that is not ours is taken to be as fast as "dsp".
    """
    paces = MICROSECONDS.get(runner.engine, MICROSECONDS["reference"])
    return episodes * paces.get(learner, paces["dsp"]) * 1e-6 / _workers(runner)


def _workers(runner: Runner) -> int:
    """Return how many do the work of a runner at the same time."""
    if runner.executor is not None:
        return runner.workers or getattr(runner.executor, "workers", None) or 1
    cores = available_cores()
    return min(runner.workers or cores, cores)


def expected(batch: Batch, episodes: int, runner: Runner) -> float:
    """Estimate the time of episodes like the ones of a batch; measure it if it is long and unknown.

    The runner is suited for the batch.
    """
    known = seconds(episodes, batch.kind.kind, runner) * cost(batch.task, batch.settings, runner.engine)
    if runner.engine in _KEPT or known < _WORTH:
        return known
    if runner.engine == "reference":
        one = _measured(batch)
    else:
        one, _ = _measured_on(load(runner.engine), batch) or (None, 0)
    return known if one is None else episodes * one / _workers(runner)


def steps_a_second(batch: Batch, runner: Runner) -> tuple[float, int] | None:
    """Estimate the steps a second of trials like the ones of a batch, and the number of cores.

    One core is measured; None where that fails, or where the engine counts no steps.
    """
    suited = runner.suited(batch)
    one, steps = _measured_on(load(suited.engine), batch) or (0.0, 0.0)
    return (steps / one * _workers(suited), _workers(suited)) if one > 0 and steps else None


def _measured_on(engine: Engine, batch: Batch) -> tuple[float, float] | None:
    """Return the seconds of an episode on one core, without compiling, and its steps; None as below."""
    try:
        one = replace(batch.part(0, 1), task=copy.deepcopy(batch.task), switch=None)
        count, took, steps = 1, 0.0, 0
        engine.run(replace(one, episodes=1, record=(1,)), workers=1)
        while took < _LOOK / 4 and count < _MOST:
            count *= 4
            began = time.perf_counter()
            steps = engine.run(replace(one, episodes=count, record=(count,)), workers=1).steps
            took = time.perf_counter() - began
    except Exception:
        return None
    return took / count, steps / count


def _measured(batch: Batch) -> float | None:
    """Return the seconds of an episode, in a copy of the task; None if that cannot be known."""
    ends = []
    try:
        task = copy.deepcopy(batch.task)  # so that whatever it remembers stays as it is
        began = time.perf_counter()
        for _ in episodes_of(replace(batch.part(0, 1), task=task), 0):
            ends.append(time.perf_counter() - began)
            if len(ends) > 1 and ends[-1] > _LOOK:
                break
        task.close()
    except Exception:  # the work itself will say what is wrong
        return None
    # The first episode also makes the environment.
    return (ends[-1] - ends[0]) / (len(ends) - 1) if len(ends) > 1 else ends[0]
