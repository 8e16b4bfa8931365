"""Drawing in one style: figures with legends above them, as files and inside pages.

The colours come from `colours`, for light ground; `standalone` and `inline` make the same drawing
fit dark ground.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from io import BytesIO, StringIO
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from distal.base.colours import DARK, LIGHT
from distal.studies.intervals import Curve, Interval

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

GROUND = ("#ffffff", "#14181d")  # light and dark
_STYLE: Any = {
    "font.family": "sans-serif",
    "font.size": 9,
    "text.color": LIGHT["ink"],
    "axes.labelcolor": LIGHT["ink"],
    "axes.edgecolor": LIGHT["ink"],
    "xtick.color": LIGHT["ink"],
    "ytick.color": LIGHT["ink"],
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": LIGHT["line"],
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "legend.frameon": False,
    "legend.fontsize": 8,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "distal",  # the same picture is the same file
    "figure.constrained_layout.use": True,
}


def own_style() -> AbstractContextManager[None]:
    """Draw in our style alone, regardless of any matplotlibrc."""
    import matplotlib.style  # noqa: PLC0415 - takes a third of a second

    context: AbstractContextManager[None] = matplotlib.style.context(["default", _STYLE], after_reset=True)
    return context


def blank(width: float, height: float) -> Figure:
    """Return an empty figure; width and height are in inches."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - takes a third of a second

    return Figure(figsize=(width, height))


def render(figure: Figure) -> tuple[str, bytes]:
    """Return a figure as SVG text, with a transparent ground, and as PNG bytes, on white."""
    png = BytesIO()
    svg = render_svg(figure)
    with own_style():
        figure.savefig(png, format="png", dpi=160, metadata={"Software": None})
    return svg, png.getvalue()


def render_svg(figure: Figure) -> str:
    """Return a figure as SVG text, with a transparent ground."""
    svg = StringIO()
    with own_style():
        figure.savefig(svg, format="svg", transparent=True, metadata={"Date": None, "Creator": None})
    return svg.getvalue()


def line_and_band(
    axes: Axes, where: ArrayLike, mean: ArrayLike, half: ArrayLike, colour: str, label: str, style: Any = "-"
) -> None:
    """Draw a line and a band around it, `half` as high above as below."""
    where, mean, half = np.asarray(where), np.asarray(mean), np.asarray(half)
    axes.plot(where, mean, color=LIGHT[colour], linestyle=style, linewidth=1.4, label=label)
    few = np.unique(np.linspace(0, len(mean) - 1, 400).astype(int))  # a band needs no more points
    axes.fill_between(
        where[few], (mean - half)[few], (mean + half)[few], color=LIGHT[colour], alpha=0.18, linewidth=0
    )


def draw_curve(axes: Axes, curve: Curve, label: str, colour: str, style: str) -> None:
    """Draw a mean over the episodes as a line, with a band of 1.96 standard errors."""
    line_and_band(axes, curve.episodes, curve.mean, 1.96 * np.array(curve.error), colour, label, style)


def episodes_axis(axes: Axes, curve: Curve) -> None:
    """Show the episodes of a curve on a logarithmic axis."""
    last = curve.episodes[-1]
    axes.set_xscale("log")
    axes.set_xlim(1, last)
    marks = [10**power for power in range(6) if 10**power <= last]
    axes.set_xticks(marks, [f"{mark:,}" for mark in marks])


_ROLES = {colour: role for role, colour in LIGHT.items()}


def themed(svg: str) -> str:
    """Return an SVG whose colours are the CSS variables of a page: ink is the page's own colour."""

    def variable(found: re.Match[str]) -> str:
        role = _ROLES[found[2]].replace("_", "-")
        return found[1] + ("currentColor" if role == "ink" else f"var(--{role})")

    return re.sub(r"((?:fill|stroke): )(#[0-9a-f]{6})", variable, svg)


def standalone(svg: str) -> str:
    """Return an SVG for a file: on white, or on dark ground where the reader prefers that.

    The colours stay in the drawing, for programs that know no style sheets.
    """
    dark = "\n".join(
        f'[style*="{part}: {LIGHT[role]}"] {{ {part}: {colour} !important; }}'
        for role, colour in DARK.items()
        for part in ("fill", "stroke")
        if f"{part}: {LIGHT[role]}" in svg
    )
    style = (
        f"<style>svg {{ background: {GROUND[0]}; }}\n@media (prefers-color-scheme: dark) {{\n"
        f"svg {{ background: {GROUND[1]}; }}\n{dark}\n}}</style>\n"
    )
    return re.sub(r"(<svg[^>]*>\n)", lambda found: found[1] + style, svg, count=1)


def inline(svg: str, name: str) -> str:
    """Return an SVG for use inside a page: no XML prologue, the page's colours, unique identifiers."""
    body = re.sub("<metadata>.*?</metadata>", "", themed(svg[svg.index("<svg") :]), flags=re.DOTALL)
    own = set(re.findall(r'id="([^"]+)"', body))

    def renamed(found: re.Match[str]) -> str:
        return f"{found[1]}{name}-{found[2]}" if found[2] in own else found[0]  # colours begin with # too

    return re.sub(r'(id="|#)([^"\)]+)(?=["\)])', renamed, body)


def grid(
    rows: int, columns: int, width: float = 7.2, height: float = 2.6, **share: Any
) -> tuple[Figure, NDArray[Any]]:
    """Return a figure and its panels, (rows, columns); `height` is that of a row, `share` for `subplots`."""
    figure = blank(width, height * rows)
    return figure, figure.subplots(rows, columns, squeeze=False, **share)


def title(axes: Axes, text: str, **style: Any) -> None:
    """Give a panel a title."""
    axes.set_title(text, loc="left", fontsize=9, **style)


def letter(axes: Axes, position: int, text: str) -> None:
    """Give a panel a letter and a title."""
    title(axes, f"({'abcdefgh'[position]}) {text}")


def legend(
    figure: Figure, columns: int = 4, order: Sequence[str] = (), more: Mapping[str, Any] | None = None
) -> None:
    """Explain the lines of all panels once, above them, where no line runs.

    `order` is how the entries begin that stand first; "" stands for all that are not named. `more` are
    further entries.
    """
    found: dict[str, Any] = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            found.setdefault(label, handle)
    found |= more or {}

    def place(label: str) -> int:
        named = (k for k, beginning in enumerate(order) if beginning and label.startswith(beginning))
        return next(named, order.index("") if "" in order else len(order))

    labels = sorted(found, key=place)
    figure.legend(
        [found[label] for label in labels], labels, loc="outside upper center", ncols=min(columns, len(found))
    )


def bars(values: Iterable[Interval]) -> list[list[float]]:
    """Return the lengths of intervals below and above their values, for error bars."""
    ends = [(one.value - one.low, one.high - one.value) for one in values]
    return [list(column) for column in zip(*ends, strict=True)]
