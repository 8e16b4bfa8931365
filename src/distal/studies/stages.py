"""Long work in stages: each is stored in a folder as soon as it is done, and runs only if it is missing.

A study plans its stages; `Stages` runs them. `folders` decides which files may be touched.
"""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal._version import __version__
from distal.base import checks
from distal.base.checks import InputError
from distal.base.files import read_json, to_json, to_npz
from distal.base.folders import MANIFEST, Folder
from distal.base.memory import available_cores
from distal.engines import Runner, pace
from distal.engines.batch import EPs
from distal.evaluation.trials import batch_of
from distal.learners import Learner, embedded
from distal.model.settings import Settings
from distal.search.config import Config
from distal.search.evolve import resume, start
from distal.search.recorder import Step
from distal.search.results import Evolved, Winner
from distal.search.run_folder import damaged, read_run, run_files
from distal.tasks.switching import Switch
from distal.tasks.task import Task

SECONDS = "seconds.json"  # how long each stage took
_WHOLE: np.dtype[Any] = np.dtype(np.int32)  # of EPs that are whole numbers


@dataclass(frozen=True)
class Stage:
    """A part of the work, for the plan and for progress.

    Attributes:
        name: The name, also of its file or folder.
        title: The work in a few words.
        episodes: The number of its episodes.
        learner: The kind whose pace it has: dsp, hc or chance.
        runs: The number of runs of an evolution; 0 for a test.
        group: The name under which progress shows it together with others; empty if alone.
        heading: The title of the group, if it is not the name.
        cost: The time of an episode, in episodes of the paper's maze and network.
        engine: The engine that has to run it, if no other can.
    """

    name: str
    title: str
    episodes: int
    learner: str
    runs: int = 0
    group: str = ""
    heading: str = ""
    cost: float = 1.0
    engine: str | None = None

    @property
    def label(self) -> str:
        """The name in a few words."""
        return self.name.replace("_", " ").replace("dsp", "DSP").replace("hc", "hill climbing")

    @property
    def folder(self) -> str:
        """The folder of an evolution, inside that of the work."""
        return self.name.replace("_", "-")

    @property
    def curves(self) -> str:
        """The file of a test."""
        return f"{self.name}.npz"

    @property
    def files(self) -> tuple[str, ...]:
        """All files that the stage may write."""
        if not self.runs:
            return (self.curves,)
        return tuple(f"{self.folder}/{name}" for name in (MANIFEST, *run_files(self.runs)))


def evolution_stage(name: str, title: str, config: Config, **more: Any) -> Stage:
    """Return the stage of an evolution."""
    episodes = config.runs * config.spent(config.generations)
    cost = pace.cost(config.task, config.settings, more.get("engine"))
    return Stage(name, title, episodes, config.learner, config.runs, cost=cost, **more)


def best_winner(evolved: Evolved) -> Winner:
    """Return the winner with the lowest re-measured fitness of all runs."""
    return min(evolved.winners, key=lambda winner: winner.remeasured)


@dataclass(frozen=True)
class Event:
    """The progress of a stage.

    Attributes:
        stage: The stage.
        done: The finished share, from 0 to 1.
        detail: A few more words.
    """

    stage: Stage
    done: float
    detail: str = ""


def runner_for(stage: Stage, runner: Runner) -> Runner:
    """Return the runner of a stage; an engine of its own has the same executor, or a process per core."""
    if stage.engine is None:
        return runner
    workers = runner.workers or (available_cores() if runner.executor is None else None)
    return Runner(stage.engine, workers, runner.executor)


class Stages:
    """Stages that are being done, in a folder or, without one, for this call alone."""

    def __init__(
        self,
        plan: Sequence[Stage],
        runner: Runner,
        progress: Callable[[Event], None] | None = None,
        folder: Folder | None = None,
    ) -> None:
        self.stages = {stage.name: stage for stage in plan}
        self.runner, self.folder = runner, folder
        self.progress = progress
        self._others: dict[str, Runner] = {}
        self.seconds: dict[str, float] = {}
        if folder is not None:
            stored = _stored_seconds(folder.file(SECONDS))
            self.seconds.update({name: stored[name] for name in self.stages if name in stored})

    def evolve(self, name: str, config: Config) -> Evolved:
        """Return an evolution, new or resumed, in a folder inside the folder."""
        stage = self.stages[name]
        self.tell(stage, 0)

        worked, done, detail = False, 0, ""

        def reach(episodes: int) -> None:
            """Tell of the episodes that are done, if they are more than before."""
            nonlocal done
            done = max(done, episodes)
            self.tell(stage, min(0.99, done / stage.episodes), detail)

        def told(step: Step) -> None:
            nonlocal worked, detail
            worked, rate = True, step.evaluations / step.seconds
            detail = f"best {min(step.best):.1f} mean {step.mean:.1f} {rate:.0f}/s"
            reach(config.runs * config.spent(step.generation))

        runner = self.runner_of(stage).telling(
            None if self.progress is None else lambda more: reach(done + more)
        )

        out = None if self.folder is None else self.folder.path / stage.folder
        if out is not None and (out / "config.json").exists():
            stored, _, _ = read_run(out)
            with damaged(out / "config.json"):
                theirs = Config.from_dict(stored)
            if theirs.to_dict() != json.loads(json.dumps(config.to_dict())):
                raise InputError(f"folder {str(out)!r} holds an evolution with other options; move it away")
            evolved = resume(out, task=config.task, engine=runner, progress=told)
        else:
            evolved = start(config, runner, out, progress=told)
        if worked or stage.name not in self.seconds:
            self._took(stage.name, evolved.seconds)
        self.tell(stage, 1)
        return evolved

    def test(
        self,
        name: str,
        learners: Sequence[Learner],
        seeds: NDArray[np.uint64],
        *,
        trials: int,
        episodes: int,
        task: Task[Any],
        settings: Settings,
        resample: int | None = None,
        record: tuple[int, ...] | None = None,
        every: bool = False,
        switch: Switch | None = None,
    ) -> EPs:
        """Return best-so-far curves (learners, trials, episodes), read or run.

        Args:
            name: Of the stage.
            learners: To be tested, all of one kind.
            seeds: One for each learner.
            trials: For each goal of the task.
            episodes: Episodes of each trial.
            task: The task.
            settings: Of network and episode.
            resample: Draw fresh weights after this many episodes.
            record: The episodes, from 1, whose values are wanted; all if left out.
            every: Return the EP of every episode instead of the best so far.
            switch: The schedule of moving goals.
        """
        stage = self.stages[name]
        # What decides the curves: a stored file made from anything else is run again.
        key = json.dumps(
            {
                "distal": __version__,
                "learners": [embedded(learner) for learner in learners],
                "seeds": seeds.tolist(),
                "trials": trials,
                "episodes": episodes,
                "resample": resample,
                "record": record,
                "every": every,
                "settings": settings.to_dict(),
                **({} if switch is None else {"switch": switch.to_dict()}),
                **task.fields(),
            }
        )
        columns = episodes if every or record is None else len(record)
        shape = (len(learners), trials * len(task.goals), columns)
        kind = _WHOLE if task.whole else np.dtype(np.float64)
        if self.folder is not None:
            stored = _stored_curves(self.folder.file(stage.curves), key, shape, kind, task.lowest)
            if stored is not None:
                self.tell(stage, 1)
                return stored
        self.tell(stage, 0)
        batch = batch_of(
            learners, seeds, trials=trials, episodes=episodes, task=task, settings=settings,
            resample=resample, record=(episodes,) if every else record, switch=switch,
        )  # fmt: skip
        done = 0

        def advance(more: int) -> None:
            nonlocal done
            done += more
            self.tell(stage, done / (len(batch) * episodes))

        began = time.perf_counter()
        outcome = self.runner_of(stage).run(batch, keep_ep=every, progress=advance)
        self._took(stage.name, time.perf_counter() - began)
        values = outcome.best if outcome.ep is None else outcome.ep
        curves = values.reshape(shape)
        if self.folder is not None:
            self.folder.write_bytes(stage.curves, to_npz(curves=curves, key=np.array(key)))
        self.tell(stage, 1)
        return curves

    def runner_of(self, stage: Stage) -> Runner:
        """Return the runner of a stage."""
        if stage.engine is None:
            return self.runner
        if stage.engine not in self._others:
            self._others[stage.engine] = runner_for(stage, self.runner)
        return self._others[stage.engine]

    def _took(self, stage: str, seconds: float) -> None:
        """Note the time of a stage."""
        self.seconds[stage] = seconds
        if self.folder is not None:
            self.folder.mend_text(SECONDS, to_json(self.seconds) + "\n")

    def tell(self, stage: Stage, done: float, detail: str = "") -> None:
        """Tell of progress, if anybody wants to know."""
        if self.progress is not None:
            self.progress(Event(stage, done, detail))


def _stored_seconds(path: Path) -> dict[str, float]:
    """Return the times in a file, as far as it is readable: they are for information alone."""
    try:
        stored = read_json(path, "file")
        if isinstance(stored, dict):
            return {name: checks.not_negative(name, value) for name, value in stored.items()}
    except InputError:
        pass
    return {}


def _stored_curves(
    path: Path, key: str, shape: tuple[int, int, int], kind: np.dtype[Any] = _WHOLE, lowest: float = 0
) -> EPs | None:
    """Return the curves in a file, if they were made from the same and have the right size."""
    # bytes, without the headers
    expected = {"curves.npy": kind.itemsize * int(np.prod(shape)), "key.npy": 4 * len(key)}
    try:
        with zipfile.ZipFile(path) as archive:
            sizes = {entry.filename: entry.file_size for entry in archive.infolist()}
        if set(sizes) != set(expected) or any(sizes[name] > expected[name] + 1024 for name in expected):
            return None
        with np.load(path, allow_pickle=False) as stored:
            curves: EPs = stored["curves"]
            right = curves.dtype == kind and curves.shape == shape and str(stored["key"]) == key
            return curves if right and np.isfinite(curves).all() and curves.min() >= lowest else None
    except Exception:  # missing, cut short or garbled, in the many ways a zip file can be: run it again
        return None
