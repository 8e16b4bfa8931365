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
            return ir.VectorType(ir.FloatType() if self.dtype.bitwidth == 32 else ir.DoubleType(), self.n)
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


def _define(function: Any, result: Any, build: Any) -> None:
    """Define an operator of two vectors of one type: the type of its result, and what builds it."""

    @infer_global(function)
    class _Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and isinstance(args[0], Lanes) and args[0] == args[1]:
                return signature(result(args[0]), args[0], args[0])
            return None

    @lower_builtin(function, Lanes, Lanes)
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, sig.args[0], *args)


def _define_operator(function: Any, of_floats: str | None, of_integers: str | None) -> None:
    def build(builder: Any, lanes: Lanes, *args: Any) -> Any:
        name = of_floats if lanes.is_float else of_integers
        if name == "shift right":
            name = "ashr" if lanes.dtype.signed else "lshr"
        if name is None:
            raise TypeError(f"{function.__name__} is not defined for {lanes}")
        return getattr(builder, name)(*args)

    _define(function, lambda lanes: lanes, build)


def _define_comparison(function: Any, symbol: str) -> None:
    def build(builder: Any, lanes: Lanes, *args: Any) -> Any:
        if lanes.is_float:
            return builder.fcmp_ordered(symbol, *args)
        return (builder.icmp_signed if lanes.dtype.signed else builder.icmp_unsigned)(symbol, *args)

    _define(function, lambda lanes: Lanes(types.boolean, lanes.n), build)


for _function, _names in _OPERATORS.items():
    _define_operator(_function, *_names)
for _function, _symbol in _COMPARISONS.items():
    _define_comparison(_function, _symbol)


def _code(build: Any) -> Any:
    """Return what Numba asks of an intrinsic, from a function of LLVM's builder and the arguments."""

    def generate(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return build(builder, *args)

    return generate


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


def _loading(lanes: Lanes) -> Any:
    def build(builder: Any, start: Any, index: Any, *_: Any) -> Any:
        loaded = builder.load(_at(builder, lanes.llvm, start, index))
        loaded.align = lanes.dtype.bitwidth // 8
        return loaded

    return _code(build)


def _load(n: int) -> Any:
    @intrinsic
    def load(typing_context: Any, start: Any, index: Any) -> Any:
        lanes = Lanes(start.dtype, n)
        return lanes(start, types.int64), _loading(lanes)

    return load


load8 = _load(8)  # load8(pointer, index): eight neighbouring elements
load4 = _load(4)
load32 = _load(32)


@intrinsic
def load_row(typing_context: Any, start: Any, index: Any, row: Any) -> Any:
    """load_row(pointer, index, row): as many neighbouring elements as the tuple `row` is long."""
    lanes = Lanes(start.dtype, len(row))
    return lanes(start, types.int64, row), _loading(lanes)


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
    return lanes(), _code(lambda builder: ir.Constant(lanes.llvm, list(range(8))))


def _spreading(lanes: Lanes) -> Any:
    """Return the code that puts one number into all lanes."""

    def build(builder: Any, value: Any, *_: Any) -> Any:
        nothing, first = ir.Constant(lanes.llvm, ir.Undefined), ir.Constant(ir.IntType(32), 0)
        single = builder.insert_element(nothing, value, first)
        mask = ir.Constant(ir.VectorType(ir.IntType(32), lanes.n), [0] * lanes.n)
        return builder.shuffle_vector(single, nothing, mask)

    return _code(build)


def _splat(n: int) -> Any:
    @intrinsic
    def splat(typing_context: Any, value: Any) -> Any:
        lanes = Lanes(value, n)
        return lanes(value), _spreading(lanes)

    return splat


splat8 = _splat(8)  # splat8(number): the number in all lanes
splat32 = _splat(32)


@intrinsic
def splat_like(typing_context: Any, value: Any, vector: Any) -> Any:
    """splat_like(number, vector): the number in as many lanes as the vector, or the tuple, has."""
    lanes = Lanes(value, vector.n if isinstance(vector, Lanes) else len(vector))
    return lanes(value, vector), _spreading(lanes)


@intrinsic
def lane(typing_context: Any, vector: Any, index: Any) -> Any:
    """lane(vector, k): the number in lane k."""
    return vector.dtype(vector, types.int64), _code(lambda builder, *args: builder.extract_element(*args))


@intrinsic
def convert(typing_context: Any, vector: Any, dtype: Any) -> Any:
    """convert(vector, dtype): each lane as another kind of number."""
    result = Lanes(dtype.dtype, vector.n)

    def build(builder: Any, given: Any, _: Any) -> Any:
        if result.is_float:
            return (builder.sitofp if vector.dtype.signed else builder.uitofp)(given, result.llvm)
        if result.dtype.bitwidth < vector.dtype.bitwidth:
            return builder.trunc(given, result.llvm)
        return (builder.sext if vector.dtype.signed else builder.zext)(given, result.llvm)

    return result(vector, dtype), _code(build)


@intrinsic
def reinterpret(typing_context: Any, vector: Any, dtype: Any) -> Any:
    """reinterpret(vector, dtype): the same bits, read as numbers of equal width."""
    result = Lanes(dtype.dtype, vector.n)

    def build(builder: Any, given: Any, _: Any) -> Any:
        return given if result.llvm == vector.llvm else builder.bitcast(given, result.llvm)

    return result(vector, dtype), _code(build)


@intrinsic
def select(typing_context: Any, mask: Any, yes: Any, no: Any) -> Any:
    """select(mask, yes, no): lane by lane, yes where the mask is true."""
    return yes(mask, yes, no), _code(lambda builder, *args: builder.select(*args))


@intrinsic
def mask_bits(typing_context: Any, mask: Any) -> Any:
    """mask_bits(mask): the truth values as an integer, lane 0 in bit 0."""

    def build(builder: Any, given: Any) -> Any:
        return builder.zext(builder.bitcast(given, ir.IntType(mask.n)), ir.IntType(64))

    return types.uint64(mask), _code(build)


def _bits_mask(n: int) -> Any:
    @intrinsic
    def bits_mask(typing_context: Any, bits: Any) -> Any:
        result = Lanes(types.boolean, n)

        def build(builder: Any, given: Any) -> Any:
            return builder.bitcast(builder.trunc(given, ir.IntType(n)), result.llvm)

        return result(types.uint64), _code(build)

    return bits_mask


bits_mask8 = _bits_mask(8)  # bits_mask8(bits): truth values from the lowest eight bits of an integer
bits_mask32 = _bits_mask(32)


def _called(vector: Any, name: str) -> Any:
    """Return the code that calls a function of LLVM for a vector."""
    kind = ir.FunctionType(vector.llvm, [vector.llvm])

    def build(builder: Any, given: Any) -> Any:
        return builder.call(cgutils.get_or_insert_function(builder.module, kind, name), (given,))

    return _code(build)


@intrinsic
def root(typing_context: Any, vector: Any) -> Any:
    """root(vector): the square root of each lane."""
    return vector(vector), _called(vector, f"llvm.sqrt.v{vector.n}f32")


@intrinsic
def ones(typing_context: Any, vector: Any) -> Any:
    """ones(vector): how many bits of each lane are 1."""
    return vector(vector), _called(vector, f"llvm.ctpop.v{vector.n}i{vector.dtype.bitwidth}")


@intrinsic
def lowest_bit(typing_context: Any, bits: Any) -> Any:
    """lowest_bit(bits): the place of the lowest set bit of an integer that is not 0."""
    always = ir.Constant(ir.IntType(1), 1)
    return types.int64(types.uint64), _code(lambda builder, given: builder.cttz(given, always))


@intrinsic
def read_now(typing_context: Any, start: Any) -> Any:
    """read_now(pointer): read an integer that another thread may change."""
    size = start.dtype.bitwidth // 8
    return start.dtype(start), _code(lambda builder, given: builder.load_atomic(given, "monotonic", size))
