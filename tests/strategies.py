"""Random mazes, tables, rules and settings for the property tests."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from distal.learners.chance import Chance
from distal.learners.dsp import Rule
from distal.learners.eligibility import Eligibility
from distal.learners.evolution_strategy import EvolutionStrategy
from distal.learners.hebbian import COEFFICIENTS
from distal.learners.hill_climbing import HillClimbing
from distal.model.maze import FINALS, HEADINGS, Maze
from distal.model.readings import READINGS
from distal.model.settings import Settings
from distal.tasks.table import Table

unit = st.floats(0, 1, width=32)


@st.composite
def mazes(draw: st.DrawFn, side: int = 9) -> Maze:
    """Mazes carved by a random walk, one to four cells wide, so that every empty cell is within reach."""
    rows = draw(st.integers(3, side))
    columns = draw(st.integers(4, side))
    cell = (draw(st.integers(1, rows - 2)), draw(st.integers(1, columns - 2)))
    width = draw(st.sampled_from([1, 1, 2, 3, 4]))  # of the walk
    start, visited = cell, [cell]
    for row_step, column_step in draw(
        st.lists(st.sampled_from([(-1, 0), (1, 0), (0, -1), (0, 1)]), min_size=4, max_size=60)
    ):
        row, column = cell[0] + row_step, cell[1] + column_step
        if 1 <= row <= rows - 2 and 1 <= column <= columns - 2:
            cell = (row, column)
            visited += [
                (row + k // width, column + k % width)
                for k in range(width**2)
                if row + k // width <= rows - 2 and column + k % width <= columns - 2
            ]
    empty = sorted(set(visited) - {start})
    if not empty:  # the walk never left: open the neighbour that exists in every size
        empty = [(start[0], start[1] + 1 if start[1] + 1 <= columns - 2 else start[1] - 1)]
    finals = draw(st.lists(st.sampled_from(empty), unique=True, min_size=1, max_size=5))
    symbols = draw(st.permutations(FINALS))[: len(finals)]
    grid = [["#"] * columns for _ in range(rows)]
    for row, column in empty:
        grid[row][column] = "."
    for (row, column), symbol in zip(finals, symbols, strict=True):
        grid[row][column] = symbol
    grid[start[0]][start[1]] = "S"
    return Maze(tuple("".join(line) for line in grid), draw(st.sampled_from(HEADINGS)))


rules = st.builds(
    Rule,
    delta_w=st.lists(st.integers(-1, 1), min_size=32, max_size=32),
    eta=unit,
    theta=unit,
    alpha_h=unit,
    alpha_o=unit,
)

climbers = st.builds(HillClimbing, sigma=unit, alpha_h=unit, alpha_o=unit)
strategists = st.builds(
    EvolutionStrategy, sigma=unit, factor=st.floats(1, 2, width=32), alpha_h=unit, alpha_o=unit
)
signed = st.floats(-1, 1, width=32)
counted = st.builds(
    Eligibility, **dict.fromkeys(COEFFICIENTS, signed), decay=st.just(1), eta=unit, alpha_h=unit, alpha_o=unit
)
chances = st.builds(Chance, alpha_h=unit, alpha_o=unit)


def settings_of(max_hidden: int = 12, max_steps: int = 40) -> st.SearchStrategy[Settings]:
    """Make settings with any combination of readings."""
    readings = {name: st.sampled_from(tuple(values)) for name, values in READINGS.items()}
    return st.builds(Settings, hidden=st.integers(1, max_hidden), steps=st.integers(1, max_steps), **readings)


seeds = st.integers(0, 2**64 - 1)


@st.composite
def tables(draw: st.DrawFn, most_inputs: int = 64, most_actions: int = 16) -> Table:
    """Tables of a few states in which anything may follow, cost or end anything.

    Every other one has three inputs and four actions, for which there is code of its own.
    """
    inputs, actions = draw(
        st.just((3, 4)) | st.tuples(st.integers(1, most_inputs), st.integers(1, most_actions))
    )
    states, goals, events = draw(st.integers(1, 7)), draw(st.integers(1, 3)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    costs = random.integers(-20, 20, (goals, events))
    ends = random.random((goals, events)) < 0.3
    costs[:, 0] = ends[:, 0] = 0
    return Table(
        observations=random.integers(0, 2, (states, inputs), np.uint8),
        following=random.integers(0, states, (states, actions), np.int32),
        events=random.integers(0, events, (states, actions), np.uint8),
        costs=costs.astype(np.int32),
        ends=ends,
        left=random.integers(-50, 50, (goals, states), np.int32),
        start=random.integers(0, states, goals, np.int32),
        step_cost=draw(st.integers(-3, 7)),
    )
