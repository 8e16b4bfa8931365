"""Champions: the best learner that a budget of episodes can find, proven on trials that no search has seen.

Four steps: many independent runs of a search that copes with noise; one more, in which the
finalists of all runs are bred together, if the budget is large enough; a race of the finalists;
one measurement of the winner on held-out trials. Their seeds come from a purpose that no
search uses (`draws.held_out_seed`), and nothing is chosen by them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base import memory
from distal.base.checks import (
    InputError,
    ascending,
    counted,
    flag,
    folder,
    function,
    instance,
    integer,
    not_negative,
    number,
    one_of,
    reading,
    sequence,
    shown,
    text,
    unit_interval,
)
from distal.base.files import read_json, to_json
from distal.base.folders import Folder, sealed, unsealed
from distal.base.significance import mean_interval, share_interval
from distal.engines import Runner
from distal.engines.batch import EPs
from distal.evaluation.measures import BEST, MISSED
from distal.learners import Learner, chance_for, embedded, from_embedded
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seed, child_seeds, held_out_seed
from distal.model.settings import SettingsDict
from distal.search import racing
from distal.search.config import Config
from distal.search.evolve import estimate
from distal.search.fitness import measure
from distal.search.genetic import GeneticAlgorithm
from distal.search.genotypes import Finalists, Genotypes
from distal.search.restored import finalists_in
from distal.search.results import Fresh
from distal.studies.stages import SECONDS, Claim, Event, Stage, Stages
from distal.tasks.sources import AnyTask, chosen_task
from distal.tasks.task import settings_in

HOLDS = "a search for a champion"
CLAIM, RULE, RECORD = "request.json", "champion.json", "record.json"
HELD_OUT = 4000  # trials
FINALISTS = 10  # of each run
BRED_FINALISTS = 64  # of those that were bred together
MOST_RUNS = 128
LEAST_RUNS = 4
_SEARCH, _BREED, _RACE, _OWN, _CHANCE = "search", "breed", "race", "held_out", "held_out_chance"
_FORMAT, _VERSION = "distal-champion", 1
# The numbers of a record that are counts, and the least that each can be.
_COUNTS = {
    "episodes": 1, "seed": 0, "budget": 1, "spent": 1, "runs": 1, "generations": 0, "bred": 0,
    "candidates": 1, "finalists": 1,
}  # fmt: skip
_FOR_RUNS = 0.75  # of the budget, if it is enough to breed their finalists together
_FOR_RACE = 0.1  # of the budget, at most; what is left is for breeding
_LEAST_BREEDING = 10  # generations
_LAST_HEAT = 4  # contenders, about
_FIRST_HEAT = 400  # trials for each goal in the first heat of the last race, at most
_PART = 11  # of a seed, for the last race
_BREEDING = 12  # of a seed, for the seed of the breeding


def _search(population: int, step: float) -> GeneticAlgorithm:
    """Return what noise calls for, by docs/searching.md: many bred from the best, whose means are kept."""
    return GeneticAlgorithm(
        population=population, elite_count=population // 5, mutation=step, deviation=step,
        elites="averaged", parents="elites", mixing="uniform",
    )  # fmt: skip


@dataclass(frozen=True)
class Prize:
    """What a champion is the best at.

    Attributes:
        words: For people.
        fitness: What a trial is judged by.
        episodes: Of a trial.
        trials: For each goal, in an evaluation of a run.
        search: The search of a run.
        generations: Of a run, where the budget allows as many.
        breeding: The search that breeds the finalists of all runs together.
        breeding_trials: For each goal, in an evaluation of that.
        run_fitness: What a trial is judged by in the runs, if it is something else; `fitness` then
            counts when their finalists are bred, and in the last race. Success alone tells bad rules
            apart too little to find good ones by it.
    """

    words: str
    fitness: str
    episodes: int
    trials: int
    search: GeneticAlgorithm
    generations: int
    breeding: GeneticAlgorithm
    breeding_trials: int
    run_fitness: str | None = None


_SHORT = (100, 10, _search(100, 0.05), 400, _search(400, 0.02), 20)
_LONG = (10_000, 2, _search(50, 0.05), 200, _search(100, 0.02), 4)
PRIZES = {
    "best": Prize("best EP after 100 episodes", BEST, *_SHORT),
    "last": Prize("mean EP of episodes 81 to 100", "last:20", *_SHORT),
    "reached": Prize(
        "percentage of trials that miss the goal in 100 episodes", MISSED, *_SHORT, run_fitness=BEST
    ),
    "long": Prize("best EP after 10,000 episodes", BEST, *_LONG),
}


@dataclass(frozen=True)
class HeldOut:
    """How a champion did on trials that no search has seen, and chance on the same ones.

    Attributes:
        trials: How many.
        fitness: Its mean score.
        standard_error: Its standard error.
        low: The lower end of the 95 % interval of the mean.
        high: The upper end.
        chance: The mean score of chance.
        chance_standard_error: Its standard error.
        p: From the two-sided paired t-test against chance.
        superiority: The share of trials in which it is better than chance; a tie counts half.
        reached: The share of trials that reached the goal, or None where a task has no such thing.
        reached_low: The lower end of its 95 % interval.
        reached_high: The upper end.
        chance_reached: The share of chance's trials that did.
    """

    trials: int
    fitness: float
    standard_error: float
    low: float
    high: float
    chance: float
    chance_standard_error: float
    p: float
    superiority: float
    reached: float | None = None
    reached_low: float | None = None
    reached_high: float | None = None
    chance_reached: float | None = None

    @classmethod
    def from_dict(cls, data: object) -> HeldOut:
        """Read the numbers by name.

        Raises:
            InputError: If one is missing or out of its range.
        """
        given = instance("held_out", data, dict, "the numbers of held-out trials, by name")
        names = cls.__dataclass_fields__
        if set(given) != set(names):
            raise InputError(f"held_out is {shown(data)}, expected {', '.join(names)}")
        found: dict[str, Any] = {"trials": integer("trials", given["trials"], 2, MAX_COUNT)}
        for name in ("fitness", "low", "high", "chance"):
            found[name] = number(name, given[name])
        for name in ("standard_error", "chance_standard_error"):
            found[name] = not_negative(name, given[name])
        for name in ("p", "superiority"):
            found[name] = unit_interval(name, given[name])
        shares = [name for name in names if "reached" in name]
        if any(given[name] is not None for name in shares):  # all of them, or none
            found |= {name: unit_interval(name, given[name]) for name in shares}
        for low, high in (("low", "high"), ("reached_low", "reached_high")):
            if low in found:
                ascending(found[low], found[high])
        return cls(**found)


@dataclass(frozen=True)
class Champion:
    """A champion and how it was found.

    Attributes:
        learner: The learner.
        prize: What it is the best at: a word of `PRIZES`.
        fitness: What a trial is judged by.
        episodes: Of a trial.
        command: The command that finds it again.
        seed: The seed of all random numbers.
        version: The version of Distal that found it.
        engine: The engine that did the work; it changes no number.
        budget: The episodes that the search might take.
        spent: The episodes that it took.
        runs: Independent runs of the search.
        generations: Of each, after its first population.
        bred: Generations in which the finalists of all runs were bred together; 0 if the budget
            was too small for that.
        candidates: How many measurements of candidates all of these made; those of elites in every
            generation count.
        finalists: How many candidates were in the last race.
        selected: Its mean score in the last race, over the trials that chose it, hence optimistic.
        run_fitness: What the runs judged a trial by.
        run_winners: The re-measured fitness of the winner of each run, by that.
        held_out: How it did on held-out trials, measured once.
    """

    learner: Learner
    prize: str
    fitness: str
    episodes: int
    command: str
    seed: int
    version: str
    engine: str
    budget: int
    spent: int
    runs: int
    generations: int
    bred: int
    candidates: int
    finalists: int
    selected: float
    run_fitness: str
    run_winners: tuple[float, ...]
    held_out: HeldOut

    def __repr__(self) -> str:
        held = self.held_out
        return (
            f"Champion({PRIZES[self.prize].words}: {held.fitness:.2f} [{held.low:.2f}, {held.high:.2f}] "
            f"held out, chance {held.chance:.2f})"
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it, ready for JSON."""
        return {"learner": embedded(self.learner), "record": self.record}

    @property
    def record(self) -> dict[str, Any]:
        """How it was found, ready for JSON."""
        own = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "learner"}
        return {**own, "run_winners": list(self.run_winners), "held_out": asdict(self.held_out)}

    @classmethod
    def from_dict(cls, data: object) -> Champion:
        """Read what `to_dict` returns.

        Raises:
            InputError: If it is something else.
        """
        given = instance("data", data, dict, "what Champion.to_dict returns")
        with reading("a champion"):
            record = dict(given["record"])
            held_out = HeldOut.from_dict(record.pop("held_out"))
            found = sequence("run_winners", record.pop("run_winners"), "a list of numbers")
            one_of("prize", record["prize"], PRIZES)
            for name in ("fitness", "run_fitness", "command", "version", "engine"):
                text(name, record[name])
            for name, least in _COUNTS.items():
                record[name] = integer(name, record[name], least)
            integer("seed", record["seed"], 0, MAX_SEED)
            integer("the number of run_winners", len(found), record["runs"], record["runs"])
            record["selected"] = number("selected", record["selected"])
            winners = tuple(number("run_winners", value) for value in found)
            return cls(
                learner=from_embedded(given["learner"]), held_out=held_out, run_winners=winners, **record
            )


def champions(
    prize: str = "best",
    *,
    budget: float = 1e9,
    runs: int | None = None,
    seed: int = 0,
    learner: str = "dsp",
    task: AnyTask = None,
    held_out: int = HELD_OUT,
    out: str | Path,
    force: bool = False,
    command: str | None = None,
    engine: str | Runner | None = None,
    progress: Callable[[Event], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> Champion:
    """Search for the best learner that a budget can find, and measure it once on held-out trials.

    Args:
        prize: "best" (best EP after 100 episodes), "last" (mean EP of episodes 81 to 100), "reached"
            (trials that reach the goal in 100 episodes) or "long" (best EP after 10,000 episodes).
        budget: Episodes for the search, breeding and the last race; the held-out trials come on top.
        runs: Independent runs that share the budget; chosen by it if left out.
        seed: The seed of all random numbers.
        learner: "dsp", or the word for another kind that has genes.
        task: What is to be learned; the triple T-maze if left out.
        held_out: Held-out trials, for all goals together.
        out: A folder to keep the work in. What it already holds is not done again; a folder of
            another search is refused.
        force: Start over in a folder that already holds a search.
        command: How it was asked for, for the record.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the work advances.
        **settings: As in `Settings`.

    Returns:
        The champion, with the record of how it was found.

    Raises:
        InputError: If an argument is wrong, the budget is too small, or the folder cannot be used.
    """
    if command is not None:
        text("command", command)
    chosen = chosen_task(task)
    request = Request(
        prize, number("budget", budget), runs, held_out,
        Config(learner=learner, seed=seed, task=chosen, settings=settings_in(chosen, settings)), command,
    )  # fmt: skip
    function("progress", progress)
    runner = Runner.of(engine)
    return find(request, runner, folder("out", out), flag("force", force), progress)


@dataclass(frozen=True)
class Request:
    """A search for a champion, checked: all that decides its result.

    Args:
        prize: A word of `PRIZES`.
        budget: Episodes.
        runs: Independent runs, or None.
        held_out: Held-out trials.
        given: Learner, seed, task and settings; the rest of it is for the prize to say.
        command: How it was asked for, or None.
    """

    prize: str
    budget: float
    runs: int | None
    held_out: int
    given: Config
    command: str | None = None

    def __post_init__(self) -> None:
        one_of("prize", self.prize, PRIZES)
        integer("held_out", self.held_out, 2, MAX_COUNT)
        if self.runs is not None:
            integer("runs", self.runs, 1, 2**20)
        if not 0 < self.budget < 2**63:
            raise InputError(f"budget is {self.budget:g}, expected more than 0 and less than 2^63 episodes")
        self.judged.measure.check_task(self.judged.task, self.judged.settings)
        least = self.searching + self.breeding + self.last_race
        if least > self.budget:
            raise InputError(
                f"budget is {self.budget:g}, but the search and the last race take {least:,} episodes; "
                "give at least that, or fewer runs"
            )
        self._check_memory()

    def _check_memory(self) -> None:
        """Refuse what would not fit in memory: the search, the last race, or the held-out trials."""
        config, goals = self.judged, len(self.config.task.goals)
        estimate(self.config).check()
        if self.bred is not None:
            estimate(self.bred).check()
        trials = racing.largest(self.contenders, self.first_heat, self.heats) * goals
        kept = config.episodes if config.measure.needs_ep else 1
        memory.evolution(
            sum(config.genes), runs=1, population=self.contenders, generations=0, trials=trials,
            fresh=0, episodes=config.episodes, kept=kept,
        ).check()  # fmt: skip
        memory.held_out(self.held_out_trials * goals, config.episodes, kept=kept).check()

    @cached_property
    def config(self) -> Config:
        """The search: as many runs of the usual length as the budget allows, or fewer and shorter ones."""
        aim, one = PRIZES[self.prize], self._run
        share = (_FOR_RUNS if self._breeds else 1 - _FOR_RACE) * self.budget
        usual = int(share // one.spent(aim.generations))
        runs = self.runs if self.runs is not None else max(LEAST_RUNS, min(usual, MOST_RUNS))
        if share / runs < one.spent(0):
            searched = runs * one.spent(0)
            raced = searched + self._race_cost(FINALISTS * runs, 1)
            least = max(math.ceil(searched / (1 - _FOR_RACE)), raced)
            raise InputError(
                f"budget is {self.budget:g}, but {counted(runs, 'run')} and the last race take at least "
                f"{least:,} episodes; give at least that"
            )
        return replace(one, runs=runs, generations=one.affordable(share / runs))

    @cached_property
    def judged(self) -> Config:
        """What candidates are judged by in the end, and a run of the search of no length."""
        aim = PRIZES[self.prize]
        return replace(
            self.given, runs=1, generations=0, trials=aim.trials, episodes=aim.episodes,
            fitness=aim.fitness, search=aim.search,
        )  # fmt: skip

    @cached_property
    def _run(self) -> Config:
        """A run of the search, of no length."""
        aim = PRIZES[self.prize]
        return replace(self.judged, fitness=aim.run_fitness or aim.fitness)

    @cached_property
    def _breeding(self) -> Config:
        """The search that breeds finalists, of no length and without them."""
        aim, seed = PRIZES[self.prize], child_seed(self.given.seed, 0, 0, _BREEDING)
        return replace(self.judged, search=aim.breeding, trials=aim.breeding_trials, seed=seed)

    @cached_property
    def _kept_for_race(self) -> float:
        """Episodes that breeding leaves to the last race."""
        least, most = (self._race_cost(BRED_FINALISTS, first) for first in (1, _FIRST_HEAT))
        return max(least, min(_FOR_RACE * self.budget, most))

    @cached_property
    def _breeds(self) -> bool:
        """Whether the budget is enough for runs of the usual length and for breeding their finalists."""
        runs = (self.runs or LEAST_RUNS) * self._run.spent(PRIZES[self.prize].generations)
        left = (1 - _FOR_RUNS) * self.budget - self._kept_for_race
        return _FOR_RUNS * self.budget >= runs and left >= self._breeding.spent(_LEAST_BREEDING)

    @cached_property
    def bred(self) -> Config | None:
        """The search that breeds the finalists of all runs together; None if the budget is too small."""
        if not self._breeds:
            return None
        left = self.budget - self.searching - self._kept_for_race
        return replace(self._breeding, generations=self._breeding.affordable(left))

    @property
    def contenders(self) -> int:
        """How many are in the last race, at most."""
        return FINALISTS * self.config.runs if self.bred is None else BRED_FINALISTS

    @property
    def heats(self) -> int:
        """Heats of the last race, after the first."""
        return _heats(self.contenders)

    @property
    def first_heat(self) -> int:
        """Trials for each goal in the first heat: what is left of the budget."""
        left = self.budget - self.searching - self.breeding
        return int(min(_FIRST_HEAT, max(1, left // self._race_cost(self.contenders, 1))))

    @property
    def last_race(self) -> int:
        """Episodes of the last race, at most."""
        return self._race_cost(self.contenders, self.first_heat)

    def _race_cost(self, contenders: int, first: int) -> int:
        """Return the episodes of a last race with so many trials for each goal in its first heat."""
        trials = racing.cost(contenders, first, _heats(contenders))
        return trials * len(self.judged.task.goals) * self.judged.episodes

    @property
    def breeding(self) -> int:
        """Episodes of breeding the finalists of all runs together."""
        return 0 if self.bred is None else self.bred.spent(self.bred.generations)

    @property
    def searching(self) -> int:
        """Episodes of all runs of the search."""
        return self.config.runs * self.config.spent(self.config.generations)

    @property
    def held_out_trials(self) -> int:
        """Held-out trials for each goal."""
        return -(-self.held_out // len(self.config.task.goals))

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The parts of the work, for the plan and for progress."""
        config = self.config
        held = self.held_out_trials * len(config.task.goals) * config.episodes
        pace = config.learner if config.learner in ("dsp", "hc") else "dsp"
        runs = f"search: {counted(config.runs, 'run')} of {counted(config.generations, 'generation')}"
        searches = [Stage(_SEARCH, runs, self.searching, pace, config.runs)]
        if self.bred is not None:
            words = f"their finalists bred together for {counted(self.bred.generations, 'generation')}"
            searches.append(Stage(_BREED, words, self.breeding, pace, 1))
        return (
            *searches,
            Stage(_RACE, f"race of {self.contenders} finalists", self.last_race, pace),
            Stage(_OWN, "the champion on held-out trials", held, pace),
            Stage(_CHANCE, "chance on the same trials", held, "chance"),
        )

    @property
    def claim(self) -> Claim:
        """What a folder for it holds."""
        config = self.config.to_dict()
        settings = {name: config.pop(name) for name in self.config.settings.to_dict()}
        config.pop("distal")
        content = {
            "format": "distal-champion-search", "prize": self.prize, "budget": int(self.budget),
            "held_out": self.held_out, "judged_by": self.judged.fitness, "breeding": self._how_bred,
            **config, "settings": settings,
        }  # fmt: skip
        files = (CLAIM, SECONDS, RULE, RECORD, *(file for stage in self.stages for file in stage.files))
        return Claim(CLAIM, HOLDS, content, files, self.stages)

    @property
    def _how_bred(self) -> dict[str, Any] | None:
        """How finalists are bred, for the claim."""
        if self.bred is None:
            return None
        own = {"generations": self.bred.generations, "trials": self.bred.trials}
        return {**own, **self.bred.search.to_dict()}

    @property
    def words(self) -> str:
        """The command that asks for it."""
        if self.command is not None:
            return self.command
        asked: dict[str, object] = {
            "prize": self.prize,
            "budget": written(self.budget),
            "seed": self.given.seed,
        }
        if self.runs is not None:
            asked["runs"] = self.runs
        if self.held_out != HELD_OUT:
            asked["held-out"] = self.held_out
        if self.given.learner != "dsp":
            asked["learner"] = self.given.learner
        usual = settings_in(self.given.task, {}).to_dict()
        own = self.given.settings.to_dict()
        asked.update({name.replace("_", "-"): own[name] for name in own if own[name] != usual.get(name)})
        words = " ".join(["distal champions", *(f"--{name} {value}" for name, value in asked.items())])
        default = self.given.task == chosen_task(None)
        return words if default else f"{words}, task {self.given.task.name}"


def _heats(contenders: int) -> int:
    """Return the heats of a last race, after the first."""
    return max(0, math.ceil(math.log2(contenders / _LAST_HEAT)))


def written(budget: float) -> str:
    """Return a budget as short as it can be written without another value."""
    short = f"{budget:g}"
    return short if float(short) == budget else f"{budget:.0f}"


def find(
    request: Request,
    runner: Runner,
    out: str | Path,
    force: bool = False,
    progress: Callable[[Event], None] | None = None,
) -> Champion:
    """Do what is missing in a folder; see `champions`."""
    with request.claim.taken(out, force) as kept:
        assert kept is not None  # noqa: S101 - a folder was named
        work = _Work(request, Stages(request.stages, runner, progress, kept), runner, kept.path)
        stored = _stored(kept)
        champion = work.run() if stored is None else work.mended(stored)
        kept.mend_text(RULE, to_json(champion.learner.to_dict()) + "\n")
        if stored is None:
            kept.write_text(RECORD, to_json(sealed(champion.to_dict(), _FORMAT, _VERSION)) + "\n")
        return champion


def _stored(folder: Folder) -> Champion | None:
    """Return the champion that a folder already holds."""
    path = folder.file(RECORD)
    if not path.exists():
        return None
    content, _ = unsealed(read_json(path, "file"), _FORMAT, (_VERSION,), path, "distal champions")
    try:
        return Champion.from_dict(content)
    except InputError as error:
        raise InputError(f"file {str(path)!r} is damaged: {error}") from None


def _gathered(groups: Sequence[Finalists]) -> Genotypes:
    """Return the finalists of all runs: the best of each, then the second of each, and so on."""
    places = [(place, run) for run, group in enumerate(groups) for place in range(len(group.genotypes))]
    return Genotypes.joined(*(groups[run].genotypes[[place]] for place, run in sorted(places)))


@dataclass(frozen=True, eq=False)
class _Found:
    """What a search leaves to the last race: contenders, how many were measured, the runs' winners."""

    field: Genotypes
    measured: int
    winners: tuple[float, ...]


@dataclass(frozen=True, eq=False)
class _Work:
    """A search in progress."""

    request: Request
    stages: Stages
    runner: Runner
    folder: Path

    def run(self) -> Champion:
        """Search, breed, race, and measure the winner."""
        config, found = self.request.judged, self._search()
        raced = self._race(found.field)
        winner = config.decode(found.field[[raced.winner]])[0]
        spent = self.request.searching + self.request.breeding + int(raced.trials.sum()) * config.episodes
        selected = float(raced.fitness[raced.winner])
        return self._champion(found, winner, selected, spent, self._held_out(winner))

    def mended(self, stored: Champion) -> Champion:
        """Return a champion that was found before, when all that its record tells of is there again.

        What the search and the held-out trials have lost is read or run again; a record that
        does not fit them is refused. The race, of which no more is kept, is not run again, nor is
        what another release measured.
        """
        found = self._search()
        finalists = self.request.judged.decode(found.field)
        winner = next((one for one in finalists if self._named(one) == stored.learner), None)
        if winner is not None:
            held = self._held_out(winner) if stored.version == __version__ else stored.held_out
            again = self._champion(found, winner, stored.selected, stored.spent, held)
            again = replace(again, command=stored.command, version=stored.version, engine=stored.engine)
            if again == stored:
                return stored
        files = " and ".join(self.stages.stages[stage].curves for stage in (_OWN, _CHANCE))
        raise InputError(
            f"file {str(self.folder / RECORD)!r} does not fit the search and the held-out trials beside it; "
            f"remove {files} to have them run again, or start over with --force"
        )

    def _search(self) -> _Found:
        """Search, and breed the finalists of all runs together."""
        runs, bred = self.request.config, self.request.bred
        evolved = self.stages.evolve(_SEARCH, runs)
        field = _gathered(self._finalists(_SEARCH, FINALISTS))
        measured = runs.runs * runs.search.evaluations(runs.generations)
        if bred is not None:
            first = field[: bred.search.population].genes
            bred = replace(bred, begin_with=tuple(map(tuple, first)))
            self.stages.evolve(_BREED, bred)
            field = _gathered(self._finalists(_BREED, BRED_FINALISTS))
            measured += bred.search.evaluations(bred.generations)
        return _Found(field, measured, tuple(one.remeasured for one in evolved.winners))

    def _named(self, winner: Learner) -> Learner:
        request = self.request
        return winner if winner.bare else winner.named(f"prize {request.prize}, seed {request.judged.seed}")

    def _champion(
        self, found: _Found, winner: Learner, selected: float, spent: int, held_out: HeldOut
    ) -> Champion:
        """Return the winner of the last race with all that there is to say about it."""
        request, config, runs = self.request, self.request.judged, self.request.config
        return Champion(
            learner=self._named(winner),
            prize=request.prize,
            fitness=config.fitness,
            episodes=config.episodes,
            command=request.words,
            seed=config.seed,
            version=__version__,
            engine=self.runner.engine,
            budget=int(request.budget),
            spent=spent,
            runs=runs.runs,
            generations=runs.generations,
            bred=0 if request.bred is None else request.bred.generations,
            candidates=found.measured,
            finalists=len(found.field),
            selected=selected,
            run_fitness=runs.fitness,
            run_winners=found.winners,
            held_out=held_out,
        )

    def _finalists(self, stage: str, count: int) -> list[Finalists]:
        """Return the finalists of a search that is done, run by run."""
        return finalists_in(self.folder / self.stages.stages[stage].folder, count)

    def _race(self, field: Genotypes) -> racing.Raced:
        """Race the finalists."""
        request, config = self.request, self.request.judged
        stage, done = self.stages.stages[_RACE], 0
        self.stages.tell(stage, 0)

        def scores(places: NDArray[np.int64], trials: int, heat: int) -> EPs:
            nonlocal done
            parts = np.empty((len(places), 3), np.uint32)
            parts[:, 0], parts[:, 1], parts[:, 2] = heat, places, _PART
            seeds = child_seeds(config.seed, parts)
            found = measure(config, config.decode(field[places]), seeds, trials, self.runner)
            done += found.size * config.episodes
            self.stages.tell(
                stage, min(0.999, done / stage.episodes), f"heat {heat + 1} of {request.heats + 1}"
            )
            return found

        raced = racing.race(scores, [len(field)], request.first_heat, request.heats)
        self.stages.tell(stage, 1)
        return raced

    def _held_out(self, winner: Learner) -> HeldOut:
        """Measure the winner, and chance, on trials that nothing was selected by."""
        trials = self.request.held_out_trials * len(self.request.judged.task.goals)
        own, own_best = self._scores(_OWN, winner)
        luck, luck_best = self._scores(_CHANCE, chance_for(winner))
        fresh = Fresh.of(own, luck)
        low, high = mean_interval(own)
        assert fresh.chance is not None and fresh.chance_standard_error is not None  # noqa: S101, PT018
        assert fresh.p is not None and fresh.superiority is not None  # noqa: S101, PT018
        held = HeldOut(
            trials, fresh.fitness, fresh.standard_error, low, high, fresh.chance,
            fresh.chance_standard_error, fresh.p, fresh.superiority,
        )  # fmt: skip
        target = self.request.judged.task.target(self.request.judged.settings)
        if target is None:
            return held
        reached = int((own_best <= target).sum())
        ends = share_interval(reached, trials)
        return replace(
            held, reached=reached / trials, reached_low=ends[0], reached_high=ends[1],
            chance_reached=float((luck_best <= target).mean()),
        )  # fmt: skip

    def _scores(self, stage: str, learner: Learner) -> tuple[EPs, EPs]:
        """Return the score of every held-out trial, and its best EP."""
        config, judge = self.request.judged, self.request.judged.measure
        seeds = np.array([held_out_seed(config.seed)], np.uint64)
        (values,) = self.stages.test(
            stage, [learner], seeds, trials=self.request.held_out_trials, episodes=config.episodes,
            task=config.task, settings=config.settings, record=(config.episodes,), every=judge.needs_ep,
        )  # fmt: skip
        if not judge.needs_ep:
            target = config.task.target(config.settings)
            return judge.judged(values[:, -1], target), values[:, -1]
        return values[:, -(judge.episodes or config.episodes) :].mean(axis=1), values.min(axis=1)
