"""`distal champions`: the best rule that a budget can find, proven on trials that no search has seen."""

from __future__ import annotations

import argparse
import shlex
from typing import cast

from distal.base.checks import counted, folder
from distal.cli import options, work
from distal.cli.parser import Commands, add_command, number, whole
from distal.cli.terminal import console, new_table, print_json
from distal.model.settings import SettingsDict
from distal.search.config import Config
from distal.studies import champions
from distal.studies.champions import HELD_OUT, PRIZES, Champion, Request, written
from distal.studies.experiments import estimated_seconds
from distal.tasks.task import settings_in


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(
        commands,
        "champions",
        run,
        "search for the best rule that a budget can find",
        "Search for the best rule that a budget of episodes can find: many independent runs, their finalists "
        "bred together where the budget is large enough, a race of the best, then one measurement on "
        "held-out trials, which no search has seen. The work is stored; the same command again does what is "
        "missing; the held-out trials of a folder are run once, unless they are lost.",
    )
    prizes = "; ".join(f"{word}: {prize.words}" for word, prize in PRIZES.items())
    command.add_argument(
        "--prize", default="best", metavar="WORD", help=f"what to be best at: {prizes} (best)"
    )
    command.add_argument(
        "--budget", type=number, default=1e9, metavar="X", help="episodes of the search, such as 1e11 (1e9)"
    )
    command.add_argument("--runs", type=whole, metavar="N", help="runs that share the budget (as it allows)")
    command.add_argument(
        "--held-out", type=whole, default=HELD_OUT, metavar="N", help=f"held-out trials ({HELD_OUT})"
    )
    command.add_argument(
        "--learner", default="dsp", metavar="WORD", help="dsp, hc, or another kind with genes (dsp)"
    )
    command.add_argument("--out", metavar="DIR", help="folder to keep the work in (champions-PRIZE)")
    options.add_force(command)
    options.add_seed(command)
    options.add_task(command)
    options.add_settings(command, environments=True)
    options.add_engine(command)


def run(args: argparse.Namespace) -> None:
    """Search, race, measure, and print the record."""
    out = args.out if args.out is not None else f"champions-{args.prize}"
    folder("--out", out)
    task = options.task(args)
    given = {
        name: value
        for name in SettingsDict.__annotations__
        if (value := getattr(args, name, None)) is not None
    }
    settings = settings_in(task, cast(SettingsDict, given))
    config = Config(learner=args.learner, seed=args.seed, task=task, settings=settings)
    request = Request(args.prize, args.budget, args.runs, args.held_out, config, _command(args, given))
    request.claim.check(out, args.force)
    with work.resumable(work.AGAIN), options.runner_of(args, at_once=True) as runner:
        stages = list(request.stages)
        work.show_plan(stages, estimated_seconds(stages, task, settings, runner), out)
        with work.stage_progress(runner.executor) as progress:
            champion = champions.find(request, runner, out, args.force, progress)
    if args.json:
        print_json(champion.to_dict())
    else:
        _show(champion, out)


def _command(args: argparse.Namespace, settings: dict[str, object]) -> str:
    """Return the command that finds the same champion, on any engine."""
    words: dict[str, object] = {"prize": args.prize, "budget": written(args.budget), "seed": args.seed}
    if args.runs is not None:
        words["runs"] = args.runs
    if args.held_out != HELD_OUT:
        words["held_out"] = args.held_out
    if args.learner != "dsp":
        words["learner"] = args.learner
    for name in ("maze", "levels", "heading", "env", "env_arg", "encode", "starts"):
        if getattr(args, name, None) is not None:
            words[name] = getattr(args, name)
    parts = ["distal", "champions"]
    for name, value in {**words, **settings}.items():
        for one in value if isinstance(value, list) else [value]:
            parts += [f"--{name.replace('_', '-')}", str(one)]
    return shlex.join(parts)


def _show(champion: Champion, out: str) -> None:
    """Print how the champion did, and how it was found."""
    to = console()
    held = champion.held_out
    to.print(f"champion: {PRIZES[champion.prize].words}", style="bold")
    table = new_table("", "champion", "chance", wrap=True)
    mean = f"{held.fitness:.2f} ± {held.standard_error:.2f}  [{held.low:.2f}, {held.high:.2f}]"
    table.add_row(
        f"held out, {counted(held.trials, 'trial')}",
        mean,
        f"{held.chance:.2f} ± {held.chance_standard_error:.2f}",
    )
    if held.reached is not None and held.reached_low is not None and held.reached_high is not None:
        share = f"{held.reached:.1%}  [{held.reached_low:.1%}, {held.reached_high:.1%}]"
        table.add_row("trials that reached the goal", share, f"{held.chance_reached:.1%}")
    table.add_row("in the race that selected it", f"{champion.selected:.2f}", "")
    to.print(table)
    ran = counted(champion.runs, "run")
    to.print(
        f"{champion.candidates:,} measurements in {ran} of {counted(champion.generations, 'generation')}"
        f"{f' and {champion.bred:,} more of their finalists' if champion.bred else ''}; "
        f"{champion.finalists:,} were in the last race."
    )
    to.print(f"{champion.spent:,} of {champion.budget:,} episodes spent. Brackets: 95 % intervals.")
    to.print(f"rule and record: {out}/champion.json, {out}/record.json", soft_wrap=True)
