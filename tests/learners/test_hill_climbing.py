"""Hill climbing: the perturbation, and when the best is replaced."""

from __future__ import annotations

from itertools import islice

import numpy as np

from distal import HillClimbing, learners, triple_t_maze
from distal.learners import hill_climbing
from distal.model import draws
from distal.model.settings import Settings
from distal.networks import Episode, Recurrent, RecurrentWeights
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim

CLIMBER = HillClimbing(sigma=0.2, alpha_h=0.1, alpha_o=0.3)


def run(n: int, resample: int | None = None, **settings: object) -> list[Episode[MazeWalk]]:
    chosen = Settings(**settings)  # type: ignore[arg-type]
    task = Aim(MazeTask(triple_t_maze()), 3)
    return list(islice(learners.episodes(CLIMBER, task, chosen, seed=5, resample=resample), n))


def test_a_perturbation_adds_sigma_times_a_deviate_of_its_own_to_every_synapse() -> None:
    best = Recurrent().fresh_weights(seed=1, episode=0)
    weights = hill_climbing.perturbed(Recurrent(), best, np.float32(0.5), seed=1, episode=9)
    assert isinstance(best, RecurrentWeights)
    assert isinstance(weights, RecurrentWeights)
    words = draws.words(1, draws.NOISE, 9, range(24), 28)
    noise = draws.normals(words)
    assert (weights.w_hi == best.w_hi + np.float32(0.5) * noise[:20, :4]).all()
    assert (weights.w_ho == best.w_ho + np.float32(0.5) * noise[:20, 24:28]).all()
    assert (weights.w_oh == best.w_oh + np.float32(0.5) * noise[20:, :21]).all()
    assert not np.diagonal(weights.w_h).any()
    changes = np.concatenate([(weights.hidden - best.hidden).ravel(), (weights.output - best.output).ravel()])
    assert len(np.unique(changes[changes != 0])) > 620


def test_climbing_keeps_the_best_on_ties_and_replaces_it_on_improvement() -> None:
    episodes = run(300)
    best, ties, improvements, worse = episodes[0], 0, 0, 0
    fresh = Recurrent().fresh_weights(seed=5, episode=0)
    assert (best.weights.hidden == fresh.hidden).all()
    for number, episode in enumerate(episodes[1:], start=1):
        expected = hill_climbing.perturbed(Recurrent(), best.weights, np.float32(0.2), seed=5, episode=number)
        assert (episode.weights.hidden == expected.hidden).all()
        assert (episode.weights.output == expected.output).all()
        ties += episode.ep == best.ep
        worse += episode.ep > best.ep
        if episode.ep < best.ep:
            best = episode
            improvements += 1
    assert ties > 0
    assert improvements > 0
    assert worse > 0


def test_resampling_starts_the_climb_over_from_fresh_weights() -> None:
    episodes = run(40, resample=20)
    fresh = Recurrent().fresh_weights(seed=5, episode=20)
    assert (episodes[20].weights.hidden == fresh.hidden).all()
    # the next episode perturbs the fresh weights, however bad they were
    expected = hill_climbing.perturbed(Recurrent(), fresh, np.float32(0.2), seed=5, episode=21)
    assert (episodes[21].weights.hidden == expected.hidden).all()
