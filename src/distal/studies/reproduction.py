"""The outcome of a reproduction: winners and curves; and the numbers of the paper."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from importlib import resources
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base.checks import integer, one_of
from distal.base.frozen import Frozen
from distal.engines import machine_of
from distal.learners import Learner
from distal.learners.dsp import Rule
from distal.model.maze import Maze
from distal.model.settings import Settings
from distal.search.genetic import ELITES
from distal.search.results import Evolved, Fresh
from distal.studies.appendix import Appendix
from distal.studies.study import Scale

RESAMPLE = 100  # the paper's iterative re-sampling
TRIALS = 5  # per final position

# The tests: name, learner, resampled?
TESTS = (
    ("dsp", "dsp", False),
    ("hc", "hc", False),
    ("dsp_resampled", "dsp", True),
    ("hc_resampled", "hc", True),
)
# Chance beside the learners of a plain test: their scales α, their trials.
CHANCE = {"chance": "dsp", "chance_hc": "hc"}


@dataclass(frozen=True, eq=False)
class Reproduction(Frozen):
    """The results of the experiments.

    A learner is "dsp" or "hc". A test is one of these, "dsp_resampled" or "hc_resampled", or
    "chance" or "chance_hc", which have the trials and the scales α of the rules and of the
    climbers.

    Attributes:
        scale: The scale of the run.
        seed: The seed.
        rules: "evolved" or "published".
        elites: "remeasured" or "kept".
        settings: The settings.
        maze: The maze.
        engine: The engine that ran the trials.
        evolved: The evolution of each learner; no "dsp" with the published rules.
        otherwise: The same with the other reading of elites.
        fresh: Every rule and climber on fresh trials, with chance, by learner.
        learners: The rules and the climbers, by learner.
        curves: The best EP so far, (rules, trials, episodes), by test.
        at_100: The best EPs after 100 episodes, (trials), of the best rule ("dsp"), the best
            climber ("hc") and "chance", in new trials; chance has the trials of the rule.
        episodes: The EP of every episode, (trials, 100), of the same three, in the same trials.
        seconds: The time of each stage.
        appendix: The paper's fifteen rules, whichever rules the other tests use.
    """

    scale: Scale
    seed: int
    rules: str
    elites: str
    settings: Settings
    maze: Maze
    engine: str
    evolved: dict[str, Evolved]
    otherwise: dict[str, Evolved]
    fresh: dict[str, tuple[Fresh, ...]]
    learners: dict[str, tuple[Learner, ...]]
    curves: dict[str, NDArray[np.int32]]
    at_100: dict[str, NDArray[np.int32]]
    episodes: dict[str, NDArray[np.int32]]
    seconds: dict[str, float]
    appendix: Appendix

    @property
    def version(self) -> str:
        """The version of Distal."""
        return __version__

    @property
    def machine(self) -> dict[str, Any]:
        """A description of the machine."""
        return machine_of(self.engine)

    @property
    def dsp_rules(self) -> tuple[Rule, ...]:
        """The DSP rules among the learners."""
        return cast(tuple[Rule, ...], self.learners["dsp"])

    @property
    def trials(self) -> int:
        """The number of trials in a test: five for each final position."""
        return TRIALS * len(self.maze.finals)

    @cached_property
    def _fitness(self) -> dict[str, NDArray[np.float64]]:
        return {test: curves.mean(axis=1) for test, curves in self.curves.items()}

    def fitness(self, test: str) -> NDArray[np.float64]:
        """Return the mean best EP of every rule after every episode, (rules, episodes)."""
        return self._fitness[one_of("test", test, self.curves)]

    def best(self, learner: str) -> int:
        """Return which rule, or climber, has the lowest fitness at the end of the plain test."""
        return int(np.argmin(self.fitness(one_of("learner", learner, self.learners))[:, -1]))

    def ranking(self, learner: str) -> list[int]:
        """Return the rules, or climbers, in the order of their fitness at the end of the plain test."""
        fitness = self.fitness(one_of("learner", learner, self.learners))[:, -1]
        order: list[int] = np.argsort(fitness, kind="stable").tolist()
        return order

    def best_curve(self, test: str) -> NDArray[np.int32]:
        """Return the trials (trials, episodes) of the best rule or climber, or of its chance."""
        one_of("test", test, self.curves)
        whose = CHANCE.get(test, test.removesuffix("_resampled"))
        curve: NDArray[np.int32] = self.curves[test][self.best(whose)]
        return curve

    def against_chance(self, learner: str, episodes: int) -> list[Fresh]:
        """Compare every rule, or climber, with chance after some episodes of the plain test."""
        one_of("learner", learner, self.learners)
        episodes = integer("episodes", episodes, 1, self.curves[learner].shape[-1])
        chance = next(test for test, kind in CHANCE.items() if kind == learner)
        pairs = zip(self.curves[learner], self.curves[chance], strict=True)
        return [Fresh.of(own[:, episodes - 1], by_chance[:, episodes - 1]) for own, by_chance in pairs]

    def origin(self, learner: str, number: int) -> str:
        """Return the origin of a rule or climber: the run that evolved it, or its name in the paper."""
        one_of("learner", learner, self.learners)
        number = integer("number", number, 0, len(self.learners[learner]) - 1)
        if learner in self.evolved:
            return f"run {self.evolved[learner].winners[number].run}"
        return f"paper:{number + 1}"


def paper_results() -> dict[str, Any]:
    """Return every number that the paper reports."""
    text = (resources.files("distal.studies") / "paper_results.json").read_text(encoding="utf-8")
    results: dict[str, Any] = json.loads(text)
    return results


def other_elites(elites: str) -> str:
    """Return the other reading of elites."""
    return next(word for word in ELITES if word != elites)
