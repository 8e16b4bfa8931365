"""What depends on the number of a generation alone, made for several generations at once.

Few random numbers take as long to make as many, and an evolution asks for few of them at a time.
"""

from __future__ import annotations

from typing import Any

MOST = 16  # generations at once
AT_ONCE = 2**16  # numbers, about


def of_generation(make: Any, key: tuple[Any, ...], generation: int, numbers: int) -> Any:
    """Return what belongs to a generation, from the block of generations that it is in.

    Args:
        make: Returns what belongs to each generation of a block, given the key, the first of them
            and how many; it is an `lru_cache`.
        key: The first arguments of `make`.
        generation: The generation.
        numbers: How many numbers are made for each.

    Returns:
        What `make` has for it.
    """
    count = max(1, min(MOST, AT_ONCE // numbers))
    block, place = divmod(generation, count)
    made = make if count > 1 else make.__wrapped__  # what is used once is not kept
    return made(*key, block * count, count)[place]
