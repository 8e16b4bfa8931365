"""The prizes of a search for champions: the measure to be best at, and the search."""

from __future__ import annotations

from dataclasses import dataclass

from distal.evaluation.measures import BEST, MISSED
from distal.search.genetic import GeneticAlgorithm


def _search(population: int, step: float) -> GeneticAlgorithm:
    """Return a search that copes with noise (docs/searching.md): many bred from the best, whose means are kept."""
    return GeneticAlgorithm(
        population=population, elite_count=population // 5, mutation=step, deviation=step,
        elites="averaged", parents="elites", mixing="uniform",
    )  # fmt: skip


@dataclass(frozen=True)
class Prize:
    """The measure that a champion is best at, and its search.

    Attributes:
        words: Its name for people.
        fitness: The measure of a trial.
        episodes: The episodes of a trial.
        trials: Trials for each goal, in an evaluation of a run.
        search: The search of a run.
        generations: Generations of a run, if the budget allows as many.
        breeding: The search that breeds the finalists of all runs together.
        breeding_trials: Trials for each goal, in an evaluation of that search.
        run_fitness: The measure of a trial in the runs, if it is another one; `fitness` then counts
            when their finalists are bred, and in the last race. Success alone hardly separates bad
            rules, so it does not lead to good ones.
    """

    words: str
    fitness: str
    episodes: int
    trials: int
    search: GeneticAlgorithm
    generations: int
    breeding: GeneticAlgorithm
    breeding_trials: int
    run_fitness: str | None = None


_SHORT = (100, 10, _search(100, 0.05), 400, _search(400, 0.02), 20)
_LONG = (10_000, 2, _search(50, 0.05), 200, _search(100, 0.02), 4)
PRIZES = {
    "best": Prize("best EP after 100 episodes", BEST, *_SHORT),
    "last": Prize("mean EP of episodes 81 to 100", "last:20", *_SHORT),
    "reached": Prize(
        "percentage of trials that miss the goal in 100 episodes", MISSED, *_SHORT, run_fitness=BEST
    ),
    "long": Prize("best EP after 10,000 episodes", BEST, *_LONG),
}
