"""A straightforward JAX program for the same work, to measure the engines against.

`vmap` over trials, `lax.scan` over steps and over episodes, `jit` around it all:
a program that a researcher who knows JAX writes in an afternoon. DSP with the default
readings, binary or sigmoid neurons, float32, JAX's own random numbers, so its results agree with Distal's in
distribution, not in bits. Every step of every episode is simulated; traces come
from one batched matrix product per episode.

    python -m distal.bench.jax_baseline      one generation: 14 random rules × 40 trials × 100 episodes

Prints one JSON object: seconds per run (compilation excluded), mean best EP, and
the device. Takes about a minute on two cores.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from distal.learners.dsp import Rule
from distal.model.maze import Maze, triple_t_maze
from distal.model.readings import BINARY, NEURONS
from distal.studies.plans.reproduce import random_learners

HIDDEN, STEPS = 20, 100


def _maze_arrays(maze: Maze) -> dict[str, Any]:
    """Return the maze as arrays: walls, start, finals, distances."""
    return {
        "walls": jnp.asarray(maze.walls),
        "finals": jnp.asarray(maze.finals),
        "distances": jnp.asarray(maze.distances),
        "start": jnp.asarray(maze.start),
    }


_MOVES = jnp.array([[-1, 0], [0, 1], [1, 0], [0, -1]])
TURNS = jnp.array([0, -1, 1, 0])


def fresh_weights(key: Any) -> tuple[Any, Any]:
    """Draw weights uniform in [−1, 1], without self-connections."""
    one, two = jax.random.split(key)
    hidden = jax.random.uniform(one, (HIDDEN, HIDDEN + 8), minval=-1.0)
    own = jnp.arange(HIDDEN)
    return hidden.at[own, own + 4].set(0.0), jax.random.uniform(two, (4, HIDDEN + 1), minval=-1.0)


def episode(
    maze: dict[str, Any], neurons: str, goal: Any, numbers: Any, hidden_w: Any, output_w: Any
) -> tuple[Any, ...]:
    """Walk the maze; return EP, the steps taken, and (pre-synaptic, hidden, outputs, alive) by step.

    `numbers` are η, θ, α_h and α_o, the weights are (H, 4 + H + 4) and (4, H + 1).
    """
    goal_cell = maze["finals"][goal]
    w_hi, w_h, w_ho = hidden_w[:, :4], numbers[2] * hidden_w[:, 4:-4], numbers[3] * hidden_w[:, -4:]

    def step(state: Any, _: Any) -> tuple[Any, Any]:
        cell, heading, hidden, outputs, pits, alive = state
        around = cell + _MOVES[(heading + jnp.array([-1, 0, 1])) % 4]
        inputs = jnp.append(maze["walls"][around[:, 0], around[:, 1]].astype(jnp.float32), 1.0)
        sums = w_hi @ inputs + w_h @ hidden + w_ho @ outputs
        active = (sums > 0).astype(jnp.float32)
        new_hidden = active if neurons == BINARY else jax.nn.sigmoid(sums)
        action = jnp.argmax(output_w @ jnp.append(new_hidden, 1.0))
        new_outputs = jax.nn.one_hot(action, 4)
        turned = (heading + TURNS[action]) % 4
        ahead = cell + _MOVES[turned]
        moves = (action != 0) & ~maze["walls"][ahead[0], ahead[1]]
        new_cell = jnp.where(moves, ahead, cell)
        new_heading = jnp.where(action != 0, turned, heading)
        at_goal = (new_cell == goal_cell).all()
        at_final = (new_cell == maze["finals"]).all(axis=1).any()
        new_pits = pits + (moves & at_final & ~at_goal)
        new = (new_cell, new_heading, new_hidden, new_outputs, new_pits, alive & ~at_goal)
        pre = jnp.concatenate([inputs, active, new_outputs])
        kept = jax.tree.map(lambda a, b: jnp.where(alive, a, b), new, state)
        return kept, (pre, active, new_outputs, alive)

    start = (maze["start"], 0, jnp.zeros(HIDDEN), jnp.zeros(4), 0, jnp.bool_(True))
    last, history = lax.scan(step, start, None, length=STEPS)
    steps = history[3].sum()
    left = maze["distances"][goal, last[0][0], last[0][1]]
    ep = jnp.where(last[5], STEPS + left, steps) + 5 * last[4]
    return ep, steps, history


def rows(pre: Any, post: Any, alive: Any, steps: Any, theta: Any, m: Any) -> Any:
    """Return the row of the rule for every synapse (n_post, n_pre)."""
    post_alive = post * alive[:, None]
    both = post_alive.T @ pre
    n_post, n_pre = post_alive.sum(axis=0)[:, None], (pre * alive[:, None]).sum(axis=0)[None, :]
    counts = (steps - n_post - n_pre + both, n_post - both, n_pre - both, both)
    b00, b01, b10, b11 = ((count / steps > theta).astype(jnp.int32) for count in counts)
    return (b00 * 8 + b01 * 4 + b10 * 2 + b11) * 2 + m


def trial(
    maze: dict[str, Any], neurons: str, episodes: int, delta_w: Any, numbers: Any, goal: Any, key: Any
) -> Any:
    """Train one network with a rule, its changes (32) and numbers η, θ, α_h and α_o; return its best EP."""
    own = jnp.arange(HIDDEN)

    def one(state: Any, _: Any) -> tuple[Any, None]:
        hidden_w, output_w, previous, best = state
        ep, steps, (pre, hidden, outputs, alive) = episode(maze, neurons, goal, numbers, hidden_w, output_w)
        m = (ep <= previous).astype(jnp.int32)
        with_bias = jnp.concatenate([hidden, jnp.ones((STEPS, 1))], axis=1)
        hidden_w = hidden_w + numbers[0] * delta_w[rows(pre, hidden, alive, steps, numbers[1], m)]
        hidden_w = hidden_w.at[own, own + 4].set(0.0)
        output_w = output_w + numbers[0] * delta_w[rows(with_bias, outputs, alive, steps, numbers[1], m)]
        unit = [
            w / jnp.maximum(jnp.linalg.norm(w, axis=1, keepdims=True), 1e-30) for w in (hidden_w, output_w)
        ]
        return (*unit, ep, jnp.minimum(best, ep)), None

    first = (*fresh_weights(key), jnp.int32(2**30), jnp.int32(2**30))
    return lax.scan(one, first, None, length=episodes)[0][3]


def generation(
    rules: tuple[Rule, ...], trials: int, episodes: int, neurons: str = BINARY
) -> Callable[[int], Any]:
    """Return a function of a seed that gives the best EP of every trial of a generation, compiled."""
    maze = _maze_arrays(triple_t_maze())
    per = trials * 8
    delta_w = np.repeat(np.array([rule.delta_w for rule in rules], np.float32), per, axis=0)
    own = [[rule.eta, rule.theta, rule.alpha_h, rule.alpha_o] for rule in rules]
    numbers = np.repeat(np.array(own, np.float32), per, axis=0)
    goals = np.tile(np.arange(8, dtype=np.int32), len(rules) * trials)
    run = jax.jit(jax.vmap(partial(trial, maze, neurons, episodes)))

    def call(seed: int) -> Any:
        keys = jax.random.split(jax.random.key(seed), len(goals))
        return run(delta_w, numbers, goals, keys).block_until_ready()

    return call


def measure(
    n_rules: int = 14, trials: int = 5, episodes: int = 100, repeats: int = 3, neurons: str = BINARY
) -> dict[str, Any]:
    """Time a generation of random rules; the first, compiling run is not counted."""
    rules = cast(tuple[Rule, ...], tuple(random_learners("dsp", 0, n_rules)))
    call = generation(rules, trials, episodes, neurons)
    best = call(0)
    seconds = []
    for repeat in range(repeats):
        began = time.perf_counter()
        call(repeat)
        seconds.append(time.perf_counter() - began)
    return {
        "seconds": statistics.median(seconds),
        "all_seconds": seconds,
        "mean_best_ep": float(best.mean()),
        "rules": n_rules,
        "trials": trials * 8,
        "episodes": episodes,
        "neurons": neurons,
        "jax": jax.__version__,
        "device": str(jax.devices()[0]),
    }


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rules", type=int, default=14)
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--neurons", choices=NEURONS, default=BINARY)
    options = parser.parse_args()
    measured = measure(options.rules, 5, options.episodes, options.repeats, options.neurons)
    print(json.dumps(measured))  # noqa: T201
