"""Draw the figures of the explaining pages: `python docs/make_figures.py [FOLDER]`, a second or two.

Writes SVG files into docs/pictures. What shows data is computed by the package; the
rest is laid out by hand. Colours are those of `distal.base.colours`, by role, as variables:
the site's style sheet sets others in the dark; a file looked at on its own has a white
paper.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import distal
from distal import learners
from distal.base.colours import LIGHT
from distal.learners import dsp, modulation
from distal.model import traces
from distal.model.draws import child_seed
from distal.networks import Episode, Recurrent
from distal.tasks.mazes import MazeTask, MazeWalk
from distal.tasks.task import Aim

FOLDER = Path(__file__).parent / "pictures"
PAPER = "#ffffff"
TEXT = """
.distal{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}
.distal{font-size:14px}
.distal text{fill:var(--ink)}.distal .soft{fill:var(--soft)}.distal .small{font-size:12px}
.distal .strong{font-weight:600}.distal .mono{font-family:ui-monospace,Menlo,Consolas,monospace}
.distal .paper{fill:var(--paper)}.distal .none{fill:none}.distal .tint{fill-opacity:.3}
.distal .half{fill-opacity:.5}
"""
ROLES = ("ink", "soft", "line", "zero", "dsp", "chance", "negative", "positive", "goal")  # those drawn with


def style() -> str:
    """Return the style sheet of a picture: .ROLE fills with the colour of a role, .s-ROLE draws lines."""
    colours = "".join(f"--{role}:{LIGHT[role]};" for role in ROLES)
    classes = "".join(
        f".distal .{role}{{fill:var(--{role})}}.distal .s-{role}{{stroke:var(--{role})}}\n" for role in ROLES
    )
    return f".distal{{--paper:{PAPER};{colours}}}{TEXT}{classes}"


Point = tuple[float, float]


class Drawing:
    """An SVG picture under construction."""

    def __init__(self, width: int, height: int, label: str) -> None:
        self.size, self.label, self.parts = (width, height), label, list[str]()

    def text(self, x: float, y: float, words: str, style: str = "", anchor: str = "middle") -> None:
        """Write words with their base line at y; the style is one or more class names."""
        kind = f' class="{style}"' if style else ""
        self.parts.append(f'<text x="{x:g}" y="{y:g}" text-anchor="{anchor}"{kind}>{words}</text>')

    def box(self, x: float, y: float, width: float, height: float, style: str, round_by: float = 6) -> None:
        """Draw a rectangle."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" rx="{round_by:g}" '
            f'class="{style}"/>'
        )

    def dot(self, x: float, y: float, radius: float, style: str) -> None:
        """Draw a disc."""
        self.parts.append(f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" class="{style}"/>')

    def line(self, points: Sequence[Point], style: str, width: float = 1.5, dash: str = "") -> None:
        """Draw a line through points."""
        path = " ".join(f"{x:g},{y:g}" for x, y in points)
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<polyline points="{path}" class="none {style}" stroke-width="{width:g}" '
            f'stroke-linejoin="round"{dashes}/>'
        )

    def arrow(self, points: Sequence[Point], colour: str = "soft", width: float = 1.8) -> None:
        """Draw a line with a head at its end."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        length = float(np.hypot(x1 - x0, y1 - y0))
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        self.line([*points[:-1], (x1 - 6 * dx, y1 - 6 * dy)], f"s-{colour}", width)
        base, side = (x1 - 9 * dx, y1 - 9 * dy), (4.5 * -dy, 4.5 * dx)
        corners = [(x1, y1), (base[0] + side[0], base[1] + side[1]), (base[0] - side[0], base[1] - side[1])]
        path = " ".join(f"{x:.4g},{y:.4g}" for x, y in corners)
        self.parts.append(f'<polygon points="{path}" class="{colour}"/>')

    def node(
        self, x: float, y: float, width: float, lines: Sequence[str], style: str = "zero s-line"
    ) -> None:
        """Draw a box around its middle with a strong first line and quiet further ones."""
        height = 22 + 17 * len(lines)
        self.box(x - width / 2, y - height / 2, width, height, style)
        top = y - height / 2 + 24
        self.text(x, top, lines[0], "strong")
        for number, words in enumerate(lines[1:], start=1):
            self.text(x, top + 17 * number, words, "small soft")

    def __str__(self) -> str:
        width, height = self.size
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="distal" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img" aria-label="{self.label}">',
                f"<style>{style()}</style>",
                f'<rect width="{width}" height="{height}" class="paper"/>',
                *self.parts,
                "</svg>\n",
            ]
        )


def network() -> Drawing:
    """Draw the layers of the network and the four sets of synapses."""
    d = Drawing(720, 372, "The network: inputs, hidden neurons, outputs, and the four sets of synapses")
    inputs = [("left", 96), ("front", 142), ("right", 188), ("bias, always 1", 234)]
    outputs = [("stop", 96), ("left", 142), ("right", 188), ("straight", 234)]
    hidden = [(356 + 38 * column, 110 + 36 * row) for row in range(4) for column in (-1, 0, 1)]
    for _, y in inputs:
        d.line([(178, y), (294, 164)], "s-line", 1.2)
    for _, y in outputs:
        d.line([(418, 164), (540, y)], "s-line", 1.2)
    d.box(294, 84, 124, 160, "zero s-line", 14)
    for x, y in hidden:
        d.dot(x, y, 9, "dsp")
    d.text(356, 267, "20 hidden neurons", "strong")
    for name, y in inputs:
        d.dot(170, y, 11, "ink" if name.startswith("bias") else "soft")
        d.text(152, y + 5, name, "", "end")
    for name, y in outputs:
        d.dot(551, y, 11, "soft")
        d.text(572, y + 5, name, "", "start")
    d.text(170, 267, "3 inputs: is there a wall?", "strong")
    d.text(560, 267, "4 outputs: one acts", "strong")
    d.arrow([(200, 164), (290, 164)], "ink", 2.2)
    d.arrow([(422, 164), (534, 164)], "ink", 2.2)
    d.text(244, 112, "W_hi", "strong")
    d.text(244, 226, "80", "small soft")
    d.text(472, 112, "W_oh", "strong")
    d.text(472, 226, "84", "small soft")
    d.line([(330, 84), (330, 50), (382, 50), (382, 70)], "s-dsp", 2)
    d.arrow([(382, 50), (382, 83)], "dsp", 2)
    d.text(356, 24, "W_h · α_h", "strong")
    d.text(356, 42, "380, from the step before", "small soft")
    d.arrow([(660, 164), (672, 164), (672, 316), (356, 316), (356, 280)], "soft", 2)
    d.line([(640, 164), (660, 164)], "s-soft", 2)
    d.text(514, 307, "W_ho · α_o", "strong")
    d.text(514, 336, "80, from the step before", "small soft")
    d.text(20, 358, "624 synapses. A neuron is 1 if its sum is above 0, else 0.", "small soft", "start")
    return d


def loop() -> Drawing:
    """Draw what happens between two episodes."""
    d = Drawing(
        720, 330, "How data flows: an episode gives traces and a performance, these give a change of weights"
    )
    d.node(110, 70, 170, ["weights", "fixed for an episode"])
    d.node(355, 70, 190, ["episode", "up to 100 steps in the maze"])
    d.node(605, 70, 190, ["EP", "one number: how it went"])
    d.node(605, 182, 190, ["m = +1 or −1", "no worse than the last one?"], "zero s-dsp")
    d.node(355, 182, 190, ["traces", "four counts a synapse"], "zero s-dsp")
    d.node(480, 286, 260, ["rule", "four bits and m name 1 of 32 rows"], "zero s-dsp")
    d.node(110, 286, 170, ["update", "w + η Δw, then norm 1"], "zero s-dsp")
    d.arrow([(196, 70), (258, 70)])
    d.arrow([(451, 70), (508, 70)])
    d.arrow([(605, 99), (605, 152)])
    d.arrow([(355, 99), (355, 152)])
    d.arrow([(400, 211), (400, 256)])
    d.arrow([(560, 211), (560, 256)])
    d.arrow([(348, 286), (197, 286)])
    d.arrow([(110, 256), (110, 100)])
    d.text(410, 240, "bits: above θ?", "small soft", "start")
    d.text(272, 277, "Δw", "small soft")
    d.text(122, 182, "next episode", "small soft", "start")
    return d


RULE, GOAL = "evolved:1", 6  # the page tells of this trial: `distal watch evolved:1 --goal 6 --episodes 100`
EPISODES = 100
BY_CHANCE = 200  # trials that show chance, as on the page of `distal watch`


@cache
def example_trial() -> list[Episode[MazeWalk]]:
    """Return the trial, as `learn` runs it with seed 0."""
    task = Aim(MazeTask(distal.triple_t_maze()), GOAL)
    seed = child_seed(0, 0, GOAL, 0)
    return list(islice(learners.episodes(distal.find_rule(RULE), task, distal.Settings(), seed), EPISODES))


def by_chance() -> NDArray[np.float64]:
    """Return the mean best EP so far of trials towards the same goal by chance, (episodes)."""
    rule, finals = distal.find_rule(RULE), len(distal.triple_t_maze().finals)
    random = distal.learn(distal.Chance(rule.alpha_h, rule.alpha_o), episodes=EPISODES, trials=BY_CHANCE)
    curve: NDArray[np.float64] = random.best[GOAL::finals].mean(axis=0)
    return curve


def trial() -> Drawing:
    """Draw the EP of every episode of a trial, the best so far, and what chance comes to."""
    eps = [float(episode.ep) for episode in example_trial()]
    best, chance, limit = np.minimum.accumulate(eps), by_chance(), distal.Settings().steps
    shortest = distal.triple_t_maze().start_distances[GOAL]
    d = Drawing(720, 340, "EP of the 100 episodes of one trial, the best so far, and chance")
    left, right, top, bottom = 62, 700, 50, 286

    def at(episode: float, ep: float) -> Point:
        return left + (right - left) * (episode - 1) / 99, bottom - (bottom - top) * (ep - 30) / 200

    def steps(values: Sequence[float]) -> list[Point]:
        points = [at(1, values[0])]
        for number, value in enumerate(values[1:], start=2):
            points += [(at(number, 0)[0], points[-1][1]), at(number, value)]
        return points

    for ep in range(40, 221, 20):
        d.line([at(1, ep), at(100, ep)], "s-line", 1)
        d.text(left - 8, at(1, ep)[1] + 4, str(ep), "small soft", "end")
    for number in (1, 20, 40, 60, 80, 100):
        d.text(at(number, 30)[0], bottom + 20, str(number), "small soft")
    d.text((left + right) / 2, bottom + 44, "episode", "small")
    d.line([at(1, shortest), at(100, shortest)], "s-goal", 1.5, "6 4")
    d.line(steps(chance.tolist()), "s-chance", 2, "2 3")
    d.line(steps(best.tolist()), "s-dsp", 2.4)
    for number, value in enumerate(eps, start=1):
        d.dot(*at(number, value), 4.2 if value < limit else 2.6, "dsp" if value < limit else "dsp half")
    x = float(left)
    keys: tuple[tuple[str, int, Callable[[float], None]], ...] = (
        ("EP; the goal was reached", 190, lambda x: d.dot(x + 8, 20, 4.2, "dsp")),
        ("EP; it was not", 124, lambda x: d.dot(x + 8, 20, 2.6, "dsp half")),
        ("best so far", 104, lambda x: d.line([(x - 4, 20), (x + 16, 20)], "s-dsp", 2.4)),
        (f"chance: mean best of {BY_CHANCE} trials", 212,
         lambda x: d.line([(x - 4, 20), (x + 16, 20)], "s-chance", 2, "2 3")),
    )  # fmt: skip
    for words, width, mark in keys:
        mark(x)
        d.text(x + 22, 24, words, "small", "start")
        x += width
    d.text(left + 4, at(1, shortest)[1] + 13, f"the shortest path: {shortest}", "small", "start")
    d.text(right, at(1, chance[-1])[1] - 8, f"{chance[-1]:.1f}", "small", "end")
    return d


def traces_of_a_synapse() -> Drawing:
    """Draw the two neurons of a synapse over an episode, its counts, bits, row and change."""
    rule, settings = distal.find_rule(RULE), distal.Settings()
    episodes = example_trial()
    number = next(n for n, episode in enumerate(episodes) if episode.ep < settings.steps)  # the first success
    episode, before = episodes[number], episodes[number - 1]
    m = modulation.modulatory_signal(episode.ep, before.ep, settings.m_ties)
    sender, receiver = 2, 1  # the wall to the right, the second hidden neuron
    pre, post = episode.inputs[:, sender], episode.hidden[:, receiver]
    count = traces.counts(pre[:, None], post[:, None])[:, 0, 0]
    share = traces.frequencies(count, episode.steps)
    bits = [int(value > np.float32(rule.theta)) for value in share]
    row = int(traces.rows(share[:, None], np.float32(rule.theta), m)[0])
    all_rows = dsp.selected_rows(Recurrent(), episode, np.float32(rule.theta), m)
    assert row == all_rows[0][receiver, sender]  # noqa: S101

    d = Drawing(720, 404, "The traces of one synapse over one episode, and the row of the rule they name")
    left, cell = 148.0, 540 / episode.steps
    for words, y in (("pre: wall to the right", 24), ("post: hidden neuron", 54)):
        d.text(left - 12, y + 14, words, "small", "end")
    for step in range(episode.steps):
        for active, y in ((pre[step], 24), (post[step], 54)):
            d.box(left + step * cell, y, cell - 1.2, 20, "dsp" if active else "line", 1)
    for step in (1, *range(10, episode.steps - 3, 10), episode.steps):
        d.text(left + (step - 0.5) * cell, 92, str(step), "small soft")
    d.text(left - 12, 92, "step", "small soft", "end")

    top, bottom, wide = 140, 270, 74
    names = ("00", "01", "10", "11")
    says = ("both silent", "post alone", "pre alone", "both active")
    height = (bottom - top) / 0.6
    theta_y = bottom - rule.theta * height
    for k in range(4):
        x, tall = 178 + k * 132, float(share[k]) * height
        d.box(x - wide / 2, bottom - tall, wide, tall, "dsp" if bits[k] else "line", 2)
        d.text(x, bottom - tall - 8, f"{count[k]} of {episode.steps}", "small")
        d.text(x, bottom + 20, names[k], "strong mono")
        d.text(x, bottom + 37, says[k], "small soft")
        d.text(x, bottom + 64, str(bits[k]), "strong mono")
    d.line([(120, bottom), (640, bottom)], "s-soft", 1)
    d.line([(120, theta_y), (640, theta_y)], "s-ink", 1.5, "6 4")
    d.text(646, theta_y + 4, f"θ = {rule.theta:.3f}", "small", "start")
    d.text(104, bottom + 20, "state", "small soft", "end")
    d.text(104, bottom + 64, "bit", "small soft", "end")
    d.text(104, 200, "how often", "small soft", "end")
    change = rule.delta_w[row]
    d.box(120, 354, 520, 36, f"zero s-{ {1: 'positive', 0: 'line', -1: 'negative'}[change] }")
    words = (
        f"bits {''.join(map(str, bits))} and m = {m:+d} (EP {before.ep:g}, then {episode.ep:g})"
        f" name row {row}: Δw = {change:+d}"
    ).replace("-", "−")
    d.text(380, 377, words)
    return d


def rule_table() -> Drawing:
    """Draw the 32 rows of a rule: trace bits across, m down."""
    rule = distal.find_rule(RULE)
    d = Drawing(720, 196, f"The 32 changes of rule {RULE} by trace bits and m")
    left, cell = 92.0, 38.0
    numbers = (("η", rule.eta), ("θ", rule.theta), ("α_h", rule.alpha_h), ("α_o", rule.alpha_o))
    for bits in range(16):
        x = left + bits * cell + cell / 2
        for place, digit in enumerate(format(bits, "04b")):
            d.text(x, 30 + 15 * place, digit, "small mono" if digit == "1" else "small mono soft")
        for m in (1, 0):
            change = rule.delta_w[2 * bits + m]
            y = 88 + 40 * (1 - m)
            colour = {1: "positive tint", 0: "zero", -1: "negative tint"}[change]
            d.box(x - cell / 2 + 1.5, y, cell - 3, 36, colour, 4)
            d.text(x, y + 23, {1: "+1", 0: "0", -1: "−1"}[change], "strong" if change else "soft")
    for place, state in enumerate(("00", "01", "10", "11")):
        d.text(left - 14, 30 + 15 * place, f"bit {state}", "small soft", "end")
    d.text(left - 14, 111, "m = +1", "small", "end")
    d.text(left - 14, 151, "m = −1", "small", "end")
    words = ", ".join(f"{name} = {value:.3f}" for name, value in numbers)
    d.text(left, 186, f"{rule.name}: {words}", "small soft", "start")
    return d


ROOMS = (
    ("model/", "the system", ("maze", "traces", "settings", "readings", "draws")),
    ("tasks/", "what to learn", ("Task", "mazes", "table", "gym", "encoders")),
    ("networks/", "an episode", ("Network", "recurrent", "episode")),
    ("learners/", "between episodes", ("Learner", "dsp", "hill_climbing", "plastic")),
    ("engines/", "many trials", ("Engine", "reference", "cpu", "gpu", "spread")),
    ("evaluation/", "a measurement", ("learning", "comparison", "inspection")),
    ("search/", "evolution", ("Search", "genetic", "loop", "runs")),
    ("studies/", "a question", ("Study", "stages", "report", "five studies")),
    ("show/", "what is shown", ("page", "watch", "film")),
    ("cli/", "what a person types", ("one file per command",)),
)
CARRIED = (
    "picture, readings, draws",
    "a walk: what is sensed, its EP",
    "Episode: walk, activations, EP",
    "a network that learns",
    "Batch → Trials",
    "Result: curves, fitness, chance",
    "Evolved: winners, on disk",
    "outcomes and reports",
    "pages and films",
)

BESIDE = (
    ("base/", "under all of it"),
    ("checks", "errors that help"),
    ("files, folders", "written whole"),
    ("memory", "refuses too much"),
    ("interrupts", "Ctrl-C"),
    ("statistics", "tests, intervals"),
    ("colours", "one for each thing"),
    ("machine", "where it ran"),
    ("bench/", "how fast it is"),
)


def rooms() -> Drawing:
    """Draw the packages and what each hands to the next."""
    d = Drawing(720, 16 + 62 * len(ROOMS), "The packages, from the system to what a person types")
    for level, (package, about, names) in enumerate(ROOMS):
        y = 16 + 62 * level
        d.text(140, y + 16, package, "mono small", "end")
        d.text(140, y + 32, about, "small soft", "end")
        spare = 408 - sum(7.3 * len(name) for name in names)  # shared by the boxes of a level
        x = 156.0
        for name in names:
            width = 7.3 * len(name) + spare / len(names)
            d.box(x, y, width - 8, 38, "zero s-line")
            d.text(x + (width - 8) / 2, y + 24, name, "mono small")
            x += width
        if level < len(CARRIED):
            d.arrow([(352, y + 40), (352, y + 61)])
            d.text(364, y + 54, CARRIED[level], "small soft", "start")
    d.line([(578, 16), (578, 62 * len(ROOMS) - 8)], "s-line", 1)
    for place, (name, about) in enumerate(BESIDE):
        y = 32 + 56 * place
        d.text(592, y, name, "mono small", "start")
        d.text(592, y + 16, about, "small soft", "start")
    return d


def warp() -> Drawing:
    """Draw how a trial lies in a warp of the gpu engine."""
    d = Drawing(720, 448, "One warp of 32 lanes runs one trial: lanes are neurons, registers are weights")
    left, cell, top = 150, 17, 60
    groups = ((0, 20, "20 hidden neurons", "dsp"), (20, 24, "4 outputs", "soft"), (24, 32, "idle", "line"))
    for first, last, name, colour in groups:
        d.text(left + cell * (first + last) / 2, top - 26, name, "small soft")
        for lane in range(first, last):
            d.box(left + cell * lane, top - 16, cell - 2, 14, colour, 2)
    d.text(left - 12, top - 5, "32 lanes", "small strong", "end")
    rows = (("inputs, bias", 4), ("hidden", 20), ("outputs", 4))
    y = top + 8
    for name, count in rows:
        height = 5 * count
        d.text(left - 12, y + height / 2 + 4, name, "small soft", "end")
        for lane in range(24):
            absent = lane >= 20 and name != "hidden"
            style = "zero s-line" if absent else f"zero s-{'dsp' if lane < 20 else 'soft'}"
            d.box(left + cell * lane, y, cell - 2, height - 2, style, 2)
        y += height + 3
    d.text(left + cell * 28, top + 78, "weights: 28", "small soft")
    d.text(left + cell * 28, top + 94, "registers a lane", "small soft")
    steps = (
        ("look up", ("32 last steps,", "one in each lane")),
        ("ballot", ("who fires:", "32 bits")),
        ("shuffle", ("four output sums", "→ an action")),
        ("move", ("table in cache:", "place, walls")),
    )
    y = 300
    for k, (name, about) in enumerate(steps):
        x = 96 + 150 * k
        d.node(x, y, 132, (name, *about))
        if k + 1 < len(steps):
            d.arrow([(x + 66, y), (x + 84, y)])
    d.arrow([(546 + 66, y), (690, y), (690, y - 52), (96, y - 52), (96, y - 37)], "line")
    d.text(393, y - 60, "a step; when a place and a state recur, the rest is counted", "small soft")
    lines = (
        "check: the computed steps of the episode before come out the same? then so does the walk",
        "traces: a bit a step, 32 to a word; for every synapse an AND and a count of bits",
        "changes: two counts in a word, four comparisons in two subtractions, the rule in 16 lanes",
    )
    d.text(96, 362, "once an episode", "small strong", "start")
    for k, line in enumerate(lines):
        d.text(96, 380 + 17 * k, line, "small", "start")
    d.text(96, 431, "norm: ordered sum, then a division that is exact", "small", "start")
    return d


def small_maze(name: str) -> Drawing:
    """Draw a maze that has a name, ten pixels a cell."""
    where, cell = distal.maze(name), 10
    rows, columns = where.shape
    d = Drawing(cell * columns, cell * rows, f"The maze {name}, its start S and its final positions")
    walls = []
    for row, line in enumerate(where.picture):
        for column, symbol in enumerate(line):
            x, y = cell * column, cell * row
            if symbol == "#" and (column == 0 or line[column - 1] != "#"):
                length = len(line[column:]) - len(line[column:].lstrip("#"))
                walls.append(f"M{x} {y}h{cell * length}v{cell}h{-cell * length}z")
            elif symbol not in "#.":
                d.box(x, y, cell, cell, "dsp tint" if symbol == "S" else "goal half", 0)
                d.text(x + cell / 2, y + cell - 1, symbol, "small strong")
    d.parts.append(f'<path d="{"".join(walls)}" class="soft" shape-rendering="crispEdges"/>')  # no seams
    return d


FIGURES: dict[str, Callable[[], Drawing]] = {
    "narrow-t": partial(small_maze, "narrow-t"),
    "triple-t": partial(small_maze, "triple-t"),
    "warp": warp,
    "network": network,
    "loop": loop,
    "trial": trial,
    "traces": traces_of_a_synapse,
    "rule": rule_table,
    "rooms": rooms,
}

if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in FIGURES.items():
        (folder / f"{name}.svg").write_text(str(draw()), encoding="utf-8")
