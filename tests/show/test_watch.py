"""The page that replays a trial: exact, self-contained, and it does what its buttons say."""

from __future__ import annotations

import base64
import io
import json
import random
import re
from collections.abc import Callable, Iterator
from dataclasses import asdict, make_dataclass, replace
from functools import cache
from itertools import islice, product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import distal
from distal import engines
from distal.base import memory
from distal.base.checks import InputError
from distal.base.colours import DARK, LIGHT
from distal.cli import main
from distal.engines import Batch, Trials, reference
from distal.engines.batch import best_so_far
from distal.evaluation.usage import count_usage
from distal.learners import DEFAULT_CLIMBER, Learner, Parameters, find_learner, register, unregister
from distal.learners.chance import Chance
from distal.learners.hill_climbing import HillClimbing
from distal.learners.rule import Rule
from distal.model.maze import HEADINGS, Maze, triple_t_maze
from distal.model.network import logistic, silent, step
from distal.model.settings import NEURONS, READINGS, Settings
from distal.show import watch
from distal.show.recording import MAX_BYTES, Recording, episode_bytes, states_of
from distal.show.watch import Watched
from distal.tasks.mazes import MazeTask
from distal.tasks.picture import Picture
from distal.tasks.sources import task_of
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from distal.tasks.task import Task
from tests.command_line import output, output_json, refusal
from tests.learners.test_learners import Jumps
from tests.mazes import T

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

CLIMBER = HillClimbing(0.3, 0.4, 0.7)
CHANCE = Chance(0.4, 0.7)
SMALL: dict[str, Any] = {"maze": T, "steps": 9, "hidden": 3}
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


@pytest.fixture(scope="module")
def single() -> Watched:
    return watch.watch("paper:1", episodes=60)


@pytest.fixture(scope="module")
def compared() -> Watched:
    return watch.watch("paper:1", CLIMBER, episodes=40, maze=RING, steps=30, hidden=6, goal="b")


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


# ------------------------------------------------------------------ exactness


def cases() -> list[tuple[Watched, Trials]]:
    """Run trials that use every reading, all neurons and learners, resampling and goals that move.

    They have several sizes, mazes and headings. Chance, which no script computes, is left out.
    """
    chosen: list[tuple[Learner, Maze, Settings, int | None, Switch | None]] = []
    learners: tuple[Learner, ...] = (distal.published_rule(1), distal.published_rule(10), CLIMBER, CHANCE)
    for name, values in READINGS.items():
        for value in values:
            for learner in learners:
                settings = replace(Settings(hidden=7, steps=25), **{name: value})  # type: ignore[arg-type]
                chosen.append((learner, RING, settings, None, None))
    for hidden in (1, 2, 20, 33, 65):
        for learner, neurons in product(learners[1:], NEURONS):
            settings = Settings(hidden=hidden, steps=40, neurons=neurons)
            chosen.append((learner, triple_t_maze(), settings, 3, None))
    moves = (None, Switch(2), Switch(1, "back"), Switch(3, (2, 0)), Switch(7))
    for learner, neurons, switch in product(learners, NEURONS, moves):
        chosen.append((learner, RING, Settings(hidden=7, steps=25, neurons=neurons), None, switch))
    draw = random.Random(2019)  # noqa: S311
    for _ in range(40):
        readings = {name: draw.choice(list(values)) for name, values in READINGS.items()}
        neurons = draw.choice(list(NEURONS))
        settings = Settings(draw.randint(1, 24), draw.randint(1, 130), **readings, neurons=neurons)
        numbers = [draw.random() for _ in range(4)]
        rule = Rule([draw.randint(-1, 1) for _ in range(32)], numbers[0], numbers[1], numbers[2], numbers[3])
        climber, by_chance = HillClimbing(numbers[0], numbers[1], numbers[2]), Chance(numbers[0], numbers[1])
        kinds: list[Learner] = [rule, climber, by_chance]
        learner = draw.choice(kinds)
        maze = Maze(draw.choice([RING, T, triple_t_maze()]).picture, draw.choice(HEADINGS))
        switch = draw.choice([None, Switch(draw.randint(1, 5), draw.choice(["new", "back"]))])
        chosen.append((learner, maze, settings, draw.choice([None, 1, 4]), switch))
    run = []
    for learner, maze, settings, resample, switch in chosen:
        listed = switch is not None and not isinstance(switch.goals, str)
        batches = watch.trials(
            learner, goal=None if listed else draw.choice(maze.symbols), episodes=6, maze=maze,
            seed=draw.getrandbits(64), resample=resample, switch=switch, **asdict(settings),
        )  # fmt: skip
        kept = engines.Runner("reference").run(batches[0], keep_weights=True, keep_ep=True)
        assert kept.ep is not None
        run.append((Watched(("",), batches, 0, kept.ep, np.zeros(6), (None,), (None,)), kept))
    return run


# Runs trials to their ends; returns what differs, the bits of the weights of the first best episode
# (of the last phase, if there are several), and how often each row was used after every episode.
RECOMPUTE = """
trials => trials.map(data => {
  const learner = data.learners[0];
  const replay = new simulate.Replay(data, learner, learner.eps);
  simulate.finish(replay.check());
  const last = learner.eps.slice(data.phases.every * (data.phases.goals.length - 1));
  const best = learner.eps.length - last.length + last.indexOf(Math.min(...last));
  const { weights } = simulate.finish(replay.episode(best)).episode;
  const bits = matrix => Array.from(new Uint32Array(matrix.buffer));
  const uses = learner.kind === "dsp" ? learner.eps.map((_, n) => Array.from(replay.used(n + 1))) : null;
  return { checked: replay.checked, differences: replay.differences, uses,
           hidden: bits(weights.hidden), output: bits(weights.output) };
})
"""


@pytest.fixture(scope="module")
def port(browser: Browser) -> Iterator[Page]:
    page = browser.new_page()
    page.add_script_tag(content=watch._asset("simulate.js"))
    page.add_script_tag(content=watch._asset("recording.js"))
    yield page
    page.close()


Recomputed = list[tuple[Watched, Trials, dict[str, Any]]]


@pytest.fixture(scope="module")
def recomputed(port: Page) -> Recomputed:
    """Return trials as the reference engine ran them and as the page computes them."""
    trials = cases()
    computed = port.evaluate(RECOMPUTE, [trial.page_data() for trial, _ in trials])
    return [(trial, kept, result) for (trial, kept), result in zip(trials, computed, strict=True)]


def test_the_page_computes_every_ep_and_every_weight_as_the_reference_engine_does(
    recomputed: Recomputed,
) -> None:
    assert len(recomputed) > 150
    for _, kept, result in recomputed:
        assert result["differences"] == []
        assert result["checked"] == 6
        assert kept.hidden is not None
        assert kept.output is not None
        assert result["hidden"] == kept.hidden[0].view(np.uint32).ravel().tolist()
        assert result["output"] == kept.output[0].view(np.uint32).ravel().tolist()


def test_the_page_counts_the_rows_that_are_used_as_inspect_does(recomputed: Recomputed) -> None:
    """Of six episodes, each part of `inspect`'s counts is one update; none follows the last."""
    rules = [(trial, result) for trial, _, result in recomputed if result["uses"] is not None]
    assert len(rules) > 30
    for trial, result in rules:
        counts = count_usage(trial.batches[0], "cpu").counts
        assert len(counts) == 5
        sums = counts.sum(axis=1).cumsum(axis=0).tolist()
        assert result["uses"] == [*sums, sums[-1]]
    assert any(trial.batches[0].resample == 4 for trial, _ in rules)


def test_a_long_trial_with_few_snapshots_can_be_entered_anywhere(port: Page) -> None:
    trial = watch.watch("paper:2", episodes=120, hidden=5, steps=30, maze=RING)
    eps = port.evaluate(
        """data => {
          const replay = new simulate.Replay(data, data.learners[0], data.learners[0].eps);
          replay.every = 50;
          simulate.finish(replay.check());
          return [replay.states.length, ...[0, 49, 50, 51, 99, 100, 119].map(
            n => simulate.finish(replay.episode(n)).episode.ep)];
        }""",
        trial.page_data(),
    )
    assert eps == [3, *trial.eps[0, [0, 49, 50, 51, 99, 100, 119]].tolist()]


def test_philox_gives_its_published_vector(port: Page) -> None:
    """From the Random123 distribution: philox4x32-10 of the digits of π."""
    words = port.evaluate(
        """() => { const out = [0, 0, 0, 0];
          simulate.philox(0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344, [0xa4093822, 0x299f31d0], out, 0);
          return out; }"""
    )
    assert words == [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1]


def test_the_logistic_function_of_the_page_has_the_bits_of_the_engines(port: Page) -> None:
    draw = np.random.default_rng(2019)
    sums = np.concatenate(
        [
            draw.normal(0, 6, 4_000), draw.normal(0, 1e-3, 500), np.linspace(-19, 19, 777),
            [0, -0.0, 1e-45, -1e-45, 18, -18, 3e38],
        ]
    ).astype(np.float32)  # fmt: skip
    bits = port.evaluate(
        "bits => Array.from(new Uint32Array(Float32Array.from("
        "new Float32Array(Uint32Array.from(bits).buffer), simulate.logistic).buffer))",
        sums.view(np.uint32).tolist(),
    )
    assert bits == logistic(sums).view(np.uint32).tolist()


def activity(batch: Batch, number: int) -> NDArray[np.float32]:
    """Return what sigmoid neurons pass on in an episode, (steps, H), by the engine's own step."""
    (episode,) = islice(reference.episodes(batch, 0), number, number + 1)
    scales = np.float32(batch.learners[0].alpha_h), np.float32(batch.learners[0].alpha_o)
    hidden, passed = silent(batch.settings.hidden, "sigmoid"), []
    before = np.vstack([np.zeros_like(episode.outputs[:1]), episode.outputs[:-1]])
    for inputs, outputs in zip(episode.inputs, before, strict=True):
        hidden, _, _ = step(episode.weights, *scales, inputs, hidden, outputs, "sigmoid")
        passed.append(hidden)
    return np.stack(passed)


def test_what_sigmoid_neurons_pass_on_has_the_bits_of_the_engine(port: Page) -> None:
    trial = watch.watch(Chance(0.9, 0.7), episodes=2, maze=RING, steps=40, neurons="sigmoid")
    bits = port.evaluate(
        """data => {
          const replay = new simulate.Replay(data, data.learners[0], data.learners[0].eps);
          const { activity } = simulate.finish(replay.run({ number: 1 })).episode;
          return activity.map(neurons => Array.from(new Uint32Array(neurons.buffer)));
        }""",
        trial.page_data(),
    )
    assert len(bits) == 40
    assert bits == activity(trial.batches[0], 1).view(np.uint32).tolist()


def test_the_trial_is_the_one_that_learn_reports(single: Watched) -> None:
    result = distal.learn("paper:1", episodes=60, trials=1, seed=0)
    assert np.minimum.accumulate(single.eps[0]).tolist() == result.best[3].tolist()
    assert single.goal == "3"


def test_the_trial_with_a_goal_that_moves_is_the_one_that_learn_reports() -> None:
    options: Any = {"episodes": 14, "seed": 3, "hidden": 4, "steps": 60, "neurons": "sigmoid"}
    for how, number in (("new", 3), ("back", 3), ((5, 1), 5)):
        switch = Switch(5, how)
        watched = watch.watch("paper:1", switch=switch, **options)
        result = distal.learn("paper:1", trials=1, switch=switch, chance=False, **options)
        assert best_so_far(watched.eps, 5)[0].tolist() == result.best[number].tolist()
        assert [int(goal) for goal in watched.goals] == result.goals[number].tolist()
        told = watched.to_dict()
        ends = result.best[number, [4, 9, 13]].tolist()
        assert [phase["best_ep"] for phase in told["phases"]] == [[ep] for ep in ends]
        assert [phase["first_episode"] for phase in told["phases"]] == [1, 6, 11]
        assert [phase["chance"] for phase in told["phases"]] == watched.chance[[4, 9, 13]].tolist()
        assert told["learners"][0]["best_ep"] == ends[-1] == watched.eps[0, 10:].min()
        assert told["learners"][0]["best_episode"] == 11 + watched.eps[0, 10:].argmin()
        assert (told["switch"], told["neurons"]) == (switch.to_dict(), "sigmoid")


def test_both_learners_of_a_comparison_have_the_same_goal_and_seed(compared: Watched) -> None:
    first, second = compared.batches
    assert compared.goal == "b"
    assert (first.goal[0], first.seed[0]) == (second.goal[0], second.seed[0])


# ------------------------------------------------------------------ chance


def test_chance_is_the_mean_best_of_two_hundred_random_networks_towards_the_same_goal() -> None:
    watched = watch.watch("evolved:1", episodes=3, goal="1", seed=5, **SMALL)
    rule = distal.find_rule("evolved:1")
    random_networks = Chance(rule.alpha_h, rule.alpha_o)
    result = distal.learn(random_networks, trials=200, episodes=3, seed=5, engine="reference", **SMALL)
    towards = result.best[1 :: len(T.finals)]  # trial-major
    assert len(towards) == 200
    assert watched.chance.tolist() == towards.mean(axis=0).tolist()
    assert watched.to_dict()["chance"] == {"mean_best_ep": watched.chance[-1], "trials": 200}
    assert watched.page_data()["chance"]["trials"] == 200


def test_the_line_of_chance_is_nowhere_more_than_a_pixel_off() -> None:
    draw = np.random.default_rng(2019)
    for episodes in (1, 2, 30, 1_000):
        falls = draw.choice([0, 0, 0, 0.005, 0.2, 3], episodes)
        curve = 140 - np.cumsum(falls)
        at, values = zip(*watch.visible_points(curve), strict=True)
        assert (at[0], at[-1]) == (0, episodes - 1)
        off = np.abs(np.interp(np.arange(episodes), at, values) - curve)
        assert off.max() <= watch.VISIBLE + 0.01  # values have two digits
    assert len(watch.visible_points(np.full(100_000, 137.0))) == 2


def test_where_the_goal_moves_chance_has_the_goals_of_the_trial_and_begins_anew_in_each_phase() -> None:
    watched = watch.watch("evolved:1", episodes=9, switch=4, seed=5, maze=RING, steps=20, hidden=3)
    batch = watch.by_chance(watched.batches[0], 5)
    goals = watched.batches[0].goals[0].tolist()
    assert len(goals) == 3
    assert batch.goals.tolist() == [goals] * 200
    eps = engines.Runner("cpu").run(batch, keep_ep=True).ep
    assert eps is not None
    best = [np.minimum.accumulate(eps[:, first : first + 4], axis=1) for first in (0, 4, 8)]
    assert watched.chance.tolist() == np.hstack(best).mean(axis=0).tolist()
    points = watched.page_data()["chance"]["curve"]
    assert {0, 3, 4, 7, 8} <= {episode for episode, _ in points}
    for phase in (slice(0, 4), slice(4, 8)):
        at, values = zip(*(point for point in points if point[0] in range(9)[phase]), strict=True)
        off = np.abs(np.interp(np.arange(9)[phase], at, values) - watched.chance[phase])
        assert off.max() <= watch.VISIBLE + 0.01
    still = watch.by_chance(watch.trials("evolved:1", episodes=4, switch=4, maze=RING)[0], 5)
    assert still.switch is None


def test_progress_is_told_of_as_many_episodes_as_the_learners_have() -> None:
    told: list[int] = []
    watch.watch("paper:1", "hc", episodes=25, progress=told.append, **SMALL)
    assert sum(told) == 50
    assert min(told) > 0


def test_by_chance_every_episode_has_fresh_weights_and_nothing_is_learned(port: Page) -> None:
    trial = watch.watch(CHANCE, episodes=12, resample=5, maze=RING, steps=30, hidden=6)
    fresh = watch.watch(replace(distal.published_rule(1), alpha_h=0.4, alpha_o=0.7), episodes=12, resample=1,
                        maze=RING, steps=30, hidden=6)  # fmt: skip
    assert trial.eps.tolist() == fresh.eps.tolist()
    same = port.evaluate(
        """data => {
          const replay = new simulate.Replay(data, data.learners[0], data.learners[0].eps);
          return [0, 4, 11].every(n => {
            const { weights } = simulate.finish(replay.run({ number: n })).episode;
            const drawn = simulate.freshWeights(6, data.seed, n);
            return weights.hidden.every((w, at) => w === drawn.hidden[at]);
          });
        }""",
        trial.page_data(),
    )
    assert same


# ------------------------------------------------------------------ the page


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
    box = page.locator("#curve").bounding_box()
    assert box is not None
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


def test_the_ep_stands_beside_the_best_so_far_in_the_figures(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    told = page.evaluate(
        """async () => {
          const all = [];
          for (let episode = 1; episode <= 40; episode++) {
            distal.goto(episode);
            while (!distal.state().shown) await new Promise(done => setTimeout(done));
            const figures = [...document.querySelectorAll(".ep")].map(e => e.textContent);
            all.push([...figures, document.querySelector("#curve").getAttribute("aria-valuetext")]);
          }
          return all;
        }"""
    )
    kinds = set()
    for n, (*figures, spoken) in enumerate(told):
        both = []
        for name, eps, figure in zip(compared.names, compared.eps[:, : n + 1], figures, strict=True):
            ep, best, first = eps[n], eps.min(), eps.argmin() == n
            kind = "best" if first else "= best" if ep == best else f"+{ep - best}"
            assert figure == f"{ep} {kind}"
            kinds.add(kind if ep == best else "+")
            both.append(f"{name} EP {ep}, best {best}")
        assert spoken == f"episode {n + 1}, {', '.join(both)}"
    assert kinds == {"best", "= best", "+"}


def test_the_curve_marks_the_ep_with_a_disc_and_the_best_so_far_with_a_ring(
    opened: Opened, single: Watched
) -> None:
    eps, n = single.eps[0], 40
    best = eps[: n + 1].min()
    page = opened(single, place=f"#{n + 1}")
    low, high = 38, max(100, int(eps.max()), single.chance[0])  # the axis, as of the line of chance
    span = high - low
    points = [  # in the middle of a mark, and 6.5 pixels away: on the ring, outside the disc
        [n / 59, (high + 0.04 * span - ep) / (1.1 * span), away] for ep in (eps[n], best) for away in (0, 6.5)
    ]
    found = page.evaluate(
        """points => {
          const canvas = document.getElementById("curve"), { width, height } = canvas;
          const { data } = canvas.getContext("2d").getImageData(0, 0, width, height);
          return points.map(([x, y, away]) => {  // to the upper left: no line of the curve goes there
            const side = away * Math.SQRT1_2;
            const left = Math.floor(48 + x * (width - 56) - side);
            const at = 4 * (Math.floor(8 + y * (height - 28) - side) * width + left);
            return Array.from(data.subarray(at, at + 3));
          });
        }""",
        points,
    )
    assert abs(eps[n] - best) > 20
    blue = [int(LIGHT["dsp"][k : k + 2], 16) for k in (1, 3, 5)]
    coloured = [max(abs(np.subtract(colour, blue))) < 20 for colour in found]
    assert coloured == [True, False, False, True]


def test_an_entry_of_the_matrix_tells_its_synapse(opened: Opened, single: Watched) -> None:
    page = opened(single)
    page.focus(".matrix")
    page.keyboard.press("ArrowRight")  # the first press selects the first entry
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    told = page.inner_text(".readout")
    assert told.startswith("input front → hidden 1")
    weight = page.evaluate("simulate.freshWeights(20, JSON.parse(trial.textContent).seed, 0).hidden[28 + 1]")
    assert f"weight {weight:.4f}".replace("-", "−") in told
    numbers = re.search(r"00 (\d+) · 01 (\d+) · 10 (\d+) · 11 (\d+)", told)
    assert numbers is not None
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
    weight = page.evaluate("simulate.freshWeights(6, JSON.parse(trial.textContent).seed, 8).hidden[0]")
    told = page.inner_text(".readout")
    assert told == f"input left → hidden 0 weight {weight:.4f}, drawn afresh".replace("-", "−")


def test_beside_chance_a_rule_still_shows_its_changes(opened: Opened) -> None:
    page = opened(watch.watch("paper:1", "chance", episodes=5, **SMALL))
    page.keyboard.press("w")
    assert page.locator(".matrix-title").all_inner_texts() == [
        "Change after episode 1",
        "Weights in episode 1",
    ]


def test_the_legend_names_every_line_of_the_curve(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    assert page.locator("#legend span").all_inner_texts() == [
        "paper:1: best so far",
        "hill climbing: best so far",
        "chance: best so far, mean of 200 trials",
        "shortest way",
    ]


def test_chance_is_drawn_in_its_colour_where_its_mean_lies(opened: Opened) -> None:
    """One learner that never moves below 100, and chance at 60: the pixels of its colour lie between."""
    watched = watch.watch("paper:1", episodes=50)
    page = opened(replace(watched, chance=np.full(50, 60.0)))
    rows = page.evaluate(
        """colour => {
          const canvas = document.getElementById("curve"), context = canvas.getContext("2d");
          const { data } = context.getImageData(canvas.width / 2, 0, 40, canvas.height);
          const rows = new Set();
          for (let at = 0; at < data.length; at += 4)
            if (colour.every((c, k) => Math.abs(c - data[at + k]) < 6)) rows.add(Math.floor(at / 160));
          return [canvas.height, ...rows];
        }""",
        [int(LIGHT["chance"][k : k + 2], 16) for k in (1, 3, 5)],
    )
    height, *rows = rows
    # The axis: the shortest way (38) lies 6 % above the foot of a span up to the highest EP.
    low, high = 38, max(100, int(watched.eps.max()))
    span = high - low
    top, bottom = high + 0.04 * span, low - 0.06 * span
    expected = 8 + (top - 60) / (top - bottom) * (height - 28)
    assert rows
    assert max(abs(row - expected) for row in rows) <= 2


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


def test_the_help_says_what_ep_and_m_are(opened: Opened, single: Watched) -> None:
    page = opened(single)
    page.keyboard.press("?")
    told = page.inner_text("#help")
    assert "EP, the episodic performance, says how well; lower is better." in told
    assert "+1 if the EP was no worse than that of the episode before, −1 if it was worse." in told
    assert "The first episode after fresh weights counts as +1." in told
    assert "an equal EP" not in told


# ------------------------------------------------------------------ goals that move, sigmoid neurons


@pytest.fixture(scope="module")
def moving() -> Watched:
    """Return a trial whose goals are b, 3 and b; what the climb found for b is worse for 3."""
    return watch.watch(
        "evolved:1", CLIMBER, episodes=30, switch=Switch(12, (2, 0)), maze=RING, steps=30, hidden=6,
        neurons="sigmoid", seed=2,
    )  # fmt: skip


def test_the_page_tells_the_phase_its_goal_and_the_best_in_it(opened: Opened, moving: Watched) -> None:
    page = opened(moving)
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 60 of 60 episodes match the engine"
    assert page.title() == "evolved:1 against hill climbing, learning the way to a goal that moves"
    assert "6 sigmoid hidden neurons" in page.inner_text("#subtitle")
    assert "the goal moves every 12 episodes" in page.inner_text("#subtitle")
    assert moving.goals == ("b", "3", "b")
    assert page.locator(".best-name").all_inner_texts() == ["Best in phase"] * 2
    for episode in (1, 12, 13, 14, 15, 24, 25, 30):
        page.evaluate(f"distal.goto({episode})")
        phase, goal = (episode - 1) // 12, moving.goals[(episode - 1) // 12]
        assert (state(page)["phase"], state(page)["goal"]) == (phase + 1, goal)
        assert page.locator(".phase").all_inner_texts() == [f"{goal} phase {phase + 1} / 3"] * 2
        assert (page.get_attribute(".maze", "aria-label") or "").startswith(f"The maze: goal {goal},")
        assert f"phase {phase + 1}, goal {goal}, " in (page.get_attribute("#curve", "aria-valuetext") or "")
        eps = moving.eps[:, 12 * phase : episode]
        found = [f"{one.min()} ep. {12 * phase + one.argmin() + 1}" for one in eps]
        assert page.locator(".best").all_inner_texts() == found
        ends = page.locator(".outcome").all_inner_texts()
        for ep, end, pits in zip(eps[:, -1], ends, page.locator(".pits").all_inner_texts(), strict=True):
            parts = re.search(
                r"(\d+) steps?(?: \+ distance (\d+))?(?: \+ 5 × (\d+) pit .*)? = EP (\d+)$", end
            )
            assert parts is not None
            steps, distance, entered, total = (int(part or 0) for part in parts.groups())
            assert steps + distance + 5 * entered == total == ep
            assert pits == f"{entered} / {entered}"
    page.evaluate("distal.goto(20)")
    page.keyboard.press("b")  # the best of the phase
    low = moving.eps[:, 12:24].min(axis=1)
    assert state(page)["episode"] == 13 + moving.eps[low.argmin(), 12:24].argmin()
    page.keyboard.press("?")
    assert page.is_visible("#help-moves")
    assert page.is_visible("#help-graded")


def test_the_page_says_who_is_told_of_a_move(opened: Opened, moving: Watched) -> None:
    page = opened(moving, place="#13")
    rule, climb = page.locator(".learner").all_inner_texts()
    assert "The goal has moved; nothing tells the rule." in rule
    best, before = int(moving.eps[1, :12].argmin()) + 1, moving.eps[1, :12].min()
    now = moving.eps[1, 12]
    assert now > before
    assert f"the weights of episode {best} (EP {before}) run as they are" in climb
    assert f"The climb goes on from their new EP, {now}." in climb
    assert page.inner_text(".verdict") == "measured anew"
    page.focus(".panel:last-child .matrix")
    page.keyboard.press("ArrowRight")
    weight, told = page.locator(".readout").all_inner_texts()[1].split("weight ")[1].split(" = best ")
    assert told == f"{weight}, as it was"
    page.evaluate("distal.goto(14)")
    assert "has moved" not in page.inner_text("#panels")
    assert f"the weights of episode 13 (EP {now}) plus noise" in page.inner_text("#panels")


def test_the_goal_that_is_drawn_is_that_of_the_episode(opened: Opened, moving: Watched) -> None:
    page = opened(moving)
    width = page.evaluate("document.querySelector('.maze').width")
    size, cells = width / RING.shape[1], [RING.finals[RING.symbols.index(goal)] for goal in "Ab3"]
    points = [((column + 0.08) * size, (row + 0.5) * size) for row, column in cells]  # beside the symbol
    for episode, goal in ((12, "b"), (13, "3"), (25, "b")):
        page.evaluate(f"distal.goto({episode}, 0)")
        assert [colour == LIGHT["goal"] for colour in pixels(page, points)] == [one == goal for one in "Ab3"]


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


def test_phases_are_marked_on_the_curve_and_all_lines_begin_anew(opened: Opened, moving: Watched) -> None:
    levels = (60.0, 90.0, 45.0)
    watched = replace(moving, chance=np.repeat(levels, (12, 12, 6)))
    curve = drawn(opened(watched), "#curve")
    height, width, _ = curve.shape
    x = 48 + np.array([0, 12, 24, 29]) / 29 * (width - 56)
    # Between the names, above, and the axes, below, there is nothing else; the episode shown is the first.
    assert [k for k in range(60, width) if curve[17, k, 3]] == [round(x[1]), round(x[2])]
    named = np.flatnonzero(of_colour(curve[3], "goal"))
    first = named[np.diff(named, prepend=-2) > 1]
    assert first.tolist() == pytest.approx((x[:3] + 3).tolist(), abs=1)

    shortest = [int(RING.start_distances[RING.symbols.index(goal)]) for goal in watched.goals]
    low, high = min(*shortest, int(watched.eps.min())), max(90, int(watched.eps.max()))
    top, bottom = high + 0.04 * (high - low), max(0, low - 0.06 * (high - low))
    assert len(set(shortest)) == 2
    for role, wanted in (("chance", levels), ("goal", shortest)):
        for level, left, right in zip(wanted, x, x[1:], strict=False):
            part = curve[19:-20, round(left + 9) : round(right - 9)]
            rows = np.flatnonzero(of_colour(part, role).any(axis=1))
            assert rows.size
            assert np.abs(rows - (top - level) / (top - bottom) * (height - 39)).max() <= 2
    # Nothing joins what was reached towards one goal with what follows towards the next.
    best = best_so_far(watched.eps, 12)
    for role, before, after in (("chance", 60, 90), ("hc", best[1, 11], best[1, 12])):
        ends = sorted(19 + (top - level) / (top - bottom) * (height - 39) for level in (before, after))
        between = curve[round(ends[0] + 5) : round(ends[1] - 5), round(x[1]) - 2 : round(x[1]) + 3]
        assert len(between) > 4
        assert not of_colour(between, role).any()


def test_many_phases_have_as_many_marks_as_can_be_told_apart(opened: Opened) -> None:
    page = opened(watch.watch("chance", episodes=300, switch=1, **SMALL), width=600)
    lines = np.flatnonzero(drawn(page, "#curve")[17, 60:, 3])
    assert len(lines) > 50
    assert np.diff(lines).min() >= 4


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


# ------------------------------------------------------------------ the address


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
def synapses(tabs: Tabs, single: Watched) -> Iterator[Page]:
    """Yield the page of a trial that several tests look at, each at another place."""
    page = tabs.open(single)
    tabs.taken.remove(page)
    tabs.requests.clear()
    yield page
    page.close()


@pytest.mark.parametrize(
    ("address", "episode", "told"),
    [
        ("#episode=999", 60, "there is no episode 999, only 1 to 60"),
        ("#episode=0", 1, "there is no episode 0, only 1 to 60"),
        ("#episode=half", 5, "episode “half” is no whole number"),
        ("#episode=4&step=-1", 4, "step “-1” is no whole number"),
        ("#episode=4&synapse=h3-i2", 4, "there is no synapse “h3-i2”"),
        ("#episode=4&synapse=i3-h2", 4, "there is no synapse “i3-h2”"),
        ("#episode=4&synapse=h20-h2", 4, "there is no synapse “h20-h2”"),
        ("#episode=4&synapse=i0-o2", 4, "there is no synapse “i0-o2”"),
        ("#episode=4&synapse=", 4, "there is no synapse “”"),
        ("#episode=4&synapse=<b>" + 50 * "x", 4, "there is no synapse “<b>xxxxxxxxxxxxxxxxx…”"),
        ("#episode=%zz", 5, "episode “%zz” is no whole number"),
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
    step = state(page)["step"]
    page.wait_for_timeout(600)
    assert page.evaluate("location.hash") == f"#episode=41&step={step}&synapse=i0-h0"
    assert 1 <= page.evaluate("calls") <= 4  # of 43 places
    assert page.evaluate("history.length") == entries
    again = opened(single, place=page.evaluate("location.hash"))
    assert (state(again)["episode"], state(again)["step"]) == (41, step)


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


# ------------------------------------------------------------------ recordings


@pytest.fixture
def jumps() -> Iterator[Jumps]:
    """Yield a learner that the page has no code for."""
    register(Jumps)
    yield Jumps(0.3, 0.2, 0.4)
    unregister("jumps")


def recorded(monkeypatch: pytest.MonkeyPatch, *learners: Learner, **options: Any) -> Watched:
    """Record the trial of a learner that the page could compute."""
    with monkeypatch.context() as forced:
        forced.setattr(watch, "COMPUTED", ())
        return watch.watch(*learners, **options)


# Plays a recording beside the same trial computed; returns how many steps were equal, or what differs.
COMPARE = """
async trials => {
  const all = [];
  for (const [computed, recorded] of trials) {
    const replay = new simulate.Replay(computed, computed.learners[0], computed.learners[0].eps);
    const played = new recording.Recording(recorded, recorded.learners[0]);
    await played.load();
    simulate.finish(replay.check());
    let steps = 0;
    for (let n = 0; n < played.eps.length; n++) {
      const right = simulate.finish(replay.episode(n)).episode;
      const shown = simulate.finish(played.episode(n)).episode;
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
    played = port.evaluate(COMPARE, [[one.page_data(), other.page_data()] for one, other in pairs])
    walks = [[episode.steps for episode in reference.episodes(one.batches[0], 0)] for one, _ in pairs]
    assert played == [sum(steps) for steps in walks]
    assert any(0 < min(steps) < max(steps) for steps in walks)  # some episodes end at the goal, and earlier


# Goes through all steps of some episodes; returns what a reader sees in each.
SEEN = """async episodes => {
  const all = [];
  for (const episode of episodes) for (let step = 0; step <= 30; step++) {
    distal.goto(episode, step);
    while (!distal.state().shown) await new Promise(done => setTimeout(done));
    all.push(JSON.stringify({
      numbers: [...document.querySelectorAll(".stats dd:not(.signal), .outcome")].map(e => e.textContent),
      neurons: [...document.querySelectorAll(".cells span")].map(e => e.className),
      maze: document.querySelector(".maze").toDataURL(),
    }));
  }
  return all;
}"""


def test_a_reader_sees_the_same_in_a_recording_as_in_a_computed_trial(
    opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    options: Any = {"episodes": 8, "maze": RING, "steps": 30, "hidden": 6, "goal": "b"}
    pages = [opened(watch.watch(CLIMBER, **options)), opened(recorded(monkeypatch, CLIMBER, **options))]
    for page in pages:  # the panels differ in height, and mazes fit their panels
        page.add_style_tag(content=".walk { width: 300px; }")
    ours, theirs = (page.evaluate(SEEN, [1, 4, 8]) for page in pages)
    assert ours == theirs
    assert len(ours) == 93
    assert len(set(ours)) > 31


def test_a_recording_says_so_and_everything_else_works(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=60, maze=RING, steps=30, hidden=6, goal="b", resample=20)
    page = opened(watched, place="#7.3")
    assert (state(page)["episode"], state(page)["step"]) == (7, 3)
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "recorded: 60 episodes as the engine ran them"
    assert "kind jumps" in page.inner_text(".learner")
    assert "A recording holds no weights." in page.inner_text(".learner")
    assert page.locator(".learner dd").all_inner_texts() == ["0.3", "0.2", "0.4"]
    assert page.locator(".numbers span").all_inner_texts() == ["jump 0.3", "αh 0.2", "αo 0.4"]
    assert "resample 20" in page.inner_text("#subtitle")
    for episode in (1, 2, 31, 60):
        page.evaluate(f"distal.goto({episode})")
        assert page.inner_text(".ep").split()[0] == str(watched.eps[0, episode - 1])
        assert page.inner_text(".best").split()[0] == str(watched.eps[0, :episode].min())
        before = "none" if episode == 1 else str(watched.eps[0, episode - 2])
        assert page.inner_text(".signal") == before
    for key, episode in (("b", int(watched.eps[0].argmin()) + 1), ("Home", 1), ("ArrowDown", 2), ("End", 60)):
        page.keyboard.press(key)
        assert state(page)["episode"] == episode
    page.keyboard.press("w")  # there are no weights, and so no change of them
    assert state(page)["view"] == "weights"
    assert page.locator("[data-view], .scale, .readout").count() == 0
    page.fill("#episode", "5")
    page.keyboard.press("Home")
    page.click("#play")
    wait(page, lambda shown: shown["step"] >= 2)
    page.click("#play")
    page.keyboard.press("?")
    assert "This is a recording" in page.inner_text("#help")
    assert "Nothing here is a recording" not in page.inner_text("#help")


def test_a_click_on_the_activity_jumps_to_its_step(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=3, maze=RING, steps=30, hidden=6, goal="b")
    page = opened(watched)
    box = page.locator(".matrix").bounding_box()
    assert box is not None
    steps = state(page)["panels"][0]["steps"]
    left, width = 54, box["width"] - 56
    page.mouse.click(box["x"] + left + width * 2 / 30, box["y"] + 30)
    assert state(page)["step"] == 2
    page.mouse.click(box["x"] + box["width"] - 2, box["y"] + 30)
    assert state(page)["step"] == steps


def test_activity_is_drawn_where_neurons_were_active(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=2, maze=RING, steps=30, hidden=6, goal="b")
    page = opened(watched, place="#2")
    (episode,) = [one for n, one in enumerate(reference.episodes(watched.batches[0], 0)) if n == 1]
    lit = page.evaluate(
        """([rows, steps, colour]) => {
          const canvas = document.querySelector(".matrix");
          const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
          const wide = (canvas.width - 56) / 30, high = (canvas.height - 4 - 18 - 12) / 13;
          return Array.from({ length: steps }, (_, t) => rows.map(row => {
            const y = 4 + row * high + 6 * (row < 3 ? 0 : row < 9 ? 1 : 2) + high / 2;
            const at = 4 * (Math.floor(y) * canvas.width + Math.floor(54 + (t + 0.35) * wide));
            return colour.every((c, i) => Math.abs(c - data[at + i]) < 6) ? 1 : 0;
          }));
        }""",
        [list(range(13)), episode.steps, [int(LIGHT["other"][k : k + 2], 16) for k in (1, 3, 5)]],
    )
    active = np.hstack([episode.inputs[:, :3], episode.hidden, episode.outputs])
    assert 0 < active.mean() < 1
    assert lit == active.tolist()


def test_beside_a_recording_a_rule_is_still_computed_and_compared(opened: Opened, jumps: Jumps) -> None:
    watched = watch.watch(jumps, "paper:1", episodes=12, **SMALL)
    page = opened(watched, place="#5")
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == (
        "✓ 12 of 12 episodes of paper:1 match the engine · jumping is recorded"
    )
    assert eps_shown(page) == watched.eps[:, 4].tolist()
    page.keyboard.press("w")
    assert page.locator(".matrix-title").all_inner_texts() == [
        "Activity in episode 5, step by step",
        "Change after episode 5",
    ]
    page.focus(".panel:last-child .matrix")
    page.keyboard.press("ArrowRight")
    assert page.inner_text(".readout").startswith("input left → hidden 0")
    wrong = watched.eps.copy()
    wrong[1, 3] += 1
    page = opened(replace(watched, eps=wrong))
    page.evaluate("distal.checked")
    assert page.inner_text("#match").startswith("✗ 1 episode of 12 of paper:1 differs from the engine")
    assert "Episode 4 of paper:1" in page.inner_text("#alert")


def test_a_damaged_recording_is_reported(opened: Opened, jumps: Jumps, tmp_path: Path) -> None:
    watched = watch.watch(jumps, episodes=2, **SMALL)
    page = opened(watched)
    packed = watched.page_data()["learners"][0]["recording"]["packed"]
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
        "episodes": Jumps.episodes,
    }  # fmt: skip
    many: Any = make_dataclass(
        "Many", [*fields, ("name", str, "")], bases=(Parameters,), frozen=True, namespace=known
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


def test_the_states_of_a_walk_are_those_of_the_mazes_table() -> None:
    (batch,) = watch.trials("paper:1", episodes=3, maze=RING, steps=30, hidden=6, blocked="turn")
    table, columns = MazeTask(RING).table(batch.settings), RING.shape[1]
    for episode in reference.episodes(batch, 0):
        places = zip(episode.walk.cells, episode.walk.headings, strict=True)
        walked = [(row * columns + column) * 4 + heading for (row, column), heading in places]
        assert states_of(table, int(batch.goal[0]), episode.actions) == walked
        assert len(set(walked)) > 1


def test_more_episodes_than_a_page_can_hold_are_refused_for_recordings_alone(jumps: Jumps) -> None:
    step = 4 + 1 + 4  # state, action, 28 bits
    most = MAX_BYTES // (100 * step + 4)
    assert 1_000 < most < watch.MAX_EPISODES
    watch.check_page(watch.trials(jumps, episodes=most))
    watch.check_page(watch.trials("paper:1", episodes=watch.MAX_EPISODES))
    says = f"episodes is {most + 1}, expected {most} at most: .* kind 'jumps' .* fewer episodes or steps"
    for learners in ((jumps,), ("hc", jumps)):
        with pytest.raises(InputError, match=says):
            watch.watch(*learners, episodes=most + 1)
    full = watch.watch(jumps, episodes=4, steps=20, maze=T, goal="1").recordings[0]
    assert full is not None
    taken = len(full.states) + len(full.actions) + len(full.active)
    assert taken == sum(episode_bytes(full.layers, steps) for steps in full.steps)


def test_a_recording_that_does_not_fit_in_memory_is_refused(
    jumps: Jumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.SETTING, "3M")
    with pytest.raises(InputError, match=r"1,500 episodes need .* most of it for recordings"):
        watch.watch(jumps, episodes=1_500, maze=T)


def test_a_recording_is_compressed_to_a_tenth(jumps: Jumps) -> None:
    watched = watch.watch(jumps, episodes=60)
    recording = watched.recordings[0]
    assert recording is not None
    whole = 60 * episode_bytes(recording.layers, 100)
    assert len(watched.page_data()["learners"][0]["recording"]["packed"]) < whole / 10


def test_a_network_of_another_size_cannot_be_recorded() -> None:
    (batch,) = watch.trials("paper:1", episodes=1, **SMALL)
    episode = next(reference.episodes(batch, 0))
    recording = Recording((4, 5, 4))
    with pytest.raises(InputError, match=r"episode 1 has \(4, 3, 4\) inputs .* expected \(4, 5, 4\)"):
        recording.add(episode, [0] * (episode.steps + 1))
    assert recording.steps == []


# ------------------------------------------------------------------ tables

BY_HAND: dict[str, Any] = {"hidden": 4, "steps": 15, "episodes": 8, "seed": 1}


@cache
def gym_task(name: str, **options: Any) -> Any:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    return task_of(name, **options)


@cache
def lake(**options: Any) -> Any:
    pytest.importorskip("gymnasium", reason="Gymnasium is not installed: pip install 'distal[gym]'")
    return task_of("FrozenLake-v1", args={"is_slippery": False}, **options)


def ring(states: int, target: float | None = 6, stride: int = 1, **options: Any) -> TableTask:
    """Return a ring of states: step on or stay, until the last state is entered; the EP is the steps."""
    number = np.arange(states)
    bits = number[:, None] >> np.arange(3) & 1
    following = np.stack([number, (number + stride) % states, (number + 1) % states], axis=1)
    table = Table.of(bits, following, np.ones((states, 3), np.int64), number == states - 1)
    return TableTask(table, name="ring", target=target, **options)


def test_in_a_table_the_page_shows_what_the_environment_itself_does(opened: Opened) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="pip install 'distal[gym]'")
    task = gym_task("CliffWalking-v1")
    watched = watch.watch("evolved:1", CLIMBER, task=task, **{**BY_HAND, "seed": 32})
    assert None not in watched.recordings
    page, cells = opened(watched), set()
    names = ("up", "right", "down", "left")
    for number in range(8):
        page.evaluate(f"distal.goto({number + 1})")
        for batch, panel in zip(watched.batches, state(page)["panels"], strict=True):
            env = gymnasium.make("CliffWalking-v1")
            places, rewards = [env.reset()[0]], []
            for action in panel["actions"]:
                place, reward, *_ = env.step(names.index(action))
                places.append(place)
                rewards.append(reward)
            assert panel["cells"] == places
            assert panel["ep"] == -sum(rewards)
            episode = next(islice(reference.episodes(batch, 0), number, None))
            assert panel["actions"] == [names[action] for action in episode.actions]
            assert task.picture.cells[panel["states"]].tolist() == places
            cells.update(places)
    assert len(cells) > 20  # falls among them


def test_the_trial_in_a_table_is_the_one_that_learn_reports() -> None:
    task = gym_task("Taxi-v4", starts=3)
    watched = watch.watch("evolved:1", task=task, goal="2", episodes=12, seed=4, hidden=5)
    result = distal.learn("evolved:1", task=task, episodes=12, trials=1, seed=4, hidden=5)
    assert np.minimum.accumulate(watched.eps[0]).tolist() == result.best[2].tolist()
    assert watched.batches[0].settings.steps == 200  # as Taxi itself
    assert watched.title == "evolved:1, learning Taxi-v4, goal 2"
    assert watched.to_dict()["task"]["name"] == "Taxi-v4"


def test_in_a_table_whose_goal_moves_every_episode_begins_where_its_goal_does(opened: Opened) -> None:
    task = gym_task("Taxi-v4", starts=3)
    watched = watch.watch("chance", task=task, episodes=6, hidden=4, steps=20, switch=Switch(2, (1, 0, 2)))
    starts = task.table(watched.batches[0].settings).starts
    page, grids = opened(watched), []
    assert page.title() == "chance, learning Taxi-v4, a goal that moves"
    for number in range(6):
        page.evaluate(f"distal.goto({number + 1}, 0)")
        goal = (1, 0, 2)[number // 2]
        shown = state(page)["panels"][0]
        assert page.inner_text(".phase") == f"{goal} phase {number // 2 + 1} / 3"
        assert shown["states"][0] == starts[goal]
        assert shown["ep"] == watched.eps[0, number]
        rows = task.picture.rows_from(int(starts[goal]))
        size = page.evaluate("document.querySelector('.maze').width") / len(rows[0])
        cell = "".join(rows).index("G")
        middle = ((cell % len(rows[0]) + 0.25) * size, (cell // len(rows[0]) + 0.3) * size)
        assert pixels(page, [middle]) == [LIGHT["goal"]]
        grids.append(rows)
    assert len(set(grids)) == 3


def test_the_frame_of_the_start_moves_with_the_goal(opened: Opened) -> None:
    table = Table.of([[0], [1], [0]], [[1, 2]] * 3, [[1, 1]] * 3, [0, 0, 1], start=[0, 1])
    page = opened(watch.watch("chance", task=TableTask(table), episodes=2, hidden=3, steps=4, switch=1))
    for episode, start in ((1, 0), (2, 1)):
        page.evaluate(f"distal.goto({episode}, 0)")
        frames = pixels(page, [(34 * k + 14, 1) for k in range(3)])
        assert [k for k in range(3) if frames[k] == LIGHT["start"]] == [start]
        assert page.inner_text(".learner p").startswith("It is the first in this phase.")


def pixels(page: Page, points: list[tuple[float, float]]) -> list[str]:
    """Return the colours of the picture at some places, in pixels of the page."""
    found: list[str] = page.evaluate(
        """points => {
          const maze = document.querySelector(".maze"), { width, height } = maze;
          const copy = new OffscreenCanvas(width, height);
          copy.getContext("2d").drawImage(maze, 0, 0);
          const { data } = copy.getContext("2d").getImageData(0, 0, width, height);
          return points.map(([x, y]) => {
            const at = 4 * (Math.floor(y) * width + Math.floor(x));
            return "#" + [...data.subarray(at, at + 3)].map(c => c.toString(16).padStart(2, "0")).join("");
          });
        }""",
        points,
    )
    return found


def test_a_grid_has_its_pits_its_goal_and_the_path_in_their_cells(opened: Opened) -> None:
    watched = watch.watch("chance", task=lake(), episodes=120, seed=1)
    page = opened(watched, place=f"#{int(watched.eps[0].argmin()) + 1}.3")
    shown = state(page)["panels"][0]
    assert shown["cells"][:4] == [0, 4, 8, 9]  # 0 is the start, 15 the goal; 5, 7, 11, 12 are holes
    size = page.evaluate("document.querySelector('.maze').width") / 4

    def at(cell: int, down: float, across: float) -> tuple[float, float]:
        return (cell % 4 + across) * size, (cell // 4 + down) * size

    places = [(0.5, 0.5), (0.5, 0.02), (0.12, 0.12), (0.5, 0.2)]
    points = [at(cell, *place) for place in places for cell in range(16)]
    for theme in in_both_themes(page):
        middles, edges, corners, rims = np.reshape(pixels(page, points), (4, 16)).tolist()
        assert middles[9] == theme["chance"]  # the agent
        assert middles[15] == theme["goal"]
        assert [cell for cell in range(16) if middles[cell] == theme["floor"]] == [1, 2, 3, 6, 10, 13, 14]
        assert [cell for cell in range(16) if edges[cell] == theme["pit"]] == [5, 7, 11, 12]
        assert [cell for cell in (0, 4, 8, 9, 1, 2, 13) if corners[cell] != theme["floor"]] == [0, 4, 8, 9]
        assert [cell for cell in range(16) if rims[cell] == theme["start"]] == [0]


@pytest.mark.parametrize(("to", "joined"), [(2, True), (8, False), (4, False)])
def test_a_path_has_a_gap_where_the_agent_leaps_and_what_it_fetches_is_a_disc(
    opened: Opened, to: int, joined: bool
) -> None:
    """In three rows of three cells, a step leads from cell 0 to another; something lies in cell 6."""
    table = Table.of([[0], [1]], [[1], [1]], [[1], [1]], [0, 1])
    task = TableTask(table, picture=Picture(["...", "...", "..."], cells=[0, to], things=6))
    page = opened(watch.watch("chance", task=task, episodes=1, hidden=2), place="#1.1")
    size = page.evaluate("document.querySelector('.maze').width") / 3
    row, column = divmod(to, 3)
    places = [(0.5 + 0.45 * column, 0.5 + 0.45 * row), (0.76, 2.76), (0.5 + column, 0.5 + row)]
    between, thing, agent = pixels(page, [(x * size, y * size) for x, y in places])
    assert (between == LIGHT["chance"]) is joined
    assert (thing, agent) == (LIGHT["ink"], LIGHT["chance"])


def test_the_page_says_what_the_task_is_and_whether_its_goal_is_reached(opened: Opened) -> None:
    watched = watch.watch("chance", task=lake(encode="one-hot"), episodes=120, seed=3)
    best = int(watched.eps[0].argmin()) + 1
    assert watched.eps[0].min() == -1  # the target is −0.7
    page = opened(watched, place=f"#{best}")
    assert page.inner_text("h1") == page.title() == "chance, learning FrozenLake-v1"
    assert "16 states · 16 bits sensed (one-hot)" in page.inner_text("#subtitle")
    assert page.inner_text(".inputs h3") == "16 bits sensed: one-hot"
    assert page.locator(".inputs .cells span").count() == 17
    assert page.locator(".outputs .cells span").all_inner_texts() == ["left", "down", "right", "up"]
    steps = state(page)["panels"][0]["steps"]
    ends = f"Ends in state 15 after {steps} steps: EP −1. Goal reached: the target is −0.7 or less."
    assert page.inner_text(".outcome") == ends
    assert (page.inner_text(".ep"), page.inner_text(".pits")) == ("−1 best", "15 of 16")
    assert page.inner_text(".pits-name") == "State"
    assert state(page)["panels"][0]["reached"] is True
    missed = int(watched.eps[0].argmax()) + 1
    page.evaluate(f"distal.goto({missed})")
    assert "EP 0. Goal not reached: the target is −0.7 or less." in page.inner_text(".outcome")
    assert state(page)["panels"][0]["reached"] is False
    assert "target: −0.7" in page.inner_text("#legend")
    assert "this page computes mazes alone" in page.inner_text(".learner")
    page.keyboard.press("?")
    told = page.inner_text("#help")
    assert "A network acts in FrozenLake-v1" in told
    assert "maze to its goal" not in told
    assert page.is_hidden("#help-states")


def test_a_table_without_a_picture_is_a_row_of_its_states(opened: Opened) -> None:
    watched = watch.watch(CLIMBER, task=ring(9, target=None), **BY_HAND)
    (episode,) = islice(reference.episodes(watched.batches[0], 0), 2, 3)
    page = opened(watched, place="#3.4", width=1280)
    states = [0]
    for action in episode.actions:  # 1 and 2 go on, 0 stays
        states.append((states[-1] + (action > 0)) % 9)
    shown = state(page)["panels"][0]
    assert (shown["states"], shown["cells"], shown["reached"]) == (states, None, None)
    assert shown["actions"] == [str(action) for action in episode.actions]
    assert "The task has no target." in page.inner_text(".outcome")
    assert page.inner_text(".inputs h3") == "3 bits sensed"
    assert "target" not in page.inner_text("#legend")
    boxes = pixels(page, [(34 * k + 6, 13) for k in range(9)])  # in a box, beside its number
    assert [k for k in range(9) if boxes[k] == LIGHT["hc"]] == [states[4]]
    plain = "#f5f6f8"
    assert [k for k in range(9) if boxes[k] != plain] == sorted(set(states[:5]))
    assert 1 < len(set(states[:5])) < 9
    visited = " ".join(map(str, dict.fromkeys(states[:5])))
    assert page.get_attribute(".maze", "aria-label") == (
        f"9 states: the agent in state {states[4]}, step 4 of {len(states) - 1}; visited {visited}"
    )


def test_of_many_states_those_visited_in_the_trial_have_a_box_200_at_a_time(opened: Opened) -> None:
    task = ring(100_000, stride=40)
    watched = watch.watch("chance", task=task, hidden=4, steps=400, episodes=4)
    recording = watched.recordings[0]
    assert recording is not None
    visited = recording.visited
    assert len(visited) > 400
    page = opened(watched)
    for episode in range(1, 5):
        page.evaluate(f"distal.goto({episode})")
        at = visited.index(state(page)["panels"][0]["states"][-1])
        first = at // 200 * 200
        label = page.get_attribute(".maze", "aria-label") or ""
        assert label.startswith(
            f"{len(visited)} states visited in this trial, of 100,000, here {first + 1} to "
            f"{min(first + 200, len(visited))}: the agent in state {visited[at]}, step 400 of 400"
        )


def test_a_page_of_a_large_table_is_small() -> None:
    states = 60_000
    picture = Picture(["." * 250] * 240, cells=np.arange(states))
    text = watch.page("chance", task=ring(states, picture=picture), hidden=4, steps=50, episodes=20)
    assert len(text.encode()) < 300_000


@pytest.mark.parametrize("kind", ["grid", "states"])
def test_the_page_of_a_table_fits_a_phone_and_can_be_read(opened: Opened, kind: str) -> None:
    task = lake(encode="one-hot") if kind == "grid" else ring(64)
    watched = watch.watch("evolved:1", "hc", task=task, **BY_HAND)
    page = opened(watched, width=360, height=740, place="#2.5")
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for _ in in_both_themes(page):
        for what, ink, ground in page.evaluate(LOOK, TEXTS):
            assert contrast(ink, ground) >= 4.5, (what, ink, ground)


def test_the_line_of_chance_is_seen_where_eps_differ_by_one() -> None:
    watched = watch.watch("chance", task=lake(), episodes=60, seed=1)
    low, high = watched.chance.min(), watched.chance.max()
    assert 0 < high - low < 1
    at, values = zip(*watched.page_data()["chance"]["curve"], strict=True)
    off = np.abs(np.interp(np.arange(60), at, values) - watched.chance)
    assert off.max() <= 1 / 200 + 0.0001


class Endless(Task[Any]):
    """A task that is no table, and does not say why."""

    name, inputs, outputs, goals = "endless", 3, 4, ("0",)

    def begin(self, goal: int, settings: Settings) -> Any:
        """Begin."""


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"task": Endless()}, "endless is no table, and nothing else can be watched; use distal learn"),
        ({"task": ring(4), "maze": T}, "task and maze are both given; leave one out"),
        ({"task": ring(4), "goal": "3"}, "goal is '3', expected a goal of ring: 0"),
        (
            {"task": ring(4), "steps": 10_000, "episodes": 900},
            "episodes is 900, expected 186 at most: the page computes mazes alone and records other tasks;",
        ),
        (
            {"task": TableTask(Table.of(np.zeros((2, 65), int), [[0, 1]] * 2, [[1, 1]] * 2, [0, 1]))},
            "table has 65 inputs and 2 actions, a page takes at most 64 and 16: chance beside it needs",
        ),
    ],
)
def test_a_table_that_cannot_be_watched_is_refused_in_one_line(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError) as refusal:
        watch.watch("evolved:1", **options)
    assert str(refusal.value).startswith(message)


def test_of_many_goals_an_error_names_a_few() -> None:
    many = np.zeros((100, 2), int)
    table = Table.of([[0], [1]], [[0, 1], [0, 1]], np.ones((100, 2, 2), int), many)
    with pytest.raises(InputError, match=r"expected a goal of table: 0, 1, .* 38, …, 99$"):
        watch.trials("evolved:1", task=TableTask(table), goal="x")


# ------------------------------------------------------------------ colours


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


@pytest.mark.parametrize(
    ("learners", "roles"),
    [
        (("paper:1", "hc"), ("dsp", "hc")),
        (("chance", "paper:1"), ("chance", "dsp")),
        (("paper:1", "paper:2"), ("dsp", "dsp_resampled")),
        (("hc", CLIMBER), ("hc", "hc_resampled")),
        (("chance", CHANCE), ("chance", None)),
        (("paper:1", Jumps(0.3, 0.2, 0.4)), ("dsp", "other")),
        ((Jumps(0.3, 0.2, 0.4), Jumps(0.9, 0.2, 0.4)), ("other", "other_resampled")),
    ],
)
@pytest.mark.usefixtures("jumps")
def test_every_panel_has_the_colour_of_its_learner_and_all_text_can_be_read(
    opened: Opened, learners: tuple[Any, Any], roles: tuple[str | None, ...]
) -> None:
    page = opened(watch.watch(*learners, episodes=3, **SMALL), place="#2.3")
    for theme in in_both_themes(page):
        swatches = page.locator(".swatch").evaluate_all(
            "all => all.map(e => getComputedStyle(e).backgroundColor)"
        )
        shown = [numbers_of(colour) for colour in swatches]
        assert shown[0] != shown[1]
        for colour, role in zip(shown, roles, strict=True):
            assert role is None or colour == numbers_of(theme[role])
        for what, ink, ground in page.evaluate(LOOK, TEXTS):
            assert contrast(ink, ground) >= 4.5, (what, ink, ground)


def test_two_learners_share_the_controls(opened: Opened, compared: Watched) -> None:
    page = opened(compared)
    page.evaluate("distal.checked")
    assert page.inner_text("#match") == "✓ 80 of 80 episodes match the engine"
    page.evaluate("distal.goto(23)")
    assert eps_shown(page) == compared.eps[:, 22].tolist()
    accepted = compared.eps[1, 22] < compared.eps[1, :22].min()
    assert page.inner_text(".verdict") == ("accepted as the new best" if accepted else "rejected")
    first, second = (panel.bounding_box() for panel in page.locator(".panel").all())
    assert first is not None
    assert second is not None
    assert first["y"] == second["y"]
    assert first["x"] + first["width"] < second["x"]


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
        ("chance", {"resample": 4}),
        ("paper:1", {"resample": 4}),
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
    for episode, inspected in ((1, False), (4, False), (4, True), (7, True)):
        page.evaluate(f"distal.goto({episode})")
        if inspected:
            page.locator(".matrix").first.click(position={"x": 70, "y": 80})
            assert "→ hidden" in page.locator(".readout").first.inner_text()
        dock = page.locator("#dock").bounding_box()
        assert dock is not None
        boxes = page.evaluate(
            """selector => [...document.querySelectorAll(".panel")].flatMap(panel => {
              const inside = panel.getBoundingClientRect();
              return [...panel.querySelectorAll(selector)].filter(e => !e.hidden).map(e => {
                const box = e.getBoundingClientRect();
                return [e.className, box.left - inside.left, inside.right - box.right, box.top, box.bottom,
                        inside.bottom, box.height];
              });
            })""",
            PARTS,
        )
        assert len(boxes) > 100
        for name, left, right, top, bottom, panel, height in boxes:
            assert left >= 0, name
            assert right >= 0, name
            assert height > 0, name
            assert 0 <= top < bottom <= panel <= dock["y"], name
        if inspected:
            page.locator(".matrix").first.click(position={"x": 70, "y": 80})
    controls = page.locator("#dock button, #dock input, header button, #dock canvas").evaluate_all(
        "all => all.map(e => e.getBoundingClientRect()).map(box => [box.left, box.right, box.bottom])"
    )
    assert len(controls) > 12
    for left, right, bottom in controls:
        assert left >= 0
        assert right <= 1400
        assert bottom <= 900


def test_a_phone_needs_no_sideways_scrolling(opened: Opened, compared: Watched, moving: Watched) -> None:
    assert opened(moving, width=360, height=740).evaluate("document.documentElement.scrollWidth") == 360
    page = opened(compared, width=360, height=740, scheme="dark")
    assert state(page)["theme"] == "dark"
    for _ in in_both_themes(page):
        assert page.evaluate("document.documentElement.scrollWidth") == 360
    first, second = (panel.bounding_box() for panel in page.locator(".panel").all())
    assert first is not None
    assert second is not None
    assert first["x"] == second["x"]
    assert first["y"] + first["height"] < second["y"]


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


# ------------------------------------------------------------------ the command


def test_watch_writes_a_page_and_tells_of_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "a page.html"
    words = ["watch", "paper:1", "--episodes", "5", "--steps", "9", "--hidden", "3", "--out", str(out)]
    assert f"page: {out}" in output(capsys, *words)
    data = output_json(capsys, *words, "--against", "hc", "--sigma", "0.5", "--goal", "0", "--resample", "2")
    assert data["bytes"] == out.stat().st_size
    eps = watch.watch(
        "paper:1", replace(DEFAULT_CLIMBER, sigma=0.5), goal=0, episodes=5, steps=9, hidden=3, resample=2
    ).eps
    assert [learner["best_ep"] for learner in data["learners"]] == eps.min(axis=1).tolist()
    assert [learner["name"] for learner in data["learners"]] == ["paper:1", "hill climbing"]
    assert (data["goal"], data["resample"], data["steps"]) == ("0", 2, 9)


def test_the_command_takes_an_environment_as_learn_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "page.html")
    words = ["watch", "hc", "--episodes", "4", "--hidden", "3", "--out", out]
    told = output(capsys, *words, "--env", "FrozenLake-v1", "--env-arg", "is_slippery=false")
    assert "FrozenLake-v1: 4 episodes, seed 0" in told
    taxi = ["--env", "Taxi-v4", "--starts", "2", "--encode", "binary", "--goal", "1"]
    assert "Taxi-v4, goal 1: 4 episodes" in output(capsys, *words, *taxi)
    data = output_json(capsys, *words, *taxi)
    eps = watch.watch("hc", task=gym_task("Taxi-v4", starts=2), goal="1", episodes=4, hidden=3).eps
    assert data["learners"][0]["best_ep"] == eps.min()
    assert (data["task"]["name"], data["goal"], data["steps"]) == ("Taxi-v4", "1", 200)
    assert "maze" not in data


def test_the_command_takes_goals_that_move_and_sigmoid_neurons_as_learn_does(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = str(tmp_path / "page.html")
    words = ["watch", "paper:1", "--against", "hc", "--episodes", "7", "--hidden", "3", "--steps", "9"]
    words += ["--out", out, "--neurons", "sigmoid", "--switch", "3", "--switch-to", "6,1"]
    told = output(capsys, *words)
    assert "the way to 6: 7 episodes, the goal moves every 3, seed 0" in told
    watched = watch.watch(
        "paper:1", "hc", episodes=7, hidden=3, steps=9, neurons="sigmoid", switch=Switch(3, (6, 1))
    )
    for number, goal in ((1, "6"), (2, "1"), (3, "6")):
        phase = watched.phases[number - 1]
        cells = [str(number), goal, *map(str, phase["best_ep"]), f"{phase['chance']:.1f}"]
        assert cells in [line.split() for line in told.splitlines()]
    data = output_json(capsys, *words)
    assert data["phases"] == watched.phases
    assert (data["neurons"], data["switch"]) == ("sigmoid", {"every": 3, "goals": [6, 1]})
    told = output(capsys, *words[:-4], "--switch", "1", "--episodes", "20")  # of many, the first and the last
    assert re.findall(r"^ (\d+) ", told, re.MULTILINE) == [*map(str, range(1, 12)), "20"]


def test_chance_can_be_watched_alone_and_beside_a_rule(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ["--episodes", "4", "--steps", "9", "--hidden", "3", "--out", str(tmp_path / "page.html")]
    data = output_json(capsys, "watch", "chance", *words)
    assert [learner["name"] for learner in data["learners"]] == ["chance"]
    assert data["chance"]["trials"] == 200
    data = output_json(capsys, "watch", "evolved:1", "--against", "chance", *words)
    assert [learner["name"] for learner in data["learners"]] == ["evolved:1", "chance"]


def test_watch_opens_the_page_if_asked(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []
    monkeypatch.setattr("webbrowser.open", seen.append)
    out = tmp_path / "page.html"
    output(capsys, "watch", "hc", "--episodes", "2", "--out", str(out), "--open")
    assert seen == [out.as_uri()]


def test_a_climber_file_can_be_watched(tmp_path: Path) -> None:
    path = tmp_path / "climber.json"
    path.write_text(json.dumps({"format": "distal-climber", "version": 1, **CLIMBER.to_dict()}))
    assert find_learner(path) == CLIMBER
    assert find_learner("paper:4") == distal.published_rule(4)


def test_the_goal_is_three_or_the_first_where_there_is_none() -> None:
    assert watch.watch("paper:1", episodes=1).goal == "3"
    assert watch.watch("paper:1", episodes=1, maze=T).goal == T.symbols[0]
    assert watch.watch("paper:1", episodes=1, maze=RING).goal == "3"


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["paper:99"], ["'paper:99'"]),
        (["paper:1", "--against", "papr:2"], ["'papr:2'", "did you mean 'paper:2'?"]),
        (["paper:1", "--goal", "9"], ["goal is '9'", "0, 1, 2, 3, 4, 5, 6, 7"]),
        (["paper:1", "--goal", ""], ["goal is ''"]),
        (["paper:1", "--episodes", "0"], ["episodes is 0", "1 to 100000"]),
        (["paper:1", "--sigma", "0.1"], ["--sigma is for hc alone"]),
        (["hc", "--sigma", "2"], ["sigma is 2.0"]),
        (["paper:1", "--resample", "0"], ["resample is 0"]),
        (["paper:1", "--switch", "0"], ["switch is 0"]),
        (["paper:1", "--switch-to", "back"], ["say when with --switch E"]),
        (["paper:1", "--neurons", "grey"], ["neurons is 'grey'"]),
        (
            ["paper:1", "--switch", "5", "--switch-to", "0,4", "--goal", "3"],
            ["goal is '3', but the goals of the switch begin with 0; leave it out"],
        ),
        (["paper:1", "--env", "CliffWalking-v1", "--switch", "5"], ["at least two goals"]),
        (["paper:1", "--episodes", "1", "--out", "/nowhere/page.html"], ["'/nowhere/page.html'"]),
        (
            ["paper:1", "--env", "FrozenLake-v1"],
            ["FrozenLake-v1 is no table", "chance decides what action 0 does", "use distal learn"],
        ),
        (["paper:1", "--env", "CartPole-v1"], ["CartPole-v1 is no table", "use distal learn"]),
        (["paper:1", "--env", "CliffWalking-v1", "--goal", "3"], ["expected a goal of CliffWalking-v1: 0"]),
        (["paper:1", "--env-arg", "a=1"], ["--env-arg is for an environment"]),
        (["paper:1", "--hiden", "3"], ["did you mean '--hidden'?"]),
    ],
)
def test_bad_input_ends_with_one_line(
    capsys: pytest.CaptureFixture[str], arguments: list[str], parts: list[str]
) -> None:
    line = refusal(capsys, "watch", *arguments)
    assert all(part in line for part in parts)


def test_what_is_no_learner_is_refused() -> None:
    with pytest.raises(InputError, match="learner is 3, expected"):
        watch.watch(3)  # type: ignore[arg-type]
    assert main(["watch", "paper:1", "--episodes", "1", "--out", "/"]) == 2
