"""The progress of an evolution: its generations, and the episodes of each, as a terminal shows them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from distal.base import progress as terminal
from distal.base.checks import counted
from distal.base.progress import Display
from distal.engines import Runner, pace
from distal.search.config import Config
from distal.search.fitness import example
from distal.search.recorder import Step
from distal.search.search import Search

LABEL = "evolving"
_LATELY = 5  # generations whose pace is that of the rest
_LONG_FIRST = 300.0  # seconds of a first generation beside which compiling is short
Heard = Callable[[Step], None] | None


def episodes_of(config: Config, since: int = -1) -> int:
    """Return the episodes of an evolution from a generation on, with those that measure its winners again."""
    before = config.spent(since) - _chosen(config) if since >= 0 else 0
    fresh = 2 * config.fresh_trials * len(config.task.goals) * config.episodes  # chance has as many
    return config.runs * (config.spent(config.generations) - before + fresh)


def _chosen(config: Config) -> int:
    """Return the episodes in which a run's finalists are measured."""
    return config.finalists * config.fresh_trials * len(config.task.goals) * config.episodes


def words(config: Config) -> str:
    """Say how much an evolution is."""
    return f"{counted(config.runs, 'run')} of {counted(config.generations, 'generation')}"


def seconds_of(config: Config, runner: Runner, since: int = -1) -> float:
    """Return about how long an evolution takes from a generation on."""
    batch = example(config)
    return pace.expected(batch, episodes_of(config, since), runner.suited(batch))


class Left:
    """Says how long the rest of an evolution takes, at the pace of its last few generations.

    The first generation that it hears of began with compiling and with starting processes. It counts only
    where nothing else is known and it was so long that these do not matter.

    Args:
        config: The configuration.
    """

    def __init__(self, config: Config) -> None:
        self.config, self._heard = config, False
        self._lately: deque[Step] = deque(maxlen=_LATELY)

    def after(self, step: Step) -> float | None:
        """Return the seconds left after a generation, with those that measure winners; None if unknown."""
        config = self.config
        if config.generations != step.generations:  # `resume` may ask for more
            config = replace(config, generations=step.generations)
        first, self._heard = not self._heard, True
        if not first:
            self._lately.append(step)
        known = self._lately or ([step] if step.seconds >= _LONG_FIRST else [])
        episodes = sum(_episodes_in(config, one.generation) for one in known)
        if not episodes:
            return None
        return episodes_of(config, step.generation) * sum(one.seconds for one in known) / episodes


def _episodes_in(config: Config, generation: int) -> int:
    """Return the episodes of a generation, of all runs."""
    before = config.spent(generation - 1) if generation else _chosen(config)
    return config.runs * (config.spent(generation) - before)


@contextmanager
def followed(
    progress: Any, config: Config, searches: Sequence[Search], runner: Runner
) -> Iterator[tuple[Runner, Heard]]:
    """Yield the runner that tells of its work, and what hears of the generations.

    Args:
        progress: The caller's function; False for nothing; None for what a terminal shows, if there
            is one.
        config: The configuration.
        searches: The runs, before the first generation that is missing.
        runner: Runs the trials.

    Yields:
        The runner to use, and what to tell of every generation, or None.
    """
    given = terminal.checked(progress)
    if given is not None or not terminal.on_terminal():
        yield runner, given or None
        return
    since = searches[0].generation
    with Display(
        LABEL, episodes_of(config, since), seconds=seconds_of(config, runner, since), about=words(config),
        note=lambda: terminal.on_workers(runner.executor),
    ) as display:  # fmt: skip

        def begin(generation: int) -> None:
            if generation > config.generations:
                display.begin_part("winners", (display.count.total or 0) - display.count.done)
                return
            display.begin_part(
                f"generation {generation:,} of {config.generations:,}", _episodes_in(config, generation)
            )

        def heard(step: Step) -> None:
            display.detail = f"best {min(step.best):z.2f}  mean {step.mean:z.2f}"
            begin(step.generation + 1)

        begin(since + 1)
        yield runner.telling(display), heard
