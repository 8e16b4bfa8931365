"""Measure the parts of an episode in the cpu engine and draw them as a picture.

    python benchmarks/where_time_goes.py [--out docs/where_time_goes.svg]

Trains for 60 episodes, then repeats each part of an episode 2,000 times on the
weights and the walk that it has come to; medians over the evolved rules and goals.
Writes an SVG picture and prints the numbers as JSON. Needs matplotlib; takes about
a minute, most of it compilation.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.figure import Figure
from numba import njit

from distal.base.colours import LIGHT
from distal.bench import generation
from distal.engines import cpu
from distal.engines.cpu import episodes, kernels, update, weights, workspace
from distal.engines.cpu.workspace import GROUP, ZERO
from distal.learners.shipped import evolved_rules
from distal.model.compiled_draws import F1
from distal.model.draws import NOISE, WEIGHTS
from distal.studies import figures

WALK, CHECK, TRACES, UPDATE, COPY, NOISE_DRAW = range(6)
REPEATS = 2000


@njit(error_model="numpy")
def repeat(part, repeats, rule, goal, seed, numbers, changes, task, options, space):  # type: ignore[no-untyped-def]  # noqa: D103
    ws = workspace.pointers(space)
    table = workspace.pointed(task)
    hidden, stride = options.hidden, GROUP * options.groups
    lanes = hidden + len(table.row)
    eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
    space.visits[:] = -1
    weights.draw(ws, table, hidden, stride, seed, 0, WEIGHTS, F1)
    used, sorts, steps, n_used, m, previous = 0, 0, ZERO, ZERO, 1, np.int64(2**62)
    for episode in range(60):
        episodes.begin_automaton(ws, table, options)
        ep, steps, n_used = episodes.run_binary(
            ws, table, options, goal, alpha_h, alpha_o, seed, episode, ZERO, np.int64(1), ZERO
        )
        m, previous = 1 if ep <= previous else 0, ep
        firings = update.list_firings(ws, table, options, n_used)
        kinds = update.sort_sources(ws, table, options, firings, kernels.threshold(theta, steps))
        update.decide(ws, lanes, stride, kinds, changes[rule, m], eta)
        if episode < 59:  # the walk and the weights that it was taken with stay
            update.update(ws, table, options)
        used += n_used
        sorts += kinds
    kept = space.weights.copy()
    for k in range(repeats):
        if part in (WALK, CHECK):
            episodes.begin_automaton(ws, table, options)
        if part == WALK:
            episodes.run_binary(
                ws, table, options, goal, alpha_h, alpha_o, seed, 60 + k, ZERO, np.int64(1), ZERO
            )
        elif part == CHECK:
            episodes.still_true(ws, table, options, n_used, alpha_h, alpha_o)
        elif part == TRACES:
            firings = update.list_firings(ws, table, options, n_used)
            kinds = update.sort_sources(ws, table, options, firings, kernels.threshold(theta, steps))
            update.decide(ws, lanes, stride, kinds, changes[rule, m], eta)
        elif part == NOISE_DRAW:
            weights.draw(ws, table, hidden, stride, seed, 60 + k, NOISE, F1)
        else:
            space.weights[:] = kept
            if part == UPDATE:
                update.update(ws, table, options)
    return used / 60, sorts / 60


def measure() -> dict[str, float]:
    """Return the nanoseconds of each part."""
    job = cpu.Job(generation(evolved_rules(), trials=1), keep_weights=False, keep_ep=False)
    space = workspace.workspace(20, 100, job.task)
    common: tuple[Any, ...] = (job.numbers, job.tables, job.task, job.options, space)
    seconds, counts = np.zeros((6, 15, 4)), np.zeros((15, 4, 2))
    repeat(WALK, 0, 0, 0, np.uint64(0), *common)
    for rule in range(15):
        for goal in range(4):
            for part in range(6):
                took = []
                for repeats in (0, REPEATS):
                    began = time.process_time()
                    counts[rule, goal] = repeat(part, repeats, rule, 2 * goal, np.uint64(rule), *common)
                    took.append(time.process_time() - began)
                seconds[part, rule, goal] = took[1] - took[0]
    mean = np.median(seconds, axis=(1, 2)) / REPEATS * 1e9
    return {
        "walk": float(mean[WALK]),
        "check": float(mean[CHECK]),
        "traces": float(mean[TRACES]),
        "update": float(mean[UPDATE] - mean[COPY]),
        "noise": float(mean[NOISE_DRAW]),
        "transitions_per_episode": float(counts[..., 0].mean()),
        "kinds_per_episode": float(counts[..., 1].mean()),
    }


def draw(parts: dict[str, float], out: str) -> None:
    """Draw three bars: DSP episodes with a new walk and with the one before, and a hill climbing episode."""
    labels = {
        "walk": ("walk", "dsp"),
        "check": ("its transitions again", "dsp_resampled"),
        "traces": ("traces, rule", "goal"),
        "update": ("update, norm", "start"),
        "noise": ("644 normal deviates", "pit"),
    }
    bars = {
        "DSP": ("walk", "traces", "update"),
        "DSP, repeated": ("check", "update"),
        "hill climbing": ("walk", "noise"),
    }
    with figures.own_style(), mpl.rc_context({"font.size": 10, "axes.grid": False}):
        figure = Figure(figsize=(7.2, 2.8))
        axes = figure.subplots()
        named = set()
        for y, pieces in enumerate(bars.values()):
            left = 0.0
            for piece in pieces:
                text, role = labels[piece]
                label = text if piece not in named else None
                axes.barh(
                    y, parts[piece], left=left, color=LIGHT[role], label=label, height=0.6, ec=LIGHT["floor"]
                )
                # What can be read on the colour, on light ground and on dark; black is no role and stays.
                ink = LIGHT["floor"] if role in ("dsp", "pit") else "#000000"
                number = f"{parts[piece]:.0f}"
                axes.text(left + parts[piece] / 2, y, number, ha="center", va="center", color=ink)
                left += parts[piece]
                named.add(piece)
            axes.text(left + 25, y, f"{left / 1000:.2f} µs", va="center", fontweight="bold")
        axes.set_yticks(range(len(bars)), list(bars))
        axes.invert_yaxis()
        axes.set_xlabel("nanoseconds an episode, one core")
        axes.set_xlim(right=1.18 * axes.get_xlim()[1])
        figure.legend(loc="outside upper left", ncols=3, fontsize=9)
        svg, _ = figures.render(figure)
    Path(out).write_text(figures.standalone(svg), encoding="utf-8")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", default="docs/where_time_goes.svg")
    options = parser.parse_args()
    measured = measure()
    draw(measured, options.out)
    print(json.dumps({name: round(value, 1) for name, value in measured.items()}))  # noqa: T201
