"""Encoders, compiled: the numbers of an observation become bits as in `tasks.encoders`."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from distal.model.compiled_draws import inlined
from distal.model.lanes import load8, pointer, select, splat8, store
from distal.networks.compiled_network import with_room
from distal.tasks.encoders import AnyEncoder, Binned, Encoder
from distal.tasks.spaces import bounds_of

_EXACT = 2**53  # whole numbers below are floats


class Encoding(NamedTuple):
    """What becomes of each number of an observation, and the numbers themselves.

    A bit says that its number lies between two others, or is a binary digit of it. Where bits are handed in
    as they are, there are no numbers.
    """

    values: Any  # float64 (numbers): the observation
    low: Any  # float64 (numbers): bounds
    high: Any  # float64 (numbers)
    begin: Any  # int64 (numbers + 1): the first bit of each number, and how many bits there are
    least: Any  # float64 (bits): it is 1 from here …
    most: Any  # float64 (bits): … to here
    binary: Any  # int64 (binary numbers): which they are
    digits: Any  # int64 (binary numbers): how many they have
    first: Any  # float64 (binary numbers): whose digits are 0; smaller ones count as it
    last: Any  # float64 (binary numbers): the highest; higher ones count as it


def encoding_of(encoder: AnyEncoder | None) -> Encoding | None:
    """Return an encoder for compiled code; None if Python has to call it."""
    if not isinstance(encoder, Encoder):
        return None
    begin, between, binary = [0], list[tuple[float, float]](), list[tuple[int, int, int, int]]()
    for k, column in enumerate(encoder.columns):
        if isinstance(column, Binned):
            between += ((edge, np.inf) for edge in column.edges)
        else:
            first, last = column.values[0], column.values[-1]
            if max(abs(first), abs(last)) >= _EXACT:
                return None
            if not column.one_hot:
                binary.append((k, column.bits, first, last))
                between += [(0.0, 0.0)] * column.bits
            elif column.bits:
                between += ((value, value) for value in column.values)
        begin.append(len(between))
    low, high = bounds_of(encoder.space)
    edges = with_room((2, len(between)), np.float64)
    edges[:] = np.array(between, np.float64).reshape(-1, 2).T
    wholes = np.array(binary, np.int64).reshape(-1, 4).T.copy()
    return Encoding(
        np.zeros(len(encoder.columns)), low, high, np.array(begin, np.int64), *edges, *wholes[:2],
        *wholes[2:].astype(np.float64),
    )  # fmt: skip


def no_encoding() -> Encoding:
    """Return the encoding of bits that are handed in."""
    none, nothing = np.zeros(0), np.zeros(0, np.int64)
    return Encoding(none, none, none, nothing, none, none, nothing, nothing, none, none)


@inlined
def encode(encoding, bits):
    """Write the bits of an observation; return whether its numbers are within their bounds.

    Eight bits are written at once, from the first of each number: those of the next one come later.
    """
    values, low, high = pointer(encoding.values), pointer(encoding.low), pointer(encoding.high)
    begin, least, most = pointer(encoding.begin), pointer(encoding.least), pointer(encoding.most)
    into, yes, no = pointer(bits), splat8(np.uint8(1)), splat8(np.uint8(0))
    for k in range(len(encoding.values)):
        if not (low[k] <= values[k] <= high[k]):
            return False
        value = splat8(values[k])
        for b in range(begin[k], begin[k + 1], 8):
            store(into, b, select((load8(least, b) > value) | (value > load8(most, b)), no, yes))
    for k in range(len(encoding.binary)):
        number, first = encoding.binary[k], encoding.first[k]
        whole = np.int64(min(max(values[number], first), encoding.last[k]) - first)
        for d in range(encoding.digits[k]):
            into[begin[number] + d] = (whole >> d) & 1
    return True
