"""The maze: pictures, distances, sensing, moving."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import distal
from distal import InputError, Maze, t_maze, triple_t_maze
from distal.base.colours import LIGHT
from distal.model.maze import FINALS, HEADINGS, LEFT, MAZES, RIGHT, STOP, STRAIGHT
from tests.mazes import T
from tests.strategies import mazes

NORTH, EAST, SOUTH, WEST = range(4)


def test_the_triple_t_maze_equals_its_picture() -> None:
    assert str(triple_t_maze()) + "\n" == (Path(__file__).parent / "triple_t_maze.txt").read_text()


def test_the_triple_t_maze_has_the_eight_distances_and_a_perfect_agent_of_38_5() -> None:
    maze = triple_t_maze()
    assert maze.shape == (29, 29)
    assert (maze.start, maze.heading) == ((27, 14), "north")
    assert maze.finals == tuple((1, column) for column in (1, 5, 8, 12, 16, 20, 23, 27))
    # by hand: 10 north, 7 aside, 8 north, 4 or 3 aside, 8 north, 2 aside
    assert maze.start_distances == (39, 39, 38, 38, 38, 38, 39, 39)
    assert np.mean(maze.start_distances) == 38.5


# By hand: 10 north, then aside, 8 north and aside for every further level; the last arms have 2 cells.
WAYS = {
    1: (10 + 2,) * 2,
    2: (10 + 4 + 8 + 2,) * 2 + (10 + 3 + 8 + 2,) * 2,
    3: (39, 39, 38, 38, 38, 38, 39, 39),
    4: tuple(10 + 15 + 8 + way - 10 for way in (39, 39, 38, 38, 38, 38, 39, 39)) * 2,
}


@pytest.mark.parametrize("levels", WAYS)
def test_a_t_maze_has_two_ways_at_each_of_its_junctions(levels: int) -> None:
    maze = t_maze(levels)
    assert maze.symbols == FINALS[: 2**levels]
    assert maze.start_distances == WAYS[levels]
    assert (maze.start[0], maze.heading) == (maze.shape[0] - 2, "north")
    # From the start, every way north ends at a junction: 1 + 2 + 4 + … of them have both sides open.
    junctions = [
        cell
        for cell in zip(*np.nonzero(~maze.walls), strict=True)
        if maze.sense(cell, NORTH) == (0, 1, 0) and not maze.walls[cell[0] + 1, cell[1]]
    ]
    assert len(junctions) == 2**levels - 1
    # No loops: a tree of cells has one edge less than cells.
    open_cells = ~maze.walls
    edges = (open_cells[1:] & open_cells[:-1]).sum() + (open_cells[:, 1:] & open_cells[:, :-1]).sum()
    assert edges == open_cells.sum() - 1


def test_t_mazes_of_three_levels_and_more_are_mirror_images_of_themselves() -> None:
    for levels in (1, 3, 4):
        walls = t_maze(levels).walls
        assert (walls == walls[:, ::-1]).all()


def test_a_t_maze_holds_that_of_one_level_less_beyond_its_first_junction() -> None:
    assert str(t_maze(3)) == str(triple_t_maze())
    for levels in (2, 3, 4):
        smaller = t_maze(levels - 1)
        rows, columns = smaller.shape
        # up to the row above its first stem's foot, which is longer where it is the first of all
        part = t_maze(levels).walls[: rows - 4, : columns - 1]
        assert (part == smaller.walls[: rows - 4, : columns - 1]).all()


@pytest.mark.parametrize("levels", [0, 5, 3.0, "3"])
def test_a_t_maze_has_one_to_four_levels(levels: Any) -> None:
    with pytest.raises(InputError, match=r"levels is .*, expected a whole number from 1 to 4"):
        t_maze(levels)


def test_distances_run_over_empty_cells_and_over_pits() -> None:
    assert T.distances[0].tolist() == [
        [-1, -1, -1, -1, -1],
        [-1, 0, 1, 2, -1],
        [-1, -1, 2, -1, -1],
        [-1, -1, 3, -1, -1],
        [-1, -1, -1, -1, -1],
    ]
    through_a_pit = Maze.from_text("######\n#S0.1#\n######", heading="east")
    assert through_a_pit.start_distances == (1, 3)


@pytest.mark.parametrize(
    ("cell", "heading", "walls"),
    [
        ((3, 2), NORTH, (1, 0, 1)),  # the foot of the stem, looking along it
        ((3, 2), EAST, (0, 1, 1)),
        ((3, 2), SOUTH, (1, 1, 1)),
        ((3, 2), WEST, (1, 1, 0)),
        ((2, 2), NORTH, (1, 0, 1)),  # in the stem
        ((2, 2), EAST, (0, 1, 0)),
        ((1, 2), NORTH, (0, 1, 0)),  # the junction; both final positions look empty
        ((1, 2), EAST, (1, 0, 0)),
        ((1, 2), SOUTH, (0, 0, 0)),
        ((1, 2), WEST, (0, 0, 1)),
        ((1, 1), WEST, (1, 1, 1)),  # a dead end
        ((1, 1), EAST, (1, 0, 1)),
    ],
)
def test_the_agent_senses_walls_left_front_and_right(
    cell: tuple[int, int], heading: int, walls: tuple[int, int, int]
) -> None:
    assert T.sense(cell, heading) == walls


@pytest.mark.parametrize(
    ("cell", "heading", "action", "after"),
    [
        ((1, 2), NORTH, STOP, ((1, 2), NORTH)),
        ((1, 2), NORTH, LEFT, ((1, 1), WEST)),
        ((1, 2), NORTH, RIGHT, ((1, 3), EAST)),
        ((1, 2), SOUTH, STRAIGHT, ((2, 2), SOUTH)),
        ((1, 2), EAST, RIGHT, ((2, 2), SOUTH)),
        ((1, 2), WEST, LEFT, ((2, 2), SOUTH)),
        ((3, 2), NORTH, STRAIGHT, ((2, 2), NORTH)),
        ((3, 2), WEST, RIGHT, ((2, 2), NORTH)),
        ((1, 1), EAST, STRAIGHT, ((1, 2), EAST)),
        ((1, 1), SOUTH, LEFT, ((1, 2), EAST)),
    ],
)
def test_an_action_turns_and_then_moves_one_cell(
    cell: tuple[int, int], heading: int, action: int, after: tuple[tuple[int, int], int]
) -> None:
    assert T.move(cell, heading, action, "turn") == after
    assert T.move(cell, heading, action, "stay") == after


@pytest.mark.parametrize(
    ("cell", "heading", "action", "turned"),
    [
        ((1, 2), NORTH, STRAIGHT, NORTH),
        ((3, 2), NORTH, LEFT, WEST),
        ((3, 2), NORTH, RIGHT, EAST),
        ((1, 1), WEST, LEFT, SOUTH),
        ((1, 1), WEST, RIGHT, NORTH),
        ((1, 1), WEST, STRAIGHT, WEST),
    ],
)
def test_a_blocked_move_leaves_the_agent_where_it_was(
    cell: tuple[int, int], heading: int, action: int, turned: int
) -> None:
    assert T.move(cell, heading, action, "turn") == (cell, turned)
    assert T.move(cell, heading, action, "stay") == (cell, heading)


def test_final_positions_are_ordered_digits_then_capitals_then_small_letters() -> None:
    maze = Maze.from_text("#######\n#aB0sS#\n#######")
    assert maze.symbols == "0Bas"
    assert maze.finals == ((1, 3), (1, 2), (1, 1), (1, 4))


def test_sixty_one_final_positions_fit_and_the_largest_maze_is_255_cells_wide() -> None:
    inside = f"S{FINALS}".ljust(253, ".")
    maze = Maze.from_text("\n".join(["#" * 255, f"#{inside}#", *["#" + "." * 253 + "#"] * 252, "#" * 255]))
    assert maze.shape == (255, 255)
    assert maze.symbols == FINALS
    assert maze.start_distances == tuple(range(1, 62))


@pytest.mark.parametrize(
    ("picture", "problem"),
    [
        ("", "row 0, column 0: the maze is empty"),
        ("####\n#S0#\n###", "row 2, column 3: this row is 3 cells wide, row 0 is 4"),
        ("####\n#S0##\n####", "row 1, column 4: this row is 5 cells wide, row 0 is 4"),
        ("####\n#.0#\n####", "no start in rows 0 to 2, columns 0 to 3"),
        ("#####\n#S0S#\n#####", "row 1, column 3: a second start 'S', the first is at row 1, column 1"),
        ("####\n#S.#\n####", "no final position in rows 0 to 2, columns 0 to 3"),
        ("#####\n#S#0#\n#####", "row 1, column 3: final position '0' cannot be reached"),
        ("#####\n#S00#\n#####", "row 1, column 3: a second final position '0'"),
        ("##.#\n#S0#\n####", "row 0, column 2: '.' on the border"),
        ("####\n#S0.\n####", "row 1, column 3: '.' on the border"),
        ("####\n#S0#\n#S##", "row 2, column 1: 'S' on the border"),
        ("####\n#S?#\n####", "row 1, column 2: unknown character '?'"),
        ("#" * 256 + "\n#S0" + "#" * 253, "the maze has 2 rows and 256 columns, at most 255"),
    ],
)
def test_bad_mazes_are_refused_with_row_and_column(picture: str, problem: str) -> None:
    with pytest.raises(InputError) as refusal:
        Maze.from_text(picture)
    assert problem in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_the_heading_is_given_separately() -> None:
    assert Maze.from_text(str(T), heading="south").heading == "south"
    with pytest.raises(InputError, match=r"heading is 'nort'.*did you mean 'north'"):
        Maze.from_text(str(T), heading="nort")


def test_a_list_of_rows_makes_the_same_maze_as_a_tuple() -> None:
    assert Maze(list(T.picture)) == T  # type: ignore[arg-type]
    assert hash(Maze(list(T.picture))) == hash(T)  # type: ignore[arg-type]


def test_a_drawing_shows_every_wall_and_symbol_once() -> None:
    svg = T.to_svg()
    assert svg.count(f'fill="{LIGHT["wall"]}"') == int(T.walls.sum())
    assert svg.count(f'fill="{LIGHT["start"]}"') == 1
    assert svg.count(f'fill="{LIGHT["goal"]}"') == len(T.finals)  # each is the goal of some trials
    assert [svg.count(f">{symbol}</text>") for symbol in "S01"] == [1, 1, 1]


@given(mazes())
def test_a_picture_survives_text_and_back(maze: Maze) -> None:
    assert Maze.from_text(str(maze), maze.heading) == maze


@given(mazes(), st.data())
def test_distances_of_neighbours_differ_by_at_most_one_and_shrink_towards_the_goal(
    maze: Maze, data: st.DataObject
) -> None:
    distance = maze.distances[data.draw(st.integers(0, len(maze.finals) - 1))]
    for row, column in zip(*np.nonzero(distance > 0), strict=True):
        cells = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        around = [distance[cell] for cell in cells if not maze.walls[cell]]
        assert min(around) == distance[row, column] - 1
        assert max(around) <= distance[row, column] + 1


@given(mazes(), st.lists(st.integers(0, 3), max_size=50), st.sampled_from(["turn", "stay"]))
def test_the_agent_never_stands_in_a_wall(maze: Maze, actions: list[int], blocked: str) -> None:
    cell, heading = maze.start, HEADINGS.index(maze.heading)
    for action in actions:
        cell, heading = maze.move(cell, heading, action, blocked)
        assert not maze.walls[cell]


# ---------------------------------------------------------------- mazes by name

# By hand, from the pictures: steps up or down, and steps to the side, from the start to final position 0 …
BY_NAME = {
    "triple-t": (24 + 13, 24 + 10, 24 + 10, 24 + 13, 43, 40, 40, 43),  # 4 to 7 lie beyond the corridor
    "narrow-t": (39, 39, 38, 38, 38, 38, 39, 39),
}


@pytest.mark.parametrize("name", BY_NAME)
def test_named_mazes_have_the_distances_of_their_pictures(name: str) -> None:
    assert distal.maze(name).start_distances == BY_NAME[name]
    assert distal.maze(name).shape == (29, 29)


@pytest.mark.parametrize("name", MAZES)
def test_a_perfect_agent_needs_38_and_a_half_steps_in_every_named_maze(name: str) -> None:
    assert np.mean(distal.maze(name).start_distances) == 38.5


def test_a_maze_of_an_unknown_name_is_refused() -> None:
    with pytest.raises(InputError, match=r"'narow-t', expected one of .*narrow-t"):
        distal.maze("narow-t")


def test_the_narrow_maze_is_the_t_maze_of_three_levels() -> None:
    assert distal.maze("narrow-t") == distal.t_maze(3) == distal.triple_t_maze()


@pytest.mark.parametrize("width", range(1, 6))
@pytest.mark.parametrize("levels", range(1, 5))
def test_corridors_of_a_t_maze_are_as_wide_as_asked(levels: int, width: int) -> None:
    maze = distal.t_maze(levels, width)
    assert len(maze.finals) == 2**levels
    windows = np.lib.stride_tricks.sliding_window_view(~maze.walls, (width, width)).all(axis=(2, 3))
    covered = np.zeros_like(maze.walls)
    for row, column in np.argwhere(windows):
        covered[row : row + width, column : column + width] = True
    assert (covered == ~maze.walls).all()  # every empty cell lies in an open square of that width
    wider = np.lib.stride_tricks.sliding_window_view(~maze.walls, (width + 1, width + 1)).all(axis=(2, 3))
    assert not wider.any()  # and in none that is larger


@pytest.mark.parametrize("width", [0, 6, 1.5, "3"])
def test_other_widths_are_refused(width: object) -> None:
    with pytest.raises(InputError, match=r"^width is "):
        distal.t_maze(2, width)  # type: ignore[arg-type]
