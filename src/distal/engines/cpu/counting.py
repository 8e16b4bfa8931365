"""Which rows of a rule synapses select, counted while a trial runs: its code is that of the kernels.

The trial is the one that `dsp_trials` runs, with a count before every update. It is compiled
on its own, so that the trials of an evolution stay as fast as they are.
"""

from __future__ import annotations

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from distal.engines.batch import Batch, Progress, check_supported, named_in_errors
from distal.engines.cpu import Announcement, Job, supports
from distal.engines.cpu.kernels import (
    F1,
    GROUP,
    compiled,
    count_traces,
    draw,
    inlined,
    pointed,
    pointers,
    run_episode,
    shape_of,
    threshold,
    update,
)
from distal.model.draws import WEIGHTS

INPUTS, RECURRENT, FEEDBACK, OUTPUTS, BIASES = range(5)  # the layers, as they are counted
LAYERS, ROWS = 5, 32


@inlined
def row_of(both, pre, post, steps, bound, m):
    """Return the row that a synapse selects; `m` is 1 for m = +1, else 0."""
    row = 8 * (steps - pre - post + both > bound) + 4 * (post - both > bound)
    row += 2 * (pre - both > bound) + 1 * (both > bound)
    return 2 * row + m


@inlined
def tally(ws, table, hidden, steps, bound, m, counts):
    """Add the row of every synapse to counts (layers, rows)."""
    stride = -(-hidden // GROUP) * GROUP
    _, inputs, outputs = shape_of(table)
    feed, lanes = inputs + 1, len(table.row)
    for p in range(feed + hidden + outputs):
        pre = np.int64(ws.pre[p])
        layer = INPUTS if p < inputs else BIASES
        if p >= feed:
            layer = RECURRENT if p < feed + hidden else FEEDBACK
        for j in range(hidden):
            if p - feed != j:  # no synapse from itself
                both, post = np.int64(ws.both[p * stride + j]), np.int64(ws.both[inputs * stride + j])
                counts[layer, row_of(both, pre, post, steps, bound, m)] += 1
    for p in range(hidden + 1):
        pre = np.int64(ws.both[inputs * stride + p]) if p < hidden else steps
        layer = OUTPUTS if p < hidden else BIASES
        for k in range(outputs):
            both = np.int64(ws.both_output[p * lanes + k])
            post = np.int64(ws.both_output[hidden * lanes + k])
            counts[layer, row_of(both, pre, post, steps, bound, m)] += 1


def counted_trial(trial, learner, goal, seed, numbers, changes, task, options, space, counts):
    """Run a trial with a DSP rule and add what every update selects to counts (periods, layers, rows)."""
    stride = -(-options.hidden // GROUP) * GROUP
    ws, table = pointers(space), pointed(task)
    space.last_visit[:] = -1
    space.last_sensed[:] = -1
    rule, key = learner[trial], seed[trial]
    eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
    previous = np.int64(2**62)
    until_fresh = 0
    updates = options.episodes - 1  # nothing follows the last episode
    for episode in range(updates):
        if until_fresh == 0:
            draw(ws, table, options.hidden, stride, key, episode, WEIGHTS, F1)
            previous = np.int64(2**62)
            until_fresh = options.resample if options.resample > 0 else options.episodes
        until_fresh -= 1
        ep, steps, last_state, n_used = run_episode(
            ws, table, options, goal[trial, episode // options.phase], alpha_h, alpha_o, key, episode
        )
        m = 1 if ep < previous or (ep == previous and not options.punish_ties) else 0
        previous = ep
        if until_fresh != 0:
            count_traces(ws, table, options, n_used, steps, last_state)
            period = counts[episode * len(counts) // updates]
            tally(ws, table, options.hidden, steps, threshold(theta, steps), m, period)
            update(ws, table, options, steps, theta, eta, changes[rule, m])


(counted_trial,) = compiled(counted_trial)


def count(batch: Batch, periods: int, progress: Progress | None = None) -> NDArray[np.int64]:
    """Return how often synapses selected each row, (periods, layers, rows), in a batch of rules.

    Trials are run one after another, so that Ctrl-C is heard between them.
    """
    check_supported(supports(batch))
    arguments = Job(batch, keep_weights=False, keep_ep=False).arguments()[:8]
    counts = np.zeros((periods, LAYERS, ROWS), np.int64)
    with event.install_listener("numba:compile", Announcement(counted_trial, "counting the rows of rules")):
        for trial in range(len(batch)):
            with named_in_errors(batch, trial):
                counted_trial(trial, *arguments, counts)  # type: ignore[call-arg]
            if progress is not None:
                progress(batch.episodes)
    return counts
