"""A compiled value behind its address, one number, so that a call of compiled code takes only a number.

Numba looks at every argument of a call, which takes longer than a step of a network: half a microsecond for
each array. A held value lies in memory in the form of compiled code, which gets its address.
The arrays in it belong to Python, which has to keep them.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core.registry import cpu_target
from numba.extending import intrinsic
from numpy.typing import NDArray


def room_for(kind: Any) -> NDArray[np.uint8]:
    """Return memory for a value of one of Numba's types."""
    context = cpu_target.target_context
    return np.zeros(context.get_abi_sizeof(context.get_value_type(kind)), np.uint8)


@intrinsic  # type: ignore[untyped-decorator]
def hold(typing_context: Any, room: Any, value: Any) -> Any:
    """Write a value to the memory of an array."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        start = context.make_array(sig.args[0])(context, builder, args[0]).data
        place = builder.bitcast(start, context.get_value_type(sig.args[1]).as_pointer())
        builder.store(args[1], place).align = 1
        return context.get_dummy_value()

    return types.void(room, value), generate


def holder_of(kind: Any) -> Any:
    """Return a compiled function that gives the value of a type at an address."""

    @intrinsic  # type: ignore[untyped-decorator]
    def held(typing_context: Any, address: Any) -> Any:
        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            place = builder.inttoptr(args[0], context.get_value_type(kind).as_pointer())
            loaded = builder.load(place)
            loaded.align = 1
            return _borrowed(builder, kind, loaded, ())

        return kind(types.int64), generate

    return held


def _borrowed(builder: Any, kind: Any, value: Any, path: tuple[int, ...]) -> Any:
    """Return a value whose arrays have no owner: to count references to them takes longer than a step."""
    if isinstance(kind, types.Array):
        for owner in (0, 1):  # its memory, and the object of Python that it belongs to
            none = ir.Constant(ir.IntType(8).as_pointer(), None)
            value = builder.insert_value(value, none, (*path, owner))
    elif isinstance(kind, types.BaseTuple):
        for k, part in enumerate(kind):
            value = _borrowed(builder, part, value, (*path, k))
    return value
