"""What a recording holds, and how large it may be."""

from __future__ import annotations

import pytest

from distal.base import memory
from distal.base.checks import InputError
from distal.engines import reference
from distal.show import watch
from distal.show.recording import MAX_BYTES, Recording, episode_bytes, states_of
from distal.tasks.mazes import MazeTask
from tests.given import some
from tests.learners.test_registry import Jumps
from tests.mazes import T
from tests.show.pages import RING, SMALL


def test_the_states_of_a_walk_are_those_of_the_mazes_table() -> None:
    (batch,) = watch.trials("paper:1", episodes=3, maze=RING, steps=30, hidden=6, blocked="turn")
    table, columns = MazeTask(RING).table(batch.settings), RING.shape[1]
    for episode in reference.episodes(batch, 0):
        places = zip(episode.walk.cells, episode.walk.headings, strict=True)
        walked = [(row * columns + column) * 4 + heading for (row, column), heading in places]
        assert states_of(table, int(batch.goal[0]), episode.actions) == walked
        assert len(set(walked)) > 1


def test_more_episodes_than_a_page_can_hold_are_refused_for_recordings_alone(jumps: Jumps) -> None:
    step = 4 + 1 + 4  # state, action, 28 bits
    most = MAX_BYTES // (100 * step + 4)
    assert 1_000 < most < watch.MAX_EPISODES
    watch.check_page(watch.trials(jumps, episodes=most))
    watch.check_page(watch.trials("paper:1", episodes=watch.MAX_EPISODES))
    says = f"episodes is {most + 1}, expected {most} at most: .* kind 'jumps' .* fewer episodes or steps"
    for learners in ((jumps,), ("hc", jumps)):
        with pytest.raises(InputError, match=says):
            watch.watch(*learners, episodes=most + 1)
    full = some(watch.watch(jumps, episodes=4, steps=20, maze=T, goal="1").recordings[0])
    taken = len(full.states) + len(full.actions) + len(full.active)
    assert taken == sum(episode_bytes(full.layers, steps) for steps in full.steps)


def test_a_recording_that_does_not_fit_in_memory_is_refused(
    jumps: Jumps, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(memory.SETTING, "3M")
    with pytest.raises(InputError, match=r"1,500 episodes need .* most of it for recordings"):
        watch.watch(jumps, episodes=1_500, maze=T)


def test_a_network_of_another_size_cannot_be_recorded() -> None:
    (batch,) = watch.trials("paper:1", episodes=1, **SMALL)
    episode = next(reference.episodes(batch, 0))
    recording = Recording((4, 5, 4))
    with pytest.raises(InputError, match=r"episode 1 has \(4, 3, 4\) inputs .* expected \(4, 5, 4\)"):
        recording.add(episode, [0] * (episode.steps + 1))
    assert recording.steps == []
