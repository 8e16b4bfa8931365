"""One episode: a network with fixed weights acts in a task until it is over.

The record of all activations is what the traces are made from.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import InputError, instance, integer, unit_interval
from distal.base.frozen import Frozen
from distal.model import draws, network
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.network import Activations, Weights
from distal.model.settings import Settings
from distal.tasks.task import Aim, W


@dataclass(frozen=True, eq=False)
class Episode(Frozen, Generic[W]):
    """What happened in an episode, and the weights that made it happen.

    Attributes:
        weights: The weights, which do not change during an episode.
        walk: The walk through the task.
        ep: The EP; a whole number in a maze.
        actions: The action of each step.
        inputs: The inputs, (steps, I + 1), the bias last.
        hidden: Which hidden neurons were active, (steps, H).
        outputs: The activations of the outputs, (steps, O).
    """

    weights: Weights
    walk: W
    ep: float
    actions: tuple[int, ...]
    inputs: Activations
    hidden: Activations
    outputs: Activations

    @property
    def steps(self) -> int:
        """The number of steps taken, the one that entered the goal included."""
        return len(self.actions)


def choose(sums: NDArray[np.float32], reading: str, word: np.uint32) -> tuple[int, Activations]:
    """Turn the output sums into an action and the output activations.

    `word` is the random word of this step, used by reading "random" alone.
    """
    strongest = int(np.argmax(sums))  # the first, if equal
    if reading == "winner":
        return strongest, np.eye(len(sums), dtype=np.uint8)[strongest]
    active = network.psi(sums)
    if reading == "binary":
        return strongest, active
    candidates = np.flatnonzero(active) if active.any() else np.arange(len(sums))
    return int(candidates[draws.choice(word, len(candidates))]), active


def run_episode(
    weights: Weights,
    alpha_h: float | np.float32,
    alpha_o: float | np.float32,
    task: Aim[W],
    settings: Settings,
    seed: int,
    episode: int,
) -> Episode[W]:
    """Run one episode of a trial.

    Args:
        weights: The weights of the network.
        alpha_h: The scale of recurrent sums.
        alpha_o: The scale of feedback sums.
        task: The task and its goal.
        settings: The network, the most steps, and the readings.
        seed: The seed of the trial.
        episode: The number of the episode, from 0.

    Returns:
        What happened.

    Raises:
        InputError: If an argument is wrong, or they do not fit together.
    """
    instance("weights", weights, Weights, "the Weights of a network")
    instance("task", task, Aim, "a task and its goal, such as Aim(MazeTask(maze), 0)")
    instance("settings", settings, Settings, "a Settings")
    for name, scale in (("alpha_h", alpha_h), ("alpha_o", alpha_o)):
        unit_interval(name, scale)
    seed, episode = integer("seed", seed, 0, MAX_SEED), integer("episode", episode, 0, MAX_COUNT)
    if weights.shape != (settings.hidden, task.inputs, task.outputs):
        raise InputError(
            f"the weights are those of {weights.shape} hidden neurons, inputs and outputs, expected "
            f"{(settings.hidden, task.inputs, task.outputs)}"
        )
    hidden = network.silent(settings.hidden, settings.neurons)
    outputs: Activations = np.zeros(task.outputs, np.uint8)
    words = draws.words(seed, draws.ACTION, episode, range(1), settings.steps)[0]

    walk = task.begin(settings, episode)
    actions: list[int] = []
    history: list[tuple[Activations, Activations, Activations]] = []
    while len(actions) < settings.steps and not walk.over:
        inputs: Activations = np.array([*walk.sense(), 1], np.uint8)
        hidden, active, sums = network.step(
            weights, alpha_h, alpha_o, inputs, hidden, outputs, settings.neurons
        )
        action, outputs = choose(sums, settings.outputs, words[len(actions)])
        walk.act(action)
        actions.append(action)
        history.append((inputs, active, outputs))

    all_inputs, all_hidden, all_outputs = (np.stack(layer) for layer in zip(*history, strict=True))
    return Episode(
        weights=weights,
        walk=walk,
        ep=walk.ep,
        actions=tuple(actions),
        inputs=all_inputs,
        hidden=all_hidden,
        outputs=all_outputs,
    )
