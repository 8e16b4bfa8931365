"""Long work in stages: each is stored in a folder as soon as it is done, and only run if it is missing.

`experiments` and `reading_study` are made of such stages. The folder begins with a claim,
a JSON file that says everything that decides the results; a folder with another claim
is refused.
"""

from __future__ import annotations

import io
import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import distal
from distal.checks import InputError
from distal.engines import Runner
from distal.evaluation import batch_of
from distal.evolving import Config, Evolved, Step, evolve, resume
from distal.files import read_json, to_json, write_array, write_text
from distal.learners import Learner
from distal.maze import Maze
from distal.runs import FILES as RUN_FILES
from distal.runs import holds_anything, lock_folder, new_folder, remove_files
from distal.settings import Settings


@dataclass(frozen=True)
class Stage:
    """A part of the work, for the plan and for progress."""

    name: str
    title: str
    episodes: int
    learner: str  # whose pace it has: dsp, hc or chance

    @property
    def label(self) -> str:
        """The name in a few words."""
        return self.name.replace("_", " ").replace("dsp", "DSP").replace("hc", "hill climbing")


@dataclass(frozen=True)
class Event:
    """Told while a stage runs: how much of it is done, and how it goes."""

    stage: Stage
    done: float  # 0 … 1
    detail: str = ""


def run_files(folder: str) -> tuple[str, ...]:
    """Return the patterns of the files that an evolution writes into a folder."""
    return tuple(f"{folder}/{name}" for name in ("winners/run-*.json", *RUN_FILES))


def check_folder(
    folder: Path,
    name: str,
    what: str,
    claim: dict[str, Any],
    force: bool,
    missing: Mapping[str, Any] | None = None,
) -> None:
    """Refuse a folder whose claim, a file of this name, is another one.

    `what` is what such a folder holds, in words for people; `missing` says what fields mean
    that an older version did not write.
    """
    if force or not folder.is_dir():
        return
    path = folder / name
    if path.exists():
        stored = read_json(path, "file")
        if not isinstance(stored, dict) or {**(missing or {}), **stored} != claim:
            raise InputError(
                f"folder {str(folder)!r} holds a {what} with other options; "
                "name another with --out, or begin anew with --force"
            )
    elif holds_anything(folder):
        raise InputError(f"folder {str(folder)!r} is not empty and holds no {what}; name another")


@contextmanager
def locked_folder(out: str | Path | None) -> Iterator[Path | None]:
    """Make a folder, if one is named, and keep other processes out of it meanwhile."""
    if out is None:
        yield None
        return
    folder = new_folder(out)
    lock = lock_folder(folder)
    try:
        yield folder
    finally:
        os.close(lock)


class Stages:
    """Stages that are being done, in a folder or, without one, for this call alone."""

    def __init__(
        self,
        plan: Sequence[Stage],
        runner: Runner,
        executor: Executor | None = None,
        progress: Callable[[Event], None] | None = None,
        folder: Path | None = None,
    ) -> None:
        self.stages = {stage.name: stage for stage in plan}
        self.runner, self.executor, self.progress, self.folder = runner, executor, progress, folder
        self.seconds: dict[str, float] = {}

    def claim(self, name: str, claim: dict[str, Any], force: bool, files: Sequence[str]) -> None:
        """Write down what the folder is for; with `force`, remove the given files from it first."""
        if self.folder is None:
            return
        if force:
            remove_files(self.folder, files)
        write_text(self.folder / name, to_json(claim) + "\n")
        stored = _stored_seconds(self.folder / "seconds.json")
        self.seconds.update({name: stored[name] for name in self.stages if name in stored})

    def evolve(self, name: str, config: Config, inside: str) -> Evolved:
        """Return an evolution, gone on with or begun, in a folder inside the folder."""
        stage = self.stages[name]
        self._tell(stage, 0)

        def told(step: Step) -> None:
            rate = step.evaluations / step.seconds
            detail = f"best {min(step.best):.1f} mean {step.mean:.1f} {rate:.0f}/s"
            self._tell(stage, (step.generation + 0.9) / (step.generations + 1), detail)

        run: dict[str, Any] = {
            "engine": self.runner.engine, "workers": self.runner.workers, "executor": self.executor,
            "progress": told,
        }  # fmt: skip
        out = None if self.folder is None else self.folder / inside
        if out is not None and out.is_dir() and holds_anything(out):
            evolved = resume(out, **run)
            if evolved.config != config:
                raise InputError(f"folder {str(out)!r} holds an evolution with other options; move it away")
        else:
            evolved = evolve(
                config.learner, runs=config.runs, generations=config.generations, trials=config.trials,
                episodes=config.episodes, seed=config.seed, maze=config.maze, out=out,
                **vars(config.options), **run, **vars(config.settings),
            )  # fmt: skip
        self._took(stage.name, evolved.seconds)
        self._tell(stage, 1)
        return evolved

    def test(
        self,
        name: str,
        learners: Sequence[Learner],
        seeds: NDArray[np.uint64],
        *,
        trials: int,
        episodes: int,
        maze: Maze,
        settings: Settings,
        resample: int | None = None,
        record: tuple[int, ...] | None = None,
        every: bool = False,
    ) -> NDArray[np.int32]:
        """Return best-so-far curves (learners, trials, episodes), read or run.

        Args:
            name: of the stage.
            learners: to be tested, all of one kind.
            seeds: one for each learner.
            trials: for each final position.
            episodes: of each trial.
            maze: to be walked.
            settings: of network and episode.
            resample: draw fresh weights every so many episodes.
            record: the episodes, from 1, whose values are wanted; all if left out.
            every: return the EP of every episode instead of the best so far.
        """
        stage = self.stages[name]
        # What decides the curves: a stored file made from anything else is run again.
        key = json.dumps(
            {
                "distal": distal.__version__,
                "learners": [learner.to_dict() for learner in learners],
                "seeds": seeds.tolist(),
                "trials": trials,
                "episodes": episodes,
                "resample": resample,
                "record": record,
                "every": every,
                "settings": vars(settings),
                "maze": maze.picture,
                "heading": maze.heading,
            }
        )
        path = None if self.folder is None else self.folder / f"{name}.npz"
        if path is not None:
            stored = _stored_curves(path, key)
            if stored is not None:
                self._tell(stage, 1)
                return stored
        self._tell(stage, 0)
        batch = batch_of(
            learners, seeds, trials=trials, episodes=episodes, maze=maze, settings=settings,
            resample=resample, record=(episodes,) if every else record,
        )  # fmt: skip
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            self._tell(stage, done / (len(batch) * episodes))

        began = time.perf_counter()
        outcome = self.runner.run(batch, keep_ep=every, progress=advance)
        self._took(stage.name, time.perf_counter() - began)
        values = outcome.best if outcome.ep is None else outcome.ep
        curves = values.reshape(len(learners), -1, values.shape[1])
        if path is not None:
            write_array(path, curves=curves, key=np.array(key))
        self._tell(stage, 1)
        return curves

    def _took(self, stage: str, seconds: float) -> None:
        """Note how long a stage took."""
        self.seconds[stage] = seconds
        if self.folder is not None:
            write_text(self.folder / "seconds.json", to_json(self.seconds) + "\n")

    def _tell(self, stage: Stage, done: float, detail: str = "") -> None:
        if self.progress is not None:
            self.progress(Event(stage, done, detail))


def _stored_seconds(path: Path) -> dict[str, float]:
    """Return the times in a file, as far as it is readable: they are for information alone."""
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        return {str(name): float(value) for name, value in stored.items() if np.isfinite(value)}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}


def _stored_curves(path: Path, key: str) -> NDArray[np.int32] | None:
    """Return the curves in a file, if they are what would be run now."""
    try:
        with np.load(io.BytesIO(path.read_bytes()), allow_pickle=False) as stored:
            if str(stored["key"]) == key:
                curves: NDArray[np.int32] = stored["curves"]
                return curves
    except Exception:  # missing, cut short or garbled, in the many ways a zip file can be: run it again
        return None
    return None
