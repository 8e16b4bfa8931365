"""The rows of a rule on its page: which were selected, and how often each was used."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import distal
from distal.evaluation.usage import count_usage
from distal.show import watch
from distal.show.watched import Watched
from tests.show.pages import BY_HAND, CLIMBER, Opened, Tabs, ring, state

if TYPE_CHECKING:
    from playwright.sync_api import Page


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
    return f"{count:,} time{'' if count == 1 else 's'} ({100 * count / counts.sum():.1f} %)"


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


def test_until_all_episodes_are_compared_the_words_say_how_many_are_counted(
    tabs: Tabs, single: Watched, tmp_path: Path
) -> None:
    """The clock of this page goes on by 4 ms whenever it is read, and what it puts off we run ourselves."""
    path = tmp_path / "slow.html"
    path.write_text(single.to_html(), encoding="utf-8")
    page = tabs.context.new_page()
    page.add_init_script(
        "let clock = 0; performance.now = () => (clock += 4);"
        "window.queue = []; window.setTimeout = (action) => queue.push(action);"
    )
    page.goto(path.as_uri())
    page.evaluate("() => { while (distal.state().checked[0] < 20) queue.shift()(); distal.goto(5); }")
    counted = state(page)["checked"][0]
    assert 20 <= counted < 60
    told = page.get_attribute(".halves tbody tr", "title") or ""
    assert " up to episode 5, " in told
    assert told.endswith(f" in the {counted} of 60 episodes counted so far")
    page.close()


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
