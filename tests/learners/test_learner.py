"""What all learners share: rewards that are turned round."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import distal
from distal import HillClimbing, InputError, Rule, Settings
from distal.learners import Trial
from distal.learners import episodes as episodes_of
from distal.learners.learner import flipped
from distal.networks import Recurrent
from distal.tasks.task import Aim
from tests.mazes import T

SHORT: dict[str, Any] = {
    "maze": T,
    "steps": 12,
    "hidden": 4,
    "episodes": 30,
    "trials": 2,
    "engine": "reference",
}


def test_a_rule_that_always_hears_the_opposite_is_the_rule_with_its_two_halves_exchanged() -> None:
    rule = distal.published_rule(1)
    exchanged = [change for row in range(0, 32, 2) for change in (rule.delta_w[row + 1], rule.delta_w[row])]
    other = Rule(exchanged, rule.eta, rule.theta, rule.alpha_h, rule.alpha_o)
    opposite, straight, plain = (
        np.array(distal.learn(one, flip=flip, keep_ep=True, chance=False, **SHORT).ep)
        for one, flip in ((rule, 1.0), (other, 0.0), (rule, 0.0))
    )
    assert np.array_equal(opposite, straight)
    assert not np.array_equal(opposite, plain)


def test_a_climber_that_always_hears_the_opposite_goes_on_from_what_is_no_better() -> None:
    climber = HillClimbing(0.5, 0.2, 0.2)
    task, settings = distal.task_of(T), Settings(hidden=4, steps=12, flip=1.0)
    aim = Aim(task, 0)
    episodes = episodes_of(climber, aim, settings, seed=3)
    best = next(episodes)
    for _ in range(30):
        episode = next(episodes)
        noise = Recurrent(settings=settings).perturbation(3, episode.number)
        assert np.array_equal(episode.weights.output, best.weights.output + np.float32(0.5) * noise.output)
        if episode.ep >= best.ep:
            best = episode


def test_as_many_rewards_are_turned_round_as_the_setting_says() -> None:
    settings = Settings(flip=0.25)
    turned = [flipped(settings, Trial(seed), episode) for seed in range(20) for episode in range(200)]
    # 4,000 draws: the standard deviation of their mean is 0.007
    assert 0.22 < np.mean(turned) < 0.28
    assert not any(flipped(Settings(), Trial(1), episode) for episode in range(50))


def test_files_name_the_share_only_where_there_is_one() -> None:
    assert "flip" not in Settings().to_dict()
    assert Settings.from_dict(Settings(flip=0.1).to_dict()) == Settings(flip=0.1)


def test_engines_without_code_for_it_refuse_it_by_name() -> None:
    with pytest.raises(InputError, match="engine cpu has no code for flip; use engine steps"):
        distal.learn("evolved:1", flip=0.1, **{**SHORT, "engine": "cpu"})
    with pytest.raises(InputError, match=r"flip is 1\.5"):
        distal.learn("evolved:1", flip=1.5, **SHORT)
