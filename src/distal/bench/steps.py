"""The measurements of engine steps: environments against the bare environment, compiled tasks, learners.

Everything is measured in processor time, because it runs on one core and other work may share the machine.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from distal.bench import Timing, alternating
from distal.engines import Batch
from distal.engines.reference import engine as reference
from distal.engines.steps import engine as steps
from distal.evaluation.trials import batch_of
from distal.learners import DEFAULTS, KINDS
from distal.learners.shipped import evolved_rules
from distal.model.maze import triple_t_maze
from distal.model.readings import RECURRENT
from distal.model.settings import Settings
from distal.tasks.gym import EnvTask
from distal.tasks.sources import task_of
from distal.tasks.task import Task

# Episodes of a trial: enough for some thousand steps.
_EPISODES = {"CartPole-v1": 100, "MountainCar-v0": 20, "Acrobot-v1": 10}
_TARGET = 0.6  # of the bare environment's steps a second
_NETWORK = 10  # times as fast as the reference engine's, the environment taken away
LEARNERS = ("eligibility", "online", "neuron", "es", "cma", "reinforce")
_LEARNER = 50  # times as fast as on the reference engine
_COMPILED, _AGAINST_GYM = 1e6, 50  # steps a second on one core; times as fast as the environment
_COMPILED_EPISODES = {"CartPole": 200, "MountainCar": 50, "Acrobot": 50}  # of each of 200 trials


def run(quick: bool = False) -> Iterator[Timing]:
    """Yield every row as it is measured."""
    repeats = 3 if quick else 9
    if find_spec("gymnasium") is None:
        yield Timing("bare", "a bare environment", None, "steps a second", note="needs Gymnasium")
    else:
        for name in _EPISODES:
            yield from _environment(name, repeats)
    for name in _COMPILED_EPISODES:
        yield _compiled(name, repeats)
    if find_spec("gymnasium") is not None:
        yield _against_gym(repeats)
    for word in LEARNERS:
        yield _learner(word, repeats)


def _times(jobs: list[Callable[[], object]], repeats: int) -> NDArray[np.float64]:
    """Run the jobs in turn; return seconds of processor time (jobs, repeats)."""
    return alternating(jobs, repeats, time.process_time)


def _learner(word: str, repeats: int) -> Timing:
    """Return the row of a learner in the maze, against the reference engine."""
    learners, seeds = [DEFAULTS[word]], np.zeros(1, np.uint64)
    settings = Settings(network=KINDS[word].needs or RECURRENT)
    few, many = (
        batch_of(learners, seeds, trials=count, episodes=20, task=task_of(triple_t_maze()), settings=settings)
        for count in (1, 100)
    )
    slow, ours = _times([partial(reference.run, few), partial(steps.run, many, workers=1)], repeats)
    slow, ours = slow / (len(few) * few.episodes), ours / (len(many) * many.episodes)
    what = f"an episode in the maze with learner {word}, faster than on the reference engine, one core"
    note = f"{np.median(ours) * 1e6:.1f} µs an episode"
    return Timing.of(f"learner_{word}", what, slow / ours, target=_LEARNER, at_least=True, note=note)


def _environment(name: str, repeats: int) -> list[Timing]:
    """Return the rows of an environment."""
    batch = _batch(task_of(name, tabulated=False), _EPISODES[name])
    count = _steps(name, batch)
    jobs: list[Callable[[], object]] = [
        _bare(name, count), partial(steps.run, batch, workers=1), partial(reference.run, batch)
    ]  # fmt: skip
    bare, ours, slow = _times(jobs, repeats)
    word = name.partition("-")[0].lower()
    pace = float(np.median(count / ours))
    return [
        Timing(f"bare_{word}", f"{name} alone, one core", float(np.median(count / bare)), "steps a second"),
        Timing.of(
            f"steps_{word}",
            f"steps a second in {name} with a network of 20 hidden neurons that learns, against {name} alone",
            bare / ours, target=_TARGET, at_least=True, note=f"{pace:,.0f} steps a second",
        ),
        Timing.of(
            f"network_{word}", f"the network's part in {name}, faster than the reference engine's",
            (slow - bare) / (ours - bare), target=_NETWORK, at_least=True,
            note=f"reference: {np.median(count / slow):,.0f} steps a second",
        ),
    ]  # fmt: skip


def _compiled(name: str, repeats: int) -> Timing:
    """Return the row of a compiled task."""
    batch, taken = _compiled_batch(name)
    pace = taken / _times([partial(steps.run, batch, workers=1)], repeats)[0]
    what = f"compiled {name} with a network of 20 hidden neurons that learns, one core"
    return Timing.of(f"compiled_{name.lower()}", what, pace, "steps a second", _COMPILED, at_least=True)


def _against_gym(repeats: int) -> Timing:
    """Return the row of compiled CartPole against Gymnasium's, both on engine steps, in turns."""
    name = "CartPole-v1"
    gym = _batch(task_of(name, tabulated=False), _EPISODES[name])
    batch, taken = _compiled_batch("CartPole")
    jobs: list[Callable[[], object]] = [partial(steps.run, one, workers=1) for one in (gym, batch)]
    slow, ours = _times(jobs, repeats)
    ratio = (slow / _steps(name, gym)) / (ours / taken)
    what = "a step of compiled CartPole, faster than one of Gymnasium's on engine steps, one core"
    return Timing.of("compiled_against_gym", what, ratio, target=_AGAINST_GYM, at_least=True)


def _compiled_batch(name: str) -> tuple[Batch, int]:
    """Return trials of an evolved rule in a compiled task, and how many steps they take."""
    batch = _batch(task_of(f"compiled:{name}"), _COMPILED_EPISODES[name], trials=200)
    result = steps.run(batch, keep_ep=True)
    assert result.ep is not None  # noqa: S101 - it was asked for
    taken = np.abs(result.ep).sum()  # every step is worth 1, or costs it
    if name == "Acrobot":
        taken += result.ep.size - result.cut  # but for the step that arrives
    return batch, int(taken)


def _batch(task: Task[Any], episodes: int, trials: int = 1) -> Batch:
    """Return trials of an evolved rule."""
    return batch_of(
        evolved_rules()[:1], np.zeros(1, np.uint64), trials=trials, episodes=episodes, task=task,
        settings=Settings(steps=task.steps or 100),
    )  # fmt: skip


def _bare(name: str, count: int) -> Callable[[], object]:
    """Return a job that takes a number of steps in an environment, with actions drawn beforehand."""
    import gymnasium  # noqa: PLC0415 - an extra

    env = gymnasium.make(name)
    space: Any = env.action_space
    actions = np.random.default_rng(0).integers(space.n, size=count).tolist()

    def job() -> None:
        env.reset(seed=0)
        for action in actions:
            _, _, terminated, truncated, _ = env.step(action)
            if terminated or truncated:
                env.reset()

    return job


def _steps(name: str, batch: Batch) -> int:
    """Count the steps that the trials take in an environment."""
    import gymnasium  # noqa: PLC0415 - an extra

    taken = 0

    class Counted(gymnasium.Wrapper):
        """An environment that counts its steps."""

        def step(self, action: Any) -> Any:
            """Take a step, and count it."""
            nonlocal taken
            taken += 1
            return self.env.step(action)

    encoder = batch.task.encoder
    assert encoder is not None  # noqa: S101 - environments have one
    task = EnvTask(Counted(gymnasium.make(name)), encode=encoder.to_dict())
    taken = 0
    steps.run(_batch(task, batch.episodes))
    return taken
