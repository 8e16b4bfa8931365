"""Numbers as the pages of the studies write them: in cells of tables, and in sentences."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from distal.base.checks import counted
from distal.studies.intervals import Interval


def signed(value: float) -> str:
    """Return a number with its sign."""
    return f"{value:+.2f}".replace("-", "−")


def mean(value: Interval, sign: bool = False) -> str:
    """Return a mean and its interval."""
    low, mean, high = (
        signed(number) if sign else f"{number:.2f}".replace("-", "−")
        for number in (value.low, value.value, value.high)
    )
    return f"{mean} ({low} to {high})"


def share(value: Interval) -> str:
    """Return a share and its interval, in percent."""
    return f"{value.value:.1%} ({100 * value.low:.0f} to {100 * value.high:.0f})"


def percent(value: float | None) -> str:
    """Return a share in percent, or a dash if there is none."""
    return "–" if value is None else f"{value:.1%}".replace("-", "−")


def p_value(value: float, word: bool = False) -> str:
    """Return a p-value, in a sentence with the letter before it."""
    if value < 0.0001:
        return "p < 0.0001" if word else "< 0.0001"
    return f"{'p = ' if word else ''}{value:.4f}" if value < 0.001 else f"{'p = ' if word else ''}{value:.3f}"


def table_row(cells: Iterable[str]) -> str:
    """Return a row of a Markdown table."""
    return "| " + " | ".join(cells) + " |"


def made_on(machine: dict[str, Any], seconds: dict[str, float]) -> str:
    """Say on what machine a study was made, and how long it took."""
    card = f"{machine['card']} with " if machine.get("card") else ""
    minutes = sum(seconds.values()) / 60
    return f"{card}{machine['processor']}, {counted(machine['cores'], 'core')}, in {minutes:.1f} minutes"


def listed(words: Sequence[str]) -> str:
    """Return words as a list in a sentence: "a", "a and b", "a, b and c"."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
