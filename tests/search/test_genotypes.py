"""Genotypes and finalists."""

from __future__ import annotations

import numpy as np

from distal.search.genotypes import Finalists, Genotypes


def test_finalists_of_groups_are_the_best_of_all() -> None:
    def group(*fitness: float) -> Finalists:
        n = len(fitness)
        genes = Genotypes(np.zeros((n, 1), np.int8), np.array(fitness)[:, None] / 10)
        return Finalists(genes, np.array(fitness), np.arange(n))

    best = Finalists.best([group(3, 4), group(1, 5)], 3)
    assert best.fitness.tolist() == [1, 3, 4]
    assert best.genotypes.continuous[:, 0].tolist() == [0.1, 0.3, 0.4]
    assert best.born.tolist() == [0, 0, 1]
