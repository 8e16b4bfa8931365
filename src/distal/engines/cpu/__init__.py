"""The fast engine for any processor: compiled with Numba, one thread per worker.

This file is the host's side: it turns a batch into flat arrays, hands blocks of trials to threads,
watches them, and stops them when asked. Their code is in `kernels`.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, cast

import numpy as np
from numba.core import config, event
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import InputError, code_for
from distal.base.memory import available_cores
from distal.engines.batch import Batch, Trials, named_in_errors
from distal.engines.compiled_engine import (
    COMPILED_OUTPUTS,
    CompiledEngine,
    flags,
    instead,
    packed_changes,
    packed_learners,
)
from distal.engines.cpu import cache, kernels
from distal.engines.cpu.layout import (
    EVENT_AT,
    INPUTS,
    NARROW,
    NARROW_STATES,
    NUMBER_AT,
    OUTPUTS,
    STATE_AT,
    WAY_BITS,
    WAY_STATE_AT,
    WIDE,
    Packed,
)
from distal.engines.cpu.workspace import CONTINUOUS, GROUP, Options, stride_of, workspace
from distal.engines.engine import Asked
from distal.engines.threads import CACHE_LINE, STEPS, TRIAL, run_blocks
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.genes import columns
from distal.networks import network_for
from distal.tasks.table import EVENT_BITS, EVENTS, Table

_log = logging.getLogger("distal")

if config.DISABLE_JIT:
    raise InputError(
        "engine cpu: Numba is told not to compile; unset NUMBA_DISABLE_JIT, or use engine reference"
    )

NEURONS = {"binary": (0,), "sigmoid": (0,) * CONTINUOUS}
# The flags of `Options` that each value of a reading sets.
FLAGS: dict[str, dict[str, tuple[str, ...]]] = {
    "outputs": {"winner": ("winner_alone",), "binary": (), "random": ("random_action",)},
    "m_ties": {"reward": (), "punish": ("punish_ties",)},
    "trace_pre": {"current": ("trace_current",), "previous": ()},
    "normalise": {"neuron": ("normalise",), "layer": ("normalise", "by_layer"), "none": ()},
}
_KEPT = ", once; later runs reuse it"


class Announcement(event.Listener):  # type: ignore[misc]
    """Says that an engine's kernels are compiled, once in a process; nothing where what was kept is loaded.

    A learner and chance have a kernel each, and so has every kind of learner in a comparison.
    """

    said: ClassVar[set[str]] = set()  # the engines of which it was said

    def __init__(self, engine: str, *kernels: Callable[..., Any], kept: bool = True) -> None:
        self.engine, self.kernels, self.kept = engine, kernels, kept

    def on_start(self, event: Any) -> None:
        """Speak up if it is a kernel itself, not one of the functions it is made of."""
        if self.engine not in self.said and any(event.data["dispatcher"] is one for one in self.kernels):
            self.said.add(self.engine)
            kept = self.kept and cache.folder() is not None
            _log.warning("compiling %s: about ten seconds per kind of learner%s", self.engine, _KEPT * kept)

    def on_end(self, event: Any) -> None:
        """Say nothing more."""


@lru_cache(maxsize=4)
def packed(table: Table) -> Packed:
    """Pack a table of up to 64 inputs and 16 actions (see `CompiledEngine.supports`)."""
    bits = np.uint64(1) << np.arange(table.inputs, dtype=np.uint64)
    sensed = (table.observations * bits).sum(axis=1, dtype=np.uint64)
    ways = np.zeros(0, np.uint64)
    if (table.inputs, table.outputs) == (INPUTS, OUTPUTS) and len(sensed) <= NARROW_STATES:
        codes, number, row = sensed[:0], sensed.astype(np.int32), OUTPUTS
        spots = np.arange(len(sensed), dtype=np.int32) << STATE_AT | number
        moves = spots[table.following] | table.events.astype(np.int32) << EVENT_AT
        way = table.following << WAY_STATE_AT | (table.events > 0) << EVENT_AT | number[table.following]
        ways = (way.astype(np.uint64) << WAY_BITS * np.arange(OUTPUTS, dtype=np.uint64)).sum(axis=1)
    else:
        codes, inverse = np.unique(sensed, return_inverse=True)
        row = OUTPUTS if table.outputs <= OUTPUTS else COMPILED_OUTPUTS
        spots = inverse.astype(np.int64) << NUMBER_AT | np.arange(len(sensed), dtype=np.int64) << EVENT_BITS
        moves = spots[table.following] | table.events
    outcomes = np.zeros((table.goals, EVENTS), np.int32)
    outcomes[:, : table.costs.shape[1]] = table.costs << 1 | table.ends
    return Packed(
        moves=moves.ravel(),
        ways=ways,
        outcomes=outcomes.ravel(),
        left=table.left.ravel(),
        start=spots[np.asarray(table.start)],
        states=len(table.following),
        step_cost=table.step_cost,
        codes=codes,
        inputs=table.inputs,
        outputs=table.outputs,
        row=(0,) * row,
        form=(0,) * (WIDE if len(codes) else NARROW),
    )


@dataclass(eq=False)
class Job:
    """A batch as arrays, and the arrays of its results."""

    batch: Batch
    keep_weights: bool
    keep_ep: bool

    def __post_init__(self) -> None:
        batch, settings = self.batch, self.batch.settings
        self.task = packed(cast(Table, batch.table))
        learners, readings = packed_learners(batch), flags(settings, FLAGS)
        self.numbers, self.own = learners.numbers, learners.own
        if learners.own.dtype == np.int8:  # the changes of rules
            self.own = packed_changes(learners.own).view(np.int32)
        trials, recorded, phase, self.columns = len(batch), len(batch.recorded), batch.phase, batch.columns
        climbing, dsp = kernels.climbing_trials, kernels.dsp_trials
        self.kernel: Callable[..., None] = climbing if learners.climbing else dsp
        self.options = Options(
            hidden=settings.hidden,
            groups=stride_of(settings.hidden, self.task) // GROUP,
            steps=settings.steps,
            episodes=batch.episodes,
            recorded=recorded,
            resample=learners.resample,
            phase=phase,
            neurons=code_for("neurons", NEURONS, settings.neurons),
            **readings,
            keep_weights=self.keep_weights,
            keep_ep=self.keep_ep,
        )
        self.local = threading.local()  # a workspace for each thread
        self.local.workspace = workspace(settings.hidden, settings.steps, self.task)
        self.best = np.empty((trials, recorded), np.int32)
        self.ep = np.empty((trials if self.keep_ep else 0, batch.episodes), np.int32)
        shapes = ((0, 0), (0, 0))
        if self.keep_weights:
            shapes = network_for(settings, self.task.inputs, self.task.outputs, {}).shapes
        self.hidden, self.output = (np.empty((trials, *shape), np.float32) for shape in shapes)
        self.stop = np.zeros(CACHE_LINE, np.int64)

    def end(self) -> None:
        """Make all threads end: the compiled code looks before every episode."""
        self.stop[0] = 1

    def run_block(self, first: int, last: int, counter: NDArray[np.int64]) -> None:
        """Run trials first … last − 1 in this thread."""
        try:
            self.kernel(first, last, *self.arguments(), counter)
        except Exception as error:
            with named_in_errors(self.batch, int(counter[TRIAL])):
                raise error

    def compile(self) -> None:
        """Load or compile the kernel by running it on no trial; say so if it has to be compiled."""
        with event.install_listener("numba:compile", Announcement("engine cpu", self.kernel)):
            self.kernel(0, 0, *self.arguments(), np.zeros(CACHE_LINE, np.int64))

    def arguments(self) -> tuple[Any, ...]:
        """Return what the kernel takes between the trials and the counter, with this thread's workspace."""
        if not hasattr(self.local, "workspace"):
            self.local.workspace = workspace(self.options.hidden, self.options.steps, self.task)
        batch = self.batch
        return (
            batch.learner, batch.goals, batch.seed, self.numbers, self.own, self.task, self.options,
            self.local.workspace, self.columns, self.best, self.ep, self.hidden, self.output, self.stop,
        )  # fmt: skip


class Cpu(CompiledEngine):
    """Runs trials in threads; by default one per available core."""

    name = "cpu"
    kinds = (*CompiledEngine.kinds, EvolutionStrategy, Eligibility)

    def supports(self, batch: Batch) -> str | None:
        """Return the reason why the engine cannot run a batch, with the remedy; None if it can."""
        reason = super().supports(batch)
        if reason is None and batch.kind is Eligibility and (columns(batch.learners, "decay") != 1).any():
            # Traces that fade depend on the order of steps, which is not kept.
            return (
                f"engine cpu counts the steps of traces, so it runs learners of kind {batch.kind.kind!r} "
                f"with decay 1 alone; {instead(batch)}"
            )
        return reason

    def trials(self, batch: Batch, asked: Asked) -> Trials:
        """Run all trials of a batch."""
        keep_weights, keep_ep, workers, progress = asked
        job = Job(batch, keep_weights, keep_ep)
        workers = min(workers or available_cores(), len(batch))
        memory.check_address_space("engine cpu", 0, workers)
        job.compile()
        counted = run_blocks(job.run_block, len(batch), workers, progress, job.end)
        hidden, output = (job.hidden, job.output) if keep_weights else (None, None)
        return Trials(job.best, job.ep if keep_ep else None, hidden, output, steps=int(counted[STEPS]))


engine = Cpu()
