"""The configuration of an evolution: everything that decides its result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from distal._version import __version__
from distal.base.checks import InputError, flag, instance, integer, one_of, shown, suggestion
from distal.evaluation.learning import chosen_task, task_fields, task_from_fields
from distal.evaluation.measures import BEST, Measure
from distal.learners import KINDS, Learner
from distal.learners.genes import decoded
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.search.genetic import GeneticAlgorithm
from distal.search.protocol import Algorithm, Genotypes
from distal.search.registry import ALGORITHMS, algorithm, options_of
from distal.tasks.switching import Switch
from distal.tasks.task import Task, checked_task

UNNAMED = GeneticAlgorithm.name  # files do not name it: there was no other at first
_OWN = ("learner", "runs", "generations", "trials", "episodes", "seed")
_OTHERS = ("search", "maze", "heading", "task", "fresh", "fitness", "switch")
_FIELDS = ("distal", *_OWN, *Settings.__dataclass_fields__, *_OTHERS)


@dataclass(frozen=True)
class Config:
    """Everything that decides the result of an evolution.

    Attributes:
        learner: The word for the kind of learner.
        runs: Independent runs.
        generations: Generations after the first population.
        trials: Trials for each goal, in an evaluation; in a maze, for each final position.
        episodes: Episodes in each trial.
        seed: The seed of all random numbers.
        search: The search and its options.
        settings: The network and the readings.
        task: What is to be learned.
        fresh: Trials on which a winner is measured again, for all goals together; None for 400.
        fitness: What a trial is judged by: "best", "last:K" or "mean"; fitness is the mean over trials.
        switch: When goals move, and where to; None if they do not.
    """

    learner: str = "dsp"
    runs: int = 15
    generations: int = 300
    trials: int = 5
    episodes: int = 100
    seed: int = 0
    search: Algorithm = field(default_factory=GeneticAlgorithm)
    settings: Settings = field(default_factory=Settings)
    task: Task[Any] = field(default_factory=lambda: chosen_task(None))
    fresh: int | None = None
    fitness: str = BEST
    switch: Switch | None = None

    def __post_init__(self) -> None:
        given: object = self.learner
        evolvable = [kind for kind, cls in KINDS.items() if cls.genes is not None]
        if isinstance(given, str) and given in KINDS and given not in evolvable:
            raise InputError(
                f"learner is {given!r}, which has nothing to evolve; measure it with learn, "
                f"or evolve {' or '.join(evolvable)}"
            )
        object.__setattr__(self, "learner", one_of("learner", given, evolvable))
        bounds = {
            "runs": (1, 2**20), "generations": (0, MAX_COUNT), "trials": (1, MAX_COUNT),
            "episodes": (1, MAX_COUNT), "seed": (0, MAX_SEED),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            object.__setattr__(self, name, integer(name, getattr(self, name), low, high))
        if self.fresh is not None:
            object.__setattr__(self, "fresh", integer("fresh", self.fresh, 2, MAX_COUNT))
        self._check_search()
        instance("settings", self.settings, Settings, "a Settings")
        goals = len(checked_task(self.task).goals)
        if self.switch is not None:
            instance("switch", self.switch, Switch, "a Switch").check_goals(goals)
        self.measure.check(self.episodes, self.switch)

    @property
    def measure(self) -> Measure:
        """What a trial is judged by."""
        return Measure.of(self.fitness)

    def _check_search(self) -> None:
        """Refuse a search that a file could not name, or whose options would stand for something else."""
        given: object = self.search
        kind = type(given)
        if not isinstance(given, Algorithm):
            raise InputError(f"search is {shown(given)}, expected an algorithm such as GeneticAlgorithm()")
        if kind not in ALGORITHMS.values():
            raise InputError(
                f"the search {kind.__name__} is not registered; use distal.search.registry.register"
            )
        for option in self.search.to_dict():
            if option in _FIELDS:
                raise InputError(
                    f"the search {self.search.name} has an option {option!r}; call it something else"
                )

    @property
    def genes(self) -> tuple[int, int]:
        """The number of discrete and of continuous genes."""
        return KINDS[self.learner].genes or (0, 0)

    def decode(self, genotypes: Genotypes) -> Sequence[Learner]:
        """Turn genotypes into learners; what the genes mean is for the kind of learner to say."""
        return decoded(KINDS[self.learner], genotypes.discrete, genotypes.continuous)

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration, ready for JSON."""
        return {
            "distal": __version__,
            **{name: getattr(self, name) for name in _OWN},
            **({} if self.search.name == UNNAMED else {"search": self.search.name}),
            **({} if self.fresh is None else {"fresh": self.fresh}),
            **({} if self.fitness == BEST else {"fitness": self.fitness}),
            **({} if self.switch is None else {"switch": self.switch.to_dict()}),
            **self.search.to_dict(),
            **self.settings.to_dict(),
            **task_fields(self.task),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """Read what `to_dict` returns, or returned in version 0.1; a task that is no maze is a StoredTask."""
        data = dict(data)
        if "remeasure" in data:  # 0.1: `elites` was their number
            remeasure = flag("remeasure", data.pop("remeasure"))
            data.update(elite_count=data["elites"], elites="remeasured" if remeasure else "kept")
        name = one_of("search", data.get("search", UNNAMED), ALGORITHMS)
        options = options_of(ALGORITHMS[name])
        known = (*_FIELDS, *options)
        for field_name in data:
            if field_name not in known:
                raise InputError(f"unknown field {field_name!r}{suggestion(field_name, known)}")
        return cls(
            **{name: data[name] for name in _OWN},
            search=algorithm(name, {option: data[option] for option in options}),
            settings=Settings.among(data),
            task=task_from_fields(data),
            fresh=data.get("fresh"),
            fitness=data.get("fitness", BEST),
            switch=Switch.from_dict(data["switch"]) if "switch" in data else None,
        )
