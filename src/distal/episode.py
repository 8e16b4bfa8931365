"""One episode: an agent with fixed weights walks the maze from the start.

Also its episodic performance (EP, lower is better) and the record of all
activations, from which the traces are made.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from distal import draws, network
from distal.maze import HEADINGS, Cell, Maze
from distal.network import Activations, Weights
from distal.settings import Settings

PIT_PENALTY = 5


@dataclass(frozen=True, eq=False)
class Episode:
    """What happened in an episode of `steps` steps, and the weights that made it happen."""

    weights: Weights
    ep: int
    reached: bool
    pits: int  # entries into a pit
    cells: tuple[Cell, ...]  # (steps + 1), from the start on
    headings: tuple[int, ...]  # (steps + 1)
    actions: tuple[int, ...]  # (steps)
    inputs: Activations  # (steps, 4), the bias last
    hidden: Activations  # (steps, H)
    outputs: Activations  # (steps, 4)

    @property
    def steps(self) -> int:
        """The number of steps taken, the one that entered the goal included."""
        return len(self.actions)


def episodic_performance(steps: int, reached: bool, distance: int, pits: int, n_steps: int) -> int:
    """Return the steps taken, or N_steps + the distance left, plus 5 for each pit entry."""
    base = steps if reached else n_steps + distance
    return base + PIT_PENALTY * pits


def choose(sums: NDArray[np.float32], reading: str, word: np.uint32) -> tuple[int, Activations]:
    """Turn the four output sums into an action and the output activations.

    `word` is the random word of this step, used by reading "random" alone.
    """
    strongest = int(np.argmax(sums))  # the first, if equal
    if reading == "winner":
        return strongest, np.eye(network.OUTPUTS, dtype=np.uint8)[strongest]
    active = network.psi(sums)
    if reading == "binary":
        return strongest, active
    candidates = np.flatnonzero(active) if active.any() else np.arange(network.OUTPUTS)
    return int(candidates[draws.choice(word, len(candidates))]), active


def run_episode(
    weights: Weights,
    alpha_h: np.float32,
    alpha_o: np.float32,
    maze: Maze,
    goal: int,
    settings: Settings,
    seed: int,
    episode: int,
) -> Episode:
    """Run episode number `episode` of the trial with this seed, towards final position `goal`."""
    goal_cell = maze.finals[goal]
    pit_cells = set(maze.finals) - {goal_cell}
    hidden: Activations = np.zeros(settings.hidden, np.uint8)
    outputs: Activations = np.zeros(network.OUTPUTS, np.uint8)
    words = draws.words(seed, draws.ACTION, episode, range(1), settings.steps)[0]

    cells, headings = [maze.start], [HEADINGS.index(maze.heading)]
    actions: list[int] = []
    history: list[tuple[Activations, Activations, Activations]] = []
    pits = 0
    while len(actions) < settings.steps and cells[-1] != goal_cell:
        inputs: Activations = np.array([*maze.sense(cells[-1], headings[-1]), 1], np.uint8)
        hidden, sums = network.step(weights, alpha_h, alpha_o, inputs, hidden, outputs)
        action, outputs = choose(sums, settings.outputs, words[len(actions)])
        cell, heading = maze.move(cells[-1], headings[-1], action, settings.blocked)
        pits += cell != cells[-1] and cell in pit_cells
        cells.append(cell)
        headings.append(heading)
        actions.append(action)
        history.append((inputs, hidden, outputs))

    reached = cells[-1] == goal_cell
    distance = int(maze.distances[goal][cells[-1]])
    all_inputs, all_hidden, all_outputs = (np.stack(layer) for layer in zip(*history, strict=True))
    return Episode(
        weights=weights,
        ep=episodic_performance(len(actions), reached, distance, pits, settings.steps),
        reached=reached,
        pits=pits,
        cells=tuple(cells),
        headings=tuple(headings),
        actions=tuple(actions),
        inputs=all_inputs,
        hidden=all_hidden,
        outputs=all_outputs,
    )
