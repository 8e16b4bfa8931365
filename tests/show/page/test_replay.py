"""Exactness: the page computes a trial as the reference engine does, bit for bit."""

from __future__ import annotations

import random
from dataclasses import asdict
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import distal
from distal.engines import Runner, Trials, reference
from distal.evaluation.usage import count_usage
from distal.learners import Learner
from distal.learners.chance import Chance
from distal.learners.dsp import Rule
from distal.learners.hill_climbing import HillClimbing
from distal.model.maze import HEADINGS, Maze, triple_t_maze
from distal.model.readings import NEURONS, READINGS
from distal.model.settings import Settings
from distal.networks.recurrent import logistic
from distal.show import watch
from distal.show.trial_page import page_data
from distal.show.watched import Watched
from distal.tasks.switching import Switch
from tests.given import some
from tests.mazes import T
from tests.show.pages import CHANCE, CLIMBER, RING, recorded

if TYPE_CHECKING:
    from playwright.sync_api import Page


def cases() -> list[tuple[Watched, Trials]]:
    """Run trials that use every reading, all neurons and learners, resampling and goals that move.

    They have several sizes, mazes and headings. Chance, which no script computes, is left out.
    """
    chosen: list[tuple[Learner, Maze, Settings, int | None, Switch | None]] = []
    learners: tuple[Learner, ...] = (distal.published_rule(1), distal.published_rule(10), CLIMBER, CHANCE)
    for name, values in READINGS.items():
        for value, learner in product(values, learners):
            reading: Any = {name: value}
            chosen.append((learner, RING, Settings(hidden=7, steps=25, **reading), None, None))
    for hidden, learner, neurons in product((1, 2, 20, 33, 65), learners[1:], NEURONS):
        chosen.append((learner, triple_t_maze(), Settings(hidden, 40, neurons=neurons), 3, None))
    moves = (None, Switch(2), Switch(1, "back"), Switch(3, (2, 0)), Switch(7))
    for learner, neurons, switch in product(learners, NEURONS, moves):
        chosen.append((learner, RING, Settings(hidden=7, steps=25, neurons=neurons), None, switch))
    draw = random.Random(2019)  # noqa: S311
    for _ in range(40):
        readings: dict[str, Any] = {name: draw.choice(list(values)) for name, values in READINGS.items()}
        neurons = draw.choice(list(NEURONS))
        settings = Settings(draw.randint(1, 24), draw.randint(1, 130), **readings, neurons=neurons)
        a, b, c, d = (draw.random() for _ in range(4))
        rule = Rule([draw.randint(-1, 1) for _ in range(32)], a, b, c, d)
        learner = draw.choice([rule, HillClimbing(a, b, c), Chance(a, b)])
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
        kept = Runner("reference").run(batches[0], keep_weights=True, keep_ep=True)
        run.append((Watched(("",), batches, 0, some(kept.ep), np.zeros(6), (None,), (None,)), kept))
    return run


# Runs trials to their ends; returns what differs, the bits of the weights of the first best episode
# (of the last phase, if there are several), and how often each row was used after every episode.
RECOMPUTE = """
trials => trials.map(data => {
  const learner = data.learners[0];
  const replay = new Replay(data, learner);
  finish(replay.check());
  const last = learner.eps.slice(data.phases.every * (data.phases.goals.length - 1));
  const best = learner.eps.length - last.length + last.indexOf(Math.min(...last));
  const { weights } = finish(replay.episode(best)).episode;
  const bits = matrix => Array.from(new Uint32Array(matrix.buffer));
  const uses = learner.kind === "dsp" ? learner.eps.map((_, n) => Array.from(replay.used(n + 1))) : null;
  return { checked: replay.checked, differences: replay.differences, uses,
           hidden: bits(weights.hidden), output: bits(weights.output) };
})
"""


Recomputed = list[tuple[Watched, Trials, dict[str, Any]]]


@pytest.fixture(scope="module")
def recomputed(port: Page) -> Recomputed:
    """Return trials as the reference engine ran them and as the page computes them."""
    trials = cases()
    computed = port.evaluate(RECOMPUTE, [page_data(trial) for trial, _ in trials])
    return [(trial, kept, result) for (trial, kept), result in zip(trials, computed, strict=True)]


def test_the_page_computes_every_ep_and_every_weight_as_the_reference_engine_does(
    recomputed: Recomputed,
) -> None:
    assert len(recomputed) > 150
    for _, kept, result in recomputed:
        assert result["differences"] == []
        assert result["checked"] == 6
        assert result["hidden"] == some(kept.hidden)[0].view(np.uint32).ravel().tolist()
        assert result["output"] == some(kept.output)[0].view(np.uint32).ravel().tolist()


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
          const replay = new Replay(data, data.learners[0]);
          replay.every = 50;
          finish(replay.check());
          return [replay.states.length, ...[0, 49, 50, 51, 99, 100, 119].map(
            n => finish(replay.episode(n)).episode.ep)];
        }""",
        page_data(trial),
    )
    assert eps == [3, *trial.eps[0, [0, 49, 50, 51, 99, 100, 119]].tolist()]


def test_the_logistic_function_of_the_page_has_the_bits_of_the_engines(port: Page) -> None:
    draw = np.random.default_rng(2019)
    special = [0, -0.0, 1e-45, -1e-45, 18, -18, 3e38]
    wide, near = draw.normal(0, 6, 4_000), draw.normal(0, 1e-3, 500)
    sums = np.concatenate([wide, near, np.linspace(-19, 19, 777), special]).astype(np.float32)
    bits = port.evaluate(
        "bits => Array.from(new Uint32Array(Float32Array.from("
        "new Float32Array(Uint32Array.from(bits).buffer), logistic).buffer))",
        sums.view(np.uint32).tolist(),
    )
    assert bits == logistic(sums).view(np.uint32).tolist()


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
