"""Pages of trials in a browser: opening them, looking at them, and trials to look at."""

from __future__ import annotations

import base64
import io
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from distal.base.colours import DARK, LIGHT
from distal.engines import Batch, reference
from distal.learners import Learner
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.model.maze import Maze
from distal.networks import Acting, network_for
from distal.show import watch
from distal.show.watched import Watched
from distal.tasks.sources import task_of
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.mazes import T

if TYPE_CHECKING:
    from playwright.sync_api import BrowserContext, Page

CLIMBER = HillClimbing(0.3, 0.4, 0.7)
CHANCE = Chance(0.4, 0.7)
SMALL: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 3}
BY_HAND: dict[str, Any] = {"hidden": 4, "steps": 15, "episodes": 8, "seed": 1}
RING = Maze.from_text(
    """
#########
#A.....b#
#.##.##.#
#.#3..#.#
#...S...#
#########
""",
    "west",
)
Opened = Callable[..., "Page"]


class Tabs:
    """Tabs of one window without a network, which tests take in turn: to make one takes long."""

    def __init__(self, context: BrowserContext, folder: Path) -> None:
        self.context, self.folder = context, folder
        self.free: list[Page] = []
        self.taken: list[Page] = []
        self.problems: list[str] = []
        self.requests: list[str] = []
        self.opened = 0

    def _tab(self) -> Page:
        if self.free:
            return self.free.pop()
        page = self.context.new_page()
        page.on("console", lambda message: self.problems.append(message.text))
        page.on("pageerror", lambda error: self.problems.append(str(error)))
        page.on("request", lambda request: self.requests.append(request.url))
        return page

    def open(
        self, watched: Watched, width: int = 1280, height: int = 800, scheme: Any = "light", place: str = ""
    ) -> Page:
        """Open the page of a trial and wait until it shows something."""
        self.opened += 1
        path = self.folder / f"watch-{self.opened}.html"  # another address: the same would not be loaded anew
        path.write_text(watched.to_html(), encoding="utf-8")
        page = self._tab()
        self.taken.append(page)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme)
        page.goto(path.as_uri() + place)
        page.evaluate("distal.ready")
        return page

    def give_back(self) -> None:
        """Take all tabs back; nothing may have gone wrong in them."""
        count = len(self.taken)
        for page in self.taken:
            page.goto("about:blank")  # nothing goes on computing
        self.free += self.taken
        problems, requests = self.problems, [one for one in self.requests if one != "about:blank"]
        self.taken, self.problems, self.requests = [], [], []
        assert problems == []
        assert len(requests) == count  # the page itself, each time it was opened


def state(page: Page) -> dict[str, Any]:
    shown: dict[str, Any] = page.evaluate("distal.state()")
    return shown


def eps_shown(page: Page) -> list[int]:
    """Return the EP that each panel shows, without what stands beside it."""
    return [int(told.split()[0]) for told in page.locator(".ep").all_inner_texts()]


def wait(page: Page, condition: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """Wait until the page shows something; Playwright's own way is code that the page forbids."""
    for _ in range(500):
        shown = state(page)
        if condition(shown):
            return shown
        page.wait_for_timeout(20)
    raise AssertionError(f"waited in vain, the page shows {state(page)}")


def activity(batch: Batch, number: int) -> NDArray[np.float32]:
    """Return what sigmoid neurons pass on in an episode, (steps, H), by the engine's own step."""
    (episode,) = islice(reference.episodes(batch, 0), number, number + 1)
    learner, task = batch.learners[0], batch.task
    network = network_for(batch.settings, task.inputs, task.outputs, learner.numbers)
    acting, passed = Acting(network, episode.weights, int(batch.seed[0]), number), []
    for inputs in episode.inputs[:, :-1].tolist():
        acting.act(inputs)
        passed.append(acting.state.hidden)
    return np.stack(passed)


def drawn(page: Page, selector: str) -> NDArray[np.uint8]:
    """Return a canvas as pixels, (height, width, 4)."""
    drawn = page.evaluate("selector => document.querySelector(selector).toDataURL()", selector)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(drawn.split(",")[1]))).convert("RGBA"))


def of_colour(pixels: NDArray[np.uint8], role: str) -> NDArray[np.bool_]:
    """Return which pixels have a colour, or nearly."""
    colour = [int(LIGHT[role][k : k + 2], 16) for k in (1, 3, 5)]
    near = np.abs(pixels[..., :3].astype(int) - colour).max(axis=-1) < 6
    found: NDArray[np.bool_] = near & (pixels[..., 3] > 200)
    return found


def recorded(monkeypatch: pytest.MonkeyPatch, *learners: Learner, **options: Any) -> Watched:
    """Record the trial of a learner that the page could compute."""
    with monkeypatch.context() as forced:
        forced.setattr(watch, "COMPUTED", ())
        return watch.watch(*learners, **options)


@cache
def gym_task(name: str, **options: Any) -> Any:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    return task_of(name, **options)


@cache
def lake(**options: Any) -> Any:
    """Return FrozenLake without ice."""
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    return task_of("FrozenLake-v1", args={"is_slippery": False}, **options)


def ring(states: int, target: float | None = 6, stride: int = 1, **options: Any) -> TableTask:
    """Return a ring of states: step on or stay, until the last state is entered; the EP is the steps."""
    number = np.arange(states)
    bits = number[:, None] >> np.arange(3) & 1
    following = np.stack([number, (number + stride) % states, (number + 1) % states], axis=1)
    table = Table.of(bits, following, np.ones((states, 3), np.int64), number == states - 1)
    return TableTask(table, name="ring", target=target, **options)


def pixels(page: Page, points: list[tuple[float, float]]) -> list[str]:
    """Return the colours of the picture of a walk at some places, (x, y) in pixels."""
    picture = drawn(page, ".maze")
    return ["#" + "".join(f"{part:02x}" for part in picture[int(y), int(x), :3]) for x, y in points]


def numbers_of(colour: str) -> tuple[float, float, float]:
    """Return red, green and blue from 0 to 1, of a colour as a browser or colours.py writes it."""
    if colour.startswith("#"):
        red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
        return red, green, blue
    whole = 1 if colour.startswith("color(srgb") else 255
    red, green, blue = (float(number) / whole for number in re.findall(r"[\d.]+", colour)[:3])
    return red, green, blue


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colours as WCAG 2 defines it, from 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in numbers_of(colour)]
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]

    low, high = sorted([luminance(one), luminance(other)])
    return (high + 0.05) / (low + 0.05)


def in_both_themes(page: Page) -> Iterator[dict[str, str]]:
    """Let the reader's system be light, then dark, and wait until the page is too."""
    schemes: tuple[tuple[Any, dict[str, str]], ...] = (("light", LIGHT), ("dark", DARK))
    for scheme, theme in schemes:
        page.emulate_media(color_scheme=scheme)
        wait(page, lambda shown, scheme=scheme: shown["theme"] == scheme)  # type: ignore[misc]
        yield theme


TEXTS = (
    ".name, .ep, .best, .up, .down, .signal, .cells span, .outcome, .learner p, .halves tr.lit td, "
    "#legend span, .verdict"
)


LOOK = """selector => [...document.querySelectorAll(selector)].map(element => {
  let under = element;
  while (getComputedStyle(under).backgroundColor === "rgba(0, 0, 0, 0)") under = under.parentElement;
  return [element.className, getComputedStyle(element).color, getComputedStyle(under).backgroundColor];
})"""
