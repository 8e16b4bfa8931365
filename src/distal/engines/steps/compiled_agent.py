"""An agent: a network at work, its learner, and the book of its trials, as compiled code sees them.

`acts_of` makes an agent's four acts from the compiled parts of a network and of a learner: they
start a trial, begin an episode, take a step and end an episode. `kernels` calls them for the code
that takes the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from distal.engines.batch import Batch
from distal.engines.steps.encoding import Encoding
from distal.learners.compiled_learner import CompiledLearner
from distal.learners.genes import columns
from distal.model.compiled_draws import draw_words, inlined
from distal.model.draws import FLIP
from distal.model.lanes import pointer
from distal.networks import Network
from distal.networks.compiled_network import CompiledNetwork, Running, copy, fresh_weights


class Plan(NamedTuple):
    """What all trials of a batch share."""

    episodes: int
    resample: int  # 0: never
    phase: int  # episodes until goals move
    keep_weights: bool
    keep_ep: bool
    columns: Any  # int32 (episodes): the column of `Book.best`, or -1
    scales: Any  # float32 (learners, scales): of the networks


class Book(NamedTuple):
    """The results of all trials; each agent writes its own."""

    best: Any  # float64 (trials, recorded)
    ep: Any  # float64 (trials, episodes), if they are kept
    hidden: Any  # float32 (trials, hidden, columns[0]), if they are kept
    output: Any  # float32 (trials, outputs, columns[1])


class CompiledAgent(NamedTuple):
    """A network at work, its learner, and the book."""

    running: Running
    network: Any  # the state of the network
    learner: Any  # the state of the learner
    learners: Any  # those of the batch, as arrays
    encoding: Encoding
    plan: Plan
    book: Book
    lowest: Any  # float64 (1): the best EP of the phase


class Acts(NamedTuple):
    """The compiled functions of an agent."""

    start: Callable[..., Any]
    begin: Callable[..., Any]
    act: Callable[..., Any]
    end: Callable[..., Any]


def plan_of(batch: Batch, network: type[Network], keep_weights: bool, keep_ep: bool) -> Plan:
    """Return what the trials of a batch share."""
    scales = np.zeros((len(batch.learners), max(1, len(network.scales))), np.float32)
    for k, (name, usual) in enumerate(network.scales.items()):
        scales[:, k] = columns(batch.learners, name)[:, 0] if name in batch.kind.names else usual
    return Plan(
        batch.episodes, batch.resample or 0, batch.phase, keep_weights, keep_ep, batch.columns, scales
    )


def book_of(batch: Batch, network: Network, plan: Plan) -> Book:
    """Return an empty book for a batch."""
    trials, kept = len(batch), len(batch) if plan.keep_weights else 0
    hidden, output = network.shapes
    return Book(
        np.empty((trials, len(batch.recorded))),
        np.empty((trials if plan.keep_ep else 0, batch.episodes)),
        np.empty((kept, *hidden), np.float32),
        np.empty((kept, *output), np.float32),
    )


@inlined
def _write(weights, into):
    """Copy weights that lie by source into a matrix with a row for each neuron."""
    for p in range(len(weights)):
        for j in range(weights.shape[1]):
            into[j, p] = weights[p, j]


@inlined
def enter(agent, hidden, output):
    """Enter the EP of an episode into the book, and the weights it began with if it is the best so far."""
    now, plan, book = agent.running.now[0], agent.plan, agent.book
    ep, episode, trial = now.ep, now.episode, now.trial
    if episode % plan.phase == 0 or ep < agent.lowest[0]:
        agent.lowest[0] = ep
        if plan.keep_weights:
            _write(hidden, book.hidden[trial])
            _write(output, book.output[trial])
    if plan.columns[episode] >= 0:
        book.best[trial, plan.columns[episode]] = agent.lowest[0]
    if plan.keep_ep:
        book.ep[trial, episode] = ep


def acts_of(network: CompiledNetwork, learner: CompiledLearner) -> Acts:
    """Make the acts of an agent from its compiled parts."""
    begin_network, step_network = network.begin, network.step
    choose, note_sources = network.choose, network.sources
    forget, begin_learner = learner.fresh, learner.begin
    step_learner, update, began = learner.step, learner.update, learner.began

    @inlined
    def start(agent):
        """Start the trial that `now` names: draw the first weights."""
        running = agent.running
        now = running.now[0]
        now.episode = 0
        copy(running.scales, agent.plan.scales[now.learner])
        fresh_weights(running, np.int64(0))
        forget(agent.learner, agent.learners, running)

    @inlined
    def begin(agent):
        """Begin an episode: no neuron is active."""
        running = agent.running
        running.now[0].step = 0
        begin_network(agent.network, running)
        begin_learner(agent.learner, agent.learners, running)

    @inlined
    def act(agent):
        """Take a step with the bits that are sensed; return the action."""
        running = agent.running
        now = running.now[0]
        step_network(agent.network, running)
        action = choose(agent.network, running)
        now.action = action
        note_sources(agent.network, running)
        step_learner(agent.learner, agent.learners, running)
        now.step += 1
        return action

    @inlined
    def end(agent):
        """End the episode, whose EP `now` has, and make the weights of the next one, if there is one."""
        running, plan = agent.running, agent.plan
        now = running.now[0]
        hidden, output = began(agent.learner, running)
        enter(agent, hidden, output)
        following = now.episode + 1
        if following < plan.episodes:
            if plan.resample > 0 and following % plan.resample == 0:
                fresh_weights(running, following)
                forget(agent.learner, agent.learners, running)
            else:
                now.moves = following % plan.phase == 0
                now.opposite = 0
                if now.flip > 0:
                    draw_words(pointer(running.words), np.int64(0), now.seed, now.episode, np.int64(FLIP))
                    now.opposite = running.words[0] < now.flip
                update(agent.learner, agent.learners, running)
        now.episode = following

    return Acts(start, begin, act, end)
