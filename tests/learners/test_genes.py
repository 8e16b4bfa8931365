"""Learners as their genes: an evolution makes no objects, and engines get what objects would give them."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from distal import Chance, GeneticAlgorithm, HillClimbing, InputError, Rule, Settings, evolve, find_rule
from distal.engines import Batch
from distal.engines.compiled_engine import packed_learners
from distal.engines.cpu import engine as cpu
from distal.evaluation.trials import batch_of
from distal.learners import KINDS, Learner
from distal.learners.genes import Decoded, decoded, genes_of
from distal.search.genetic import first_population
from distal.tasks.mazes import MazeTask
from tests.mazes import T


def drawn(kind: str, count: int = 6) -> Sequence[Learner]:
    genotypes = first_population(count, *(KINDS[kind].genes or (0, 0)), seed=3)
    return decoded(KINDS[kind], genotypes.discrete, genotypes.continuous)


def trials(learners: Sequence[Learner]) -> Batch:
    return batch_of(
        learners, np.arange(len(learners), dtype=np.uint64), trials=1, episodes=3, task=MazeTask(T),
        settings=Settings(hidden=4, steps=8),
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["dsp", "hc"])
def test_engines_get_from_genes_what_they_get_from_objects(kind: str) -> None:
    genes = drawn(kind)
    assert isinstance(genes, Decoded)
    of_genes, of_objects = packed_learners(trials(genes)), packed_learners(trials(tuple(genes)))
    for ours, theirs in zip(map(np.asarray, of_genes), map(np.asarray, of_objects), strict=True):
        assert (ours.dtype, ours.tolist()) == (theirs.dtype, theirs.tolist())


def test_a_learner_says_which_genes_stand_for_it() -> None:
    rule = find_rule("paper:2")
    assert genes_of(rule) == (*rule.delta_w, *rule.numbers.values())
    assert genes_of(HillClimbing(0.1, 0.2, 0.3)) == (0.1, 0.2, 0.3)
    with pytest.raises(InputError, match="a learner of kind chance does not say which genes stand for it"):
        genes_of(Chance(0.1, 0.2))


def test_an_evolution_makes_no_object_but_the_winners(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Rule] = []
    make = Rule.from_genes

    def counted(discrete: Any, continuous: Any) -> Rule:
        made.append(make(discrete, continuous))
        return made[-1]

    monkeypatch.setattr(Rule, "from_genes", counted)
    options: Any = {"trials": 1, "episodes": 2, "hidden": 3, "steps": 5, "fresh": 8}
    few = GeneticAlgorithm(population=5, elite_count=2)
    evolved = evolve("dsp", runs=2, generations=4, search=few, engine="cpu", **options)
    assert [winner.learner.named("") for winner in evolved.winners] == made


def test_a_part_of_a_batch_has_the_genes_that_it_needs_and_can_be_sent_to_a_worker() -> None:
    batch = trials(drawn("dsp"))
    goals = len(batch.task.goals)
    part = pickle.loads(pickle.dumps(batch.part(2 * goals, 4 * goals)))  # noqa: S301 - our own bytes
    assert isinstance(part.learners, Decoded)
    assert list(part.learners) == list(batch.learners)[2:4]
    whole, some = (cpu.run(one).best for one in (batch, part))
    assert (some == whole[2 * goals : 4 * goals]).all()


@pytest.mark.parametrize(
    ("gene", "value", "problem"),
    [
        ("discrete", 2, r"delta_w\[5\] is 2, expected a whole number from -1 to 1"),
        ("discrete", -128, r"delta_w\[5\] is -128, expected a whole number from -1 to 1"),
        ("continuous", 1.5, "theta is 1.5, expected a number from 0 to 1"),
        ("continuous", float("nan"), "theta is nan, expected a number from 0 to 1"),
    ],
)
def test_genes_out_of_range_are_refused_in_the_learner_s_own_words(
    gene: str, value: float, problem: str
) -> None:
    genotypes = first_population(3, 32, 4, seed=0)
    genes: dict[str, Any] = {"discrete": genotypes.discrete.copy(), "continuous": genotypes.continuous.copy()}
    genes[gene][1, 5 if gene == "discrete" else 1] = value
    with pytest.raises(InputError, match=problem):
        decoded(Rule, **genes)


def test_genes_of_another_type_are_checked_one_by_one() -> None:
    none: Any = np.zeros((2, 0), np.int64)
    numbers: Any = np.array([[0.1, 0.2, 0.3], [1, 0, 1]], np.float32)
    made = decoded(HillClimbing, none, numbers)
    assert list(made) == [HillClimbing(*row) for row in numbers.tolist()]
    with pytest.raises(InputError, match="sigma is True, expected a number from 0 to 1"):
        decoded(HillClimbing, none, numbers > 0)


def test_learners_are_taken_by_number_or_by_slice() -> None:
    genes = drawn("hc")
    assert list(genes[1:3]) == [genes[1], genes[2]]
    assert genes[-1] == list(genes)[-1]
    assert len(genes) == len(list(genes)) == 6
