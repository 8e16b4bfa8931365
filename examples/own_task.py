"""Evolve rules for your own environment, and let the best network act in it.

The environment is written below: a room in which the agent must fetch a key from one corner
before the door in the opposite corner lets it out. It senses only walls and whether it has the
key. The room is finite and deterministic, so it is compiled to a table, and evolution runs at
full speed. EP is minus the return: the number of steps, 12 at best, 50 if it did not get out.

Run it: python examples/own_task.py
Writes: own_task_agent.json, the best network; prints its score, with chance.
Takes: about 10 seconds on two cores, once the engine is compiled. Needs the extra gym: pip install '.[gym]'
"""

# ruff: noqa: T201 - printing is what it is for

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.wrappers import TimeLimit
from numpy.typing import NDArray

import distal

Bits = NDArray[np.int8]
SIZE, STEPS = 5, 50
MOVES = {"↑": (-1, 0), "→": (0, 1), "↓": (1, 0), "←": (0, -1)}


class KeyDoor(gymnasium.Env[Bits, np.int64]):
    """Fetch the key in the north-west corner, then leave by the door in the south-east one.

    Observations: a wall to the north, east, south, west; the key is held. Every step costs 1.
    """

    def __init__(self) -> None:
        self.observation_space = spaces.MultiBinary(5)
        self.action_space = spaces.Discrete(len(MOVES))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Begin in the middle, without the key."""
        super().reset(seed=seed)
        self.row = self.column = SIZE // 2
        self.has_key = False
        return self.sensed(), {}

    def step(self, action: np.int64) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        """Go one cell, unless there is a wall; take the key where it lies."""
        down, right = list(MOVES.values())[action]
        self.row = min(max(self.row + down, 0), SIZE - 1)
        self.column = min(max(self.column + right, 0), SIZE - 1)
        self.has_key = self.has_key or (self.row, self.column) == (0, 0)
        out = self.has_key and (self.row, self.column) == (SIZE - 1, SIZE - 1)
        return self.sensed(), -1.0, out, False, {}

    def sensed(self) -> Bits:
        """Return the five bits."""
        last = SIZE - 1
        walls = [self.row == 0, self.column == last, self.row == last, self.column == 0]
        return np.array([*walls, self.has_key], np.int8)


def room() -> gymnasium.Env[Bits, np.int64]:
    """Make the environment, with a limit to its episodes."""
    return TimeLimit(KeyDoor(), STEPS)


def main() -> None:
    """Evolve, train with the better winner, and let the best network act."""
    task = distal.tabulate(room)
    print(f"{task.states} states, {task.inputs} bits, {task.outputs} actions")

    evolved = distal.evolve(task=task, runs=2, generations=20, trials=10)
    for winner in evolved.winners:
        print(f"run {winner.run}  {winner.remeasured:.2f} on fresh trials, chance {winner.fresh.chance:.2f}")
    rule = min(evolved.winners, key=lambda winner: winner.remeasured).learner

    result = distal.learn(rule, task=task, trials=100, seed=1, keep_weights=True)
    print(result.summary())

    agent = result.agent()
    agent.save("own_task_agent.json")
    print(distal.evaluate(agent, room, episodes=20).summary())
    print("its way out:", way(agent))


def way(agent: distal.Agent) -> str:
    """Return the steps of an episode as arrows."""
    env: Any = room()
    observation, _ = env.reset()
    agent.reset()
    arrows, over = "", False
    while not over:
        action = agent.act(observation)
        arrows += list(MOVES)[action]
        observation, _, out, late, _ = env.step(action)
        over = out or late
    return arrows


if __name__ == "__main__":
    main()
