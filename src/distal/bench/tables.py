"""The speed of a finite environment as a table: against itself step by step, and against the maze."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from distal.bench import Timing, alternating
from distal.engines import Batch, Trials, reference
from distal.learners.shipped import published_rules
from distal.model.maze import triple_t_maze
from distal.model.settings import Settings
from distal.networks import network_for
from distal.tasks.mazes import MazeTask
from distal.tasks.sources import task_of
from distal.tasks.task import Task

_TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "cliff": ("CliffWalking-v1", {}),
    "lake": ("FrozenLake-v1", {"is_slippery": False, "map_name": "8x8"}),
}
_TARGETS = {"binary": 2000, "one-hot": 300}  # times as fast as step by step
_TRIALS, _EPISODES = 4, 20  # that run step by step, too
_COPIES = 200  # of these trials, which alone take an engine no time

Run = Callable[[Batch], Trials]


def rows(run: Run, repeats: int) -> Iterator[Timing]:
    """Yield what is measured of tables; `run` is an engine on one core."""
    if find_spec("gymnasium") is None:
        yield Timing("table_cliff_binary", "CliffWalking as a table", None, "times", note="needs Gymnasium")
        return
    compared = {(name, code): _Compared.of(run, name, code) for name in _TASKS for code in _TARGETS}
    maze = _batch(MazeTask(triple_t_maze()))
    batches = [maze, *(one.batch for one in compared.values())]
    in_maze, *in_tables = alternating([partial(run, _copied(batch)) for batch in batches], repeats)
    for ((name, code), one), seconds in zip(compared.items(), in_tables, strict=True):
        yield Timing(
            f"table_{name}_{code.replace('-', '_')}",
            f"{_TASKS[name][0]} as a table, {code} states, against the same trials step by step, one core",
            one.seconds / float(np.median(seconds)) * _COPIES,
            "times",
            _TARGETS[code],
            note=f"step by step {_steps(one.batch) / one.seconds:,.0f} steps a second",
        )
    for ((name, code), one), seconds in zip(compared.items(), in_tables, strict=True):
        ratio = seconds / in_maze * _work(maze) / _work(one.batch)
        what = f"time of a synapse and step in {_TASKS[name][0]}, {code} states, against the maze's"
        yield Timing.of(f"synapse_step_{name}_{code.replace('-', '_')}", what, ratio, target=1)


@dataclass(frozen=True)
class _Compared:
    """A few trials in a table, and how long the environment takes for them step by step."""

    batch: Batch
    seconds: float

    @classmethod
    def of(cls, run: Run, name: str, code: str) -> _Compared:
        """Run an environment step by step, and make sure that its table gives the same."""
        made, args = _TASKS[name]
        table, world = (
            _batch(task_of(made, args=args, encode=code, tabulated=tabulated)) for tabulated in (True, False)
        )
        began = time.perf_counter()
        slow = reference.engine.run(world)
        seconds = time.perf_counter() - began
        if not (slow.best == run(table).best).all():
            raise AssertionError(f"{made} as a table gives other EPs than step by step")
        return cls(table, seconds)


def _batch(task: Task[Any]) -> Batch:
    """Return a trial for each of a few published rules, all towards the first goal of a task."""
    return Batch(
        learners=published_rules()[:_TRIALS],
        learner=np.arange(_TRIALS, dtype=np.int32),
        goal=np.zeros(_TRIALS, np.int32),
        seed=np.arange(_TRIALS, dtype=np.uint64),
        task=task,
        settings=Settings(steps=100),
        episodes=_EPISODES,
    )


def _copied(batch: Batch) -> Batch:
    """Return the same trials many times over."""
    every = np.tile(np.arange(len(batch)), _COPIES)
    return replace(batch, learner=batch.learner[every], goal=batch.goal[every], seed=batch.seed[every])


def _steps(batch: Batch) -> int:
    """Count the steps that the trials take."""
    return sum(one.steps for trial in range(len(batch)) for one in reference.episodes(batch, trial))


def _work(batch: Batch) -> int:
    """Return the steps of the trials times the synapses of their networks."""
    network = network_for(batch.settings, batch.task.inputs, batch.task.outputs, {})
    return _steps(batch) * int(sum(mask.sum() for mask in network.synapses()))
