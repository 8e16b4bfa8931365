"""The outline of a study: the stages that people see, and their progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Executor
from contextlib import contextmanager
from typing import Any

from distal.base import progress as terminal
from distal.base.checks import counted
from distal.base.progress import LINES, Count, on_workers
from distal.studies.stages import Event, Stage

Heard = Callable[[Event], None] | None
_PARTS = 1_000  # of a second, in which work is counted


def outline(plan: Iterable[Stage]) -> dict[Stage, list[Stage]]:
    """Return the stages that people see, each with the stages of its group."""
    groups: dict[str, list[Stage]] = {}
    for stage in plan:
        groups.setdefault(stage.group or stage.name, []).append(stage)
    return {
        Stage(name, stages[0].heading or name, sum(one.episodes for one in stages), stages[0].learner)
        if stages[0].group
        else stages[0]: stages
        for name, stages in groups.items()
    }


def grouped(plan: Iterable[Stage], progress: Callable[[Event], None]) -> Callable[[Event], None]:
    """Return a listener for all stages that passes the ones that people see on to another listener.

    Args:
        plan: All stages.
        progress: Called with an event of a stage that people see.
    """
    whole = {one.name: (shown, stages) for shown, stages in outline(plan).items() for one in stages}
    done: dict[str, float] = {}

    def hear(event: Event) -> None:
        shown, stages = whole[event.stage.name]
        if shown is event.stage:
            progress(event)
            return
        done[event.stage.name] = event.done
        share = sum(done.get(stage.name, 0.0) * stage.episodes for stage in stages) / shown.episodes
        ended = all(done.get(stage.name) == 1 for stage in stages)
        detail = "" if ended else f"{event.stage.title} {event.detail}".rstrip()
        progress(Event(shown, 1 if ended else min(share, 0.999), detail))

    return hear


class Effort:
    """The work of stages, counted in estimated seconds: an episode of one costs more than of another.

    Args:
        seconds: About how long each stage takes, by its name.
    """

    def __init__(self, seconds: Mapping[str, float]) -> None:
        self.parts = {name: max(1, round(one * _PARTS)) for name, one in seconds.items()}
        self.count = Count(sum(self.parts.values()), sum(seconds.values()))
        self.done: dict[str, float] = {}

    def hear(self, event: Event) -> float:
        """Count the progress of a stage since its last event; return it as a share of the stage."""
        name, before = event.stage.name, self.done.get(event.stage.name)
        self.done[name] = max(event.done, before or 0.0)
        if before is None and event.done == 1:  # its results were stored, and it takes no time
            self.count.total = (self.count.total or 0) - self.parts[name]
            self.count.seconds = self.count.total / _PARTS
            return 1.0
        more = self.done[name] - (before or 0.0)
        self.count.add(round(more * self.parts[name]))
        return more


@contextmanager
def followed(
    progress: Any,
    name: str,
    plan: Iterable[Stage],
    seconds: Callable[[], Mapping[str, float]],
    executor: Executor | None = None,
) -> Iterator[Heard]:
    """Yield the listener of all stages of a plan, or None.

    `progress` is the caller's function; `LINES`, from a command; False for nothing; None for a display on the
    terminal, if there is one. `seconds` estimates how long each stage takes that people see, by its name.
    """
    given = terminal.checked(progress)
    if given is not LINES and (given is not None or not terminal.on_terminal()):
        yield grouped(plan, given) if given else None
        return
    stages, work = list(outline(plan)), Effort(seconds())
    episodes = sum(stage.episodes for stage in stages)
    with terminal.followed(
        given, name, episodes, lambda: work.count.seconds, about=counted(len(stages), "stage"),
        left=work.count.left, note=lambda: on_workers(executor),
    ) as shown:  # fmt: skip

        def hear(event: Event) -> None:
            stage = event.stage
            if stage.name not in work.done:
                shown.begin_part(stage.label, stage.episodes)
            shown.detail = event.detail
            shown.add(round(work.hear(event) * stage.episodes), 0)

        yield grouped(plan, hear)
