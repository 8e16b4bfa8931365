"""A recording of a trial, packed, which a page plays if it has no code for the learner.

A recording holds the walk as a list of states, the action of every step and which neurons were
active in it; `page/replay.js` reads it. It holds no weights, which would be most of the page.
States are numbered as in the task's table; in a maze, cell · 4 + heading.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from distal.base.checks import InputError
from distal.engines import Batch
from distal.networks import Episode
from distal.tasks.table import Table

MAX_BYTES = 16 * 2**20  # of a recording before it is compressed, which makes it about ten times smaller
STATE, ACTION = np.dtype("<u4"), np.dtype("u1")


@dataclass(eq=False)
class Recording:
    """The episodes of a trial so far; `layers` are the numbers of inputs with the bias, hidden, outputs."""

    layers: tuple[int, int, int]
    steps: list[int] = field(default_factory=list)  # of each episode
    states: bytearray = field(default_factory=bytearray)  # one more than the steps of each episode
    actions: bytearray = field(default_factory=bytearray)
    active: bytearray = field(default_factory=bytearray)  # for each step, one bit a neuron, in whole bytes

    def add(self, episode: Episode[Any], states: Sequence[int]) -> None:
        """Record one more episode, which went through these states."""
        activations = (episode.inputs, episode.hidden, episode.outputs)
        widths = tuple(layer.shape[1] for layer in activations)
        if widths != self.layers:
            raise InputError(
                f"episode {len(self.steps) + 1} has {widths} inputs with the bias, hidden neurons and "
                f"outputs, expected {self.layers}; a page shows networks of one size"
            )
        self.steps.append(episode.steps)
        self.states += np.array(states, STATE).tobytes()
        self.actions += np.array(episode.actions, ACTION).tobytes()
        self.active += np.packbits(np.hstack(activations), axis=1, bitorder="little").tobytes()

    @property
    def visited(self) -> list[int]:
        """The states that the agent has been in, ascending."""
        found: list[int] = np.unique(np.frombuffer(self.states, STATE)).tolist()
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return what the page holds of it."""
        packed = zlib.compress(bytes(self.states + self.actions + self.active), 9)
        return {
            "layers": list(self.layers),
            "steps": self.steps,
            "packed": base64.b64encode(packed).decode("ascii"),
        }


def table_of(batch: Batch) -> Table:
    """Return the table of a trial, which `trials` has checked."""
    table = batch.task.table(batch.settings)
    if table is None:
        raise AssertionError("a trial that is watched has a table")
    return table


def states_of(table: Table, goal: int, actions: Sequence[int]) -> list[int]:
    """Return the states that actions lead through, from the start on."""
    states = [int(table.starts[goal])]
    for action in actions:
        states.append(int(table.following[states[-1], action]))
    return states


def episode_bytes(layers: tuple[int, int, int], steps: int) -> int:
    """Return the bytes that an episode of some steps takes in a recording, before it is compressed."""
    return steps * (STATE.itemsize + ACTION.itemsize + -(-sum(layers) // 8)) + STATE.itemsize
