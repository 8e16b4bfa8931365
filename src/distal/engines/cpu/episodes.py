"""An episode: steps are looked up, computed, or counted where they repeat."""

from __future__ import annotations

import numpy as np
from numba.extending import overload

from distal.engines.cpu.automaton import (
    act,
    feel,
    known_state,
    next_hidden,
    random_action,
    same_masks,
    sum_up,
)
from distal.engines.cpu.continuous import next_activity, same_activity
from distal.engines.cpu.layout import NARROW
from distal.engines.cpu.walk import (
    cost_before,
    count_cycle,
    count_cycle_apart,
    first_spot,
    first_visit,
    found_transition,
    is_event,
    new_transition,
    outcome_of,
    place_of,
    sensed_at,
    spot_after,
    transition_at,
    turn,
    ways_from,
)
from distal.engines.cpu.workspace import ACTION_BITS, CONTINUOUS, GROUP, ZERO, shape_of
from distal.model.compiled_draws import F0, called, inlined
from distal.model.lanes import load8, splat32, store


@inlined
def run_continuous(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Walk the table with continuous neurons; return what `run_binary` does. Nothing is kept.

    Every step has a state and a transition of its own. What came before is not known again
    by a number, but an agent that is at a place where it has been, with the same activity to
    the bit, repeats itself: the state of one step is kept, of the last whose number was a
    power of two (Brent's method), and each step is compared with it.
    """
    hidden, steps = options.hidden, options.steps
    _, _, outputs = shape_of(table)
    stride, words = GROUP * options.groups, -(-hidden // 64)
    base = np.int64(episode) * (steps + 1)
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for k in range(stride):
        ws.activity[k] = F0
    kept = 2 * stride

    spot, extra, step = first_spot(table, goal), ZERO, ZERO
    mark, next_mark = -1, 1
    while step < steps:
        place = place_of(table, spot)
        ws.spots[step], ws.extra[step] = spot, extra
        now = (step & 1) * stride
        if not options.random_action:
            if (
                mark >= 0
                and place_of(table, ws.spots[mark]) == place
                and ws.active_outputs[mark] == ws.active_outputs[step]
                and same_masks(ws.masks, words, mark, step)  # sums about 0 may pass on the same
                and same_activity(ws, hidden, now, kept)
            ):
                rounds, rest = count_cycle_apart(ws, mark, step, steps)
                extra += rounds * (extra - ws.extra[mark]) + ws.extra[mark + rest] - ws.extra[mark]
                place = place_of(table, ws.spots[mark + rest])
                left_over = table.left[goal * table.states + place]
                return steps * table.step_cost + left_over + extra, steps, step
            if step == next_mark:
                mark, next_mark = step, 2 * step
                for at in range(0, stride, 8):
                    store(ws.activity, kept + at, load8(ws.activity, now + at))
        next_activity(ws, table, options, sensed_at(table, spot), now, stride - now, step, alpha_h, alpha_o)
        transition = new_transition(ws, table, np.int64(step), spot, base, step)
        action = ws.action[step + 1]
        ws.follow[transition] = np.int32((step + 1) << ACTION_BITS | action)
        ws.taken[transition] = 1
        ws.trail[step] = transition
        step += 1
        if options.random_action:
            action = random_action(ws, ws.active_outputs[step], outputs, step - 1, seed, episode)
        turned = turn(table, action)
        spot = spot_after(table, ways_from(table, place), place, turned)
        if is_event(table, spot):
            outcome = outcome_of(table, goal, spot, place, turned)
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, step
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, step


@inlined
def begin_automaton(ws, table, options):
    """Compute what is known before the first step of binary neurons."""
    if len(options.neurons) == CONTINUOUS:
        return
    hidden, words = options.hidden, -(-options.hidden // 64)
    for w in range(words):
        ws.masks[w] = np.uint64(0)
    ws.active_outputs[0] = np.uint64(0)
    for g in range(0, hidden, GROUP):
        store(ws.sums, g, splat32(F0))
    if len(table.form) == NARROW:
        feel(ws, hidden, GROUP * options.groups)


@called
def still_true(ws, table, options, n_used, alpha_h, alpha_o):
    """Compute the transitions of the episode before with the new weights, in the order of their discovery.

    Returns how many come out as before until one does not, and how many states there are by then.
    """
    hidden, stride, words = options.hidden, GROUP * options.groups, -(-options.hidden // 64)
    now = options.steps + 1  # the state to compare with
    n_states = np.int64(1)
    for u in range(n_used):
        transition, before, sensed = transition_at(ws, table, u)
        after = np.int64(ws.follow[transition]) >> ACTION_BITS
        mask = next_hidden(ws, table, before, sensed, now, hidden, stride, words, alpha_h, alpha_o)
        ws.masks[now * words] = mask
        if not same_masks(ws.masks, words, now, after):
            return u, n_states
        if after == n_states:
            sums = sum_up(ws, table, after, mask, hidden, stride, words)
            same = act(ws, table, now, sums, options.winner_alone) == ws.action[after]
            if not same or ws.active_outputs[now] != ws.active_outputs[after]:
                return u, n_states
            n_states += 1
    return n_used, n_states


@inlined
def keep_transitions(ws, table, kept, n_used, base):
    """Keep the first transitions of the episode before, which are still true, and forget the others."""
    narrow, _, _ = shape_of(table)
    for u in range(kept):
        if narrow:
            ws.taken[ws.used[u]] = 0
        else:
            ws.taken[u] = 0
            number = ws.sensed[u]
            ws.link[u], ws.last_sensed[number] = ws.last_sensed[number], base + u
    if narrow and kept == 0:
        for k in range(8):
            ws.follow[k] = -1
    elif narrow:
        for u in range(kept, n_used):
            ws.follow[ws.used[u]] = -1


@inlined
def discover(ws, table, options, state, spot, base, n_states, n_used, alpha_h, alpha_o):
    """Compute a transition that is not known.

    Returns its number, what it leads to, and how many states there are now.
    """
    hidden, stride, words = options.hidden, GROUP * options.groups, -(-options.hidden // 64)
    sensed = sensed_at(table, spot)
    mask = next_hidden(ws, table, state, sensed, n_states, hidden, stride, words, alpha_h, alpha_o)
    new = known_state(ws.masks, n_states, mask, words)
    if new == n_states:
        ws.masks[new * words] = mask
        sums = sum_up(ws, table, new, mask, hidden, stride, words)
        action = act(ws, table, new, sums, options.winner_alone)
        if len(table.form) == NARROW:
            for k in range(8):
                ws.follow[new * 8 + k] = -1
        n_states += 1
    else:
        action = ws.action[new]
    transition = new_transition(ws, table, state, spot, base, n_used)
    following = np.int32(new << ACTION_BITS | turn(table, action))
    ws.follow[transition], ws.taken[transition] = following, 0
    return transition, following, n_states


@called
def run_binary(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Walk the table with binary neurons; return EP, the steps taken and the number of transitions in use.

    Of the `n_used` transitions of the episode before, the first `kept` and their states are still true.
    """
    steps, drawn = options.steps, options.random_action
    _, _, outputs = shape_of(table)
    base = np.int64(episode) * (steps + 1)  # visits of earlier episodes lie below it
    keep_transitions(ws, table, kept, n_used, base)
    n_used = kept
    spot, state, step = first_spot(table, goal), ZERO, ZERO
    extra, events = ZERO, ZERO
    ws.extra[0] = 0
    while True:
        place, transition, following, seen, event = ZERO, ZERO, np.int32(-1), False, False
        # Steps whose transition is known have a loop of their own, which leaves the registers to them.
        # Whatever is not a plain step ends it and is done below.
        while step < steps and not drawn:
            place = place_of(table, spot)
            ways = ways_from(table, place)
            # Has the agent been at this place in this state before?
            ws.places[step] = np.uint64(place << 32 | state)
            visits, bit = ws.visits[place], np.int64(1) << (state & 31)
            states = visits & 0xFFFFFFFF if visits >> 32 == episode else ZERO
            ws.visits[place] = np.int64(episode) << 32 | states | bit
            seen = states & bit != 0
            if seen:
                break
            transition, following = found_transition(ws, table, state, spot, base)
            if following < 0:
                break
            ws.taken[transition] += 1
            ws.trail[step] = transition
            state = np.int64(following) >> ACTION_BITS
            spot = spot_after(table, ways, place, np.int64(following))
            step += 1
            event = is_event(table, spot)
            if event:
                break
        if not event:
            if step == steps:
                break
            place = place_of(table, spot)
            if seen:
                first = first_visit(ws.places, step, np.uint64(place << 32 | state))
                if first < step:
                    rounds, rest = count_cycle(ws, first, step, steps)
                    before = cost_before(ws, events, first)
                    extra += rounds * (extra - before) + cost_before(ws, events, first + rest) - before
                    place = np.int64(ws.places[first + rest] >> np.uint64(32))
                    left_over = table.left[goal * table.states + place]
                    return steps * table.step_cost + left_over + extra, steps, n_used
            if seen or drawn:
                transition, following = found_transition(ws, table, state, spot, base)
            if following < 0:
                transition, following, n_states = discover(
                    ws, table, options, state, spot, base, n_states, n_used, alpha_h, alpha_o
                )
                n_used += 1
            ws.taken[transition] += 1
            ws.trail[step] = transition
            state = np.int64(following) >> ACTION_BITS
            if drawn:
                action = random_action(ws, ws.active_outputs[state], outputs, step, seed, episode)
                following = np.int32(turn(table, action))
            spot = spot_after(table, ways_from(table, place), place, np.int64(following))
            step += 1
            event = is_event(table, spot)
        if event:
            outcome = outcome_of(table, goal, spot, place, np.int64(following))
            extra += outcome >> 1
            if outcome & 1:
                return step * table.step_cost + extra, step, n_used
            events += 1
            ws.happened[events], ws.extra[events] = step, extra
    left_over = table.left[goal * table.states + place_of(table, spot)]
    return steps * table.step_cost + left_over + extra, step, n_used


def run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    """Run an episode with the neurons at hand: compiled code has the other kind's nowhere in it."""
    raise NotImplementedError


@overload(run_episode, jit_options={"error_model": "numpy", "forceinline": True})
def _run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
    neurons = options.types[options.fields.index("neurons")]
    run = run_continuous if len(neurons) == CONTINUOUS else run_binary

    def chosen(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used):
        return run(ws, table, options, goal, alpha_h, alpha_o, seed, episode, kept, n_states, n_used)

    return chosen
