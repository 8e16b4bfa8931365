"""The progress of an evaluation: what a caller hears of it, or a terminal shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from distal.base import progress as terminal
from distal.base.progress import Display, Lines
from distal.engines import Batch, Progress, Runner, pace


@contextmanager
def followed(
    progress: Any, label: str, episodes: int, batch: Batch, runner: Runner
) -> Iterator[Progress | None]:
    """Yield what hears of the episodes that are run.

    Args:
        progress: The caller's function; `Lines`, for a command; False for nothing; None for what a
            terminal shows, if there is one.
        label: What is done, as "learning".
        episodes: How many episodes there will be.
        batch: A batch of such trials, for the estimate.
        runner: Runs them.

    Yields:
        What to tell, or None.
    """
    given = terminal.checked(progress)
    if isinstance(given, Lines):
        given.begin(label, episodes, pace.expected(batch, episodes, runner))
    if given is not None or not terminal.on_terminal():
        yield given or None
        return
    with Display(label, episodes, seconds=pace.expected(batch, episodes, runner)) as display:
        yield display
