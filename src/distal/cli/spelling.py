"""Refusals in the words of the command line: `switch` in Python is `--switch` there."""

from __future__ import annotations

import re
from collections.abc import Collection

# An argument that a refusal begins with, as in "wrap holds 3".
_BEGIN = re.compile(r"([a-z_]+)(?= (?:is|holds|has|names) )")
_OTHERS = {"scale": "--reward-scale", "args": "--env-arg"}  # arguments whose option has another name

# What to do in Python, and on the command line, which always keeps the EP of every episode.
_WORDS = (
    (r", pass chance=False or keep_ep=False or keep_weights=False", ", add --no-chance, leave out --save"),
    (r", pass keep_ep=False or keep_weights=False", ", leave out --save"),
    (r", pass chance=False or keep_ep=False", ", add --no-chance"),
    (r", pass keep_ep=False", ""),
    (r"pass actions='(\S+)'", r"add --actions \1"),
    (r"write (network|neurons)='(\S+)'", r"add --\1 \2"),
    (r"make it with (\w+=\S+), or leave steps out", r"add --env-arg \1, or leave --steps out"),
    (r"\bstarts=(\d+)", r"--starts \1"),
    (r"leave scale out", "leave --reward-scale out"),
    (r"continue with resume\b", "continue with --resume"),
    (r"\bforce=True\b", "--force"),
    (r"is known when its module has been imported", "needs --import MODULE"),
    (r": import its module first", ": add --import MODULE"),
    (r": import (\S+) first", r": add --import \1"),
)


def spelled(refusal: str, options: Collection[str]) -> str:
    """Return a refusal that names the options of a command where it named arguments of Python.

    Args:
        refusal: The line, as Python has it.
        options: The options of the command, as "--switch".
    """
    for python, here in _WORDS:
        refusal = re.sub(python, here, refusal)
    found = _BEGIN.match(refusal)
    if found is None:
        return refusal
    option = f"--{found[1].replace('_', '-')}"
    if option not in options:
        option = _OTHERS.get(found[1], "")
    return f"{option}{refusal[found.end() :]}" if option in options else refusal
