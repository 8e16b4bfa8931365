"""Numbers that depend on the generation alone, made for several generations at once.

A few random numbers take as long to make as many, and an evolution asks for few at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, TypeVar

MOST = 16  # generations at once
AT_ONCE = 2**16  # numbers, about
_KEPT = 2  # blocks of generations: two groups of runs may take turns

T = TypeVar("T")


def precomputed(make: Callable[..., Sequence[T]]) -> Callable[..., T]:
    """Turn a function that makes a value for each of a range of generations into one for a generation.

    Args:
        make: Takes a range of generations, then the parts of a key.

    Returns:
        A function that takes a generation, how many numbers are made for it, then the parts of
        the key. If they are many, it makes the draws of this generation alone.
    """
    remembered = lru_cache(maxsize=_KEPT)(make)

    def of_generation(generation: int, numbers: int, *key: Any) -> T:
        count = max(1, min(MOST, AT_ONCE // numbers))
        if count == 1:
            return make(range(generation, generation + 1), *key)[0]
        block, place = divmod(generation, count)
        return remembered(range(block * count, (block + 1) * count), *key)[place]

    return of_generation
