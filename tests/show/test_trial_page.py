"""The file of a page: small, self-contained, and nothing in it breaks it."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np

from distal.show import watch
from distal.show.watched import Watched
from distal.tasks.picture import Picture
from tests.show.pages import SMALL, Opened, ring


def test_a_page_of_a_large_table_is_small() -> None:
    states = 60_000
    picture = Picture(["." * 250] * 240, cells=np.arange(states))
    watched = watch.watch("chance", task=ring(states, picture=picture), hidden=4, steps=50, episodes=20)
    assert len(watched.to_html().encode()) < 300_000


def test_no_name_can_break_the_page(opened: Opened, single: Watched) -> None:
    name = "</script><b id='broken'>{{data}}&amp;"
    page = opened(replace(single, names=(name,)))
    assert page.locator("#broken").count() == 0
    assert page.inner_text("h1").startswith(name)
    assert page.title().startswith(name)


def test_a_page_of_a_thousand_episodes_is_small_and_asks_for_nothing_from_outside() -> None:
    watched = watch.watch("paper:1", "hc", episodes=2, **SMALL)
    eps = np.random.default_rng(1).integers(100, 140, (2, 1_000), np.int32)
    text = replace(watched, eps=eps, chance=np.linspace(140, 39, 1_000)).to_html()
    assert len(text.encode()) < 200_000
    assert re.findall(r"(?:https?:)?//[\w.]+\.\w+", text) == []
    assert "default-src 'none'" in text
