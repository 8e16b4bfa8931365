"""The kernel on a card: its arguments, how it is started, and what it needs there."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Callable
from functools import cache, lru_cache
from itertools import accumulate
from operator import itemgetter
from typing import Any, NamedTuple

from distal.engines.gpu.cards import cupy
from distal.engines.gpu.constants import definitions
from distal.engines.gpu.machine_code import machine_code
from distal.engines.gpu.packing import LANES, Layout, PackedTable, packed
from distal.engines.gpu.slicing import Pace
from distal.model.settings import Settings
from distal.tasks.table import Table

# The arguments of `run_trials`, in its order; trials.cu explains them.
ADDRESSES = (
    "learner", "goal", "seed", "numbers", "changes", "moves", "sensed", "starts", "outcomes", "left",
    "recorded", "best", "eps", "memory", "weights", "kept", "next", "claimed", "done", "handed",
)  # fmt: skip
NUMBERS = (
    "trials", "first", "last", "piece", "resample", "columns", "episodes", "states", "step_cost", "phase",
    "phases",
)  # fmt: skip
PACKED = struct.Struct(f"{len(ADDRESSES)}q{len(NUMBERS)}i")
in_order = itemgetter(*ADDRESSES, *NUMBERS)


class Kernel(NamedTuple):
    """A kernel that is ready to run, the warps of it that the card holds, and its pace."""

    function: Any  # as CuPy knows it
    launch: Callable[[int, int, dict[str, int]], None]
    warps: int
    pace: Pace


class Launcher:
    """Starts a kernel. CuPy can, but looks at each of its many arguments, which takes five times as long."""

    def __init__(self, start: Callable[..., None], function: int) -> None:
        self._start, self._function = start, function
        self._values = (ctypes.c_char * PACKED.size)()
        sizes = [8] * len(ADDRESSES) + [4] * (len(NUMBERS) - 1)
        addresses = accumulate(sizes, initial=ctypes.addressof(self._values))
        self._each = (ctypes.c_void_p * (1 + len(sizes)))(*addresses)  # where CUDA looks for them
        self._lock = threading.Lock()

    def __call__(self, blocks: int, stream: int, arguments: dict[str, int]) -> None:
        """Start this many blocks, of a warp each, in a stream."""
        with self._lock:
            PACKED.pack_into(self._values, 0, *in_order(arguments))
            each = ctypes.addressof(self._each)
            self._start(self._function, blocks, 1, 1, LANES, 1, 1, 0, stream, each, 0)


@cache
def kernel_for(card: int, constants: tuple[tuple[str, int], ...]) -> Kernel:
    """Return the kernel for these constants, on the card in use."""
    cuda = cupy().cuda
    code = machine_code(cuda.nvrtc, cuda.Device().compute_capability, constants)
    function = cupy().RawModule(path=str(code)).get_function("run_trials")
    blocks = cuda.driver.occupancyMaxActiveBlocksPerMultiprocessor(function.kernel.ptr, LANES, 0)
    warps = blocks * cuda.Device().attributes["MultiProcessorCount"]
    launch = Launcher(cuda.driver.launchKernel, function.kernel.ptr)
    return Kernel(function, launch, warps, Pace(dict(constants)["STEPS"]))


class Prepared(NamedTuple):
    """What trials of one kind need on a card, whatever their learners, goals and seeds."""

    kernel: Kernel
    size: int  # numbers that hold the weights of a network
    task: PackedTable  # its arrays lie on the card as long as this is there
    places: dict[str, int]  # of these arrays


@lru_cache(maxsize=16)
def prepared(card: int, settings: Settings, table: Table, **kept: bool) -> Prepared:
    """Return what trials need on the card in use; `kept` is as in `definitions`."""
    inputs, outputs = table.inputs, table.outputs
    constants = definitions(settings, inputs, outputs, **kept)
    kernel, task = kernel_for(card, tuple(constants.items())), table_on_card(card, table)
    places = {name: array.data.ptr for name, array in task._asdict().items()}
    return Prepared(kernel, Layout(settings.hidden, inputs, outputs).size, task, places)


@lru_cache(maxsize=16)
def table_on_card(card: int, table: Table) -> PackedTable:
    """Return a table whose arrays lie on the card in use."""
    there = PackedTable(*map(cupy().asarray, packed(table)))
    cupy().cuda.get_current_stream().synchronize()  # before other streams read it
    return there
