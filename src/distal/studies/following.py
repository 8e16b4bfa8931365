"""The progress of a study: its stages, as a terminal shows them where it is called from Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from distal.base import progress as terminal
from distal.base.checks import counted
from distal.base.progress import Count, Display
from distal.studies.stages import Event, Stage

Heard = Callable[[Event], None] | None
_PARTS = 1_000  # of a second, in which work is counted


class Work:
    """Counts the work of stages in seconds as they were estimated: an episode costs more in one than in another.

    Args:
        seconds: About how long each stage takes, by its name.
    """

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self.parts = {name: max(1, round(one * _PARTS)) for name, one in seconds.items()}
        self.count = Count(sum(self.parts.values()), sum(seconds.values()))
        self.done: dict[str, float] = {}

    def hear(self, event: Event) -> float:
        """Count what a stage has done since it was last heard of; return it as a share of the stage."""
        name, before = event.stage.name, self.done.get(event.stage.name)
        self.done[name] = max(event.done, before or 0.0)
        if before is None and event.done == 1:  # its results were kept, and it takes no time
            self.count.total = (self.count.total or 0) - self.parts[name]
            self.count.seconds = self.count.total / _PARTS
            return 1.0
        more = self.done[name] - (before or 0.0)
        self.count.add(round(more * self.parts[name]))
        return more


@contextmanager
def followed(
    progress: Any, name: str, stages: Sequence[Stage], seconds: Callable[[], Mapping[str, float]]
) -> Iterator[Heard]:
    """Yield what hears of the stages.

    Args:
        progress: The caller's function; False for nothing; None for what a terminal shows, if there
            is one.
        name: The word for the study.
        stages: The stages that people see.
        seconds: Returns about how long each stage takes, by its name; called if a terminal shows it.

    Yields:
        What to tell of the stages, or None.
    """
    given = terminal.checked(progress)
    if given is not None or not terminal.on_terminal():
        yield given or None
        return
    work, episodes = Work(seconds()), sum(stage.episodes for stage in stages)
    with Display(
        name, episodes, seconds=work.count.seconds, about=counted(len(stages), "stage"), left=work.count.left
    ) as display:

        def told(event: Event) -> None:
            stage = event.stage
            if stage.name not in work.done:
                display.begin_part(stage.label, stage.episodes)
            display.detail = event.detail
            display.add(round(work.hear(event) * stage.episodes), 0)

        yield told
