"""Measure an episode in the default maze and in the narrow one, in runs that take turns.

    python benchmarks/wide_and_narrow.py [--engine gpu] [--rounds 15] [--json FILE]

Prints, for each kind of learner, the time of an episode in `triple-t`, whose corridors are
three cells wide, and in `narrow-t` (medians of rounds), and the median of the ratios with
their middle half. The cpu engine runs on one core and is measured in processor time, with the
best of three runs in a round, so that what else a machine does matters little; then it prints
what an episode asks of it in both mazes: how many transitions of the network are computed, how many
steps are walked, and in how many episodes the walk is another than before. Takes about a minute, half
of it compilation.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

from distal.base.machine import machine
from distal.bench import generation
from distal.engines import Batch, cpu, load
from distal.engines.cpu import episodes, kernels, update, weights, workspace
from distal.engines.cpu.workspace import GROUP, ZERO
from distal.learners import chance_for
from distal.learners.chance import Chance
from distal.learners.shipped import evolved_rules, published_rules
from distal.model.compiled_draws import F1
from distal.model.draws import WEIGHTS
from distal.studies.plans.reproduce import random_learners

WIDE, NARROW = "triple-t", "narrow-t"
LIMIT = 1.1  # times as long in the wide maze
ON_A_CARD = 15  # times as many learners, as one generation of fifteen runs has


def cases(maze: str, engine: str) -> dict[str, Batch]:
    """Return what is measured, by name: a generation of each kind of learner."""
    many = 14 * (ON_A_CARD if engine == "gpu" else 1)
    each = 50 if engine == "gpu" else 5
    beside: tuple[Chance, ...] = tuple(map(chance_for, evolved_rules()))
    found = {
        "random rules": generation(random_learners("dsp", 0, many), maze=maze),
        "published rules": generation(published_rules(), each, maze),
        "evolved rules": generation(evolved_rules(), each, maze),
        "hill climbing": generation(random_learners("hc", 0, many), maze=maze),
        "chance": generation(beside, each, maze),
    }
    return {name: replace(batch, record=(100,)) for name, batch in found.items()}


def timed(engine: str) -> Callable[[Batch], float]:
    """Return what measures the microseconds of an episode."""
    run = load(engine).run
    options: dict[str, Any] = {"keep_weights": False, "keep_ep": False, "progress": None}
    options["workers"] = 1
    clock = time.perf_counter if engine == "gpu" else time.process_time

    def best_of_three(batch: Batch) -> float:
        taken = []
        for _ in range(3):
            began = clock()
            run(batch, **options)
            taken.append(clock() - began)
        return min(taken) / (len(batch) * batch.episodes) * 1e6

    return best_of_three


def measure(engine: str, rounds: int) -> Iterator[dict[str, Any]]:
    """Yield a row for each case, with the microseconds of every round in both mazes."""
    microseconds = timed(engine)
    wide, narrow = cases(WIDE, engine), cases(NARROW, engine)
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in wide}
    for repeat in range(-1, rounds):
        for name, times in taken.items():
            both = microseconds(wide[name]), microseconds(narrow[name])
            if repeat >= 0:
                times.append(both)
    for name, times in taken.items():
        in_wide, in_narrow = np.array(times).T
        low, ratio, high = np.quantile(in_wide / in_narrow, (0.25, 0.5, 0.75)).tolist()
        yield {
            "case": name,
            WIDE: float(np.median(in_wide)),
            NARROW: float(np.median(in_narrow)),
            "unit": "µs",
            "ratio": ratio,
            "middle_half": [low, high],
            "target": LIMIT,
            "met": ratio <= LIMIT,
            "samples": times,
        }


@njit(error_model="numpy")
def count(learner, goal, seed, numbers, changes, task, options, space):  # type: ignore[no-untyped-def]  # noqa: D103
    ws, table = workspace.pointers(space), workspace.pointed(task)
    stride = GROUP * options.groups
    totals = np.zeros(5)
    for trial in range(len(seed)):
        space.visits[:] = -1
        rule, key = learner[trial], seed[trial]
        eta, theta, alpha_h, alpha_o = numbers[rule]
        previous, steady = np.int64(2**62), False
        ep, steps, n_used = ZERO, ZERO, ZERO
        weights.draw(ws, table, options.hidden, stride, key, 0, WEIGHTS, F1)
        for episode in range(options.episodes):
            episodes.begin_automaton(ws, table, options)
            kept, n_states, same = ZERO, np.int64(1), False
            if steady:
                kept, n_states = episodes.still_true(ws, table, options, n_used, alpha_h, alpha_o)
                same = kept == n_used
                totals[0] += min(kept + 1, n_used)
            if not same:
                space.trail[:] = -1
                ep, steps, n_used = episodes.run_binary(
                    ws, table, options, goal[trial, 0], alpha_h, alpha_o, key, episode,
                    kept, n_states, n_used,
                )  # fmt: skip
                totals[1] += n_used - kept
                totals[2] += (space.trail >= 0).sum()
                totals[3] += 1
                totals[4] += n_used
            m = 1 if ep <= previous else 0
            steady, previous = ep == previous, ep
            if not same:
                bound = kernels.threshold(theta, steps)
                update.decide_all(ws, table, options, n_used, bound, changes[rule, m], eta)
            update.update(ws, table, options)
    return totals


def counts(batch: Batch) -> dict[str, float]:
    """Return what an episode of DSP rules asks of the cpu engine, on average."""
    arguments = cpu.Job(batch, keep_weights=False, keep_ep=False).arguments()
    checked, computed, walked, walks, found = count(*arguments[:8]).tolist()
    episodes = len(batch) * batch.episodes
    return {
        "computed": (checked + computed) / episodes,
        "walked": walked / episodes,
        "walks": walks / episodes,
        "transitions of a walk": found / walks,
        "steps of a walk": walked / walks,
    }


def main() -> None:
    """Measure, and print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--engine", choices=("cpu", "gpu"), default="cpu")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--json", metavar="FILE", help="also write everything to FILE")
    given = parser.parse_args()
    rows = list(measure(given.engine, given.rounds))
    print(f"{'an episode in':18}{WIDE:>12}{NARROW:>13}   ratio (its middle half)")  # noqa: T201
    for row in rows:
        low, high = row["middle_half"]
        times = f"{row[WIDE]:9.4f} µs {row[NARROW]:9.4f} µs"
        print(f"{row['case']:18}{times}{row['ratio']:8.3f} ({low:.3f} to {high:.3f})")  # noqa: T201
    if given.engine == "cpu":
        print("\non average, in triple-t and narrow-t")  # noqa: T201
        for row in rows[:3]:
            row["asked"] = {maze: counts(cases(maze, "cpu")[row["case"]]) for maze in (WIDE, NARROW)}
            both = zip(row["asked"][WIDE].items(), row["asked"][NARROW].values(), strict=True)
            asked = ", ".join(f"{what} {wide:.3g} {narrow:.3g}" for (what, wide), narrow in both)
            print(f"{row['case']:18}{asked}")  # noqa: T201
    if given.json is not None:
        data = {"engine": given.engine, "machine": machine(), "results": rows}
        Path(given.json).write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
