"""The modules of the page: each stands on its own, and joined they are one script."""

from __future__ import annotations

import re
from collections import Counter
from importlib import resources
from typing import TYPE_CHECKING

import pytest

from distal.model.readings import words
from distal.show import modules
from distal.show.watched import Watched
from tests.show.pages import state

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FILES = {
    file.name: file.read_text("utf-8")
    for file in (resources.files("distal.show") / "page").iterdir()
    if file.name.endswith(".js")
}


def test_every_module_is_part_of_the_page_after_those_that_it_imports() -> None:
    order = modules.modules("watch")
    assert sorted(f"{name}.js" for name in order) == sorted(FILES)
    for k, name in enumerate(order):
        imported = re.findall(r'from "\./(\w+)\.js"', FILES[f"{name}.js"])
        assert set(imported) <= set(order[:k]), name


def test_joined_modules_import_nothing_and_define_every_name_once() -> None:
    script = modules.joined("watch")
    assert not re.search(r"^(?:import|export)\b", script, re.MULTILINE)
    defined = Counter(re.findall(r"^(?:async )?(?:function\*?|const|let|class) (\w+)", script, re.MULTILINE))
    assert len(defined) > 200
    assert {name for name, times in defined.items() if times > 1} == set()


def test_modules_that_import_one_another_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    ring = {"one.js": 'import { b } from "./two.js";\n', "two.js": 'import { a } from "./one.js";\n'}
    monkeypatch.setattr(modules, "asset", ring.__getitem__)
    with pytest.raises(ValueError, match="one → two → one"):
        modules.joined("one")


def test_a_browser_that_loads_the_modules_one_by_one_shows_the_same_page(
    browser: Browser, single: Watched
) -> None:
    """So every name that a module uses is its own or imported, and every import exists."""
    page, problems = browser.new_page(), []
    page.on("pageerror", lambda error: problems.append(str(error)))
    html = single.to_html().replace("script-src 'unsafe-inline'", "script-src 'self'")
    html = html.replace(modules.joined("watch"), "", 1).replace(
        '<script type="module">', '<script type="module" src="watch.js">'
    )

    def serve(route: Route) -> None:
        name = route.request.url.rsplit("/", 1)[1]
        content = html if name == "page.html" else FILES[name]
        route.fulfill(body=content, content_type="text/html" if name == "page.html" else "text/javascript")

    page.route("**/*", serve)
    page.goto("http://distal.test/page.html#7.3")
    page.evaluate("distal.ready")
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 60 of 60 episodes match the engine"
    for key in ("End", "w", "x", "d", "b", "?", "Escape"):
        page.keyboard.press(key)
    assert state(page)["episode"] == int(single.eps[0].argmin()) + 1
    assert problems == []
    page.close()


def test_the_page_has_code_for_every_value_of_a_setting(port: Page) -> None:
    known = port.evaluate("Object.fromEntries(Object.entries(READINGS).map(([k, v]) => [k, Object.keys(v)]))")
    assert known == {name: list(row.known_to("page")) for name, row in words().items()}


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ("normalise: 'column'", "normalise is column, and this page has code for neuron, layer, none alone"),
        ("network: 'forward'", "network is forward, and this page has code for recurrent alone"),
        ("neurons: 'spiking'", "neurons is spiking, and this page has code for binary, sigmoid alone"),
    ],
)
def test_a_value_without_code_is_an_error_that_names_it(port: Page, change: str, told: str) -> None:
    usual = "outputs: 'winner', blocked: 'turn', m_ties: 'reward', trace_pre: 'current', normalise: 'layer'"
    message = port.evaluate(
        f"() => {{ try {{ readingsOf({{ {usual}, {change} }}); }} catch (told) {{ return told.message; }} }}"
    )
    assert message == told
