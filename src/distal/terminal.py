"""What a person sees in a terminal: tables on stdout, progress on stderr."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeVar

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from distal.engines import Progress as Advance
from distal.evaluation import Result
from distal.experiments import PublishedRules, paper_results
from distal.maze import Maze
from distal.rule import Rule, published_fitness, published_rules
from distal.settings import READINGS

if TYPE_CHECKING:
    from distal.bench import Row

T = TypeVar("T")

NARROWEST = 120  # columns, where output is not a terminal and has no width of its own


def console() -> Console:
    """Return a console on stdout that never wraps a table when output goes to a file."""
    plain = _Console()
    return plain if plain.is_terminal else _Console(width=max(plain.width, NARROWEST))


class _Console(Console):
    """A console that prints text as it is: names of rules may hold brackets and colons."""

    def __init__(self, width: int | None = None) -> None:
        super().__init__(width=width, highlight=False, markup=False, emoji=False)

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
        console=Console(stderr=True),
        transient=True,
    )
    if not bar.console.is_terminal:
        yield None
        return
    task = bar.add_task(label, total=episodes)

    def advance(done: int) -> None:
        bar.start()  # not before the first episode: what is refused before it shows no bar
        bar.advance(task, done)

    try:
        yield advance
    finally:
        bar.stop()


def _table(*columns: str, title: str | None = None) -> Table:
    """Make an empty table: the first column to the left, the others to the right."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, pad_edge=False, title_style="bold")
    for position, column in enumerate(columns):
        table.add_column(column, justify="right" if position else "left", no_wrap=position > 0)
    return table


def show_maze(maze: Maze) -> None:
    """Print a maze, its final positions and their distances."""
    out = console()
    rows, columns = maze.shape
    out.print(str(maze), soft_wrap=True)
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
    """Print the published rules, one a line."""
    out = console()
    table = _table("rule", "eta", "theta", "alpha_h", "alpha_o", "changes − 0 +", "paper, 10,000 episodes")
    for number, rule in enumerate(published_rules(), start=1):
        changes = " ".join(f"{rule.delta_w.count(change):2}" for change in (-1, 0, 1))
        numbers = (f"{value:.4f}" for value in (rule.eta, rule.theta, rule.alpha_h, rule.alpha_o))
        table.add_row(rule.name, *numbers, changes, f"{published_fitness(number):.2f}")
    out.print(table)
    out.print("Show one with its 32 rows:  distal rules paper:1")


def show_rule(rule: Rule) -> None:
    """Print one rule as its 32-row table."""
    console().print(str(rule), soft_wrap=True)


def show_result(result: Result) -> None:
    """Print an evaluation: its numbers, its curve, and each final position."""
    out = console()
    maze, n = result.maze, len(result.best)
    if isinstance(result.learner, Rule):
        name = result.learner.name or "rule"
    else:
        numbers = result.learner.to_dict().items()
        name = "hill climbing, " + ", ".join(f"{key} {value:g}" for key, value in numbers)
    resampled = f", resampled every {result.resample:,}" if result.resample else ""
    out.print(name, style="bold", soft_wrap=True)
    out.print(
        f"{n} trials ({result.trials} for each of {len(maze.finals)} final positions), "
        f"{result.episodes:,} episodes{resampled}, seed {result.seed}, engine {result.engine}"
    )
    settings = result.settings
    readings = ", ".join(f"{name} {getattr(settings, name)}" for name in READINGS)
    out.print(f"{settings.hidden} hidden neurons, {settings.steps} steps; {readings}", style="dim")
    out.print()
    error = result.standard_error
    spread = f" ± {error:.2f}" if error is not None else ""
    reached = round(result.reached * n)
    out.print(f"fitness        {result.fitness:.2f}{spread}   mean best EP ± standard error")
    out.print(f"reached        {result.reached:.1%}   {reached} of {n} trials with EP below N_steps")
    out.print(f"perfect agent  {perfect_agent(maze):.2f}")
    curve = _table("episode", *(f"{mark:,}" for mark in result.checkpoints))
    curve.add_row("mean best EP", *(f"{value:.2f}" for value in result.checkpoints.values()))
    out.print(curve)
    by_final = result.final.reshape(result.trials, len(maze.finals))
    finals = _table("final position", "distance", "mean best EP", "reached")
    for g, symbol in enumerate(maze.symbols):
        share = (by_final[:, g] < result.settings.steps).mean()
        finals.add_row(symbol, str(maze.start_distances[g]), f"{by_final[:, g].mean():.2f}", f"{share:.0%}")
    out.print(finals)


def show_published(outcome: PublishedRules) -> None:
    """Print the published rules and hill climbing with the paper's numbers beside them."""
    out = console()
    paper = paper_results()
    first = outcome.rules[0]
    at = f"{first.episodes:,} episodes"
    table = _table(
        "learner", "fitness ± s.e.", "reached", "paper, 10,000 episodes", title=f"Published rules, {at}"
    )
    for number, result in enumerate(outcome.rules, start=1):
        table.add_row(*_fitness_cells(f"paper:{number}", result), f"{published_fitness(number):.2f}")
    out.print(table)

    mean = sum(result.fitness for result in outcome.rules) / len(outcome.rules)
    best = min(outcome.rules, key=lambda result: result.fitness)
    climb = outcome.best_climb
    evolution, best_100 = paper["evolution_100_episodes"], paper["best_100_episodes"]
    summary = _table("", f"ours, {at}", "paper, 100 episodes", title="Beside the paper")
    summary.add_row(
        "mean fitness of the 15 rules", f"{mean:.2f}", _spread(evolution["dsp"]["final_best"]) + " (a)"
    )
    summary.add_row("reached, best rule", f"{best.reached:.0%}", f"{best_100['dsp_reached']:.0%}")
    summary.add_row(
        "hill climbing, best of 14 random",
        f"{climb.fitness:.2f}",
        _spread(evolution["hc"]["initial_best"]) + " (b)",
    )
    summary.add_row("reached, that climber", f"{climb.reached:.0%}", f"{best_100['hc_reached']:.0%} (c)")
    out.print(summary)
    parameters = ", ".join(f"{key} {value:.3f}" for key, value in vars(climb.learner).items())
    out.print(f"that climber: {parameters}", style="dim")
    out.print("(a) as selected during evolution, hence optimistic; ours are measured afresh", style="dim")
    out.print(
        "(b) best of generation 0, mean ± s.d. of 15 runs; selected in both, hence optimistic", style="dim"
    )
    out.print("(c) with evolved parameters, which the paper does not print", style="dim")


def watched(rows: Iterable[T], label: str) -> Iterator[T]:
    """Pass rows on as they come, with a spinner on stderr while one is being made, if it is a terminal."""
    err = Console(stderr=True)
    if not err.is_terminal:
        yield from rows
        return
    with err.status(f"{label} ...") as status:
        for count, row in enumerate(rows, start=1):
            status.update(f"{label} ... {count} done")
            yield row


def show_bench(rows: list[Row], machine: dict[str, Any]) -> None:
    """Print the rows of a benchmark and the machine they were measured on."""
    out = console()
    memory = f"{machine['memory_gib']} GiB"
    versions = ", ".join(
        f"{name} {machine[name]}" for name in ("python", "numpy", "numba", "jax") if machine[name]
    )
    out.print(
        f"{machine['processor']}, {machine['cores']} cores, {memory}, {machine['system']}; {versions}",
        soft_wrap=True,
    )
    table = _table("what", "measured", "target", "met")
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
    out = Console(stderr=True, highlight=False, width=NARROWEST) if to_stderr else console()
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


def _fitness_cells(name: str, result: Result) -> tuple[str, str, str]:
    error = result.standard_error
    spread = f" ± {error:.2f}" if error is not None else ""
    return name, f"{result.fitness:.2f}{spread}", f"{result.reached:.0%}"


def _spread(mean_and_deviation: list[float]) -> str:
    return "{:.2f} ± {:.2f}".format(*mean_and_deviation)
