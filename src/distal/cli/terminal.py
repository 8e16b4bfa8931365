"""What a person sees in a terminal: tables on stdout, progress on stderr."""

from __future__ import annotations

import json
import re
import shlex
import sys
import textwrap
import time
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from distal.engines import Progress as Advance
from distal.evaluation.learning import KEPT, Behaviour, Difference, Result
from distal.learners import KINDS, kind_of, name_of
from distal.learners.rule import (
    Rule,
    evolved_beside_chance,
    evolved_fitness,
    evolved_rules,
    published_fitness,
    published_rules,
)
from distal.model.maze import Maze
from distal.model.settings import READINGS
from distal.paper.stages import Event, Stage
from distal.search.evolve import Step
from distal.search.results import Evolved, Fresh

if TYPE_CHECKING:
    from distal.bench import Row
    from distal.engines.cluster import Cluster
    from distal.paper.reading_study import ReadingStudy
    from distal.show.film import Scene
    from distal.show.watch import Watched

T = TypeVar("T")

NARROWEST = 120  # columns, where output is not a terminal and has no width of its own
NAME = 13  # columns of a learner's name at the head of a column; a longer one takes more lines
MARKS = 6  # checkpoints of a curve that 80 columns hold


def visible(text: str) -> str:
    """Return text with all that a terminal would obey instead of show written as `repr` writes it.

    Names come from files and folders: one may hold an escape sequence, a line break, or
    a character that turns the direction of writing round.
    """
    return re.sub("[^ -~]", lambda found: found[0] if _only_shown(found[0]) else ascii(found[0])[1:-1], text)


def visible_json(text: str) -> str:
    """Return JSON with the same values and nothing in it that a terminal would obey."""
    return re.sub(
        "[^\n -~]", lambda found: found[0] if _only_shown(found[0]) else json.dumps(found[0])[1:-1], text
    )


def _only_shown(letter: str) -> bool:
    return letter.isprintable() or unicodedata.category(letter) == "Zs"


def tell(text: str) -> None:
    """Write a line to stderr."""
    sys.stderr.write(f"{visible(text)}\n")


def console() -> Console:
    """Return a console on stdout that never wraps a table when output goes to a file."""
    plain = _Console()
    return plain if plain.is_terminal else _Console(width=max(plain.width, NARROWEST))


class _Console(Console):
    """A console that shows every string as it is: names of rules may hold brackets, colons, or worse.

    Line breaks of our own are in a `Text`, which is printed as rich prints it.
    """

    def __init__(self, width: int | None = None, stderr: bool = False) -> None:
        super().__init__(width=width, stderr=stderr, highlight=False, markup=False, emoji=False)

    def render_str(self, text: str, **options: Any) -> Text:
        """Render a string; rich calls this for all that it prints and measures."""
        return super().render_str(visible(text), **options)

    def on_broken_pipe(self) -> None:
        """Leave a reader that has gone to the command line."""
        raise BrokenPipeError


@contextmanager
def progress(label: str, episodes: int) -> Iterator[Advance | None]:
    """Show a bar over so many episodes, if stderr is a terminal."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("episodes"),
        TimeRemainingColumn(),
        console=_Console(stderr=True),
        transient=True,
    )
    live = bar.console.is_terminal
    if not live:
        yield None
        return
    task = bar.add_task(label, total=episodes)

    def advance(done: int) -> None:
        bar.start()  # not before the first episode: what is refused before it shows no bar
        bar.advance(task, done)

    try:
        yield advance
    finally:
        if live:  # elsewhere, stopping a bar prints an empty line
            bar.stop()


def _table(*columns: str | Text, wrap: bool = False) -> Table:
    """Make an empty table: the first column to the left, wrapped if it may be, the others to the right."""
    table = Table(box=SIMPLE_HEAD, pad_edge=False)
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=position > 0 or not wrap)
    return table


def show_maze(maze: Maze) -> None:
    """Print a maze, its final positions and their distances."""
    out = console()
    rows, columns = maze.shape
    out.print(*maze.picture, sep="\n", soft_wrap=True)
    out.print()
    out.print(
        f"{rows} × {columns} cells, start at row {maze.start[0]}, column {maze.start[1]}, "
        f"heading {maze.heading}"
    )
    table = _table("final position", "row", "column", "distance")
    for symbol, cell, distance in zip(maze.symbols, maze.finals, maze.start_distances, strict=True):
        table.add_row(symbol, str(cell[0]), str(cell[1]), str(distance))
    out.print(table)
    out.print(f"perfect agent (mean distance)  {perfect_agent(maze):.2f}")


def perfect_agent(maze: Maze) -> float:
    """Return the mean distance from the start to the final positions."""
    return sum(maze.start_distances) / len(maze.start_distances)


def show_rules() -> None:
    """Print the rules that ship with the package, one per line."""
    out = console()
    table = _table(
        "rule", "eta", "theta", "alpha_h", "alpha_o", "− 0 +", "at 100", "chance", "at 10,000", "chance"
    )
    for rules, fitness in ((published_rules(), published_fitness), (evolved_rules(), evolved_fitness)):
        for number, rule in enumerate(rules, start=1):
            changes = " ".join(f"{rule.delta_w.count(change):2}" for change in (-1, 0, 1))
            numbers = (f"{value:.4f}" for value in (rule.eta, rule.theta, rule.alpha_h, rule.alpha_o))
            ours = fitness is evolved_fitness
            at_100, chance, later = (
                [f"{value:.2f}" for value in evolved_beside_chance(number)] if ours else ["–"] * 3
            )
            table.add_row(rule.name, *numbers, changes, at_100, chance, f"{fitness(number):.2f}", later)
        table.add_section()
    out.print(table)
    out.print("− 0 +: how many of the 32 changes are −1, 0, 1. at 100, at 10,000: mean best EP after so many")
    out.print("episodes, as the paper reports it (paper) or as we measured it (evolved); lower is better.")
    out.print("chance: random weights in every episode, with the rule's alpha_h and alpha_o, as long.")
    out.print("Show one with its 32 rows:  distal rules evolved:1")


def show_rule(rule: Rule) -> None:
    """Print one rule as its 32-row table."""
    named = replace(rule, name=visible(rule.name))
    console().print(Text(str(named)), soft_wrap=True)


def show_result(result: Result) -> None:
    """Print an evaluation in 80 columns: numbers beside chance, curve, final positions, and the verdicts."""
    out = console()
    maze, n = result.maze, len(result.best)
    resampled = f", resampled every {result.resample:,}" if result.resample else ""
    out.print(_described(result), style="bold", soft_wrap=True)
    out.print(
        f"{n} trials ({result.trials} for each of {len(maze.finals)} final positions), "
        f"{result.episodes:,} episodes{resampled}, seed {result.seed}, engine {result.engine}"
    )
    settings = result.settings
    kind = kind_of(result.learner)
    readings = ", ".join(
        f"{name} {getattr(settings, name)}" for name in READINGS if name not in result.learner.ignores
    )
    out.print(f"{settings.hidden} hidden neurons, {settings.steps} steps; {readings}", style="dim")
    columns = [one for one in (result, result.chance) if one is not None]
    names = [Text("\n".join(textwrap.wrap(visible(name_of(one.learner)), NAME))) for one in columns]
    beside = ["difference"] * (len(columns) > 1)
    table = _table(Text("lower EP is better\n± standard error"), *names, *beside, wrap=True)
    difference = result.difference
    gap = [] if difference is None else [_spread(difference.mean, difference.standard_error, sign=True)]
    table.add_row(
        "fitness: mean best EP", *(_spread(one.fitness, one.standard_error) for one in columns), *gap
    )
    table.add_row("trials that reached the goal", *(f"{one.reached:.1%}" for one in columns))
    found = [behaviour for one in columns if (behaviour := one.behaviour) is not None]
    if found:
        _add_behaviour(table, found)
    table.add_row("perfect agent", f"{perfect_agent(maze):.2f}")
    out.print(table)
    marks = list(result.checkpoints)[-MARKS:]
    curve = _table("mean best EP after", *(f"{mark:,}" for mark in marks), wrap=True)
    for one in columns:
        curve.add_row(name_of(one.learner), *(f"{one.checkpoints[mark]:.2f}" for mark in marks))
    out.print(curve)
    _show_finals(out, columns)
    for line in _verdicts(kind, difference, found):
        out.print(line)


def _show_finals(out: Console, columns: list[Result]) -> None:
    """Print how well each final position was reached, by a learner and by chance if it is there."""
    result = columns[0]
    heads = [head for what in ("mean best EP", "reached") for head in (what, "chance")[: len(columns)]]
    table = _table("final position", "distance", *heads)
    for g, symbol in enumerate(result.maze.symbols):
        finals = [one.final.reshape(one.trials, -1)[:, g] for one in columns]
        best = (f"{final.mean():.2f}" for final in finals)
        reached = (f"{(final < result.settings.steps).mean():.0%}" for final in finals)
        table.add_row(symbol, str(result.maze.start_distances[g]), *best, *reached)
    out.print(table)


def _described(result: Result) -> str:
    """Name a learner; one without a name of its own with its numbers."""
    learner = result.learner
    if learner.name:
        return learner.name
    return ", ".join([learner.label, *(f"{key} {value:g}" for key, value in learner.numbers.items())])


def _spread(mean: float, error: float | None, sign: bool = False) -> str:
    return f"{mean:{'+' if sign else ''}.2f}" + (f" ± {error:.2f}" if error is not None else "")


def _add_behaviour(table: Table, found: list[Behaviour]) -> None:
    """Add what the episodes themselves show."""
    first = (one.median_first for one in found)
    kept = (one.retained for one in found)
    for what, cells in (
        ("their first success, median", ["–" if one is None else f"{one:g}" for one in first]),
        ("episodes that reached it", [f"{one.reached:.2%}" for one in found]),
        ("reached in the first tenth", [f"{one.reached_first_tenth:.2%}" for one in found]),
        ("reached in the last tenth", [f"{one.reached_last_tenth:.2%}" for one in found]),
        ("reached after first success", ["–" if one is None else f"{one:.2%}" for one in kept]),
        ("mean EP of the first tenth", [f"{one.first_tenth:.2f}" for one in found]),
        ("mean EP of the last tenth", [f"{one.last_tenth:.2f}" for one in found]),
    ):
        table.add_row(what, *cells)


def _verdicts(kind: str, difference: Difference | None, found: list[Behaviour]) -> Iterator[str]:
    """Say whether a learner beats chance, and whether it keeps what it found."""
    if difference is not None:
        word = "not shown"
        if difference.decided:
            word = "yes" if difference.mean < 0 else "no, it is worse"
        yield f"Beats chance: {word} (p = {difference.p:.2g}, paired t-test)."
    if found and kind != "chance":
        retained = found[0].retained
        if retained is None:
            word = "it never reached the goal" if not found[0].first_reached.any() else "too late to tell"
        else:
            again = f"{retained:.1%} of the episodes after the first success reach the goal again"
            word = f"{'yes' if found[0].keeps else 'no'}, {again} (yes from {KEPT:.0%})"
            if kind == "hc":
                word += "; the climb itself keeps its best weights, each episode tries a change to them"
        yield f"Keeps what it found: {word}."


def show_watched(watched: Watched, page: str, size: int) -> None:
    """Print what a page replays, and where it is."""
    out = console()
    episodes = watched.eps.shape[1]
    out.print(f"the way to {watched.goal}: {episodes:,} episodes, seed {watched.seed}")
    table = _table("learner", "first EP", "best EP", "in episode", "last EP")
    summary = watched.to_dict()
    for entry in summary["learners"]:
        numbers = (entry[key] for key in ("first_ep", "best_ep", "best_episode", "last_ep"))
        table.add_row(entry["name"], *(f"{value:,}" for value in numbers))
    chance = summary["chance"]
    table.add_row(f"chance, mean of {chance['trials']} trials", "", f"{chance['mean_best_ep']:.1f}")
    out.print(table)
    out.print(f"page: {page} ({size / 1000:,.0f} kB)", soft_wrap=True)


def show_film(scenes: Sequence[Scene], files: Sequence[str]) -> None:
    """Print what a film shows, and where it is."""
    out = console()
    table = _table("after episodes", "best EP", "goal")
    for scene in scenes:
        reached = "reached" if scene.walk.reached else "not reached"
        table.add_row(f"{scene.after:,}", str(scene.walk.ep), reached)
    out.print(table)
    for file in files:
        out.print(f"film: {file} ({Path(file).stat().st_size / 1000:,.0f} kB)", soft_wrap=True)


@contextmanager
def evolution_progress(crew: Callable[[], int] | None = None) -> Iterator[Callable[[Step], None]]:
    """Show every generation: a bar on a terminal, else a line now and then; `crew` counts workers."""
    bar = Progress(
        TextColumn("generation"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.description}"),
        TimeRemainingColumn(),
        console=_Console(stderr=True),
    )
    live = bar.console.is_terminal
    task = bar.add_task("", total=None)

    def told(step: Step) -> None:
        rate = step.evaluations / step.seconds
        text = f"best {min(step.best):.2f}  mean {step.mean:.2f}  {rate:.0f} evaluations/s{_on(crew)}"
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


@contextmanager
def stage_progress(crew: Callable[[], int] | None = None) -> Iterator[Callable[[Event], None]]:
    """Show the stages of a reproduction: a bar each on a terminal, else a line as each begins and ends.

    `crew` counts workers.
    """
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
        console=_Console(stderr=True),
    )
    live = bar.console.is_terminal
    tasks: dict[str, TaskID] = {}
    began: dict[str, float] = {}
    ended: set[str] = set()

    def told(event: Event) -> None:
        name = event.stage.name
        if live:
            bar.start()
            if name not in tasks:
                tasks[name] = bar.add_task(event.stage.label, total=1, detail="")
            bar.update(tasks[name], completed=event.done, detail=f"{event.detail}{_on(crew)}")
        elif name not in began:
            began[name] = time.monotonic()
            tell(f"{event.stage.title} ...")
        elif event.done == 1 and name not in ended:
            ended.add(name)
            tell(f"{event.stage.title}: {time.monotonic() - began[name]:.1f} s")

    try:
        yield told
    finally:
        if live:  # elsewhere, stopping a bar prints an empty line
            bar.stop()


def _on(crew: Callable[[], int] | None) -> str:
    """Say how many workers are at work, where that may change."""
    if crew is None:
        return ""
    return f"  on {_count(crew(), 'worker')}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def show_cluster(cluster: Cluster) -> None:
    """Print which cluster does the work, on stderr."""
    dashboard = "" if cluster.dashboard is None else f", dashboard {cluster.dashboard}"
    tell(f"cluster {cluster.address}: {_count(cluster.workers, 'worker')}{dashboard}")


def show_plan(stages: list[Stage], seconds: dict[str, float], out: str) -> None:
    """Print what will be run and how long it may take, on stderr: the result is yet to come."""
    err = _Console(stderr=True)
    table = _table("plan", "episodes", "about", wrap=True)
    for stage in stages:
        table.add_row(stage.title, f"{stage.episodes:,}", _duration(seconds[stage.name]))
    table.add_row("together, if nothing is stored yet", "", _duration(sum(seconds.values())))
    err.print(table, soft_wrap=True)
    err.print(f"into {out}", soft_wrap=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


def show_comparison(rows: list[tuple[str, ...]], agreement: str, page: str) -> None:
    """Print the paper's numbers beside ours, in 80 columns, and where the report is."""
    out = console()

    def show(what: str, *cells: str) -> None:
        first, *rest = textwrap.wrap(what, 36, subsequent_indent="  ", break_on_hyphens=False)
        out.print(
            f"{first:37}" + "".join(f"{cell:>{w}}" for cell, w in zip(cells, (11, 9, 11, 12), strict=True))
        )
        for line in rest:
            out.print(line)

    section = ""
    show("the paper's numbers and ours", "paper", "ours", "difference", "verdict")
    for here, *cells in rows:
        if here != section:
            section = here
            out.print()
            out.print(here, style="bold")
        show(*cells)
    out.print()
    out.print("–: the paper reports no such number. Rows without a verdict are not counted.")
    out.print(f"report: {page}", soft_wrap=True)
    out.print(agreement, soft_wrap=True)


def show_readings(study: ReadingStudy, page: str) -> None:
    """Print what every reading does, in 100 columns, and where the report is."""
    from distal.paper import reading_report  # noqa: PLC0415 - imports matplotlib

    out = console()
    for title, columns, rows in reading_report.tables(study):
        out.print(title, style="bold")
        table = _table("", *columns)
        for cells in rows:
            table.add_row(*cells, style="bold" if cells[0] == "base" else None)
        out.print(table)
    for line in (*reading_report.LEGEND, f"In brackets: {reading_report.REUSED}."):
        out.print(*textwrap.wrap(line, 98), sep="\n", style="dim")
    out.print()
    for line in reading_report.findings(study):
        out.print(*textwrap.wrap(line, 98), sep="\n")
    note = reading_report.scale_note(study)
    if note:
        out.print(*textwrap.wrap(note, 98), sep="\n")
    out.print()
    out.print(f"report: {page}", soft_wrap=True)


SINCE = "since generation: when it first appeared"


def _winners(out: Console, best: str) -> tuple[Table, bool]:
    """Make an empty table of winners, and say whether the console is too narrow for all of it."""
    narrow = out.width < 104
    heads = ("run", "since generation", best, "re-measured", "chance", "beats it", "p", "P(better)")
    table = _table(*(Text(head.replace(" ", "\n")) if narrow else head for head in heads))
    table.collapse_padding = narrow
    return table, narrow


def _search(name: str, elites: str | None) -> str:
    """Say which search it was; the genetic algorithm by what it did with its elites."""
    return f"search {name}" if elites is None else f"elites {elites}"


def show_evolved(evolved: Evolved, out: str) -> None:
    """Print the winners of an evolution, beside chance."""
    to = console()
    config = evolved.config
    ours = {"dsp": "DSP rules", "hc": "hill climbing parameters"}
    name = ours.get(config.learner, f"{KINDS[config.learner].label} parameters")
    to.print(
        f"{name}: {_count(config.runs, 'run')} of {_count(config.generations, 'generation')}, "
        f"{_search(config.search.name, getattr(config.search, 'elites', None))}, seed {config.seed}"
    )
    table, narrow = _winners(to, "selected")
    for winner in evolved.winners:
        fresh = winner.fresh
        cells = ("", "", "", "")
        if fresh.chance is not None and fresh.p is not None and fresh.superiority is not None:
            beats = "yes" if fresh.beats_chance else "no"
            chance = _spread(fresh.chance, None if narrow else fresh.chance_standard_error)
            cells = (chance, beats, f"{fresh.p:.2g}", f"{fresh.superiority:.2f}")
        own = _spread(fresh.fitness, fresh.standard_error)
        table.add_row(str(winner.run), str(winner.generation), f"{winner.selected:.2f}", own, *cells)
    to.print(table)
    for line in (
        SINCE,
        "selected: the fitness that made it the winner, hence optimistic",
        "re-measured: on fresh trials; chance: random weights on the same trials; ± standard error",
        "p: paired t-test; P(better): share of trials that are better than chance's",
    ):
        to.print(line, style="dim")
    to.print(f"kept in {out}", soft_wrap=True)


def show_runs(summaries: list[dict[str, Any]]) -> None:
    """Print what folders of runs hold."""
    out = console()
    for entry in summaries:
        done = entry["done"] if entry["done"] is not None else "none"
        go_on = f"to go on: distal evolve --resume {shlex.quote(entry['folder'])}"
        state = "finished" if entry["finished"] else go_on
        out.print(
            f"{entry['folder']}: learner {entry['learner']}, {_search(entry['search'], entry['elites'])}, "
            f"seed {entry['seed']}, generation {done} of {entry['generations']}, {state}",
            soft_wrap=True,
        )
        best = "selected" if entry["finished"] else "best fitness"
        table, _ = _winners(out, best)
        for run in entry["runs"]:
            fresh, chance = "", ("", "", "", "")
            if run["remeasured"] is not None:
                fresh = _spread(run["remeasured"], run["standard_error"])
            if run["chance"] is not None:
                own = Fresh(run["remeasured"], run["standard_error"], run["chance"], p=run["p"])
                beats = "yes" if own.beats_chance else "no"
                chance = (f"{run['chance']:.2f}", beats, f"{run['p']:.2g}", f"{run['superiority']:.2f}")
            found = str(run["found_in_generation"])
            table.add_row(str(run["run"]), found, f"{run['best']:.2f}", fresh, *chance)
        out.print(table)
    out.print(SINCE, style="dim")


def watched(rows: Iterable[T], label: str) -> Iterator[T]:
    """Pass rows on as they come, with a spinner on stderr while one is being made, if it is a terminal."""
    err = _Console(stderr=True)
    if not err.is_terminal:
        yield from rows
        return
    with err.status(f"{label} ...") as status:
        for count, row in enumerate(rows, start=1):
            status.update(f"{label} ... {count} done")
            yield row


def show_bench(rows: list[Row], machine: dict[str, Any], card: dict[str, Any] | None = None) -> None:
    """Print the rows of a benchmark and the machine they were measured on."""
    out = console()
    if card is not None:
        out.print(
            f"{card['card']}, {card['multiprocessors']} multiprocessors, {card['memory_gib']} GiB; "
            f"CUDA {card['driver_cuda']}, NVRTC {card['nvrtc']}, CuPy {card['cupy']}",
            soft_wrap=True,
        )
    memory = f"{machine['memory_gib']} GiB"
    versions = ", ".join(
        f"{name} {machine[name]}" for name in ("python", "numpy", "numba", "jax") if machine[name]
    )
    out.print(
        f"{machine['processor']}, {machine['cores']} cores, {memory}, {machine['system']}; {versions}",
        soft_wrap=True,
    )
    table = _table("what", "measured", "target", "met", wrap=True)
    for row in rows:
        target = f"{'≥' if row.at_least else '≤'} {row.target:,.4g}" if row.target is not None else ""
        met = {True: "yes", False: "no", None: ""}[row.met]
        value = f"{row.value:,.4g} {row.unit}" if row.value is not None else "not measured"
        table.add_row(row.what, value, target, met)
    out.print(table)
    for row in rows:
        if row.note:
            out.print(f"{row.name}: {row.note}", style="dim")


def show_change(
    compared: list[tuple[Row, float | None, str]], earlier: dict[str, Any], to_stderr: bool
) -> None:
    """Print what has changed since an earlier benchmark."""
    out = _Console(stderr=True, width=NARROWEST) if to_stderr else console()
    then = earlier["machine"]
    out.print(
        f"Against {earlier['distal']} of {earlier['date']}: {then['processor']}, {then['cores']} cores",
        soft_wrap=True,
    )
    table = _table("measurement", "then", "now", "change")
    for row, value, verdict in compared:
        cells = (f"{number:,.4g} {row.unit}" if number is not None else "–" for number in (value, row.value))
        table.add_row(row.name, *cells, verdict)
    out.print(table)
