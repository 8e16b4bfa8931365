"""Vectors of eight (or four) numbers as values in Numba code.

Numba gives no direct access to the processor's vector registers. This file adds
one type, `Lanes(dtype, n)`, that is an LLVM vector, with the operators and the
few functions that engine cpu needs. LLVM translates them for whatever processor it
runs on: no instruction set is assumed, and each operation rounds on its own, lane
by lane, so results do not depend on the processor.
"""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model


class Lanes(types.Type):
    """The type of a vector of n numbers of one dtype; i1 lanes are truth values."""

    def __init__(self, dtype: Any, n: int) -> None:
        self.dtype, self.n = dtype, n
        super().__init__(name=f"Lanes({dtype}, {n})")

    @property
    def is_float(self) -> bool:
        """Whether the lanes hold floats."""
        return isinstance(self.dtype, types.Float)

    @property
    def llvm(self) -> ir.VectorType:
        """The LLVM type."""
        if self.is_float:
            return ir.VectorType(ir.FloatType(), self.n)
        bits = 1 if self.dtype == types.boolean else self.dtype.bitwidth
        return ir.VectorType(ir.IntType(bits), self.n)


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, lanes: Lanes) -> None:
        super().__init__(manager, lanes, lanes.llvm)


# Operators between two vectors of one type: (for floats, for integers), as methods of
# LLVM's builder. Shifts of signed lanes keep the sign.
_OPERATORS: dict[Any, tuple[str | None, str | None]] = {
    operator.add: ("fadd", "add"),
    operator.sub: ("fsub", "sub"),
    operator.mul: ("fmul", "mul"),
    operator.truediv: ("fdiv", None),
    operator.and_: (None, "and_"),
    operator.or_: (None, "or_"),
    operator.xor: (None, "xor"),
    operator.lshift: (None, "shl"),
    operator.rshift: (None, "shift right"),
}
_COMPARISONS = {operator.gt: ">", operator.eq: "=="}


def _define_operator(function: Any, names: tuple[str | None, str | None]) -> None:
    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]:
                return signature(args[0], args[0], args[0])
            return None

    @lower_builtin(function, Lanes, Lanes)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = sig.return_type
        name = names[0] if lanes.is_float else names[1]
        if name == "shift right":
            name = "ashr" if lanes.dtype.signed else "lshr"
        if name is None:
            raise TypeError(f"{function.__name__} is not defined for {lanes}")
        return getattr(builder, name)(*args)


def _define_comparison(function: Any, symbol: str) -> None:
    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]:
                return signature(Lanes(types.boolean, args[0].n), args[0], args[0])
            return None

    @lower_builtin(function, Lanes, Lanes)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        lanes = sig.args[0]
        if lanes.is_float:
            return builder.fcmp_ordered(symbol, *args)
        return (builder.icmp_signed if lanes.dtype.signed else builder.icmp_unsigned)(symbol, *args)


for _function, _names in _OPERATORS.items():
    _define_operator(_function, _names)
for _function, _symbol in _COMPARISONS.items():
    _define_comparison(_function, _symbol)


@intrinsic
def pointer(typing_context: Any, array: Any) -> Any:
    """pointer(array): the elements of an array, to be indexed like it, with no check of any bound.

    Numba counts references to arrays wherever they are handed on, which costs more
    than the work of an inner loop; pointers are plain numbers.
    """

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return context.make_array(sig.args[0])(context, builder, args[0]).data

    return types.CPointer(array.dtype)(array), generate


def _at(builder: Any, llvm: Any, start: Any, index: Any) -> Any:
    """Return a pointer to `llvm` at start[index]."""
    return builder.bitcast(builder.gep(start, [index]), llvm.as_pointer())


def _load(n: int) -> Any:
    @intrinsic
    def load(typing_context: Any, start: Any, index: Any) -> Any:
        lanes = Lanes(start.dtype, n)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            loaded = builder.load(_at(builder, lanes.llvm, *args))
            loaded.align = start.dtype.bitwidth // 8
            return loaded

        return lanes(start, types.int64), generate

    return load


load8 = _load(8)  # load8(pointer, index): eight neighbouring elements
load4 = _load(4)
load16 = _load(16)
load32 = _load(32)


@intrinsic
def load_row(typing_context: Any, start: Any, index: Any, row: Any) -> Any:
    """load_row(pointer, index, row): as many neighbouring elements as the tuple `row` is long."""
    lanes = Lanes(start.dtype, len(row))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        loaded = builder.load(_at(builder, lanes.llvm, *args[:2]))
        loaded.align = start.dtype.bitwidth // 8
        return loaded

    return lanes(start, types.int64, row), generate


@intrinsic
def store(typing_context: Any, start: Any, index: Any, value: Any) -> Any:
    """store(pointer, index, vector): write neighbouring elements."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        builder.store(args[2], _at(builder, value.llvm, *args[:2])).align = start.dtype.bitwidth // 8
        return context.get_dummy_value()

    return types.void(start, types.int64, value), generate


@intrinsic
def iota8(typing_context: Any) -> Any:
    """iota8(): 0, 1, … 7."""
    lanes = Lanes(types.uint32, 8)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return ir.Constant(lanes.llvm, list(range(8)))

    return lanes(), generate


def _spread(builder: Any, lanes: Lanes, value: Any) -> Any:
    """Return a vector with one number in all lanes."""
    single = builder.insert_element(ir.Constant(lanes.llvm, ir.Undefined), value, _index(0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes.n), [0] * lanes.n)
    return builder.shuffle_vector(single, ir.Constant(lanes.llvm, ir.Undefined), mask)


def _splat(n: int) -> Any:
    @intrinsic
    def splat(typing_context: Any, value: Any) -> Any:
        lanes = Lanes(value, n)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return _spread(builder, lanes, args[0])

        return lanes(value), generate

    return splat


splat8 = _splat(8)  # splat8(number): the number in all lanes
splat16 = _splat(16)
splat32 = _splat(32)


@intrinsic
def splat_like(typing_context: Any, value: Any, vector: Any) -> Any:
    """splat_like(number, vector): the number in as many lanes as the vector, or the tuple, has."""
    lanes = Lanes(value, vector.n if isinstance(vector, Lanes) else len(vector))

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return _spread(builder, lanes, args[0])

    return lanes(value, vector), generate


def _index(k: int) -> Any:
    return ir.Constant(ir.IntType(32), k)


@intrinsic
def lane(typing_context: Any, vector: Any, index: Any) -> Any:
    """lane(vector, k): the number in lane k."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.extract_element(*args)

    return vector.dtype(vector, types.int64), generate


@intrinsic
def convert(typing_context: Any, vector: Any, dtype: Any) -> Any:
    """convert(vector, dtype): each lane as another kind of number."""
    result = Lanes(dtype.dtype, vector.n)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        if result.is_float:
            return (builder.sitofp if vector.dtype.signed else builder.uitofp)(args[0], result.llvm)
        if result.dtype.bitwidth < vector.dtype.bitwidth:
            return builder.trunc(args[0], result.llvm)
        return (builder.sext if vector.dtype.signed else builder.zext)(args[0], result.llvm)

    return result(vector, dtype), generate


@intrinsic
def reinterpret(typing_context: Any, vector: Any, dtype: Any) -> Any:
    """reinterpret(vector, dtype): the same bits, read as numbers of equal width."""
    result = Lanes(dtype.dtype, vector.n)

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return args[0] if result.llvm == vector.llvm else builder.bitcast(args[0], result.llvm)

    return result(vector, dtype), generate


@intrinsic
def select(typing_context: Any, mask: Any, yes: Any, no: Any) -> Any:
    """select(mask, yes, no): lane by lane, yes where the mask is true."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.select(*args)

    return yes(mask, yes, no), generate


@intrinsic
def mask_bits(typing_context: Any, mask: Any) -> Any:
    """mask_bits(mask): the truth values as an integer, lane 0 in bit 0."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.zext(builder.bitcast(args[0], ir.IntType(mask.n)), ir.IntType(64))

    return types.uint64(mask), generate


def _bits_mask(n: int) -> Any:
    @intrinsic
    def bits_mask(typing_context: Any, bits: Any) -> Any:
        result = Lanes(types.boolean, n)

        def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
            return builder.bitcast(builder.trunc(args[0], ir.IntType(n)), result.llvm)

        return result(types.uint64), generate

    return bits_mask


bits_mask8 = _bits_mask(8)  # bits_mask8(bits): truth values from the lowest eight bits of an integer
bits_mask16 = _bits_mask(16)
bits_mask32 = _bits_mask(32)


@intrinsic
def root(typing_context: Any, vector: Any) -> Any:
    """root(vector): the square root of each lane."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name = f"llvm.sqrt.v{vector.n}f32"
        kind = ir.FunctionType(vector.llvm, [vector.llvm])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return vector(vector), generate


@intrinsic
def ones(typing_context: Any, vector: Any) -> Any:
    """ones(vector): how many bits of each lane are 1."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        name = f"llvm.ctpop.v{vector.n}i{vector.dtype.bitwidth}"
        kind = ir.FunctionType(vector.llvm, [vector.llvm])
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), args)

    return vector(vector), generate


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """lowest_bit(bits): the place of the lowest set bit of an integer that is not 0."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@intrinsic
def read_now(typing_context: Any, start: Any) -> Any:
    """read_now(pointer): read an integer that another thread may change."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return builder.load_atomic(args[0], "monotonic", start.dtype.bitwidth // 8)

    return start.dtype(start), generate
