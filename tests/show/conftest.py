"""The pages that several tests look at."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from distal.learners import register, unregister
from distal.show import modules, watch
from distal.show.watched import Watched
from distal.tasks.switching import Switch
from tests.conftest import launched
from tests.learners.test_registry import Jumps
from tests.show.pages import CLIMBER, RING, Opened, Tabs

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


FINISH = """
function finish(generator) {
  for (;;) {
    const { done, value } = generator.next();
    if (done) return value;
  }
}"""


browser = pytest.fixture(scope="package", name="browser")(launched)  # one for all pages


@pytest.fixture(scope="module")
def single() -> Watched:
    return watch.watch("paper:1", episodes=60)


@pytest.fixture(scope="module")
def compared() -> Watched:
    return watch.watch("paper:1", CLIMBER, episodes=40, maze=RING, steps=30, hidden=6, goal="b")


@pytest.fixture(scope="module")
def tabs(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tabs]:
    context = browser.new_context(offline=True, permissions=["clipboard-read", "clipboard-write"])
    yield Tabs(context, tmp_path_factory.mktemp("pages"))
    context.close()


@pytest.fixture
def opened(tabs: Tabs) -> Iterator[Opened]:
    """Open the page of a trial, without a network; at the end, nothing may have gone wrong in it."""
    yield tabs.open
    tabs.give_back()


@pytest.fixture(scope="module")
def port(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_script_tag(content=modules.joined("replay") + FINISH)
    yield page
    page.close()


@pytest.fixture(scope="module")
def moving() -> Watched:
    """Return a trial whose goals are b, 3 and b; what the climb found for b is worse for 3."""
    return watch.watch(
        "evolved:1", CLIMBER, episodes=30, switch=Switch(12, (2, 0)), maze=RING, steps=30, hidden=6,
        neurons="sigmoid", seed=2,
    )  # fmt: skip


@pytest.fixture
def jumps() -> Iterator[Jumps]:
    """Yield a learner that the page has no code for."""
    register(Jumps)
    yield Jumps(0.3, 0.2, 0.4)
    unregister("jumps")
