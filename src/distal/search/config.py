"""The configuration of an evolution: everything that decides its result."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import MISSING, dataclass, field, fields
from typing import Any

from distal._version import __version__
from distal.base.checks import (
    InputError,
    counted,
    flag,
    instance,
    integer,
    number,
    one_of,
    sequence,
    shown,
    suggestion,
    unit_interval,
)
from distal.evaluation.learning import chosen_task, task_fields, task_from_fields
from distal.evaluation.measures import BEST, Measure
from distal.learners import KINDS, Learner
from distal.learners.genes import decoded
from distal.model.draws import MAX_COUNT, MAX_SEED
from distal.model.settings import Settings
from distal.search import racing
from distal.search.genetic import GeneticAlgorithm
from distal.search.genotypes import Genotypes
from distal.search.islands import MOST as MOST_ISLANDS
from distal.search.islands import Islands
from distal.search.registry import ALGORITHMS, algorithm, options_of
from distal.search.restarts import Restarts
from distal.search.search import Algorithm, Search
from distal.tasks.switching import Switch
from distal.tasks.task import Task, checked_task

UNNAMED = GeneticAlgorithm.name  # files do not name it: there was no other at first
_OWN = ("learner", "runs", "generations", "trials", "episodes", "seed")
# What a judge does about noise; files name these only where they are not the default.
_AGAINST_NOISE = ("race", "finalists", "islands", "exchange", "restart")
_OTHERS = ("search", "maze", "heading", "task", "fresh", "fitness", "switch", "begin_with", *_AGAINST_NOISE)
_FIELDS = ("distal", *_OWN, *Settings.__dataclass_fields__, *_OTHERS)
REMEASURED = 400  # fresh trials on which a winner is measured again, unless `fresh` says otherwise
MOST_FINALISTS = 2**20


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
        fitness: What a trial is judged by: "best", "last:K", "mean" or "missed"; fitness is the mean
            over trials.
        switch: When goals move, and where to; None if they do not.
        race: Heats after the first in which the better half of a generation is measured on more
            trials, as `racing` says; 0 measures all alike.
        finalists: How many of the best of a run are measured again, on as many trials as a
            winner, to choose the winner; 0 takes the leader as it is.
        islands: Populations in each run.
        exchange: Generations between two exchanges of leaders, where there are several islands.
        restart: Start each run over from a new population every so many generations; None for never.
        begin_with: The genes of those that each run begins with, the discrete ones first; the rest
            of its first population is drawn.
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
    race: int = 0
    finalists: int = 0
    islands: int = 1
    exchange: int = 10
    restart: int | None = None
    begin_with: tuple[tuple[float, ...], ...] = ()

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
            "episodes": (1, MAX_COUNT), "seed": (0, MAX_SEED), "race": (0, racing.MOST),
            "finalists": (0, MOST_FINALISTS), "islands": (1, MOST_ISLANDS), "exchange": (1, MAX_COUNT),
        }  # fmt: skip
        for name, (low, high) in bounds.items():
            object.__setattr__(self, name, integer(name, getattr(self, name), low, high))
        if self.fresh is not None:
            object.__setattr__(self, "fresh", integer("fresh", self.fresh, 2, MAX_COUNT))
        if self.restart is not None:
            object.__setattr__(self, "restart", integer("restart", self.restart, 1, MAX_COUNT))
        self._check_search()
        self._check_islands()
        self._check_begin_with()
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

    def _check_islands(self) -> None:
        """Refuse islands of a search that takes no newcomers."""
        if self.islands > 1:
            kind = type(self.search.begin(*self.genes, 0))
            if kind.immigrate is Search.immigrate:
                raise InputError(
                    f"islands is {self.islands}, but the search {self.search.name} takes no individuals of "
                    "other islands; use the search ga, or 1 island"
                )

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
        if checked and (self.islands > 1 or self.restart is not None):
            raise InputError("begin_with is given with islands or restart; leave one out")
        if checked:
            self.begin(0)  # which refuses too many

    @property
    def population(self) -> int:
        """The most genotypes that a generation of a run measures, on all its islands."""
        return self.search.population * self.islands

    @property
    def fresh_trials(self) -> int:
        """How many trials for each goal a winner is measured on."""
        return -(-(self.fresh or REMEASURED) // len(self.task.goals))

    def begin(self, seed: int) -> Search:
        """Return the search of a run, before its first generation."""

        def start(own: int) -> Search:
            if self.islands == 1:
                search = self.search.begin(*self.genes, own)
                if self.begin_with:
                    search.begin_with(Genotypes.of_genes(self.begin_with, self.genes[0]))
                return search
            return Islands(*self.genes, own, self.search, self.islands, self.exchange)

        if self.restart is None:
            return start(seed)
        return Restarts(*self.genes, seed, start, self.restart, max(1, self.finalists))

    def spent(self, generations: int) -> int:
        """Return how many episodes a run of so many generations takes, up to its winner.

        Measuring the winner again, on trials that choose nothing, is not part of it.
        """
        return self._spent(integer("generations", generations, 0, MAX_COUNT))

    def _spent(self, generations: int) -> int:
        first, later = self._costs()
        starts = 1 if self.restart is None else generations // self.restart + 1
        return starts * first + (generations + 1 - starts) * later + self._last()

    def affordable(self, budget: float) -> int:
        """Return how many generations a run has that may take so many episodes; refuse too few.

        Args:
            budget: Episodes of a run.

        Returns:
            The generations after the first population.

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

    def _costs(self) -> tuple[int, int]:
        """Return the episodes of a first population and of a later generation."""
        first = self.search.evaluations(0)
        return self._cost(first * self.islands), self._cost(
            (self.search.evaluations(1) - first) * self.islands
        )

    def _cost(self, genotypes: int) -> int:
        return racing.cost(genotypes, self.trials, self.race) * len(self.task.goals) * self.episodes

    def _last(self) -> int:
        """Return the episodes of the last race."""
        return self.finalists * self.fresh_trials * len(self.task.goals) * self.episodes

    @property
    def genes(self) -> tuple[int, int]:
        """The number of discrete and of continuous genes."""
        return KINDS[self.learner].genes or (0, 0)

    def decode(self, genotypes: Genotypes) -> Sequence[Learner]:
        """Turn genotypes into learners; what the genes mean is for the kind of learner to say."""
        instance("genotypes", genotypes, Genotypes, "Genotypes")
        return decoded(KINDS[self.learner], genotypes.discrete, genotypes.continuous)

    @property
    def options(self) -> dict[str, Any]:
        """What is done about noise, by name, where it is not the default."""
        own = {name: getattr(self, name) for name in _AGAINST_NOISE}
        return {name: value for name, value in own.items() if value != _DEFAULTS[name]}

    def to_dict(self) -> dict[str, Any]:
        """Return the configuration, ready for JSON."""
        return {
            "distal": __version__,
            **{name: getattr(self, name) for name in _OWN},
            **({} if self.search.name == UNNAMED else {"search": self.search.name}),
            **({} if self.fresh is None else {"fresh": self.fresh}),
            **({} if self.fitness == BEST else {"fitness": self.fitness}),
            **({} if self.switch is None else {"switch": self.switch.to_dict()}),
            **({} if not self.begin_with else {"begin_with": [list(row) for row in self.begin_with]}),
            **self.options,
            **self.search.to_dict(),
            **self.settings.to_dict(),
            **task_fields(self.task),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Config:
        """Read what `to_dict` returns, or returned in version 0.1; a task that is no maze is a StoredTask."""
        given = instance("data", data, dict, "what Config.to_dict returns")
        try:
            return cls._read(dict(given))
        except KeyError as missing:
            raise InputError(f"field {missing} is missing") from None

    @classmethod
    def _read(cls, data: dict[str, Any]) -> Config:
        if "remeasure" in data:  # 0.1: `elites` was their number
            remeasure = flag("remeasure", data.pop("remeasure"))
            data.update(elite_count=data["elites"], elites="remeasured" if remeasure else "kept")
        name = one_of("search", data.get("search", UNNAMED), ALGORITHMS)
        options = options_of(ALGORITHMS[name])
        later = ALGORITHMS[name].later
        known = (*_FIELDS, *options)
        for field_name in data:
            if field_name not in known:
                raise InputError(f"unknown field {shown(field_name)}{suggestion(field_name, known)}")
        return cls(
            **{name: data[name] for name in _OWN},
            search=algorithm(
                name, {option: data[option] for option in options if option in data or option not in later}
            ),
            settings=Settings.among(data),
            task=task_from_fields(data),
            fresh=data.get("fresh"),
            fitness=data.get("fitness", BEST),
            switch=Switch.from_dict(data["switch"]) if "switch" in data else None,
            begin_with=data.get("begin_with", ()),
            **{name: data[name] for name in _AGAINST_NOISE if name in data},
        )


_DEFAULTS = {one.name: one.default for one in fields(Config) if one.default is not MISSING}
