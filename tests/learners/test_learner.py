"""What learners share: a step of nothing, readings that do not apply, rewards that are turned round."""

from __future__ import annotations

from itertools import islice
from typing import Any

import numpy as np
import pytest

import distal
from distal import Eligibility, EvolutionStrategy, HillClimbing, OnlineHebbian, Rule, SeparableCMA, Settings
from distal.learners import Learner, Trial
from distal.learners import episodes as episodes_of
from distal.learners.learner import flipped
from distal.networks import Episode, Recurrent
from distal.tasks.task import Aim
from tests.mazes import T

SHORT: Any = {"maze": T, "steps": 12, "hidden": 4, "episodes": 30, "trials": 2, "engine": "reference"}


NOTHING: Any = [0.0] * 8
STILL = {
    "hill climbing": HillClimbing(0, 0.2, 0.2),
    "a strategy": EvolutionStrategy(0, 2, 0.2, 0.2),
    "separable CMA": SeparableCMA(0, 0.2, 0.2),
    "online": OnlineHebbian(*[*NOTHING, 0.5, 0.2, 0.2]),
    "traces": Eligibility(*[*NOTHING, 0.5, 0.5, 0.2, 0.2]),
}


def run(learner: Learner, episodes: int, **settings: Any) -> list[Episode[Any]]:
    """Return the first episodes of a trial."""
    chosen = Settings(**{"hidden": 4, "steps": 9, **settings})
    return list(islice(episodes_of(learner, Aim(distal.task_of(T), 1), chosen, seed=5), episodes))


@pytest.mark.parametrize("learner", STILL.values(), ids=STILL)
def test_with_a_step_of_nothing_a_learner_runs_one_network_for_ever(learner: Learner) -> None:
    first, *others = run(learner, 30, normalise="none")
    assert all((one.weights.hidden == first.weights.hidden).all() for one in others)
    assert all((one.weights.output == first.weights.output).all() for one in others)


@pytest.mark.parametrize("learner", [HillClimbing(0.5, 0.2, 0.2), EvolutionStrategy(0.5, 1.5, 0.2, 0.2)])
def test_readings_of_the_update_do_not_apply_to_a_climb(learner: Learner) -> None:
    eps = [
        [one.ep for one in run(learner, 30, **settings)]
        for settings in (
            {}, {"m_ties": "punish", "trace_pre": "previous", "normalise": "none"},
            {"outputs": "binary"}, {"blocked": "stay"},
        )
    ]  # fmt: skip
    assert eps[0] == eps[1]
    assert eps[0] not in eps[2:]


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
