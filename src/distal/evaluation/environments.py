"""Learning in any Gymnasium environment: the same learners, the same semantics, at Python's speed.

Observations are `MultiBinary`, or `Discrete` and then one-hot; actions are
`Discrete`. The episodic performance is a function of the episode.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from distal import learners
from distal.base import memory
from distal.base.checks import InputError, counted, function, sequence, shown
from distal.engines import Progress
from distal.evaluation.learning import checked_numbers
from distal.learners import Learner, checked_learner, name_of
from distal.model.draws import child_seed
from distal.model.network import Weights, incoming
from distal.model.settings import Settings, SettingsDict
from distal.tasks.gym import EnvError, EnvTask, Measure, is_env, made_env, minus_return
from distal.tasks.task import Aim


@dataclass(frozen=True, eq=False)
class EnvResult:
    """The outcome of learning in an environment.

    Trials are ordered trial-major: row t · tasks + k is trial t of task k.

    Attributes:
        ep: The EP of every episode, (trials, episodes).
        best: The lowest EP so far, (trials, episodes).
        weights: For each trial, the weights of the first episode that had its best EP.
        learner: The learner.
        settings: The settings, with the steps that an episode could take.
        seed: The seed.
        cut: How many episodes the environment had not ended after `steps` steps. Their EP
            covers only what had happened until then.
    """

    ep: NDArray[np.float64]
    best: NDArray[np.float64]
    weights: tuple[Weights, ...]
    learner: Learner
    settings: Settings
    seed: int
    cut: int = 0

    @property
    def final(self) -> NDArray[np.float64]:
        """The best EP of each trial, (trials)."""
        return self.best[:, -1]

    @property
    def fitness(self) -> float:
        """The mean best EP over all trials; lower is better."""
        return float(self.final.mean())

    def summary(self) -> str:
        """Return the outcome in a few lines of text."""
        trials, episodes = self.best.shape
        name = name_of(self.learner)
        first, last = self.ep[:, 0].mean(), self.ep[:, -1].mean()
        cut = f"\n{self.cut:,} of {self.ep.size:,} episodes were cut off after {self.settings.steps} steps"
        return (
            f"{name}: {counted(trials, 'trial')} of {counted(episodes, 'episode')}, seed {self.seed}\n"
            f"fitness  {self.fitness:.2f}, the mean best EP\n"
            f"mean EP  {first:.2f} in the first episode, {last:.2f} in the last{cut if self.cut else ''}"
        )


def learn_env(
    env: Any,
    learner: Learner | str | Path,
    *,
    tasks: Sequence[Mapping[str, Any]] = ({},),
    ep: Measure = minus_return,
    episodes: int = 100,
    trials: int = 5,
    resample: int | None = None,
    seed: int = 0,
    progress: Progress | None = None,
    **settings: Unpack[SettingsDict],
) -> EnvResult:
    """Train fresh networks in a Gymnasium environment, with any learner.

    The first episode of a trial resets the environment with a seed of that trial, so every
    run is repeatable.

    Args:
        env: An environment, a function that makes one, or the id of a registered one.
        learner: A learner, or what `find_learner` takes: "evolved:1", "hc", "chance", a file.
        tasks: Options for `reset`. Each entry is a task that is learned from scratch.
        ep: Takes an `EnvWalk` and returns its EP; lower is better. Minus the return if left out.
        episodes: Episodes in each trial.
        trials: Trials for each task.
        resample: Draw fresh weights after this many episodes.
        seed: The seed of all random numbers.
        progress: Called with the number of episodes run since its last call.
        **settings: As in `Settings`. `steps` is the environment's own limit if left out, or
            100 if it has none. `blocked` has no effect.

    Returns:
        The EP of every episode, and what follows from it.

    Raises:
        InputError: If an argument is wrong, or the environment has spaces other than
            `MultiBinary` and `Discrete`.
    """
    chosen = checked_learner(learner)
    episodes, trials, seed, resample = checked_numbers(episodes, trials, seed, resample)
    expected = "a list of options for reset, such as [{}] or [{'goal': 3}]"
    every = sequence("tasks", tasks, expected)
    if not every or not all(isinstance(task, Mapping) for task in every):
        raise InputError(f"tasks is {shown(tasks)}, expected {expected}")
    if not callable(ep):
        raise InputError(f"ep is {shown(ep)}, expected a function of the episode")
    function("progress", progress)
    Settings.of(settings, tuple(inspect.signature(learn_env).parameters))
    made = env if is_env(env) else made_env(env, {})
    try:
        world = EnvTask(made, options=every, ep=ep, encode=_encoding(made.observation_space))
        steps = settings.get("steps") or world.steps or Settings().steps
        in_force = Settings.of({**settings, "steps": steps})
        _check_memory(trials * len(every), episodes, in_force.hidden, world.inputs, world.outputs)
        eps, weights = np.empty((trials * len(every), episodes)), []
        for row in range(len(eps)):
            trial, goal = divmod(row, len(every))
            own = child_seed(seed, trial, goal, 0)
            aim = Aim(world.for_trial(own), goal)
            stream = islice(learners.episodes(chosen, aim, in_force, own, resample), episodes)
            best = None
            try:
                for k, episode in enumerate(stream):
                    eps[row, k] = episode.ep
                    if best is None or episode.ep < best.ep:
                        best = episode
                    if progress is not None:
                        progress(1)
            except EnvError as error:
                raise InputError(f"trial {row} (task {goal}, seed {own}) failed: {error}") from error
            assert best is not None  # noqa: S101 - there is at least one episode
            weights.append(best.weights)
    finally:
        if made is not env:
            made.close()
    return EnvResult(
        ep=eps,
        best=np.minimum.accumulate(eps, axis=1),
        weights=tuple(weights),
        learner=chosen,
        settings=in_force,
        seed=seed,
        cut=world.cut,
    )


def _check_memory(trials: int, episodes: int, hidden: int, inputs: int, outputs: int) -> None:
    """Refuse what the machine's free memory does not hold."""
    parts = {
        "curves": 2 * 8 * trials * episodes,
        "weights": 4 * (hidden * incoming(hidden, inputs, outputs) + outputs * (hidden + 1)) * trials,
        "trials": memory.TRIAL * trials,
    }
    what = f"{counted(trials, 'trial')} of {counted(episodes, 'episode')}"
    memory.Estimate(what, parts, "ask for fewer trials or episodes").check()


def _encoding(space: Any) -> str:
    """Return how observations become bits: one bit for each value of Discrete, bits as they are."""
    from gymnasium.spaces import Discrete, MultiBinary  # noqa: PLC0415 - an extra

    if not isinstance(space, Discrete | MultiBinary):
        raise InputError(
            f"observations are {shown(space)}, expected MultiBinary or Discrete; "
            "wrap the environment to make them so"
        )
    return "one-hot" if isinstance(space, Discrete) else "bits"
