"""The division of a batch into blocks for several cards, and into launches of about half a second."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

_SLICE = 0.5  # seconds that one launch should take: progress and Ctrl-C wait for its end
FIRST_SLICE = 400  # episodes of 100 steps for every warp, while nothing is known of the card's pace
FILLING = 16_384  # trials that keep a large card busy
_BLOCKS_A_CARD = 4  # at most


class Pace:
    """How many episodes a warp should run in a launch, learned from those before."""

    def __init__(self, steps: int) -> None:
        self.episodes = max(1, FIRST_SLICE * 100 // steps)

    def learn(self, episodes: float, seconds: float) -> None:
        """Take note of a launch; grow by at most eight, since a short one says little."""
        fitting = round(episodes / max(seconds, 1e-6) * _SLICE)
        self.episodes = max(1, min(fitting, 8 * self.episodes))


def slices(
    trials: int, episodes: int, room: int, warps: int, pace: Pace
) -> Iterator[tuple[int, int, int, int]]:
    """Divide the work into launches: (first trial, last + 1, first episode, last + 1).

    Trials of one launch fit into `room`; up to `warps` of them run at the same time. All
    episodes of some trials come before the next trials. The pace may change between two
    launches.
    """
    first = 0
    while first < trials:
        last = min(trials, first + min(room, max(FILLING, pace.episodes * warps // episodes)))
        n, episode = last - first, 0
        while episode < episodes:
            until = min(episodes, episode + max(1, pace.episodes * min(n, warps) // n))
            yield first, last, episode, until
            episode = until
        first = last


def blocks(trials: int, cards: int) -> list[tuple[int, int]]:
    """Divide trials into blocks (first, last + 1) for several cards.

    There is one for each card, or some more where each still fills a card: cards, and trials, differ.
    """
    size = max(min(-(-trials // cards), FILLING), -(-trials // (_BLOCKS_A_CARD * cards)))
    return list(pairwise([*range(0, trials, size), trials]))
