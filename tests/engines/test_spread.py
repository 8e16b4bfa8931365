"""Work spread over executors and Dask clusters: the same bytes, whatever happens to the workers."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import distal
from distal import HillClimbing, Settings
from distal.engines import Batch, Engine, spread
from distal.engines.cpu import engine as cpu
from distal.engines.spread import Spread, WorkError, run_block
from distal.studies.plans.reproduce import random_learners
from distal.tasks.mazes import MazeTask
from tests.batches import trials_of
from tests.mazes import T


def some_batch(n: int = 6, kind: str = "dsp", **options: Any) -> Batch:
    settings = Settings(steps=9, hidden=5)
    return trials_of(tuple(random_learners(kind, 1, n)), settings, 8, task=MazeTask(T), **options)


class Reordering(Executor):
    """Runs tasks some time later, the last that was handed over first; may run one twice."""

    def __init__(self, twice: bool = False) -> None:
        self.waiting: list[tuple[Future[Any], Callable[[], Any]]] = []
        self.twice, self.lock, self.ended = twice, threading.Lock(), False
        threading.Thread(target=self._work, daemon=True).start()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        with self.lock:
            self.waiting.append((future, lambda: fn(*args, **kwargs)))
        return future

    def _work(self) -> None:
        while not self.ended:
            time.sleep(0.002)
            with self.lock:
                taken, self.waiting = self.waiting, []
            for future, job in reversed(taken):
                if self.twice:
                    job()  # lost on its way back, and done again
                future.set_result(job())

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        self.ended = True


# ---------------------------------------------------------------- any executor


@given(st.integers(1, 40), st.data())
def test_parts_of_a_batch_hold_every_trial_with_its_own_learner(n: int, data: st.DataObject) -> None:
    batch = some_batch(n)
    cuts = sorted({0, len(batch), *data.draw(st.lists(st.integers(0, len(batch)), max_size=5))})
    for first, last in pairwise(cuts):
        own = batch.part(first, last)
        assert len(own.learners) == len(set(batch.learner[first:last].tolist()))
        for k in range(last - first):
            assert own.learners[own.learner[k]] is batch.learners[batch.learner[first + k]]
            assert (own.goal[k], own.seed[k]) == (batch.goal[first + k], batch.seed[first + k])


@pytest.mark.parametrize("make", [lambda: ThreadPoolExecutor(3), Reordering, lambda: Reordering(twice=True)])
@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_neither_workers_nor_order_nor_repetition_change_a_bit(
    make: Callable[[], Executor], kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Engine, "pace", 200)  # many small tasks
    monkeypatch.setattr(spread, "SHORTEST", 0.001)
    monkeypatch.setattr(spread, "TASK", 0.002)
    batch = some_batch(30, kind, record=(1, 8))
    alone = cpu.run(batch, keep_weights=True, keep_ep=True)
    told: list[int] = []
    with make() as executor:
        engine = Spread(executor, "cpu")
        together = engine.run(batch, keep_weights=True, keep_ep=True, workers=2, progress=told.append)
    assert engine.tasks > 5
    assert sum(told) == len(batch) * 8
    for name in ("best", "ep", "hidden", "output"):
        assert getattr(together, name).tobytes() == getattr(alone, name).tobytes()


def test_python_functions_take_a_runner_with_an_executor() -> None:
    options: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 5, "episodes": 20, "seed": 7}
    climber = HillClimbing(0.2, 0.2, 0.2)
    with ThreadPoolExecutor(2) as pool:
        runner = distal.Runner(executor=pool)
        assert (
            distal.learn("paper:1", engine=runner, **options).best == distal.learn("paper:1", **options).best
        ).all()
        assert (
            distal.climb(climber, engine=runner, **options).best == distal.climb(climber, **options).best
        ).all()
        spread_out = distal.evolve("dsp", runs=2, generations=3, engine=runner, **options)
    alone = distal.evolve("dsp", runs=2, generations=3, **options)
    assert [winner.to_dict() for winner in spread_out.winners] == [
        winner.to_dict() for winner in alone.winners
    ]
    assert (spread_out.mean == alone.mean).all()


def test_tasks_become_as_long_as_they_should_be() -> None:
    batch = some_batch(400)
    with ThreadPoolExecutor(2) as pool:
        engine = Spread(pool, "cpu")
        engine.paces[type(batch.learners[0]), batch.settings] = 1.0  # an episode a second: a trial a task
        engine.run(batch, keep_weights=False, workers=2, progress=None)
        slow = engine.tasks
        engine.run(batch, keep_weights=False, workers=2, progress=None)
    assert slow > 2 * (engine.tasks - slow)  # the second time the workers' pace is known


def test_a_task_that_fails_is_named_with_its_seeds(monkeypatch: pytest.MonkeyPatch) -> None:
    batch = some_batch()

    def broken(*args: Any) -> Any:
        raise ValueError("no such luck")

    monkeypatch.setattr(spread, "run_block", broken)
    with ThreadPoolExecutor(1) as pool, pytest.raises(WorkError) as failure:
        Spread(pool, "cpu").run(batch, keep_weights=False, workers=1, progress=None)
    assert "ValueError: no such luck" in str(failure.value)
    assert f"seeds {batch.seed[0]} to " in str(failure.value)


def test_a_worker_with_another_version_refuses_and_names_both() -> None:
    with pytest.raises(spread.WrongVersion, match=rf"a worker has Distal {distal.__version__}, this is 9\.9"):
        run_block(None, some_batch(), "cpu", False, False, "9.9")


def test_a_pool_that_was_shut_down_is_said_to_be() -> None:
    pool = ThreadPoolExecutor(1)
    pool.shutdown()
    with pytest.raises(WorkError, match="the executor takes no more work"):
        distal.learn("paper:1", engine=distal.Runner(executor=pool), maze=T)


# ---------------------------------------------------------------- a Dask cluster of several processes


# ---------------------------------------------------------------- who may use a cluster


# ---------------------------------------------------------------- clusters that cannot be


# ------------------------------------------------------------------ what progress raises
