"""The progress of an evolution: its generations, and the episodes of each, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
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
    return pace.expected(example(config), episodes_of(config, since), runner)


def seconds_left(config: Config, step: Step) -> float:
    """Return about how long the rest takes at the pace of a generation, with its winners measured again."""
    until = config.spent(step.generation)
    before = config.spent(step.generation - 1) if step.generation else _chosen(config)
    return episodes_of(config, step.generation) * step.seconds / (config.runs * (until - before))


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
            until = config.spent(generation)
            before = config.spent(generation - 1) if generation else _chosen(config)
            display.begin_part(
                f"generation {generation} of {config.generations}", config.runs * (until - before)
            )

        def heard(step: Step) -> None:
            display.detail = f"best {min(step.best):.2f}  mean {step.mean:.2f}"
            begin(step.generation + 1)

        begin(since + 1)
        yield runner.telling(display), heard
