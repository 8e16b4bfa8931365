"""Draw a maze, compare three rules with hill climbing and with chance, and plot the curves.

Other mazes to try instead: distal.maze("narrow-t"), or distal.t_maze(levels, width).

Run it: python examples/own_maze.py
Writes: own_maze.svg, the mean best EP of each over the episodes.
Takes: about 5 seconds on two cores, once the engine is compiled.
"""

# ruff: noqa: T201 - printing is what it is for

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

import distal
from distal.base.colours import LIGHT

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
LEARNERS: dict[str, distal.Rule | distal.HillClimbing] = {
    "champion:1": distal.find_rule("champion:1"),
    "evolved:1": distal.find_rule("evolved:1"),
    "paper:3": distal.published_rule(3),
    "hill climbing": distal.HillClimbing(sigma=0.5, alpha_h=0.4, alpha_o=0.4),
}
COLOURS = {
    "champion:1": LIGHT["other"],
    "evolved:1": LIGHT["dsp"],
    "paper:3": LIGHT["dsp_resampled"],  # a lighter shade, for a second rule
    "hill climbing": LIGHT["hc"],
}


def main() -> None:
    """Measure, print a line each, and draw."""
    common: dict[str, Any] = {"maze": MAZE, "steps": STEPS, "episodes": EPISODES, "trials": TRIALS, "seed": 1}
    results = {name: distal.learn(learner, **common) for name, learner in LEARNERS.items()}
    perfect = sum(MAZE.start_distances) / len(MAZE.finals)
    print(f"{len(MAZE.finals) * TRIALS} trials of {EPISODES} episodes; a perfect agent has {perfect:g}")
    for name, result in results.items():
        assert result.chance is not None  # noqa: S101 - it comes unless chance=False
        print(
            f"{name:14} {result.fitness:6.2f} ± {result.standard_error:.2f}  reached {result.reached:.0%}   "
            f"chance {result.chance.fitness:.2f}"
        )

    with mpl.rc_context({"svg.fonttype": "none"}):
        figure = Figure(figsize=(6.4, 3.6), layout="constrained")
        axes = figure.subplots()
        episodes = range(1, EPISODES + 1)
        for name, result in results.items():
            axes.plot(episodes, result.best.mean(axis=0), color=COLOURS[name], label=name)
        # Chance has the alpha_h and alpha_o of each learner, so it differs a little between them.
        random = results["evolved:1"].chance
        assert random is not None  # noqa: S101
        mean = random.best.mean(axis=0)
        axes.plot(episodes, mean, color=LIGHT["chance"], linestyle=":", label="chance (of evolved:1)")
        axes.axhline(perfect, color=LIGHT["goal"], linestyle="--", label="perfect agent")
        axes.set_xscale("log")
        axes.set_xlabel("episode")
        axes.set_ylabel("mean best EP")
        axes.legend(frameon=False)
        figure.savefig("own_maze.svg")
    print("wrote own_maze.svg")


if __name__ == "__main__":
    main()
