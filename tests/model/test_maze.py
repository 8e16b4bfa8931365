"""The maze: pictures, distances, sensing, moving."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from distal import InputError, Maze, maze, t_maze, triple_t_maze
from distal.base.colours import LIGHT
from distal.model.maze import FINALS, LEFT, MAZES, RIGHT, STOP, STRAIGHT, maze_name
from tests.mazes import T
from tests.refusals import refused
from tests.strategies import mazes

NORTH, EAST, SOUTH, WEST = range(4)


@pytest.mark.parametrize("name", MAZES)
def test_a_named_maze_equals_its_picture(name: str) -> None:
    picture = Path(__file__).parents[1].joinpath(f"{name.replace('-', '_')}_maze.txt").read_text()
    assert f"{maze(name)}\n" == picture
    assert maze(name).heading == "north"
    assert Maze(maze(name).picture) == maze(name)  # which is not checked when it is read


def test_every_named_maze_has_a_name_and_a_title_that_no_other_has() -> None:
    titles = {name: maze_name(maze(name)) for name in MAZES}
    assert titles == {
        "triple-t": "triple T-maze", "narrow-t": "narrow triple T-maze", "narrow-h": "narrow triple H-maze",
    }  # fmt: skip
    assert maze_name(t_maze(3, 1)) == "narrow triple T-maze"
    assert maze_name(t_maze(3)) == "T-maze of 3 levels, corridors of 3 cells"
    assert maze_name(t_maze(1, 1)) == "T-maze of 1 level, corridors of 1 cell"
    assert maze_name(Maze(maze("narrow-h").picture, "west")) == "narrow triple H-maze, heading west"
    assert maze_name(T) == "maze of 5 by 5 cells"


def test_a_name_that_no_maze_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match=r"^name is 'narow-t', .*; did you mean 'narrow-t'\?$"):
        maze("narow-t")


def test_the_triple_t_maze_has_the_eight_distances_and_a_perfect_agent_of_38_5() -> None:
    maze = triple_t_maze()
    assert maze.shape == (29, 29)
    assert (maze.start, maze.heading) == ((26, 14), "north")
    assert maze.finals == tuple((row, column) for row in (2, 26) for column in (1, 10, 18, 27))
    # by hand: 15 north into the bar, 7 aside to the corridor's edge, then 9 north or 15 south in it,
    # and on for 6 aside to an outer final position, or 3 back to an inner one
    assert maze.start_distances == (37, 34, 34, 37, 43, 40, 40, 43)
    assert np.mean(maze.start_distances) == 38.5
    # the start lies in the middle of the stem: nothing is near
    assert maze.sense(maze.start, NORTH) == (0, 0, 0)
    for final in maze.finals:  # in the middle of an end: a wall on one side alone
        assert [maze.walls[cell] for cell in around(final)].count(True) == 1
    assert (maze.walls == maze.walls[:, ::-1]).all()


@pytest.mark.parametrize(
    ("name", "finals", "distances"),
    [
        # by hand: 10 north, 7 aside, 8 north, 4 or 3 aside, 8 north, 2 aside
        (
            "narrow-t",
            [(1, column) for column in (1, 5, 8, 12, 16, 20, 23, 27)],
            (39, 39, 38, 38, 38, 38, 39, 39),
        ),
        # by hand: 13 north, 9 aside, 12 north or 13 south, 4 aside
        (
            "narrow-h",
            [(27, 9), (27, 1), (2, 1), (2, 9), (2, 19), (2, 27), (27, 27), (27, 19)],
            (39, 39, 38, 38, 38, 38, 39, 39),
        ),
    ],
)
def test_the_narrow_mazes_have_the_same_perfect_agent(
    name: str, finals: list[tuple[int, int]], distances: tuple[int, ...]
) -> None:
    narrow = maze(name)
    assert (narrow.shape, narrow.start) == ((29, 29), (27, 14))
    assert narrow.finals == tuple(finals)
    assert narrow.start_distances == distances
    assert np.mean(narrow.start_distances) == 38.5
    assert narrow.sense(narrow.start, NORTH) == (1, 0, 1)


def around(cell: tuple[int, int]) -> list[tuple[int, int]]:
    """Return the four neighbours of a cell."""
    row, column = cell
    return [(row - 1, column), (row, column + 1), (row + 1, column), (row, column - 1)]


def ways(maze: Maze) -> tuple[int, ...]:
    """Return how far the final positions are, wave by wave from the start, over the picture alone."""
    open_cells = {
        (row, column)
        for row, line in enumerate(maze.picture)
        for column, symbol in enumerate(line)
        if symbol != "#"
    }
    reached, wave = {maze.start: 0}, [maze.start]
    while wave:
        wave = sorted({cell for one in wave for cell in around(one)} & open_cells - reached.keys())
        reached.update(dict.fromkeys(wave, max(reached.values()) + 1))
    assert reached.keys() == open_cells  # nothing is closed off
    return tuple(reached[final] for final in maze.finals)


def squares(maze: Maze, side: int) -> NDArray[np.bool_]:
    """Return where the upper left corners of open squares of this size are."""
    return np.asarray(sliding_window_view(~maze.walls, (side, side)).all(axis=(2, 3)))


def assert_corridors(maze: Maze, width: int) -> None:
    """Assert that all corridors are this wide, no more and no less, and that no two ways lead anywhere."""
    covered = np.zeros(maze.shape, bool)
    for row, column in zip(*np.nonzero(squares(maze, width)), strict=True):
        covered[row : row + width, column : column + width] = True
    assert (covered == ~maze.walls).all()  # nowhere less
    assert not squares(maze, width + 1).any()  # nowhere more
    # No loops, in which walls would stand: cells − edges + squares of four is 1 for what has no holes.
    open_cells = ~maze.walls
    edges = (open_cells[1:] & open_cells[:-1]).sum() + (open_cells[:, 1:] & open_cells[:, :-1]).sum()
    assert open_cells.sum() - edges + squares(maze, 2).sum() == 1


@pytest.mark.parametrize(("name", "width"), [("triple-t", 3), ("narrow-t", 1), ("narrow-h", 1)])
def test_the_corridors_of_a_named_maze_are_as_wide_as_it_says(name: str, width: int) -> None:
    assert_corridors(maze(name), width)
    assert maze(name).start_distances == ways(maze(name))


LEVELS_AND_WIDTHS = [(levels, width) for levels in range(1, 5) for width in range(1, 6)]


@pytest.mark.parametrize(("levels", "width"), LEVELS_AND_WIDTHS)
def test_a_t_maze_has_corridors_of_its_width_and_twice_as_many_ends_with_every_level(
    levels: int, width: int
) -> None:
    maze = t_maze(levels, width)
    assert maze.symbols == FINALS[: 2**levels]
    assert_corridors(maze, width)
    assert maze.start_distances == ways(maze)
    # All final positions lie in one row, as far below the top as the start is above the foot.
    assert {row for row, _ in maze.finals} == {1 + (width - 1) // 2}
    assert maze.start[0] == 8 * levels + 2 + maze.finals[0][0]
    assert maze.start[0] + maze.finals[0][0] == maze.shape[0] - 1
    assert maze.heading == "north"


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
    assert problem in refused(lambda: Maze.from_text(picture))


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
