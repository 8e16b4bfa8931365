"""Long work: the cluster that does it, the plan, the progress, and how to continue after an interrupt."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path

from rich.progress import BarColumn, Progress, TaskID, TaskProgressColumn, TextColumn, TimeRemainingColumn

from distal.base.checks import counted
from distal.base.progress import MINUTE, Count, duration
from distal.cli.terminal import PlainConsole, new_table, tell
from distal.engines.spread import WorkError
from distal.studies.stages import Event, Stage

AGAIN = "run the same command again to continue"
_OFTEN = 0.1  # seconds between two drawings
_PARTS = 10_000  # of a stage, as they are counted


def on_workers(cluster: Executor | None) -> str:
    """Say how many workers a cluster has now, for the end of a line; nothing without a cluster."""
    return "" if cluster is None else f"  on {counted(getattr(cluster, 'workers', 0), 'worker')}"


@contextmanager
def resumable(hint: str, begun: Path | None = None) -> Iterator[None]:
    """Add to an interrupt, or the loss of a cluster, how to continue; if the file `begun` is there."""
    try:
        yield
    except (KeyboardInterrupt, WorkError) as error:
        if begun is not None and not begun.exists():
            raise
        said = [str(error)] if isinstance(error, WorkError) else []
        raise type(error)("; ".join([*said, hint])) from None


def show_plan(stages: list[Stage], seconds: dict[str, float], out: str) -> None:
    """Print what will be run and how long it may take, on stderr: the result is yet to come."""
    err = PlainConsole(stderr=True)
    table = new_table("plan", "episodes", "about", wrap=True)
    for stage in stages:
        table.add_row(stage.title, f"{stage.episodes:,}", _duration(seconds[stage.name]))
    table.add_row("together, if nothing is stored yet", "", _duration(sum(seconds.values())))
    err.print(table, soft_wrap=True)
    err.print(f"into {out}", soft_wrap=True)


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.1f} min"


@contextmanager
def stage_progress(cluster: Executor | None) -> Iterator[Callable[[Event], None]]:
    """Show stages as they are done: a bar each on a terminal, else a line as each begins and ends."""
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(bar_width=12),
        TaskProgressColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[detail]}"),
        console=PlainConsole(stderr=True),
        auto_refresh=False,  # no thread: processes are forked meanwhile
    )
    live, drawn = bar.console.is_terminal, 0.0
    tasks: dict[str, TaskID] = {}
    began: dict[str, float] = {}
    counts: dict[str, Count] = {}
    ended: set[str] = set()

    def told(event: Event) -> None:
        nonlocal drawn
        name = event.stage.name
        count = counts.setdefault(name, Count(_PARTS))
        count.add(round(event.done * _PARTS) - count.done)
        if live:
            bar.start()
            if name not in tasks:
                tasks[name] = bar.add_task(event.stage.label, total=1, detail="")
            bar.update(tasks[name], completed=event.done, detail=f"{event.detail}{on_workers(cluster)}")
            if time.monotonic() - drawn > _OFTEN or event.done == 1:
                drawn = time.monotonic()
                bar.refresh()
        elif name not in began:
            began[name] = drawn = time.monotonic()
            tell(f"{event.stage.title} ...")
        elif event.done == 1 and name not in ended:
            ended.add(name)
            tell(f"{event.stage.title}: {time.monotonic() - began[name]:.1f} s")
        elif event.done < 1 and time.monotonic() - drawn >= MINUTE:
            drawn = time.monotonic()
            left = counts[name].left()
            rest = "" if left is None else f"  about {duration(left)} left"
            tell(f"{event.stage.title}: {event.done:.0%}  {event.detail}{on_workers(cluster)}{rest}")

    try:
        yield told
    finally:
        if live:  # elsewhere, stopping a bar prints an empty line
            bar.stop()
