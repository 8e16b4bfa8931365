"""Measure the parts of an episode in the cpu engine and draw them as a picture.

    python benchmarks/where_time_goes.py [--out docs/where_time_goes.svg]

Trains for 60 episodes, then repeats each part of an episode 2,000 times on the
weights and the walk that it has come to; means over published rules and goals.
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

from distal import published_rules
from distal.base.colours import LIGHT
from distal.bench import generation
from distal.engines import cpu
from distal.engines.cpu import kernels
from distal.engines.cpu.kernels import F1, GROUP
from distal.model.draws import NOISE, WEIGHTS
from distal.paper import figures

WALK, TRANSITIONS, COUNT, UPDATE, COPY, NOISE_DRAW = range(6)
REPEATS = 2000


@njit(error_model="numpy")
def repeat(part, repeats, rule, goal, seed, numbers, changes, task, options, space):  # type: ignore[no-untyped-def]  # noqa: D103
    ws = kernels.pointers(space)
    table = kernels.pointed(task)
    hidden = options.hidden
    stride, words = -(-hidden // GROUP) * GROUP, -(-hidden // 64)
    eta, theta, alpha_h, alpha_o = numbers[rule, 0], numbers[rule, 1], numbers[rule, 2], numbers[rule, 3]
    space.last_visit[:] = -1
    kernels.draw(ws, hidden, stride, seed, 0, WEIGHTS, F1)
    episode = 0
    used = 0
    for _ in range(60):
        _, steps, last, n_used = kernels.run_episode(
            ws, table, options, goal, alpha_h, alpha_o, seed, episode
        )
        kernels.count_traces(ws, options, n_used, steps, last)
        kernels.update(ws, options, steps, theta, eta, changes[rule, 1])
        episode += 1
        used += n_used
    kept_hidden, kept_output = space.hidden.copy(), space.output.copy()
    for _ in range(repeats):
        episode += 1
        if part == WALK:
            kernels.run_episode(ws, table, options, goal, alpha_h, alpha_o, seed, episode)
        elif part == TRANSITIONS:
            for u in range(n_used):
                at = ws.used[u]
                kernels.next_hidden(
                    ws, at >> 3, at & 7, options.steps, hidden, stride, words, alpha_h, alpha_o
                )
                kernels.outputs_of(ws, options.steps, hidden, words, options.winner_alone)
        elif part == COUNT:
            kernels.count_traces(ws, options, n_used, steps, last)
        elif part == NOISE_DRAW:
            kernels.draw(ws, hidden, stride, seed, episode, NOISE, F1)
        else:
            space.hidden[:] = kept_hidden
            space.output[:] = kept_output
            if part == UPDATE:
                kernels.update(ws, options, steps, theta, eta, changes[rule, 1])
    return used / 60


def measure() -> dict[str, float]:
    """Return the nanoseconds of each part."""
    job = cpu._Job(generation(published_rules(), trials=1), keep_weights=False, keep_ep=False)
    space = kernels.workspace(20, 100, job.task.states)
    common: tuple[Any, ...] = (job.numbers, job.tables, job.task, job.options, space)
    seconds, used = np.zeros((6, 15, 4)), np.zeros((15, 4))
    repeat(WALK, 0, 0, 0, np.uint64(0), *common)
    for rule in range(15):
        for goal in range(4):
            for part in range(6):
                took = []
                for repeats in (0, REPEATS):
                    began = time.perf_counter()
                    used[rule, goal] = repeat(part, repeats, rule, 2 * goal, np.uint64(rule), *common)
                    took.append(time.perf_counter() - began)
                seconds[part, rule, goal] = took[1] - took[0]
    mean = np.median(seconds, axis=(1, 2)) / REPEATS * 1e9
    return {
        "transitions": float(mean[TRANSITIONS]),
        "steps": float(mean[WALK] - mean[TRANSITIONS]),
        "traces": float(mean[COUNT]),
        "update": float(mean[UPDATE] - mean[COPY]),
        "noise": float(mean[NOISE_DRAW]),
        "transitions_per_episode": float(used.mean()),
    }


def draw(parts: dict[str, float], out: str) -> None:
    """Draw two bars: a DSP episode and a hill climbing episode."""
    labels = {
        "transitions": ("new transitions of the network", "dsp"),
        "steps": ("steps: look-ups, cycle search", "dsp_resampled"),
        "traces": ("counting traces", "goal"),
        "update": ("rule, update, norm", "start"),
        "noise": ("644 normal deviates, perturbation", "pit"),
    }
    bars = {
        "DSP": ("transitions", "steps", "traces", "update"),
        "hill climbing": ("transitions", "steps", "noise"),
    }
    with mpl.rc_context({**figures.STYLE, "font.size": 10, "axes.grid": False}):
        figure = Figure(figsize=(7.2, 2.3))
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
