"""Mazes that several tests walk."""

from __future__ import annotations

from distal import Maze

# A single T: start (3,2), stem (2,2), junction (1,2), final positions (1,1) and (1,3).
T = Maze.from_text(
    """
#####
#0.1#
##.##
##S##
#####
"""
)


def wide_maze() -> Maze:
    """Make a large empty maze, where steps hardly repeat; its table is narrow for engine cpu."""
    inside = ["#" + "." * 29 + "#"] * 27
    return Maze(("#" * 31, "#S" + "." * 27 + "0#", *inside, "#1" + "." * 28 + "#", "#" * 31))
