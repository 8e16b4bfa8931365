"""Evolve rules, or the parameters of another learner: several independent runs, side by side.

The runs advance together, one generation at a time, so that one call of the engine
measures the children of all of them. That changes no run's result: each has its own
seed, and every evaluation its own trial seeds. The loop is at the bottom: ask, evaluate,
tell.
"""

from __future__ import annotations

import inspect
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Unpack
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from distal.base import memory
from distal.base.checks import (
    InputError,
    flag,
    folder,
    function,
    integer,
    number,
    path,
    sequence,
)
from distal.base.memory import Estimate
from distal.engines import Batch, Runner
from distal.engines.batch import EPs
from distal.evaluation.learning import batch_of, chosen_task, settings_in
from distal.evaluation.measures import BEST
from distal.learners import KINDS, Learner, chance_for, checked_learner, from_embedded
from distal.learners.genes import genes_of
from distal.model.draws import MAX_COUNT, child_seed, child_seeds
from distal.model.maze import Maze, maze_name
from distal.model.settings import Settings, SettingsDict
from distal.search import ahead, racing
from distal.search.config import Config
from distal.search.genetic import GeneticAlgorithm, first_population
from distal.search.genotypes import Finalists, Genotypes
from distal.search.results import Evolved, Fresh, Winner, check_winners
from distal.search.runs import RunFolder, damaged, read_run
from distal.search.search import Algorithm, Search, ask_all
from distal.tasks.mazes import MazeTask, maze_of
from distal.tasks.sources import AnyTask, task_of
from distal.tasks.stored import StoredTask, restored
from distal.tasks.switching import Switch, switch_of
from distal.tasks.task import Task, task_name

GENERATIONS = 300  # after the first population, unless something else is said
# Parts of the work, as the last number of a seed's part; the heats of a race follow the last of these.
_RUN, _EVALUATION, _REMEASUREMENT, _FINAL = 4, 5, 6, 7
_HEATS = 31
_A_SEED = 16  # numbers that are made on the way to a seed
_NUMBERED = {"dsp": 0, "hc": 1}  # the parts of our own kinds; others get theirs from their words


@dataclass(frozen=True)
class Step:
    """How an evolution is doing: what `progress` is called with, once after every generation of all runs.

    Attributes:
        generation: The generation that has just been measured; 0 is the first population.
        generations: The last one there will be, so an evolution has one step more than this.
        best: The fitness of the best individual of each run, run 1 first: of this generation, or,
            with kept elites, the lowest so far.
        mean: The mean fitness of this generation: of each run's population, then of the runs.
        evaluations: How many individuals were measured for it, in all runs together. Kept elites
            are not measured again.
        seconds: How long it took to choose and measure them, without writing them to the folder;
            on a card, where runs take turns, since the generation before.
    """

    generation: int
    generations: int
    best: list[float]
    mean: float
    evaluations: int
    seconds: float


def evolve(
    learner: str = "dsp",
    *,
    task: AnyTask = None,
    runs: int = 15,
    generations: int | None = None,
    budget: float | None = None,
    trials: int = 5,
    episodes: int = 100,
    seed: int = 0,
    search: Algorithm | None = None,
    population: int | None = None,
    elite_count: int | None = None,
    crossover: float | None = None,
    mutation: float | None = None,
    deviation: float | None = None,
    elites: str | None = None,
    parents: str | None = None,
    mixing: str | None = None,
    wheel: str | None = None,
    bounds: str | None = None,
    race: int = 0,
    finalists: int = 0,
    islands: int = 1,
    exchange: int = 10,
    restart: int | None = None,
    begin_with: Sequence[str | Path | Learner] = (),
    fresh: int | None = None,
    fitness: str = BEST,
    switch: int | Switch | None = None,
    maze: Maze | None = None,
    out: str | Path | None = None,
    force: bool = False,
    engine: str | Runner | None = None,
    progress: Callable[[Step], None] | None = None,
    **settings: Unpack[SettingsDict],
) -> Evolved:
    """Evolve DSP rules ("dsp"), the parameters of hill climbing ("hc"), or another registered kind.

    Args:
        learner: "dsp", "hc", or the word for another kind that has genes.
        task: What is to be learned: a Maze, a table, an environment or its id, as in `task_of`;
            the triple T-maze if left out.
        runs: Independent runs.
        generations: Generations after the first population; 300 if left out.
        budget: Episodes that each run may take, in place of a number of generations.
        trials: Trials for each goal, in an evaluation; in a maze, for each final position.
        episodes: Episodes in each trial.
        seed: The seed of all random numbers.
        search: The search and its options; the paper's `GeneticAlgorithm()` if left out.
        population: Short for `search=GeneticAlgorithm(population=…)`, like the next seven.
        elite_count: How many of the best are copied unchanged.
        crossover: Probability that a child has two parents.
        mutation: Probability that a discrete gene is redrawn.
        deviation: Standard deviation of the noise on continuous genes.
        elites: Whether the elites are measured again in every generation ("remeasured"), keep the
            fitness they were first given ("kept"), or are measured again and have the mean of all
            their measurements ("averaged").
        parents: Whether parents come from the whole population ("roulette") or from the elites ("elites").
        mixing: How the genes of two parents are mixed: "one-point" or "uniform".
        wheel: What the roulette wheel favours: "inverted" (low fitness) or "proportional" (high).
        bounds: What becomes of a number that leaves [0, 1]: "clip" or "reflect".
        race: Heats after the first in which the better half of a generation runs as many trials again.
        finalists: How many of a run's best are measured on `fresh` trials of their own to choose the
            winner; 0 takes the leader of the last generation.
        islands: Populations in each run.
        exchange: Generations between two exchanges of leaders between islands.
        restart: Start each run over from a new population every so many generations; what earlier
            starts found stays.
        begin_with: Learners, their names or their files, with which the first population of each run
            begins; the rest of it is drawn.
        fresh: Trials on which every winner, and chance beside it, is measured again, for all goals
            together; 400 if left out.
        fitness: What a trial is judged by: its best EP ("best", the paper), the mean EP of its last K
            episodes ("last:K"), or of all ("mean"), or whether it misses the goal ("missed").
        switch: Move the goals after every so many episodes, or as a `Switch` says; then every
            phase is judged.
        maze: Short for `task=maze`.
        out: A folder to keep the runs in, so that `resume` can continue them. A folder that
            already holds an evolution is refused.
        force: Start over in a folder that already holds an evolution.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with a `Step` after every generation, once for all runs, from the first
            population on; the winners are re-measured after the last call. It is called in the
            thread that called `evolve`, which waits for it. What it raises ends the evolution; the
            folder then holds this generation too, and can be resumed.
        **settings: As in `Settings`. An episode has as many steps as the task itself allows, if
            it has a limit, or 100.

    Returns:
        The fitness of every generation, and the winners.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    options = {
        "population": population, "elite_count": elite_count, "crossover": crossover, "mutation": mutation,
        "deviation": deviation, "elites": elites, "parents": parents, "mixing": mixing,
        "wheel": wheel, "bounds": bounds,
    }  # fmt: skip
    Settings.of(settings, tuple(inspect.signature(evolve).parameters))
    chosen = chosen_task(task, maze)
    config = Config(
        learner=learner,
        runs=runs,
        generations=GENERATIONS if generations is None else generations,
        trials=trials,
        episodes=episodes,
        seed=seed,
        search=_chosen(search, {name: value for name, value in options.items() if value is not None}),
        settings=settings_in(chosen, settings),
        task=chosen,
        fresh=fresh,
        fitness=fitness,
        switch=switch_of(switch, integer("episodes", episodes, 1, MAX_COUNT)),
        race=race,
        finalists=finalists,
        islands=islands,
        exchange=exchange,
        restart=restart,
        begin_with=genes_given(learner, begin_with),
    )
    config = within(config, budget, generations)
    run = Runner.of(engine)
    return start(config, run, out, flag("force", force), progress)


def start(
    config: Config,
    run: Runner,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[Step], None] | None = None,
) -> Evolved:
    """Run an evolution from its first population.

    Args:
        config: Everything that decides the result.
        run: What runs the trials.
        out: A folder to keep the runs in, as in `evolve`.
        force: Start over in a folder that already holds an evolution.
        progress: As in `evolve`.

    Returns:
        The fitness of every generation, and the winners.

    Raises:
        InputError: If the folder cannot be used, or the work would not fit in memory.
    """
    function("progress", progress)
    estimate(config).check()
    _check_engine(config, run)
    searches = _begun(config)
    if out is None:
        return _run(config, searches, run, progress)
    with RunFolder.create(folder("out", out), config.to_dict(), force) as kept:
        return _run(config, searches, run, progress, kept)


def finalists_in(out: str | Path, count: int) -> list[Finalists]:
    """Return the finalists of every run in a folder, without changing it.

    Args:
        out: The folder that `evolve` kept the runs in.
        count: How many of each run, at most.

    Returns:
        Those of each run.

    Raises:
        InputError: If the folder is damaged or holds no generation yet.
    """
    stored, state, _ = read_run(out)
    _, searches, _ = _restored(Path(out), stored, state)
    return [search.finalists(count) for search in searches]


def resume(
    out: str | Path,
    *,
    task: AnyTask = None,
    generations: int | None = None,
    budget: float | None = None,
    engine: str | Runner | None = None,
    progress: Callable[[Step], None] | None = None,
) -> Evolved:
    """Continue the runs in a folder; runs that are finished are only read, without their environment.

    Args:
        out: The folder that `evolve` kept the runs in.
        task: The task again, where it was made in Python and cannot be rebuilt from the folder;
            another one is refused.
        generations: Run up to this generation instead of the number that the folder names.
        budget: Or as far as so many episodes of each run allow, those of earlier generations included.
        engine: "cpu", "gpu", "reference", "auto", or a runner, as in `learn`.
        progress: Called with a `Step` after every generation that the folder does not hold yet, as
            in `evolve`; never for runs that are finished.

    Returns:
        The fitness of every generation, from the first, and the winners.

    Raises:
        InputError: If an argument is wrong, the folder is damaged, or it already has more
            generations.
    """
    run = Runner.of(engine)
    function("progress", progress)
    if generations is not None:
        generations = integer("generations", generations, 0, MAX_COUNT)
    with RunFolder.open(path("out", out)) as kept:
        config, searches, winners = _restored(kept.path, kept.config, kept.state)
        history = kept.history()
        if budget is not None:
            generations = within(config, budget, generations).generations
        if generations is not None and generations != config.generations:
            integer("generations", generations, max(searches[0].generation, 0), MAX_COUNT)
            config = replace(config, generations=generations)
        finished = winners is not None and config.generations == kept.config["generations"]
        if task is not None or not finished:  # what is only read needs no environment
            config = replace(config, task=_again(config.task, task))
        estimate(config).check()
        if not finished:
            _check_engine(config, run)
        kept.recover()  # all is well: from here on the folder may be changed
        if config.generations != kept.config["generations"]:
            kept.extend(config.generations)
            winners = None
        return _run(config, searches, run, progress, kept, history, kept.seconds(), winners)


def _again(kept: Task[Any], given: AnyTask) -> Task[Any]:
    """Return the task of runs that are continued: a maze as it is, another one rebuilt, or given again."""
    if isinstance(kept, StoredTask):
        return restored(kept, given)
    if given is not None and maze_of(task_of(given)) != maze_of(kept):
        raise InputError("the runs are of another maze; leave task out")
    return kept


def genes_given(learner: str, given: object) -> tuple[tuple[float, ...], ...]:
    """Return the genes of learners to begin with, or of their names; all are of the kind that is evolved."""
    rows = []
    for one in map(checked_learner, sequence("begin_with", given, "a list of learners")):
        if one.kind != learner and learner in KINDS:
            raise InputError(f"begin_with has a learner of kind {one.kind}, but {learner} is evolved")
        rows.append(genes_of(one))
    return tuple(rows)


def _chosen(search: Algorithm | None, options: dict[str, Any]) -> Algorithm:
    """Return the search that was given, or the genetic algorithm with these options."""
    if search is None:
        return GeneticAlgorithm(**options)
    for name in options:
        raise InputError(
            f"{name} is given as well as search; write search=GeneticAlgorithm({name}=…), or leave one out"
        )
    return search


def _restored(
    folder: Path, stored: dict[str, Any], state: dict[str, Any] | None
) -> tuple[Config, list[Search], tuple[Winner, ...] | None]:
    """Return what a folder holds, all of it checked: configuration, runs, and winners if it is finished."""
    with damaged(folder / "config.json"):
        config = Config.from_dict(stored)
    searches, winners = _begun(config), None
    if state is None:
        return config, searches, None
    with damaged(folder / "state.json"):
        for search, entry in zip(searches, state["runs"], strict=True):
            search.restore(entry)
        generation = integer("generation", searches[0].generation, 0, config.generations)
        if any(search.generation != generation for search in searches):
            raise InputError("its runs are in different generations")
        if state["winners"] is not None:
            if generation < config.generations:
                raise InputError(f"it has winners before generation {config.generations}")
            winners = tuple(map(Winner.from_dict, state["winners"]))
            check_winners(winners, config, generation)
    return config, searches, winners


def _begun(config: Config) -> list[Search]:
    """Return the runs of an evolution before their first generation."""
    return [config.begin(run_seed(config, k)) for k in range(config.runs)]


def within(config: Config, budget: float | None, generations: int | None) -> Config:
    """Return a configuration with as many generations as a budget allows, if there is one.

    Args:
        config: The configuration.
        budget: Episodes of each run, or None.
        generations: What the caller named, or None; both is one too many.

    Returns:
        The same configuration, or one with another number of generations.

    Raises:
        InputError: If both are given, or the budget is too small.
    """
    if budget is None:
        return config
    if generations is not None:
        raise InputError("both generations and budget are given; leave one out")
    return replace(config, generations=config.affordable(number("budget", budget)))


def estimate(config: Config) -> Estimate:
    """Estimate the memory that an evolution needs."""
    goals, beside = len(config.task.goals), config.search._memory(sum(config.genes))
    trials = racing.largest(config.population, config.trials, config.race)
    return memory.evolution(
        sum(config.genes), runs=config.runs, population=config.population,
        generations=config.generations, trials=trials * goals, episodes=config.episodes,
        fresh=max(1, config.finalists) * config.fresh_trials * goals, kept=_kept(config), beside=beside,
    )  # fmt: skip


def _kept(config: Config) -> int:
    """Return how many EPs of a trial are kept: the last best one, that of each phase, or all."""
    if config.measure.needs_ep:
        return config.episodes
    return 1 if config.switch is None else config.switch.phases(config.episodes)


def summary(out: str | Path) -> dict[str, Any]:
    """Return what a folder of runs holds, without changing it."""
    stored, state, _ = read_run(out)
    config, searches, winners = _restored(Path(out), stored, state)
    names = ("remeasured", "standard_error", "chance", "chance_standard_error", "p", "superiority")
    genes = KINDS[config.learner].gene_names()
    found = [winner.to_dict() for winner in winners] if winners else [{} for _ in searches]
    return {
        "learner": config.learner,
        "task": maze_name(config.task.maze) if isinstance(config.task, MazeTask) else task_name(config.task),
        "seed": config.seed,
        "search": config.search.name,
        "elites": getattr(config.search, "elites", None),
        "options": config.options,
        "fitness": config.fitness,
        "neurons": config.settings.neurons,
        "switch": None if config.switch is None else str(config.switch),
        "generations": config.generations,
        "done": searches[0].generation if state else None,
        "finished": winners is not None,
        "runs": [
            {
                "run": count,
                "best": winner.get("selected", search.best_fitness),
                "found_in_generation": winner.get("generation", search.best_generation),
                **{name: winner.get(name) for name in names},
                "genes": dict(zip(genes, _leading(config, search, winner).genes[0], strict=True)),
            }
            for count, (search, winner) in enumerate(zip(searches, found, strict=True), start=1)
            if state
        ],
    }


def _leading(config: Config, search: Search, winner: dict[str, Any]) -> Genotypes:
    """Return the genotype of a run's winner, or of its leader while there is no winner."""
    if winner and config.finalists:
        own = from_embedded(winner["learner"]).named("")
        genotypes = search.finalists(config.finalists).genotypes
        for place, learner in enumerate(config.decode(genotypes)):
            if learner.named("") == own:
                return genotypes[[place]]
    return search.told()[2]


def run_seed(config: Config, run: int) -> int:
    """Return the seed of a run, counted from 0; the runs of two kinds of learners have nothing in common."""
    kind = _NUMBERED.get(config.learner)
    if kind is None:  # the same for a registered kind, whatever the order
        kind = len(_NUMBERED) + crc32(config.learner.encode()) % (MAX_COUNT - len(_NUMBERED))
    return child_seed(config.seed, run, kind, _RUN)


def measure(
    config: Config,
    learners: Sequence[Learner],
    seeds: NDArray[np.uint64],
    trials: int,
    run: Runner,
) -> EPs:
    """Return what every trial of each learner is judged by, (learners, trials)."""
    return _measuring(config, learners, seeds, trials, run)()


def _measuring(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int, run: Runner
) -> Callable[[], EPs]:
    """Start to measure learners; return what waits for it and gives what `measure` returns."""
    batch, judge = _batch(config, learners, seeds, trials), config.measure
    wait = run.begin(batch, keep_ep=judge.needs_ep)
    return lambda: judge.scores(batch, wait()).reshape(len(learners), -1)


def _batch(config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], trials: int) -> Batch:
    return batch_of(
        learners, seeds, trials=trials, episodes=config.episodes, task=config.task,
        settings=config.settings, record=config.measure.record(config.episodes, config.switch),
        switch=config.switch,
    )  # fmt: skip


def _check_engine(config: Config, run: Runner) -> None:
    """Refuse what cannot be judged, or an engine that cannot run it, before anything is written."""
    config.measure.check_task(config.task, config.settings)
    _suited(config, run)


def _suited(config: Config, run: Runner) -> Runner:
    """Return what runs the trials: the runner itself, or for engine auto another one."""
    learners = config.decode(first_population(1, *config.genes, seed=0))
    return run.suited(_batch(config, learners, np.zeros(1, np.uint64), trials=1))


def _on_fresh_trials(
    config: Config, learners: Sequence[Learner], seeds: NDArray[np.uint64], run: Runner
) -> list[Fresh]:
    """Measure every learner on fresh trials from its seed, and chance on the same trials."""
    trials = config.fresh_trials
    own = measure(config, learners, seeds, trials, run)
    by_chance = measure(config, [chance_for(learner) for learner in learners], seeds, trials, run)
    return [Fresh.of(*pair) for pair in zip(own, by_chance, strict=True)]


class _Chosen(NamedTuple):
    """The winner of a run: its genotype, when it appeared, and the fitness that chose it."""

    genotype: Genotypes
    born: int
    fitness: float


def _chosen_of(config: Config, searches: list[Search], run: Runner) -> list[_Chosen]:
    """Return every run's winner: its leader, or the best finalist on trials of their own."""
    if not config.finalists:
        return [_Chosen(s.told()[2], s.best_generation, s.best_fitness) for s in searches]
    groups = [search.finalists(config.finalists) for search in searches]
    sizes = [len(group.genotypes) for group in groups]
    parts = [[0, place, _FINAL] for size in sizes for place in range(size)]
    seeds = child_seeds(np.repeat(np.array([s.seed for s in searches], np.uint64), sizes), parts)
    learners = [learner for group in groups for learner in config.decode(group.genotypes)]
    means = measure(config, learners, seeds, config.fresh_trials, run).mean(axis=1)
    chosen = []
    for group, own in zip(groups, np.split(means, np.cumsum(sizes)[:-1]), strict=True):
        best = int(np.argmin(own))
        chosen.append(_Chosen(group.genotypes[[best]], int(group.born[best]), float(own[best])))
    return chosen


def _winners_of(config: Config, searches: list[Search], run: Runner) -> tuple[Winner, ...]:
    """Return every run's winner, re-measured on fresh trials."""
    chosen = _chosen_of(config, searches, run)
    learners = [config.decode(one.genotype)[0] for one in chosen]
    seeds = np.array([child_seed(search.seed, 0, 0, _REMEASUREMENT) for search in searches], np.uint64)
    winners = []
    for count, (one, learner, fresh) in enumerate(
        zip(chosen, learners, _on_fresh_trials(config, learners, seeds, run), strict=True), start=1
    ):
        if not learner.bare:  # a climber has no name in our files
            learner = learner.named(f"run {count}, seed {config.seed}")  # noqa: PLW2901
        winners.append(Winner(count, learner, one.born, one.fitness, fresh))
    return tuple(winners)


def _rows(searches: list[Search]) -> Iterator[tuple[Any, ...]]:
    """Yield what is recorded of the current generation, one row for each run."""
    for run, search in enumerate(searches, start=1):
        population, fitness, _ = search.told()
        leader = int(np.argmin(fitness))
        best, mean, worst = float(fitness[leader]), float(fitness.mean()), float(fitness.max())
        yield run, search.generation, best, mean, worst, *population[leader : leader + 1].genes[0]


# ------------------------------------------------------------------ the loop


@lru_cache(maxsize=2)  # two groups of runs may take turns
def _individuals(
    seeds: tuple[int, ...], counts: tuple[int, ...]
) -> tuple[NDArray[np.uint64], NDArray[np.int64]]:
    """Return the seed of the run, and the number in its generation, of each individual."""
    keys = np.repeat(np.array(seeds, np.uint64), counts)
    return keys, np.concatenate([np.arange(count) for count in counts])


def _evaluation_seeds(seeds: tuple[int, ...], counts: tuple[int, ...], generation: int) -> NDArray[np.uint64]:
    """Return the seeds of the evaluations of a generation."""
    made: NDArray[np.uint64] = ahead.of_generation(
        _block_of_seeds, (seeds, counts), generation, _A_SEED * sum(counts)
    )
    return made


@lru_cache(maxsize=2)
def _block_of_seeds(
    seeds: tuple[int, ...], counts: tuple[int, ...], first: int, generations: int
) -> NDArray[np.uint64]:
    """Return the seeds of the evaluations of so many generations, (generations, individuals)."""
    keys, individual = _individuals(seeds, counts)
    parts = np.empty((generations, len(keys), 3), np.uint32)
    parts[..., 0] = np.arange(first, first + generations)[:, None]
    parts[..., 1], parts[..., 2] = individual, _EVALUATION
    return child_seeds(keys, parts)


def _evaluating(
    config: Config, searches: list[Search], asked: list[Genotypes], run: Runner
) -> Callable[[], list[NDArray[np.float64]]]:
    """Start to measure what each run asked for, in a race with one heat or with more.

    Returns what waits for it, and gives the fitness of what each run asked for.
    """
    counts = [len(genotypes) for genotypes in asked]
    generation, genotypes = searches[0].generation + 1, Genotypes.joined(*asked)
    runs = tuple(search.seed for search in searches), tuple(counts)
    keys, individual = _individuals(*runs)
    seeds = _evaluation_seeds(*runs, generation)
    first_heat = _measuring(config, config.decode(genotypes), seeds, config.trials, run)

    def scores(places: NDArray[np.int64], trials: int, heat: int) -> EPs:
        if not heat:
            return first_heat()
        parts = np.empty((len(places), 3), np.uint32)
        parts[:, 0], parts[:, 1], parts[:, 2] = generation, individual[places], _HEATS + heat
        learners = config.decode(genotypes[places])
        return measure(config, learners, child_seeds(keys[places], parts), trials, run)

    def fitness() -> list[NDArray[np.float64]]:
        raced = racing.race(scores, counts, config.trials, config.race)
        return np.split(raced.fitness, np.cumsum(counts)[:-1])

    return fitness


def next_generation(config: Config, searches: list[Search], run: Runner) -> Callable[[], int]:
    """Start the next generation of some runs.

    Returns what waits for it and tells the runs; it gives the number of evaluations.
    """
    asked = ask_all(searches)
    fitness = _evaluating(config, searches, asked, run)

    def finish() -> int:
        for search, genotypes, own in zip(searches, asked, fitness(), strict=True):
            search.tell(genotypes, own)
        return sum(map(len, asked))

    return finish


def _groups(config: Config, searches: list[Search], run: Runner) -> list[list[Search]]:
    """Return the runs as one group, or as two that take turns where batches can overlap.

    Then the children of one group are made while the trials of the other run, and trials of both fill
    the engine.
    """
    # A run that starts over does so when it is asked, and not before its generation is recorded.
    if config.restart is not None or len(searches) == 1 or not _suited(config, run).overlaps:
        return [searches]
    half = (len(searches) + 1) // 2
    return [searches[:half], searches[half:]]


def _generations(config: Config, groups: list[list[Search]], run: Runner) -> Iterator[int]:
    """Run all generations that are missing; yield the evaluations of each when all runs have it."""
    begun: list[Callable[[], int]] = []
    for generation in range(groups[0][0].generation + 1, config.generations + 1):
        evaluations = 0
        begun = begun or [next_generation(config, group, run) for group in groups]
        for place, group in enumerate(groups):
            evaluations += begun[place]()
            if len(groups) > 1 and generation < config.generations:
                begun[place] = next_generation(config, group, run)
        if len(groups) == 1:
            begun = []
        yield evaluations


def _run(
    config: Config,
    searches: list[Search],
    run: Runner,
    progress: Callable[[Step], None] | None,
    folder: RunFolder | None = None,
    history: NDArray[np.float64] | None = None,
    seconds: float = 0.0,
    winners: tuple[Winner, ...] | None = None,
) -> Evolved:
    """Run all generations that are missing, keep them, and find the winners if they are not known."""
    values = np.empty((config.generations + 1, config.runs, 3))  # best, mean, worst
    if history is not None:
        values[: len(history)] = history

    done = searches[0].generation >= config.generations
    groups = [searches] if done else _groups(config, searches, run)
    began = time.perf_counter()
    for evaluations in _generations(config, groups, run):
        rows = list(_rows(searches))
        ended = time.perf_counter()
        took = ended - began
        generation = searches[0].generation
        values[generation] = [row[2:5] for row in rows]
        seconds += took
        if folder is not None:
            folder.append(rows, took, [search.snapshot() for search in searches])
        if progress is not None:
            leaders = [search.best_fitness for search in searches]
            average = float(np.mean([row[3] for row in rows]))
            progress(Step(generation, config.generations, leaders, average, evaluations, took))
        began = ended if len(groups) > 1 else time.perf_counter()  # where runs take turns, work goes on

    if winners is None:
        winners = _winners_of(config, searches, run)
    if folder is not None:
        folder.finish([winner.to_dict() for winner in winners])
    best, mean, worst = np.moveaxis(values, (2, 1), (0, 1))
    return Evolved(config, best, mean, worst, seconds, winners)
