"""Train networks with rules in two environments without mazes, and compare them with chance.

The first environment is written below. It shows a cue once, then a corridor with no inputs;
at the end the agent must choose the side of the cue, and the only reward follows. It is
finite, so it runs as a table, at full speed. The second is Gymnasium's FrozenLake with its own
measure of an episode, a function; so it has no table and is stepped in Python.

Every line has chance: the same trials with fresh random weights in every episode. A learner
that is no better than chance has lowered its best EP by luck alone. These four beat chance in
most of their lines; in FrozenLake most of our rules do not.

Run it: python examples/learn_any_environment.py
Writes: nothing; prints a table.
Takes: about 10 seconds on two cores. Needs the extra gym: pip install '.[gym]'
"""

# ruff: noqa: T201 - printing is what it is for

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

import distal
import distal.tasks.gym

Bits = NDArray[np.int8]
EPISODES, TRIALS, STEPPED = 100, 100, 10  # fewer trials where the environment is stepped in Python


class DelayedCue(gymnasium.Env[Bits, np.int64]):
    """Remember a cue, walk a corridor of `length` steps, choose a side.

    One episode holds both cues, one after the other, so that going always to one side is
    half right at best. Observations: cue left, cue right, end of the corridor. Actions:
    walk, left, right; walking at the end waits. A right choice is worth 1, a wrong one or none 0.
    """

    def __init__(self, length: int = 4) -> None:
        self.observation_space = spaces.MultiBinary(3)
        self.action_space = spaces.Discrete(3)
        self.length = length

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Bits, dict[str, Any]]:
        """Show the first cue."""
        super().reset(seed=seed)
        self.place, self.cue, self.waited = 0, 0, 0
        return self.sensed(), {}

    def step(self, action: np.int64) -> tuple[Bits, float, bool, bool, dict[str, Any]]:
        """Walk on or choose; after the first choice the second cue is shown."""
        if self.place < self.length:
            self.place += 1
            return self.sensed(), 0.0, False, False, {}
        self.waited += 1
        if int(action) == 0 and self.waited < 3:
            return self.sensed(), 0.0, False, False, {}
        reward = float(int(action) == 1 + self.cue)
        self.place, self.cue, self.waited = 0, self.cue + 1, 0
        over = self.cue == 2
        return (np.zeros(3, np.int8) if over else self.sensed()), reward, over, False, {}

    def sensed(self) -> Bits:
        """Return the three bits."""
        at_start, at_end = self.place == 0, self.place == self.length
        return np.array([at_start and self.cue == 0, at_start and self.cue == 1, at_end], np.int8)


def lake_ep(walk: distal.tasks.gym.EnvWalk) -> float:
    """Return the steps to the far corner of the 4 × 4 lake, or 40 and the distance that is left."""
    row, column = divmod(int(walk.observations[-1]), 4)
    return len(walk.rewards) if walk.rewards[-1] else 40 + (3 - row) + (3 - column)


def main() -> None:
    """Train with three rules and by hill climbing, in our corridor and in Gymnasium's FrozenLake."""
    learners: dict[str, distal.Rule | distal.HillClimbing] = {
        "champion:1": distal.find_rule("champion:1"),
        "evolved:8": distal.find_rule("evolved:8"),
        "paper:1": distal.published_rule(1),
        "hill climbing": distal.HillClimbing(sigma=0.5, alpha_h=0.2, alpha_o=0.2),
    }
    print("two cues, a corridor of 4: mean best EP, −2 at best (minus the return)")
    for name, learner in learners.items():
        print(line(name, distal.task_of(DelayedCue), learner, TRIALS))

    print("FrozenLake: mean best EP, 6 at best (a function of ours: steps, or what was missing)")
    lake = distal.task_of("FrozenLake-v1", args={"is_slippery": False}, ep=lake_ep)
    for name, learner in learners.items():
        print(line(name, lake, learner, STEPPED))


def line(name: str, task: Any, learner: distal.Rule | distal.HillClimbing, trials: int) -> str:
    """Return a line of the table: the learner after 1, 10 and all episodes, and chance after all."""
    result = distal.learn(learner, task=task, episodes=EPISODES, trials=trials, steps=40)
    assert result.chance is not None  # noqa: S101 - it comes unless chance=False
    marks = "  ".join(f"{value:6.2f} at {mark}" for mark, value in result.checkpoints.items())
    return f"  {name:14} {marks}   chance {result.chance.fitness:6.2f}"


if __name__ == "__main__":
    main()
