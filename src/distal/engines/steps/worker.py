"""A worker: an agent that is held, and runs one trial after another while Python takes the steps."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numba import typeof

from distal.engines.batch import Batch
from distal.engines.steps.agent import Book, CompiledAgent, Plan
from distal.engines.steps.encoding import Encoding
from distal.engines.steps.held import room_for
from distal.engines.steps.kernels import Kernels, hold_agent, kernels_for
from distal.learners import Learner
from distal.networks import Network, network_for
from distal.networks.compiled_network import running


class Worker:
    """An agent with its kernels; `act` takes a step with the bits or the numbers that were written.

    Args:
        batch: What it runs trials of; an engine supports it.
        plan: What the trials share.
        book: What results are written into.
        encoding: How numbers become bits; Python writes bits if there are none.
    """

    def __init__(self, batch: Batch, plan: Plan, book: Book, encoding: Encoding) -> None:
        network = network_of(batch)
        parts = part_of(type(network)), part_of(batch.kind)
        self.agent = CompiledAgent(
            running=running(network),
            network=parts[0].make(network),
            learner=parts[1].make(network),
            learners=parts[1].packed(batch.learners),
            encoding=encoding,
            plan=plan,
            book=book,
            lowest=np.zeros(1),
        )
        self.parts = parts
        self._room = room_for(typeof(self.agent))
        hold_agent(self._room, self.agent)
        self.address = int(self._room.ctypes.data)
        self.now = self.agent.running.now

    @cached_property
    def kernels(self) -> Kernels:
        """What takes steps one by one; whole trials of compiled tasks and of tables need none of it."""
        return kernels_for(self.agent, *self.parts)

    def start(self, batch: Batch, trial: int) -> None:
        """Start a trial."""
        self.now["seed"], self.now["trial"] = batch.seed[trial], trial
        self.now["learner"] = batch.learner[trial]
        self.kernels.start(self.address)

    def begin(self) -> None:
        """Begin an episode."""
        self.kernels.begin(self.address)

    def end(self, ep: float) -> None:
        """End an episode, and learn from it."""
        self.now["ep"] = ep
        self.kernels.end(self.address)


def part_of(kind: type[Network] | type[Learner]) -> Any:
    """Return the compiled part of a network or a learner, None if it has none.

    What inherits from another kind has another step or update, and has to name a part of its own.
    """
    module = vars(kind).get("compiled")
    return None if module is None else import_module(module).compiled


def network_of(batch: Batch) -> Network:
    """Return a network of the shape that the networks of a batch have."""
    return network_for(batch.settings, batch.task.inputs, batch.task.outputs, {})
