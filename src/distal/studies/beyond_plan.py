"""The six questions of the study beyond the paper: the learners that each tests, and the pairs it compares.

Learners are evolved in conditions and tested in worlds. Both have a place: a maze and a
network. A condition that several questions need is evolved once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from distal.base.records import Named
from distal.evaluation.measures import BEST, LAST, MEAN
from distal.evaluation.trials import per_goal
from distal.model.readings import BINARY, SIGMOID
from distal.model.settings import Settings
from distal.search.config import Config
from distal.studies.study import Scale
from distal.tasks.mazes import MazeTask, levels_task, scaled_steps
from distal.tasks.switching import BACK, NEW, Switch

RULE, CLIMBER = "dsp", "hc"
KINDS = {RULE: "rule", CLIMBER: "hill climbing"}
CHANCE = "chance"
BEYOND = 10  # the last number of the part that seeds of the tests come from; the first is the question
PHASES = 5  # of a test in which goals move
_EVOLVED_PHASES = 3  # of a trial of an evolution in which they do
LEVELS = (1, 2, 3, 4)
SIZES = (5, 10, 20, 40)  # hidden neurons that learners are evolved with
WIDER = (*SIZES, 80, 160)  # hidden neurons that those of 20 are tested with
LONG = "_long"  # after the name of what was measured over all episodes of the long test
ADAPTED, LOST = "adapted", "lost"  # scores where goals move: see `beyond_outcome.scores`
MISSED = "missed"  # a score where they stay: the share of the last episodes that do not reach the goal
REMEASURED = "remeasured"  # a winner's fitness on fresh trials, as its own evolution judges it


@dataclass(frozen=True)
class Place:
    """Where learning happens: a T-maze of some levels, and a network."""

    levels: int = 3
    hidden: int = 20
    neurons: str = BINARY

    @cached_property
    def task(self) -> MazeTask:
        """The maze."""
        return levels_task(self.levels)

    @cached_property
    def settings(self) -> Settings:
        """The network, and as many steps as the size of the maze asks for."""
        return Settings(hidden=self.hidden, steps=scaled_steps(self.task.maze), neurons=self.neurons)

    @property
    def perfect(self) -> float:
        """The mean EP of an agent that takes the shortest way."""
        return self.task.maze.perfect


@dataclass(frozen=True)
class Condition:
    """The condition of an evolution: place, fitness, and whether goals move; `words` are those of a question."""

    name: str
    words: str
    place: Place = Place()
    fitness: str = BEST
    moving: bool = False

    def config(self, kind: str, scale: Scale, seed: int) -> Config:
        """Return the evolution of a kind of learner."""
        phases = _EVOLVED_PHASES if self.moving else 1
        return Config(
            kind, scale.runs, scale.generations, per_goal(self.place.task, scale.trials), phases * scale.episodes,
            seed, settings=self.place.settings, task=self.place.task, fresh=scale.fresh,
            fitness=f"{LAST}:{scale.last}" if self.fitness == LAST else self.fitness,
            switch=Switch(scale.episodes, NEW) if self.moving else None,
        )  # fmt: skip


@dataclass(frozen=True)
class World(Named):
    """The world of a test; `moves` is the schedule of its goals, if they move."""

    name: str
    words: str
    place: Place = Place()
    moves: str | None = None
    long: bool = False

    def episodes(self, scale: Scale) -> int:
        """Return the number of episodes of a trial."""
        return PHASES * scale.episodes if self.moves else scale.long if self.long else scale.episodes

    def switch(self, scale: Scale) -> Switch | None:
        """Return when goals move, if they do."""
        return None if self.moves is None else Switch(scale.episodes, self.moves)

    @property
    def target(self) -> int:
        """The EP at or below which a goal is reached."""
        return self.place.task.target(self.place.settings)


@dataclass(frozen=True)
class Case:
    """The best learner of a condition in a world; `anew` if it starts over whenever a goal moves."""

    kind: str
    condition: Condition
    world: World
    anew: bool = False

    @property
    def name(self) -> str:
        """The name of its row."""
        return f"{self.kind}_{self.condition.name}_in_{self.world.name}{'_anew' if self.anew else ''}"

    @property
    def words(self) -> str:
        """The name of the learner in tables."""
        return f"{KINDS[self.kind]} {self.condition.words}{', restarted' if self.anew else ''}"

    @property
    def at_home(self) -> bool:
        """Whether it is tested in the maze and network that it was evolved for."""
        return self.condition.place == self.world.place

    @property
    def evolution(self) -> str:
        """The name of the evolution that it comes from."""
        return f"{self.kind}_{self.condition.name}"


@dataclass(frozen=True, order=True)
class Pair:
    """Two that are compared in the same trials, by a score: a row and another row, or chance.

    Of two evolutions all runs are compared; then `own` and `other` are their names.
    """

    own: str
    other: str
    of: str
    runs: bool = False

    def __str__(self) -> str:
        """Return the name in files."""
        return f"{self.own} - {self.other}, {self.of}{', runs' if self.runs else ''}"


@dataclass(frozen=True)
class Question(Named):
    """A question: the cases that it tests, and the pairs that it compares.

    `everyone` is the world in which the winners of all runs are tested, if it is not enough
    that each was measured again in its own evolution.
    """

    name: str
    title: str
    cases: tuple[Case, ...]
    pairs: tuple[Pair, ...]
    everyone: World | None = None

    @property
    def worlds(self) -> list[World]:
        """The worlds of its cases."""
        return list(dict.fromkeys(case.world for case in self.cases))

    @property
    def evolutions(self) -> dict[str, tuple[str, Condition]]:
        """The evolutions that it needs, by name: the kind of learner and the condition."""
        return {case.evolution: (case.kind, case.condition) for case in self.cases}

    @property
    def compared(self) -> list[str]:
        """The evolutions of which all winners are compared."""
        return list(
            dict.fromkeys(name for pair in self.pairs if pair.runs for name in (pair.other, pair.own))
        )

    @property
    def scores(self) -> list[str]:
        """The scores by which all runs are compared."""
        return list(dict.fromkeys(pair.of for pair in self.pairs if pair.runs))

    def case(self, name: str) -> Case:
        """Return a case by its name."""
        return next(case for case in self.cases if case.name == name)


def _by_chance(cases: Sequence[Case], *of: str) -> list[Pair]:
    return [Pair(case.name, CHANCE, score) for case in cases for score in of]


def _by_climbing(cases: Sequence[Case], *of: str) -> list[Pair]:
    """Compare every rule with the climber of the same condition in the same world."""
    return [
        Pair(case.name, Case(CLIMBER, case.condition, case.world).name, score)
        for case in cases
        if case.kind == RULE
        for score in of
    ]


def _neurons() -> Question:
    binary = Condition("base", "evolved with binary neurons")
    sigmoid = Condition("sigmoid", "evolved with sigmoid neurons", Place(neurons=SIGMOID))
    worlds = {one: World(one, f"{one} neurons", Place(neurons=one)) for one in (BINARY, SIGMOID)}
    cases = [
        Case(kind, condition, world)
        for world in worlds.values()
        for kind in KINDS
        for condition in (binary, sigmoid)
    ]
    own = [Case(RULE, binary, worlds[BINARY]).name, Case(RULE, sigmoid, worlds[SIGMOID]).name]
    pairs = [
        *_by_chance(cases, BEST), *_by_climbing(cases, BEST), Pair(own[1], own[0], BEST),
        *(Pair(f"{kind}_sigmoid", f"{kind}_base", REMEASURED, runs=True) for kind in KINDS),
    ]  # fmt: skip
    return Question("neurons", "Does a rule need binary neurons?", tuple(cases), tuple(pairs))


def _network() -> Question:
    conditions = {
        size: Condition(
            "base" if size == 20 else f"hidden_{size}",
            f"evolved with {size} hidden neurons",
            Place(hidden=size),
        )
        for size in SIZES
    }
    cases = []
    for size in WIDER:
        world = World(f"hidden_{size}", f"{size} hidden neurons", Place(hidden=size))
        own = [conditions[size]] if size in SIZES and size != 20 else []
        cases += [Case(kind, condition, world) for kind in KINDS for condition in (*own, conditions[20])]
    runs = Pair(f"{RULE}_hidden_{SIZES[-1]}", f"{RULE}_hidden_{SIZES[0]}", REMEASURED, runs=True)
    pairs = (*_by_chance(cases, BEST), *_by_climbing(cases, BEST), runs)
    return Question("network", "Does it scale with the network?", tuple(cases), pairs)


def _level(levels: int) -> tuple[Condition, World]:
    place = Place(levels)
    words = "1 level" if levels == 1 else f"{levels} levels"
    condition = Condition("base" if levels == 3 else f"levels_{levels}", f"evolved for {words}", place)
    return condition, World(f"levels_{levels}", words, place)


def _maze() -> Question:
    cases = [Case(kind, *_level(levels)) for levels in LEVELS for kind in KINDS]
    pairs = (*_by_chance(cases, BEST), *_by_climbing(cases, BEST))
    return Question("maze", "Does it scale with the maze?", tuple(cases), pairs)


def _keeping() -> Question:
    world = World("long", "the maze", long=True)
    best, *others = (
        Condition("base", "judged by the best episode"),
        Condition("last", "judged by the last episodes", fitness=LAST),
        Condition("mean", "judged by all episodes", fitness=MEAN),
    )
    cases = [Case(kind, condition, world) for kind in KINDS for condition in (best, *others)]
    scores = (BEST, LAST, MISSED, f"{MISSED}{LONG}")
    pairs = [*_by_chance(cases, *scores), *_by_climbing(cases, *scores)]
    for other in others:
        names = Case(RULE, other, world).name, Case(RULE, best, world).name
        pairs += [Pair(*names, score) for score in scores]
        runs = (BEST, LAST, MISSED)
        pairs += [Pair(f"{RULE}_{other.name}", f"{RULE}_base", score, runs=True) for score in runs]
    return Question(
        "keeping", "Can evolution find rules that keep what they learn, and what do they cost in speed?",
        tuple(cases), tuple(pairs), World("everyone", "the maze"),
    )  # fmt: skip


def _change() -> Question:
    change = Condition("change", "evolved under change", moving=True)
    without = Condition("base", "evolved without change")
    new, back = World("new", "new goals", moves=NEW), World("back", "goals that return", moves=BACK)
    cases = [
        Case(kind, condition, world, anew)
        for world in (new, back)
        for kind, condition, anew in (
            (RULE, change, False), (RULE, without, False), (RULE, without, True),
            (CLIMBER, change, False), (CLIMBER, without, True),
        )
    ]  # fmt: skip
    rule, *others = (case.name for case in cases if case.world == new)
    climber = Case(CLIMBER, change, new).name
    pairs = [Pair(case.name, CHANCE, ADAPTED if case.world == new else LOST) for case in cases]
    pairs += [Pair(rule, other, ADAPTED) for other in others]
    pairs += [Pair(Case(RULE, without, new, anew).name, climber, ADAPTED) for anew in (False, True)]
    pairs += [
        Pair(Case(RULE, change, back).name, Case(RULE, without, back).name, LOST),
        Pair(f"{RULE}_change", f"{RULE}_base", ADAPTED, runs=True),
    ]
    return Question(
        "change", "Do rules evolved under change adapt faster than rules evolved without it, hill "
        "climbing, and restarts?", tuple(cases), tuple(pairs), new,
    )  # fmt: skip


def _transfer() -> Question:
    conditions, worlds = zip(*map(_level, LEVELS), strict=True)
    cases, pairs = [], []
    for own, world in zip(conditions, worlds, strict=True):
        rules = [Case(RULE, condition, world) for condition in conditions]
        climber = Case(CLIMBER, own, world)
        native = Case(RULE, own, world).name
        cases += [*rules, climber]
        pairs += [Pair(rule.name, climber.name, BEST) for rule in rules]
        pairs += [Pair(rule.name, native, BEST) for rule in rules if rule.condition != own]
    pairs = [*_by_chance(cases, BEST), *pairs]
    return Question(
        "transfer", "Does a rule evolved for one maze work in another?", tuple(cases), tuple(pairs)
    )


QUESTIONS = (_neurons(), _network(), _maze(), _keeping(), _change(), _transfer())
