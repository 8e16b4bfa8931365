"""The rows of a rule that synapses select, counted while a trial runs, with the code of the kernels.

The trial is the one that `dsp_trials` runs, with a count before every update. It is compiled
on its own, so that the trials of an evolution stay as fast as they are.
"""

from __future__ import annotations

import numpy as np
from numba.core import event
from numpy.typing import NDArray

from distal.engines.batch import Batch, named_in_errors
from distal.engines.cpu import Announcement, Job
from distal.engines.cpu.episodes import begin_automaton, run_episode
from distal.engines.cpu.kernels import compiled
from distal.engines.cpu.update import decide, list_firings, sort_sources, update
from distal.engines.cpu.weights import draw
from distal.engines.cpu.workspace import GROUP, ZERO, pointed, pointers, shape_of
from distal.engines.engine import Progress
from distal.model.compiled_draws import F1, inlined
from distal.model.compiled_traces import threshold
from distal.model.draws import WEIGHTS
from distal.model.lanes import splat32

INPUTS, RECURRENT, FEEDBACK, OUTPUTS, BIASES = range(5)  # the layers, as they are counted
LAYERS, ROWS = 5, 32


@inlined
def tally(ws, table, hidden, stride, m, counts):
    """Add the row of every synapse to counts (layers, rows); `m` is 1 for m = +1, else 0."""
    _, inputs, outputs = shape_of(table)
    feed = inputs + 1
    for p in range(feed + hidden + outputs + 1):
        at = ws.kind[p] * stride
        layer = INPUTS if p < inputs else BIASES
        if feed <= p < feed + hidden + outputs:
            layer = RECURRENT if p < feed + hidden else FEEDBACK
        if p < feed + hidden + outputs:
            for j in range(hidden):
                if p - feed != j:  # no synapse from itself
                    counts[layer, ws.chosen[at + j] + m] += 1
        if feed <= p < feed + hidden or p == feed + hidden + outputs:
            layer = OUTPUTS if p < feed + hidden else BIASES
            for k in range(outputs):
                counts[layer, ws.chosen[at + hidden + k] + m] += 1


def counted_trial(trial, learner, goal, seed, numbers, changes, task, options, space, counts):
    """Run a trial with a DSP rule and add what every update selects to counts (periods, layers, rows)."""
    ws, table = pointers(space), pointed(task)
    stride, lanes = GROUP * options.groups, options.hidden + len(table.row)
    space.visits[:] = -1
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
        begin_automaton(ws, table, options)
        ep, steps, n_used = run_episode(
            ws, table, options, goal[trial, episode // options.phase], alpha_h, alpha_o, key, episode,
            ZERO, np.int64(1), ZERO,
        )  # fmt: skip
        m = 1 if ep < previous or (ep == previous and not options.punish_ties) else 0
        previous = ep
        if until_fresh != 0:
            firings = list_firings(ws, table, options, n_used)
            kinds = sort_sources(ws, table, options, firings, splat32(np.int16(threshold(theta, steps))))
            tally(ws, table, options.hidden, stride, m, counts[episode * len(counts) // updates])
            decide(ws, lanes, stride, kinds, changes[rule, m], eta)
            update(ws, table, options)


(counted_trial,) = compiled(counted_trial)


def count(batch: Batch, periods: int, progress: Progress | None = None) -> NDArray[np.int64]:
    """Return how often synapses selected each row, (periods, layers, rows), in a batch of rules.

    Trials are run one after another, so that Ctrl-C is heard between them.
    """
    arguments = Job(batch, keep_weights=False, keep_ep=False).arguments()[:8]
    counts = np.zeros((periods, LAYERS, ROWS), np.int64)
    with event.install_listener("numba:compile", Announcement("engine cpu", counted_trial)):
        for trial in range(len(batch)):
            with named_in_errors(batch, trial):
                counted_trial(trial, *arguments, counts)  # type: ignore[call-arg]
            if progress is not None:
                progress(batch.episodes)
    return counts
