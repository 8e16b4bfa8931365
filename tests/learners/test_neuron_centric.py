"""Neuron-centric learning: a row of coefficients for each neuron, and as many genes as a network needs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Eligibility, InputError, NeuronCentric, PlasticNetwork, Settings, learners
from distal.learners import Memory, Trial
from distal.search.config import Config
from distal.tasks.mazes import MazeTask
from tests.learners.by_hand import lived, tiny, weights
from tests.learners.test_eligibility import ONE as SAME
from tests.mazes import T

ROW = [0.5, 0.25, -0.5, 0.125, -1, 0, 0.5, 0]
ZERO = [0.0] * 8
SMALL: Any = {"maze": T, "hidden": 3, "steps": 8, "episodes": 3, "trials": 1, "engine": "reference"}


def neuron(*rows: list[float]) -> NeuronCentric:
    return NeuronCentric(rows, decay=0.5, eta=0.5, alpha_h=0.2, alpha_o=0.2)


def test_with_the_same_row_for_all_neurons_it_is_eligibility_to_the_bit() -> None:
    for rows in ([ROW], [ROW, ROW]):
        for kept in ({}, {"ep": 4.0}):
            one, other = (
                learner.update(tiny("neuron"), Trial(), Memory(weights(), kept), lived()).weights
                for learner in (neuron(*rows), SAME)
            )
            assert (one.hidden == other.hidden).all()
            assert (one.output == other.output).all()


def test_each_neuron_changes_by_its_own_row() -> None:
    same = SAME.update(tiny(), Trial(), Memory(weights()), lived()).weights
    hidden_alone = neuron(ROW, ZERO).update(tiny(), Trial(), Memory(weights()), lived()).weights
    assert (hidden_alone.hidden == same.hidden).all()
    assert (hidden_alone.output == weights().output).all()
    output_alone = neuron(ZERO, ROW).update(tiny(), Trial(), Memory(weights()), lived()).weights
    assert (output_alone.hidden == weights().hidden).all()
    assert (output_alone.output == same.output).all()


def test_a_network_of_another_size_is_refused_before_any_work() -> None:
    problem = "coefficients has 2 rows, but the network has 3 hidden neurons and 4 outputs"
    for call in (
        lambda: distal.learn(neuron(ROW, ROW), **SMALL),
        lambda: PlasticNetwork(neuron(ROW, ROW), inputs=3, outputs=4, hidden=3),
    ):
        with pytest.raises(InputError, match=problem):
            call()
    assert len(distal.learn(neuron(*[ROW] * 7), **SMALL).best) == 2


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([], "coefficients has 0 rows"),
        ([ROW, ROW[:7]], r"coefficients\[1\] has 7 numbers, expected 8"),
        ([[*ROW[:7], 1.5]], r"a number of coefficients\[0\] is 1.5, expected a number from -1 to 1"),
        ([3], r"coefficients\[0\] is 3, expected a row of 8 numbers"),
        (None, "coefficients is None, expected a row of 8 numbers for each neuron"),
    ],
)
def test_rows_that_are_none_are_refused(rows: Any, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        NeuronCentric(rows, 0.1, 0.2, 0.3, 0.4)


def test_its_genes_are_as_many_as_the_network_needs() -> None:
    for inputs, outputs, hidden in ((3, 4, 20), (1, 2, 3)):
        network = distal.networks.network_for(Settings(hidden=hidden), inputs, outputs, {})
        _, count = NeuronCentric.genes_for(network) or (0, 0)
        assert count == 4 + 8 * (hidden + outputs)
        names = NeuronCentric.gene_names(network)
        assert len(names) == count
        assert names[4:6] == ("a_plus_0", "b_plus_0")
        assert names[-1] == f"d_minus_{hidden + outputs - 1}"
    assert Config("neuron").genes == (0, 196)
    assert Config("neuron", task=MazeTask(T), settings=Settings(hidden=3)).genes == (0, 60)


def test_genes_there_and_back() -> None:
    learner = neuron(ROW, [0.1, *ROW[1:]])
    discrete, continuous = learner.to_genes()
    made = NeuronCentric.from_genes(discrete, continuous)
    assert made.numbers == learner.numbers
    assert np.array(made.coefficients) == pytest.approx(np.array(learner.coefficients), abs=1e-15)
    with pytest.raises(InputError, match="0 discrete and 13 continuous genes, neuron has none of the first"):
        NeuronCentric.from_genes((), [0.5] * 13)
    with pytest.raises(InputError, match=r"a gene is 1.5, expected a number from 0 to 1"):
        NeuronCentric.from_genes((), [*[0.5] * 11, 1.5])


def test_it_evolves_on_disk_and_its_winner_begins_another(tmp_path: Path) -> None:
    options: Any = {
        **SMALL, "runs": 1, "fresh": 4, "search": distal.GeneticAlgorithm(population=3, elite_count=1),
    }  # fmt: skip
    whole = tmp_path / "whole"
    evolved = distal.evolve("neuron", generations=2, out=whole, **options)
    header = (whole / "generations.csv").read_text().splitlines()[0]
    assert header.startswith("run,generation,best,mean,worst,decay,eta,alpha_h,alpha_o,a_plus_0,b_plus_0,")
    assert header.count(",") == 4 + 60
    winner = distal.find_learner(whole / "winners" / "run-01.json")
    assert winner.named("run 1, seed 0") == evolved.winners[0].learner
    begun = distal.evolve("neuron", generations=0, begin_with=[winner], **options)
    assert len(begun.winners) == 1
    with pytest.raises(InputError, match="has 12 genes, expected 60"):
        distal.evolve("neuron", generations=0, begin_with=["neuron"], **options)


def test_the_word_alone_stands_for_one_row_that_fits_every_network() -> None:
    one, other = learners.DEFAULTS["neuron"], learners.DEFAULTS["eligibility"]
    assert isinstance(one, NeuronCentric)
    assert isinstance(other, Eligibility)
    results = [distal.learn(learner, chance=False, **SMALL).best.tolist() for learner in (one, other)]
    assert results[0] == results[1]
