"""The curve of a page: EPs, the best so far, chance, and goals that move."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from distal.engines.batch import best_so_far
from distal.show.watched import Watched
from tests.show.pages import RING, Opened, drawn, of_colour


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
