"""Evolve a rule, then find which of its 32 rows it uses, and which it needs.

Run it: python examples/evolve_and_inspect.py
Writes: inspected_rule.json, the winner; look at it with `distal rules inspected_rule.json`.
Takes: about 5 seconds on two cores, once the engine is compiled.
"""

# ruff: noqa: T201 - printing is what it is for

from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
from numpy.typing import NDArray

import distal
from distal import learners
from distal.learners.dsp import selected_rows
from distal.learners.modulation import modulatory_signal
from distal.networks import network_for
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim

GENERATIONS, EPISODES = 20, 20


def rows_of(rule: distal.Rule, goal: int) -> Iterator[NDArray[np.int32]]:
    """Train one network towards a goal; yield the row that each synapse selects after each episode."""
    settings = distal.Settings()
    previous: float | None = None
    task = Aim(MazeTask(distal.triple_t_maze()), goal)
    network = network_for(settings, task.inputs, task.outputs, rule.numbers)
    exists = network.synapses()
    for episode in islice(learners.episodes(rule, task, settings, seed=goal), EPISODES):
        m = modulatory_signal(episode.ep, previous, settings.m_ties)
        into_hidden, into_output = selected_rows(network, episode, np.float32(rule.theta), m)
        yield np.concatenate([into_hidden[exists[0]], into_output[exists[1]]])
        previous = episode.ep


def main() -> None:
    """Evolve, count, knock out."""
    winner = distal.evolve("dsp", runs=1, generations=GENERATIONS, seed=3).winners[0]
    rule = winner.learner
    assert isinstance(rule, distal.Rule)  # noqa: S101 - what "dsp" evolves
    rule.save("inspected_rule.json")
    print(
        f"selected {winner.selected:.2f}, re-measured {winner.remeasured:.2f} ± {winner.standard_error:.2f}, "
        f"chance {winner.fresh.chance:.2f}"
    )

    count = np.zeros(32, np.int64)
    for goal in range(8):
        for rows in rows_of(rule, goal):
            count += np.bincount(rows, minlength=32)
    share = count / count.sum()

    whole = distal.learn(rule, trials=50, seed=1)
    assert whole.chance is not None  # noqa: S101 - it comes unless chance=False
    print(
        f"the whole rule, 400 trials: {whole.fitness:.2f} ± {whole.standard_error:.2f}, "
        f"chance {whole.chance.fitness:.2f}"
    )
    print("row  00 01 10 11   m  change   comes up   without it")
    for row in np.argsort(-share)[:12]:
        changes = list(rule.delta_w)
        changes[row] = 0
        without = (
            distal.learn(replace(rule, delta_w=changes), trials=50, seed=1, chance=False)
            if rule.delta_w[row]
            else None
        )
        bits = "  ".join(format(row // 2, "04b"))
        cost = f"{without.fitness:10.2f}" if without else "         –"
        print(f"{row:3}   {bits}  {2 * (row % 2) - 1:+d}  {rule.delta_w[row]:6}   {share[row]:8.1%}  {cost}")
    print(f"{(count == 0).sum()} of 32 rows never came up")


if __name__ == "__main__":
    main()
