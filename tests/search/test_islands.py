"""Islands: separate populations that send their leaders to one another."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from distal import CMA, GeneticAlgorithm, InputError, Islands
from distal.search.islands import Archipelago
from distal.search.search import Search
from tests.command_line import refusal
from tests.evolutions import told

FEW = GeneticAlgorithm(population=4, elite_count=1)


def islands(count: int = 3, exchange: int = 2) -> Archipelago:
    return Islands(FEW, count, exchange).begin(2, 1, 7)


def test_islands_are_separate_until_leaders_travel() -> None:
    search = islands()
    apart: list[Search] = [FEW.begin(2, 1, part.seed) for part in search.parts]
    assert len({part.seed for part in apart}) == 3
    fitness = np.array([5.0, 1.0, 7.0, 9.0])
    for _ in range(2):
        told(search, (np.concatenate([fitness, fitness + 10, fitness + 20])).tolist())
        for part, more in zip(apart, (0, 10, 20), strict=True):
            told(part, (fitness + more).tolist())
    assert search.generation == 1
    assert [part.state() for part in search.parts] == [part.state() for part in apart]
    told(search, (np.concatenate([fitness, fitness + 10, fitness + 20])).tolist())
    for place, part in enumerate(search.parts):
        values = part.current()[1]
        # The worst, with 9, went; the leader of the island before, with its 1, came.
        assert values.tolist() == [*(fitness[:3] + 10 * place), 1 + 10 * ((place - 1) % 3)]
    assert (search.best_fitness, len(search.current()[0])) == (1, 12)


def test_finalists_are_not_alike() -> None:
    search = islands(exchange=1)
    told(search, [5.0, 1.0, 7.0, 9.0] * 3, [5.0, 1.0, 7.0, 9.0] * 3)  # leaders have travelled
    genes = search.current()[0].continuous[:, 0].tolist()
    assert len(set(genes)) < len(genes)
    found = search.finalists(12).genotypes.continuous[:, 0].tolist()
    assert len(set(found)) == len(found) == len(set(genes))


def test_a_search_that_takes_no_guests_has_no_islands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(InputError, match="the search cma takes no individuals from other islands"):
        Islands(CMA(population=4), 2)
    asked = ["evolve", "--search", "cma", "--islands", "2", "--out", str(tmp_path / "new")]
    assert "takes no individuals from other islands; use the search ga" in refusal(capsys, *asked)
    assert not (tmp_path / "new").exists()
    with pytest.raises(InputError, match="CMASearch takes no individuals from other islands"):
        CMA(population=4).begin(2, 1, 0).immigrate(FEW.begin(2, 1, 0).ask()[:1], 1.0, 0)


def test_a_damaged_state_of_islands_is_refused() -> None:
    search = islands()
    told(search, [1.0] * 12)
    state = search.state()
    with pytest.raises(InputError, match="islands is not a list of 3"):
        islands().restore({**state, "islands": state["islands"][:2]})
    with pytest.raises(InputError, match="its islands are in different generations"):
        islands().restore({**state, "generation": 1})
