"""Separable CMA-ES: the same distribution as the package cmaes gives, and generations spent in episodes."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest
from cmaes import SepCMA

from distal import PlasticNetwork, SeparableCMA, Settings, learners
from distal.learners import Memory, Trial
from distal.learners.separable_cma import constants, drawn, first_distribution, flat, moved, unflat
from distal.networks import Recurrent
from distal.tasks.mazes import MazeTask
from distal.tasks.task import Aim
from tests.learners.by_hand import lived, tiny, weights
from tests.mazes import T

SETTINGS = Settings(hidden=2, steps=9)
LEARNER = SeparableCMA(0.5, 0.2, 0.2)


@pytest.mark.parametrize("n", [4, 33, 624])
def test_the_constants_are_those_of_the_package_cmaes(n: int) -> None:
    ours, theirs = constants(n), SepCMA(mean=np.zeros(n), sigma=1.0)
    # Private numbers of the package: it shows none of its constants.
    gain = np.sqrt(theirs._c_sigma * (2 - theirs._c_sigma) * theirs._mu_eff)
    assert ours.population == theirs.population_size
    for own, other in (
        (ours.weights, theirs._weights),
        (ours.step_rate, theirs._c_sigma),
        (ours.step_gain, gain),
        (ours.damping, theirs._c_sigma / theirs._d_sigma),
        (ours.rate, theirs._cc),
        (ours.rank_one, theirs._c1),
        (ours.rank_mu, theirs._cmu),
        (ours.length, theirs._chi_n),
    ):
        assert own == pytest.approx(other, rel=6e-6)  # rounded to six digits
    assert constants(624).population == 23


@pytest.mark.parametrize("n", [4, 33])
def test_a_distribution_moves_as_that_of_the_package_cmaes(n: int) -> None:
    """On a function that is easy in one direction and hard in another, for twenty generations."""
    rng, scale = np.random.default_rng(n), np.linspace(1, 9, n)
    mean = rng.normal(size=n).astype(np.float32)
    theirs = SepCMA(mean=mean.astype(float), sigma=0.5)
    ours = first_distribution(mean, np.float32(0.5))
    for _ in range(20):
        noise = [rng.normal(size=n).astype(np.float32) for _ in range(constants(n).population)]
        points = [drawn(ours, one) for one in noise]
        values = [float((scale * point**2).sum()) for point in points]
        ours = moved(ours, [noise[k] for k in np.argsort(values)])
        theirs.tell([(point.astype(float), value) for point, value in zip(points, values, strict=True)])
        # Private numbers of the package, as above.
        assert ours.sigma == pytest.approx(theirs._sigma, rel=1e-4)
        assert ours.mean == pytest.approx(theirs._mean, rel=1e-3, abs=1e-4)
        assert ours.variance == pytest.approx(theirs._C, rel=1e-3)
        assert ours.path == pytest.approx(theirs._pc, rel=1e-3, abs=1e-3)
    assert all(one.dtype == np.float32 for one in map(np.asarray, ours))


def test_weights_there_and_back() -> None:
    network = Recurrent(settings=SETTINGS)
    own = network.fresh_weights(1, 0)
    numbers = flat(network, own)
    assert len(numbers) == 2 * 9 + 4 * 3  # a hidden row has ten columns, one of them no synapse
    assert (unflat(network, numbers).hidden == own.hidden).all()
    assert (unflat(network, numbers).output == own.output).all()


def test_the_first_episode_runs_the_mean_and_each_generation_follows_from_its_seed_and_episodes() -> None:
    network = Recurrent(settings=SETTINGS, alpha_h=0.2, alpha_o=0.2)
    size = constants(30).population
    stream = list(islice(learners.episodes(LEARNER, Aim(MazeTask(T), 0), SETTINGS, seed=4), 2 * size + 2))
    mean = flat(network, network.fresh_weights(4, 0))
    assert (flat(network, stream[0].weights) == mean).all()
    distribution = first_distribution(mean, np.float32(0.5))
    for generation in range(2):
        own = stream[1 + generation * size : 1 + (generation + 1) * size]
        noise = [flat(network, network.perturbation(4, episode.number)) for episode in own]
        for episode, one in zip(own, noise, strict=True):
            assert (flat(network, episode.weights) == drawn(distribution, one)).all()
        order = sorted(range(size), key=lambda k: own[k].ep)  # the first of equals first
        distribution = moved(distribution, [noise[k] for k in order])
    following = flat(network, network.perturbation(4, 2 * size + 1))
    assert (flat(network, stream[-1].weights) == drawn(distribution, following)).all()


def test_where_the_goal_moves_the_mean_runs_as_it_is_and_the_distribution_begins_anew() -> None:
    network, trial = tiny(), Trial(seed=4, phase=3)
    memory = LEARNER.update(network, trial, Memory(weights()), lived(5, number=0))
    memory = LEARNER.update(network, trial, memory, lived(4, number=1, own=memory.weights))
    moved_on = LEARNER.update(network, trial, memory, lived(3, number=2, own=memory.weights))
    assert moved_on.kept == {}
    assert (moved_on.weights.hidden == weights().hidden).all()


def test_a_network_in_the_middle_of_a_generation_goes_on_from_its_file(tmp_path: Any) -> None:
    one = PlasticNetwork(LEARNER, inputs=2, outputs=2, seed=1, hidden=1)
    eps = [3.0, 9, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3, 2, 3, 8]

    def live(network: PlasticNetwork, ep: float) -> None:
        network.start_episode()
        network.act((1, 0))
        network.end_episode(ep=ep)

    for ep in eps[:9]:
        live(one, ep)
    one.save(tmp_path / "network.json")
    other = PlasticNetwork.load(tmp_path / "network.json")
    for ep in eps[9:]:
        live(one, ep)
        live(other, ep)
        assert (one.weights.hidden == other.weights.hidden).all()
