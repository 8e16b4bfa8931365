"""What a person sees and does on the page of a trial."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import islice
from typing import Any

import pytest

from distal.engines import reference
from distal.model.readings import READINGS
from distal.show import watch
from distal.show.watched import Watched
from tests.given import some
from tests.learners.test_registry import Jumps
from tests.show.pages import (
    BY_HAND,
    CHANCE,
    LOOK,
    RING,
    SMALL,
    TEXTS,
    Opened,
    activity,
    contrast,
    drawn,
    eps_shown,
    in_both_themes,
    lake,
    numbers_of,
    ring,
    state,
    wait,
)


def test_the_page_says_that_all_episodes_match_and_shows_the_engines_eps(
    opened: Opened, single: Watched
) -> None:
    page = opened(single)
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 60 of 60 episodes match the engine"
    assert page.is_hidden("#alert")
    for episode in (1, 2, 17, 50, 60):
        page.evaluate(f"distal.goto({episode})")
        assert page.inner_text(".ep").split()[0] == str(single.eps[0, episode - 1])
        assert page.inner_text(".best").split()[0] == str(single.eps[0, :episode].min())


def test_a_wrong_ep_is_reported_with_its_episode(opened: Opened, single: Watched) -> None:
    wrong = single.eps.copy()
    wrong[0, 16] += 1
    page = opened(replace(single, eps=wrong))
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✗ 1 episode of 60 differs from the engine"
    right = single.eps[0, 16]
    assert f"Episode 17 of paper:1: this page computes EP {right}, the engine computed {right + 1}" in (
        page.inner_text("#alert")
    )


def test_it_plays_from_one_episode_to_the_next_and_pauses(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    assert (state(page)["episode"], state(page)["step"], state(page)["playing"]) == (1, 0, False)
    for _ in range(4):
        page.click("#faster")
    page.click("#play")
    wait(page, lambda shown: shown["episode"] >= 3)
    page.click("#play")
    paused = state(page)
    assert not paused["playing"]
    page.wait_for_timeout(60)
    assert state(page) == paused


def test_learning_plays_whole_episodes_to_the_end(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    page.keyboard.press("l")
    page.keyboard.press("+")
    page.keyboard.press("+")
    page.keyboard.press(" ")
    shown = wait(page, lambda shown: shown["episode"] == 40 and not shown["playing"])
    assert shown["step"] == max(panel["steps"] for panel in shown["panels"])
    page.keyboard.press(" ")  # at the end, it starts over
    wait(page, lambda shown: shown["episode"] < 40)


def test_a_click_on_the_curve_and_the_sliders_jump(opened: Opened, single: Watched) -> None:
    page = opened(single)
    box = some(page.locator("#curve").bounding_box())
    middle = box["y"] + box["height"] / 2
    page.mouse.click(box["x"] + box["width"] - 9, middle)
    assert state(page)["episode"] == 60
    page.mouse.click(box["x"] + box["width"] / 2, middle)
    assert 28 <= state(page)["episode"] <= 32
    page.mouse.down()
    page.mouse.move(box["x"] + 49, middle)
    page.mouse.up()
    assert state(page)["episode"] == 1
    page.click("#log")
    page.mouse.click(box["x"] + box["width"] / 2, middle)
    assert 6 <= state(page)["episode"] <= 9  # √60
    page.fill("#episode", "44")
    assert state(page)["episode"] == 44
    assert page.inner_text(".ep").split()[0] == str(single.eps[0, 43])
    page.fill("#step", "5")
    assert state(page)["step"] == 5
    assert page.inner_text(".step").startswith("5 /")


def test_the_keys_do_what_the_help_says(opened: Opened, single: Watched) -> None:
    page = opened(single)

    def after(*keys: str) -> dict[str, Any]:
        for key in keys:
            page.keyboard.press(key)
        return state(page)

    assert after("ArrowRight", "ArrowRight")["step"] == 2
    assert after("ArrowLeft")["step"] == 1
    assert after("ArrowLeft", "ArrowLeft")["episode"] == 1
    assert after("ArrowDown")["episode"] == 2
    assert after("ArrowRight")["episode"] == 3  # beyond the last step: the next episode
    assert after("ArrowLeft")["episode"] == 2
    assert after("PageDown")["episode"] == 12
    assert after("PageUp", "ArrowUp")["episode"] == 1
    assert after("End")["episode"] == 60
    assert after("Home")["episode"] == 1
    assert after("b")["episode"] == int(single.eps[0].argmin()) + 1
    assert (after("+")["speed"], after("-", "-")["speed"]) == (50, 10)
    assert after("w")["view"] == "change"
    assert "Change after episode" in page.inner_text(".matrix-title")
    assert after("x")["log"]
    assert after("d")["theme"] == "dark"
    assert after(" ")["playing"]
    assert not after(" ")["playing"]
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert page.is_hidden("#help")


def test_an_entry_of_the_matrix_tells_its_synapse(opened: Opened, single: Watched) -> None:
    page = opened(single)
    page.focus(".matrix")
    page.keyboard.press("ArrowRight")  # the first press selects the first entry
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    told = page.inner_text(".readout")
    assert told.startswith("input front → hidden 1")
    weight = next(reference.episodes(single.batches[0], 0)).weights.hidden[1, 1]
    assert f"weight {weight:.4f}".replace("-", "−") in told
    numbers = some(re.search(r"00 (\d+) · 01 (\d+) · 10 (\d+) · 11 (\d+)", told))
    assert sum(map(int, numbers.groups())) == state(page)["panels"][0]["steps"]
    page.keyboard.press("ArrowDown")
    page.hover(".matrix", position={"x": 25, "y": 40})
    assert "→ hidden 0" in page.inner_text(".readout")


def test_a_page_of_chance_says_that_nothing_is_learned(opened: Opened) -> None:
    watched = watch.watch(CHANCE, episodes=20, maze=RING, steps=30, hidden=6, resample=4)
    page = opened(watched, place="#9")
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 20 of 20 episodes match the engine"
    assert page.inner_text(".ep").split()[0] == str(watched.eps[0, 8])
    assert "Nothing is learned" in page.inner_text(".learner")
    assert page.locator(".learner dd").all_inner_texts() == ["0.4", "0.7"]  # alpha_h, alpha_o, no sigma
    assert page.locator(".halves").count() == 0
    best = int(watched.eps[0, :9].argmin()) + 1
    assert page.inner_text(".verdict") == ("the best so far" if best == 9 else "not the best so far")
    assert "fresh weights every" not in page.inner_text("#subtitle")
    page.keyboard.press("w")  # there is no change to look at
    assert state(page)["view"] == "weights"
    assert page.locator("[data-view]").count() == 0
    page.focus(".matrix")
    page.keyboard.press("ArrowRight")
    weight = next(islice(reference.episodes(watched.batches[0], 0), 8, None)).weights.hidden[0, 0]
    told = page.inner_text(".readout")
    assert told == f"input left → hidden 0 weight {weight:.4f}, drawn afresh".replace("-", "−")


def test_only_settings_that_differ_from_the_default_are_named(opened: Opened) -> None:
    names = list(READINGS)
    usual = opened(watch.watch("paper:1", episodes=1, **SMALL)).inner_text("#subtitle")
    assert not any(name in usual for name in names)
    other = watch.watch("paper:1", episodes=1, trace_pre="previous", m_ties="punish", **SMALL)
    page = opened(other)
    told = page.inner_text("#subtitle")
    assert [name for name in names if name in told] == ["m_ties", "trace_pre"]
    page.keyboard.press("?")
    assert "an equal EP counts as worse" in page.inner_text("#help")


def test_the_page_tells_the_phase_its_goal_and_the_best_in_it(opened: Opened, moving: Watched) -> None:
    page = opened(moving)
    assert page.title() == "evolved:1 against hill climbing, learning to reach a goal that moves"
    assert "6 sigmoid hidden neurons" in page.inner_text("#subtitle")
    assert "the goal moves every 12 episodes" in page.inner_text("#subtitle")
    assert page.locator(".best-name").all_inner_texts() == ["Best in phase"] * 2
    for episode, phase, goal in ((1, 0, "b"), (12, 0, "b"), (13, 1, "3"), (24, 1, "3"), (30, 2, "b")):
        page.evaluate(f"distal.goto({episode})")
        assert (state(page)["phase"], state(page)["goal"]) == (phase + 1, goal)
        assert page.locator(".phase").all_inner_texts() == [f"{goal} phase {phase + 1} / 3"] * 2
        assert (page.get_attribute(".maze", "aria-label") or "").startswith(f"The maze: goal {goal},")
        assert f"phase {phase + 1}, goal {goal}, " in (page.get_attribute("#curve", "aria-valuetext") or "")
        eps = moving.eps[:, 12 * phase : episode]
        found = [f"{one.min()} ep. {12 * phase + one.argmin() + 1}" for one in eps]
        assert page.locator(".best").all_inner_texts() == found
    page.evaluate("distal.goto(20)")
    page.keyboard.press("b")  # the best of the phase
    low = moving.eps[:, 12:24].min(axis=1)
    assert state(page)["episode"] == 13 + moving.eps[low.argmin(), 12:24].argmin()
    page.keyboard.press("?")
    assert page.is_visible("#help-moves")
    assert page.is_visible("#help-graded")


def test_the_parts_of_an_ep_are_told_and_add_up(opened: Opened, moving: Watched) -> None:
    page, told = opened(moving), r"(\d+) steps?(?: \+ distance (\d+))?(?: \+ 5 × (\d+) pit .*)? = EP (\d+)$"
    for episode in range(10, 20):
        page.evaluate(f"distal.goto({episode})")
        ends, entries = (page.locator(part).all_inner_texts() for part in (".outcome", ".pits"))
        for ep, end, pits in zip(moving.eps[:, episode - 1], ends, entries, strict=True):
            parts = some(re.search(told, end))
            steps, distance, entered, total = (int(part or 0) for part in parts.groups())
            assert steps + distance + 5 * entered == total == ep
            assert pits == f"{entered} / {entered}"


def test_the_page_says_who_is_told_of_a_move(opened: Opened, moving: Watched) -> None:
    page = opened(moving, place="#13")
    rule, climb = page.locator(".learner").all_inner_texts()
    assert "The goal has moved; nothing tells the rule." in rule
    best, before = int(moving.eps[1, :12].argmin()) + 1, moving.eps[1, :12].min()
    now = moving.eps[1, 12]
    assert now > before
    assert f"the weights of episode {best} (EP {before}) run unchanged" in climb
    assert f"The climb continues from their new EP, {now}." in climb
    assert page.inner_text(".verdict") == "measured again"
    page.focus(".panel:last-child .matrix")
    page.keyboard.press("ArrowRight")
    weight, told = page.locator(".readout").all_inner_texts()[1].split("weight ")[1].split(" = best ")
    assert told == f"{weight}, as it was"
    page.evaluate("distal.goto(14)")
    assert "has moved" not in page.inner_text("#panels")
    assert f"the weights of episode 13 (EP {now}) plus noise" in page.inner_text("#panels")


def test_a_sigmoid_neuron_is_filled_up_to_what_it_passes_on(opened: Opened, moving: Watched) -> None:
    page = opened(moving, place="#20.5")
    for batch, panel in zip(moving.batches, page.locator(".panel").all(), strict=True):
        levels = activity(batch, 19)[4]
        cells = panel.locator(".hidden .cells span")
        shown = cells.evaluate_all(
            "all => all.map(e => [parseFloat(e.style.getPropertyValue('--level')), e.title])"
        )
        assert [level for level, _ in shown] == pytest.approx((100 * levels).tolist())
        assert [title for _, title in shown] == [
            f"hidden neuron {j}: {level:.3f}" for j, level in enumerate(levels)
        ]
        active = (levels > 0.5).astype(int).tolist()
        assert cells.evaluate_all("all => all.map(e => +e.classList.contains('on'))") == active
    matrix, levels = drawn(page, ".matrix"), activity(moving.batches[0], 19)[4]
    cell = (len(matrix) - 54) / 10  # six hidden neurons and four outputs
    marks = [matrix[int(30 + (j + 0.5) * cell), 9, 3] / 255 for j in range(6)]
    assert marks == pytest.approx(levels.tolist(), abs=0.01)
    for _ in in_both_themes(page):  # the text stands on the fill as well as on the ground
        for ink, fill in page.evaluate(
            """[...document.querySelectorAll(".graded span")].map(e => [getComputedStyle(e).color,
              getComputedStyle(e).backgroundImage.match(/(rgb|color)\\([^)]*\\)/)[0]])"""
        ):
            assert contrast(ink, fill) >= 4.5


@pytest.mark.parametrize("kind", ["grid", "states", "moving", "compared"])
def test_a_page_fits_a_phone_and_can_be_read(
    opened: Opened, kind: str, moving: Watched, compared: Watched
) -> None:
    if kind in ("grid", "states"):
        task = lake(encode="one-hot") if kind == "grid" else ring(64)
        watched = watch.watch("evolved:1", "hc", task=task, **BY_HAND)
    else:
        watched = moving if kind == "moving" else compared
    page = opened(watched, width=360, height=740, scheme="dark", place="#2.5")
    assert state(page)["theme"] == "dark"
    for _ in in_both_themes(page):
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        for what, ink, ground in page.evaluate(LOOK, TEXTS):
            assert contrast(ink, ground) >= 4.5, (what, ink, ground)
    first, second = (panel.bounding_box() for panel in page.locator(".panel").all())
    assert first is not None
    assert first["x"] == some(second)["x"]
    assert first["y"] + first["height"] < some(second)["y"]


def test_the_controls_leave_three_quarters_of_a_phone_to_the_maze(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    for width, height in ((390, 844), (375, 667), (360, 640)):
        page.set_viewport_size({"width": width, "height": height})
        dock = some(page.locator("#dock").bounding_box())
        assert dock["height"] <= height / 4


@pytest.mark.parametrize(
    ("learners", "roles"),
    [
        (("paper:1", "hc"), ("dsp", "hc")),
        (("paper:1", "paper:2"), ("dsp", "hc")),
        ((Jumps(0.3, 0.2, 0.4), Jumps(0.9, 0.2, 0.4)), ("other", "dsp")),
    ],
)
@pytest.mark.usefixtures("jumps")
def test_every_panel_has_the_colour_of_its_learner_and_all_text_can_be_read(
    opened: Opened, learners: tuple[Any, Any], roles: tuple[str, str]
) -> None:
    page = opened(watch.watch(*learners, episodes=3, **SMALL), place="#2.3")
    for theme in in_both_themes(page):
        swatches = page.locator(".swatch").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor)"
        )
        shown = [numbers_of(colour) for colour in swatches]
        assert shown[0] != shown[1]
        for colour, role in zip(shown, roles, strict=True):
            assert colour == numbers_of(theme[role])
        for what, ink, ground in page.evaluate(LOOK, TEXTS):
            assert contrast(ink, ground) >= 4.5, (what, ink, ground)


def test_two_learners_share_the_controls(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 80 of 80 episodes match the engine"
    for episode in (10, 23):
        page.evaluate(f"distal.goto({episode})")
        assert eps_shown(page) == compared.eps[:, episode - 1].tolist()
        accepted = compared.eps[1, episode - 1] < compared.eps[1, : episode - 1].min()
        assert page.inner_text(".verdict") == ("accepted as the new best" if accepted else "rejected")


# All that belongs to a panel, and the rows of both tables.
PARTS = (
    ".stats div, .outcome, .maze, .layer, .cells span, .matrix-head, .matrix, .scale, .readout, .key, "
    ".learner, .halves tr, .parameters div, .verdict"
)


@pytest.mark.usefixtures("jumps")
@pytest.mark.parametrize(
    ("against", "options"),
    [
        ("hc", {"resample": 4}),
        (Jumps(0.3, 0.2, 0.4), {"resample": 4}),
        ("hc", {"switch": 3, "neurons": "sigmoid"}),
    ],
)
def test_at_1400_by_900_two_learners_hide_nothing(
    opened: Opened, against: Any, options: dict[str, Any]
) -> None:
    watched = watch.watch("evolved:1", against, episodes=12, **options)
    page = opened(watched, width=1400, height=900)
    whole = page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert whole == [1400, 900]
    dock = some(page.locator("#dock").bounding_box())
    for episode, inspected in ((1, False), (4, False), (4, True), (7, True)):
        page.evaluate(f"distal.goto({episode})")
        if inspected:
            page.locator(".matrix").first.click(position={"x": 70, "y": 80})
            assert "→ hidden" in page.locator(".readout").first.inner_text()
        boxes = page.evaluate(
            """selector => [...document.querySelectorAll(".panel")].flatMap(panel => {
              const inside = panel.getBoundingClientRect();
              return [...panel.querySelectorAll(selector)].filter(e => !e.hidden).map(e => {
                const box = e.getBoundingClientRect();
                const edges = [inside.left, box.left, box.right, inside.right];
                return [e.className, ...edges, box.top, box.bottom, inside.bottom];
              });
            })""",
            PARTS,
        )
        assert len(boxes) > 100
        for name, from_left, left, right, to_right, top, bottom, panel in boxes:
            assert from_left <= left <= right <= to_right, name
            assert 0 <= top < bottom <= panel <= dock["y"], name
        if inspected:
            page.locator(".matrix").first.click(position={"x": 70, "y": 80})
    controls = page.locator("#dock button, #dock input, header button, #dock canvas").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right, box.bottom])"
    )
    assert len(controls) > 12
    assert all(left >= 0 and right <= 1400 and bottom <= 900 for left, right, bottom in controls)
