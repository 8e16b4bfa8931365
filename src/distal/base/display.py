"""Results as text: a line in a terminal, a small table in a notebook."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from distal.base.checks import straight

_LONGEST = 20  # letters of a name in a line that should not be much longer than 100


def short(name: str, longest: int = _LONGEST) -> str:
    """Return a name, cut where it would make a line too long."""
    return name if len(name) <= longest else f"{name[: longest - 1]}…"


def or_dash(value: float | None, form: str = "z.2f") -> str:
    """Write a number, or a dash where there is none."""
    return "–" if value is None else f"{value:{form}}"


def html_table(title: str, header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Return a table for a notebook, on light or dark ground, in the colours of the page.

    All text is escaped, and none turns the direction of writing round. The first cell of a row is
    its name; the others are aligned to the right.
    """
    align, left = ' style="text-align: right; padding-left: 1em"', ' style="text-align: left"'
    head = "".join(f"<th{align if k else left}>{escape(word)}</th>" for k, word in enumerate(header))
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{align}>{escape(str(cell))}</td>" if k else f"<th{left}>{escape(str(cell))}</th>"
            for k, cell in enumerate(row)
        )
        + "</tr>"
        for row in rows
    )
    caption = f'<caption style="text-align: left; color: inherit">{escape(title)}</caption>'
    whole = f"<thead><tr>{head}</tr></thead>" if head else ""
    return straight(f"<table>{caption}{whole}<tbody>{body}</tbody></table>")
