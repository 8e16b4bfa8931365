"""A checksum of everything that the compiled code of plain functions is made of.

Compiled code of a person's functions may be kept for later processes only if nothing has changed that it
depends on: the functions, those that they call, the numbers and arrays that they read. What they are made of
is known for numbers, tuples, arrays, Python's own functions, `math` and NumPy, and for plain functions of
these. For anything else there is no checksum, and nothing is kept.
"""

from __future__ import annotations

import builtins
import cmath
import dis
import hashlib
import math
import operator
from collections.abc import Callable, Iterator
from types import CodeType, EllipsisType, FunctionType, ModuleType
from typing import Any

import numpy as np

# Their versions are those of Python and NumPy, which compiled code is kept for.
_MODULES = (builtins, math, cmath, operator, np)
_PLAIN = (bool, int, float, complex, str, bytes, EllipsisType, type(None))
_LARGEST = 10**6  # bytes of an array that Numba makes a constant of


class _UnknownError(Exception):
    """Something that compiled code may depend on in ways that nobody can tell."""


def checksum(*functions: Callable[..., Any]) -> str | None:
    """Return a checksum of all that functions are made of; None if something in them is of another kind."""
    digest, seen = hashlib.sha256(), dict[int, int]()
    try:
        for function in functions:
            for word in _described(function, seen):
                digest.update(f"{len(word)} {word}".encode())
    except _UnknownError:
        return None
    return digest.hexdigest()


def _described(thing: Any, seen: dict[int, int]) -> Iterator[str]:
    """Yield words for a value, the same in every process; `seen` numbers the functions met so far."""
    if type(thing) in _PLAIN:
        yield f"{type(thing).__name__} {thing!r}"
    elif type(thing) is tuple:
        yield f"tuple {len(thing)}"
        for one in thing:
            yield from _described(one, seen)
    elif type(thing) is frozenset:
        yield f"set {sorted(' '.join(_described(one, seen)) for one in thing)}"
    elif isinstance(thing, np.generic) or type(thing) is np.ndarray:
        yield from _array(np.asarray(thing), type(thing))
    elif isinstance(thing, ModuleType):
        if thing not in _MODULES:
            raise _UnknownError
        yield f"module {thing.__name__}"
    elif (name := _known(thing)) is not None:
        yield name
    elif type(thing) is FunctionType:
        yield from _function(thing, seen)
    elif type(thing) is CodeType:
        yield from _code(thing, seen)
    else:
        raise _UnknownError


def _known(thing: Any) -> str | None:
    """Return the name of a function or type of a known module."""
    name = getattr(thing, "__name__", None)
    for module in _MODULES:
        if isinstance(name, str) and vars(module).get(name) is thing:
            return f"{module.__name__}.{name}"
    return None


def _array(array: np.ndarray[Any, Any], kind: type) -> Iterator[str]:
    """Yield words for an array or a number of NumPy's that Numba makes a constant of."""
    flags = array.flags
    if array.dtype.hasobject or array.nbytes > _LARGEST or not (flags.c_contiguous or flags.f_contiguous):
        raise _UnknownError
    yield f"{kind.__name__} {array.dtype!r} {array.shape} {flags.c_contiguous} {flags.f_contiguous}"
    yield hashlib.sha256(array.tobytes()).hexdigest()


def _function(function: FunctionType, seen: dict[int, int]) -> Iterator[str]:
    """Yield words for a function, and for all that it reads."""
    if id(function) in seen:
        yield f"function {seen[id(function)]}"
        return
    seen[id(function)] = len(seen)
    code = function.__code__
    yield from _code(code, seen)
    yield from _described(function.__defaults__, seen)
    yield from _described(tuple(sorted((function.__kwdefaults__ or {}).items())), seen)
    for cell in function.__closure__ or ():
        try:
            content = cell.cell_contents
        except ValueError:  # it is not bound yet
            raise _UnknownError from None
        yield from _described(content, seen)
    for name in sorted(_globals(code)):
        yield f"name {name}"
        if name in function.__globals__:
            yield from _described(function.__globals__[name], seen)


def _globals(code: CodeType) -> set[str]:
    """Return the names of the globals that code reads, in the functions in it too."""
    read = {one.argval for one in dis.get_instructions(code) if one.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    return read.union(*(_globals(inner) for inner in code.co_consts if type(inner) is CodeType))


def _code(code: CodeType, seen: dict[int, int]) -> Iterator[str]:
    """Yield words for what code does, wherever it is written."""
    yield code.co_code.hex()
    yield getattr(code, "co_exceptiontable", b"").hex()
    yield from _described((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount), seen)
    yield from _described((code.co_flags, code.co_names, code.co_varnames), seen)
    yield from _described((code.co_freevars, code.co_cellvars, code.co_consts), seen)
