"""`distal evolve`: evolve rules, or the parameters of hill climbing."""

from __future__ import annotations

import argparse
import inspect
from pathlib import Path
from typing import cast

from distal._version import __version__
from distal.base.checks import InputError, folder
from distal.base.progress import LINES
from distal.cli import Parser, add_options, options
from distal.cli.runs import COLUMNS_EXPLAINED, LEGEND, resume_command, search_used, winners_table
from distal.cli.terminal import console, print_json
from distal.evaluation.measures import BEST, MEASURES
from distal.learners import KINDS, find_learner
from distal.model.settings import Settings, SettingsDict
from distal.search.config import UNNAMED, WRAPPING, Config
from distal.search.contents import contents_of
from distal.search.evolve import configured, estimate, resume, start
from distal.search.genetic import WORDS
from distal.search.registry import ALGORITHMS, algorithm, options_of, wrapped
from distal.search.results import Evolved
from distal.search.run_folder import check_new, read_run

_NUMBERS = (
    "learner", "runs", "generations", "budget", "finalists", "trials", "episodes", "fresh", "seed", "fitness",
)  # fmt: skip
_SEARCHES = {"ga": "the paper's genetic algorithm", "cma": "CMA-ES with margin, needs the extra cma"}
_TASK = ("maze", "levels", "width", "heading", "env", *options.ENVIRONMENT)
_SETTINGS = tuple(Settings.__dataclass_fields__)


def _of_searches() -> tuple[str, ...]:
    """Return the names of the options of all searches."""
    return tuple(dict.fromkeys(name for kind in ALGORITHMS.values() for name in options_of(kind)))


def _deciding() -> tuple[str, ...]:
    """Return the options that decide the result of an evolution, and so cannot change when it is resumed."""
    return (
        *_NUMBERS, "search", *_of_searches(), *WRAPPING, "begin_with", *_TASK, "switch", "switch_to",
        *_SETTINGS,
    )  # fmt: skip


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Evolve rules, or the parameters of hill climbing, and measure the winner of each run on fresh "
        f"trials, with chance. {COLUMNS_EXPLAINED}"
    )
    own = {"dsp": "rules", "hc": "parameters of hill climbing"}
    kinds = {word: own.get(word, kind.label) for word, kind in KINDS.items() if kind.genes}
    add_options(command, {
        "--learner WORD": options.explained(kinds, "dsp"),
        "--out DIR": "folder of the runs; needed unless --resume",
        "--resume DIR": "continue the runs in a folder",
    })  # fmt: skip
    searches = {
        name: _SEARCHES.get(name, (inspect.getdoc(kind) or kind.__name__).splitlines()[0].rstrip("."))
        for name, kind in ALGORITHMS.items()
    }
    add_options(command, {"--search WORD": options.explained(searches, UNNAMED)})
    options.add_force(command)
    options.add_brief(command)
    add_options(command, {
        "--runs N": "independent runs (15)",
        "--generations N": "generations after the first population (300)",
        "--population N": "individuals (14)",
        "--elite-count N": "ga: best individuals, copied unchanged (4)",
        "--race N": "number of heats; in each, the better half of a generation repeats its trials (0)",
        "--finalists N": "best individuals of a run, measured again to choose the winner (0)",
        "--islands N": "populations in each run (1)",
        "--exchange N": "generations between exchanges of the islands' best (10)",
        "--restart N": "start over with a new population after every N generations (never)",
        "--trials N": "trials per goal; in a maze, per final position (5)",
        "--episodes N": "episodes per trial (100)",
        "--fresh N": "fresh trials on which the winner is re-measured (400)",
        "--seed N": "seed of all random numbers (0)",
        "--budget X": "episodes that each run may take, instead of --generations, such as 1e9",
        "--crossover X": "ga: probability of crossover (0.5)",
        "--mutation X": "ga: probability that a discrete gene is redrawn (0.15)",
        "--deviation X": "ga: standard deviation of the noise on continuous genes (0.1)",
        "--sigma X": "cma: first standard deviation, as a share of a gene's range (0.3)",
        **{
            f"--{name} WORD": f"ga: {options.explained(choices, next(iter(choices)))}"
            for name, choices in WORDS.items()
        },
    })  # fmt: skip
    command.add_argument(
        "--begin-with",
        nargs="+",
        metavar="RULE",
        help=f"rules in the first population of each run; the rest is random: {options.learner_help()}",
    )
    measures = "; ".join(f"{word}: {text}" for word, text in MEASURES.items())
    add_options(command, {
        "--fitness WORD": f"the measure to minimise, over all trials: {measures} (best)",
    })  # fmt: skip
    options.add_switch(command)
    options.add_task(command)
    options.add_settings(command, environments=True)
    options.add_engine(command)
    _add_others(command)


def _add_others(command: Parser) -> None:
    """Add the options of searches that were registered, where no option of ours has the name."""
    for name, kind in ALGORITHMS.items():
        for option, parameter in inspect.signature(kind).parameters.items():
            word = f"--{option.replace('_', '-')}"
            if word not in command._option_string_actions:
                placeholder = {int: "N", float: "X"}.get(type(parameter.default), "WORD")
                text = f"{name}: an option of this search ({parameter.default})".replace("%", "%%")
                add_options(command, {f"{word} {placeholder}": text})


def run(args: argparse.Namespace) -> None:
    """Evolve rules or the parameters of hill climbing."""
    options.check_brief(args)
    # Whatever is wrong is refused before a cluster is started for it.
    out, config = (args.resume, None) if args.resume is not None else (args.out, _configured(args))
    if config is None:
        _refuse_with_resume(args)
        stored, state, _ = read_run(out)
        contents_of(Path(out), stored, state)
    hint = f"continue with: {resume_command(f'./{out}' if out.startswith('-') else out)}"
    with (
        options.resumable(hint, Path(out) / "config.json"),
        options.runner_of(args, at_once=True) as runner,
    ):
        if config is None:
            numbers = {"generations": args.generations, "budget": args.budget}
            evolved = resume(out, **numbers, engine=runner, progress=LINES)
        else:
            evolved = start(config, runner, out, args.force, LINES)
    if args.json:
        winners = [winner.to_dict() for winner in evolved.winners]
        described = evolved.config.to_dict()
        print_json({"version": __version__, "out": out, "config": described, "winners": winners})
    else:
        _show_evolved(evolved, out, args.brief)


def _refuse_with_resume(args: argparse.Namespace) -> None:
    """Refuse the options that decide a result, where one is only continued."""
    for name in (*_deciding(), "out", "force"):
        if getattr(args, name) not in (None, False) and name not in ("generations", "budget"):
            option = f"--{name.replace('_', '-')}"
            raise InputError(f"{option} cannot be given with --resume; only --generations and --budget can")


def _configured(args: argparse.Namespace) -> Config:
    """Return the configuration that the options ask for; refuse a folder where it cannot begin."""
    if args.out is None:
        raise InputError("no folder for the runs; name one with --out DIR (or continue with --resume DIR)")
    folder("--out", args.out)
    if args.exchange is not None and args.islands in (None, 1):
        raise InputError("--exchange is for several islands; give --islands as well, or leave it out")
    given = {name: getattr(args, name) for name in _deciding() if getattr(args, name) is not None}
    task = options.task(args)
    config = configured(
        task=task,
        search=wrapped(
            algorithm(
                given.get("search", UNNAMED), {name: given[name] for name in _of_searches() if name in given}
            ),
            **{name: given[name] for name in WRAPPING if name in given},
        ),
        begin_with=list(map(find_learner, given.get("begin_with", ()))),
        switch=options.switch(args, task),
        settings=cast(SettingsDict, {name: given[name] for name in _SETTINGS if name in given}),
        **{name: given[name] for name in _NUMBERS if name in given},
    )
    estimate(config).check()
    check_new(args.out, config.runs, args.force)
    return config


def _show_evolved(evolved: Evolved, out: str, brief: bool) -> None:
    """Print the winners of an evolution, with chance; the short form is the table and the verdict."""
    about, verdict = _about(evolved), evolved.verdict
    to = console()
    if not brief:
        to.print(*about, sep="\n")
    rows = ((one.run, one.generation, one.selected, one.fresh) for one in evolved.winners)
    to.print(winners_table(to, "selected", rows))
    if not brief:
        for line in LEGEND:
            to.print(line, style="dim")
        to.print(f"kept in {out}", soft_wrap=True)
    if verdict is not None:
        to.print(verdict, soft_wrap=True)


def _about(evolved: Evolved) -> list[str]:
    """Return the lines about the learner, the search and the fitness."""
    config = evolved.config
    core = config.search.core
    name = "DSP rules" if config.learner == "dsp" else f"parameters of {KINDS[config.learner].label}"
    used = search_used(core.name, core.to_dict().get("elites"), config.options)
    lines = [f"{name}: {config.size}, {used}, seed {config.seed}"]
    if config.fitness != BEST or config.switch is not None:
        moves = "" if config.switch is None else f" of each phase; the goal moves {config.switch}"
        lines.append(f"fitness: {config.measure.words}{moves}")
    return lines
