"""How long trials take: measured once and kept, so that an estimate runs nothing.

An estimate is for people, who want to know whether to wait: within a factor of two or three.
"""

from __future__ import annotations

from typing import Any

from distal.base.machine import available_cores
from distal.engines import Runner
from distal.model.readings import BINARY
from distal.model.settings import Settings
from distal.tasks.compiled_task import CompiledTask
from distal.tasks.task import Task

# Microseconds of an episode of the paper's maze and network, for each learner: on one core of an AMD EPYC
# (docs/results.json, benchmarks/results/cpu.json), and on an H200 that is kept busy (docs/beyond.json); for
# engine steps, processor time of one core, in Python's maze.
# Another engine is as fast as the one it is named after.
MICROSECONDS = {
    "cpu": {"dsp": 0.6, "hc": 1.3, "chance": 0.9},
    "gpu": {"dsp": 0.012, "hc": 0.015, "chance": 0.01},
    "reference": {"dsp": 2700.0, "hc": 3500.0, "chance": 2500.0},
    "steps": {"dsp": 650.0, "hc": 650.0, "chance": 650.0},
}
_COMPILED = 0.04  # a compiled task on engine steps, against the maze, whose steps Python takes
_SIGMOID = 2.4  # times as long as with binary neurons (benchmarks/results/cpu.json)


def cost(task: Task[Any], settings: Settings, engine: str | None = None) -> float:
    """Return how long an episode takes, in episodes of the paper's maze and network, on an engine."""
    paper = Settings()
    sizes = [
        hidden * (inputs + 1 + hidden + outputs) + outputs * (hidden + 1)
        for hidden, inputs, outputs in ((settings.hidden, task.inputs, task.outputs), (paper.hidden, 3, 4))
    ]
    neurons = 1.0 if settings.neurons == BINARY else _SIGMOID
    if engine == "steps" and isinstance(task, CompiledTask):
        neurons *= _COMPILED
    return settings.steps / paper.steps * sizes[0] / sizes[1] * neurons


def seconds(episodes: int, learner: str, runner: Runner) -> float:
    """Return about how long episodes of the paper's maze and network take.

    Args:
        episodes: How many.
        learner: The word for the kind; one that is not ours is taken to be as fast as "dsp".
        runner: The engine, and how many do its work.

    Returns:
        The seconds.
    """
    paces = MICROSECONDS.get(runner.engine, MICROSECONDS["reference"])
    alone = available_cores() if runner.engine in ("cpu", "steps") else 1
    workers = runner.workers or getattr(runner.executor, "workers", None) or alone
    return episodes * paces.get(learner, paces["dsp"]) * 1e-6 / workers
