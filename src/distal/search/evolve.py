"""Evolve rules, or the parameters of another learner: several independent runs, side by side.

`evolve` and `resume` check their arguments and open the folder; the loop is in `loop`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Unpack

from distal.base import memory
from distal.base.checks import InputError, flag, folder, integer, path, sequence, shown
from distal.base.memory import Estimate
from distal.base.progress import checked
from distal.engines import Runner
from distal.evaluation.measures import BEST
from distal.evaluation.trials import chosen_task, settings_in, tell_ignored
from distal.learners import KINDS, Learner, find_learner
from distal.learners.genes import genes_of
from distal.model.draws import MAX_COUNT
from distal.model.maze import Maze
from distal.model.settings import SettingsDict
from distal.search import racing
from distal.search.config import Config
from distal.search.contents import contents_of
from distal.search.fitness import example
from distal.search.following import followed
from distal.search.genetic import GeneticAlgorithm
from distal.search.loop import evolution
from distal.search.recorder import Recorder, Step
from distal.search.registry import options_of
from distal.search.results import Evolved
from distal.search.run_folder import RunFolder
from distal.search.search import Algorithm, Search
from distal.tasks.sources import AnyTask
from distal.tasks.stored import restored as rebuilt
from distal.tasks.switching import Switch, switch_of

GENERATIONS = 300  # after the first population, unless something else is said
# Keywords of version 0.4 that are options of the search now, and what to write in their place.
_OF_THE_SEARCH = {
    **{name: f"GeneticAlgorithm({name}={{}})" for name in options_of(GeneticAlgorithm)},
    "race": "Race(GeneticAlgorithm(), heats={})",
    "islands": "Islands(GeneticAlgorithm(), {})",
    "exchange": "Islands(GeneticAlgorithm(), 4, exchange={})",
    "restart": "Restarts(GeneticAlgorithm(), every={})",
}


def evolve(
    learner: str = "dsp",
    *,
    task: AnyTask = None,
    maze: Maze | None = None,
    runs: int = 15,
    generations: int | None = None,
    budget: float | None = None,
    trials: int = 5,
    episodes: int = 100,
    seed: int = 0,
    search: Algorithm | None = None,
    begin_with: Sequence[str | Path | Learner] = (),
    finalists: int = 0,
    fresh: int | None = None,
    fitness: str = BEST,
    switch: int | Switch | None = None,
    out: str | Path | None = None,
    force: bool = False,
    engine: str | Runner | None = None,
    progress: Callable[[Step], None] | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Evolved:
    """Evolve DSP rules ("dsp"), the parameters of hill climbing ("hc"), or another registered kind.

    Args:
        learner: "dsp", "hc", or the word for another kind that has genes.
        task: The task: a Maze, a table, an environment or its id, as in `task_of`;
            the triple T-maze if left out.
        maze: Short for `task=maze`.
        runs: Independent runs.
        generations: Generations after the first population; 300 if left out.
        budget: Episodes that each run may take, instead of a number of generations.
        trials: Trials for each goal, in an evaluation; in a maze, for each final position.
        episodes: Episodes in each trial.
        seed: The seed of all random numbers.
        search: The search and its options; the paper's `GeneticAlgorithm()` if left out. `Islands`,
            `Restarts` and `Race` wrap it.
        begin_with: Learners, their names or their files, for the first population of each run;
            the rest of it is random.
        finalists: The number of a run's best that are measured on `fresh` new trials to choose the
            winner; 0 takes the leader of the last generation.
        fresh: Trials on which every winner, with chance, is re-measured, for all goals
            together; 400 if left out.
        fitness: The measure of a trial: its best EP ("best", the paper), the mean EP of its last K
            episodes ("last:K"), or of all ("mean"), or whether it misses the goal ("missed").
        switch: The episodes after which goals move, or a `Switch`; then every phase is judged.
        out: A folder to keep the runs in, so that `resume` can continue them. A folder that
            already holds an evolution is refused.
        force: Start over in a folder that already holds an evolution.
        engine: "cpu", "gpu", "steps", "reference", "auto", or a runner, as in `learn`.
        progress: Called with a `Step` after every generation, once for all runs, from the first
            population on; the winners are re-measured after the last call. It is called in the
            thread that called `evolve`, which waits for it. An exception ends the evolution; the
            folder then holds this generation too, and can be resumed. If left out, a terminal shows
            the progress; False shows nothing.
        **settings: As in `Settings`. An episode has as many steps as the task itself allows, if
            it has a limit, or 100.

    Returns:
        The fitness of every generation, and the winners.

    Raises:
        InputError: If an argument is wrong, the folder cannot be used, or the work would not
            fit in memory.
    """
    config = configured(
        learner, task=task, maze=maze, runs=runs, generations=generations, budget=budget, trials=trials,
        episodes=episodes, seed=seed, search=search, begin_with=begin_with, finalists=finalists, fresh=fresh,
        fitness=fitness, switch=switch, settings=settings,
    )  # fmt: skip
    return start(config, Runner.of(engine), out, flag("force", force), progress)


def configured(
    learner: str = "dsp",
    *,
    task: AnyTask = None,
    maze: Maze | None = None,
    generations: int | None = None,
    budget: float | None = None,
    search: Algorithm | None = None,
    begin_with: Sequence[str | Path | Learner] = (),
    switch: int | Switch | None = None,
    settings: SettingsDict | None = None,
    **numbers: Any,
) -> Config:
    """Return the configuration of an evolution, all of it checked; the arguments are those of `evolve`."""
    settings = {} if settings is None else settings
    _refuse_options_of_the_search(settings)
    chosen = chosen_task(task, maze)
    config = Config(
        learner,
        generations=GENERATIONS if generations is None else generations,
        search=GeneticAlgorithm() if search is None else search,
        settings=settings_in(chosen, settings, tuple(inspect.signature(evolve).parameters)),
        task=chosen,
        switch=None if switch is None else switch_of(switch),
        begin_with=_genes_given(learner, begin_with),
        **numbers,
    )
    tell_ignored(settings, [KINDS[config.learner]], chosen)
    return within(config, budget, generations)


def _refuse_options_of_the_search(given: Mapping[str, Any]) -> None:
    """Refuse the keywords of version 0.4 that belong to the search."""
    for name, value in given.items():
        if name in _OF_THE_SEARCH:
            instead = _OF_THE_SEARCH[name].format(shown(value))
            raise InputError(f"{name} belongs to the search: evolve(search={instead})")


def start(
    config: Config,
    runner: Runner,
    out: str | Path | None = None,
    force: bool = False,
    progress: Callable[[Step], None] | bool | None = None,
) -> Evolved:
    """Run an evolution from its first population; `out`, `force` and `progress` are those of `evolve`.

    Raises:
        InputError: If the folder cannot be used, or the work would not fit in memory.
    """
    checked(progress)
    estimate(config).check()
    _check_engine(config, runner)
    searches = config.begin_runs()
    if out is None:
        return _evolved(config, searches, runner, progress)
    with RunFolder.create(folder("out", out), config, force) as kept:
        return _evolved(config, searches, runner, progress, kept)


def resume(
    out: str | Path,
    *,
    task: AnyTask = None,
    generations: int | None = None,
    budget: float | None = None,
    engine: str | Runner | None = None,
    progress: Callable[[Step], None] | bool | None = None,
) -> Evolved:
    """Continue the runs in a folder; runs that are finished are only read, without their environment.

    Args:
        out: The folder of the runs.
        task: The task again, if it was made in Python and cannot be rebuilt from the folder;
            another one is refused.
        generations: Run up to this generation instead of the number that the folder names.
        budget: Run as many generations as this many episodes of each run allow, counted from its
            first generation.
        engine: "cpu", "gpu", "steps", "reference", "auto", or a runner, as in `learn`.
        progress: Called with a `Step` after every generation that the folder does not hold yet, as
            in `evolve`; never for runs that are finished.

    Returns:
        The fitness of every generation, from the first, and the winners.

    Raises:
        InputError: If an argument is wrong, the folder is damaged, or it already has more
            generations.
    """
    runner = Runner.of(engine)
    checked(progress)
    if generations is not None:
        generations = integer("generations", generations, 0, MAX_COUNT)
    with RunFolder.open(path("out", out)) as kept:
        config, searches, winners = contents_of(kept.path, kept.config, kept.state)
        if budget is not None:
            generations = within(config, budget, generations).generations
        if generations is not None and generations != config.generations:
            integer("generations", generations, max(searches[0].generation, 0), MAX_COUNT)
            config = replace(config, generations=generations)
        longer = config.generations != kept.config["generations"]
        finished = winners is not None and not longer
        if task is not None or not finished:  # what is only read needs no environment
            config = replace(config, task=rebuilt(config.task, task))
        estimate(config).check()
        if not finished:
            _check_engine(config, runner)
        recorder = Recorder(config, None, kept)  # which reads what is there
        kept.recover()  # all is well: from here on the folder may be changed
        if longer:
            kept.extend(config.generations)
        elif winners is not None:
            return recorder.finish(winners)
        return _evolved(config, searches, runner, progress, kept, recorder)


def _evolved(
    config: Config,
    searches: list[Search],
    runner: Runner,
    progress: Callable[[Step], None] | bool | None,
    kept: RunFolder | None = None,
    recorder: Recorder | None = None,
) -> Evolved:
    """Run the generations that are missing, and tell of them."""
    with followed(progress, config, searches, runner) as (telling, heard):
        recorder = Recorder(config, None, kept) if recorder is None else recorder
        recorder.progress = heard
        return evolution(config, searches, telling, recorder)


def _genes_given(learner: str, given: object) -> tuple[tuple[float, ...], ...]:
    """Return the genes of learners to begin with, or of their names; all are of the kind that is evolved."""
    rows = []
    for one in map(find_learner, sequence("begin_with", given, "a list of learners")):
        if one.kind != learner and learner in KINDS:
            raise InputError(f"begin_with has a learner of kind {one.kind}, but {learner} is evolved")
        rows.append(genes_of(one))
    return tuple(rows)


def within(config: Config, budget: float | None, generations: int | None) -> Config:
    """Return a configuration with as many generations as a budget allows, if there is one.

    Raises:
        InputError: If the caller named a number of generations too, or the budget is too small.
    """
    if budget is None:
        return config
    if generations is not None:
        raise InputError("both generations and budget are given; leave one out")
    return replace(config, generations=config.affordable(budget))


def estimate(config: Config) -> Estimate:
    """Estimate the memory that an evolution needs."""
    goals, search, genes = len(config.task.goals), config.search, sum(config.genes)
    trials = racing.largest(search.population, config.trials, search.heats)
    if config.measure.needs_ep:
        kept = config.episodes
    else:
        kept = 1 if config.switch is None else config.switch.phases(config.episodes)
    return memory.evolution(
        genes, runs=config.runs, population=search.population, generations=config.generations,
        trials=trials * goals, episodes=config.episodes, kept=kept, beside=search.memory(genes),
        fresh=max(1, config.finalists) * config.fresh_trials * goals,
    )  # fmt: skip


def _check_engine(config: Config, runner: Runner) -> None:
    """Refuse what cannot be judged, or an engine that cannot run it, before anything is written."""
    config.measure.check_task(config.task, config.settings)
    runner.suited(example(config))
