"""The engine for NVIDIA cards: thousands of trials at once, a warp for each.

This file is the host's side: it packs a batch into flat arrays, sends it to the
card in slices that take about half a second, and unpacks what comes back. What
runs on the card is in `trials.cu`, compiled for the card and the settings at hand.
Where there are several cards, each has a thread of the host, which takes one block
of trials after another.
"""

from __future__ import annotations

import atexit
import ctypes
import hashlib
import logging
import os
import struct
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache, lru_cache, partial
from importlib import resources
from itertools import accumulate, pairwise
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, counted
from distal.base.files import write_bytes
from distal.engines.batch import Batch, Progress, Trials, checked_call
from distal.engines.numbers import Flat, compiled_table, flags, flat, refusal
from distal.engines.threads import run_in_threads
from distal.model.draws import ACTION, KEY_STEPS, MULTIPLIERS, NOISE, ROUNDS, SQRT_HALF_BITS, WEIGHTS
from distal.model.maze import INPUTS, OUTPUTS
from distal.model.settings import Settings
from distal.networks.recurrent import (
    FARTHEST,
    LN_2_HIGH,
    LN_2_LOW,
    LOG2_E,
    ONE_BITS,
    SERIES,
    SHIFT,
    incoming,
)
from distal.tasks.table import EVENT_BITS, EVENTS, Table

_log = logging.getLogger("distal")

_FAST_HIDDEN = 64  # more weights than the registers of a warp hold: these are in slower memory
_MAX_INPUTS = 31  # with the bias, the bits of a word
_FAST_WEIGHTS = 280  # of a lane: what its warp shares grows with them, up to the 48 KiB that a block may have
_ROOM_IN_SPOT = 4  # bits of a word that a state and an event leave
MAX_EPISODES = 2**31 - 1
_CAPABILITY = (7, 0)  # of the oldest cards that have the instructions
_LANES = 32
_REGISTERS = 2**14  # of each of the four parts of a multiprocessor, given to warps in eights a lane
_SLICE = 0.5  # seconds that one launch should take: progress and Ctrl-C wait for its end
FIRST_SLICE = 400  # episodes of 100 steps for every warp, while nothing is known of the card's pace
FILLING = 16_384  # trials that keep a large card busy
PIECE = 4  # episodes of a trial's first piece of work, which shows whether it takes long
CROWD = 16  # trials a warp, from which on pieces gain nothing
WAITING = 32  # long trials that may wait for a warp that runs fast
_SHARE = 0.6  # of the free memory
SMALL = 2**28  # bytes that are taken without asking how much is free
_PINNED = 2**24  # numbers of a result that is put where the card can write to; such memory is scarce
_FEW = 4  # numbers a trial that the card writes there itself: more are copied together
_ALIGNED = 256  # bytes, as the card aligns memory itself
_TO_CARD, _TO_HOST = 1, 2  # which way a copy goes, in CUDA's numbers
_BLOCKS_A_CARD = 4  # at most, of a batch on several cards
_POLL = 0.1  # seconds between looks at how far several cards are
_LATE = 0.1  # of the time of a launch: one that is waited for later than that says nothing of the pace
_POINTERS, _INTEGERS = 20, 11  # that the kernel takes, in this order
_ARGUMENTS = struct.Struct(f"{_POINTERS}q{_INTEGERS}i")

_compiling = threading.Lock()


def check(workers: int | None = None) -> None:
    """Refuse, with what to do, if there is nothing to run on, or if there are fewer cards than workers."""
    problem = _problem()
    if problem is not None:
        raise InputError(f"engine gpu: {problem}; or use engine cpu")
    if workers is not None and workers > 1:
        _cards(workers)


@cache
def _problem() -> str | None:
    """Return what is missing, if anything is."""
    try:
        import cupy  # noqa: PLC0415 - an extra
    except ImportError as error:
        if error.name == "cupy":
            return "CuPy is not installed: pip install 'distal[gpu]'"
        return f"CuPy cannot be imported ({error}): reinstall it for your version of CUDA"
    try:
        count = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        return f"no NVIDIA card answers ({error}): install the card's driver"
    if count == 0:
        return "there is no NVIDIA card: run on a machine that has one"
    try:
        cupy.cuda.nvrtc.getVersion()
    except Exception as error:  # whatever a missing library raises
        return f"CUDA's run-time compiler cannot be loaded ({error}): pip install 'distal[gpu]'"
    capability = _capability(cupy.cuda.runtime, cupy.cuda.Device().id)
    if capability < _CAPABILITY:
        own, oldest = (".".join(map(str, version)) for version in (capability, _CAPABILITY))
        return f"the card has compute capability {own}, {oldest} is needed"
    return None


def describe() -> dict[str, Any]:
    """Describe the card and the software that drives it."""
    import cupy  # noqa: PLC0415 - an extra

    properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
    driver, compiler = cupy.cuda.runtime.driverGetVersion(), cupy.cuda.nvrtc.getVersion()
    return {
        "card": properties["name"].decode(),
        "capability": f"{properties['major']}.{properties['minor']}",
        "multiprocessors": properties["multiProcessorCount"],
        "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
        "driver_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "nvrtc": ".".join(map(str, compiler)),
        "cupy": cupy.__version__,
    }


# ---------------------------------------------------------------- packing


@dataclass(frozen=True)
class Layout:
    """How the neurons and weights of a network lie in the lanes of a warp."""

    hidden: int
    inputs: int = INPUTS
    outputs: int = OUTPUTS

    @property
    def slots(self) -> int:
        """Neurons a lane: lane l has neurons l, l + 32, …; the outputs follow the hidden ones."""
        return -(-(self.hidden + self.outputs) // _LANES)

    @property
    def incoming(self) -> int:
        """Weights of a hidden neuron; those of an output stand as if it were one."""
        return incoming(self.hidden, self.inputs, self.outputs)

    @property
    def size(self) -> int:
        """Numbers that hold the weights of a network."""
        return self.slots * self.incoming * _LANES

    @property
    def blocks(self) -> int:
        """Blocks, of a warp each, that shall fit on a multiprocessor: what the registers allow."""
        registers = min(self.slots * (self.incoming + 16) + 52, 255)
        return min(32, 4 * (_REGISTERS // (_LANES * (-(-registers // 8) * 8))))

    @property
    def large(self) -> bool:
        """Whether a lane has too few registers for its weights."""
        return self.hidden > _FAST_HIDDEN or self.slots * self.incoming > _FAST_WEIGHTS

    def unpack(self, weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Turn weights as they lie in lanes, (trials, size), into matrices (see `network`)."""
        by_lane = weights.reshape(len(weights), self.slots, self.incoming, _LANES)
        rows = by_lane.transpose(0, 1, 3, 2).reshape(len(weights), self.slots * _LANES, -1)
        outputs, bias = rows[:, self.hidden : self.hidden + self.outputs], self.inputs
        columns = [*range(bias + 1, bias + 1 + self.hidden), bias]
        return rows[:, : self.hidden].copy(), outputs[:, :, columns]


def packed_learners(learners: Flat) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return the learners' numbers (learners, 4) and changes (learners, 16, 2), which climbers do not use."""
    if not learners.climbing:
        return learners.numbers, learners.changes
    count, width = learners.numbers.shape
    numbers = np.zeros((count, 4), np.float32)
    numbers[:, :width] = learners.numbers
    return numbers, np.zeros((count, 16, 2), np.int8)


class Packed(NamedTuple):
    """A table as the kernel reads it, with spots: where an agent is, and by which event it came there.

    A spot is (state << 6 | event) << `in_spot` | what is sensed there: inputs and bias, a bit
    each. More inputs than there is room for are looked up by state.
    """

    moves: Any  # int32 (states · actions): the spot after each action
    sensed: Any  # uint32 (states): inputs and bias
    starts: Any  # int32 (goals): the spots that episodes begin in
    outcomes: Any  # int32 (goals · 64): what each event costs << 1 | whether it ends the episode
    left: Any  # int32 (goals · states): what it costs to be cut off there


def in_spot(inputs: int) -> int:
    """Return how many bits of a spot say what is sensed: all, with the bias, or none."""
    return inputs + 1 if inputs < _ROOM_IN_SPOT else 0


def packed(table: Table) -> Packed:
    """Pack a table for the kernel."""
    bits = 1 << np.arange(table.inputs + 1, dtype=np.int64)
    sensed = table.observations @ bits[:-1] | bits[-1]
    spot = np.arange(len(sensed)) << EVENT_BITS + in_spot(table.inputs)
    if in_spot(table.inputs):
        spot |= sensed
    outcomes = np.zeros((table.goals, EVENTS), np.int32)
    outcomes[:, : table.costs.shape[1]] = table.costs << 1 | table.ends
    moves = spot[table.following] | table.events.astype(np.int64) << in_spot(table.inputs)
    return Packed(
        moves=moves.astype(np.int32).ravel(),
        sensed=sensed.astype(np.uint32),
        starts=spot[table.starts].astype(np.int32),
        outcomes=outcomes.ravel(),
        left=table.left.ravel(),
    )


def _bits(number: float) -> int:
    """Return the bits of a number as a 32-bit float."""
    return int(np.float32(number).view(np.int32))


# The flags of the kernel that stand for readings.
FLAGS = {
    "SIGMOID": ("neurons", "sigmoid"),
    "WINNER": ("outputs", "winner"),
    "BINARY": ("outputs", "binary"),
    "RANDOM": ("outputs", "random"),
    "PUNISH": ("m_ties", "punish"),
    "CURRENT": ("trace_pre", "current"),
    "BY_LAYER": ("normalise", "layer"),
    "RAW": ("normalise", "none"),
}
# The constants of `recurrent.logistic`, for neurons that need it.
_CONSTANTS = {
    "FARTHEST_BITS": _bits(FARTHEST),
    "LOG2_E_BITS": _bits(LOG2_E),
    "SHIFT_BITS": _bits(SHIFT),
    "LN_2_HIGH_BITS": _bits(LN_2_HIGH),
    "LN_2_LOW_BITS": _bits(LN_2_LOW),
    "ONE_BITS": ONE_BITS,
    **{f"SERIES{k}": _bits(coefficient) for k, coefficient in enumerate(SERIES)},
}
_LOGISTIC: dict[str, dict[str, int]] = {"binary": {}, "sigmoid": _CONSTANTS}


def definitions(
    settings: Settings,
    climbing: bool,
    keep_weights: bool,
    keep_ep: bool = False,
    inputs: int = INPUTS,
    outputs: int = OUTPUTS,
    moving: bool = False,
) -> dict[str, int]:
    """Return the constants that a kernel is compiled for.

    Args:
        settings: of the trials.
        climbing: whether the learners are hill climbers, or chance, and not rules.
        keep_weights: whether the best weights are kept.
        keep_ep: whether the EP of every episode is kept.
        inputs: what the task lets an agent sense, without the bias.
        outputs: its actions.
        moving: whether goals move.

    Returns:
        The value of each constant, by its name.
    """
    layout = Layout(settings.hidden, inputs, outputs)
    return {
        "INPUTS": inputs,
        "ACTIONS": outputs,
        "IN_SPOT": in_spot(inputs),
        "EVENT_BITS": EVENT_BITS,
        "WEIGHTS": WEIGHTS,
        "NOISE": NOISE,
        "ACTION": ACTION,
        "ROUNDS": ROUNDS,
        "MULTIPLIER0": MULTIPLIERS[0],
        "MULTIPLIER1": MULTIPLIERS[1],
        "KEY_STEP0": KEY_STEPS[0],
        "KEY_STEP1": KEY_STEPS[1],
        "SQRT_HALF_BITS": int(SQRT_HALF_BITS),
        "HIDDEN": settings.hidden,
        "LARGE": int(layout.large),
        "CLIMB": int(climbing),
        "PHASES": int(moving),
        **_LOGISTIC[settings.neurons],
        **{flag: int(is_set) for flag, is_set in flags(settings, FLAGS).items()},
        "STEPS": settings.steps,
        "KEEP": int(keep_weights),
        "EVERY": int(keep_ep),
        "BLOCKS": layout.blocks,
        "WAITING": WAITING,
    }


# ---------------------------------------------------------------- slices


class Pace:
    """How many episodes a warp should run in a launch, learned from those before."""

    def __init__(self, steps: int) -> None:
        self.episodes = max(1, FIRST_SLICE * 100 // steps)

    def learn(self, episodes: float, seconds: float) -> None:
        """Take note of a launch; grow by at most eight, since a short one says little."""
        fitting = round(episodes / max(seconds, 1e-6) * _SLICE)
        self.episodes = max(1, min(fitting, 8 * self.episodes))


def slices(
    trials: int, episodes: int, room: int, warps: int, pace: Pace
) -> Iterator[tuple[int, int, int, int]]:
    """Divide the work into launches: (first trial, last + 1, first episode, last + 1).

    Trials of one launch fit into `room`; up to `warps` of them run at the same time. All
    episodes of some trials come before the next trials. The pace may change between two
    launches.
    """
    first = 0
    while first < trials:
        last = min(trials, first + min(room, max(FILLING, pace.episodes * warps // episodes)))
        n, episode = last - first, 0
        while episode < episodes:
            until = min(episodes, episode + max(1, pace.episodes * min(n, warps) // n))
            yield first, last, episode, until
            episode = until
        first = last


# ---------------------------------------------------------------- the card


def supports(batch: Batch) -> str | None:
    """Return why this engine cannot run a batch, whether or not there is a card; None if it can."""
    return refusal(batch, _table)


def _table(batch: Batch) -> Table:
    """Return the table of a batch's task; refuse a batch that this engine cannot run."""
    table = compiled_table(batch, "gpu")
    limits = (
        ("the number of inputs", table.inputs, _MAX_INPUTS),
        ("episodes", batch.episodes, MAX_EPISODES),
    )
    for name, value, most in limits:
        if value > most:
            raise InputError(f"{name} is {value}, engine gpu takes at most {most}; use engine cpu for more")
    return table


def run(
    batch: Batch,
    *,
    keep_weights: bool = False,
    keep_ep: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Trials:
    """Run all trials of a batch on the cards; `workers` are cards, all that there are if it is None."""
    return begin(batch, keep_weights=keep_weights, keep_ep=keep_ep, workers=workers, progress=progress)()


def overlaps(workers: int | None) -> bool:
    """Say whether `begin` starts a batch: on one card, not on several."""
    return len(_cards(workers)) == 1


def begin(
    batch: Batch,
    *,
    keep_weights: bool = False,
    keep_ep: bool = False,
    workers: int | None = None,
    progress: Progress | None = None,
) -> Callable[[], Trials]:
    """Start a batch, as `run` does; return what waits for its trials.

    The host may work meanwhile, or start another batch, whose trials take the places of those
    that end first. On several cards it starts when it is waited for.
    """
    keep_weights, keep_ep, workers = checked_call(batch, keep_weights, keep_ep, workers, progress)
    check()
    table = _table(batch)
    import cupy  # noqa: PLC0415 - an extra

    cards = _cards(workers)
    layout = Layout(batch.settings.hidden, table.inputs, table.outputs)
    width = len(batch.recorded)
    best = _room_for(cupy, len(batch), width)
    work = _Work(
        batch=batch,
        table=table,
        best=best,
        written=best.ctypes.data if width <= _FEW and _pinned(len(batch), width) else 0,
        eps=_room_for(cupy, len(batch), batch.episodes) if keep_ep else None,
        kept=np.empty((len(batch), layout.size), np.float32) if keep_weights else None,
    )
    if len(cards) == 1 or len(batch) == 1:
        running = _run(cupy, cards[0], work, progress)
    else:
        running = _run_on_all(cupy, cards, work, progress)
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


class _Work(NamedTuple):
    """A batch, and arrays of the host for what its trials give; of weights, as they lie in lanes."""

    batch: Batch
    table: Table
    best: NDArray[np.int32]
    written: int  # the place of `best` if the card writes there; 0 if it is copied when all episodes are done
    eps: NDArray[np.int32] | None
    kept: NDArray[np.float32] | None

    def part(self, first: int, last: int) -> _Work:
        """Return trials first … last − 1, with their room."""
        return _Work(
            batch=self.batch.part(first, last),
            table=self.table,
            best=self.best[first:last],
            written=self.written and self.written + first * self.best.strides[0],
            eps=None if self.eps is None else self.eps[first:last],
            kept=None if self.kept is None else self.kept[first:last],
        )


def _cards(workers: int | None) -> tuple[int, ...]:
    """Return the numbers of the cards to use: so many, or all; refuse more than there are."""
    import cupy  # noqa: PLC0415 - an extra

    current: int = cupy.cuda.Device().id
    if workers == 1:
        return (current,)
    found = (current, *(card for card in _able_cards() if card != current))
    if workers is None:
        if len(found) > 1:
            _say_cards(len(found))
        return found
    if workers > len(found):
        raise InputError(
            f"workers is {workers}, engine gpu finds {counted(len(found), 'card')}; ask for no more, "
            "or leave workers out"
        )
    return found[:workers]


@cache
def _able_cards() -> tuple[int, ...]:
    """Return the numbers of all cards that have the instructions."""
    import cupy  # noqa: PLC0415 - an extra

    runtime = cupy.cuda.runtime
    return tuple(
        card for card in range(runtime.getDeviceCount()) if _capability(runtime, card) >= _CAPABILITY
    )


def _capability(runtime: Any, card: int) -> tuple[int, int]:
    properties = runtime.getDeviceProperties(card)
    return properties["major"], properties["minor"]


@cache
def _say_cards(count: int) -> None:
    """Say once that there are several cards, and that all are used."""
    _log.warning("engine gpu uses %d cards; workers=1 uses one", count)


def blocks(trials: int, cards: int) -> list[tuple[int, int]]:
    """Divide trials into blocks (first, last + 1) for several cards.

    There is one for each card, or some more where each still fills a card: cards, and trials, differ.
    """
    size = max(min(-(-trials // cards), FILLING), -(-trials // (_BLOCKS_A_CARD * cards)))
    return list(pairwise([*range(0, trials, size), trials]))


class _Stopped(Exception):  # noqa: N818 - it ends a thread, and nobody else sees it
    """The other threads have been told to stop."""


def _run_on_all(cupy: Any, cards: tuple[int, ...], work: _Work, progress: Progress | None) -> Iterator[None]:
    """Run a batch on several cards: a thread for each takes one block after another; yield before that.

    Progress is told in the thread that called; what is raised there, Ctrl-C included, or on a
    card stops all of them after the launches that they are at.
    """
    todo: SimpleQueue[tuple[int, int]] = SimpleQueue()
    for block in blocks(len(work.batch), len(cards)):
        todo.put(block)
    told: SimpleQueue[int] = SimpleQueue()
    stop = threading.Event()

    def tell(episodes: int) -> None:
        if stop.is_set():
            raise _Stopped
        told.put(episodes)

    def serve(card: int) -> None:
        with suppress(_Stopped, Empty), cupy.cuda.Device(card):
            while True:
                first, last = todo.get_nowait()
                for _ in _run(cupy, card, work.part(first, last), tell):
                    pass

    def report() -> None:
        while not told.empty():
            episodes = told.get()
            if progress is not None:
                progress(episodes)

    yield
    run_in_threads(
        [partial(serve, card) for card in cards], len(cards), watch=report, stop=stop.set, poll=_POLL
    )


def _run(cupy: Any, card: int, work: _Work, progress: Callable[[int], None] | None) -> Iterator[None]:
    """Run a batch on the card that this thread uses; yield after each launch, while the card is at work."""
    try:
        with _stream(cupy, card) as stream:
            yield from _launches(cupy, card, stream, work, progress)
    except cupy.cuda.memory.OutOfMemoryError:
        cupy.get_default_memory_pool().free_all_blocks()
        free, _ = cupy.cuda.runtime.memGetInfo()
        raise InputError(
            f"engine gpu: {free / 2**20:,.0f} MiB of memory are free on the card, which is too little; "
            "end what else runs there, or use engine cpu"
        ) from None


_idle: dict[int, list[Any]] = {}  # streams of each card that no batch uses


@contextmanager
def _stream(cupy: Any, card: int) -> Iterator[Any]:
    """Lend a stream of the card: what is in different ones may run side by side."""
    idle = _idle.setdefault(card, [])
    try:
        stream = idle.pop()
    except IndexError:
        stream = cupy.cuda.Stream(non_blocking=True)
    try:
        yield stream
    finally:
        idle.append(stream)


def _launches(
    cupy: Any, card: int, stream: Any, work: _Work, progress: Callable[[int], None] | None
) -> Iterator[None]:
    """Send a batch to the card, slice by slice, and fetch its results; yield after each launch."""
    batch, table = work.batch, work.table
    learners = flat(batch)
    keep_weights, keep_ep = work.kept is not None, work.eps is not None
    prepared = _prepared(
        card, batch.settings, table, learners.climbing, keep_weights, keep_ep, batch.switch is not None
    )
    kernel, size = prepared.kernel, prepared.size
    numbers, changes = packed_learners(learners)
    width, phases = len(batch.recorded), batch.goals.shape[1]
    numbers_a_trial = 8 + phases + width + batch.episodes * keep_ep + size * (2 if keep_weights else 1)
    room = _room(cupy, len(batch), 4 * numbers_a_trial)
    # A resampling after the last episode is none, and its number need not fit.
    resample = learners.resample if learners.resample < batch.episodes else 0
    _in_use: Any = None
    try:
        for first, last, episode, until in slices(
            len(batch), batch.episodes, room, kernel.warps, kernel.pace
        ):
            n = last - first
            if episode == 0:
                _in_use = None  # what was for the trials before makes room
                sent = (
                    batch.learner[first:last], batch.goals[first:last], batch.seed[first:last],
                    numbers, changes, batch.columns,
                )  # fmt: skip
                empty = _OnCard(
                    best=0 if work.written else 4 * n * width,
                    eps=4 * n * batch.episodes if keep_ep else 0,
                    memory=4 * n * 2,
                    weights=4 * n * size,
                    kept=4 * n * size if keep_weights else 0,
                    queue=4 * (3 + 3 * n),
                )
                _in_use, at = _taken(cupy, stream, sent, empty)
                own = _OnCard(*at[len(sent) :])
            began = time.perf_counter()
            cupy.cuda.runtime.memsetAsync(own.queue, 0, empty.queue, stream.ptr)
            piece = PIECE if kernel.warps < n < CROWD * kernel.warps else until - episode
            kernel.launch(
                min(n, kernel.warps), stream.ptr,
                *at[:5], *prepared.places, at[5] + 4 * episode,
                work.written + 4 * first * width if work.written else own.best,
                own.eps, own.memory, own.weights, own.kept,
                own.queue, own.queue + 4, own.queue + 4 * (1 + n), own.queue + 4 * (1 + 2 * n),
                n, episode, until, piece, resample, width, batch.episodes,
                len(table.following), table.step_cost, batch.phase, phases,
            )  # fmt: skip
            launched = time.perf_counter()
            yield
            away = time.perf_counter() - launched
            if until == batch.episodes:
                best = None if work.written else work.best
                for array, place in ((best, own.best), (work.eps, own.eps), (work.kept, own.kept)):
                    if array is not None:
                        part = array[first:last]
                        cupy.cuda.runtime.memcpyAsync(
                            part.ctypes.data, place, part.nbytes, _TO_HOST, stream.ptr
                        )
            stream.synchronize()
            seconds = time.perf_counter() - began
            if away < _LATE * seconds:
                kernel.pace.learn(n * (until - episode) / min(n, kernel.warps), seconds)
            if progress is not None:
                progress(n * (until - episode))
    finally:
        stream.synchronize()  # whatever happened: the card may still use what is let go now


def _room_for(cupy: Any, trials: int, width: int) -> NDArray[np.int32]:
    """Return an array for results, in memory that the card can write to if it is not large.

    Copying into ordinary memory takes longer than most episodes.
    """
    if not _pinned(trials, width):
        return np.empty((trials, width), np.int32)
    memory = cupy.cuda.alloc_pinned_memory(4 * trials * width)
    return np.frombuffer(memory, np.int32, trials * width).reshape(trials, width)


def _pinned(trials: int, width: int) -> bool:
    """Say whether results of this size are put where the card can write to."""
    return trials * width <= _PINNED


class _OnCard(NamedTuple):
    """What trials have on the card (see the kernel's arguments): sizes in bytes, or places."""

    best: int
    eps: int
    memory: int
    weights: int
    kept: int
    queue: int


def _room(cupy: Any, trials: int, each: int) -> int:
    """Return how many trials, of this many bytes each, may be on the card at once."""
    if trials * each < SMALL:  # asking the card takes a while
        return trials
    free, _ = cupy.cuda.runtime.memGetInfo()
    free += cupy.get_default_memory_pool().free_bytes()
    room = int(_SHARE * free) // each
    if room < 1:
        raise cupy.cuda.memory.OutOfMemoryError(each, 0)
    return room


def _taken(
    cupy: Any, stream: Any, sent: Sequence[NDArray[Any]], empty: Sequence[int]
) -> tuple[Any, list[int]]:
    """Take memory of the card in one piece, and copy arrays to it in one piece: every request takes its time.

    Returns what has to be kept while it is in use, and the places of the arrays and of so many empty bytes.
    """
    sizes = [array.nbytes for array in sent]
    starts = _starts(*sizes, *empty)
    with stream:
        there = cupy.cuda.alloc(starts[-1])
    length = starts[len(sent)]
    together = cupy.cuda.alloc_pinned_memory(length)
    room = memoryview(together).cast("B")
    for array, start, size in zip(sent, starts, sizes, strict=False):
        room[start : start + size] = np.ascontiguousarray(array).data.cast("B")
    cupy.cuda.runtime.memcpyAsync(there.ptr, together.ptr, length, _TO_CARD, stream.ptr)
    first: int = there.ptr
    return (there, together), [first + start for start in starts[:-1]]


@lru_cache(maxsize=64)
def _starts(*sizes: int) -> tuple[int, ...]:
    """Return where pieces of these sizes begin that lie one behind the other, and where the last ends."""
    return (0, *accumulate(-(-size // _ALIGNED) * _ALIGNED for size in sizes))


class _Kernel(NamedTuple):
    """A kernel that is ready to run, the warps of it that the card holds, and its pace."""

    function: Any  # as CuPy knows it
    launch: Callable[..., None]
    warps: int
    pace: Pace


class _Launcher:
    """Starts a kernel. CuPy can, but looks at each of its many arguments, which takes five times as long."""

    def __init__(self, cupy: Any, function: Any) -> None:
        self._start, self._function = cupy.cuda.driver.launchKernel, function.kernel.ptr
        self._values = (ctypes.c_char * _ARGUMENTS.size)()
        sizes = [8] * _POINTERS + [4] * (_INTEGERS - 1)
        addresses = accumulate(sizes, initial=ctypes.addressof(self._values))
        self._each = (ctypes.c_void_p * (_POINTERS + _INTEGERS))(*addresses)  # where CUDA looks for them
        self._lock = threading.Lock()

    def __call__(self, blocks: int, stream: int, *arguments: int) -> None:
        """Start so many blocks, of a warp each, in a stream."""
        with self._lock:
            _ARGUMENTS.pack_into(self._values, 0, *arguments)
            each = ctypes.addressof(self._each)
            self._start(self._function, blocks, 1, 1, _LANES, 1, 1, 0, stream, each, 0)


def source() -> str:
    """Return the kernel's source."""
    return (resources.files("distal.engines.gpu") / "trials.cu").read_text(encoding="utf-8")


def compiler_options(capability: str, constants: tuple[tuple[str, int], ...]) -> list[str]:
    """Return what the compiler is told, for cards of a capability ("90") and the constants of a kernel.

    It is called without CuPy's own compilation of source, which makes subnormal numbers 0.
    """
    return [
        f"--gpu-architecture=sm_{capability}",
        "--std=c++17",
        "--fmad=false",
        "--ftz=false",
        "--device-as-default-execution-space",  # for lambdas, which cannot be marked
        *(f"-D{name}={value}" for name, value in constants),
    ]


@cache
def _kernel(card: int, constants: tuple[tuple[str, int], ...]) -> _Kernel:
    """Return the kernel for these constants, on the card in use, compiled now or kept from an earlier run."""
    import cupy  # noqa: PLC0415 - an extra

    text, options = source(), compiler_options(cupy.cuda.Device().compute_capability, constants)
    version = ".".join(map(str, cupy.cuda.nvrtc.getVersion()))
    name = hashlib.sha256("\n".join([text, version, *options]).encode()).hexdigest()
    kept = _cache_folder() / f"{name}.cubin"
    with _compiling:  # once for all cards
        if not _is_whole(kept):
            began = time.perf_counter()
            kept = _keep(kept, _compiled(cupy.cuda.nvrtc, text, options))
            seconds = time.perf_counter() - began
            if seconds > 1:
                _log.warning("compiled the gpu engine in %.1f s; it is kept for later runs", seconds)
    function = cupy.RawModule(path=str(kept)).get_function("run_trials")
    blocks = cupy.cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.kernel.ptr, _LANES, 0)
    multiprocessors = cupy.cuda.Device().attributes["MultiProcessorCount"]
    pace = Pace(dict(constants)["STEPS"])
    return _Kernel(function, _Launcher(cupy, function), blocks * multiprocessors, pace)


def _is_whole(kept: Path) -> bool:
    """Say whether machine code was kept and is what was written: the checksum beside it tells."""
    try:
        return kept.with_suffix(".sha256").read_bytes() == _checksum(kept.read_bytes())
    except OSError:
        return False


def _keep(kept: Path, code: bytes) -> Path:
    """Keep machine code with its checksum, for this run alone where there is no room; return where it is."""
    try:
        write_bytes(kept, code)
        write_bytes(kept.with_suffix(".sha256"), _checksum(code))
    except InputError as error:
        _log.warning("%s: the gpu engine is compiled again in every run", error)
        kept = _temporary_folder() / kept.name
        write_bytes(kept, code)
    return kept


def _checksum(code: bytes) -> bytes:
    return hashlib.sha256(code).hexdigest().encode()


def _compiled(nvrtc: Any, source: str, options: list[str]) -> bytes:
    """Compile for the card and return the machine code.

    The compiler fails on some kernels, for it runs out of predicates. These are compiled
    in a simpler form, or with fewer optimisations; they give the same bits.
    """
    forms = (["-DTOGETHER=4"], ["-DTOGETHER=1"], ["-DTOGETHER=1", "--ptxas-options=-O1"])
    for form in forms[:-1]:
        with suppress(RuntimeError):
            return _compiled_once(nvrtc, source, [*options, *form])
    return _compiled_once(nvrtc, source, [*options, *forms[-1]])


def _compiled_once(nvrtc: Any, source: str, options: list[str]) -> bytes:
    program = nvrtc.createProgram(source, "trials.cu", (), ())
    try:
        nvrtc.compileProgram(program, tuple(options))
        code: bytes = nvrtc.getCUBIN(program)
        return code
    except nvrtc.NVRTCError as error:
        raise RuntimeError(f"the gpu engine cannot be compiled: {nvrtc.getProgramLog(program)}") from error
    finally:
        nvrtc.destroyProgram(program)


def _cache_folder() -> Path:
    """Return the folder that keeps compiled kernels: one of the user's own, or else one for this run."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    folder = Path(home) / "distal"
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
    return folder if os.access(folder, os.W_OK) else _temporary_folder()


@cache
def _temporary_folder() -> Path:
    folder = tempfile.TemporaryDirectory(prefix="distal-")
    atexit.register(folder.cleanup)
    return Path(folder.name)


class _Prepared(NamedTuple):
    """What trials of one kind need on a card, whatever their learners, goals and seeds."""

    kernel: _Kernel
    size: int  # numbers that hold the weights of a network
    task: Packed  # its arrays lie on the card as long as this is there
    places: tuple[int, ...]  # of these arrays


@lru_cache(maxsize=16)
def _prepared(
    card: int,
    settings: Settings,
    table: Table,
    climbing: bool,
    keep_weights: bool,
    keep_ep: bool,
    moving: bool,
) -> _Prepared:
    """Return what trials need on the card in use; the last arguments are those of `definitions`."""
    inputs, outputs = table.inputs, table.outputs
    constants = definitions(settings, climbing, keep_weights, keep_ep, inputs, outputs, moving)
    kernel = _kernel(card, tuple(constants.items()))
    task = _table_on_card(card, table)
    places = tuple(array.data.ptr for array in task)
    return _Prepared(kernel, Layout(settings.hidden, inputs, outputs).size, task, places)


@lru_cache(maxsize=16)
def _table_on_card(card: int, table: Table) -> Packed:
    """Return a table whose arrays lie on the card in use."""
    import cupy  # noqa: PLC0415 - an extra

    there = Packed(*map(cupy.asarray, packed(table)))
    cupy.cuda.get_current_stream().synchronize()  # before other streams read it
    return there
