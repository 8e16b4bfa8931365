"""`distal watch`: write a page that replays a trial, or a film of it."""

from __future__ import annotations

import argparse
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from distal._version import __version__
from distal.base.checks import InputError, counted
from distal.base.files import GIF, MP4, PAGE, check_target, write_text
from distal.base.progress import LINES
from distal.cli import Parser, add_options, options, whole
from distal.cli.terminal import console, new_table, print_json, visible

if TYPE_CHECKING:
    from distal.show.scenes import Scene
    from distal.show.watched import Watched

_PHASES = 12  # phases that are shown: the first, and the last


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = (
        "Write a page that replays a trial of learning, step by step: one HTML file that needs no "
        "network. The trial is the first one that distal learn runs towards the goal with this seed."
    )
    add_options(command, {
        "--against LEARNER": "show a second learner in the same trial; named as RULE",
        "--goal GOAL": "the goal of the trial: a final position, or the name of a task's goal (3 if there "
        "is one, otherwise the first)",
        "--out FILE": "file of the page (watch.html; none with --gif or --mp4)",
        "--open": "show the page in the browser",
        "--gif FILE": "write a film of the best agents so far",
        "--mp4 FILE": "write the film as MP4; needs the extra video",
    })  # fmt: skip
    command.add_argument(
        "--after",
        type=_counts,
        metavar="N,N,…",
        help="the film shows the best agent found within each number of episodes (100,1000,10000)",
    )
    add_options(command, {"--episodes N": "episodes of the page (1000)"})
    options.add_seed(command)
    options.add_resample(command)
    options.add_switch(command)
    options.add_task(command)
    options.add_settings(command, environments=True)
    options.add_learner(command)


def _counts(text: str) -> tuple[int, ...]:
    """Read numbers of episodes with commas between them."""
    from distal.show.scenes import MAX_LEARNED, MAX_SCENES  # noqa: PLC0415 - imports Pillow

    found = tuple(whole(part) for part in text.split(","))
    within = all(1 <= count <= MAX_LEARNED for count in found)
    if len(found) > MAX_SCENES or not within or sorted(set(found)) != list(found):
        raise argparse.ArgumentTypeError(
            f"{text!r} should be 1 to {MAX_SCENES} ascending numbers of episodes from 1 to {MAX_LEARNED}"
        )
    return found


def run(args: argparse.Namespace) -> None:
    """Write a page that replays a trial, or a film of it."""
    from distal.show import film, watch  # noqa: PLC0415 - imports Pillow, which no other command should wait for
    from distal.show.scenes import AFTER, check_picture, scenes  # noqa: PLC0415 - the same

    films = {kind: path for kind, path in (("gif", args.gif), ("mp4", args.mp4)) if path is not None}
    page = args.out if args.out is not None else "watch.html" if args.open or not films else None
    _check_watch(args, films, page)
    if "mp4" in films:
        film.check_mp4()
    learners = options.learners(args, args.rule, args.against)
    task = options.task(args)
    episodes = 1_000 if args.episodes is None else args.episodes
    trials = watch.trials(
        *learners, goal=args.goal, episodes=episodes, resample=args.resample,
        switch=options.switch(args, task), seed=args.seed, task=task, **options.settings(args),
    )  # fmt: skip
    if films:
        check_picture(trials[0])
    if page is not None:
        watch.check_page(trials)

    written: dict[str, Any] = {}
    if films:
        shown = scenes(trials[0], args.after or AFTER)
        frames = film.film(shown)
        for kind, path in films.items():
            (film.write_gif if kind == "gif" else film.write_mp4)(path, frames)
        written = {**films, "scenes": [{"after": scene.after, "ep": scene.walk.ep} for scene in shown]}
        if not args.json:
            _show_film(shown, list(films.values()))
    if page is not None:
        watched = watch.run(trials, args.seed, LINES)
        write_text(page, watched.to_html())
        size = Path(page).stat().st_size
        written = {"page": page, "bytes": size, **written, **watched.to_dict()}
        if not args.json:
            _show_watched(watched, page, size)
    if args.json:
        print_json({"version": __version__, **written})
    if page is not None and args.open:
        webbrowser.open(Path(page).resolve().as_uri())


def _check_watch(args: argparse.Namespace, films: dict[str, str], page: str | None) -> None:
    """Refuse files that cannot be written, and options that would mean nothing."""
    files = [*films.values(), *([page] if page is not None else [])]
    for kind, file in films.items():
        check_target(file, GIF if kind == "gif" else MP4)
    if page is not None:
        check_target(page, PAGE)
    if len({Path(file).resolve() for file in files}) < len(files):
        raise InputError(f"{files[0]!r} is named twice; give every file its own name")
    if films and args.against is not None:
        raise InputError("a film shows one learner; leave out --against, or --gif and --mp4")
    if args.after is not None and not films:
        raise InputError("--after is for a film; add --gif FILE or --mp4 FILE")
    if args.episodes is not None and page is None:
        raise InputError("--episodes is for the page; a film takes --after, or name a page with --out")


def _show_watched(watched: Watched, page: str, size: int) -> None:
    """Print a summary of a page, and where it is."""
    out = console()
    episodes, switch = watched.eps.shape[1], watched.batches[0].switch
    what = visible(watched.task.lesson(watched.goal).removeprefix("to reach "))
    moves = "" if switch is None else f", the goal moves every {switch.every:,}"
    out.print(f"{what}: {counted(episodes, 'episode')}{moves}, seed {watched.seed}")
    out.print(_bests(watched) if switch is None else _bests_of_phases(watched))
    out.print(f"page: {page} ({size / 1000:,.0f} kB)", soft_wrap=True)


def _bests(watched: Watched) -> Table:
    """Return a table of the EPs of each learner, and of chance."""
    table = new_table("learner", "first EP", "best EP", "in episode", "last EP")
    summary = watched.to_dict()
    for entry in summary["learners"]:
        numbers = (entry[key] for key in ("first_ep", "best_ep", "best_episode", "last_ep"))
        table.add_row(entry["name"], *(f"{value:,}" for value in numbers))
    chance = summary["chance"]
    table.add_row(f"chance, mean of {chance['trials']} trials", "", f"{chance['mean_best_ep']:.1f}")
    return table


def _bests_of_phases(watched: Watched) -> Table:
    """Return a table of the best EP of each learner in each phase, and of chance."""
    trials = watched.to_dict()["chance"]["trials"]
    table = new_table("best EP in phase", "goal", *watched.names, f"chance, mean of {trials} trials")
    phases = list(enumerate(watched.phases, start=1))
    for number, phase in phases if len(phases) <= _PHASES else [*phases[: _PHASES - 1], phases[-1]]:
        best = (f"{ep:,}" for ep in phase["best_ep"])
        table.add_row(f"{number:,}", visible(phase["goal"]), *best, f"{phase['chance']:.1f}")
    return table


def _show_film(scenes: Sequence[Scene], files: Sequence[str]) -> None:
    """Print the scenes of a film, and where it is."""
    out = console()
    table = new_table("after episodes", "best EP", "goal")
    for scene in scenes:
        reached = {True: "reached", False: "not reached", None: "–"}[scene.walk.reached]
        table.add_row(f"{scene.after:,}", str(scene.walk.ep), reached)
    out.print(table)
    for file in files:
        out.print(f"film: {file} ({Path(file).stat().st_size / 1000:,.0f} kB)", soft_wrap=True)
