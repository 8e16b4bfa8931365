"""How a table lies in memory for the compiled code of engine cpu."""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from distal.engines.compiled import COMPILED_OUTPUTS
from distal.tasks.table import EVENT_BITS, EVENTS, Table

INPUTS, OUTPUTS = 3, 4  # of a narrow table: as many as the paper's agent has
# Where the parts of a spot begin: see `Packed`.
EVENT_AT = INPUTS
STATE_AT = EVENT_AT + EVENT_BITS
NUMBER_AT = 32
NARROW, WIDE = 1, 2
# Four ways lie in a word, one for each action of a narrow table: see `Packed`.
WAY_BITS = 16
WAY_STATE_AT = EVENT_AT + 1
NARROW_STATES = 2 ** (WAY_BITS - WAY_STATE_AT)


class Packed(NamedTuple):
    """A table as compiled code reads it.

    A narrow one, of three inputs, four actions and up to 4,096 states, has spots of 21 bits:
    state << STATE_AT | event << EVENT_AT | observation. The four that follow a state lie in one
    word, too, as ways of 16 bits, which say only whether there is an event: state << WAY_STATE_AT
    | there is << EVENT_AT | observation. The spots of a wide table have 53 bits: number <<
    NUMBER_AT | state << EVENT_BITS | event; the number is that of the observation, whose bits are
    in `codes`.
    """

    moves: Any  # int32, of a wide table int64 (states · actions): the spot after each action
    ways: Any  # uint64 (states): where the actions of a narrow table lead, the first action's way lowest
    outcomes: Any  # int32 (goals · 64): what each event costs << 1 | whether it ends the episode
    left: Any  # int32 (goals · states)
    start: Any  # like moves (goals): spots
    states: int
    step_cost: int
    codes: Any  # uint64 (things to sense): the bits of each; of a narrow table unused
    inputs: int
    outputs: int
    row: tuple[int, ...]  # its length, which the compiler knows, is that of a row of output weights
    form: tuple[int, ...]  # its length says whether the table is NARROW or WIDE


@lru_cache(maxsize=4)
def packed(table: Table) -> Packed:
    """Pack a table of up to 64 inputs and 16 actions (see `CompiledEngine.table`)."""
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
        start=spots[table.starts],
        states=len(table.following),
        step_cost=table.step_cost,
        codes=codes,
        inputs=table.inputs,
        outputs=table.outputs,
        row=(0,) * row,
        form=(0,) * (WIDE if len(codes) else NARROW),
    )
