"""The compiled part of engine cpu: one trial after another, as fast as we can.

The bits are the same as the reference engine's; docs/inside-the-engines.md explains the ideas. In
short: while an episode lasts the weights are fixed and activations are binary, so the network is a
finite automaton. Its states (the hidden activations) and transitions are computed once each and
remembered, most steps are a lookup, and an agent that comes back to the same place in the same
state repeats itself, so the rest of its episode is counted instead of walked. An episode whose
transitions are those of the one before is not walked at all. Traces need only how often each
transition was taken, and sources (pre-synaptic neurons) that were active in the same transitions
have the same traces, so that these are compared once for each kind of source.

`workspace` is the memory, `weights` draws the weights, `automaton` and `continuous` compute a step of binary
and of sigmoid neurons, `walk` moves through the table, `episodes` joins these, and `update` changes the
weights. The trials are here.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from distal.engines.cpu.cache import keep_compiled
from distal.engines.cpu.episodes import begin_automaton, run_episode, still_true
from distal.engines.cpu.update import decide_all, update
from distal.engines.cpu.weights import draw, keep
from distal.engines.cpu.workspace import CONTINUOUS, GROUP, ZERO, pointed, pointers
from distal.learners.compiled_climbing import stepped
from distal.model.compiled_draws import F1
from distal.model.compiled_traces import threshold
from distal.model.draws import NOISE, WEIGHTS
from distal.model.lanes import pointer, read_now


def compiled(*functions):
    """Declare kernels, which are compiled when they are first called and kept for later runs."""
    kernels = tuple(njit(error_model="numpy", nogil=True)(function) for function in functions)
    keep_compiled(*kernels)
    return kernels


def dsp_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    own,
    task,
    options,
    space,
    columns,
    best,
    ep_out,
    hidden_out,
    output_out,
    stop,
    done,
):
    """Run trials first … last − 1 with DSP rules, or with eligibility traces that do not fade.

    numbers (rules, 4): η, θ, α_h, α_o; own: see `PackedLearners`. done[0] counts episodes, done[1] is
    the trial at work, done[2] counts steps.
    """
    ws = pointers(space)
    table = pointed(task)
    stride = GROUP * options.groups
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    # Actions that are drawn do not repeat themselves, and continuous neurons hardly do.
    repeatable = len(options.neurons) != CONTINUOUS and not options.random_action
    for trial in range(first, last):
        done[1] = trial
        space.visits[:] = -1
        space.last_sensed[:] = -1
        rule, key = learner[trial], seed[trial]
        eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
        lowest = np.int64(2**62)
        previous = np.int64(2**62)
        until_fresh, until_moved, phase = 0, options.phase, 0
        ep, steps, n_used = ZERO, ZERO, ZERO
        steady = False  # the last two EPs are equal, so this episode is likely to repeat the one before
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                previous = np.int64(2**62)
                until_fresh = options.resample if options.resample > 0 else options.episodes
                steady = False
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
                steady = False
            until_fresh -= 1
            until_moved -= 1
            begin_automaton(ws, table, options)
            kept, n_states, same = ZERO, np.int64(1), False
            if steady and repeatable:
                kept, n_states = still_true(ws, table, options, n_used, alpha_h, alpha_o)
                same = kept == n_used
            if not same:
                ep, steps, n_used = run_episode(
                    ws,
                    table,
                    options,
                    goal[trial, phase],
                    alpha_h,
                    alpha_o,
                    key,
                    episode,
                    kept,
                    n_states,
                    n_used,
                )
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, stride, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            rewarded = ep < previous or (ep == previous and not options.punish_ties)
            steady, previous = ep == previous, ep
            if until_fresh != 0:
                # Where the walk is the same so is m: the EP equals the one before for the second time.
                if not same:
                    m = 1 if rewarded else 0
                    decide_all(ws, table, options, n_used, threshold(theta, steps), own[rule, m], eta)
                update(ws, table, options)
            done[0] += 1
            done[2] += steps


def climbing_trials(
    first,
    last,
    learner,
    goal,
    seed,
    numbers,
    own,
    task,
    options,
    space,
    columns,
    best,
    ep_out,
    hidden_out,
    output_out,
    stop,
    done,
):
    """Run trials first … last − 1 by hill climbing, or with an evolution strategy.

    numbers (climbers, 3): σ, α_h, α_o; own (climbers): the factor of σ after a success, 1 if it stays.
    """
    ws = pointers(space)
    table = pointed(task)
    stride = GROUP * options.groups
    running, curves, eps = pointer(stop), pointer(best), pointer(ep_out)
    for trial in range(first, last):
        done[1] = trial
        space.visits[:] = -1
        space.last_sensed[:] = -1
        climber, key = learner[trial], seed[trial]
        sigma, alpha_h, alpha_o = numbers[climber, 0], numbers[climber, 1], numbers[climber, 2]
        factor = own[climber]
        lowest = np.int64(2**62)
        top = np.int64(2**62)  # the best EP of this climb
        until_fresh, until_moved, phase = 0, options.phase, 0
        for episode in range(options.episodes):
            if read_now(running) != 0:
                return
            if until_fresh == 0:
                draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
                top, sigma = np.int64(2**62), numbers[climber, 0]
                until_fresh = options.resample if options.resample > 0 else options.episodes
            elif until_moved == 0:  # the best weights are measured anew
                space.weights[:] = space.best
                top, sigma = np.int64(2**62), numbers[climber, 0]
            else:
                draw(ws, table, options.hidden, stride, key, episode, NOISE, sigma)
            if until_moved == 0:
                phase, until_moved, lowest = phase + 1, options.phase, np.int64(2**62)
            until_fresh -= 1
            until_moved -= 1
            begin_automaton(ws, table, options)
            ep, steps, _ = run_episode(
                ws,
                table,
                options,
                goal[trial, phase],
                alpha_h,
                alpha_o,
                key,
                episode,
                ZERO,
                np.int64(1),
                ZERO,
            )
            if top != np.int64(2**62):  # the first weights are no trial of a step
                sigma = stepped(sigma, factor, ep < top)
            if ep < top:
                top = ep
                if until_fresh != 0:  # else the climb starts over, as chance does in every episode
                    space.best[:] = space.weights
            if ep < lowest:
                lowest = ep
                if options.keep_weights:
                    keep(ws, table, options.hidden, stride, trial, hidden_out, output_out)
            if columns[episode] >= 0:
                curves[trial * options.recorded + columns[episode]] = lowest
            if options.keep_ep:
                eps[trial * options.episodes + episode] = ep
            done[0] += 1
            done[2] += steps


dsp_trials, climbing_trials = compiled(dsp_trials, climbing_trials)
