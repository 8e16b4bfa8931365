"""Chance beside a trial: two hundred random networks, and a line that is near enough."""

from __future__ import annotations

import numpy as np

import distal
from distal.engines import Runner
from distal.learners.chance import Chance
from distal.show import chance_curve, watch
from distal.show.trial_page import page_data
from tests.given import some
from tests.mazes import T
from tests.show.pages import RING, SMALL, lake


def test_chance_is_the_mean_best_of_two_hundred_random_networks_towards_the_same_goal() -> None:
    watched = watch.watch("evolved:1", episodes=3, goal="1", seed=5, **SMALL)
    rule = distal.find_rule("evolved:1")
    random_networks = Chance(rule.alpha_h, rule.alpha_o)
    result = distal.learn(random_networks, trials=200, episodes=3, seed=5, engine="reference", **SMALL)
    towards = result.best[1 :: len(T.finals)]  # trial-major
    assert len(towards) == 200
    assert watched.chance.tolist() == towards.mean(axis=0).tolist()
    assert watched.to_dict()["chance"] == {"mean_best_ep": watched.chance[-1], "trials": 200}
    assert page_data(watched)["chance"]["trials"] == 200


def test_the_line_of_chance_is_nowhere_more_than_a_pixel_off() -> None:
    draw = np.random.default_rng(2019)
    for episodes in (1, 2, 30, 1_000):
        falls = draw.choice([0, 0, 0, 0.005, 0.2, 3], episodes)
        curve = 140 - np.cumsum(falls)
        at, values = zip(*chance_curve.visible_points(curve), strict=True)
        assert (at[0], at[-1]) == (0, episodes - 1)
        off = np.abs(np.interp(np.arange(episodes), at, values) - curve)
        assert off.max() <= chance_curve.VISIBLE + 0.01  # values have two digits
    assert len(chance_curve.visible_points(np.full(100_000, 137.0))) == 2


def test_where_the_goal_moves_chance_has_the_goals_of_the_trial_and_begins_anew_in_each_phase() -> None:
    watched = watch.watch("evolved:1", episodes=9, switch=4, seed=5, maze=RING, steps=20, hidden=3)
    batch = chance_curve.by_chance(watched.batches[0], 5)
    goals = watched.batches[0].goals[0].tolist()
    assert len(goals) == 3
    assert batch.goals.tolist() == [goals] * 200
    eps = some(Runner("cpu").run(batch, keep_ep=True).ep)
    best = [np.minimum.accumulate(eps[:, first : first + 4], axis=1) for first in (0, 4, 8)]
    assert watched.chance.tolist() == np.hstack(best).mean(axis=0).tolist()
    points = page_data(watched)["chance"]["curve"]
    assert {0, 3, 4, 7, 8} <= {episode for episode, _ in points}
    for phase in (slice(0, 4), slice(4, 8)):
        at, values = zip(*(point for point in points if point[0] in range(9)[phase]), strict=True)
        off = np.abs(np.interp(np.arange(9)[phase], at, values) - watched.chance[phase])
        assert off.max() <= chance_curve.VISIBLE + 0.01
    still = chance_curve.by_chance(watch.trials("evolved:1", episodes=4, switch=4, maze=RING)[0], 5)
    assert still.switch is None


def test_the_line_of_chance_is_seen_where_eps_differ_by_one() -> None:
    watched = watch.watch("chance", task=lake(), episodes=60, seed=1)
    low, high = watched.chance.min(), watched.chance.max()
    assert 0 < high - low < 1
    at, values = zip(*page_data(watched)["chance"]["curve"], strict=True)
    off = np.abs(np.interp(np.arange(60), at, values) - watched.chance)
    assert off.max() <= 1 / 200 + 0.0001
