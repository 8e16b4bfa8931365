"""CartPole, MountainCar and Acrobot as compiled tasks, with the equations of Gymnasium.

States are 64-bit floats. Observations are rounded to 32 bits, like Gymnasium's arrays. Sines and
cosines come from the C library, Gymnasium's mostly from NumPy, so a step may differ in the last
bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from distal.base.checks import one_of
from distal.tasks.compiled_task import CompiledTask
from distal.tasks.phototaxis import PHOTOTAXIS

PREFIX = "compiled:"
FAR = float(np.finfo(np.float32).max)  # no bound

# ------------------------------------------------------------------ CartPole (Barto, Sutton, Anderson 1983)

GRAVITY, CART, POLE, HALF, FORCE, TAU = 9.8, 1.0, 0.1, 0.5, 10.0, 0.02
TOTAL, MOMENT = POLE + CART, POLE * HALF
LEAN, EDGE = 12 * 2 * math.pi / 360, 2.4


def cart_pole_reset(random: Any, goal: int) -> Any:
    """Begin near the middle, upright."""
    state = (
        -0.05 + 0.1 * random[0], -0.05 + 0.1 * random[1], -0.05 + 0.1 * random[2], -0.05 + 0.1 * random[3],
    )  # fmt: skip
    return state, (np.float32(state[0]), np.float32(state[1]), np.float32(state[2]), np.float32(state[3]))


def cart_pole_step(state: Any, action: int) -> Any:
    """Push the cart to the left or to the right."""
    x, speed, angle, turning = state
    force = FORCE if action == 1 else -FORCE
    cosine, sine = math.cos(angle), math.sin(angle)
    temp = (force + MOMENT * (turning * turning) * sine) / TOTAL
    faster = (GRAVITY * sine - cosine * temp) / (HALF * (4.0 / 3.0 - POLE * (cosine * cosine) / TOTAL))
    push = temp - MOMENT * faster * cosine / TOTAL
    x, speed = x + TAU * speed, speed + TAU * push
    angle, turning = angle + TAU * turning, turning + TAU * faster
    end = x < -EDGE or x > EDGE or angle < -LEAN or angle > LEAN
    seen = (np.float32(x), np.float32(speed), np.float32(angle), np.float32(turning))
    return (x, speed, angle, turning), seen, 1.0, end


# ------------------------------------------------------------------ MountainCar (Moore 1990)

LEFT, RIGHT, FASTEST, TOP = -1.2, 0.6, 0.07, 0.5


def mountain_car_reset(random: Any, goal: int) -> Any:
    """Begin in the valley, at rest."""
    state = (-0.6 + 0.2 * random[0], 0.0)
    return state, (np.float32(state[0]), np.float32(state[1]))


def mountain_car_step(state: Any, action: int) -> Any:
    """Push to the left, not at all, or to the right."""
    position, speed = state
    speed += (action - 1) * 0.001 + math.cos(3 * position) * (-0.0025)
    speed = min(max(speed, -FASTEST), FASTEST)
    position += speed
    position = min(max(position, LEFT), RIGHT)
    if position == LEFT and speed < 0:
        speed = 0.0
    end = position >= TOP and speed >= 0
    return (position, speed), (np.float32(position), np.float32(speed)), -1.0, end


# ------------------------------------------------------------------ Acrobot (Sutton 1996)

DT, MOST_1, MOST_2 = 0.2, 4 * math.pi, 9 * math.pi


def _changes(first: float, second: float, speed_1: float, speed_2: float, torque: float) -> Any:
    """Return how fast the two angles and their speeds change."""
    d1 = 0.25 + (1.0 + 0.25 + 2 * 0.5 * math.cos(second)) + 1.0 + 1.0
    d2 = (0.25 + 0.5 * math.cos(second)) + 1.0
    phi2 = 0.5 * 9.8 * math.cos(first + second - math.pi / 2.0)
    phi1 = (
        -0.5 * (speed_2 * speed_2) * math.sin(second)
        - 2 * 0.5 * speed_2 * speed_1 * math.sin(second)
        + (0.5 + 1.0) * 9.8 * math.cos(first - math.pi / 2)
        + phi2
    )
    faster_2 = (torque + d2 / d1 * phi1 - 0.5 * (speed_1 * speed_1) * math.sin(second) - phi2) / (
        0.25 + 1.0 - d2 * d2 / d1
    )
    return speed_1, speed_2, -(d2 * faster_2 + phi1) / d1, faster_2


def _around(angle: float) -> float:
    """Return an angle between -π and π."""
    while angle > math.pi:
        angle -= 2 * math.pi
    while angle < -math.pi:
        angle += 2 * math.pi
    return angle


def _seen(state: Any) -> Any:
    """Return the cosines and sines of the angles, and the speeds."""
    return (
        np.float32(math.cos(state[0])), np.float32(math.sin(state[0])), np.float32(math.cos(state[1])),
        np.float32(math.sin(state[1])), np.float32(state[2]), np.float32(state[3]),
    )  # fmt: skip


def acrobot_reset(random: Any, goal: int) -> Any:
    """Begin hanging down, almost at rest."""
    state = (
        float(np.float32(-0.1 + 0.2 * random[0])), float(np.float32(-0.1 + 0.2 * random[1])),
        float(np.float32(-0.1 + 0.2 * random[2])), float(np.float32(-0.1 + 0.2 * random[3])),
    )  # fmt: skip
    return state, _seen(state)


def acrobot_step(state: Any, action: int) -> Any:
    """Turn the middle joint: a step of Runge and Kutta's method of fourth order."""
    torque = action - 1.0
    a, b, c, d = state
    a1, b1, c1, d1 = _changes(a, b, c, d, torque)
    a2, b2, c2, d2 = _changes(a + DT / 2 * a1, b + DT / 2 * b1, c + DT / 2 * c1, d + DT / 2 * d1, torque)
    a3, b3, c3, d3 = _changes(a + DT / 2 * a2, b + DT / 2 * b2, c + DT / 2 * c2, d + DT / 2 * d2, torque)
    a4, b4, c4, d4 = _changes(a + DT * a3, b + DT * b3, c + DT * c3, d + DT * d3, torque)
    first = _around(a + DT / 6.0 * (a1 + 2 * a2 + 2 * a3 + a4))
    second = _around(b + DT / 6.0 * (b1 + 2 * b2 + 2 * b3 + b4))
    speed_1 = min(max(c + DT / 6.0 * (c1 + 2 * c2 + 2 * c3 + c4), -MOST_1), MOST_1)
    speed_2 = min(max(d + DT / 6.0 * (d1 + 2 * d2 + 2 * d3 + d4), -MOST_2), MOST_2)
    following = (first, second, speed_1, speed_2)
    end = -math.cos(first) - math.cos(second + first) > 1.0
    return following, _seen(following), 0.0 if end else -1.0, end


# ------------------------------------------------------------------ the tasks that come with the package

TASKS: dict[str, Mapping[str, Any]] = {
    "CartPole": {
        "reset": cart_pole_reset, "step": cart_pole_step, "actions": 2, "draws": 4, "steps": 500,
        "target": -475,
        "low": (-2 * EDGE, -FAR, -2 * LEAN, -FAR), "high": (2 * EDGE, FAR, 2 * LEAN, FAR),
    },
    "MountainCar": {
        "reset": mountain_car_reset, "step": mountain_car_step, "actions": 3, "draws": 1, "steps": 200,
        "target": 110, "low": (LEFT, -FASTEST), "high": (RIGHT, FASTEST),
    },
    "Acrobot": {
        "reset": acrobot_reset, "step": acrobot_step, "actions": 3, "draws": 4, "steps": 500, "target": 100,
        "low": (-1.0, -1.0, -1.0, -1.0, -MOST_1, -MOST_2), "high": (1.0, 1.0, 1.0, 1.0, MOST_1, MOST_2),
    },
    "Phototaxis": PHOTOTAXIS,
}  # fmt: skip


def classic_task(name: str, encode: Any = None) -> CompiledTask:
    """Return one of the tasks, by its name; "compiled:" may stand before it."""
    word = f"{PREFIX}{str(name).removeprefix(PREFIX)}"
    known = one_of("task", word, [f"{PREFIX}{one}" for one in TASKS]).removeprefix(PREFIX)
    given = dict(TASKS[known])
    # Bounds are those of what is seen, which is rounded to 32 bits.
    for bound in ("low", "high"):
        given[bound] = tuple(float(np.float32(one)) for one in given[bound])
    made = CompiledTask(**given, name=f"{PREFIX}{known}", encode=encode)
    made.recipe = {"kind": "compiled", "name": known}
    return made
