"""Grids and boxes: where the agent is in a maze, and in a table."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest

from distal.base.colours import LIGHT
from distal.engines import reference
from distal.show import watch
from distal.show.watched import Watched
from distal.tasks.picture import Picture
from distal.tasks.switching import Switch
from distal.tasks.table import Table
from distal.tasks.table_task import TableTask
from tests.given import some
from tests.show.pages import (
    BY_HAND,
    CLIMBER,
    RING,
    Opened,
    gym_task,
    in_both_themes,
    lake,
    pixels,
    ring,
    state,
)


def test_the_goal_that_is_drawn_is_that_of_the_episode(opened: Opened, moving: Watched) -> None:
    page = opened(moving)
    width = page.evaluate("document.querySelector('.maze').width")
    size, cells = width / RING.shape[1], [RING.finals[RING.symbols.index(goal)] for goal in "Ab3"]
    points = [((column + 0.08) * size, (row + 0.5) * size) for row, column in cells]  # beside the symbol
    for episode, goal in ((12, "b"), (13, "3"), (25, "b")):
        page.evaluate(f"distal.goto({episode}, 0)")
        assert [colour == LIGHT["goal"] for colour in pixels(page, points)] == [one == goal for one in "Ab3"]


def test_in_a_table_the_page_shows_what_the_environment_itself_does(opened: Opened) -> None:
    gymnasium = pytest.importorskip("gymnasium", reason="pip install 'distal[gym]'")
    task = gym_task("CliffWalking-v1")
    watched = watch.watch("evolved:1", CLIMBER, task=task, **{**BY_HAND, "seed": 32})
    assert None not in watched.recordings
    page, cells = opened(watched), set()
    names = ("up", "right", "down", "left")
    for number in range(8):
        page.evaluate(f"distal.goto({number + 1})")
        for batch, panel in zip(watched.batches, state(page)["panels"], strict=True):
            env = gymnasium.make("CliffWalking-v1")
            places, rewards = [env.reset()[0]], []
            for action in panel["actions"]:
                place, reward, *_ = env.step(names.index(action))
                places.append(place)
                rewards.append(reward)
            assert panel["cells"] == places
            assert panel["ep"] == -sum(rewards)
            episode = next(islice(reference.episodes(batch, 0), number, None))
            assert panel["actions"] == [names[action] for action in episode.actions]
            assert task.picture.cells[panel["states"]].tolist() == places
            cells.update(places)
    assert len(cells) > 20  # falls among them


def test_in_a_table_whose_goal_moves_every_episode_begins_where_its_goal_does(opened: Opened) -> None:
    task = gym_task("Taxi-v4", starts=3)
    watched = watch.watch("chance", task=task, episodes=6, hidden=4, steps=20, switch=Switch(2, (1, 0, 2)))
    starts = task.table(watched.batches[0].settings).starts
    page, grids = opened(watched), []
    assert page.title() == "chance learning Taxi-v4, a goal that moves"
    for number in range(6):
        page.evaluate(f"distal.goto({number + 1}, 0)")
        goal = (1, 0, 2)[number // 2]
        shown = state(page)["panels"][0]
        assert page.inner_text(".phase") == f"{goal} phase {number // 2 + 1} / 3"
        assert shown["states"][0] == starts[goal]
        assert shown["ep"] == watched.eps[0, number]
        rows = task.picture.rows_from(int(starts[goal]))
        size = page.evaluate("document.querySelector('.maze').width") / len(rows[0])
        cell = "".join(rows).index("G")
        middle = ((cell % len(rows[0]) + 0.25) * size, (cell // len(rows[0]) + 0.3) * size)
        assert pixels(page, [middle]) == [LIGHT["goal"]]
        grids.append(rows)
    assert len(set(grids)) == 3


def test_the_frame_of_the_start_moves_with_the_goal(opened: Opened) -> None:
    table = Table.of([[0], [1], [0]], [[1, 2]] * 3, [[1, 1]] * 3, [0, 0, 1], start=[0, 1])
    page = opened(watch.watch("chance", task=TableTask(table), episodes=2, hidden=3, steps=4, switch=1))
    for episode, start in ((1, 0), (2, 1)):
        page.evaluate(f"distal.goto({episode}, 0)")
        frames = pixels(page, [(34 * k + 14, 1) for k in range(3)])
        assert [colour == LIGHT["start"] for colour in frames] == [k == start for k in range(3)]


def test_a_grid_has_its_pits_its_goal_and_the_path_in_their_cells(opened: Opened) -> None:
    watched = watch.watch("chance", task=lake(), episodes=120, seed=1)
    page = opened(watched, place=f"#{int(watched.eps[0].argmin()) + 1}.3")
    shown = state(page)["panels"][0]
    assert shown["cells"][:4] == [0, 4, 8, 9]  # 0 is the start, 15 the goal; 5, 7, 11, 12 are holes
    size = page.evaluate("document.querySelector('.maze').width") / 4

    def at(cell: int, down: float, across: float) -> tuple[float, float]:
        return (cell % 4 + across) * size, (cell // 4 + down) * size

    places = [(0.5, 0.5), (0.5, 0.02), (0.12, 0.12), (0.5, 0.2)]
    points = [at(cell, *place) for place in places for cell in range(16)]
    for theme in in_both_themes(page):
        middles, edges, corners, rims = np.reshape(pixels(page, points), (4, 16)).tolist()
        assert middles[9] == theme["chance"]  # the agent
        assert middles[15] == theme["goal"]
        assert [cell for cell in range(16) if middles[cell] == theme["floor"]] == [1, 2, 3, 6, 10, 13, 14]
        assert [cell for cell in range(16) if edges[cell] == theme["pit"]] == [5, 7, 11, 12]
        assert [cell for cell in (0, 4, 8, 9, 1, 2, 13) if corners[cell] != theme["floor"]] == [0, 4, 8, 9]
        assert [cell for cell in range(16) if rims[cell] == theme["start"]] == [0]


@pytest.mark.parametrize(("to", "joined"), [(2, True), (8, False), (4, False)])
def test_a_path_has_a_gap_where_the_agent_leaps_and_what_it_fetches_is_a_disc(
    opened: Opened, to: int, joined: bool
) -> None:
    """In three rows of three cells, a step leads from cell 0 to another; something lies in cell 6."""
    table = Table.of([[0], [1]], [[1], [1]], [[1], [1]], [0, 1])
    task = TableTask(table, picture=Picture(["...", "...", "..."], cells=[0, to], things=6))
    page = opened(watch.watch("chance", task=task, episodes=1, hidden=2), place="#1.1")
    size = page.evaluate("document.querySelector('.maze').width") / 3
    row, column = divmod(to, 3)
    places = [(0.5 + 0.45 * column, 0.5 + 0.45 * row), (0.76, 2.76), (0.5 + column, 0.5 + row)]
    between, thing, agent = pixels(page, [(x * size, y * size) for x, y in places])
    assert (between == LIGHT["chance"]) is joined
    assert (thing, agent) == (LIGHT["ink"], LIGHT["chance"])


def test_the_page_says_what_the_task_is_and_whether_its_goal_is_reached(opened: Opened) -> None:
    watched = watch.watch("chance", task=lake(encode="one-hot"), episodes=120, seed=3)
    assert watched.eps[0].min() == -1  # the target is −0.7
    page = opened(watched, place=f"#{int(watched.eps[0].argmin()) + 1}")
    assert page.inner_text("h1") == page.title() == "chance learning FrozenLake-v1"
    assert "16 states · 16 bits sensed (one-hot)" in page.inner_text("#subtitle")
    assert page.inner_text(".inputs h3") == "16 bits sensed: one-hot"
    assert page.locator(".inputs .cells span").count() == 17
    assert page.locator(".outputs .cells span").all_inner_texts() == ["left", "down", "right", "up"]
    shown = state(page)["panels"][0]
    ends = f"Ends in state 15 after {shown['steps']} steps: EP −1. Goal reached: the target is −0.7 or less."
    assert (page.inner_text(".outcome"), shown["reached"]) == (ends, True)
    assert (page.inner_text(".ep"), page.inner_text(".pits")) == ("−1 best", "15 of 16")
    assert page.inner_text(".pits-name") == "State"
    page.evaluate(f"distal.goto({int(watched.eps[0].argmax()) + 1})")
    assert "EP 0. Goal not reached: the target is −0.7 or less." in page.inner_text(".outcome")
    assert "target: −0.7" in page.inner_text("#legend")
    assert "this page computes only mazes" in page.inner_text(".learner")
    page.keyboard.press("?")
    told = page.inner_text("#help")
    assert "A network acts in FrozenLake-v1" in told
    assert "maze to its goal" not in told


def test_a_table_without_a_picture_is_a_row_of_its_states(opened: Opened) -> None:
    watched = watch.watch(CLIMBER, task=ring(9, target=None), **BY_HAND)
    (episode,) = islice(reference.episodes(watched.batches[0], 0), 2, 3)
    page = opened(watched, place="#3.4", width=1280)
    states = [0]
    for action in episode.actions:  # 1 and 2 go on, 0 stays
        states.append((states[-1] + (action > 0)) % 9)
    shown = state(page)["panels"][0]
    assert (shown["states"], shown["cells"], shown["reached"]) == (states, None, None)
    assert "The task has no target." in page.inner_text(".outcome")
    assert "target" not in page.inner_text("#legend")
    boxes = pixels(page, [(34 * k + 6, 13) for k in range(9)])  # in a box, beside its number
    assert [k for k in range(9) if boxes[k] == LIGHT["hc"]] == [states[4]]
    assert [k for k in range(9) if boxes[k] != "#f5f6f8"] == sorted(set(states[:5]))
    assert 1 < len(set(states[:5])) < 9
    visited = " ".join(map(str, dict.fromkeys(states[:5])))
    assert page.get_attribute(".maze", "aria-label") == (
        f"9 states: the agent in state {states[4]}, step 4 of {len(states) - 1}; visited {visited}"
    )


def test_of_many_states_those_visited_in_the_trial_have_a_box_200_at_a_time(opened: Opened) -> None:
    watched = watch.watch("chance", task=ring(100_000, stride=40), hidden=4, steps=400, episodes=4)
    recording = some(watched.recordings[0])
    visited, page = recording.visited, opened(watched)
    assert len(visited) > 400
    for episode in range(1, 5):
        page.evaluate(f"distal.goto({episode})")
        at = visited.index(state(page)["panels"][0]["states"][-1])
        first = at // 200 * 200
        assert (page.get_attribute(".maze", "aria-label") or "").startswith(
            f"{len(visited)} states visited in this trial, of 100,000, here {first + 1} to "
            f"{min(first + 200, len(visited))}: the agent in state {visited[at]}, step 400 of 400"
        )
