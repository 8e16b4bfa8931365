"""The paper's experiments, as functions that return what a table or figure needs."""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib import resources
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import draws, engines
from distal.checks import integer
from distal.engines import Progress
from distal.evaluation import MAX_SEED, Result, climb, learn
from distal.learners.hill_climbing import NUMBERS, HillClimbing
from distal.rule import ROWS, Rule, published_rules
from distal.settings import SettingsDict

CANDIDATES = 14  # a population of the paper's genetic algorithm


@dataclass(frozen=True, eq=False)
class PublishedRules:
    """The paper's fifteen rules, and hill climbing beside them, all evaluated afresh.

    `climbs` holds one result for each of 14 parameter sets drawn at random, as in
    the first generation of the paper's evolution of hill climbing.
    """

    rules: tuple[Result, ...]
    climbs: tuple[Result, ...]

    @property
    def best_climb(self) -> Result:
        """The best of the random parameter sets; its fitness is optimistic, being selected."""
        return min(self.climbs, key=lambda result: result.fitness)


def paper_results() -> dict[str, Any]:
    """Return every number that the paper reports."""
    text = (resources.files("distal") / "data" / "paper_results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def random_climbers(seed: int, count: int = CANDIDATES) -> tuple[HillClimbing, ...]:
    """Draw parameter sets of hill climbing, uniform in [0, 1)."""
    words = draws.words(draws.child_seed(seed, 0, 0, 1), draws.WEIGHTS, 0, range(count), len(NUMBERS))
    return tuple(HillClimbing(*row[: len(NUMBERS)]) for row in _unit(words))


def random_rules(seed: int, count: int = CANDIDATES) -> tuple[Rule, ...]:
    """Draw rules, changes and numbers uniform, as in the first generation of an evolution."""
    words = draws.words(draws.child_seed(seed, 0, 0, 3), draws.WEIGHTS, 0, range(count), ROWS + 4)
    changes = [[draws.choice(word, 3) - 1 for word in row] for row in words[:, :ROWS]]
    numbers = _unit(words[:, ROWS : ROWS + 4])
    return tuple(Rule(delta_w, *unit) for delta_w, unit in zip(changes, numbers, strict=True))


def _unit(words: NDArray[np.uint32]) -> NDArray[np.float64]:
    """Turn words into numbers uniform in [0, 1)."""
    return (words >> np.uint32(8)) / 2**24


def run_published_rules(
    *,
    episodes: int = 100,
    trials: int = 5,
    seed: int = 0,
    engine: str = engines.DEFAULT,
    workers: int | None = None,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> PublishedRules:
    """Evaluate the published rules and 14 random parameter sets of hill climbing."""
    integer("seed", seed, 0, MAX_SEED)

    def seed_of(kind: int, number: int) -> int:
        return draws.child_seed(seed, number, kind, 2)

    common: dict[str, Any] = {
        "episodes": episodes,
        "trials": trials,
        "engine": engine,
        "workers": workers,
        "progress": progress,
        **settings,
    }
    return PublishedRules(
        rules=tuple(learn(rule, seed=seed_of(0, k), **common) for k, rule in enumerate(published_rules())),
        climbs=tuple(climb(hc, seed=seed_of(1, k), **common) for k, hc in enumerate(random_climbers(seed))),
    )
