"""The colours: whoever sees no red, or no green, tells those apart that stand in one picture."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.typing import NDArray

from distal.base.colours import DARK, LIGHT
from distal.base.drawing import CHANGE_ROLES

# A private table: which colours stand beside each other in one figure.
from distal.evaluation.row_figures import _LAYER_ROLES
from distal.studies.plans.rivals import KINDS

# What eyes without one of the three cones see, in linear light (Machado, Oliveira, Fernandes 2009).
EYES = {
    "all cones": np.eye(3),
    "no red": np.array([
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]
    ]),
    "no green": np.array([
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]
    ]),
}  # fmt: skip
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
WHITE = TO_XYZ.sum(axis=1)
APART = 15  # in CIELAB; 2.3 is just noticeable side by side

TOGETHER = {
    "two learners and chance": ("dsp", "hc", "chance"),
    "the second of a kind": ("dsp", "hc", "other"),
    "layers": _LAYER_ROLES,
    "rivals with a solid line": tuple(kind.colour for kind in KINDS.values() if kind.style == "-"),
    "changes": (*(CHANGE_ROLES[change] for change in (-1, 1)), "zero"),
    "a maze": ("goal", "pit", "start", "floor"),
    "the paper and ours": ("paper", "dsp", "hc", "chance", "ink"),
}


def linear(colour: str) -> NDArray[np.float64]:
    """Return the light of a colour #rrggbb."""
    part = np.array([int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)])
    return np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)


def lab(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return light in CIELAB, whose distances are about those that people see."""
    share = TO_XYZ @ light.clip(0, 1) / WHITE
    x, y, z = np.where(share > 216 / 24389, np.cbrt(share), (24389 / 27 * share + 16) / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_white_and_grey_are_where_they_should_be() -> None:
    assert lab(linear("#ffffff")) == pytest.approx([100, 0, 0], abs=0.1)
    assert lab(linear("#777777")) == pytest.approx([50.03, 0, 0], abs=0.1)


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize("picture", TOGETHER)
def test_every_eye_tells_the_colours_of_a_picture_apart(picture: str, ground: str) -> None:
    colours = {"light": LIGHT, "dark": DARK}[ground]
    for eyes, seen in EYES.items():
        places = {role: lab(seen @ linear(colours[role])) for role in TOGETHER[picture]}
        for one, other in combinations(places, 2):
            assert np.linalg.norm(places[one] - places[other]) > APART, (eyes, one, other)
