"""`distal maze`: draw a maze."""

from __future__ import annotations

import argparse

from distal.base.checks import InputError
from distal.base.files import check_target, write_text
from distal.cli import options
from distal.cli.parser import Commands, add_command, whole
from distal.cli.terminal import console, new_table, print_json
from distal.model.maze import Maze, t_maze


def add(commands: Commands) -> None:
    """Add the command."""
    command = add_command(commands, "maze", run, "draw a maze, its final positions and distances")
    command.add_argument(
        "file", nargs="?", metavar="FILE", help="a maze as a text picture; the triple T-maze if left out"
    )
    command.add_argument(
        "--levels", type=whole, metavar="N", help="a T-maze of 1 to 4 levels, as a text picture and no more"
    )
    command.add_argument("--out", metavar="OUT", help="also write the text picture to a file")
    command.add_argument("--svg", metavar="OUT", help="also write the picture to an SVG file")
    options.add_heading(command)


def run(args: argparse.Namespace) -> None:
    """Draw a maze."""
    if args.levels is None:
        maze = options.maze(args.file, args.heading)
    elif args.file is None:
        maze = Maze(t_maze(args.levels).picture, args.heading)
    else:
        raise InputError(f"--levels and the file {args.file!r} are both given; leave one out")
    drawn = {args.out: f"{maze}\n", args.svg: maze.to_svg()}
    targets = [file for file in drawn if file is not None]
    for file in targets:
        check_target(file)
    for file in targets:
        write_text(file, drawn[file])
    if args.json:
        finals = [
            {"symbol": symbol, "row": cell[0], "column": cell[1], "distance": distance}
            for symbol, cell, distance in zip(maze.symbols, maze.finals, maze.start_distances, strict=True)
        ]
        print_json(
            {
                "picture": list(maze.picture),
                "rows": maze.shape[0],
                "columns": maze.shape[1],
                "start": {"row": maze.start[0], "column": maze.start[1]},
                "heading": maze.heading,
                "finals": finals,
                "perfect_agent": perfect_agent(maze),
            }
        )
    elif args.levels is not None and not targets:  # so that `>` makes a maze file
        console().print(*maze.picture, sep="\n", soft_wrap=True)
    else:
        show_maze(maze)


def show_maze(maze: Maze) -> None:
    """Print a maze, its final positions and their distances."""
    out = console()
    rows, columns = maze.shape
    out.print(*maze.picture, sep="\n", soft_wrap=True)
    out.print()
    out.print(
        f"{rows} × {columns} cells, start at row {maze.start[0]}, column {maze.start[1]}, "
        f"heading {maze.heading}"
    )
    table = new_table("final position", "row", "column", "distance")
    for symbol, cell, distance in zip(maze.symbols, maze.finals, maze.start_distances, strict=True):
        table.add_row(symbol, str(cell[0]), str(cell[1]), str(distance))
    out.print(table)
    out.print(f"perfect agent (mean distance)  {perfect_agent(maze):.2f}")


def perfect_agent(maze: Maze) -> float:
    """Return the mean distance from the start to the final positions."""
    return sum(maze.start_distances) / len(maze.start_distances)
