"""What a page shows of each kind of learner: the rows of a rule, and recordings where it has no code."""

from __future__ import annotations

from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import distal
from distal.engines import reference
from distal.evaluation.usage import count_usage
from distal.show import watch
from distal.show.trial_page import page_data
from distal.show.watched import Watched
from tests.given import some
from tests.learners.test_registry import Jumps
from tests.show.pages import (
    BY_HAND,
    CLIMBER,
    RING,
    SMALL,
    Opened,
    drawn,
    eps_shown,
    of_colour,
    ring,
    state,
    wait,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_a_recording_says_so_and_everything_else_works(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=60, maze=RING, steps=30, hidden=6, goal="b", resample=20)
    page = opened(watched, place="#7.3")
    assert page.inner_text("#match") == "recorded: 60 episodes as the engine ran them"
    assert "kind jumps" in page.inner_text(".learner")
    assert "A recording holds no weights." in page.inner_text(".learner")
    assert page.locator(".learner dd").all_inner_texts() == ["0.3", "0.2", "0.4"]
    assert page.locator(".numbers span").all_inner_texts() == ["jump 0.3", "αh 0.2", "αo 0.4"]
    assert "resample 20" in page.inner_text("#subtitle")
    for episode in (1, 2, 31, 60):
        page.evaluate(f"distal.goto({episode})")
        before = "none" if episode == 1 else str(watched.eps[0, episode - 2])
        assert page.inner_text(".signal") == before
    page.keyboard.press("b")
    assert state(page)["episode"] == int(watched.eps[0].argmin()) + 1
    page.keyboard.press("w")  # there are no weights, and so no change of them
    assert state(page)["view"] == "weights"
    assert page.locator("[data-view], .scale, .readout").count() == 0
    page.keyboard.press("Home")
    page.click("#play")
    wait(page, lambda shown: shown["step"] >= 2)
    page.click("#play")
    page.keyboard.press("?")
    assert "This is a recording" in page.inner_text("#help")


def test_a_click_on_the_activity_jumps_to_its_step(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=3, maze=RING, steps=30, hidden=6, goal="b")
    page = opened(watched)
    box = some(page.locator(".matrix").bounding_box())
    steps = state(page)["panels"][0]["steps"]
    left, width = 54, box["width"] - 56
    page.mouse.click(box["x"] + left + width * 2 / 30, box["y"] + 30)
    assert state(page)["step"] == 2
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 30)
    assert state(page)["step"] == steps


def test_activity_is_drawn_where_neurons_were_active(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=2, maze=RING, steps=30, hidden=6, goal="b")
    picture = of_colour(drawn(opened(watched, place="#2"), ".matrix"), "other")
    (episode,) = islice(reference.episodes(watched.batches[0], 0), 1, 2)
    active = np.hstack([episode.inputs[:, :3], episode.hidden, episode.outputs])
    wide, high = (picture.shape[1] - 56) / 30, (picture.shape[0] - 4 - 18 - 12) / 13
    x = 54 + (np.arange(episode.steps) + 0.35) * wide
    y = 4 + (np.arange(13) + 0.5) * high + 6 * np.repeat([0, 1, 2], [3, 6, 4])
    assert 0 < active.mean() < 1
    assert picture[np.ix_(y.astype(int), x.astype(int))].T.tolist() == active.tolist()


def test_beside_a_recording_a_rule_is_still_computed_and_compared(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, "paper:1", episodes=12, **SMALL)
    wrong = watched.eps.copy()
    wrong[1, 3] += 1
    page = opened(replace(watched, eps=wrong))
    page.evaluate("distal.checked")
    assert page.inner_text("#match").startswith("✗ 1 episode of 12 of paper:1 differs from the engine")
    page = opened(watched, place="#5")
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == (
        "✓ 12 of 12 episodes of paper:1 match the engine · jumping is recorded"
    )
    assert eps_shown(page) == watched.eps[:, 4].tolist()
    page.keyboard.press("w")
    titles = ["Activity in episode 5, step by step", "Change after episode 5"]
    assert page.locator(".matrix-title").all_inner_texts() == titles
    page.focus(".panel:last-child .matrix")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout").startswith("input left → hidden 0")


def test_a_damaged_recording_is_reported(opened: Opened, jumps: Jumps, tmp_path: Path) -> None:
    watched = watch.watch(jumps, episodes=2, **SMALL)
    page = opened(watched)
    packed = page_data(watched)["learners"][0]["recording"]["packed"]
    broken = tmp_path / "broken.html"
    broken.write_text(watched.to_html().replace(packed, "AAAA"), encoding="utf-8")
    other = page.context.browser.new_page()  # type: ignore[union-attr]
    other.goto(broken.as_uri())
    other.wait_for_selector("#alert:not([hidden])")
    assert "The recording cannot be unpacked here" in other.inner_text("#alert")
    other.close()


def test_the_rule_is_lit_where_synapses_selected_it(opened: Opened, single: Watched) -> None:
    page = opened(single, place="#7.3")
    assert (state(page)["episode"], state(page)["step"]) == (7, 3)
    counts = [int(n) for n in page.locator(".halves tr.lit td.n").all_inner_texts()]
    assert sum(counts) == 624
    m = "+1" if single.eps[0, 6] <= single.eps[0, 5] else "−1"
    assert page.inner_text(".signal") == m
    assert page.locator(".halves tr.lit td:nth-child(5)").all_inner_texts() == [m] * len(counts)
    assert page.locator(".halves tbody tr").count() == 32


def used(counts: Any, number: int) -> str:
    """Return how often a row was used, in the words of the page; `counts` has a number for every row."""
    count = int(counts[number])
    return f"{count:,} time{'' if count == 1 else 's'} ({100 * count / counts.sum():.1f}%)"


def bars(page: Page) -> list[list[float]]:
    """Return how long the bars of every row are, solid and pale, as shares of the longest possible."""
    lengths: list[list[float]] = page.evaluate(
        """() => [...document.querySelectorAll(".halves .used i")].map(bar =>
          ["--now", "--whole"].map(name => /([\\d.]+)%/.exec(bar.style.getPropertyValue(name)))
            .map(found => found ? +found[1] : 0))"""
    )
    return lengths


def test_bars_and_words_tell_how_often_each_row_has_been_used(opened: Opened, single: Watched) -> None:
    """Up to episode 17 are the updates of a trial of 18 episodes: no episode follows its last one."""
    whole, so_far = (
        count_usage(batch, "cpu").counts.sum(axis=(0, 1))
        for batch in (single.batches[0], replace(single.batches[0], episodes=18))
    )
    page = opened(single, place="#17")
    page.evaluate("distal.checked")
    order = [*range(0, 32, 2), *range(1, 32, 2)]  # the half for m = −1 first
    assert page.locator(".halves tbody tr").evaluate_all("all => all.map(row => row.title)") == [
        f"row {k}: used {used(so_far, k)} up to episode 17, {used(whole, k)} in the whole trial"
        for k in order
    ]
    assert 0 < np.count_nonzero(so_far) < 32
    expected = np.stack([so_far, whole], axis=1)[order] * 100 / whole.max()
    assert np.abs(np.array(bars(page)) - expected).max() <= 0.005
    page.click(".halves tbody tr >> nth=3")  # where nothing can point
    assert page.inner_text("#notice").startswith("row 6: used ")
    page.evaluate("distal.goto(60)")
    assert "up to episode 60" in (page.get_attribute(".halves tbody tr", "title") or "")
    assert all(now == all_in_all for now, all_in_all in bars(page))


def test_the_rows_of_a_recorded_rule_are_counted_by_the_engine(opened: Opened) -> None:
    watched = watch.watch("evolved:1", CLIMBER, task=ring(9), resample=3, **BY_HAND)
    counts = count_usage(watched.batches[0], "cpu").counts.sum(axis=(0, 1))
    assert 0 < np.count_nonzero(counts) < 32
    page = opened(watched)
    rows = page.locator(".halves tbody tr")
    order = [*range(0, 32, 2), *range(1, 32, 2)]
    assert rows.evaluate_all("all => all.map(row => row.title)") == [
        f"row {k}: used {used(counts, k)} in the whole trial" for k in order
    ]
    changes = distal.find_rule("evolved:1").delta_w
    shown = [int(text.replace("−", "-")) for text in page.locator(".halves td.change").all_inner_texts()]
    assert shown == [changes[k] for k in order]
    lengths = np.array(bars(page))
    assert np.abs(lengths[:, 1] - counts[order] * 100 / counts.max()).max() <= 0.005
    assert not lengths[:, 0].any()
    assert page.locator(".halves").count() == 1  # a climber has no rows
