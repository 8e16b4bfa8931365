"""Phototaxis: two eyes, three actions, lamp after lamp; by hand and by an agent that follows the light."""

from __future__ import annotations

import math

import pytest

from distal import check_task, task_of
from distal.model.settings import Settings
from distal.tasks.phototaxis import EYES, NEAR, NEXT, SPEED, TURN, reset, step
from tests.given import some


def test_it_keeps_what_a_task_promises() -> None:
    check_task(task_of("compiled:Phototaxis"))


def test_an_episode_begins_in_the_middle_one_away_from_the_lamp() -> None:
    (x, y, heading, lamp), seen = reset([0.25, 0.25], 0)
    assert (x, y, heading, lamp) == (0, 0, math.pi / 2, math.pi / 2)
    # The lamp is straight ahead, at a distance of 1: half the light, and both eyes look past it alike.
    assert seen == pytest.approx((math.cos(EYES) / 2, math.cos(EYES) / 2))


def test_the_eye_on_the_side_of_the_lamp_sees_more_and_none_sees_backwards() -> None:
    left, right = reset([0.0, 0.1], 0)[1]  # the lamp is to the left of where the agent looks
    assert left > right
    left, right = reset([0.1, 0.0], 0)[1]
    assert left < right
    assert reset([0.0, 0.5], 0)[1] == (0, 0)


def test_turning_changes_the_heading_and_driving_earns_the_way() -> None:
    state = reset([0.0, 0.0], 0)[0]
    for action, turned in ((0, TURN), (2, -TURN)):
        (x, y, heading, _), _, reward, end = step(state, action)
        assert (x, y, heading, reward, end) == (0, 0, turned, 0, False)
    (x, y, heading, _), _, reward, _ = step(state, 1)
    assert (x, y, heading) == (SPEED, 0, 0)
    assert reward == pytest.approx(SPEED)
    away = step(reset([0.5, 0.0], 0)[0], 1)
    assert away[2] == pytest.approx(-SPEED)


def test_a_lamp_that_is_reached_is_followed_by_the_next_on_the_circle() -> None:
    state = reset([0.0, 0.0], 0)[0]
    gained = []
    while state[3] == 0:
        state, _, reward, _ = step(state, 1)
        gained.append(reward)
    assert state[3] == NEXT
    assert 1 - state[0] < NEAR  # the lamp was at (1, 0)
    assert len(gained) == round(state[0] / SPEED)
    assert sum(gained) == pytest.approx(state[0])


def test_an_agent_that_turns_to_the_lighter_eye_succeeds_and_one_that_only_turns_gains_nothing() -> None:
    target = some(task_of("compiled:Phototaxis").target(Settings()))
    for seed in range(5):
        state, (left, right) = reset([0.2 * seed, 0.7], 0)
        gained = 0.0
        for _ in range(200):
            # In the dark it turns; when both eyes see about as much, it drives.
            action = 0 if max(left, right) == 0 or left > 1.5 * right else 2 if right > 1.5 * left else 1
            state, (left, right), reward, _ = step(state, action)
            gained += reward
        assert -gained <= target
        turning, still = reset([0.2 * seed, 0.7], 0)[0], 0.0
        for _ in range(200):
            turning, _, reward, _ = step(turning, 0)
            still += reward
        assert still == 0
