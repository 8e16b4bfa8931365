"""`distal evolve`: evolve rules, or the parameters of hill climbing."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from distal._version import __version__
from distal.base.checks import InputError, counted, folder
from distal.cli import options
from distal.cli.parser import Commands, add_command, number, whole
from distal.cli.runs import SINCE, search_used, winners_table
from distal.cli.terminal import PlainConsole, console, print_json, spread, tell
from distal.cli.work import on_workers, resumable, runner_of
from distal.evaluation.learning import chosen_task, settings_in
from distal.evaluation.measures import BEST, MEASURES
from distal.learners import KINDS, find_learner
from distal.model.settings import Settings, SettingsDict
from distal.search.config import UNNAMED, Config
from distal.search.evolve import Step, estimate, evolve, genes_given, resume, within
from distal.search.genetic import WORDS
from distal.search.registry import ALGORITHMS, algorithm, options_of
from distal.search.results import Evolved
from distal.search.runs import check_new, read_run

_SEARCH_OPTIONS = tuple(dict.fromkeys(name for kind in ALGORITHMS.values() for name in options_of(kind)))
_TASK = ("maze", "levels", "heading", "env", "env_arg", "encode", "starts")
# What decides the result of an evolution, and so cannot change when it is resumed.
_DECIDING = (
    "learner", "runs", "generations", "budget", "search", *_SEARCH_OPTIONS, "race", "finalists", "islands",
    "exchange", "restart", "begin_with", "trials", "episodes", "fresh", "seed", "fitness",
    *_TASK, "switch", "switch_to", *Settings.__dataclass_fields__,
)  # fmt: skip


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(commands, "evolve", run, "evolve rules, or the parameters of hill climbing")
    own = {"dsp": "rules", "hc": "parameters of hill climbing"}
    words = (f"{word}: {own.get(word, kind.label)}" for word, kind in KINDS.items() if kind.genes)
    command.add_argument("--learner", metavar="WORD", help=f"{'; '.join(words)} (dsp)")
    command.add_argument("--out", metavar="DIR", help="folder to keep the runs in; needed unless --resume")
    command.add_argument("--resume", metavar="DIR", help="continue the runs in a folder")
    command.add_argument(
        "--search",
        metavar="WORD",
        help="ga: the paper's genetic algorithm; cma: CMA-ES with margin, needs the extra cma (ga)",
    )
    options.add_force(command)
    for name, text in (
        ("runs", "independent runs (15)"),
        ("generations", "generations after the first population (300)"),
        ("population", "individuals (14)"),
        ("elite-count", "ga: best individuals that are copied unchanged (4)"),
        ("race", "heats in which the better half of a generation runs as many trials again (0)"),
        ("finalists", "best individuals of a run that are measured again to choose the winner (0)"),
        ("islands", "populations in each run (1)"),
        ("exchange", "generations until the islands of a run exchange their best (10)"),
        ("restart", "start over from a new population every so many generations (never)"),
        ("trials", "trials per goal in an evaluation: per final position of a maze (5)"),
        ("episodes", "episodes per trial (100)"),
        ("fresh", "trials on which a winner is measured again (400)"),
        ("seed", "seed of all random numbers (0)"),
    ):
        command.add_argument(f"--{name}", type=whole, metavar="N", help=text)
    for name, text in (
        ("budget", "episodes that each run may take, instead of --generations, such as 1e9"),
        ("crossover", "ga: probability of crossover (0.5)"),
        ("mutation", "ga: probability that a discrete gene is redrawn (0.15)"),
        ("deviation", "ga: standard deviation of the noise on continuous genes (0.1)"),
        ("sigma", "cma: first standard deviation, as a share of a gene's range (0.3)"),
    ):
        command.add_argument(f"--{name}", type=number, metavar="X", help=text)
    for name, choices in WORDS.items():
        text = options.explained(choices, next(iter(choices)))
        command.add_argument(f"--{name}", metavar="WORD", help=f"ga: {text}")
    command.add_argument(
        "--begin-with",
        nargs="+",
        metavar="RULE",
        help=f"rules in the first population of each run, the rest is drawn: {options.learner_help()}",
    )
    measures = "; ".join(f"{word}: {text}" for word, text in MEASURES.items())
    command.add_argument(
        "--fitness", metavar="WORD", help=f"what is minimised, over all trials: {measures} (best)"
    )
    options.add_switch(command)
    options.add_task(command)
    options.add_settings(command, given_only=True, environments=True)
    options.add_engine(command)


def run(args: argparse.Namespace) -> None:
    """Evolve rules or the parameters of hill climbing."""
    given = {name: value for name, value in vars(args).items() if value is not None and name in _DECIDING}
    if args.resume is not None:
        given.update(out=args.out, force=args.force or None)
        for name, value in given.items():
            if name not in ("generations", "budget") and value is not None:
                option = f"--{name.replace('_', '-')}"
                raise InputError(
                    f"{option} cannot be given with --resume; only --generations and --budget can"
                )
    elif args.out is None:
        raise InputError("no folder for the runs; name one with --out DIR (or continue with --resume DIR)")
    else:
        folder("--out", args.out)
        if args.exchange is not None and args.islands in (None, 1):
            raise InputError("--exchange is for several islands; give --islands as well, or leave it out")
        given = {name: value for name, value in given.items() if name not in _TASK}
        if args.begin_with is not None:
            given["begin_with"] = list(map(find_learner, args.begin_with))
        given["task"] = options.task(args)
        given.pop("switch_to", None)
        given["switch"] = options.switch(args, given["task"])
        asked = {name: given.pop(name) for name in _SEARCH_OPTIONS if name in given}
        given["search"] = algorithm(given.pop("search", UNNAMED), asked)
    _check_evolution(args, given)
    out = args.resume if args.resume is not None else args.out
    hint = f"continue with: distal evolve --resume {shlex.quote(f'./{out}' if out.startswith('-') else out)}"
    with (
        resumable(hint, Path(out) / "config.json"),
        runner_of(args) as runner,
        _progress(runner.executor) as progress,
    ):
        if args.resume is not None:
            evolved = resume(
                args.resume,
                generations=args.generations,
                budget=args.budget,
                engine=runner,
                progress=progress,
            )
        else:
            evolved = evolve(**given, out=args.out, force=args.force, engine=runner, progress=progress)
    if args.json:
        winners = [winner.to_dict() for winner in evolved.winners]
        config = evolved.config.to_dict()
        print_json({"version": __version__, "out": out, "config": config, "winners": winners})
    else:
        _show_evolved(evolved, out)


def _check_evolution(args: argparse.Namespace, given: dict[str, Any]) -> None:
    """Refuse what cannot be evolved, before a cluster is started for it."""
    if args.resume is not None:
        read_run(args.resume)
    parts = {
        kind: {name: given[name] for name in kind.__dataclass_fields__ if name in given}
        for kind in (Config, Settings)
    }
    if "begin_with" in given:
        parts[Config]["begin_with"] = genes_given(given.get("learner", Config.learner), given["begin_with"])
    task = given.get("task", chosen_task(None))
    config = Config(**parts[Config], settings=settings_in(task, cast(SettingsDict, parts[Settings])))
    if args.resume is None:
        config = within(config, args.budget, args.generations)
        estimate(config).check()
        check_new(args.out, config.runs, args.force)


@contextmanager
def _progress(cluster: Executor | None) -> Iterator[Callable[[Step], None]]:
    """Show every generation: a bar on a terminal, else a line now and then."""
    bar = Progress(
        TextColumn("generation"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        console=PlainConsole(stderr=True),
    )
    live = bar.console.is_terminal
    task = bar.add_task("", total=None)

    def told(step: Step) -> None:
        rate = step.evaluations / step.seconds
        scores = f"best {min(step.best):.2f}  mean {step.mean:.2f}"
        text = f"{scores}  {rate:.0f} evaluations/s{on_workers(cluster)}"
        if live:
            bar.start()
            bar.update(task, completed=step.generation, total=step.generations, description=text)
            return
        often = max(1, step.generations // 20)
        if step.generation % often == 0 or step.generation == step.generations:
            left = (step.generations - step.generation) * step.seconds
            tell(f"generation {step.generation} of {step.generations}  {text}  about {left:.0f} s left")

    try:
        yield told
    finally:
        if live:  # elsewhere, stopping a bar prints an empty line
            bar.stop()


def _show_evolved(evolved: Evolved, out: str) -> None:
    """Print the winners of an evolution, beside chance."""
    to = console()
    config = evolved.config
    ours = {"dsp": "DSP rules", "hc": "hill climbing parameters"}
    name = ours.get(config.learner, f"{KINDS[config.learner].label} parameters")
    to.print(
        f"{name}: {counted(config.runs, 'run')} of {counted(config.generations, 'generation')}, "
        f"{search_used(config.search.name, getattr(config.search, 'elites', None), config.options)}, "
        f"seed {config.seed}"
    )
    if config.fitness != BEST or config.switch is not None:
        moves = "" if config.switch is None else f" of each phase; the goal moves {config.switch}"
        to.print(f"fitness: {config.measure.words}{moves}")
    table, narrow = winners_table(to, "selected")
    for winner in evolved.winners:
        fresh = winner.fresh
        cells = ("", "", "", "")
        if fresh.chance is not None and fresh.p is not None and fresh.superiority is not None:
            beats = "yes" if fresh.beats_chance else "no"
            chance = spread(fresh.chance, None if narrow else fresh.chance_standard_error)
            cells = (chance, beats, f"{fresh.p:.2g}", f"{fresh.superiority:.2f}")
        own = spread(fresh.fitness, fresh.standard_error)
        table.add_row(str(winner.run), str(winner.generation), f"{winner.selected:.2f}", own, *cells)
    to.print(table)
    for line in (
        SINCE,
        "selected: the fitness that made it the winner, so it is optimistic",
        "re-measured: on fresh trials; chance: random weights on the same trials; ± standard error",
        "p: paired t-test; P(better): share of trials that are better than chance's",
    ):
        to.print(line, style="dim")
    to.print(f"kept in {out}", soft_wrap=True)
