"""A network whose walk can be worked out by hand."""

from __future__ import annotations

import numpy as np

from distal.model.maze import LEFT, STRAIGHT, Maze
from distal.model.settings import Settings
from distal.networks import Episode, Recurrent, Weights, run_episode
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim


def reflex() -> Weights:
    """Turn left where there is a wall ahead, else go straight: one hidden neuron that is the front sensor."""
    hidden, output = np.zeros((1, 9), np.float32), np.zeros((4, 2), np.float32)
    hidden[0, 1] = 1
    output[LEFT, 0] = 1
    output[STRAIGHT, 1] = 0.5
    return Weights(hidden, output)


def walk(weights: Weights, maze: Maze, goal: int, **settings: object) -> Episode[MazeWalk]:
    """Run one episode with fixed weights."""
    chosen = Settings(**{"hidden": len(weights.hidden), **settings})  # type: ignore[arg-type]
    task = Aim(MazeTask(maze), goal)
    return run_episode(Recurrent(settings=chosen, alpha_h=0.5, alpha_o=0.5), weights, task, seed=0, episode=0)
