"""Blocks of generations: numbers that depend on the generation alone are made for several of them at once.

Few random numbers take as long to make as many, and an evolution asks for few of them at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Generic, TypeVar

MOST = 16  # generations at once
AT_ONCE = 2**16  # numbers, about
_KEPT = 2  # blocks: two groups of runs may take turns

T = TypeVar("T")


class Blocks(Generic[T]):
    """A function that makes numbers for several generations, and the blocks that it made last.

    Args:
        make: Returns one value for each of a range of generations, given that and the parts of a key.
    """

    def __init__(self, make: Callable[..., Sequence[T]]) -> None:
        self.make = make
        self.remembered = lru_cache(maxsize=_KEPT)(make)

    def of_generation(self, generation: int, numbers: int, key: tuple[Any, ...]) -> T:
        """Return the value of a generation, from the block that it is in.

        Args:
            generation: The generation.
            numbers: How many numbers are made for each; many are made for one generation alone.
            key: The other arguments of the function.

        Returns:
            The value.
        """
        count = max(1, min(MOST, AT_ONCE // numbers))
        if count == 1:
            return self.make(range(generation, generation + 1), *key)[0]
        block, place = divmod(generation, count)
        return self.remembered(range(block * count, (block + 1) * count), *key)[place]


in_blocks = Blocks  # as a decorator
