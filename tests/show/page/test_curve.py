"""The curve of a page: EPs, the best so far, chance, and goals that move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from distal.engines.batch import best_so_far
from distal.show import watch
from distal.show.watched import Watched
from tests.show.pages import RING, SMALL, Opened, drawn, of_colour


def test_the_ep_stands_beside_the_best_so_far_in_the_figures(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    told = page.evaluate(
        """async () => {
          const all = [];
          for (let episode = 1; episode <= 40; episode++) {
            distal.goto(episode);
            while (!distal.state().shown) await new Promise(done => setTimeout(done));
            const figures = [...document.querySelectorAll(".ep")].map(e => e.textContent);
            all.push([...figures, document.querySelector("#curve").getAttribute("aria-valuetext")]);
          }
          return all;
        }"""
    )
    kinds = set()
    for n, (*figures, spoken) in enumerate(told):
        both = []
        for name, eps, figure in zip(compared.names, compared.eps[:, : n + 1], figures, strict=True):
            ep, best, first = eps[n], eps.min(), eps.argmin() == n
            kind = "best" if first else "= best" if ep == best else f"+{ep - best}"
            assert figure == f"{ep} {kind}"
            kinds.add(kind if ep == best else "+")
            both.append(f"{name} EP {ep}, best {best}")
        assert spoken == f"episode {n + 1}, {', '.join(both)}"
    assert kinds == {"best", "= best", "+"}


def test_the_curve_marks_the_ep_with_a_disc_and_the_best_so_far_with_a_ring(
    opened: Opened, single: Watched
) -> None:
    eps, n = single.eps[0], 40
    best = eps[: n + 1].min()
    assert abs(eps[n] - best) > 20
    blue = of_colour(drawn(opened(single, place=f"#{n + 1}"), "#curve"), "dsp")
    low, high = 38, max(100, int(eps.max()), single.chance[0])  # the axis, as of the line of chance
    span, (height, width) = high - low, blue.shape
    found = []
    for ep in (eps[n], best):
        for away in (0, 4.6):  # the middle; the upper left, where no line goes: on the ring, outside the disc
            y = 8 + (high + 0.04 * span - ep) / (1.1 * span) * (height - 28) - away
            found.append(blue[int(y), int(48 + n / 59 * (width - 56) - away)])
    assert found == [True, False, False, True]


def test_the_legend_names_every_line_of_the_curve(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    assert page.locator("#legend span").all_inner_texts() == [
        "paper:1: best so far",
        "hill climbing: best so far",
        "chance: best so far, mean of 200 trials",
        "shortest path",
    ]


def test_phases_are_marked_on_the_curve_and_all_lines_begin_anew(opened: Opened, moving: Watched) -> None:
    levels = (60.0, 90.0, 45.0)
    watched = replace(moving, chance=np.repeat(levels, (12, 12, 6)))
    curve = drawn(opened(watched), "#curve")
    height, width, _ = curve.shape
    x = 48 + np.array([0, 12, 24, 29]) / 29 * (width - 56)
    # Between the names, above, and the axes, below, there is nothing else; the episode shown is the first.
    assert [k for k in range(60, width) if curve[17, k, 3]] == [round(x[1]), round(x[2])]
    named = np.flatnonzero(of_colour(curve[3], "goal"))
    first = named[np.diff(named, prepend=-2) > 1]
    assert first.tolist() == pytest.approx((x[:3] + 3).tolist(), abs=1)

    shortest = [int(RING.start_distances[RING.symbols.index(goal)]) for goal in watched.goals]
    low, high = min(*shortest, int(watched.eps.min())), max(90, int(watched.eps.max()))
    top, bottom = high + 0.04 * (high - low), max(0, low - 0.06 * (high - low))
    assert len(set(shortest)) == 2
    for role, wanted in (("chance", levels), ("goal", shortest)):
        for level, left, right in zip(wanted, x, x[1:], strict=False):
            part = curve[19:-20, round(left + 9) : round(right - 9)]
            rows = np.flatnonzero(of_colour(part, role).any(axis=1))
            assert rows.size
            assert np.abs(rows - (top - level) / (top - bottom) * (height - 39)).max() <= 2
    # Nothing joins what was reached towards one goal with what follows towards the next.
    best = best_so_far(watched.eps, 12)
    for role, before, after in (("chance", 60, 90), ("hc", best[1, 11], best[1, 12])):
        ends = sorted(19 + (top - level) / (top - bottom) * (height - 39) for level in (before, after))
        between = curve[round(ends[0] + 5) : round(ends[1] - 5), round(x[1]) - 2 : round(x[1]) + 3]
        assert len(between) > 4
        assert not of_colour(between, role).any()


def test_many_phases_have_as_many_marks_as_can_be_told_apart(opened: Opened) -> None:
    page = opened(watch.watch("chance", episodes=300, switch=1, **SMALL), width=600)
    lines = np.flatnonzero(drawn(page, "#curve")[15, 60:, 3])
    assert len(lines) > 50
    assert np.diff(lines).min() >= 4
