"""One episode: a network acts until the episode is over, usually with fixed weights.

Traces are made from the record of all activations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Generic

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer
from distal.base.frozen import Frozen
from distal.model import draws
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.traces import Activations
from distal.networks.network import Network, Weights
from distal.tasks.task import Aim, W


@dataclass(frozen=True, eq=False)
class Episode(Frozen, Generic[W]):
    """The course of an episode, and the weights behind it.

    Attributes:
        weights: The weights with which it began; they change only if the learner says so.
        walk: The walk through the task.
        ep: The EP; a whole number in a maze.
        actions: The action of each step.
        inputs: The inputs, (steps, I + 1), the bias last.
        hidden: Which hidden neurons were active, (steps, H).
        outputs: The activations of the outputs, (steps, O).
        number: The number of the episode in its trial, from 0.
        changed: The weights after the last step, if they changed within the episode.
    """

    weights: Weights
    walk: W
    ep: float
    actions: tuple[int, ...]
    inputs: Activations
    hidden: Activations
    outputs: Activations
    number: int = 0
    changed: Weights | None = None

    @property
    def last(self) -> Weights:
        """The weights after the last step."""
        return self.weights if self.changed is None else self.changed

    @property
    def steps(self) -> int:
        """The number of steps taken, the one that entered the goal included."""
        return len(self.actions)


Change = Callable[[Weights, Episode[Any]], Weights]


class Acting:
    """A network in an episode under way: it acts, and keeps the record.

    Args:
        network: The network.
        weights: Its weights.
        seed: The seed of the trial, for actions that are drawn.
        number: The number of the episode, from 0.
        record: Whether to keep the activations of every step, for `ended`.
        change: Returns the weights of the next step, from the weights of this one and a record of
            this step and the one before, whose EP is not known. None: they do not change.
    """

    def __init__(
        self,
        network: Network,
        weights: Weights,
        seed: int,
        number: int,
        record: bool = True,
        change: Change | None = None,
    ) -> None:
        self.network, self.weights, self.seed, self.number = network, weights, seed, number
        self._first, self._change = weights, change
        self.state = network.start()
        self.steps = 0
        self._words: NDArray[np.uint32] = np.zeros(0, np.uint32)
        self._actions: list[int] = []
        self._history: list[tuple[Activations, Activations, Activations]] | None = [] if record else None

    def act(self, bits: Sequence[int]) -> int:
        """Return the action for the inputs of this step, zeros and ones without the bias."""
        inputs: Activations = np.array([*bits, 1], np.uint8)
        action, self.state = self.network.step(self.weights, self.state, inputs, self._word)
        self.steps += 1
        if self._history is not None:
            self._actions.append(action)
            self._history.append((inputs, self.state.active, self.state.outputs))
            if self._change is not None:
                self.weights = self._change(self.weights, self._record(math.nan, last=2))
        return action

    def _word(self) -> np.uint32:
        """Return the random word of this step: a function of the seed, the episode and the step."""
        if self.steps >= len(self._words):
            count = max(self.network.settings.steps, 2 * len(self._words))
            self._words = draws.words(self.seed, draws.ACTION, self.number, range(1), count)[0]
        return np.uint32(self._words[self.steps])

    def ended(self, ep: float, walk: Any = None) -> Episode[Any]:
        """Return what happened, and refuse an episode without a step."""
        if not self._history:
            raise InputError(f"episode {self.number} has no step; act at least once before it ends")
        return self._record(ep, walk)

    def _record(self, ep: float, walk: Any = None, last: int = 0) -> Episode[Any]:
        """Return the last steps, or all of them for 0, as a record."""
        history = (self._history or [])[-last:]
        inputs, hidden, outputs = (np.stack(layer) for layer in zip(*history, strict=True))
        changed = None if self._change is None else self.weights
        actions = tuple(self._actions[-last:])
        return Episode(self._first, walk, ep, actions, inputs, hidden, outputs, self.number, changed)


def run_episode(network: Network, weights: Weights, task: Aim[W], seed: int, episode: int) -> Episode[W]:
    """Run one episode of a trial.

    Args:
        network: The network; its settings set the number of steps.
        weights: Its weights.
        task: The task and its goal.
        seed: The seed of the trial.
        episode: The number of the episode, from 0.

    Returns:
        The episode.

    Raises:
        InputError: If an argument is wrong, or they do not fit together.
    """
    instance("network", network, Network, "a Network, such as Recurrent()")  # type: ignore[type-abstract]
    instance("weights", weights, Weights, "the Weights of a network")
    instance("task", task, Aim, "a task and its goal, such as Aim(MazeTask(maze), 0)")
    seed, episode = integer("seed", seed, 0, MAX_SEED), integer("episode", episode, 0, MAX_COUNT)
    network.weights(weights.hidden, weights.output)  # refuses those of another shape
    return run_to_end(Acting(network, weights, seed, episode), task)


def run_to_end(acting: Acting, task: Aim[W]) -> Episode[W]:
    """Let a network act in a task until the episode is over."""
    walk = task.begin(acting.network.settings, acting.number)
    while acting.steps < acting.network.settings.steps and not walk.over:
        walk.act(acting.act(walk.sense()))
    return acting.ended(walk.ep, walk)
