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
    """Make a large empty maze, where steps hardly repeat."""
    inside = ["#" + "." * 39 + "#"] * 37
    return Maze(("#" * 41, "#S" + "." * 37 + "0#", *inside, "#1" + "." * 38 + "#", "#" * 41))
