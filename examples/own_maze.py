"""Bring a maze, compare two rules with hill climbing and with chance, and draw the curves.

Run it: python examples/own_maze.py
Writes: own_maze.svg, the mean best EP of each over the episodes.
Takes: about 5 seconds on two cores, once the engine is compiled.
"""

# ruff: noqa: T201 - printing is what it is for

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import distal

MAZE = distal.Maze.from_text("""
###############
#0...1###2...3#
###.#######.###
###.#######.###
###.........###
#######.#######
#######.#######
#######S#######
###############
""")
STEPS, EPISODES, TRIALS = 60, 300, 50  # trials per final position


def main() -> None:
    """Measure, print a line each, and draw."""
    common: dict[str, Any] = {"maze": MAZE, "steps": STEPS, "episodes": EPISODES, "trials": TRIALS, "seed": 1}
    results = {
        "paper:3": distal.learn("paper:3", **common),
        "evolved:6": distal.learn("evolved:6", **common),
        "hill climbing": distal.climb(distal.HillClimbing(sigma=0.5, alpha_h=0.3, alpha_o=0.3), **common),
        # Fresh weights for every episode: nothing is learned, whatever the rule says.
        "chance": distal.learn("paper:3", resample=1, **common),
    }
    perfect = sum(MAZE.start_distances) / len(MAZE.finals)
    print(f"{len(MAZE.finals) * TRIALS} trials of {EPISODES} episodes; a perfect agent has {perfect:g}")
    for name, result in results.items():
        print(f"{name:14} {result.fitness:6.2f} ± {result.standard_error:.2f}  reached {result.reached:.0%}")

    with mpl.rc_context({"svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        for name, result in results.items():
            axes.plot(range(1, EPISODES + 1), result.best.mean(axis=0), label=name)
        axes.axhline(perfect, color="grey", linestyle="--", label="perfect agent")
        axes.set_xscale("log")
        axes.set_xlabel("episode")
        axes.set_ylabel("mean best EP")
        axes.legend(frameon=False)
        figure.savefig("own_maze.svg")
    print("wrote own_maze.svg")


if __name__ == "__main__":
    main()
