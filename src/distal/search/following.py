"""The progress of an evolution: its generations, and the episodes of each, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from distal.base import progress as terminal
from distal.base.progress import Shown, on_workers
from distal.engines import Runner, pace
from distal.search.config import Config
from distal.search.fitness import example
from distal.search.recorder import Step
from distal.search.search import Search

Heard = Callable[[Step], None] | None


def _episodes_since(config: Config, since: int) -> int:
    """Return the episodes of an evolution after a generation, its winners' fresh trials included."""
    before = config.spent(since) - _chosen(config) if since >= 0 else 0
    fresh = 2 * config.fresh_trials * len(config.task.goals) * config.episodes  # chance has as many
    return config.runs * (config.spent(config.generations) - before + fresh)


def _chosen(config: Config) -> int:
    """Return the episodes in which a run's finalists are measured."""
    return config.finalists * config.fresh_trials * len(config.task.goals) * config.episodes


def _episodes_in(config: Config, generation: int) -> int:
    """Return the episodes of a generation, of all runs."""
    before = config.spent(generation - 1) if generation else _chosen(config)
    return config.runs * (config.spent(generation) - before)


@contextmanager
def followed(
    progress: Any, config: Config, searches: Sequence[Search], runner: Runner
) -> Iterator[tuple[Runner, Heard]]:
    """Yield the runner that reports its work, and the listener for the generations.

    Args:
        progress: As in `evolve`, or `LINES`, from a command.
        config: The configuration.
        searches: The runs, before the first generation that is missing.
        runner: Runs the trials.

    Yields:
        The runner to use, and the function to call after every generation, or None.
    """
    since = searches[0].generation
    batch, episodes = example(config), _episodes_since(config, since)
    fresh = config.fresh_trials * len(config.task.goals)
    with terminal.followed(
        progress, "evolving", episodes, lambda: pace.expected(batch, episodes, runner.suited(batch)),
        about=f"{config.size}, winners on {fresh:,} fresh trials", note=lambda: on_workers(runner.executor),
    ) as shown:  # fmt: skip
        if not isinstance(shown, Shown):
            yield runner, shown
            return

        def begin(generation: int) -> None:
            if generation > config.generations:
                shown.begin_part("winners", (shown.count.total or 0) - shown.count.done)
                return
            label = f"generation {generation:,} of {config.generations:,}"
            shown.begin_part(label, _episodes_in(config, generation))

        def heard(step: Step) -> None:
            shown.detail = f"best {min(step.best):z.2f}  mean {step.mean:z.2f}"
            begin(step.generation + 1)

        begin(since + 1)
        yield runner.telling(shown), heard
