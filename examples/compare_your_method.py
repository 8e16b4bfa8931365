"""Train your own method in the maze, and compare it with rules, hill climbing and chance.

The method here is a search over small finite-state machines: the agent's input and a memory
of four states select an action and the next memory. A mutant is kept if it is no worse. The
method uses the Gymnasium environment and NumPy's own generator, and no learner of Distal.
Replace `MachineSearch` with your own.

Run it: python examples/compare_your_method.py
Writes: nothing; prints a table.
Takes: about 4 seconds on two cores. Needs the extra gym: pip install '.[gym]'
"""

# ruff: noqa: T201 - printing is what it is for

from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

import distal

EPISODES, TRIALS, GOALS = 100, 2, range(8)
MEMORY, ACTIONS = 4, 4


class MachineSearch:
    """Keep the best machine, try a mutant of it in every episode."""

    def __init__(self, generator: np.random.Generator, mutation: float = 0.1) -> None:
        self.generator, self.mutation = generator, mutation
        self.best = self.fresh()
        self.trying = self.best
        self.best_return = -np.inf

    def fresh(self) -> NDArray[np.int64]:
        """Return a random machine: an action and the next memory for 8 observations × 4 memories."""
        return self.generator.integers([ACTIONS, MEMORY], size=(8, MEMORY, 2))

    def begin(self) -> None:
        """Begin an episode with an empty memory."""
        self.memory, self.gained = 0, 0.0

    def act(self, observation: NDArray[np.int8]) -> int:
        """Look the action up."""
        left, front, right = observation
        action, self.memory = self.trying[4 * left + 2 * front + right, self.memory].tolist()
        return int(action)

    def hear(self, reward: float) -> None:
        """Add a reward up."""
        self.gained += reward

    def end(self) -> None:
        """Keep the machine if it was no worse, and make the next one."""
        if self.gained >= self.best_return:
            self.best, self.best_return = self.trying, self.gained
        redrawn = self.generator.random(self.best.shape) < self.mutation
        self.trying = np.where(redrawn, self.fresh(), self.best)


def measure() -> NDArray[np.int32]:
    """Return the EP of every episode of every trial, (trials, episodes)."""
    env = gymnasium.make("distal/TripleTMaze-v1", disable_env_checker=True)
    all_eps = []
    for trial in range(TRIALS):
        for goal in GOALS:
            learner = MachineSearch(np.random.default_rng([trial, goal]))
            eps = []
            for _ in range(EPISODES):
                observation, info = env.reset(options={"goal": goal})
                learner.begin()
                over = False
                while not over:
                    observation, reward, terminated, truncated, info = env.step(learner.act(observation))
                    learner.hear(float(reward))
                    over = terminated or truncated
                learner.end()
                eps.append(info["ep"])
            all_eps.append(eps)
    env.close()
    return np.array(all_eps, np.int32)


def line(name: str, ep: NDArray[np.int32] | None) -> str:
    """Return a line of the table, from the EP of every episode."""
    assert ep is not None  # noqa: S101 - keep_ep=True
    best = ep.min(axis=1)
    error = best.std(ddof=1) / np.sqrt(len(best))
    retained = distal.Behaviour.of(ep, target=99).retained
    retention = "–" if retained is None else f"{retained:.1%}"
    return f"{name:36} {best.mean():7.2f} ± {error:.2f}  {(best < 100).mean():8.0%}  {retention:>10}"


def main() -> None:
    """Measure both, on the same goals and the same number of episodes, and chance."""
    same: dict[str, Any] = {"episodes": EPISODES, "trials": TRIALS, "keep_ep": True}
    print(f"{TRIALS * len(GOALS)} trials of {EPISODES} episodes; a perfect agent has 38.5")
    print(f"{'':36}    mean best EP   reached   retention")
    print(line("search over finite-state machines", measure()))
    rule = distal.learn("evolved:1", **same)
    print(line("DSP, the rule evolved:1", rule.ep))
    for name in ("champion:1", "champion:2", "paper:1"):
        print(line(f"DSP, the rule {name}", distal.learn(name, chance=False, **same).ep))
    print(line("hill climbing", distal.learn("hc", chance=False, **same).ep))
    assert rule.chance is not None  # noqa: S101 - it comes unless chance=False
    print(line("chance: fresh weights every episode", rule.chance.ep))
    print("reached: share of trials; retention: share of later episodes that reached the goal again")


if __name__ == "__main__":
    main()
