"""Phototaxis as a compiled task: an agent with two eyes turns and drives to a lamp, then to the next one.

It shows how short a compiled task is: a new world in two plain functions.
"""

from __future__ import annotations

import math
from typing import Any

SPEED, TURN, EYES, NEAR = 0.05, 0.3, 0.8, 0.1  # a step, a turn, where the eyes look, where a lamp is reached
NEXT = 2.4  # radians from a lamp to the next one, on a circle of radius 1


def _distance(x: float, y: float, lamp: float) -> float:
    """Return how far it is to a lamp at an angle of the circle."""
    return math.hypot(math.cos(lamp) - x, math.sin(lamp) - y)


def _seen(x: float, y: float, heading: float, lamp: float) -> Any:
    """Return the light in the left eye and in the right one, between 0 and 1."""
    aside = math.atan2(math.sin(lamp) - y, math.cos(lamp) - x) - heading
    light = 1.0 / (1.0 + _distance(x, y, lamp))
    return light * max(math.cos(aside - EYES), 0.0), light * max(math.cos(aside + EYES), 0.0)


def reset(random: Any, goal: int) -> Any:
    """Begin in the middle of the circle, anyhow turned."""
    heading, lamp = 2 * math.pi * random[0], 2 * math.pi * random[1]
    return (0.0, 0.0, heading, lamp), _seen(0.0, 0.0, heading, lamp)


def step(state: Any, action: int) -> Any:
    """Turn to the left, drive, or turn to the right; the reward is how much nearer the lamp has come."""
    x, y, heading, lamp = state
    before = _distance(x, y, lamp)
    if action == 1:
        x, y = x + SPEED * math.cos(heading), y + SPEED * math.sin(heading)
    else:
        heading = heading + TURN * (1 - action)
    after = _distance(x, y, lamp)
    if after < NEAR:
        lamp = lamp + NEXT
    return (x, y, heading, lamp), _seen(x, y, heading, lamp), before - after, False


PHOTOTAXIS = {
    "reset": reset, "step": step, "actions": 3, "draws": 2, "steps": 200, "target": -4,
    "low": (0.0, 0.0), "high": (1.0, 1.0),
}  # fmt: skip
