"""The layout of networks, tables and learners in the memory of a card."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from distal.engines.compiled_engine import PackedLearners
from distal.networks.recurrent import incoming
from distal.tasks.table import EVENT_BITS, EVENTS, Table

LANES = 32
_FAST_HIDDEN = 64  # more weights than the registers of a warp hold: these are in slower memory
_FAST_WEIGHTS = 280  # of a lane: what its warp shares grows with them, up to the 48 KiB that a block may have
_REGISTERS = 2**14  # of each of the four parts of a multiprocessor, given to warps in eights a lane
_ROOM_IN_SPOT = 4  # bits of a word that a state and an event leave


@dataclass(frozen=True)
class Layout:
    """How the neurons and weights of a network lie in the lanes of a warp."""

    hidden: int
    inputs: int
    outputs: int

    @property
    def slots(self) -> int:
        """Neurons a lane: lane l has neurons l, l + 32, …; the outputs follow the hidden ones."""
        return -(-(self.hidden + self.outputs) // LANES)

    @property
    def incoming(self) -> int:
        """Weights of a hidden neuron; those of an output stand as if it were one."""
        return incoming(self.hidden, self.inputs, self.outputs)

    @property
    def size(self) -> int:
        """Numbers that hold the weights of a network."""
        return self.slots * self.incoming * LANES

    @property
    def blocks(self) -> int:
        """Blocks, of a warp each, that shall fit on a multiprocessor: what the registers allow."""
        registers = min(self.slots * (self.incoming + 16) + 52, 255)
        return min(32, 4 * (_REGISTERS // (LANES * (-(-registers // 8) * 8))))

    @property
    def large(self) -> bool:
        """Whether a lane has too few registers for its weights."""
        return self.hidden > _FAST_HIDDEN or self.slots * self.incoming > _FAST_WEIGHTS

    def unpack(self, weights: NDArray[np.float32]) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Turn weights as they lie in lanes, (trials, size), into the matrices of `Weights`."""
        by_lane = weights.reshape(len(weights), self.slots, self.incoming, LANES)
        rows = by_lane.transpose(0, 1, 3, 2).reshape(len(weights), self.slots * LANES, -1)
        outputs, bias = rows[:, self.hidden : self.hidden + self.outputs], self.inputs
        columns = [*range(bias + 1, bias + 1 + self.hidden), bias]
        return rows[:, : self.hidden].copy(), outputs[:, :, columns]


def padded(learners: PackedLearners) -> tuple[NDArray[np.float32], NDArray[np.int8]]:
    """Return the learners' numbers (learners, 4) and changes (learners, 16, 2), which climbers do not use."""
    if not learners.climbing:
        return learners.numbers, learners.own
    count, width = learners.numbers.shape
    numbers = np.zeros((count, 4), np.float32)
    numbers[:, :width] = learners.numbers
    return numbers, np.zeros((count, 16, 2), np.int8)


class PackedTable(NamedTuple):
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


def packed(table: Table) -> PackedTable:
    """Pack a table for the kernel."""
    bits = 1 << np.arange(table.inputs + 1, dtype=np.int64)
    sensed = table.observations @ bits[:-1] | bits[-1]
    spot = np.arange(len(sensed)) << EVENT_BITS + in_spot(table.inputs)
    if in_spot(table.inputs):
        spot |= sensed
    outcomes = np.zeros((table.goals, EVENTS), np.int32)
    outcomes[:, : table.costs.shape[1]] = table.costs << 1 | table.ends
    moves = spot[table.following] | table.events.astype(np.int64) << in_spot(table.inputs)
    return PackedTable(
        moves=moves.astype(np.int32).ravel(),
        sensed=sensed.astype(np.uint32),
        starts=spot[table.starts].astype(np.int32),
        outcomes=outcomes.ravel(),
        left=table.left.ravel(),
    )
