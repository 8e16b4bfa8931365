"""Search for the best rule that a budget can find.

Four steps: many independent runs of a search that copes with noise; one more that breeds the finalists
of all runs together, if the budget is large enough; a race of the finalists; one measurement of the
winner in held-out trials. The seeds of these come from a purpose of their own (`draws.held_out_seed`),
and no choice depends on them.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Unpack

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base import memory
from distal.base.checks import InputError, counted, folder, integer, number, one_of, text
from distal.base.folders import Folder
from distal.engines import Runner, pace
from distal.engines.batch import EPs
from distal.evaluation.trials import chosen_task, per_goal, settings_in
from distal.learners import Learner, chance_for
from distal.model.draws import MAX_COUNT, MAX_SEED, child_seeds, held_out_seed
from distal.model.settings import Settings, SettingsDict
from distal.search import racing
from distal.search.config import Config
from distal.search.contents import finalists_in
from distal.search.evolve import estimate
from distal.search.fitness import measure
from distal.search.genotypes import Finalists, Genotypes
from distal.search.results import Evolved
from distal.studies.budget import BRED_FINALISTS, FINALISTS, Budget
from distal.studies.champion import (
    RECORD,
    RULE,
    Champion,
    ChampionReport,
    HeldOut,
    read_champion,
    write_champion,
)
from distal.studies.prizes import PRIZES
from distal.studies.registry import register
from distal.studies.stages import SECONDS, Event, Stage, Stages
from distal.studies.study import Option, Study
from distal.tasks.sources import AnyTask
from distal.tasks.task import Task

_SEARCH, _BREED, _RACE, _OWN, _CHANCE = "search", "breed", "race", "held_out", "held_out_chance"
_PART = 11  # of a seed, for the last race


@register
@dataclass(frozen=True, kw_only=True)
class Champions(Study[Champion]):
    """A search for a champion.

    Args:
        prize: A word of `PRIZES`.
        budget: Episodes.
        runs: Independent runs; chosen by the budget if None.
        held_out: Held-out trials, for all goals together.
        learner: The word for a kind of learner.
        seed: The seed of all random numbers.
        task: The task.
        settings: Network, steps and readings.
        command: How it was asked for, or None.
    """

    name: ClassVar[str] = "champions"
    word: ClassVar[str] = "prize"
    about: ClassVar[str] = (
        "Search for the best rule that a budget of episodes can find: many independent runs, their finalists "
        "bred together if the budget is large enough, a race of the best, and one measurement on held-out "
        "trials, which no search has seen. Stages are stored; the same command again runs only the missing "
        "ones. The held-out trials of a folder run only once, unless they are lost."
    )
    file: ClassVar[str] = "request.json"
    format: ClassVar[str] = "distal-champion-search"
    report_class: ClassVar[type[ChampionReport]] = ChampionReport
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "prize", "best",
            f"the measure to be best at: {'; '.join(f'{word}: {prize.words}' for word, prize in PRIZES.items())}",
        ),
        Option("budget", "1e9", "episodes of the search, such as 1e11", "X"),
        Option("runs", None, "runs that share the budget (as many as the budget allows)", "N"),
        Option("held_out", "4000", "held-out trials", "N"),
        Option("learner", "dsp", "dsp, hc, or another kind with genes"),
    )  # fmt: skip

    prize: str = "best"
    budget: float = 1e9
    runs: int | None = None
    held_out: int = 4000
    learner: str = "dsp"
    seed: int = 0
    task: Task[Any] = field(default_factory=lambda: chosen_task(None))
    settings: Settings = field(default_factory=Settings)
    command: str | None = None

    def __post_init__(self) -> None:
        checked: dict[str, Any] = {
            "prize": one_of("prize", self.prize, PRIZES),
            "budget": number("budget", self.budget),
            "runs": self.runs if self.runs is None else integer("runs", self.runs, 1, 2**20),
            "held_out": integer("held_out", self.held_out, 2, MAX_COUNT),
            "seed": integer("seed", self.seed, 0, MAX_SEED),
            "command": self.command if self.command is None else text("command", self.command),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)
        if not 0 < self.budget < 2**63:
            raise InputError(f"budget is {self.budget:g}, expected more than 0 and less than 2^63 episodes")
        self.judged.measure.check_task(self.judged.task, self.judged.settings)
        least = self.divided.searching + self.divided.breeding + self.divided.last_race
        if least > self.budget:
            raise InputError(
                f"budget is {self.budget:g}, but the search and the last race take {least:,} episodes; "
                "give at least that, or fewer runs"
            )

    def check_memory(self) -> None:
        """Refuse a search, last race or held-out trials that would not fit in memory."""
        config, goals = self.judged, len(self.task.goals)
        estimate(self.config).check()
        if self.bred is not None:
            estimate(self.bred).check()
        trials = racing.largest(self.divided.contenders, self.divided.first_heat, self.divided.heats) * goals
        kept = config.episodes if config.measure.needs_ep else 1
        memory.evolution(
            sum(config.genes), runs=1, population=self.divided.contenders, generations=0, trials=trials,
            fresh=0, episodes=config.episodes, kept=kept,
        ).check()  # fmt: skip
        memory.held_out(self.held_out_trials * goals, config.episodes, kept=kept).check()

    # ------------------------------------------------------------------ what a budget allows

    @cached_property
    def judged(self) -> Config:
        """The final measure of candidates, as a run without generations."""
        prize = PRIZES[self.prize]
        return Config(
            self.learner, 1, 0, prize.trials, prize.episodes, self.seed, prize.search, self.settings, self.task,
            fitness=prize.fitness,
        )  # fmt: skip

    @cached_property
    def divided(self) -> Budget:
        """The parts of the search that the budget allows."""
        return Budget.divided(self.budget, self.runs, PRIZES[self.prize], self.judged)

    @property
    def config(self) -> Config:
        """The independent runs."""
        return self.divided.config

    @property
    def bred(self) -> Config | None:
        """The search that breeds the finalists of all runs together; None if the budget is too small."""
        return self.divided.bred

    @property
    def held_out_trials(self) -> int:
        """Held-out trials for each goal."""
        return per_goal(self.task, self.held_out)

    # ------------------------------------------------------------------ what is asked for

    @cached_property
    def plan(self) -> list[Stage]:
        """The stages, with the episodes that each will run."""
        config = self.config
        held = self.held_out_trials * len(self.task.goals) * config.episodes
        runs = f"search: {counted(config.runs, 'run')} of {counted(config.generations, 'generation')}"
        stages = [Stage(_SEARCH, runs, self.divided.searching, self.learner, config.runs)]
        if self.bred is not None:
            words = f"their finalists bred together for {counted(self.bred.generations, 'generation')}"
            stages.append(Stage(_BREED, words, self.divided.breeding, self.learner, 1))
        stages += [
            Stage(
                _RACE, f"race of {self.divided.contenders} finalists", self.divided.last_race, self.learner
            ),
            Stage(_OWN, "the champion on held-out trials", held, self.learner),
            Stage(_CHANCE, "chance on the same trials", held, "chance"),
        ]
        cost = pace.cost(self.task, self.settings)
        return [replace(stage, cost=cost) for stage in stages]

    @property
    def files(self) -> tuple[str, ...]:
        """All files that may be written into the folder, in the order of version 0.4."""
        stages = (file for stage in self.plan for file in stage.files)
        return (self.file, SECONDS, RULE, RECORD, *stages)

    def asked(self) -> dict[str, Any]:
        """Return the options that decide the results, ready for JSON."""
        config, bred = self.config.to_dict(), self.bred
        settings = {name: config.pop(name) for name in self.settings.to_dict()}
        config.pop("distal")
        breeding = (
            None if bred is None
            else {"generations": bred.generations, "trials": bred.trials, **bred.search.to_dict()}
        )  # fmt: skip
        return {
            "prize": self.prize, "budget": int(self.budget), "held_out": self.held_out,
            "judged_by": self.judged.fitness, "breeding": breeding, **config, "settings": settings,
        }  # fmt: skip

    def command_line(self, more: Mapping[str, object]) -> str:
        """Return the command that asks for this, with more options, by their names; lists are repeated."""
        budget = f"{self.budget:g}" if float(f"{self.budget:g}") == self.budget else f"{self.budget:.0f}"
        asked: dict[str, object] = {"prize": self.prize, "budget": budget, "seed": self.seed}
        for name in ("runs", "held_out", "learner"):
            if getattr(self, name) != getattr(type(self), name):
                asked[name] = getattr(self, name)
        parts = ["distal", self.name]
        for name, value in {**asked, **more}.items():
            for one in value if isinstance(value, list) else [value]:
                parts += [f"--{name.replace('_', '-')}", str(one)]
        return shlex.join(parts)

    def asked_with(self, options: Mapping[str, object]) -> Champions:
        """Return the search with the command that asks for it, for its record."""
        return replace(self, command=self.command_line(options))

    @property
    def words(self) -> str:
        """The command that asks for it; a task that no command was given for has its name added."""
        if self.command is not None:
            return self.command
        usual, own = settings_in(self.task, {}).to_dict(), self.settings.to_dict()
        words = self.command_line({name: own[name] for name in own if own[name] != usual.get(name)})
        return words if self.task == chosen_task(None) else f"{words}, task {self.task.name}"

    # ------------------------------------------------------------------ the work

    def run_stages(self, stages: Stages) -> Champion:
        """Search, breed, race, and measure the winner.

        Where a champion is stored, what the search and the held-out trials have lost is read or
        run again; a record that does not fit them is refused. The race, of which no more is
        kept, is not run again, nor is what another release measured.
        """
        kept = stages.folder
        if kept is None:
            raise InputError("out is None, expected a folder to keep the search in")
        stored = read_champion(kept)
        evolved, contenders = self._search(stages, kept)
        found = self.judged.decode(contenders)
        if stored is None:
            raced = self._race(stages, contenders)
            winner, selected = found[raced.winner], float(raced.fitness[raced.winner])
            spent = (
                self.divided.searching
                + self.divided.breeding
                + int(raced.trials.sum()) * self.judged.episodes
            )
        else:
            same = [one for one in found if self._named(one) == stored.learner]
            if not same:
                raise self._misfit(kept)
            winner, selected, spent = same[0], stored.selected, stored.spent
        measured = [self.config, *([] if self.bred is None else [self.bred])]
        champion = Champion(
            learner=self._named(winner),
            prize=self.prize,
            fitness=self.judged.fitness,
            episodes=self.judged.episodes,
            command=self.words,
            seed=self.seed,
            version=__version__,
            engine=stages.runner.engine,
            budget=int(self.budget),
            spent=spent,
            runs=self.config.runs,
            generations=self.config.generations,
            bred=0 if self.bred is None else self.bred.generations,
            candidates=sum(one.runs * one.search.evaluations(one.generations) for one in measured),
            finalists=len(found),
            selected=selected,
            run_fitness=self.config.fitness,
            run_winners=tuple(one.remeasured for one in evolved.winners),
            held_out=stored.held_out
            if stored is not None and stored.version != __version__
            else self._held_out(stages, winner),
        )
        if stored is not None:
            champion = replace(champion, command=stored.command, version=stored.version, engine=stored.engine)
            if champion != stored:
                raise self._misfit(kept)
        write_champion(kept, champion)
        return champion

    def _misfit(self, kept: Folder) -> InputError:
        return InputError(
            f"file {str(kept.file(RECORD))!r} does not match the search and the held-out trials in its folder; "
            f"remove {_OWN}.npz and {_CHANCE}.npz to run them again, or start over with force=True"
        )

    def _named(self, learner: Learner) -> Learner:
        return learner if learner.bare else learner.named(f"prize {self.prize}, seed {self.seed}")

    def _search(self, stages: Stages, kept: Folder) -> tuple[Evolved, Genotypes]:
        """Return the runs, and the finalists: of the breeding, if the budget allows it."""
        evolved = stages.evolve(_SEARCH, self.config)
        finalists = _gathered(finalists_in(kept.path / _SEARCH, FINALISTS))
        if self.bred is not None:
            first = finalists[: self.bred.search.population].genes
            stages.evolve(_BREED, replace(self.bred, begin_with=tuple(map(tuple, first))))
            finalists = _gathered(finalists_in(kept.path / _BREED, BRED_FINALISTS))
        return evolved, finalists

    def _race(self, stages: Stages, contenders: Genotypes) -> racing.Raced:
        """Race the finalists."""
        config, stage, done = self.judged, stages.stages[_RACE], 0
        stages.tell(stage, 0)

        def scores(places: NDArray[np.int64], trials: int, heat: int) -> EPs:
            nonlocal done
            parts = np.empty((len(places), 3), np.uint32)
            parts[:, 0], parts[:, 1], parts[:, 2] = heat, places, _PART
            seeds = child_seeds(config.seed, parts)
            found = measure(config, config.decode(contenders[places]), seeds, trials, stages.runner)
            done += found.size * config.episodes
            stages.tell(
                stage, min(0.999, done / stage.episodes), f"heat {heat + 1} of {self.divided.heats + 1}"
            )
            return found

        raced = racing.race(scores, [len(contenders)], self.divided.first_heat, self.divided.heats)
        stages.tell(stage, 1)
        return raced

    def _held_out(self, stages: Stages, winner: Learner) -> HeldOut:
        """Measure the winner, and chance, on trials that nothing was selected by."""
        config, judge, target = self.judged, self.judged.measure, self.task.target(self.settings)

        def scores(stage: str, learner: Learner) -> tuple[EPs, EPs]:
            """Return the score of every trial, and its best EP."""
            (values,) = stages.test(
                stage, [learner], np.array([held_out_seed(self.seed)], np.uint64),
                trials=self.held_out_trials, episodes=config.episodes, task=self.task,
                settings=self.settings, record=(config.episodes,), every=judge.needs_ep,
            )  # fmt: skip
            if judge.needs_ep:
                return values[:, -(judge.episodes or config.episodes) :].mean(axis=1), values.min(axis=1)
            return judge.judged(values[:, -1], target), values[:, -1]

        return HeldOut.of(scores(_OWN, winner), scores(_CHANCE, chance_for(winner)), target)


def _gathered(groups: Sequence[Finalists]) -> Genotypes:
    """Return the finalists of all runs: the best of each, then the second of each, and so on."""
    places = [(place, run) for run, group in enumerate(groups) for place in range(len(group.genotypes))]
    return Genotypes.joined(*(groups[run].genotypes[[place]] for place, run in sorted(places)))


def champions(
    prize: str = "best",
    *,
    budget: float = 1e9,
    runs: int | None = None,
    seed: int = 0,
    learner: str = "dsp",
    task: AnyTask = None,
    held_out: int = Champions.held_out,
    out: str | Path,
    force: bool = False,
    command: str | None = None,
    engine: str | Runner | None = None,
    progress: Callable[[Event], None] | bool | None = None,
    **settings: Unpack[SettingsDict],
) -> Champion:
    """Search for the best learner that a budget can find, and measure it once on held-out trials.

    Args:
        prize: "best" (best EP after 100 episodes), "last" (mean EP of episodes 81 to 100), "reached"
            (trials that reach the goal in 100 episodes) or "long" (best EP after 10,000 episodes).
        budget: Episodes for the search, breeding and the last race; the held-out trials are not
            included.
        runs: Independent runs that share the budget; chosen by it if left out.
        seed: The seed of all random numbers.
        learner: "dsp", or the word for another kind that has genes.
        task: The task; the triple T-maze if left out.
        held_out: Held-out trials, for all goals together.
        out: A folder for the work. Finished stages in it are not run again; a folder of
            another search is refused.
        force: Start over in a folder that already holds a search.
        command: The command that asked for it, for the record.
        engine: "cpu", "gpu", "steps", "reference", "auto", or a runner, as in `learn`.
        progress: Called with an `Event` as the work advances. If left out, a terminal shows the
            progress; False shows nothing.
        **settings: As in `Settings`.

    Returns:
        The champion, with the record of its search.

    Raises:
        InputError: If an argument is wrong, the budget is too small, or the folder cannot be used.
    """
    chosen = chosen_task(task)
    study = Champions(
        prize=prize, budget=budget, runs=runs, held_out=held_out, learner=learner, seed=seed, task=chosen,
        settings=settings_in(chosen, settings), command=command,
    )  # fmt: skip
    return study.run(engine, out=folder("out", out), force=force, progress=progress)
