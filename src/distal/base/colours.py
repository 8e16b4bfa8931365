"""One colour for each thing, in figures, pages, films and pictures of mazes alike.

Every role has a colour for light and one for dark ground. The colours of learners and maze follow
Okabe and Ito, negative and positive are brown and teal, the paper is violet. Colour-blind readers
can tell all of them apart.
"""

from __future__ import annotations

LIGHT = {
    "dsp": "#0072b2",
    "hc": "#d55e00",
    "chance": "#6b7280",
    "other": "#a3174f",
    "dsp_resampled": "#56b4e9",
    "hc_resampled": "#f0a36b",
    "negative": "#a6611a",
    "positive": "#01858b",
    "paper": "#7e22ce",
    "goal": "#009e73",
    "pit": "#b4588f",
    "start": "#e69f00",
    "wall": "#2b2f36",
    "floor": "#ffffff",
    "ink": "#1d2126",
    "soft": "#5a646e",
    "line": "#d9dee4",
    "zero": "#e9ecef",
}

DARK = {
    "dsp": "#56b4e9",
    "hc": "#ff8a3c",
    "chance": "#a3adb8",
    "other": "#f4587f",
    "dsp_resampled": "#9fd3f2",
    "hc_resampled": "#ffc49a",
    "negative": "#dfa35e",
    "positive": "#46c3c6",
    "paper": "#b060ff",
    "goal": "#2fc79b",
    "pit": "#e08fbd",
    "start": "#ffd54a",
    "wall": "#0b0e11",
    "floor": "#2b323b",
    "ink": "#e8ebef",
    "soft": "#a8b1bb",
    "line": "#39414b",
    "zero": "#343c46",
}


def css(colours: dict[str, str]) -> str:
    """Return the colours as CSS variables, --dsp and so on."""
    return " ".join(f"--{role.replace('_', '-')}: {colour};" for role, colour in colours.items())
