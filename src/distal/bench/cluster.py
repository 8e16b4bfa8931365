"""The measurements of a cluster: the cost of handing tasks over, and the share of the workers in use."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import numpy as np

from distal.base.memory import available_cores
from distal.bench import Timing, alternating, generation
from distal.engines.cluster import Cluster
from distal.engines.cpu import engine as cpu
from distal.engines.spread import TASK, Spread
from distal.studies.plans.reproduce import random_learners

_EMPTY_TASKS = 200


def run(address: str, quick: bool = False) -> Iterator[Timing]:
    """Yield every row as it is measured."""
    repeats = 2 if quick else 11
    with Cluster(address) as cluster:
        spread = Spread(cluster, "cpu")
        small = generation(random_learners("dsp", 0, 2))
        spread.run(small)  # the workers load the engine
        yield _overhead(cluster)
        yield from _efficiency(cluster, spread, repeats, quick)


def _overhead(cluster: Cluster) -> Timing:
    """Time tasks that do nothing, one after another on each worker."""
    samples = []
    for _ in range(5):
        began = time.perf_counter()
        futures = [cluster.submit(_nothing, k) for k in range(_EMPTY_TASKS)]
        for future in futures:
            future.result()
        samples.append((time.perf_counter() - began) / _EMPTY_TASKS * 1000)
    what = "handing over a task and its result, which the scheduler does for one after another"
    return Timing.of("overhead", what, np.array(samples), "ms")


def _efficiency(cluster: Cluster, spread: Spread, repeats: int, quick: bool) -> Iterator[Timing]:
    """Compare with the same work in one process, on as many cores and on one."""
    workers = cluster.workers
    batch = generation(random_learners("dsp", 0, 60 if quick else 210), trials=5 if quick else 20)
    batch = replace(batch, record=(batch.episodes,))  # as an evolution asks for it
    together = partial(spread.run, batch)
    tasks, computed = spread.tasks, spread.computed
    threads = partial(cpu.run, batch, workers=workers)
    seconds = alternating([partial(cpu.run, batch, workers=1), together, threads], repeats)
    tasks, computed = spread.tasks - tasks, spread.computed - computed
    one, spread_out, threaded = np.median(seconds, axis=1).tolist()
    lost = 1 - computed / (repeats + 1) / (workers * spread_out)
    if workers <= available_cores():  # else there is no process with as many cores to compare with
        what = f"the same work in one process on the same {workers} cores: its time over the cluster's"
        note = (
            f"medians: {threaded:.2f} s in one process, {spread_out:.2f} s on the cluster; "
            f"{len(batch):,} trials; workers without a task for {max(lost, 0):.1%} of the time"
        )
        samples = (seconds[2] / seconds[1]).tolist()
        yield Timing("efficiency", what, threaded / spread_out, "", 0.9, samples=samples, note=note)
    what = f"one process on one core: its time over that of {workers} workers"
    note = f"{one:.2f} s on one core; {workers} threads of one process: {one / threaded:.2f} times"
    samples = (seconds[0] / seconds[1]).tolist()
    yield Timing("speedup", what, one / spread_out, "times", samples=samples, note=note)
    episodes = len(batch) * batch.episodes
    yield Timing(
        "episode", "an episode in one process on one core", one / episodes * 1e6, "µs", at_least=False
    )
    what, note = (
        f"a task, computing alone; {TASK:g} s is aimed at",
        f"{tasks / (repeats + 1):.0f} tasks for each run",
    )
    yield Timing("task", what, computed / tasks, "s", at_least=False, note=note)


def _nothing(number: int) -> int:
    """Return at once."""
    return number
