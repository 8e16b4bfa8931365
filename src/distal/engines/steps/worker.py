"""A worker: an agent that is held, and runs one trial after another while Python takes the steps."""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np
from numba import typeof

from distal.engines.batch import Batch
from distal.engines.steps.compiled_agent import Book, CompiledAgent, Plan
from distal.engines.steps.encoding import Encoding
from distal.engines.steps.held import room_for
from distal.engines.steps.kernels import Kernels, holder_for, kernels_for
from distal.learners import Learner
from distal.networks import Network, network_for
from distal.networks.compiled_network import running


class Worker:
    """An agent with its kernels, for trials of a batch; `act` takes a step with what was written.

    Python writes the numbers of an observation, or bits if the encoding has no numbers.
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
        self.made_of = typeof(self.agent), *parts  # what kernels are made for
        self._room = room_for(self.made_of[0])
        holder_for(self.made_of[0])(self._room, self.agent)
        self.address = int(self._room.ctypes.data)
        self.now = self.agent.running.now

    @cached_property
    def kernels(self) -> Kernels:
        """What takes steps one by one; whole trials of compiled tasks and of tables need none of it."""
        return kernels_for(*self.made_of)

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
