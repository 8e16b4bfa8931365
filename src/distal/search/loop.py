"""The loop of an evolution: ask, evaluate, tell, for all runs side by side.

The runs advance together, one generation at a time, so that one call of the engine
evaluates the children of all of them. That changes no run's result: each has its own
seed, and every evaluation its own trial seeds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from distal.engines import Runner
from distal.search.config import Config
from distal.search.fitness import GenerationTrials, example
from distal.search.recorder import Recorder
from distal.search.results import Evolved
from distal.search.search import Search, ask_all
from distal.search.winners import winners_of


def evolution(config: Config, searches: list[Search], runner: Runner, recorder: Recorder) -> Evolved:
    """Run the generations that are missing, of all runs side by side, and find the winners.

    Where the engine overlaps batches, the runs are in two groups, which take turns.
    """
    missing = config.generations - searches[0].generation
    if missing:
        groups = [advance(config, runs, runner) for runs in runner.in_turns(example(config), searches)]
        for group in groups:
            next(group)  # begins its first trials
        for _ in range(missing):
            evaluations = sum(map(next, groups))
            recorder.add(searches, evaluations)
    return recorder.finish(winners_of(config, searches, runner))


def advance(config: Config, searches: Sequence[Search], runner: Runner) -> Iterator[int]:
    """Ask, evaluate, tell, until no generation is missing; yield while trials may run, and at the end.

    What is yielded is the number of genotypes that the runs were told of since the last time.
    """
    evaluations = 0
    while searches[0].generation < config.generations:
        asked = ask_all(searches)
        evaluation = GenerationTrials(config, searches, asked, runner)
        yield evaluations
        for search, genotypes, fitness in zip(searches, asked, evaluation.fitness(), strict=True):
            search.tell(genotypes, fitness)
        evaluations = sum(map(len, asked))
    yield evaluations
