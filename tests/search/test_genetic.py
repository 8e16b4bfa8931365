"""The genetic algorithm: its operators on hand-made cases and in distribution, and its loop."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from distal import InputError
from distal.model import draws
from distal.search import genetic as evolution
from distal.search import precomputed
from distal.search.genetic import GeneticAlgorithm, GeneticSearch
from distal.search.genotypes import Genotypes
from tests.evolutions import told, toy
from tests.given import some

UNCHANGED = {"mutation": 0, "deviation": 0}


def genotypes(discrete: list[list[int]], continuous: list[list[float]]) -> Genotypes:
    return Genotypes(np.array(discrete, np.int8), np.array(continuous, np.float64))


def test_the_first_population_is_uniform() -> None:
    first = evolution.first_population(20_000, 5, 3, seed=1)
    assert first.discrete.shape == (20_000, 5)
    for change in (-1, 0, 1):
        assert (first.discrete == change).mean() == pytest.approx(1 / 3, abs=4.5 * math.sqrt(2 / 9 / 100_000))
    assert first.continuous.min() >= 0
    assert first.continuous.max() < 1
    assert first.continuous.mean() == pytest.approx(0.5, abs=4.5 * math.sqrt(1 / 12 / 60_000))


def test_roulette_weights_are_worst_minus_own_fitness() -> None:
    fitness = np.array([90.0, 100.0, 80.0, 95.0])  # weights 10, 0, 20, 5: the wheel ends at 10, 10, 30, 35
    u = np.array([0, 9.9, 10, 29.9, 30, 34.9]) / 35
    assert evolution.roulette(fitness[None], u[None]).tolist() == [[0, 0, 2, 2, 3, 3]]
    chosen = evolution.roulette(fitness[None], np.random.default_rng(0).random((1, 70_000)))[0]
    counts = np.bincount(chosen, minlength=4)
    assert counts[1] == 0  # the worst is never chosen
    for k, weight in ((0, 10), (2, 20), (3, 5)):
        p = weight / 35
        assert counts[k] == pytest.approx(70_000 * p, abs=4.5 * math.sqrt(70_000 * p * (1 - p)))


def test_a_proportional_wheel_has_the_fitness_itself_as_weights() -> None:
    fitness = np.array([10.0, 30.0, 0.0, 60.0])  # the wheel ends at 10, 40, 40, 100
    u = np.array([0, 9.9, 10, 39.9, 40, 99.9]) / 100
    assert evolution.roulette(fitness[None], u[None], "proportional").tolist() == [[0, 0, 1, 1, 3, 3]]
    moved = evolution.roulette(fitness[None] - 20, u[None], "proportional")  # weights 0 … as if from 0 on
    assert moved.tolist() == evolution.roulette(fitness[None], u[None], "proportional").tolist()


def test_the_worst_are_the_likelier_parents_with_a_proportional_wheel() -> None:
    parents = genotypes([[k] for k in (-1, 0, 1)], [[], [], []])
    fitness = np.array([[1.0, 1.0, 98.0]])
    drawn = evolution.chances([5], 1, 2000, 1, 0)
    options = GeneticAlgorithm(population=2001, elite_count=1, mutation=0.0, crossover=0.0)
    for wheel, expected in (("inverted", 0.0), ("proportional", 0.98)):
        children = evolution.offspring(parents, fitness, drawn, replace(options, wheel=wheel))
        assert (children.discrete == 1).mean() == pytest.approx(expected, abs=0.015)


def test_reflected_numbers_stay_in_bounds_and_clipped_ones_lie_on_them() -> None:
    numbers = np.array([-0.25, 0.0, 0.5, 1.0, 1.125, 2.25, -1.5])
    assert evolution.bounded(numbers, "clip").tolist() == [0, 0, 0.5, 1, 1, 1, 0]
    # 2.25 is reflected at 1 to −0.25 and at 0 to 0.25; −1.5 at 0 to 1.5 and at 1 to 0.5
    assert evolution.bounded(numbers, "reflect").tolist() == [0.25, 0, 0.5, 1, 0.875, 0.25, 0.5]


def test_roulette_is_uniform_if_all_are_equal() -> None:
    chosen = evolution.roulette(np.full((1, 4), 7.0), np.array([[0, 0.25, 0.5, 0.999]]))
    assert chosen.tolist() == [[0, 1, 2, 3]]


@given(st.lists(st.floats(0, 200, width=32), min_size=2, max_size=20), st.floats(0, 1, exclude_max=True))
def test_roulette_chooses_an_individual_with_weight(fitness: list[float], u: float) -> None:
    values = np.array(fitness, np.float64)
    chosen = evolution.roulette(values[None], np.array([[u]]))[0, 0]
    assert 0 <= chosen < len(values)
    assert values[chosen] < values.max() or (values == values[0]).all()


def test_crossover_takes_the_head_of_the_first_and_the_tail_of_the_second() -> None:
    heads = genotypes([[1, 1, 1]] * 5, [[0.1, 0.2]] * 5)
    tails = genotypes([[-1, -1, -1]] * 5, [[0.8, 0.9]] * 5)
    children = evolution.crossover(heads, tails, np.array([1, 2, 3, 4, 5]))
    assert children.discrete.tolist() == [[1, -1, -1], [1, 1, -1], [1, 1, 1], [1, 1, 1], [1, 1, 1]]
    assert children.continuous.tolist() == [[0.8, 0.9], [0.8, 0.9], [0.8, 0.9], [0.1, 0.9], [0.1, 0.2]]


def test_cuts_are_uniform_from_1_to_length_minus_1_or_a_copy() -> None:
    u = (np.arange(35_000) + 0.5) / 35_000
    cuts = evolution.cut_points(u, np.ones(35_000, np.bool_), 36)
    assert np.bincount(cuts, minlength=37)[1:36].tolist() == [1000] * 35
    assert cuts.min() == 1
    assert cuts.max() == 35
    assert evolution.cut_points(u[:3], np.zeros(3, np.bool_), 36).tolist() == [36, 36, 36]


def test_mutation_redraws_where_it_should_adds_noise_and_clips() -> None:
    children = genotypes([[1, 1, 1, 1]], [[0.95, 0.5, 0.05]])
    mutated = evolution.mutated(
        children,
        redraw=np.array([[0.1, 0.14, 0.15, 0.9]]),
        value=np.array([[0.0, 0.99, 0.0, 0.0]]),
        noise=np.array([[0.1, -0.25, -0.1]]),
        rate=0.15,
    )
    assert mutated.discrete.tolist() == [[-1, 1, 1, 1]]  # redrawn to −1, redrawn to 1 again, kept, kept
    assert mutated.continuous.tolist() == [[1.0, 0.25, 0.0]]


def test_runs_that_draw_together_draw_what_each_would_draw_alone() -> None:
    together = evolution.chances([3, 2**63 + 5], 7, 10, 32, 4)
    for run, seed in enumerate([3, 2**63 + 5]):
        alone = evolution.chances([seed], 7, 10, 32, 4)
        for name in ("parents", "redraw", "value", "deviate"):
            assert (getattr(alone, name)[0] == getattr(together, name)[run]).all()


def test_drawing_ahead_changes_no_draw(monkeypatch: pytest.MonkeyPatch) -> None:
    in_blocks = [evolution.chances([3, 4], generation, 5, 6, 3, True) for generation in range(40)]
    monkeypatch.setattr(precomputed, "MOST", 1)
    for generation, own in enumerate(in_blocks):
        alone = evolution.chances([3, 4], generation, 5, 6, 3, True)
        for name in ("parents", "redraw", "value", "deviate", "side"):
            assert getattr(alone, name).tolist() == getattr(own, name).tolist()
    # By the definition: the word of draw d is philox((d // 4, child, generation, purpose), seed)[d % 4].
    word = draws.philox([0, 2, 17, 17], [3, 0])[1]
    assert in_blocks[17].parents[0, 2, 1] == word / 2**32


def test_many_generations_do_not_draw_more_than_memory_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: list[int] = []
    words_for = draws.words_for

    def noted(seeds: Any, generations: Any, lanes: range, wanted: Any) -> Any:
        drawn.append(len(generations))
        return words_for(seeds, generations, lanes, wanted)

    monkeypatch.setattr(draws, "words_for", noted)
    evolution.chances([11, 12], 0, 10, 32, 4)
    evolution.chances([11, 12], 0, 20_000, 32, 4)
    assert drawn == [16, 1]


def test_a_snapshot_is_the_state_of_its_moment() -> None:
    search = GeneticAlgorithm(population=4, elite_count=2, elites="averaged").begin(3, 2, 5)
    states, snapshots = [], []
    for _ in range(4):
        asked = search.ask()
        search.tell(asked, np.arange(len(asked), dtype=np.float64))
        states.append(search.state())
        snapshots.append(search.snapshot())
    search.immigrate(search.current()[2], -1.0, 0)
    assert [snapshot() for snapshot in snapshots] == states


def test_offspring_mutate_at_the_papers_rates() -> None:
    parents = genotypes([[0] * 32] * 2, [[0.5] * 4] * 2)
    fitness = np.array([1.0, 2.0])
    drawn = evolution.chances([3], 7, 5000, 32, 4)
    children = evolution.offspring(parents, fitness[None], drawn, GeneticAlgorithm())
    changed = (children.discrete != 0).mean()  # 0.15 redrawn, two thirds of them to another value
    assert changed == pytest.approx(0.1, abs=4.5 * math.sqrt(0.09 / 160_000))
    noise = children.continuous - 0.5
    assert noise.std() == pytest.approx(0.1, rel=0.03)
    assert noise.mean() == pytest.approx(0, abs=4.5 * 0.1 / math.sqrt(20_000))


def test_half_of_the_children_come_from_crossover() -> None:
    parents = genotypes([[0] * 32] * 2, [[0.0] * 4, [1.0] * 4])
    fitness = np.array([1.0, 1.0])  # both parents are equally likely
    options = GeneticAlgorithm(mutation=0, deviation=0)
    drawn = evolution.chances([3], 1, 20_000, 32, 4)
    children = evolution.offspring(parents, fitness[None], drawn, options)
    mixed = np.ptp(children.continuous, axis=1) > 0
    # crossover 1/2, different parents 1/2, and a cut between continuous genes: 3 of 35
    p = 0.25 * 3 / 35
    assert mixed.mean() == pytest.approx(p, abs=4.5 * math.sqrt(p / 20_000))


def test_a_toy_problem_is_solved_to_its_known_optimum() -> None:
    run = GeneticSearch(discrete=8, continuous=2, seed=5, options=GeneticAlgorithm(deviation=0.05))
    for _ in range(200):
        asked = run.ask()
        run.tell(asked, toy(asked))
    assert run.best is not None
    assert run.best.discrete[0].tolist() == [1] * 8
    assert run.best.continuous[0] == pytest.approx([0.3, 0.3], abs=0.05)
    assert run.best_fitness == toy(run.best)[0]


def test_kept_elites_pass_unchanged_with_the_fitness_they_had() -> None:
    run = GeneticSearch(discrete=32, continuous=4, seed=1, options=GeneticAlgorithm(elites="kept"))
    asked = run.ask()
    assert len(asked) == 14
    fitness = np.arange(14.0)[::-1].copy()
    run.tell(asked, fitness)
    children = run.ask()
    assert len(children) == 10
    run.tell(children, np.full(10, 99.0))
    assert some(run.fitness).tolist() == [0, 1, 2, 3, *[99.0] * 10]
    assert (some(run.population).discrete[:4] == asked.discrete[[13, 12, 11, 10]]).all()
    assert (some(run.population).continuous[:4] == asked.continuous[[13, 12, 11, 10]]).all()


def test_by_default_the_elites_are_measured_again_and_the_winner_is_of_the_last_generation() -> None:
    run = GeneticSearch(discrete=2, continuous=1, seed=1)
    first = run.ask()
    run.tell(first, np.arange(14.0))
    asked = run.ask()
    assert len(asked) == 14
    assert (asked.continuous[:4] == first.continuous[:4]).all()  # the four best, unchanged
    run.tell(asked, 50 + np.arange(14.0)[::-1])
    assert some(run.fitness).tolist() == list(range(63, 49, -1))
    assert run.best_fitness == 50  # not 0, which was measured in the first generation
    assert some(run.best).continuous.tolist() == asked.continuous[[13]].tolist()
    assert run.best_generation == 1


def test_an_elite_is_as_old_as_its_first_appearance() -> None:
    run = GeneticSearch(discrete=2, continuous=1, seed=1)
    run.tell(run.ask(), np.arange(14.0))
    for _ in range(3):
        run.tell(run.ask(), np.arange(14.0))  # the first elite stays the best
    assert run.generation == 3
    assert run.best_generation == 0
    assert some(run.born).tolist() == [0] * 4 + [3] * 10


@pytest.mark.parametrize(
    ("options", "problem"),
    [
        ({"elite_count": 14}, "elite_count is 14, expected fewer than the population of 14"),
        ({"elites": "keep"}, "elites is 'keep', expected one of remeasured, kept, averaged; did you mean 'k"),
        ({"elite_count": 0, "parents": "elites"}, "parents is 'elites', but elite_count is 0"),
    ],
)
def test_options_that_do_not_go_together_are_refused(options: dict[str, Any], problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        GeneticAlgorithm(**options)


def test_the_fitness_of_an_averaged_elite_is_the_mean_of_its_measurements() -> None:
    search = GeneticAlgorithm(population=4, elite_count=2, elites="averaged").begin(3, 1, 5)
    first, second = told(search, [5.0, 1.0, 9.0, 3.0], [4.0, 6.0, 2.0, 8.0])
    assert second.continuous[:2].tolist() == first.continuous[[1, 3]].tolist()
    # Elites had 1 and 3 and now got 4 and 6; the children's 2 and 8 stand alone.
    assert some(search.fitness).tolist() == [2.5, 4.5, 2.0, 8.0]
    assert search.measured.tolist() == [2, 2, 1, 1]
    assert search.best_fitness == 2.5  # the child's 2 was measured only once
    assert search.best_generation == 0
    (third,) = told(search, [5.0, 5.5, 7.0, 7.0])
    # The elites are now the child (2, then 5) and the first elite (2.5 twice, then 5.5).
    assert third.continuous[0].tolist() == second.continuous[2].tolist()
    assert some(search.fitness)[:2].tolist() == [3.5, (2.5 * 2 + 5.5) / 3]
    finalists = search.finalists(3)
    # Those that have a mean come first, then one that was measured once.
    assert (finalists.fitness.tolist(), finalists.born.tolist()) == ([3.5, 3.5, 7.0], [1, 0, 2])


def test_parents_can_be_the_elites_alone() -> None:
    options: dict[str, Any] = {"population": 40, "elite_count": 3, **UNCHANGED, "crossover": 0}
    for parents, within in (("elites", True), ("roulette", False)):
        search = GeneticAlgorithm(**options, parents=parents).begin(4, 2, 1)
        fitness = np.arange(40.0)[::-1].tolist()
        first, second = told(search, fitness, fitness)
        elites = {tuple(row) for row in first.continuous[[39, 38, 37]].tolist()}
        children = {tuple(row) for row in second.continuous[3:].tolist()}
        assert (children <= elites) is within


def test_uniform_mixing_takes_each_gene_from_either_parent() -> None:
    options: dict[str, Any] = {"population": 60, "elite_count": 2, **UNCHANGED, "crossover": 1}
    search = GeneticAlgorithm(**options, parents="elites", mixing="uniform").begin(0, 12, 3)
    first, second = told(search, list(range(60)), list(range(60)))
    one, other = first.continuous[:2]
    children = second.continuous[2:]
    from_one, from_other = children == one, children == other
    assert (from_one | from_other).all()
    mixed = children[~from_one.all(axis=1) & ~from_other.all(axis=1)]
    assert len(mixed) > 10
    switches = (np.diff((mixed == one).astype(int), axis=1) != 0).sum(axis=1)
    assert switches.max() > 2  # one cut would give at most one
