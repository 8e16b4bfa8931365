"""Moves through a table: places, events and costs, and transitions that are known from earlier steps."""

from __future__ import annotations

import numpy as np

from distal.engines.cpu.layout import EVENT_AT, NARROW, NUMBER_AT, OUTPUTS, STATE_AT, WAY_BITS, WAY_STATE_AT
from distal.engines.cpu.workspace import ACTION_BITS
from distal.model.compiled_draws import called, inlined
from distal.model.lanes import load8, lowest_bit, mask_bits, splat8
from distal.tasks.table import EVENT_BITS, EVENTS


@inlined
def first_spot(table, goal):
    """Return the spot that an episode begins at: of a narrow table a way."""
    spot = np.int64(table.start[goal])
    if len(table.form) == NARROW:
        return spot >> STATE_AT << WAY_STATE_AT | spot & 7
    return spot


@inlined
def place_of(table, spot):
    """Return the state of the table at a spot; that of a narrow table is a way, and may have others above."""
    if len(table.form) == NARROW:
        return spot >> WAY_STATE_AT & ((1 << WAY_BITS - WAY_STATE_AT) - 1)
    return (spot & ((1 << NUMBER_AT) - 1)) >> EVENT_BITS


@inlined
def ways_from(table, place):
    """Return where the actions lead from a place of a narrow table."""
    return table.ways[place] if len(table.form) == NARROW else np.uint64(0)


@inlined
def turn(table, action):
    """Return an action as `spot_after` takes it: in a narrow table where its way begins."""
    return action * WAY_BITS if len(table.form) == NARROW else action


@inlined
def spot_after(table, ways, place, following):
    """Return the spot that the action of what follows leads to."""
    turned = following & ((1 << ACTION_BITS) - 1)
    if len(table.form) == NARROW:
        return np.int64(ways >> np.uint64(turned))
    return np.int64(table.moves[place * table.outputs + turned])


@inlined
def is_event(table, spot):
    """Say whether an event led to a spot."""
    return spot & (1 << EVENT_AT if len(table.form) == NARROW else EVENTS - 1) != 0


@inlined
def outcome_of(table, goal, spot, place, following):
    """Return the outcome of the event that led from a place to a spot."""
    event = spot & (EVENTS - 1)
    if len(table.form) == NARROW:
        action = (following & ((1 << ACTION_BITS) - 1)) // WAY_BITS
        event = np.int64(table.moves[place * OUTPUTS + action]) >> EVENT_AT & (EVENTS - 1)
    return np.int64(table.outcomes[goal * EVENTS + event])


@inlined
def found_transition(ws, table, state, spot, base):
    """Return the number of a transition, and what it leads to, or a negative number if it is not known."""
    if len(table.form) == NARROW:
        transition = state * 8 + (spot & 7)
        return transition, ws.follow[transition]
    at = ws.last_sensed[spot >> NUMBER_AT]
    while at >= base and ws.used[at - base] != state:
        at = ws.link[at - base]
    if at < base:
        return np.int64(-1), np.int32(-1)
    return at - base, ws.follow[at - base]


@inlined
def new_transition(ws, table, state, spot, base, n_used):
    """Note a transition that is about to be computed; return its number."""
    if len(table.form) == NARROW:
        transition = state * 8 + (spot & 7)
        ws.used[n_used] = transition
        return transition
    number = spot >> NUMBER_AT
    ws.used[n_used], ws.sensed[n_used] = state, number
    ws.link[n_used], ws.last_sensed[number] = ws.last_sensed[number], base + n_used
    return np.int64(n_used)


@inlined
def transition_at(ws, table, u):
    """Return the number of the transition that was discovered as number u, its state, and the bits sensed."""
    if len(table.form) == NARROW:
        transition = ws.used[u]
        return transition, transition >> 3, np.uint64(transition & 7)
    return np.int64(u), ws.used[u], table.codes[ws.sensed[u]]


@inlined
def sensed_at(table, spot):
    """Return the bits that are sensed at a spot."""
    return np.uint64(spot & 7) if len(table.form) == NARROW else table.codes[spot >> NUMBER_AT]


@inlined
def first_visit(places, step, key):
    """Return the step that began at the same place in the same state as `step`, or `step` itself."""
    for first in range(0, step, 8):
        same = mask_bits(load8(places, first) == splat8(key))
        if same != np.uint64(0):
            return min(first + lowest_bit(same), step)  # what lies beyond is of another episode
    return step


@inlined
def count_cycle(ws, first, step, steps):
    """Count the steps from `step` on, which repeat those from `first` on.

    Returns how often they do so in full, and how many steps remain after that.
    """
    period, left = step - first, steps - step
    rounds, rest = left // period, left % period
    for k in range(first, step):
        ws.taken[ws.trail[k]] += rounds + (k < first + rest)
    return rounds, rest


# Continuous neurons call it as a function apart: inlined, it makes their steps 3 % slower.
count_cycle_apart = called(count_cycle.py_func)


@inlined
def cost_before(ws, events, step):
    """Return what events had cost when a step began."""
    while events > 0 and ws.happened[events] > step:
        events -= 1
    return ws.extra[events]
