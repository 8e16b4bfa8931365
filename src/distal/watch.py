"""A trial as a page: one HTML file in which every step of learning can be looked at.

The page holds what decides the trial and the EP of every episode as the reference
engine computed it. Its JavaScript (`page/simulate.js`) computes the trial again, bit
for bit, and says where an EP differs. So a page is small however long the trial is.
"""

from __future__ import annotations

import html
import json
import re
from dataclasses import asdict, dataclass
from importlib import resources
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal.checks import InputError
from distal.engines import Batch, Progress, naming, reference
from distal.evaluation import batch_of, checked_maze, checked_numbers
from distal.files import write_text
from distal.learners import Learner, find_learner, kind_of, name_of
from distal.maze import Maze
from distal.settings import Settings, SettingsDict

DEFAULT_GOAL = "3"
MAX_EPISODES = 100_000  # every EP of them is in the page


@dataclass(frozen=True, eq=False)
class Watched:
    """A trial of one learner, or of two with the same goal and seed.

    `eps` (learners, episodes) holds the EP of every episode. `seed` is the seed of the
    evaluation, as in `learn`; the trial is its trial 0 towards the goal.
    """

    names: tuple[str, ...]
    batches: tuple[Batch, ...]  # one trial each
    seed: int
    eps: NDArray[np.int32]

    @property
    def goal(self) -> str:
        """The symbol of the goal."""
        return self.batches[0].maze.symbols[self.batches[0].goal[0]]

    def to_dict(self) -> dict[str, Any]:
        """Return a summary of the trial, ready for JSON."""
        batch = self.batches[0]
        return {
            "goal": self.goal,
            "seed": self.seed,
            "trial_seed": int(batch.seed[0]),
            "episodes": batch.episodes,
            "resample": batch.resample,
            "learners": [
                {
                    "name": name,
                    "first_ep": int(eps[0]),
                    "best_ep": int(eps.min()),
                    "best_episode": int(eps.argmin()) + 1,
                    "last_ep": int(eps[-1]),
                    "mean_ep": float(eps.mean()),
                }
                for name, eps in zip(self.names, self.eps, strict=True)
            ],
            **asdict(batch.settings),
            "maze": list(batch.maze.picture),
            "heading": batch.maze.heading,
        }

    def page_data(self) -> dict[str, Any]:
        """Return what the page holds: all that decides the trial, and the EPs to compare with."""
        batch = self.batches[0]
        seed = int(batch.seed[0])
        return {
            "goal": self.goal,
            "evaluation_seed": str(self.seed),  # 64 bits are more than a JavaScript number holds
            "seed": [seed & 0xFFFFFFFF, seed >> 32],
            "resample": batch.resample,
            "settings": asdict(batch.settings),
            "maze": list(batch.maze.picture),
            "heading": batch.maze.heading,
            "learners": [
                {
                    "kind": kind_of(learner),
                    **learner.to_dict(),
                    "name": name,
                    "eps": eps.tolist(),
                }
                for name, learner, eps in zip(
                    self.names, (batch.learners[0] for batch in self.batches), self.eps, strict=True
                )
            ],
        }

    def to_html(self) -> str:
        """Return the page."""
        title = f"{' against '.join(self.names)}, learning the way to {self.goal}"
        return _filled(
            _asset("watch.html"),
            {
                "title": html.escape(title),
                "style": _asset("watch.css"),
                "data": _for_script(self.page_data()),
                "simulate": _asset("simulate.js"),
                "watch": _asset("watch.js"),
            },
        )


def trials(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    *,
    goal: str | int | None = None,
    episodes: int = 1_000,
    resample: int | None = None,
    seed: int = 0,
    maze: Maze | None = None,
    **settings: Unpack[SettingsDict],
) -> tuple[Batch, ...]:
    """Return the trial of a learner, and the same trial of another one, as batches of one trial each.

    A learner is an object or what `find_learner` takes; `goal` is the symbol of a final
    position ("3", or the first where there is no 3). The other arguments are those of
    `learn`, and the trial is the first one that `learn` runs towards this goal.
    """
    in_force = Settings.of(settings, ("goal", "episodes", "resample", "seed", "maze", "progress"))
    maze = checked_maze(maze)
    episodes, _, seed, resample = checked_numbers(episodes, 1, seed, resample, MAX_EPISODES)
    number = _goal(goal, maze)
    batches = []
    for one in (_learner(given) for given in (learner, against) if given is not None):
        all_goals = batch_of(
            [one], np.array([seed], np.uint64), trials=1, episodes=episodes, maze=maze, settings=in_force,
            resample=resample,
        )  # fmt: skip
        batches.append(all_goals.part(number, number + 1))
    return tuple(batches)


def watch(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    *,
    seed: int = 0,
    progress: Progress | None = None,
    **options: Any,
) -> Watched:
    """Run the trials that `trials` returns for these arguments, with the reference engine."""
    batches = trials(learner, against, seed=seed, **options)
    eps = np.empty((len(batches), batches[0].episodes), np.int32)
    for curve, batch in zip(eps, batches, strict=True):
        with naming(batch, 0):
            for k, episode in enumerate(reference.episodes(batch, 0)):
                curve[k] = episode.ep
                if progress is not None:
                    progress(1)
    names = [name_of(batch.learners[0], "unnamed rule") for batch in batches]
    if len(set(names)) < len(names):  # two climbers, or a rule beside itself
        names = [f"{name} ({k})" for k, name in enumerate(names, start=1)]
    return Watched(tuple(names), batches, seed, eps)


def page(
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    **options: Any,
) -> str:
    """Run a trial as `watch` does and return its page."""
    return watch(learner, against, **options).to_html()


def write_page(
    out: str | Path,
    learner: Learner | str | Path,
    against: Learner | str | Path | None = None,
    **options: Any,
) -> Watched:
    """Run a trial as `watch` does, write its page and return the trial."""
    watched = watch(learner, against, **options)
    write_text(out, watched.to_html())
    return watched


def _learner(given: object) -> Learner:
    if isinstance(given, Learner):
        return given
    if isinstance(given, str | Path):
        return find_learner(given)
    raise InputError(
        f"learner is {given!r}, expected a Rule, HillClimbing, Chance, paper:1, evolved:1, hc, chance "
        "or a file"
    )


def _goal(goal: str | int | None, maze: Maze) -> int:
    """Return the number of the final position with this symbol."""
    if goal is None:
        return max(maze.symbols.find(DEFAULT_GOAL), 0)
    symbol = str(goal)
    if len(symbol) != 1 or symbol not in maze.symbols:
        raise InputError(
            f"goal is {symbol!r}, expected a final position of the maze: {', '.join(maze.symbols)}"
        )
    return maze.symbols.index(symbol)


def _asset(name: str) -> str:
    return (resources.files("distal") / "page" / name).read_text(encoding="utf-8")


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it can end the element."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def _filled(template: str, parts: dict[str, str]) -> str:
    """Put the parts in their places, in one pass, so that no part is searched for places itself."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)
