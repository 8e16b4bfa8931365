"""Count how far a reader of the code walks who follows a command from its start to its end.

    git worktree add /tmp/before COMMIT
    python benchmarks/journeys.py [/tmp/before] [--only learn] [--calls]

For `distal learn evolved:1`, a tiny `distal evolve`, `distal reproduce` at a tiny scale and
`distal watch evolved:1`, each in a process of its own, prints three numbers:

- files: the distinct files of the package that hold a function which runs;
- functions: the distinct functions that run. Bodies of modules, comprehensions, generator
  expressions and lambdas are none of their own, and a call made while a module is imported is not counted:
  it belongs to the import, not to the command;
- switches: the functions in the order of their first calls, and how often the file changes from
  one to the next. It is the number of times that a reader who meets every function once opens another file.

The command runs once untraced first, so that what the cpu engine compiles and keeps is there. Takes about
a minute. `--calls` also lists the functions in that order, a line for each stay in a file.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS = {
    "learn": ["learn", "evolved:1"],
    "evolve": [
        "evolve",
        "--runs",
        "1",
        "--generations",
        "2",
        "--trials",
        "1",
        "--episodes",
        "5",
        "--out",
        "OUT/evolved",
    ],
    "reproduce": ["reproduce", "--out", "OUT/reproduction"],
    "watch": ["watch", "evolved:1", "--episodes", "100", "--out", "OUT/watch.html"],
}

# Runs in a process of its own, where `distal` is the checkout's.
TRACED = """
import json, sys
import distal
from pathlib import Path
from distal.cli import main

def scale_down():
    try:
        from distal.studies.plans.reproduce import Experiments as home
    except ImportError:  # before version 0.5
        import distal.paper.experiments as home
    quick = home.SCALES["quick"]
    home.SCALES["quick"] = type(quick)("quick", runs=2, generations=1, episodes=120)

package = str(Path(distal.__file__).parent) + "/"
calls, seen, importing = [], set(), 0

def note(frame, event, _):
    global importing
    code = frame.f_code
    if code.co_name == "<module>" or code.co_filename == "<frozen importlib._bootstrap>":
        importing += (event == "call") - (event == "return")
    elif event == "call" and not importing and code.co_filename.startswith(package):
        if code not in seen and not code.co_name.startswith("<"):
            seen.add(code)
            calls.append((code.co_filename.removeprefix(package), code.co_qualname))

arguments, traced = json.loads(sys.argv[1]), sys.argv[2]
if arguments[0] == "reproduce":
    scale_down()
sys.setprofile(note if traced else None)
code = main(arguments)
sys.setprofile(None)
if code:
    raise SystemExit(code)
if traced:
    Path(traced).write_text(json.dumps(calls))
"""


def calls(checkout: Path, arguments: list[str]) -> list[tuple[str, str]]:
    """Return the file and the name of each function that a command runs, in the order of first calls."""
    for traced in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            given = json.dumps([word.replace("OUT", folder) for word in arguments])
            listed = Path(folder, "calls.json")
            subprocess.run(
                [sys.executable, "-c", TRACED, given, str(listed) if traced else ""],
                check=True,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                env={**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")},
            )
            if traced:
                return [(file, name) for file, name in json.loads(listed.read_text())]
    raise AssertionError("the second run is traced")


def main() -> None:
    """Count and print."""
    parser = argparse.ArgumentParser(description="Count the files and functions that commands run through.")
    parser.add_argument("checkout", nargs="?", type=Path, default=Path(__file__).parents[1])
    parser.add_argument("--only", choices=COMMANDS)
    parser.add_argument("--calls", action="store_true", help="list the functions, a line for each stay")
    args = parser.parse_args()
    say("| journey | files | functions | switches between files |\n|---|---|---|---|")
    for command in [args.only] if args.only else COMMANDS:
        found = calls(args.checkout, COMMANDS[command])
        stays: list[tuple[str, list[str]]] = []
        for file, name in found:
            if not stays or stays[-1][0] != file:
                stays.append((file, []))
            stays[-1][1].append(name)
        files = {file for file, _ in found}
        say(f"| `distal {command}` | {len(files)} | {len(found)} | {len(stays) - 1} |")
        for file, names in stays if args.calls else []:
            say(f"{file}: {', '.join(names)}")


def say(line: str) -> None:
    """Print a line at once."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
