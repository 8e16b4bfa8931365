"""Encoders, compiled: the numbers of an observation become bits as in `tasks.encoders`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import called
from distal.tasks.encoders import AnyEncoder, Binned, Encoder, Whole, bounds_of

BINS, ONE_HOT, DIGITS = range(3)
_EXACT = 2.0**53  # whole numbers up to here are floats


class Encoding(NamedTuple):
    """What becomes of each number of an observation, and the numbers themselves.

    Where bits are handed in as they are, there are no numbers.
    """

    values: Any  # float64 (numbers): the observation
    low: Any  # float64 (numbers): bounds
    high: Any  # float64 (numbers)
    kind: Any  # uint8 (numbers): BINS, ONE_HOT or DIGITS
    bits: Any  # int64 (numbers): how many bits
    edges: Any  # float64: those of all BINS, one after another


def encoding_of(encoder: AnyEncoder | None) -> Encoding | None:
    """Return an encoder for compiled code; None if Python has to call it."""
    if not isinstance(encoder, Encoder):
        return None
    low, high = bounds_of(encoder.space)
    wholes = [column for column in encoder.columns if isinstance(column, Whole)]
    if any(abs(one.first) + one.count > _EXACT for one in wholes):
        return None
    kinds = [
        BINS if isinstance(one, Binned) else ONE_HOT if one.one_hot else DIGITS for one in encoder.columns
    ]
    edges = [edge for one in encoder.columns if isinstance(one, Binned) for edge in one.edges]
    return Encoding(
        values=np.zeros(len(kinds)),
        low=low,
        high=high,
        kind=np.array(kinds, np.uint8),
        bits=np.array([one.bits for one in encoder.columns], np.int64),
        edges=np.array(edges, np.float64),
    )


def no_encoding() -> Encoding:
    """Return the encoding of bits that are handed in."""
    none = np.zeros(0)
    return Encoding(none, none, none, np.zeros(0, np.uint8), np.zeros(0, np.int64), none)


@called
def encode(encoding, bits):
    """Write the bits of an observation; return whether its numbers are within their bounds."""
    at = edge = 0
    for k in range(len(encoding.values)):
        value, many, kind = encoding.values[k], encoding.bits[k], encoding.kind[k]
        if not (encoding.low[k] <= value <= encoding.high[k]):
            return False
        if kind == BINS:
            for b in range(many):
                bits[at + b] = value >= encoding.edges[edge + b]
            edge += many
        else:
            whole = np.int64(value) - np.int64(encoding.low[k])
            if kind == ONE_HOT:
                for b in range(many):
                    bits[at + b] = whole == b
            elif kind == DIGITS:
                for b in range(many):
                    bits[at + b] = (whole >> b) & 1
        at += many
    return True
