"""The address of a page: it follows what is shown, and leads to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from distal.show import watch
from distal.show.watched import Watched
from tests.learners.test_registry import Jumps
from tests.show.pages import SMALL, Opened, Tabs, state, wait

if TYPE_CHECKING:
    from playwright.sync_api import Page


def copied(page: Page) -> str:
    """Press the button and return what it copied, after the name of the file."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.click("#copy-link")
    page.wait_for_selector("#notice:not(:empty)")
    assert page.inner_text("#notice") == "Link copied."
    link: str = page.evaluate("navigator.clipboard.readText()")
    assert link.startswith("file:///")
    assert link == page.url  # the address says the same
    return link[link.index("#") :]


def visit(page: Page, address: str) -> dict[str, Any]:
    """Type another address and return what is shown then."""
    page.evaluate(
        """address => new Promise(done => {
          document.getElementById("notice").textContent = "";
          window.addEventListener("hashchange", () => done(), { once: true });
          location.hash = address;
        })""",
        address,
    )
    return wait(page, lambda shown: shown["shown"])


def test_an_address_opens_the_page_at_an_episode_a_step_and_a_synapse(
    opened: Opened, single: Watched
) -> None:
    page = opened(single, place="#episode=7&step=3&synapse=i1-h2&phase=update")
    assert (state(page)["episode"], state(page)["step"]) == (7, 3)
    assert page.inner_text(".readout").startswith("input front → hidden 2")
    page.hover(".matrix", position={"x": 25, "y": 40})  # kept, as if clicked
    assert page.inner_text(".readout").startswith("input front → hidden 2")
    assert page.inner_text("#notice") == ""  # keys of a later version are ignored
    assert copied(page) == "#episode=7&step=3&synapse=i1-h2"
    shown = visit(page, "#episode=9")
    assert (shown["episode"], shown["step"]) == (9, shown["panels"][0]["steps"])
    assert shown["inspected"] is None
    shown = visit(page, "#12.4")  # for short
    assert (shown["episode"], shown["step"]) == (12, 4)
    page.keyboard.press(" ")
    shown = visit(page, "#episode=20&step=1")
    assert (shown["episode"], shown["step"], shown["playing"]) == (20, 1, False)


@pytest.mark.parametrize(
    ("name", "words", "entry"),
    [
        ("i0-h0", "input left → hidden 0", ("hidden", 0, 0)),
        ("bias-h19", "bias → hidden 19", ("hidden", 19, 3)),
        ("h19-h4", "hidden 19 → hidden 4", ("hidden", 4, 23)),
        ("o3-h5", "output straight → hidden 5", ("hidden", 5, 27)),
        ("h0-o1", "hidden 0 → output left", ("output", 1, 0)),
        ("bias-o3", "bias → output straight", ("output", 3, 20)),
    ],
)
def test_the_name_of_a_synapse_leads_to_it_and_back(
    synapses: Page, name: str, words: str, entry: tuple[str, int, int]
) -> None:
    shown = visit(synapses, f"#episode=3&synapse={name}")
    assert tuple(shown["inspected"][key] for key in ("matrix", "row", "column")) == entry
    assert synapses.inner_text(".readout").startswith(words)
    assert copied(synapses) == f"#episode=3&synapse={name}"


@pytest.fixture(scope="module")
def synapses(tabs: Tabs, single: Watched) -> Page:
    """Open the page of a trial that several tests look at, each at another place."""
    page = tabs.open(single)
    tabs.taken.remove(page)
    tabs.requests.clear()
    return page


@pytest.mark.parametrize(
    ("address", "episode", "told"),
    [
        ("#episode=999", 60, "there is no episode 999, only 1 to 60"),
        ("#episode=half", 5, "episode “half” is no whole number"),
        ("#episode=4&step=-1", 4, "step “-1” is no whole number"),
        ("#episode=4&synapse=h3-i2", 4, "there is no synapse “h3-i2”"),
        ("#episode=4&synapse=i0-o2", 4, "there is no synapse “i0-o2”"),
        ("#episode=4&synapse=<b>" + 50 * "x", 4, "there is no synapse “<b>xxxxxxxxxxxxxxxxx…”"),
        ("#nothing&at=all", 5, ""),
    ],
)
def test_of_what_an_address_should_not_hold_the_page_tells_politely(
    synapses: Page, address: str, episode: int, told: str
) -> None:
    synapses.evaluate("distal.goto(5, 2)")
    shown = visit(synapses, address)
    assert shown["episode"] == episode
    assert shown["inspected"] is None
    assert synapses.inner_text("#notice") == (told and f"In the address: {told}.")
    assert synapses.is_hidden("#alert")


def test_the_address_follows_what_is_shown_without_a_history(opened: Opened, single: Watched) -> None:
    page = opened(single)
    page.evaluate(
        """() => { const replace = history.replaceState.bind(history); window.calls = 0;
          history.replaceState = (...what) => { calls++; replace(...what); }; }"""
    )
    page.wait_for_timeout(600)
    assert page.evaluate("[location.hash, calls]") == ["", 0]  # nothing was done yet
    entries = page.evaluate("history.length")
    page.evaluate("() => { for (let episode = 1; episode <= 41; episode++) distal.goto(episode); }")
    page.keyboard.press("ArrowLeft")
    page.focus(".matrix")
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(600)
    assert page.evaluate("location.hash") == f"#episode=41&step={state(page)['step']}&synapse=i0-h0"
    assert 1 <= page.evaluate("calls") <= 4  # of 43 places
    assert page.evaluate("history.length") == entries


def test_where_a_page_may_not_copy_the_link_is_in_the_address(opened: Opened, single: Watched) -> None:
    page = opened(single)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    page.keyboard.press("End")
    page.keyboard.press("c")
    page.wait_for_selector("#notice:not(:empty)")
    assert page.inner_text("#notice").endswith("The link is in the address bar.")
    assert page.evaluate("location.hash") == "#episode=60"


def test_a_recording_has_addresses_without_synapses(opened: Opened, jumps: Jumps) -> None:
    page = opened(watch.watch(jumps, episodes=3, **SMALL), place="#episode=2&step=1&synapse=i0-h0")
    assert page.inner_text("#notice") == "In the address: a recording has no synapses to show."
    page.evaluate("document.getElementById('notice').textContent = ''")
    assert copied(page) == "#episode=2&step=1"
