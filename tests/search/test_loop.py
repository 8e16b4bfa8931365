"""The loop: ask, evaluate, tell, for all runs side by side; and the steps that it tells of."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from distal import GeneticAlgorithm, Restarts, evolve, resume
from distal.engines import Batch, Runner, Trials
from distal.search.contents import summary
from distal.search.recorder import Step
from distal.search.search import Algorithm
from tests.evolutions import FEW, TINY, Stop
from tests.search.test_run_folder import SMALL


class Queue(Runner):
    """Runs a batch when it is waited for, like every engine without a queue, and notes when."""

    overlaps = False

    def __init__(self) -> None:
        super().__init__("cpu")
        self.batches = 0
        self.noted: list[str] = []

    def begin(self, batch: Batch, *, keep_ep: bool = False) -> Callable[[], Trials]:
        """Note the beginning of a batch, and its end when it is waited for."""
        self.batches += 1
        number = self.batches
        self.noted.append(f"begin {number}")

        def end() -> Trials:
            self.noted.append(f"end {number}")
            return self.run(batch, keep_ep=keep_ep)

        return end


class Overlapping(Queue):
    """Says that it runs a batch while another one is waited for, as a card does."""

    overlaps = True


SHORT: dict[str, Any] = {**TINY, "generations": 2}


@pytest.mark.parametrize("search", [FEW, Restarts(FEW, every=2)])
def test_runs_take_turns_where_batches_overlap_and_end_the_same(search: Algorithm) -> None:
    card, alone = Overlapping(), Queue()
    turns = evolve(**SHORT, search=search, engine=card)
    assert turns.best.tolist() == evolve(**SHORT, search=search, engine=alone).best.tolist()
    # One group's children are made, and their trials begun, before the other's are waited for.
    assert card.noted[:12] == [
        "begin 1", "begin 2", "end 1", "begin 3", "end 2", "begin 4",
        "end 3", "begin 5", "end 4", "begin 6", "end 5", "end 6",
    ]  # fmt: skip
    assert alone.noted[:6] == ["begin 1", "end 1", "begin 2", "end 2", "begin 3", "end 3"]


def test_a_generation_is_recorded_before_the_trials_of_the_next_are_run() -> None:
    alone = Queue()
    noted: list[str] = []
    evolve(**SHORT, search=FEW, engine=alone, progress=lambda step: noted.append(alone.noted[-2]))
    assert noted == ["end 1", "end 2", "begin 3"]


@pytest.mark.parametrize("elites", ["kept", "remeasured"])
def test_progress_is_told_once_for_every_generation_of_all_runs(elites: str, tmp_path: Path) -> None:
    told: list[Step] = []

    def progress(step: Step) -> None:
        assert threading.current_thread() is threading.main_thread()
        told.append(step)

    search = GeneticAlgorithm(population=6, elite_count=2, elites=elites)
    options = {**SMALL, "search": search, "fresh": 2}
    short = evolve("dsp", **{**options, "generations": 2}, out=tmp_path, progress=progress)
    assert [(step.generation, step.generations) for step in told] == [(0, 2), (1, 2), (2, 2)]
    resume(tmp_path, progress=progress)
    assert len(told) == 3  # nothing was left to do
    evolved = resume(tmp_path, generations=4, progress=progress)
    assert [(step.generation, step.generations) for step in told[3:]] == [(3, 4), (4, 4)]
    assert (evolved.best[:, :3] == short.best).all()
    for step in told:
        assert step.best == evolved.best[:, step.generation].tolist()
        assert step.mean == evolved.mean[:, step.generation].mean()
        elite = 2 if elites == "kept" and step.generation > 0 else 0  # which are not measured again
        assert step.evaluations == 2 * (6 - elite)
        assert step.seconds > 0


def test_what_progress_raises_ends_an_evolution_whose_folder_holds_what_was_told(tmp_path: Path) -> None:
    def stop(step: Step) -> None:
        if step.generation == 3:  # sooner after the first than rows are usually written
            raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        evolve("dsp", **SMALL, out=tmp_path, progress=stop)
    assert summary(tmp_path)["done"] == 3
