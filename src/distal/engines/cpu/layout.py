"""The layout of a table in memory for the compiled code of engine cpu."""

from __future__ import annotations

from typing import Any, NamedTuple

from distal.tasks.table import EVENT_BITS

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
