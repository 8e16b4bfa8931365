"""How learners behave over the episodes of a trial, worked by hand."""

from __future__ import annotations

import numpy as np

from distal import Behaviour


def test_behaviour_worked_by_hand() -> None:
    # The target of 100 steps is 99: an EP of 100 did not reach the goal in the paper's sense.
    ep = [[130, 90, 140, 60, 100], [120, 120, 120, 120, 120], [99, 150, 150, 150, 150]]
    seen = Behaviour.of(np.array(ep, np.int32), target=99)
    assert seen.first_reached.tolist() == [2, 0, 1]
    assert seen.median_first == 1.5
    assert seen.reached == 3 / 15
    assert seen.retained == 1 / 7  # 140 60 100 after the 90, and the four 150s
    assert (seen.first_tenth, seen.last_tenth) == ((130 + 120 + 99) / 3, (100 + 120 + 150) / 3)


def test_behaviour_where_nothing_was_found_or_nothing_follows() -> None:
    never = Behaviour.of(np.full((2, 3), 120, np.int32), target=99)
    assert (never.median_first, never.retained, never.reached) == (None, None, 0)
    at_the_end = Behaviour.of(np.array([[120, 120, 50]], np.int32), target=99)
    assert (at_the_end.median_first, at_the_end.retained) == (3, None)


def test_tenths_are_of_the_episodes() -> None:
    ep = np.tile(np.arange(40, dtype=np.int32), (2, 1))
    seen = Behaviour.of(ep, target=9)
    assert (seen.first_tenth, seen.last_tenth) == (1.5, 37.5)  # 0 … 3 and 36 … 39
    assert (seen.reached_first_tenth, seen.reached_last_tenth) == (1, 0)  # below 10 steps, and not
