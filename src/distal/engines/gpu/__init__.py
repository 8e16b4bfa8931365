"""The engine for NVIDIA cards: thousands of trials at once, a warp for each.

The host packs a batch into flat arrays, sends it to the card in slices that take about half a
second, and unpacks the results. The code for the card is in `trials.cu`, compiled for the card and
the settings at hand. If there are several cards, each has a thread of the host, which takes one
block of trials after another.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from distal.base.machine import machine
from distal.engines.batch import Batch, Trials
from distal.engines.compiled_engine import CompiledEngine, packed_learners
from distal.engines.engine import Asked, Progress
from distal.engines.gpu import cards
from distal.engines.gpu.cards import TO_HOST, cupy
from distal.engines.gpu.kernel import prepared
from distal.engines.gpu.packing import Layout, padded
from distal.engines.gpu.slicing import blocks, slices
from distal.engines.threads import run_in_threads
from distal.tasks.table import Table

MAX_EPISODES = 2**31 - 1
_MAX_INPUTS = 31  # with the bias, the bits of a word
PIECE = 4  # episodes of a trial's first piece of work, which shows whether it takes long
CROWD = 16  # trials a warp, from which on pieces gain nothing
_FEW = 4  # numbers a trial that the card writes into the host's memory itself: more are copied together
_POLL = 0.1  # seconds between looks at how far several cards are
_LATE = 0.1  # of the time of a launch: one that is waited for later than that says nothing of the pace


class Gpu(CompiledEngine):
    """Runs trials on cards; its workers are cards, all that there are if their number is left out."""

    name = "gpu"
    on_processors = False

    def check(self, workers: int | None = None) -> None:
        """Refuse, with what to do, if there is no card, or if there are fewer cards than workers."""
        cards.check(workers)

    def machine(self) -> dict[str, Any]:
        """Describe this machine and its card."""
        return {**machine(), "card": cards.describe()["card"]}

    def supports(self, batch: Batch) -> str | None:
        """Return the reason why no card can run a batch, with the remedy; None if one can."""
        reason = super().supports(batch)
        limits = (
            ("the number of inputs", batch.task.inputs, _MAX_INPUTS),
            ("episodes", batch.episodes, MAX_EPISODES),
        )
        for name, value, most in limits:
            if reason is None and value > most:
                reason = f"{name} is {value}, engine gpu takes at most {most}; use engine cpu for more"
        return reason

    def overlaps(self, workers: int | None = None) -> bool:
        """Return whether `begin` starts a batch: on one card, not on several."""
        return len(cards.cards_for(workers)) == 1

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch."""
        return self.begin(batch, asked)()

    def begin(self, batch: Batch, asked: Asked) -> Callable[[], Trials]:
        """Start a batch, and return a function that waits for its trials.

        The host may work meanwhile, or start another batch, whose trials take the places of those
        that end first. On several cards it starts when it is waited for.
        """
        keep_weights, keep_ep, workers, progress = asked
        table, used = cast(Table, batch.table), cards.cards_for(workers)
        layout = Layout(batch.settings.hidden, table.inputs, table.outputs)
        width = len(batch.recorded)
        best = cards.results(len(batch), width)
        work = _OnCard(
            batch=batch,
            table=table,
            best=best,
            written=best.ctypes.data if width <= _FEW and cards.is_pinned(len(batch), width) else 0,
            eps=cards.results(len(batch), batch.episodes) if keep_ep else None,
            kept=np.empty((len(batch), layout.size), np.float32) if keep_weights else None,
        )
        alone = len(used) == 1 or len(batch) == 1
        running = _run(used[0], work, progress) if alone else _run_on_all(used, work, progress)
        next(running)
        waited = False

        def wait() -> Trials:
            nonlocal waited
            if waited:
                raise RuntimeError("a batch is waited for once")
            waited = True
            for _ in running:
                pass
            hidden, output = layout.unpack(work.kept) if work.kept is not None else (None, None)
            return Trials(work.best, work.eps, hidden, output)

        return wait


engine = Gpu()


class _OnCard(NamedTuple):
    """A batch, and arrays of the host for the results of its trials; weights as they lie in lanes."""

    batch: Batch
    table: Table
    best: NDArray[np.int32]
    written: int  # the place of `best` if the card writes there; 0 if it is copied when all episodes are done
    eps: NDArray[np.int32] | None
    kept: NDArray[np.float32] | None

    def part(self, first: int, last: int) -> _OnCard:
        """Return trials first … last − 1, with their room."""
        return _OnCard(
            batch=self.batch.part(first, last),
            table=self.table,
            best=self.best[first:last],
            written=self.written and self.written + first * self.best.strides[0],
            eps=None if self.eps is None else self.eps[first:last],
            kept=None if self.kept is None else self.kept[first:last],
        )


class _Stopped(Exception):  # noqa: N818 - it ends a thread, and nobody else sees it
    """The other threads have been told to stop."""


def _run_on_all(used: tuple[int, ...], work: _OnCard, progress: Progress | None) -> Iterator[None]:
    """Run a batch on several cards: a thread for each takes one block after another; yield before that.

    Progress is told in the thread that called; what is raised there, Ctrl-C included, or on a
    card stops all of them after the launches that they are at.
    """
    todo: SimpleQueue[tuple[int, int]] = SimpleQueue()
    for block in blocks(len(work.batch), len(used)):
        todo.put(block)
    told: SimpleQueue[int] = SimpleQueue()
    stop = threading.Event()

    def tell(episodes: int) -> None:
        if stop.is_set():
            raise _Stopped
        told.put(episodes)

    def serve(card: int) -> None:
        with suppress(_Stopped, Empty), cupy().cuda.Device(card):
            while True:
                first, last = todo.get_nowait()
                for _ in _run(card, work.part(first, last), tell):
                    pass

    def report() -> None:
        while not told.empty():
            episodes = told.get()
            if progress is not None:
                progress(episodes)

    yield
    jobs = [partial(serve, card) for card in used]
    run_in_threads(jobs, len(used), watch=report, stop=stop.set, poll=_POLL)


def _run(card: int, work: _OnCard, progress: Progress | None) -> Iterator[None]:
    """Run a batch on the card that this thread uses; yield after each launch, while the card is at work."""
    try:
        with cards.stream_of(card) as stream:
            yield from _launches(card, stream, work, progress)
    except cupy().cuda.memory.OutOfMemoryError:
        raise cards.out_of_memory() from None


def _launches(card: int, stream: Any, work: _OnCard, progress: Progress | None) -> Iterator[None]:
    """Send a batch to the card, slice by slice, and fetch its results; yield after each launch."""
    runtime, batch, table = cupy().cuda.runtime, work.batch, work.table
    learners = packed_learners(batch)
    keep_weights, keep_ep = work.kept is not None, work.eps is not None
    kernel, size, _, places = prepared(
        card, batch.settings, table, climbing=learners.climbing, keep_weights=keep_weights, keep_ep=keep_ep,
        moving=batch.switch is not None,
    )  # fmt: skip
    numbers, changes = padded(learners)
    width, phases = len(batch.recorded), batch.goals.shape[1]
    numbers_a_trial = 8 + phases + width + batch.episodes * keep_ep + size * (2 if keep_weights else 1)
    room = cards.fitting(len(batch), 4 * numbers_a_trial)
    # A resampling after the last episode is none, and its number need not fit.
    resample = learners.resample if learners.resample < batch.episodes else 0
    taken = None
    try:
        for first, last, episode, until in slices(
            len(batch), batch.episodes, room, kernel.warps, kernel.pace
        ):
            n = last - first
            if episode == 0:
                taken = None  # for the trials before: it makes room
                sent: dict[str, NDArray[Any]] = {
                    "learner": batch.learner[first:last], "goal": batch.goals[first:last],
                    "seed": batch.seed[first:last], "numbers": numbers, "changes": changes,
                    "recorded": batch.columns,
                }  # fmt: skip
                empty = {
                    "best": 0 if work.written else 4 * n * width,
                    "eps": 4 * n * batch.episodes if keep_ep else 0,
                    "memory": 4 * n * 2,
                    "weights": 4 * n * size,
                    "kept": 4 * n * size if keep_weights else 0,
                    "queue": 4 * (3 + 3 * n),  # the next piece of work; then `claimed`, `done` and `handed`
                }
                taken = cards.take(stream, sent, empty)
                at = taken.places
            began = time.perf_counter()
            queue = at["queue"]
            runtime.memsetAsync(queue, 0, empty["queue"], stream.ptr)
            arguments = {
                **places,
                **at,
                "recorded": at["recorded"] + 4 * episode,
                "best": work.written + 4 * first * width if work.written else at["best"],
                "next": queue, "claimed": queue + 4,
                "done": queue + 4 * (1 + n), "handed": queue + 4 * (1 + 2 * n),
                "trials": n, "first": episode, "last": until,
                "piece": PIECE if kernel.warps < n < CROWD * kernel.warps else until - episode,
                "resample": resample, "columns": width, "episodes": batch.episodes,
                "states": len(table.following), "step_cost": table.step_cost,
                "phase": batch.phase, "phases": phases,
            }  # fmt: skip
            kernel.launch(min(n, kernel.warps), stream.ptr, arguments)
            launched = time.perf_counter()
            yield
            away = time.perf_counter() - launched
            if until == batch.episodes:
                results = {"best": None if work.written else work.best, "eps": work.eps, "kept": work.kept}
                for name, array in results.items():
                    if array is not None:
                        part = array[first:last]
                        runtime.memcpyAsync(part.ctypes.data, at[name], part.nbytes, TO_HOST, stream.ptr)
            stream.synchronize()
            seconds = time.perf_counter() - began
            if away < _LATE * seconds:
                kernel.pace.learn(n * (until - episode) / min(n, kernel.warps), seconds)
            if progress is not None:
                progress(n * (until - episode))
    finally:
        stream.synchronize()  # whatever happened: the card may still use what is let go now
