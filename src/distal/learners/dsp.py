"""Delayed synaptic plasticity (the paper's section "Evolving Delayed Synaptic Plasticity").

After every episode each synapse changes by what the rule says for its traces and
for the modulatory signal m, then each neuron's incoming weights are normalised.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer, number, one_of, unit_interval
from distal.learners.rule import Rule
from distal.model import network, traces
from distal.model.network import Weights
from distal.model.settings import READINGS, Settings
from distal.tasks.episode import Episode, run_episode
from distal.tasks.task import Aim, W


def modulatory_signal(ep: float, previous: float | None, ties: str) -> int:
    """Return m: +1 if the episode was no worse than the one before, else −1.

    `previous` is None for the first episode after fresh weights, which counts as
    +1. `ties` is the reading "m_ties": with "punish" an equal EP gives −1.
    """
    ep, previous = number("ep", ep), None if previous is None else number("previous", previous)
    one_of("ties", ties, READINGS["m_ties"])
    if previous is None or ep < previous:
        return 1
    return 1 if ep == previous and ties == "reward" else -1


def selected_rows(
    episode: Episode[W], theta: np.float32, m: int, trace_pre: str
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the row of the rule that every synapse selects: (H, 4 + H + 4) and (4, H + 1).

    Entries of self-connections have a row too, but no synapse to apply it to.
    """
    instance("episode", episode, Episode, "an Episode")
    unit_interval("theta", theta)
    if integer("m", m, -1, 1) == 0:
        raise InputError("m is 0, expected -1 or 1")
    one_of("trace_pre", trace_pre, READINGS["trace_pre"])
    inputs, hidden, outputs = episode.inputs, episode.hidden, episode.outputs
    bias = inputs[:, -1:]
    if trace_pre == "previous":  # what fed the sum; nothing was active before the first step
        before_hidden, before_outputs = _delayed(hidden), _delayed(outputs)
    else:
        before_hidden, before_outputs = hidden, outputs
    into_hidden = traces.counts(pre=np.hstack([inputs, before_hidden, before_outputs]), post=hidden)
    into_output = traces.counts(pre=np.hstack([hidden, bias]), post=outputs)
    return (
        traces.rows(traces.frequencies(into_hidden, episode.steps), theta, m),
        traces.rows(traces.frequencies(into_output, episode.steps), theta, m),
    )


def changed(weights: Weights, rule: Rule, rows: tuple[NDArray[np.int32], NDArray[np.int32]]) -> Weights:
    """Return w' = w + η Δw for every synapse."""
    delta_w = np.array(rule.delta_w, np.float32)
    eta = np.float32(rule.eta)
    exists = network.synapses(*weights.shape)
    return Weights(
        hidden=weights.hidden + np.where(exists[0], eta * delta_w[rows[0]], np.float32(0)),
        output=weights.output + np.where(exists[1], eta * delta_w[rows[1]], np.float32(0)),
    )


def normalised(weights: Weights, reading: str) -> Weights:
    """Divide each neuron's incoming weights by their Euclidean norm.

    With the reading "layer" every matrix's row has a norm of its own; "none" leaves
    all weights alone.
    """
    if reading == "none":
        return weights
    if reading == "neuron":
        return Weights(_unit_rows(weights.hidden), _unit_rows(weights.output))
    blocks = [_unit_rows(block) for block in (weights.w_hi, weights.w_h, weights.w_ho)]
    return Weights(np.hstack(blocks), _unit_rows(weights.w_oh))


def _delayed(activations: network.Activations) -> network.Activations:
    """Shift by one step: row t holds what was active at step t − 1."""
    return np.vstack([np.zeros_like(activations[:1]), activations[:-1]])


def _unit_rows(matrix: NDArray[np.float32]) -> NDArray[np.float32]:
    """Divide each row by its norm; a row of norm 0 stays as it is."""
    norm = np.sqrt(network.ordered_sum(matrix * matrix))
    divisor: NDArray[np.float32] = np.where(norm == 0, np.float32(1), norm)
    return matrix / divisor[:, None]


def episodes(
    rule: Rule, task: Aim[W], settings: Settings, seed: int, resample: int | None = None
) -> Iterator[Episode[W]]:
    """Train one network with a rule, without end; yield each episode."""
    theta, alpha_h, alpha_o = np.float32(rule.theta), np.float32(rule.alpha_h), np.float32(rule.alpha_o)
    number = 0
    while True:
        if number == 0 or (resample and number % resample == 0):
            weights = network.fresh_weights(settings.hidden, seed, number, task.inputs, task.outputs)
            previous = None
        episode = run_episode(weights, alpha_h, alpha_o, task, settings, seed, number)
        yield episode
        m = modulatory_signal(episode.ep, previous, settings.m_ties)
        rows = selected_rows(episode, theta, m, settings.trace_pre)
        weights = normalised(changed(weights, rule, rows), settings.normalise)
        previous = episode.ep
        number += 1
