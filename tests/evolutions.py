"""Small evolutions: what several tests begin, interrupt and compare."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal import GeneticAlgorithm, Maze
from distal.search.genotypes import Genotypes
from distal.search.recorder import Step
from distal.search.search import Search

MAZE = Maze.from_text("#####\n#0S1#\n#####")
FEW = GeneticAlgorithm(population=6, elite_count=2)
TINY: dict[str, Any] = {
    "runs": 2, "generations": 7, "trials": 1, "episodes": 4, "steps": 6, "hidden": 3, "maze": MAZE,
    "fresh": 8,
}  # fmt: skip


class Stop(Exception):  # noqa: N818
    """Ends an evolution from outside."""


def stop_after(generation: int) -> Callable[[Step], None]:
    """Return a progress that ends an evolution after a generation."""

    def progress(step: Step) -> None:
        if step.generation == generation:
            raise Stop

    return progress


def contents(folder: Path) -> dict[str, bytes]:
    """Return the files that are reproducible: all but those that hold times."""
    files = (path for path in folder.rglob("*") if path.is_file() and path.stem != "seconds")
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def told(search: Search, *generations: list[float]) -> list[Genotypes]:
    """Ask a search and tell it this fitness, generation after generation; return what it asked for."""
    asked = []
    for fitness in generations:
        asked.append(search.ask())
        search.tell(asked[-1], np.array(fitness))
    return asked


def toy(genotypes: Genotypes) -> NDArray[np.float64]:
    """Count discrete genes that are not 1, and add the distance of continuous ones from 0.3: optimum 0."""
    far: NDArray[np.float64] = np.abs(genotypes.continuous - 0.3).sum(axis=1)
    wrong: NDArray[np.int64] = (genotypes.discrete != 1).sum(axis=1)
    return wrong + far
