"""The command line: `distal COMMAND …`.

Bad input ends with one line on stderr and exit code 2, Ctrl-C with exit code 130.
"""

from __future__ import annotations

import argparse
import io
import os
import shlex
import sys
import webbrowser
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NoReturn

from distal import engines
from distal._version import __version__
from distal.base import interrupts, memory
from distal.base.checks import InputError, folder, integer, one_of, path, suggestion
from distal.base.files import check_target, to_json, write_pieces, write_text
from distal.base.machine import machine
from distal.cli import terminal
from distal.engines.spread import WorkError
from distal.evaluation.learning import checked_numbers, learn
from distal.learners import DEFAULT_CLIMBER, DEFAULTS, KINDS, Learner, find_learner
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.learners.rule import evolved_fitness, evolved_rules, find_rule, published_fitness, published_rules
from distal.model.draws import MAX_SEED
from distal.model.maze import HEADINGS, Maze, triple_t_maze
from distal.model.settings import READINGS, Settings, default
from distal.paper import reading_study
from distal.paper.experiments import RULES, SCALES, check_memory, claim, estimated_seconds, plan, reproduce
from distal.search.config import UNNAMED, Config
from distal.search.evolve import estimate, evolve, resume, summary
from distal.search.genetic import ELITES, GeneticAlgorithm
from distal.search.registry import ALGORITHMS, algorithm, options_of
from distal.search.runs import check_new, is_run_folder, read_run

Command = Callable[[argparse.Namespace], None]

AGAIN = "run the same command again to continue"
FORCE = "begin anew: remove the files in the folder that its manifest names, no others"
PATHS = ("DIR", "FILE", "OUT")  # what stands for the path of a file or a folder in the help


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that helps."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": Formatter, **options})

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with exit code 2."""
        self.exit(2, f"{self.prog}: error: {terminal.visible(message)} (see {self.prog} --help)\n")

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Refuse an unknown command with the nearest right one."""
        if action.choices is not None and value not in action.choices:
            words = list(action.choices)
            problem = f"{value!r} is none of {', '.join(words)}{suggestion(value, words)}"
            raise argparse.ArgumentError(action, problem)

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse; name unknown options with the nearest right spelling."""
        known, unknown = self.parse_known_args(args, namespace)
        if unknown:
            parser: argparse.ArgumentParser = getattr(known, "parser", self)
            options = [name for action in parser._actions for name in action.option_strings]
            name = unknown[0].split("=")[0]
            if name in options:
                parser.error(f"{name} belongs after the command: {parser.prog} {name}")
            parser.error(f"unknown argument {unknown[0]!r}{suggestion(name, options)}")
        for action in getattr(known, "parser", self)._actions:
            if action.metavar in PATHS and getattr(known, action.dest) is not None:
                path((*action.option_strings, action.metavar)[0], getattr(known, action.dest))
        return known


class Formatter(argparse.HelpFormatter):
    """Help with the options in a narrow column."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=26)


def whole(text: str) -> int:
    """Read a whole number."""
    try:
        return int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number") from None


def counts(text: str) -> tuple[int, ...]:
    """Read numbers of episodes with commas between them."""
    from distal.show.film import MAX_LEARNED, MAX_SCENES  # noqa: PLC0415 - imports Pillow

    found = tuple(whole(part) for part in text.split(","))
    within = all(1 <= count <= MAX_LEARNED for count in found)
    if len(found) > MAX_SCENES or not within or sorted(set(found)) != list(found):
        raise argparse.ArgumentTypeError(
            f"{text!r} should be 1 to {MAX_SCENES} ascending numbers of episodes from 1 to {MAX_LEARNED}"
        )
    return found


def number(text: str) -> float:
    """Read a number."""
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number") from None


def run_maze(args: argparse.Namespace) -> None:
    """Draw a maze."""
    maze = _maze(args.file, args.heading)
    if args.svg is not None:
        check_target(args.svg)
        write_text(args.svg, maze.to_svg())
    if args.json:
        finals = [
            {"symbol": symbol, "row": cell[0], "column": cell[1], "distance": distance}
            for symbol, cell, distance in zip(maze.symbols, maze.finals, maze.start_distances, strict=True)
        ]
        _print_json(
            {
                "picture": list(maze.picture),
                "rows": maze.shape[0],
                "columns": maze.shape[1],
                "start": {"row": maze.start[0], "column": maze.start[1]},
                "heading": maze.heading,
                "finals": finals,
                "perfect_agent": terminal.perfect_agent(maze),
            }
        )
    else:
        terminal.show_maze(maze)


def run_rules(args: argparse.Namespace) -> None:
    """List the published rules, or show one."""
    if args.rule is None:
        if args.json:
            entries = [
                {**rule.to_dict(), "fitness_10000_episodes": fitness(n)}
                for rules, fitness in (
                    (published_rules(), published_fitness),
                    (evolved_rules(), evolved_fitness),
                )
                for n, rule in enumerate(rules, start=1)
            ]
            _print_json({"rules": entries})
        else:
            terminal.show_rules()
        return
    rule = find_rule(args.rule)
    if args.json:
        _print_json(rule.to_dict())
    else:
        terminal.show_rule(rule)


def run_learn(args: argparse.Namespace) -> None:
    """Train with a rule or another learner."""
    (learner,) = _learners(args, args.rule)
    _evaluate(learner, args, "learning")


def run_climb(args: argparse.Namespace) -> None:
    """Train by hill climbing."""
    given = {name: getattr(args, name) for name in ("sigma", "alpha_h", "alpha_o")}
    if args.file is not None:
        if any(value is not None for value in given.values()):
            raise InputError(
                "--sigma, --alpha-h and --alpha-o come from the file; leave them out, or the file"
            )
        climber = HillClimbing.load(args.file)
    elif all(value is None for value in given.values()):
        climber = DEFAULT_CLIMBER
    else:
        for name, value in given.items():
            if value is None:
                option = f"--{name.replace('_', '-')}"
                raise InputError(
                    f"{option} is missing: give --sigma, --alpha-h and --alpha-o, a climber file, or none"
                )
        climber = HillClimbing(**given)
    _evaluate(climber, args, "climbing")


def run_watch(args: argparse.Namespace) -> None:
    """Write a page that replays a trial, or a film of it."""
    from distal.show import film, watch  # noqa: PLC0415 - imports Pillow, which no other command should wait for

    learners = _learners(args, args.rule, args.against)
    names = ("goal", "resample", "seed", *Settings.__dataclass_fields__)
    options = {name: getattr(args, name) for name in names}
    options["maze"] = _maze(args.maze, args.heading)
    films = {kind: path for kind, path in (("gif", args.gif), ("mp4", args.mp4)) if path is not None}
    page = args.out if args.out is not None else "watch.html" if args.open or not films else None
    _check_watch(args, films, page)
    if "mp4" in films:
        film.check_mp4()
    episodes = 1_000 if args.episodes is None else args.episodes
    trials = watch.trials(*learners, episodes=episodes, **options)
    if page is not None:
        watch.check_kinds(trials)

    written: dict[str, Any] = {}
    if films:
        shown = film.scenes(trials[0], args.after or film.AFTER)
        frames = film.film(shown)
        for kind, path in films.items():
            (film.write_gif if kind == "gif" else film.write_mp4)(path, frames)
        written = {**films, "scenes": [{"after": scene.after, "ep": scene.walk.ep} for scene in shown]}
        if not args.json:
            terminal.show_film(shown, list(films.values()))
    if page is not None:
        with terminal.progress("learning", episodes * len(learners)) as progress:
            watched = watch.write_page(page, *learners, episodes=episodes, progress=progress, **options)
        size = Path(page).stat().st_size
        written = {"page": page, "bytes": size, **written, **watched.to_dict()}
        if not args.json:
            terminal.show_watched(watched, page, size)
    if args.json:
        _print_json({"version": __version__, **written})
    if page is not None and args.open:
        webbrowser.open(Path(page).resolve().as_uri())


def _check_watch(args: argparse.Namespace, films: dict[str, str], page: str | None) -> None:
    """Refuse files that cannot be written, and options that would mean nothing."""
    files = [*films.values(), *([page] if page is not None else [])]
    for file in files:
        check_target(file)
    if len({Path(file).resolve() for file in files}) < len(files):
        raise InputError(f"{files[0]!r} is named twice; give every file a name of its own")
    if films and args.against is not None:
        raise InputError("a film shows one learner; leave out --against, or --gif and --mp4")
    if args.after is not None and not films:
        raise InputError("--after is for a film; add --gif FILE or --mp4 FILE")
    if args.episodes is not None and page is None:
        raise InputError("--episodes is for the page; a film takes --after, or name a page with --out")


def run_evolve(args: argparse.Namespace) -> None:
    """Evolve rules or the parameters of hill climbing."""
    given = {
        name: value for name, value in vars(args).items() if value is not None and name in EVOLVE_OPTIONS
    }
    if args.resume is not None:
        given.update(out=args.out, force=args.force or None)
        for name, value in given.items():
            if name != "generations" and value is not None:
                option = f"--{name.replace('_', '-')}"
                raise InputError(f"{option} cannot be given with --resume; only --generations can")
    elif args.out is None:
        raise InputError("no folder for the runs; name one with --out DIR (or go on with --resume DIR)")
    else:
        folder("--out", args.out)
        given["maze"] = _maze(given.pop("maze", None), given.pop("heading", "north"))
        options = {name: given.pop(name) for name in SEARCH_OPTIONS if name in given}
        given["search"] = algorithm(given.pop("search", UNNAMED), options)
    _check_evolution(args, given)
    out = args.resume if args.resume is not None else args.out
    hint = f"go on with: distal evolve --resume {shlex.quote(f'./{out}' if out.startswith('-') else out)}"
    with (
        _how_to_go_on(hint, Path(out) / "config.json"),
        _executor(args) as executor,
        terminal.evolution_progress(_crew(executor)) as progress,
    ):
        who: dict[str, Any] = {"engine": args.engine, "workers": args.workers, "executor": executor}
        if args.resume is not None:
            evolved = resume(args.resume, generations=args.generations, progress=progress, **who)
        else:
            evolved = evolve(**given, out=args.out, force=args.force, progress=progress, **who)
    if args.json:
        winners = [winner.to_dict() for winner in evolved.winners]
        _print_json(
            {
                "version": __version__,
                "out": out,
                "config": evolved.config.to_dict(),
                "winners": winners,
            }
        )
    else:
        terminal.show_evolved(evolved, out)


def _check_evolution(args: argparse.Namespace, given: dict[str, Any]) -> None:
    """Refuse what cannot be evolved, before a cluster is started for it."""
    if args.resume is not None:
        read_run(args.resume)
    parts = {
        kind: {name: given[name] for name in kind.__dataclass_fields__ if name in given}
        for kind in (Config, Settings)
    }
    config = Config(**parts[Config], settings=Settings(**parts[Settings]))
    if args.resume is None:
        estimate(config).check()
        check_new(args.out, config.runs, args.force)


def run_runs(args: argparse.Namespace) -> None:
    """Summarise folders of runs."""
    top = path("DIR", args.folder)
    if not top.is_dir():
        raise InputError(f"{args.folder!r} is not a folder")
    inner = sorted(path for path in top.iterdir() if path.is_dir() and is_run_folder(path))
    found = [top] if (top / "config.json").exists() else inner
    if not found:
        raise InputError(f"{args.folder!r} holds no runs: distal evolve wrote neither it nor a folder in it")
    summaries = [{"folder": str(path), **summary(path)} for path in found]
    if args.json:
        _print_json({"folders": summaries})
    else:
        terminal.show_runs(summaries)


def run_reproduce(args: argparse.Namespace) -> None:
    """Run the paper's experiments and write the report."""
    from distal.paper import report  # noqa: PLC0415 - imports SciPy and matplotlib, which no other command should wait for
    from distal.paper.comparison import agreement, compare  # noqa: PLC0415

    maze = _maze(args.maze, args.heading)
    scale = SCALES[one_of("scale", args.scale, SCALES)]
    one_of("rules", args.rules, RULES)
    one_of("elites", args.elites, ELITES)
    integer("seed", args.seed, 0, MAX_SEED)
    out = args.out if args.out is not None else f"reproduction-{args.scale}"
    folder("--out", out)
    stages = plan(scale, args.rules, maze, args.elites)
    settings = {name: getattr(args, name) for name in Settings.__dataclass_fields__}
    in_force = Settings(**settings)
    check_memory(scale, args.rules, args.elites, args.seed, in_force, maze)
    claim(scale, args.rules, args.elites, args.seed, in_force, maze).check(out, args.force)
    with _how_to_go_on(AGAIN), _executor(args) as executor:
        run = engines.runner(args.engine, args.workers, executor)
        terminal.show_plan(stages, estimated_seconds(stages, maze, in_force, run), out)
        with terminal.stage_progress(_crew(executor)) as progress:
            result = reproduce(
                args.scale, rules=args.rules, elites=args.elites, seed=args.seed, out=out, force=args.force,
                maze=maze, engine=args.engine, workers=args.workers, executor=executor, progress=progress,
                **settings,
            )  # fmt: skip
    lines = compare(result)
    page = report.write(result, out, lines)
    if args.json:
        _print_json(report.numbers(result, lines))
    else:
        terminal.show_comparison(report.short_rows(lines), agreement(lines), str(page))


def run_readings(args: argparse.Namespace) -> None:
    """Measure what every reading does, and write the report."""
    from distal.paper import reading_report  # noqa: PLC0415 - imports matplotlib, which no other command should wait for

    maze = _maze(args.maze, args.heading)
    scale = reading_study.SCALES[one_of("scale", args.scale, reading_study.SCALES)]
    one_of("elites", args.elites, ELITES)
    integer("seed", args.seed, 0, MAX_SEED)
    out = args.out if args.out is not None else f"readings-{args.scale}"
    folder("--out", out)
    settings = {name: getattr(args, name) for name in Settings.__dataclass_fields__}
    in_force = Settings(**settings)
    planned = reading_study.plan(scale, in_force, args.elites, maze)
    reading_study.check_memory(scale, maze)
    reading_study.claim(scale, args.elites, args.seed, in_force, maze).check(out, args.force)
    with _how_to_go_on(AGAIN), _executor(args) as executor:
        run = engines.runner(args.engine, args.workers, executor)
        seconds = reading_study.estimated_seconds(planned, maze, run)
        terminal.show_plan(reading_study.outline(planned), seconds, out)
        with terminal.stage_progress(_crew(executor)) as progress:
            study = reading_study.study_readings(
                args.scale, elites=args.elites, seed=args.seed, out=out, force=args.force, maze=maze,
                engine=args.engine, workers=args.workers, executor=executor, progress=progress, **settings,
            )  # fmt: skip
    page = reading_report.write(study, out)
    if args.json:
        _print_json(study.to_dict())
    else:
        terminal.show_readings(study, str(page))


def run_bench(args: argparse.Namespace) -> None:
    """Measure an engine."""
    from distal import bench  # noqa: PLC0415 - imports what no other command should wait for
    from distal.engines import gpu  # noqa: PLC0415

    args.engine = one_of("engine", engines.resolve(args.engine), ("cpu", "gpu"))
    _check_cluster(args)
    card = gpu.describe() if args.engine == "gpu" else None
    earlier = bench.load_report(args.against) if args.against is not None else None
    measured = bench.run(args.engine, quick=args.quick, cluster=args.cluster)
    rows = list(terminal.watched(measured, "measuring"))
    if args.json:
        _print_json(bench.report(rows, card))
    else:
        terminal.show_bench(rows, machine(), card)
    if earlier is not None:
        terminal.show_change(bench.compare(rows, earlier), earlier, to_stderr=args.json)


def _check_cluster(args: argparse.Namespace) -> None:
    if args.cluster is not None and engines.resolve(args.engine) == "gpu":
        raise InputError("--cluster spreads work over processors; leave out --engine gpu")


@contextmanager
def _executor(args: argparse.Namespace) -> Iterator[Executor | None]:
    """Lend the workers of the cluster that was asked for, if one was."""
    engines.checked_workers(args.workers)
    _check_cluster(args)
    if args.cluster is None:
        yield None
        return
    from distal.engines.cluster import Cluster  # noqa: PLC0415 - imports Dask, an extra

    with Cluster(args.cluster) as cluster:
        terminal.show_cluster(cluster)
        yield cluster


def _crew(executor: Executor | None) -> Callable[[], int] | None:
    """Return what says how many workers an executor has."""
    return None if executor is None else lambda: getattr(executor, "workers", 0)


def _maze(file: str | None, heading: str) -> Maze:
    return Maze.from_file(file, heading) if file is not None else Maze(triple_t_maze().picture, heading)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options that `learn` and `climb` share."""
    names = ("episodes", "trials", "resample", "seed", "engine", "workers", *Settings.__dataclass_fields__)
    return {name: getattr(args, name) for name in names}


def _learners(args: argparse.Namespace, *names: str | None) -> list[Learner]:
    """Return the learners that names stand for; words as `hc` take their numbers from the options."""
    owners = _owners()
    given = {name: getattr(args, name) for name in owners if getattr(args, name) is not None}
    for name in given:
        if not set(owners[name]) & set(names):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} is for {' and '.join(owners[name])} alone; other learners have their own"
            )
    words: dict[str, Learner] = {}
    for word, learner in DEFAULTS.items():
        own = {name: value for name, value in given.items() if name in learner.names}
        words[word] = learner.from_dict({**learner.to_dict(), **own})
    return [words[name] if name in words else find_learner(name) for name in names if name is not None]


def _owners() -> dict[str, list[str]]:
    """Return the numbers of the learners that a word stands for, and whose they are."""
    names = dict.fromkeys(name for learner in DEFAULTS.values() for name in learner.names)
    return {name: [word for word, one in DEFAULTS.items() if name in one.names] for name in names}


def _evaluate(learner: Learner, args: argparse.Namespace, label: str) -> None:
    """Run a learner and show what came out."""
    if args.curves and not args.json:
        raise InputError("--curves is for --json; add it, or write a table with --csv FILE")
    if args.csv is not None:
        check_target(args.csv)
    maze = _maze(args.maze, args.heading)
    checked_numbers(args.episodes, args.trials, args.seed, args.resample)
    Settings(**{name: getattr(args, name) for name in Settings.__dataclass_fields__})
    beside = not args.no_chance and learner.kind != Chance.kind
    total = args.episodes * args.trials * len(maze.finals) * (1 + beside)
    less = [*(["add --no-chance"] if beside else []), *(["leave out --curves"] if args.curves else [])]
    memory.evaluation(
        args.trials * len(maze.finals), args.episodes, curves=2 * (1 + beside),
        listed=args.curves * (memory.LISTED if args.steps <= 100 else memory.LISTED_LARGE),
        instead=", ".join(["ask for fewer trials or episodes", *less]),
    ).check()  # fmt: skip
    with _executor(args) as executor, terminal.progress(label, total) as progress:
        result = learn(
            learner, maze=maze, progress=progress, executor=executor, keep_ep=True, chance=beside,
            **_options(args),
        )  # fmt: skip
    if args.csv is not None:
        write_pieces(args.csv, (piece.encode() for piece in result.csv_pieces()))
    if args.json:
        _print_json({"version": __version__, **result.to_dict(args.curves)})
    else:
        terminal.show_result(result)


def _print_json(data: dict[str, Any]) -> None:
    sys.stdout.write(terminal.visible_json(to_json(data)) + "\n")


def _parser() -> Parser:
    parser = Parser(
        prog="distal",
        description="Evolve and study delayed synaptic plasticity: rules by which small neural networks "
        "learn from a reward that comes once per episode.",
        epilog="distal COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"distal {__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=False, parser_class=Parser)

    def add(name: str, run: Command, text: str, description: str = "") -> Parser:
        command: Parser = commands.add_parser(name, help=text, description=description or text)
        command.set_defaults(run=run, parser=command)
        command.add_argument("--json", action="store_true", help="print one JSON object on stdout")
        return command

    maze = add("maze", run_maze, "draw a maze, its final positions and distances")
    maze.add_argument(
        "file", nargs="?", metavar="FILE", help="a maze as a text picture; the triple T-maze if left out"
    )
    maze.add_argument("--svg", metavar="OUT", help="also write the picture to an SVG file")
    _add_heading(maze)

    rules = add(
        "rules",
        run_rules,
        "list the published rules, or show one",
        "List the published rules, or show one. With --json, one rule is printed as a rule file.",
    )
    rules.add_argument(
        "rule", nargs="?", metavar="RULE", help="paper:1 to paper:15, evolved:1 to evolved:15, or a rule file"
    )

    learn_command = add(
        "learn",
        run_learn,
        "train fresh networks with a rule, beside chance",
        "Train fresh networks with a rule and show how well they do, beside chance: random weights in every "
        "episode, in trials with the same seeds.",
    )
    learn_command.add_argument("rule", metavar="RULE", help=_learner_help())
    _add_numbers(learn_command)
    _add_evaluation(learn_command)

    climb_command = add("climb", run_climb, "train fresh networks by hill climbing, beside chance")
    for name, text in (
        ("sigma", "noise"),
        ("alpha_h", "recurrent sums"),
        ("alpha_o", "feedback sums"),
    ):
        climb_command.add_argument(
            f"--{name.replace('_', '-')}",
            type=number,
            metavar="X",
            help=f"scale of the {text}, 0 to 1 ({getattr(DEFAULT_CLIMBER, name):g}; all three or none)",
        )
    climb_command.add_argument(
        "file",
        nargs="?",
        metavar="FILE",
        help="these three from a file that distal evolve --learner hc wrote",
    )
    _add_evaluation(climb_command, "; m-ties, trace-pre and normalise do not apply here")

    _add_watch(
        add(
            "watch",
            run_watch,
            "write a page that replays a trial of learning",
            "Write a page that replays a trial of learning, step by step: one HTML file that needs no "
            "network. The trial is the first one that distal learn runs towards the goal with this seed.",
        )
    )

    _add_evolve(add("evolve", run_evolve, "evolve rules, or the parameters of hill climbing"))

    runs = add("runs", run_runs, "summarise a folder of runs")
    runs.add_argument(
        "folder", metavar="DIR", help="what distal evolve --out wrote, or a folder of such folders"
    )

    reproduction = add(
        "reproduce",
        run_reproduce,
        "run the paper's experiments and write a report",
        "Run the paper's experiments and write a report: figures, tables, and every number of the paper "
        "beside ours. Each stage is stored; a second call only does what is missing.",
    )
    reproduction.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: about three minutes on two cores; paper: about twenty (quick)",
    )
    reproduction.add_argument(
        "--rules", default="evolved", metavar="WORD", help="evolved, published (evolved)"
    )
    _add_elites(reproduction, GeneticAlgorithm.elites)
    reproduction.add_argument("--out", metavar="DIR", help="folder of the report (reproduction-SCALE)")
    reproduction.add_argument("--force", action="store_true", help=FORCE)
    reproduction.add_argument(
        "--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)"
    )
    _add_settings(reproduction)
    _add_engine(reproduction)

    study = add(
        "readings",
        run_readings,
        "measure what every reading of the paper does to the results",
        "Measure what every reading of the paper does to chance, to the published rules and to evolution, "
        "and write a report. The base is the defaults, or what the options say; every other value of every "
        "reading is tried on it, one at a time. Stages are stored; a second call only does what is missing.",
    )
    study.add_argument(
        "--scale",
        default="quick",
        metavar="WORD",
        help="quick: five to ten minutes on two cores; paper: for a card, about a minute (quick)",
    )
    _add_elites(study, GeneticAlgorithm.elites)
    study.add_argument("--out", metavar="DIR", help="folder of the report (readings-SCALE)")
    study.add_argument("--force", action="store_true", help=FORCE)
    study.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)")
    _add_settings(study)
    _add_engine(study)

    bench = add(
        "bench",
        run_bench,
        "measure an engine",
        "Measure an engine: ratios against something in the same run, medians of repeats. The cpu engine "
        "takes about two minutes on two cores, ten seconds with --quick; the gpu engine about two minutes.",
    )
    bench.add_argument("--engine", default=engines.DEFAULT, metavar="NAME", help="cpu, gpu (cpu)")
    bench.add_argument(
        "--cluster", metavar="ADDRESS", help="measure a Dask cluster instead: tcp://…, a file, or local:N"
    )
    bench.add_argument(
        "--quick", action="store_true", help="few repeats, and only the rows that take seconds"
    )
    bench.add_argument(
        "--against", metavar="FILE", help="also print the change since the run that wrote FILE"
    )
    return parser


def _add_heading(command: Parser, default: str | None = "north") -> None:
    command.add_argument(
        "--heading", default=default, metavar="H", help=f"start heading: {', '.join(HEADINGS)} (north)"
    )


def _add_run_length(command: Parser) -> None:
    command.add_argument("--episodes", type=whole, default=100, metavar="N", help="episodes per trial (100)")
    command.add_argument("--trials", type=whole, default=5, metavar="N", help="trials per final position (5)")
    command.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)")


def _add_resample(command: Parser) -> None:
    command.add_argument(
        "--resample", type=whole, metavar="R", help="draw fresh weights every R episodes (never)"
    )


def _add_engine(command: Parser) -> None:
    names = ", ".join((*engines.ENGINES, engines.AUTO))
    command.add_argument(
        "--engine", default=engines.DEFAULT, metavar="NAME", help=f"{names} ({engines.DEFAULT})"
    )
    command.add_argument(
        "--workers", type=whole, metavar="N", help="how much to run at once (the engine's choice)"
    )
    command.add_argument(
        "--cluster",
        metavar="ADDRESS",
        help="let a Dask cluster do the work: tcp://…, a scheduler file, or local:N for N processes here",
    )


def _learner_help() -> str:
    return f"paper:1 to paper:15, evolved:1 to evolved:15, {', '.join(DEFAULTS)}, or the file of a learner"


def _add_numbers(command: Parser) -> None:
    """Add the numbers of the learners that need no file."""
    for name, words in _owners().items():
        text = " or ".join(f"{word} ({DEFAULTS[word].numbers[name]:g})" for word in words)
        option = f"--{name.replace('_', '-')}"
        command.add_argument(option, type=number, metavar="X", help=f"of the learner {text}, 0 to 1")


def _add_elites(command: Parser, value: str | None) -> None:
    command.add_argument(
        "--elites", default=value, metavar="WORD", help=_explained(ELITES, GeneticAlgorithm.elites)
    )


def _explained(values: dict[str, str], chosen: str) -> str:
    """Return the values of a reading with what they mean, and the default."""
    return "; ".join(f"{value}: {text}" for value, text in values.items()) + f" ({chosen})"


def _add_evaluation(command: Parser, remark: str = "") -> None:
    command.add_argument("--no-chance", action="store_true", help="skip chance; halves the time")
    command.add_argument(
        "--curves", action="store_true", help="with --json: both curves of every trial, EP and best EP so far"
    )
    command.add_argument("--csv", metavar="FILE", help="write both curves of every trial to a CSV file")
    _add_run_length(command)
    _add_resample(command)
    _add_settings(command, remark=remark)
    _add_engine(command)


def _add_settings(command: Parser, given_only: bool = False, remark: str = "") -> None:
    """Add network, maze and readings; with `given_only` an option that is left out is None."""
    defaults = Settings()

    def unless_given(value: Any) -> Any:
        return None if given_only else value

    for name, text in (("hidden", "hidden neurons"), ("steps", "steps per episode")):
        value = getattr(defaults, name)
        command.add_argument(
            f"--{name}", type=whole, default=unless_given(value), metavar="N", help=f"{text} ({value})"
        )
    command.add_argument("--maze", metavar="FILE", help="a maze as a text picture (the triple T-maze)")
    _add_heading(command, unless_given("north"))
    readings = command.add_argument_group(f"readings, where the paper is silent{remark}")
    for name, values in READINGS.items():
        readings.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            default=unless_given(default(name)),
            metavar="WORD",
            help=_explained(values, default(name)),
        )


def _add_watch(command: Parser) -> None:
    command.add_argument("rule", metavar="RULE", help=_learner_help())
    command.add_argument(
        "--against", metavar="LEARNER", help="the same trial of another learner beside it; named as RULE"
    )
    command.add_argument(
        "--goal",
        metavar="SYMBOL",
        help="final position to learn the way to (3, or the first if there is no 3)",
    )
    command.add_argument("--out", metavar="FILE", help="the page (watch.html; none if a film is asked for)")
    command.add_argument("--open", action="store_true", help="show the page in the browser")
    command.add_argument("--gif", metavar="FILE", help="write a film of the agent as it has learned to walk")
    command.add_argument("--mp4", metavar="FILE", help="the same as MP4; needs the extra video")
    command.add_argument(
        "--after",
        type=counts,
        metavar="N,N,…",
        help="the film shows the best agent found within so many episodes (100,1000,10000)",
    )
    command.add_argument("--episodes", type=whole, metavar="N", help="episodes of the page (1000)")
    command.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)")
    _add_resample(command)
    _add_numbers(command)
    _add_settings(command)


SEARCH_OPTIONS = tuple(dict.fromkeys(name for kind in ALGORITHMS.values() for name in options_of(kind)))
# What decides the result of an evolution, and so cannot change when it is resumed.
EVOLVE_OPTIONS = (
    "learner", "runs", "generations", "search", *SEARCH_OPTIONS, "trials", "episodes", "seed", "maze",
    "heading", *Settings.__dataclass_fields__,
)  # fmt: skip


def _add_evolve(command: Parser) -> None:
    own = {"dsp": "rules", "hc": "parameters of hill climbing"}
    words = (f"{word}: {own.get(word, kind.label)}" for word, kind in KINDS.items() if kind.genes)
    command.add_argument("--learner", metavar="WORD", help=f"{'; '.join(words)} (dsp)")
    command.add_argument("--out", metavar="DIR", help="folder to keep the runs in; needed unless --resume")
    command.add_argument("--resume", metavar="DIR", help="go on with the runs in a folder")
    command.add_argument(
        "--search",
        metavar="WORD",
        help="ga: the paper's genetic algorithm; cma: CMA-ES with margin, needs the extra cma (ga)",
    )
    command.add_argument("--force", action="store_true", help=FORCE)
    for name, text in (
        ("runs", "independent runs (15)"),
        ("generations", "generations after the first population (300)"),
        ("population", "individuals (14)"),
        ("elite-count", "ga: best individuals that are copied unchanged (4)"),
        ("trials", "trials per final position in an evaluation (5)"),
        ("episodes", "episodes per trial (100)"),
        ("seed", "seed of all random numbers (0)"),
    ):
        command.add_argument(f"--{name}", type=whole, metavar="N", help=text)
    for name, text in (
        ("crossover", "ga: probability of crossover (0.5)"),
        ("mutation", "ga: probability that a discrete gene is redrawn (0.15)"),
        ("deviation", "ga: standard deviation of the noise on continuous genes (0.1)"),
        ("sigma", "cma: first standard deviation, as a share of a gene's range (0.3)"),
    ):
        command.add_argument(f"--{name}", type=number, metavar="X", help=text)
    _add_elites(command, None)
    _add_settings(command, given_only=True)
    _add_engine(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    try:
        with interrupts.raised():
            _open_streams()
            return _run(arguments)
    except KeyboardInterrupt as interrupt:
        with interrupts.last_line():
            terminal.tell("; ".join(["distal: interrupted", *map(str, interrupt.args)]))
        return 130


def _open_streams() -> None:
    """Make stdout and stderr take anything that is written to them."""
    if sys.stdout is None or sys.stderr is None:  # closed by whoever started us
        while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
            pass  # keeps the number, which a file with data in it would get otherwise
        os.close(handle)
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± or − still gets its table


def _run(arguments: Sequence[str] | None) -> int:
    """Parse, run the command, and turn what goes wrong into one line and an exit code."""
    try:
        parser = _parser()
        args = parser.parse_args(arguments)
        if args.command is None:
            parser.print_help()
            return 0
        if hasattr(args, "engine"):
            engines.load(args.engine)  # refused at once, if it cannot run here
        args.run(args)
        sys.stdout.flush()
    except InputError as error:
        terminal.tell(f"distal: error: {error}")
        return 2
    except WorkError as error:
        terminal.tell(f"distal: error: {error}")
        return 1
    except MemoryError:
        terminal.tell("distal: error: not enough memory; ask for fewer trials or episodes")
        return 2
    except OSError as error:
        # The reader has gone (distal … | head), or the disk is full. What is left in the buffer
        # has nowhere to go; without this, Python would complain about it once more at exit.
        with suppress(io.UnsupportedOperation):  # a stream of a program that calls us
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 141
        where = f"cannot use {str(error.filename)!r}" if error.filename else "cannot write the output"
        terminal.tell(f"distal: error: {where}: {error.strerror}")
        return 2 if error.filename else 1
    return 0


@contextmanager
def _how_to_go_on(hint: str, begun: Path | None = None) -> Iterator[None]:
    """Let an interrupt, or the loss of a cluster, say how to go on, if the file `begun` is there."""
    try:
        yield
    except (KeyboardInterrupt, WorkError) as error:
        if begun is not None and not begun.exists():
            raise
        said = [str(error)] if isinstance(error, WorkError) else []
        raise type(error)("; ".join([*said, hint])) from None


if __name__ == "__main__":
    sys.exit(main())
