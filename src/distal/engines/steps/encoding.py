"""Encoders, compiled: the numbers of an observation become bits as in `tasks.encoders`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import called
from distal.tasks.encoders import AnyEncoder, Binned, Encoder, Whole, bounds_of

BINS, DIGITS, VALUES = range(3)
_EXACT = 2**53  # whole numbers below are floats


class Encoding(NamedTuple):
    """What becomes of each number of an observation, and the numbers themselves.

    Where bits are handed in as they are, there are no numbers.
    """

    values: Any  # float64 (numbers): the observation
    low: Any  # float64 (numbers): bounds
    high: Any  # float64 (numbers)
    kind: Any  # uint8 (numbers): BINS, DIGITS or VALUES
    bits: Any  # int64 (numbers): how many bits
    first: Any  # float64 (numbers): of DIGITS, the number whose digits are 0; smaller ones count as it
    last: Any  # float64 (numbers): … the highest; higher ones count as it
    known: Any  # float64: the edges of BINS and the values of VALUES, one for each bit


def encoding_of(encoder: AnyEncoder | None) -> Encoding | None:
    """Return an encoder for compiled code; None if Python has to call it."""
    if not isinstance(encoder, Encoder):
        return None
    kinds, firsts, lasts, known = list[int](), list[int](), list[int](), list[float]()
    for column in encoder.columns:
        if isinstance(column, Binned):
            kind, first, last = BINS, 0, 0
            known += column.edges
        else:
            first = column.first if isinstance(column, Whole) else column.values[0]
            last = first + column.count - 1 if isinstance(column, Whole) else column.values[-1]
            if max(abs(first), abs(last)) >= _EXACT:
                return None
            kind = VALUES if column.one_hot else DIGITS
            if column.one_hot and column.bits:
                known += range(first, last + 1) if isinstance(column, Whole) else column.values
        kinds.append(kind)
        firsts.append(first)
        lasts.append(last)
    low, high = bounds_of(encoder.space, encoder.columns)
    return Encoding(
        values=np.zeros(len(kinds)),
        low=low,
        high=high,
        kind=np.array(kinds, np.uint8),
        bits=np.array([one.bits for one in encoder.columns], np.int64),
        first=np.array(firsts, np.float64),
        last=np.array(lasts, np.float64),
        known=np.array(known, np.float64),
    )


def no_encoding() -> Encoding:
    """Return the encoding of bits that are handed in."""
    none = np.zeros(0)
    return Encoding(none, none, none, np.zeros(0, np.uint8), np.zeros(0, np.int64), none, none, none)


@called
def encode(encoding, bits):
    """Write the bits of an observation; return whether its numbers are within their bounds."""
    at = asked = 0
    for k in range(len(encoding.values)):
        value, many, kind = encoding.values[k], encoding.bits[k], encoding.kind[k]
        if not (encoding.low[k] <= value <= encoding.high[k]):
            return False
        if kind == BINS:
            for b in range(many):
                bits[at + b] = value >= encoding.known[asked + b]
            asked += many
        elif kind == VALUES:
            for b in range(many):
                bits[at + b] = value == encoding.known[asked + b]
            asked += many
        elif kind == DIGITS:
            whole = np.int64(min(max(value, encoding.first[k]), encoding.last[k]) - encoding.first[k])
            for b in range(many):
                bits[at + b] = (whole >> b) & 1
        at += many
    return True
