"""Draw the figures of the explaining pages: `python docs/make_figures.py [FOLDER]`, a second or two.

Writes SVG files into docs/pictures. What shows data is computed by the package; the
rest is laid out by hand. Colours are variables, so that the site's style sheet can
change them in the dark; a file looked at on its own has a white paper.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from itertools import islice
from pathlib import Path

import numpy as np

import distal
from distal import learners, traces
from distal.draws import child_seed
from distal.episode import Episode
from distal.learners import dsp
from distal.walk import MazeTask, MazeWalk

FOLDER = Path(__file__).parent / "pictures"
STYLE = """
.distal{--ink:#1f2430;--muted:#5c6370;--faint:#cfd4dc;--soft:#eef2f7;--paper:#ffffff;--blue:#0072b2;
--orange:#d55e00;--green:#00795a;--on:#ffffff;font-family:system-ui,-apple-system,'Segoe UI',Roboto,
'Helvetica Neue',Arial,sans-serif;font-size:14px}
.distal text{fill:var(--ink)}.distal .muted{fill:var(--muted)}.distal .small{font-size:12px}
.distal .strong{font-weight:600}.distal .mono{font-family:ui-monospace,Menlo,Consolas,monospace}
.distal .paper{fill:var(--paper)}.distal .soft{fill:var(--soft)}.distal .faint{fill:var(--faint)}
.distal .blue{fill:var(--blue)}.distal .orange{fill:var(--orange)}.distal .green{fill:var(--green)}
.distal .ink{fill:var(--ink)}.distal .on{fill:var(--on)}.distal .none{fill:none}
.distal .s-ink{stroke:var(--ink)}.distal .s-muted{stroke:var(--muted)}.distal .s-faint{stroke:var(--faint)}
.distal .s-blue{stroke:var(--blue)}.distal .s-orange{stroke:var(--orange)}
.distal .s-green{stroke:var(--green)}
"""

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

    def arrow(self, points: Sequence[Point], colour: str = "muted", width: float = 1.8) -> None:
        """Draw a line with a head at its end."""
        (x0, y0), (x1, y1) = points[-2], points[-1]
        length = float(np.hypot(x1 - x0, y1 - y0))
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        self.line([*points[:-1], (x1 - 6 * dx, y1 - 6 * dy)], f"s-{colour}", width)
        base, side = (x1 - 9 * dx, y1 - 9 * dy), (4.5 * -dy, 4.5 * dx)
        corners = [
            (x1, y1),
            (base[0] + side[0], base[1] + side[1]),
            (base[0] - side[0], base[1] - side[1]),
        ]
        path = " ".join(f"{x:.4g},{y:.4g}" for x, y in corners)
        self.parts.append(f'<polygon points="{path}" class="{colour}"/>')

    def node(
        self, x: float, y: float, width: float, lines: Sequence[str], style: str = "soft s-faint"
    ) -> None:
        """Draw a box around its middle with a strong first line and quiet further ones."""
        height = 22 + 17 * len(lines)
        self.box(x - width / 2, y - height / 2, width, height, style)
        top = y - height / 2 + 24
        self.text(x, top, lines[0], "strong")
        for number, words in enumerate(lines[1:], start=1):
            self.text(x, top + 17 * number, words, "small muted")

    def __str__(self) -> str:
        width, height = self.size
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" class="distal" viewBox="0 0 {width} {height}" '
                f'width="{width}" height="{height}" role="img" aria-label="{self.label}">',
                f"<style>{STYLE}</style>",
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
        d.line([(178, y), (294, 164)], "s-faint", 1.2)
    for _, y in outputs:
        d.line([(418, 164), (540, y)], "s-faint", 1.2)
    d.box(294, 84, 124, 160, "soft s-faint", 14)
    for x, y in hidden:
        d.dot(x, y, 9, "blue")
    d.text(356, 267, "20 hidden neurons", "strong")
    for name, y in inputs:
        d.dot(170, y, 11, "ink" if name.startswith("bias") else "green")
        d.text(152, y + 5, name, "", "end")
    for name, y in outputs:
        d.dot(551, y, 11, "orange")
        d.text(572, y + 5, name, "", "start")
    d.text(170, 267, "3 inputs: is there a wall?", "strong")
    d.text(560, 267, "4 outputs: one acts", "strong")
    d.arrow([(200, 164), (290, 164)], "ink", 2.2)
    d.arrow([(422, 164), (534, 164)], "ink", 2.2)
    d.text(244, 112, "W_hi", "strong")
    d.text(244, 226, "80", "small muted")
    d.text(472, 112, "W_oh", "strong")
    d.text(472, 226, "84", "small muted")
    d.line([(330, 84), (330, 50), (382, 50), (382, 70)], "s-blue", 2)
    d.arrow([(382, 50), (382, 83)], "blue", 2)
    d.text(356, 24, "W_h · α_h", "strong")
    d.text(356, 42, "380, from the step before", "small muted")
    d.arrow([(660, 164), (672, 164), (672, 316), (356, 316), (356, 280)], "orange", 2)
    d.line([(640, 164), (660, 164)], "s-orange", 2)
    d.text(514, 307, "W_ho · α_o", "strong")
    d.text(514, 336, "80, from the step before", "small muted")
    d.text(20, 358, "624 synapses. A neuron is 1 if its sum is above 0, else 0.", "small muted", "start")
    return d


def loop() -> Drawing:
    """Draw what happens between two episodes."""
    d = Drawing(
        720, 330, "How data flows: an episode gives traces and a performance, these give a change of weights"
    )
    d.node(110, 70, 170, ["weights", "fixed for an episode"])
    d.node(355, 70, 190, ["episode", "up to 100 steps in the maze"], "soft s-blue")
    d.node(605, 70, 190, ["EP", "one number: how it went"])
    d.node(605, 182, 190, ["m = +1 or −1", "no worse than the last one?"], "soft s-orange")
    d.node(355, 182, 190, ["traces", "four counts a synapse"])
    d.node(480, 286, 260, ["rule", "four bits and m name 1 of 32 rows"], "soft s-green")
    d.node(110, 286, 170, ["update", "w + η Δw, then norm 1"])
    d.arrow([(196, 70), (258, 70)])
    d.arrow([(451, 70), (508, 70)])
    d.arrow([(605, 99), (605, 152)])
    d.arrow([(355, 99), (355, 152)])
    d.arrow([(400, 211), (400, 256)])
    d.arrow([(560, 211), (560, 256)])
    d.arrow([(348, 286), (197, 286)])
    d.arrow([(110, 256), (110, 100)])
    d.text(410, 240, "bits: above θ?", "small muted", "start")
    d.text(272, 277, "Δw", "small muted")
    d.text(122, 182, "next episode", "small muted", "start")
    return d


def example_trial() -> list[Episode[MazeWalk]]:
    """Return the trial that the page tells of: paper:1 towards final position 3, as `learn` runs it."""
    task = MazeTask(distal.triple_t_maze(), 3)
    return list(
        islice(
            learners.episodes(distal.published_rule(1), task, distal.Settings(), child_seed(0, 0, 3, 0)), 100
        )
    )


def trial() -> Drawing:
    """Draw the EP of every episode of a trial, and the best so far."""
    eps = [episode.ep for episode in example_trial()]
    best = np.minimum.accumulate(eps)
    d = Drawing(720, 300, "EP of the 100 episodes of one trial, and the best so far")
    left, right, top, bottom = 62, 700, 20, 246

    def at(episode: float, ep: float) -> Point:
        return left + (right - left) * (episode - 1) / 99, bottom - (bottom - top) * (ep - 30) / 140

    for ep in (40, 60, 80, 100, 120, 140, 160):
        d.line([at(1, ep), at(100, ep)], "s-faint", 1)
        d.text(left - 8, at(1, ep)[1] + 4, str(ep), "small muted", "end")
    for number in (1, 20, 40, 60, 80, 100):
        d.text(at(number, 30)[0], bottom + 20, str(number), "small muted")
    d.text((left + right) / 2, bottom + 44, "episode", "small")
    d.line([at(1, 38), at(100, 38)], "s-green", 1.5, "6 4")
    d.text(right, at(1, 38)[1] - 6, "the shortest way: 38", "small green", "end")
    points = [(number, float(ep)) for number, ep in enumerate(best, start=1)]
    steps = [at(*points[0])]
    for point in points[1:]:
        steps += [(at(*point)[0], steps[-1][1]), at(*point)]
    d.line(steps, "s-blue", 2.4)
    for number, value in enumerate(eps, start=1):
        d.dot(*at(number, value), 2.8, "orange")
    low = int(np.argmin(eps)) + 1
    d.text(
        at(low, 0)[0] + 10,
        at(1, min(eps))[1] + 18,
        f"best so far: {min(eps):g} from episode {low} on",
        "blue",
        "start",
    )
    d.text(at(2, 0)[0], at(1, 163)[1], "EP of each episode", "orange", "start")
    return d


def traces_of_a_synapse() -> Drawing:
    """Draw the two neurons of a synapse over an episode, its counts, bits, row and change."""
    rule = distal.published_rule(1)
    episodes = example_trial()
    number = int(np.argmin([episode.ep for episode in episodes]))
    episode, before = episodes[number], episodes[number - 1]
    m = dsp.modulatory_signal(episode.ep, before.ep)
    pre, post = episode.inputs[:, 0], episode.hidden[:, 0]  # the wall to the left, hidden neuron 0
    count = traces.counts(pre[:, None], post[:, None])[:, 0, 0]
    share = traces.frequencies(count, episode.steps)
    bits = [int(value > np.float32(rule.theta)) for value in share]
    row = int(traces.rows(share[:, None], np.float32(rule.theta), m)[0])
    assert row == dsp.selected_rows(episode, np.float32(rule.theta), m)[0][0, 0]  # noqa: S101

    d = Drawing(720, 404, "The traces of one synapse over one episode, and the row of the rule they name")
    left, cell = 148.0, 7.6
    for words, y in (("pre: wall to the left", 24), ("post: hidden neuron", 54)):
        d.text(left - 12, y + 14, words, "small", "end")
    for step in range(episode.steps):
        for active, y, colour in ((pre[step], 24, "green"), (post[step], 54, "blue")):
            d.box(left + step * cell, y, cell - 1.2, 20, colour if active else "faint", 1)
    for step in (1, 20, 40, 60, episode.steps):
        d.text(left + (step - 0.5) * cell, 92, str(step), "small muted")
    d.text(left - 12, 92, "step", "small muted", "end")

    top, bottom, wide = 140, 270, 74
    names = ("00", "01", "10", "11")
    says = ("both silent", "post alone", "pre alone", "both active")
    height = (bottom - top) / 0.8
    theta_y = bottom - rule.theta * height
    for k in range(4):
        x = 178 + k * 132
        d.box(
            x - wide / 2,
            bottom - float(share[k]) * height,
            wide,
            float(share[k]) * height,
            "blue" if bits[k] else "faint",
            2,
        )
        d.text(x, bottom - float(share[k]) * height - 8, f"{count[k]} of {episode.steps}", "small")
        d.text(x, bottom + 20, names[k], "strong mono")
        d.text(x, bottom + 37, says[k], "small muted")
        d.text(x, bottom + 64, str(bits[k]), "strong mono")
    d.line([(120, bottom), (640, bottom)], "s-muted", 1)
    d.line([(120, theta_y), (640, theta_y)], "s-orange", 1.5, "6 4")
    d.text(646, theta_y + 4, f"θ = {rule.theta:g}", "small orange", "start")
    d.text(104, bottom + 20, "state", "small muted", "end")
    d.text(104, bottom + 64, "bit", "small muted", "end")
    d.text(104, 200, "how often", "small muted", "end")
    d.box(120, 354, 520, 36, "soft s-green")
    change = rule.delta_w[row]
    words = (
        f"bits {''.join(map(str, bits))} and m = {m:+d} (EP {before.ep:g}, then {episode.ep:g})"
        f" name row {row}: Δw = {change:+d}"
    ).replace("-", "−")
    d.text(380, 377, words)
    return d


def rule_table() -> Drawing:
    """Draw the 32 rows of a rule: trace bits across, m down."""
    rule = distal.published_rule(1)
    d = Drawing(720, 196, "The 32 changes of rule paper:1 by trace bits and m")
    left, cell = 92.0, 38.0
    for bits in range(16):
        x = left + bits * cell + cell / 2
        for place, digit in enumerate(format(bits, "04b")):
            d.text(x, 30 + 15 * place, digit, "small mono" if digit == "1" else "small mono muted")
        for m in (1, 0):
            change = rule.delta_w[2 * bits + m]
            y = 88 + 40 * (1 - m)
            colour = {1: "blue", 0: "soft s-faint", -1: "orange"}[change]
            d.box(x - cell / 2 + 1.5, y, cell - 3, 36, colour, 4)
            d.text(x, y + 23, {1: "+1", 0: "0", -1: "−1"}[change], "on strong" if change else "muted")
    for place, state in enumerate(("00", "01", "10", "11")):
        d.text(left - 14, 30 + 15 * place, f"bit {state}", "small muted", "end")
    d.text(left - 14, 111, "m = +1", "small", "end")
    d.text(left - 14, 151, "m = −1", "small", "end")
    d.text(
        left,
        186,
        f"{rule.name}: η = {rule.eta:g}, θ = {rule.theta:g}, α_h = {rule.alpha_h:g}, α_o = {rule.alpha_o:g}",
        "small muted",
        "start",
    )
    return d


ROOMS = (
    ("the system", ("maze", "network", "traces", "rule"), "soft s-blue"),
    ("an episode", ("walk", "episode"), "soft s-blue"),
    ("between episodes", ("learners: dsp, hill_climbing",), "soft s-green"),
    ("many trials", ("engines", "spread, cluster"), "soft s-green"),
    ("a measurement", ("evaluation", "foreign"), "soft s-green"),
    ("evolution", ("evolution", "evolving", "runs"), "soft s-orange"),
    ("the paper", ("experiments", "comparison"), "soft s-orange"),
    ("what is shown", ("figures", "report", "watch", "film", "pixels"), "soft s-orange"),
    ("a person", ("terminal", "cli"), "soft s-orange"),
)
CARRIED = (
    "picture, weights, counts, 32 rows",
    "Episode: walk, activations, EP",
    "a stream of episodes",
    "Batch → Trials",
    "Result: curves, fitness",
    "Evolved: winners, on disk",
    "Reproduction: curves, numbers",
    "pages, pictures, films",
)

BESIDE = (
    ("draws", "random numbers"),
    ("settings", "the readings"),
    ("checks", "errors that help"),
    ("files", "written whole"),
    ("machine", "where it ran"),
)
FOR_OTHERS = (("environment", "for Gymnasium"), ("bench", "how fast it is"))


def rooms() -> Drawing:
    """Draw the rooms of the package and what goes from one to the next."""
    d = Drawing(720, 40 + 62 * len(ROOMS), "The rooms of the package, from the system to what a person types")
    for level, (about, names, style) in enumerate(ROOMS):
        y = 16 + 62 * level
        d.text(140, y + 24, about, "small muted", "end")
        width = 400 / len(names)
        for k, name in enumerate(names):
            d.box(156 + k * width, y, width - 8, 38, style)
            d.text(156 + k * width + (width - 8) / 2, y + 24, name, "mono small")
        if level < len(CARRIED):
            d.arrow([(352, y + 40), (352, y + 61)])
            d.text(364, y + 54, CARRIED[level], "small muted", "start")
    d.line([(578, 16), (578, 16 + 62 * len(ROOMS) - 24)], "s-faint", 1)
    d.text(592, 36, "beside all of it", "small muted", "start")
    for k, (name, about) in enumerate(BESIDE):
        d.text(592, 66 + 44 * k, name, "mono small", "start")
        d.text(592, 82 + 44 * k, about, "small muted", "start")
    d.text(592, 352, "for others", "small muted", "start")
    for k, (name, about) in enumerate(FOR_OTHERS):
        d.text(592, 382 + 44 * k, name, "mono small", "start")
        d.text(592, 398 + 44 * k, about, "small muted", "start")
    return d


def warp() -> Drawing:
    """Draw how a trial lies in a warp of the gpu engine."""
    d = Drawing(720, 448, "One warp of 32 lanes runs one trial: lanes are neurons, registers are weights")
    left, cell, top = 150, 17, 60
    groups = (
        (0, 20, "20 hidden neurons", "blue"),
        (20, 24, "4 outputs", "orange"),
        (24, 32, "idle", "faint"),
    )
    for first, last, name, colour in groups:
        d.text(left + cell * (first + last) / 2, top - 26, name, "small muted")
        for lane in range(first, last):
            d.box(left + cell * lane, top - 16, cell - 2, 14, colour, 2)
    d.text(left - 12, top - 5, "32 lanes", "small strong", "end")
    rows = (("inputs, bias", 4), ("hidden", 20), ("outputs", 4))
    y = top + 8
    for name, count in rows:
        height = 5 * count
        d.text(left - 12, y + height / 2 + 4, name, "small muted", "end")
        for lane in range(24):
            absent = lane >= 20 and name != "hidden"
            style = "soft s-faint" if absent else f"soft s-{'blue' if lane < 20 else 'orange'}"
            d.box(left + cell * lane, y, cell - 2, height - 2, style, 2)
        y += height + 3
    d.text(left + cell * 28, top + 78, "weights: 28", "small muted")
    d.text(left + cell * 28, top + 94, "registers a lane", "small muted")
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
    d.arrow([(546 + 66, y), (690, y), (690, y - 52), (96, y - 52), (96, y - 37)], "faint")
    d.text(393, y - 60, "a step; when a place and a state recur, the rest is counted", "small muted")
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


FIGURES = {
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
