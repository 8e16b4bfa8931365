"""The command line: `distal COMMAND …`.

Bad input ends with one line on stderr and exit code 2, Ctrl-C with exit code 130.
"""

from __future__ import annotations

import argparse
import io
import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn

import distal
from distal import engines, terminal
from distal.checks import InputError, suggestion
from distal.evaluation import Result, climb, learn
from distal.experiments import CANDIDATES, run_published_rules
from distal.files import to_json, write_text
from distal.learners.hill_climbing import HillClimbing
from distal.maze import HEADINGS, Maze, triple_t_maze
from distal.rule import find_rule, published_fitness, published_rules
from distal.settings import READINGS, Settings

Command = Callable[[argparse.Namespace], None]


class Parser(argparse.ArgumentParser):
    """A parser whose errors are one line that helps."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, "formatter_class": Formatter, **options})

    def error(self, message: str) -> NoReturn:
        """Print one line and leave with exit code 2."""
        self.exit(2, f"{self.prog}: error: {message} (see {self.prog} --help)\n")

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
                {**rule.to_dict(), "paper_fitness_10000_episodes": published_fitness(n)}
                for n, rule in enumerate(published_rules(), start=1)
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
    """Train with a rule."""
    rule = find_rule(args.rule)
    maze = _maze(args.maze, args.heading)
    with terminal.progress("learning", args.episodes * args.trials * len(maze.finals)) as progress:
        result = learn(rule, maze=maze, progress=progress, **_options(args))
    _show(result, args)


def run_climb(args: argparse.Namespace) -> None:
    """Train by hill climbing."""
    climber = HillClimbing(args.sigma, args.alpha_h, args.alpha_o)
    maze = _maze(args.maze, args.heading)
    with terminal.progress("climbing", args.episodes * args.trials * len(maze.finals)) as progress:
        result = climb(climber, maze=maze, progress=progress, **_options(args))
    _show(result, args)


def run_reproduce(args: argparse.Namespace) -> None:
    """Run the published rules and hill climbing, beside the paper's numbers."""
    evaluations = len(published_rules()) + CANDIDATES
    episodes = args.episodes * args.trials * len(triple_t_maze().finals) * evaluations
    with terminal.progress("published rules and hill climbing", episodes) as progress:
        outcome = run_published_rules(
            episodes=args.episodes,
            trials=args.trials,
            seed=args.seed,
            engine=args.engine,
            workers=args.workers,
            progress=progress,
        )
    if args.json:
        _print_json(
            {
                "version": distal.__version__,
                "rules": [result.to_dict() for result in outcome.rules],
                "climbs": [result.to_dict() for result in outcome.climbs],
            }
        )
    else:
        terminal.show_published(outcome)


def run_bench(args: argparse.Namespace) -> None:
    """Measure the engines."""
    from distal import bench  # noqa: PLC0415 - imports the compiler, which no other command should wait for

    earlier = bench.load_report(args.against) if args.against is not None else None
    rows = list(terminal.watched(bench.run(quick=args.quick), "measuring"))
    if args.json:
        _print_json(bench.report(rows))
    else:
        terminal.show_bench(rows, bench.machine())
    if earlier is not None:
        terminal.show_change(bench.compare(rows, earlier), earlier, to_stderr=args.json)


def _maze(file: str | None, heading: str) -> Maze:
    return Maze.from_file(file, heading) if file is not None else Maze(triple_t_maze().picture, heading)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the options that `learn` and `climb` share."""
    names = ("episodes", "trials", "resample", "seed", "engine", "workers", *Settings.__dataclass_fields__)
    return {name: getattr(args, name) for name in names}


def _show(result: Result, args: argparse.Namespace) -> None:
    if args.json:
        _print_json({"version": distal.__version__, **result.to_dict()})
    else:
        terminal.show_result(result)


def _print_json(data: dict[str, Any]) -> None:
    sys.stdout.write(to_json(data) + "\n")


def _parser() -> Parser:
    parser = Parser(
        prog="distal",
        description="Evolve and study delayed synaptic plasticity: rules by which small neural networks "
        "learn from a reward that comes once per episode.",
        epilog="distal COMMAND --help explains a command.",
    )
    parser.add_argument("--version", action="version", version=f"distal {distal.__version__}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True, parser_class=Parser)

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
    rules.add_argument("rule", nargs="?", metavar="RULE", help="paper:1 to paper:15, or a rule file")

    learn_command = add("learn", run_learn, "train fresh networks with a rule")
    learn_command.add_argument("rule", metavar="RULE", help="paper:1 to paper:15, or a rule file")
    _add_evaluation(learn_command)

    climb_command = add("climb", run_climb, "train fresh networks by hill climbing")
    for option, text in (
        ("--sigma", "scale of the noise, 0 to 1"),
        ("--alpha-h", "scale of the recurrent sums, 0 to 1"),
        ("--alpha-o", "scale of the feedback sums, 0 to 1"),
    ):
        climb_command.add_argument(option, type=number, required=True, metavar="X", help=text)
    _add_evaluation(climb_command)

    reproduce = add(
        "reproduce",
        run_reproduce,
        "run the paper's rules and hill climbing, beside its numbers",
        "Run the fifteen published rules, and hill climbing with 14 random parameter sets, and print their "
        "fitness with the paper's values beside it.",
    )
    _add_run_length(reproduce)
    _add_engine(reproduce)

    bench = add(
        "bench",
        run_bench,
        "measure the engines",
        "Measure the engines: ratios against something in the same run, medians of repeats. Takes about two "
        "minutes on two cores, ten seconds with --quick.",
    )
    bench.add_argument(
        "--quick", action="store_true", help="few repeats, and only the rows that take seconds"
    )
    bench.add_argument(
        "--against", metavar="FILE", help="also print the change since the run that wrote FILE"
    )
    return parser


def _add_heading(command: Parser) -> None:
    command.add_argument(
        "--heading", default="north", metavar="H", help=f"start heading: {', '.join(HEADINGS)} (north)"
    )


def _add_run_length(command: Parser) -> None:
    command.add_argument("--episodes", type=whole, default=100, metavar="N", help="episodes per trial (100)")
    command.add_argument("--trials", type=whole, default=5, metavar="N", help="trials per final position (5)")
    command.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all random numbers (0)")


def _add_engine(command: Parser) -> None:
    names = ", ".join(engines.ENGINES)
    command.add_argument(
        "--engine", default=engines.DEFAULT, metavar="NAME", help=f"{names} ({engines.DEFAULT})"
    )
    command.add_argument(
        "--workers", type=whole, metavar="N", help="how much to run at once (the engine's choice)"
    )


def _add_evaluation(command: Parser) -> None:
    _add_run_length(command)
    command.add_argument(
        "--resample", type=whole, metavar="R", help="draw fresh weights every R episodes (never)"
    )
    defaults = Settings()
    command.add_argument(
        "--hidden",
        type=whole,
        default=defaults.hidden,
        metavar="N",
        help=f"hidden neurons ({defaults.hidden})",
    )
    command.add_argument(
        "--steps",
        type=whole,
        default=defaults.steps,
        metavar="N",
        help=f"steps per episode ({defaults.steps})",
    )
    command.add_argument("--maze", metavar="FILE", help="a maze as a text picture (the triple T-maze)")
    _add_heading(command)
    readings = command.add_argument_group("readings, where the paper is silent")
    for name, values in READINGS.items():
        readings.add_argument(
            f"--{name.replace('_', '-')}",
            dest=name,
            default=values[0],
            metavar="WORD",
            help=f"{', '.join(values)} ({values[0]})",
        )
    _add_engine(command)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return the exit code."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:  # closed by whoever started us
            setattr(sys, name, Path(os.devnull).open("w", encoding="utf-8"))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without ± or − still gets its table
    try:
        args = _parser().parse_args(arguments)
        if hasattr(args, "engine"):
            with _interrupts_deferred():
                engines.load(args.engine)
        args.run(args)
        sys.stdout.flush()
    except InputError as error:
        sys.stderr.write(f"distal: error: {error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("distal: interrupted\n")
        return 130
    except MemoryError:
        sys.stderr.write("distal: error: not enough memory; ask for fewer trials or episodes\n")
        return 2
    except OSError as error:
        # The reader has gone (distal … | head), or the disk is full. What is left in the buffer
        # has nowhere to go; without this, Python would complain about it once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 141
        sys.stderr.write(f"distal: error: cannot write the output: {error.strerror}\n")
        return 1
    return 0


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Hold Ctrl-C back until the block is over.

    For the import of large packages, some of which take an interrupt for a missing
    module, or swallow it.
    """
    held: list[int] = []
    before = signal.signal(signal.SIGINT, lambda number, frame: held.append(number))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held:
        raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
