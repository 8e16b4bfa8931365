"""Launches: every episode of every trial once, in pieces that take a moment, on one card or several."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from distal.engines.gpu import slicing
from distal.engines.gpu.slicing import Pace, slices


@given(
    st.integers(1, 50_000),
    st.integers(1, 20_000),
    st.integers(1, 60_000),
    st.integers(1, 5_000),
    st.integers(1, 10_000),
    st.data(),
)
def test_slices_cover_every_episode_of_every_trial_once_and_in_order(
    trials: int, episodes: int, room: int, warps: int, steps: int, data: st.DataObject
) -> None:
    trials = min(trials, 20 * room)
    pace = Pace(steps)
    done: dict[int, int] = {}
    before = (0, 0)
    launches = slices(trials, episodes, room, warps, pace)
    for count, (first, last, episode, until) in enumerate(launches):
        assert 0 < last - first <= room
        assert done.get(first, 0) == episode < until <= episodes
        assert before <= (first, episode)
        before = (first, episode)
        done[first] = until
        side_by_side = min(last - first, warps)
        of_a_warp = (last - first) * (until - episode) / side_by_side
        assert of_a_warp <= pace.episodes or until == episode + 1
        pace.learn(of_a_warp, data.draw(st.floats(1e-6, 2)) if count < 20 else 0.01)
    firsts = [*sorted(done), trials]
    assert firsts[0] == 0
    assert all(until == episodes for until in done.values())
    assert all(0 < b - a <= room for a, b in pairwise(firsts))


def test_a_launch_that_took_too_long_makes_the_next_one_shorter() -> None:
    pace = Pace(100)
    pace.learn(400, seconds=2.0)
    assert pace.episodes == 100  # half a second at that pace
    pace.learn(100, seconds=0.001)
    assert pace.episodes == 800  # eight times as much, not five hundred times


def test_a_single_trial_is_not_launched_for_as_many_episodes_as_thousands_of_warps_run() -> None:
    pace = Pace(100)
    pace.learn(1_000, seconds=0.05)  # of every warp of a large batch
    assert next(iter(slices(1, 1_000_000, 10_000, 2_640, pace))) == (0, 1, 0, pace.episodes)
    assert pace.episodes <= 10_000


@pytest.mark.parametrize("several", [2, 3, 8])
@pytest.mark.parametrize("count", [2, 100, 8_400, 1_000_003])
def test_blocks_fill_every_card_and_cover_every_trial_once(count: int, several: int) -> None:
    blocks = slicing.blocks(count, several)
    assert [trial for first, last in blocks for trial in (first, last)] == sorted(
        [0, count, *(last for _, last in blocks[:-1] for _ in range(2))]
    )
    assert min(count, several) <= len(blocks) <= 4 * several
    assert all(last > first for first, last in blocks)
