"""Recordings: a page plays what happened where it has no code for a learner."""

from __future__ import annotations

from dataclasses import make_dataclass, replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import distal
from distal.engines import reference
from distal.learners import Learner, register, unregister
from distal.model.maze import Maze, triple_t_maze
from distal.show import watch
from distal.show.trial_page import page_data
from distal.show.watched import Watched
from tests.given import some
from tests.learners.test_registry import Jumps
from tests.mazes import T
from tests.show.pages import (
    CHANCE,
    CLIMBER,
    RING,
    SMALL,
    Opened,
    drawn,
    eps_shown,
    of_colour,
    recorded,
    state,
    wait,
)

if TYPE_CHECKING:
    from playwright.sync_api import Page


# Plays a recording beside the same trial computed; returns how many steps were equal, or what differs.
COMPARE = """
async trials => {
  const all = [];
  for (const [computed, recorded] of trials) {
    const replay = new Replay(computed, computed.learners[0]);
    const played = new Recording(recorded, recorded.learners[0]);
    await played.load();
    finish(replay.check());
    let steps = 0;
    for (let n = 0; n < played.eps.length; n++) {
      const right = finish(replay.episode(n)).episode;
      const shown = finish(played.episode(n)).episode;
      const plain = value => JSON.stringify(value, (_, part) => ArrayBuffer.isView(part) ? [...part] : part);
      delete right.weights;
      delete right.activity; // a recording holds which neurons were active
      for (const key of Object.keys(right))
        if (plain(right[key]) !== plain(shown[key])) return `episode ${n}, ${key}: ${plain(shown[key])}`;
      steps += shown.steps;
    }
    all.push(steps);
  }
  return all;
}
"""


def test_a_recording_plays_what_the_page_would_compute_step_by_step(
    port: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Inputs, hidden neurons and outputs fill 14 to 17, 28 and 73 bits of a step."""
    pairs: list[tuple[Watched, Watched]] = []
    chosen: list[tuple[int, Learner, Maze, str, dict[str, Any]]] = [
        (7, distal.published_rule(1), RING, "b", {}),
        (8, CLIMBER, RING, "3", {"outputs": "binary", "blocked": "turn"}),
        (9, CHANCE, T, "1", {"outputs": "random"}),
        (20, distal.find_rule("evolved:1"), triple_t_maze(), "7", {}),
        (65, CLIMBER, Maze(RING.picture, "south"), "A", {}),
        (9, CHANCE, T, "1", {"outputs": "random", "neurons": "sigmoid", "switch": 2}),
        (6, distal.published_rule(1), RING, "b", {"neurons": "sigmoid", "switch": 5}),
    ]
    for hidden, learner, maze, goal, reading in chosen:
        options: Any = {
            "episodes": 12, "resample": 5, "seed": hidden, "maze": maze, "goal": goal, "hidden": hidden,
            "steps": 60, **reading,
        }  # fmt: skip
        pairs.append((watch.watch(learner, **options), recorded(monkeypatch, learner, **options)))
    played = port.evaluate(COMPARE, [[page_data(one), page_data(other)] for one, other in pairs])
    walks = [[episode.steps for episode in reference.episodes(one.batches[0], 0)] for one, _ in pairs]
    assert played == [sum(steps) for steps in walks]
    assert any(0 < min(steps) < max(steps) for steps in walks)  # some episodes end at the goal, and earlier


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


def test_many_numbers_of_a_learner_are_cut_short(opened: Opened) -> None:
    names = tuple(f"a_number_{k}" for k in range(40))
    fields: list[Any] = [(name, float, 0.5) for name in (*names, "alpha_h", "alpha_o")]
    known: dict[str, Any] = {
        "kind": "many", "label": "many", "file_format": "test-many", "names": names, "jump": 0.5,
        "update": Jumps.update,
    }  # fmt: skip
    many: Any = make_dataclass(
        "Many", [*fields, ("name", str, "")], bases=(Learner,), frozen=True, namespace=known
    )
    register(many)
    try:
        page = opened(watch.watch(many(), episodes=2, **SMALL), width=360, height=740)
    finally:
        unregister("many")
    assert page.inner_text(".numbers").endswith("…")
    assert page.locator(".parameters dt").all_inner_texts() == list(names[:9])
    assert "and 31 more numbers" in page.inner_text(".learner")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
