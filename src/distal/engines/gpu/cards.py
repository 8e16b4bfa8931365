"""The cards: the available ones, and their memory."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, counted

_CAPABILITY = (7, 0)  # of the oldest cards that have the instructions
_SHARE = 0.6  # of the free memory
SMALL = 2**28  # bytes that are taken without asking how much is free
_PINNED = 2**24  # numbers of a result that is put where the card can write to; such memory is scarce
_ALIGNED = 256  # bytes, as the card aligns memory itself
TO_CARD, TO_HOST = 1, 2  # which way a copy goes, in CUDA's numbers

_log = logging.getLogger("distal")


def cupy() -> Any:
    """Return the module that drives the cards."""
    import cupy  # noqa: PLC0415 - an extra

    return cupy


def check(workers: int | None = None) -> None:
    """Refuse, with what to do, if there is nothing to run on, or if there are fewer cards than workers."""
    missing = problem()
    if missing is not None:
        raise InputError(f"engine gpu: {missing}; or use engine cpu")
    if workers is not None and workers > 1:
        cards_for(workers)


@cache
def problem() -> str | None:
    """Return what is missing, if anything is."""
    try:
        cuda = cupy().cuda
    except ImportError as error:
        if error.name == "cupy":
            return "CuPy is not installed: pip install 'distal[gpu]'"
        return f"CuPy cannot be imported ({error}): reinstall it for your version of CUDA"
    try:
        count = cuda.runtime.getDeviceCount()
    except cuda.runtime.CUDARuntimeError as error:
        return f"no NVIDIA card answers ({error}): install the card's driver"
    if count == 0:
        return "there is no NVIDIA card: run on a machine that has one"
    try:
        cuda.nvrtc.getVersion()
    except Exception as error:  # whatever a missing library raises
        return f"CUDA's run-time compiler cannot be loaded ({error}): pip install 'distal[gpu]'"
    capability = _capability(cuda.Device().id)
    if capability < _CAPABILITY:
        own, oldest = (".".join(map(str, version)) for version in (capability, _CAPABILITY))
        return f"the card has compute capability {own}, {oldest} is needed"
    return None


def describe() -> dict[str, Any]:
    """Describe the card and the software that drives it."""
    cuda = cupy().cuda
    properties = cuda.runtime.getDeviceProperties(cuda.Device().id)
    driver, compiler = cuda.runtime.driverGetVersion(), cuda.nvrtc.getVersion()
    return {
        "card": properties["name"].decode(),
        "capability": f"{properties['major']}.{properties['minor']}",
        "multiprocessors": properties["multiProcessorCount"],
        "memory_gib": round(properties["totalGlobalMem"] / 2**30, 1),
        "driver_cuda": f"{driver // 1000}.{driver % 1000 // 10}",
        "nvrtc": ".".join(map(str, compiler)),
        "cupy": cupy().__version__,
    }


def cards_for(workers: int | None) -> tuple[int, ...]:
    """Return the numbers of the cards to use: one for each worker, or all; refuse more than there are."""
    current: int = cupy().cuda.Device().id
    if workers == 1:
        return (current,)
    found = (current, *(card for card in able_cards() if card != current))
    if workers is None:
        if len(found) > 1:
            say_cards(len(found))
        return found
    if workers > len(found):
        raise InputError(
            f"workers is {workers}, engine gpu finds {counted(len(found), 'card')}; ask for no more, "
            "or leave workers out"
        )
    return found[:workers]


@cache
def able_cards() -> tuple[int, ...]:
    """Return the numbers of all cards that have the instructions."""
    count = cupy().cuda.runtime.getDeviceCount()
    return tuple(card for card in range(count) if _capability(card) >= _CAPABILITY)


def _capability(card: int) -> tuple[int, int]:
    properties = cupy().cuda.runtime.getDeviceProperties(card)
    return properties["major"], properties["minor"]


@cache
def say_cards(count: int) -> None:
    """Say once that there are several cards, and that all are used."""
    _log.warning("engine gpu uses %d cards; workers=1 uses one", count)


# ---------------------------------------------------------------- memory and streams

idle: dict[int, list[Any]] = {}  # streams of each card that no batch uses


@contextmanager
def stream_of(card: int) -> Iterator[Any]:
    """Lend a stream of the card: the work of different streams may run side by side."""
    own = idle.setdefault(card, [])
    try:
        stream = own.pop()
    except IndexError:
        stream = cupy().cuda.Stream(non_blocking=True)
    try:
        yield stream
    finally:
        own.append(stream)


def fitting(trials: int, each: int) -> int:
    """Return how many trials, of this many bytes each, may be on the card at once."""
    if trials * each < SMALL:  # asking the card takes a while
        return trials
    driver = cupy()
    free, _ = driver.cuda.runtime.memGetInfo()
    free += driver.get_default_memory_pool().free_bytes()
    room = int(_SHARE * free) // each
    if room < 1:
        raise driver.cuda.memory.OutOfMemoryError(each, 0)
    return room


def out_of_memory() -> InputError:
    """Free all memory of the card that is not in use; return the refusal for work that needs more."""
    cupy().get_default_memory_pool().free_all_blocks()
    free, _ = cupy().cuda.runtime.memGetInfo()
    return InputError(
        f"engine gpu: {free / 2**20:,.0f} MiB of memory are free on the card, which is too little; "
        "end other programs that use it, or use engine cpu"
    )


class CardMemory(NamedTuple):
    """Memory of a card, and of the host, that stays taken as long as this is there."""

    memory: tuple[Any, Any]
    places: dict[str, int]


def take(stream: Any, sent: dict[str, NDArray[Any]], empty: dict[str, int]) -> CardMemory:
    """Take memory of the card in one piece, and copy arrays to it in one piece: every request takes its time.

    `empty` has the bytes of further places, which are left as they are.
    """
    sizes = [array.nbytes for array in sent.values()]
    starts = _starts(*sizes, *empty.values())
    cuda = cupy().cuda
    with stream:
        there = cuda.alloc(starts[-1])
    length = starts[len(sent)]
    together = cuda.alloc_pinned_memory(length)
    room = memoryview(together).cast("B")
    for array, start, size in zip(sent.values(), starts, sizes, strict=False):
        room[start : start + size] = np.ascontiguousarray(array).data.cast("B")
    cuda.runtime.memcpyAsync(there.ptr, together.ptr, length, TO_CARD, stream.ptr)
    places = zip((*sent, *empty), starts, strict=False)
    return CardMemory((there, together), {name: there.ptr + start for name, start in places})


@lru_cache(maxsize=64)
def _starts(*sizes: int) -> tuple[int, ...]:
    """Return where pieces of these sizes begin that lie one behind the other, and where the last ends."""
    return (0, *accumulate(-(-size // _ALIGNED) * _ALIGNED for size in sizes))


def is_pinned(trials: int, width: int) -> bool:
    """Return whether results of this size are put where the card can write to."""
    return trials * width <= _PINNED


def results(trials: int, width: int) -> NDArray[np.int32]:
    """Return an array for results, in memory that the card can write to if it is not large.

    Copying into ordinary memory takes longer than most episodes.
    """
    if not is_pinned(trials, width):
        return np.empty((trials, width), np.int32)
    memory = cupy().cuda.alloc_pinned_memory(4 * trials * width)
    return np.frombuffer(memory, np.int32, trials * width).reshape(trials, width)
