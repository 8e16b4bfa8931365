"""The modules of the page: each stands on its own, and they have code for every value of a setting."""

from __future__ import annotations

from importlib import resources
from typing import TYPE_CHECKING

import pytest

from distal.model.readings import WORDS
from distal.show import modules
from distal.show.watched import Watched
from tests.show.pages import state

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route


def test_a_browser_that_loads_the_modules_one_by_one_shows_the_same_page(
    browser: Browser, single: Watched
) -> None:
    """So every name that a module uses is its own or imported, and every import exists."""
    page, problems, loaded = browser.new_page(), [], set()
    page.on("pageerror", lambda error: problems.append(str(error)))
    html = single.to_html().replace("script-src 'unsafe-inline'", "script-src 'self'")
    html = html.replace(modules.joined("watch"), "").replace(
        '<script type="module">', '<script type="module" src="watch.js">'
    )

    def serve(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        loaded.add(name)
        content = html if name == "page.html" else modules.asset(name)
        route.fulfill(body=content, content_type="text/html" if name == "page.html" else "text/javascript")

    page.route("**/*", serve)
    page.goto("http://distal.test/page.html#7.3")
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 60 of 60 episodes match the engine"
    for key in ("End", "w", "x", "d", "b", "?", "Escape"):
        page.keyboard.press(key)
    assert state(page)["episode"] == int(single.eps[0].argmin()) + 1
    assert problems == []
    there = {file.name for file in (resources.files("distal.show") / "page").iterdir()}
    assert loaded - {"page.html"} == {name for name in there if name.endswith(".js")}
    page.close()


def test_the_page_has_code_for_every_value_of_a_setting(port: Page) -> None:
    known = port.evaluate("Object.fromEntries(Object.entries(READINGS).map(([k, v]) => [k, Object.keys(v)]))")
    assert known == {name: list(row.known_to("page")) for name, row in WORDS.items()}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("normalise: 'column'", "normalise is column, and this page has code only for neuron, layer, none"),
        ("network: 'forward'", "network is forward, and this page has code only for recurrent"),
        ("neurons: 'spiking'", "neurons is spiking, and this page has code only for binary, sigmoid"),
    ],
)
def test_a_value_without_code_is_an_error_that_names_it(port: Page, change: str, told: str) -> None:
    usual = "outputs: 'winner', blocked: 'turn', m_ties: 'reward', trace_pre: 'current', normalise: 'layer'"
    message = port.evaluate(
        f"() => {{ try {{ readingsOf({{ {usual}, {change} }}); }} catch (told) {{ return told.message; }} }}"
    )
    assert message == told
