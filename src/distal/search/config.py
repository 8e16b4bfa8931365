"""The configuration of an evolution: everything that decides its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from zlib import crc32

from distal._version import __version__
from distal.base import plugins
from distal.base.checks import (
    InputError,
    counted,
    flag,
    instance,
    integer,
    number,
    sequence,
    shown,
    suggestion,
    unit_interval,
)
from distal.evaluation.measures import BEST, Measure
from distal.evaluation.trials import chosen_task
from distal.learners import KINDS, Learner
from distal.learners.genes import decoded
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seed
from distal.model.settings import ORIGIN, Settings
from distal.networks import Network, network_for
from distal.search import racing
from distal.search.genetic import GeneticAlgorithm
from distal.search.genotypes import Genotypes
from distal.search.registry import ALGORITHMS, algorithm, find_algorithm, options_of, wrapped
from distal.search.search import Algorithm, Search
from distal.tasks.stored import task_from_fields
from distal.tasks.switching import Switch, switch_of
from distal.tasks.task import Task, checked_task

UNNAMED = GeneticAlgorithm.name  # files do not name it: there was no other at first
_OWN = ("learner", "runs", "generations", "trials", "episodes", "seed")
# Options against noise, in the order of a file, which names them only where they are not the default.
_AGAINST_NOISE = ("race", "finalists", "islands", "exchange", "restart")
_OTHERS = ("search", "maze", "heading", "task", "fresh", "fitness", "switch", "begin_with", *_AGAINST_NOISE)
_ORIGINS = ("learner_module", "search_module", ORIGIN)  # where learner, search or network are not Distal's
_FIELDS = ("distal", *_OWN, *Settings.__dataclass_fields__, *_OTHERS, *_ORIGINS)
WRAPPING = tuple(name for name in _AGAINST_NOISE if name != "finalists")
REMEASURED = 400  # fresh trials on which a winner is measured again, unless `fresh` says otherwise
MOST_FINALISTS = 2**20
RUN = 4  # the last number of the part of a seed that seeds a run
_NUMBERED = {"dsp": 0, "hc": 1}  # the parts of our own kinds of learners; others get theirs from their words


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
        search: The search and its options; `Islands`, `Restarts` and `Race` may wrap it.
        settings: The network and the readings.
        task: The task.
        fresh: Trials on which a winner is measured again, for all goals together; None for 400.
        fitness: The measure of a trial: "best", "last:K", "mean" or "missed"; fitness is the mean
            over trials.
        switch: When goals move, and where to; None if they do not.
        finalists: The number of a run's best that are measured again, on as many trials as a
            winner, to choose the winner; 0 takes the leader as it is.
        begin_with: The genes of the individuals that each run begins with, the discrete ones first;
            the rest of its first population is drawn.
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
    finalists: int = 0
    begin_with: tuple[tuple[float, ...], ...] = ()

    def __post_init__(self) -> None:
        given: object = self.learner
        if isinstance(given, str) and given not in KINDS:
            plugins.load_installed(plugins.LEARNERS)
        evolvable = [kind for kind, cls in KINDS.items() if cls.genes is not None]
        if isinstance(given, str) and given in KINDS and given not in evolvable:
            raise InputError(
                f"learner is {given!r}, which has nothing to evolve; measure it with learn, "
                f"or evolve {', '.join(evolvable[:-1])} or {evolvable[-1]}"
            )
        object.__setattr__(self, "learner", plugins.registered("learner", given, evolvable))
        bounds = {
            "runs": (1, 2**20), "generations": (0, MAX_COUNT), "trials": (1, MAX_COUNT),
            "episodes": (1, MAX_COUNT), "seed": (0, MAX_SEED), "finalists": (0, MOST_FINALISTS),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            object.__setattr__(self, name, integer(name, getattr(self, name), low, high))
        if self.fresh is not None:
            object.__setattr__(self, "fresh", integer("fresh", self.fresh, 2, MAX_COUNT))
        self._check_search()
        instance("settings", self.settings, Settings, "a Settings")
        goals = len(checked_task(self.task).goals)
        self._check_begin_with()
        if self.switch is not None:
            instance("switch", self.switch, Switch, "a Switch").check_goals(goals)
            switch_of(self.switch, self.episodes)
        self.measure.check(self.episodes, self.switch)

    @property
    def size(self) -> str:
        """The numbers of runs and generations in words."""
        return f"{counted(self.runs, 'run')} of {counted(self.generations, 'generation')}"

    @property
    def measure(self) -> Measure:
        """The measure that trials are judged by."""
        return Measure.of(self.fitness)

    def _check_search(self) -> None:
        """Refuse a search that a file could not name, or whose options would stand for something else."""
        given: object = self.search
        if not isinstance(given, Algorithm):
            raise InputError(f"search is {shown(given)}, expected an algorithm such as GeneticAlgorithm()")
        core = given.core
        if type(core) not in ALGORITHMS.values():
            raise InputError(
                f"the search {type(core).__name__} is not registered; use distal.search.registry.register"
            )
        for option in core.to_dict():
            if option in _FIELDS:
                raise InputError(f"the search {core.name} has an option {option!r}; call it something else")

    def _check_begin_with(self) -> None:
        """Refuse to begin with what has other genes, or where it has no place."""
        rows = sequence("begin_with", self.begin_with, "a list of genotypes")
        discrete, continuous = self.genes
        checked = []
        for count, row in enumerate(rows, start=1):
            genes = sequence(f"genotype {count} of begin_with", row, "a list of genes")
            if len(genes) != discrete + continuous:
                raise InputError(
                    f"genotype {count} of begin_with has {len(genes)} genes, expected {discrete + continuous}"
                )
            changes = (integer(f"a change in genotype {count}", gene, -1, 1) for gene in genes[:discrete])
            numbers = (unit_interval(f"a number in genotype {count}", gene) for gene in genes[discrete:])
            checked.append((*changes, *numbers))
        object.__setattr__(self, "begin_with", tuple(checked))
        if checked and {"islands", "restart"} & self.search.wrapping.keys():
            raise InputError("begin_with is given with islands or restart; leave one out")
        if checked:
            self.begin(0)  # which refuses too many

    @property
    def fresh_trials(self) -> int:
        """The number of trials for each goal on which a winner is measured."""
        return -(-(self.fresh or REMEASURED) // len(self.task.goals))

    def begin(self, seed: int) -> Search:
        """Return the search of a run, before its first generation."""
        search = self.search.begin(*self.genes, seed)
        search.wanted = max(1, self.finalists)
        if self.begin_with:
            search.begin_with(Genotypes.of_genes(self.begin_with, self.genes[0]))
        return search

    def run_seed(self, run: int) -> int:
        """Return the seed of a run, from 0; the runs of two kinds of learners share no random numbers."""
        kind = _NUMBERED.get(self.learner)
        if kind is None:  # the same for a registered kind, whatever the order
            kind = len(_NUMBERED) + crc32(self.learner.encode()) % (MAX_COUNT - len(_NUMBERED))
        return child_seed(self.seed, run, kind, RUN)

    def begin_runs(self) -> list[Search]:
        """Return the runs of an evolution before their first generation."""
        return [self.begin(self.run_seed(run)) for run in range(self.runs)]

    def spent(self, generations: int) -> int:
        """Return the episodes of a run of this many generations, up to the choice of its winner.

        Measuring the winner again, on trials that choose nothing, is not part of it.
        """
        return self._spent(integer("generations", generations, 0, MAX_COUNT))

    def _spent(self, generations: int) -> int:
        sizes, heats = self.search.sizes(generations), self.search.heats
        trials = sum(racing.cost(size, self.trials, heats) * times for size, times in sizes.items())
        return (trials + self.finalists * self.fresh_trials) * len(self.task.goals) * self.episodes

    def affordable(self, budget: float) -> int:
        """Return the generations that a budget of episodes allows a run; refuse too small a budget.

        Args:
            budget: Episodes of a run.

        Raises:
            InputError: If they do not suffice for the first population.
        """
        budget, least = number("budget", budget), self._spent(0)
        if not least <= budget < math.inf:
            raise InputError(
                f"budget is {budget:,.0f}, but the first population of a run takes "
                f"{counted(least, 'episode')}; give at least that, or use fewer trials or episodes"
            )
        low, high = 0, 1
        while self._spent(high) <= budget and high < MAX_COUNT:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._spent(middle) <= budget else (low, middle)
        return min(low, MAX_COUNT)

    @property
    def genes(self) -> tuple[int, int]:
        """The number of discrete and of continuous genes."""
        return KINDS[self.learner].genes_for(self._network) or (0, 0)

    @property
    def gene_names(self) -> tuple[str, ...]:
        """The names of the genes in tables, the discrete ones first."""
        return KINDS[self.learner].gene_names(self._network)

    @property
    def _network(self) -> Network:
        """The shape of the network that is trained."""
        return network_for(self.settings, self.task.inputs, self.task.outputs, {})

    def decode(self, genotypes: Genotypes) -> Sequence[Learner]:
        """Turn genotypes into learners; the kind of learner defines the meaning of the genes."""
        instance("genotypes", genotypes, Genotypes, "Genotypes")
        return decoded(KINDS[self.learner], genotypes.discrete, genotypes.continuous)

    @property
    def options(self) -> dict[str, int]:
        """The options against noise by name, where they are not the default."""
        given = {**self.search.wrapping, **({"finalists": self.finalists} if self.finalists else {})}
        return {name: given[name] for name in _AGAINST_NOISE if name in given}

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration, ready for JSON."""
        core = self.search.core
        later = {  # fields that came later are named only where they are not the default
            "search": None if core.name == UNNAMED else core.name,
            "learner_module": plugins.module_of(KINDS[self.learner]),
            "search_module": plugins.module_of(type(core)),
            "fresh": self.fresh,
            "fitness": None if self.fitness == BEST else self.fitness,
            "switch": None if self.switch is None else self.switch.to_dict(),
            "begin_with": [list(row) for row in self.begin_with] or None,
        }
        return {
            "distal": __version__,
            **{name: getattr(self, name) for name in _OWN},
            **{name: value for name, value in later.items() if value is not None},
            **self.options,
            **core.to_dict(),
            **self.settings.to_dict(),
            **self.task.fields(),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """Read the data of `to_dict`, also of version 0.1; a task that is not a maze is a StoredTask."""
        given = instance("data", data, dict, "the result of Config.to_dict")
        try:
            return cls._read(dict(given))
        except KeyError as missing:
            raise InputError(f"field {missing} is missing") from None

    @classmethod
    def _read(cls, data: dict[str, Any]) -> Config:
        if "remeasure" in data:  # 0.1: `elites` was their number
            remeasure = flag("remeasure", data.pop("remeasure"))
            data.update(elite_count=data["elites"], elites="remeasured" if remeasure else "kept")
        plugins.load_installed(plugins.LEARNERS)
        if isinstance(data["learner"], str) and data["learner"] not in KINDS:
            raise plugins.unknown("learner kind", data["learner"], data.get("learner_module"))
        kind = find_algorithm(data.get("search", UNNAMED), data.get("search_module"))
        name, options, later = kind.name, options_of(kind), kind.later
        known = (*_FIELDS, *options)
        for field_name in data:
            if field_name not in known:
                raise InputError(f"unknown field {shown(field_name)}{suggestion(field_name, known)}")
        return cls(
            **{name: data[name] for name in _OWN},
            search=wrapped(
                algorithm(
                    name,
                    {option: data[option] for option in options if option in data or option not in later},
                ),
                **{name: data[name] for name in WRAPPING if name in data},
            ),
            settings=Settings.among(data),
            task=task_from_fields(data),
            fresh=data.get("fresh"),
            fitness=data.get("fitness", BEST),
            switch=Switch.from_dict(data["switch"]) if "switch" in data else None,
            finalists=data.get("finalists", 0),
            begin_with=data.get("begin_with", ()),
        )
