"""The configuration of an evolution: its price, and the genes that its runs begin with."""

from __future__ import annotations

import pytest

from distal import GeneticAlgorithm, InputError, Islands, Race, Restarts
from distal.search.config import Config


def test_the_papers_evolution_takes_this_many_episodes() -> None:
    # 301 populations of 14, 40 trials each, 100 episodes a trial; kept elites save 4 of 14 in 300 of them.
    paper = GeneticAlgorithm()
    assert Config().spent(300) == 301 * 14 * 40 * 100 == 16_856_000
    kept = GeneticAlgorithm(elites="kept")
    assert Config(search=kept).spent(300) == (14 + 300 * 10) * 4_000
    assert Config(finalists=10).spent(300) == 16_856_000 + 10 * 400 * 100
    assert Config(search=Islands(paper, 3)).spent(300) == 3 * 16_856_000
    assert Config(search=Restarts(paper, every=100)).spent(300) == 16_856_000
    assert Config(search=Restarts(kept, every=100)).spent(300) == (4 * 14 + 297 * 10) * 4_000


def test_a_budget_buys_all_generations_that_it_can() -> None:
    for config in (
        Config(), Config(search=Race(GeneticAlgorithm(), heats=3)),
        Config(search=Restarts(GeneticAlgorithm(elites="kept"), every=7)),
    ):  # fmt: skip
        for budget in (config.spent(0), 1_000_000, 16_856_000, 123_456_789):
            generations = config.affordable(budget)
            assert config.spent(generations) <= budget < config.spent(generations + 1)


def test_a_configuration_with_wrong_genes_to_begin_with_is_refused() -> None:
    right = (*[0] * 32, 0.1, 0.2, 0.3, 0.4)
    assert Config(begin_with=(right,)).begin(0).ask().genes[0] == list(right)
    for wrong, message in (
        (right[1:], "genotype 1 of begin_with has 35 genes, expected 36"),
        ((2, *right[1:]), "a change in genotype 1 is 2"),
        ((*right[:-1], 1.5), "a number in genotype 1 is 1.5"),
        (5, "genotype 1 of begin_with is 5, expected a list of genes"),
    ):
        with pytest.raises(InputError, match=message):
            Config(begin_with=(wrong,))  # type: ignore[arg-type]
