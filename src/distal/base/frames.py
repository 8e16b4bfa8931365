"""Results as pandas tables; pandas is an extra, imported when a table is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from distal.base.checks import InputError

if TYPE_CHECKING:
    from pandas import DataFrame


def frame(columns: Mapping[str, Any]) -> DataFrame:
    """Return columns, by name, as a DataFrame."""
    try:
        from pandas import DataFrame  # noqa: PLC0415 - an extra
    except ImportError:
        raise InputError("pandas is not installed: pip install 'distal[frame]'") from None
    return DataFrame(columns)


def frame_of_rows(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    """Return rows, one or more, all with the same names, as a DataFrame."""
    return frame({name: [row[name] for row in rows] for name in rows[0]})
