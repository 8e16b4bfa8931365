"""`distal maze`: draw a maze."""

from __future__ import annotations

import argparse
from typing import Any

from rich.columns import Columns
from rich.text import Text

from distal.base.checks import InputError
from distal.base.files import SVG, check_target, write_text
from distal.cli import Parser, add_options, options
from distal.cli.terminal import console, new_table, print_json
from distal.model.maze import DEFAULT_MAZE, EMPTY, MAZES, WALL, Maze, maze


def add(command: Parser) -> None:
    """Add the description and the options."""
    command.description = "Draw a maze and list its final positions and their distances from the start."
    command.add_argument("name", nargs="?", metavar="MAZE", help=options.maze_help())
    add_options(command, {
        "--list": "list the named mazes with small pictures",
    })  # fmt: skip
    options.add_levels(command, ", as a text picture only")
    add_options(command, {
        "--out OUT": "also write the text picture to a file",
        "--svg OUT": "also write the picture to an SVG file",
    })  # fmt: skip
    options.add_heading(command)


def run(args: argparse.Namespace) -> None:
    """Draw a maze."""
    built = options.levels_maze(args)
    if built is not None and args.name is not None:
        raise InputError(f"--levels and the maze {args.name!r} are both given; leave one out")
    if args.list:
        for option in ("name", "levels", "out", "svg"):
            if getattr(args, option) is not None:
                raise InputError("--list shows all mazes that have a name; leave out everything else")
        show_list(args.json)
        return
    chosen = options.maze(args.name, args.heading) if built is None else built
    drawn = {args.out: f"{chosen}\n", args.svg: chosen.to_svg()}
    targets = [file for file in drawn if file is not None]
    for file in targets:
        check_target(file, _PICTURE if file == args.out else SVG)
    for file in targets:
        write_text(file, drawn[file])
    if args.json:
        print_json(described(chosen))
    elif args.levels is not None and not targets:  # so that `>` makes a maze file
        console().print(*chosen.picture, sep="\n", soft_wrap=True)
    else:
        show_maze(chosen)


def described(maze: Maze) -> dict[str, Any]:
    """Return a maze, its final positions and their distances, ready for JSON."""
    finals = [
        {"symbol": symbol, "row": cell[0], "column": cell[1], "distance": distance}
        for symbol, cell, distance in zip(maze.symbols, maze.finals, maze.start_distances, strict=True)
    ]
    return {
        "picture": list(maze.picture),
        "rows": maze.shape[0],
        "columns": maze.shape[1],
        "start": {"row": maze.start[0], "column": maze.start[1]},
        "heading": maze.heading,
        "finals": finals,
        "perfect_agent": maze.perfect,
    }


# Two rows of cells, upper and lower, in one character: wall or not.
_PICTURE = rb"###"  # what the text picture of a maze begins with
_HALVES = {(True, True): "█", (True, False): "▀", (False, True): "▄", (False, False): " "}


def small(maze: Maze) -> list[str]:
    """Draw a maze with two rows of cells to a line; start and final positions keep their symbols."""
    lines = []
    for row in range(0, maze.shape[0], 2):
        upper = maze.picture[row]
        lower = maze.picture[row + 1] if row + 1 < maze.shape[0] else EMPTY * maze.shape[1]
        marks = [
            next((one for one in pair if one not in (WALL, EMPTY)), None)
            for pair in zip(upper, lower, strict=True)
        ]
        halves = [_HALVES[one == WALL, other == WALL] for one, other in zip(upper, lower, strict=True)]
        lines.append("".join(mark or half for mark, half in zip(marks, halves, strict=True)))
    return lines


def show_list(as_json: bool) -> None:
    """Print the mazes that have a name, side by side where there is room."""
    named = {name: maze(name) for name in MAZES}
    if as_json:
        print_json({name: described(one) for name, one in named.items()})
        return
    out = console()
    cards = []
    for name, one in named.items():
        rows, columns = one.shape
        title = f"{name} (default)" if name == DEFAULT_MAZE else name
        about = [title, f"{rows} × {columns}, perfect agent {one.perfect:.2f}"]
        cards.append(Text("\n".join([*about, *small(one)]), no_wrap=True))
    out.print(Columns(cards, padding=(1, 3)))


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
    out.print(f"perfect agent (mean distance)  {maze.perfect:.2f}")
