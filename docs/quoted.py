"""Check the numbers that a hand-written page quotes against the JSON files that they come from.

    python docs/quoted.py docs/champions.md

A comment after a paragraph, a list or a table names the source of each number in it, in order:

    The champion's mean is 57.93 (57.28 to 58.59), where chance has 94.44.

    <!-- numbers of champions.json
    champions/0/record/held_out/{fitness,low,high,chance}
    -->

A source is a path: keys, places in a list, or `name=value` for the entry of a list with that value;
braces are expanded as in a shell. A source that begins with `=` is Python, in which `at(path)` is a
number. `better(path)`, `worse(path)` and `count(path)` say how many of the comparisons that the path
matches (`*` matches any key) are shown to be better, are shown to be worse, and exist; `largest(path)`
is the largest of the numbers that it matches, `mean(path)` their mean. The file is relative to the page.
Where numbers of one paragraph come from two files, two comments follow it.

A number has to be what the page would write with as many digits: 0.907 is 90.7%, 1234.5 is 1,235,
and 0.00002 is "< 0.0001". Numbers that are no results are named once on the page, with their words:

    <!-- no results: 100 episodes; 95%; phases 2 to 5 -->

Code, links and comments are not looked at; folded parts (`<details>`) are. If only a part of a page
is to be held to its numbers, that part begins with `<!-- numbers begin -->` and ends with
`<!-- numbers end -->`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import cache
from itertools import zip_longest
from pathlib import Path
from typing import Any

from distal.base.significance import SIGNIFICANT

BEGIN, END = "<!-- numbers begin -->", "<!-- numbers end -->"
NUMBER = re.compile(r"(?<![\w.,:^-])(?:< )?[+−]?\d+(?:,\d{3})*(?:\.\d+)?%?(?![\w^])")
_SOURCES = re.compile(r"<!-- numbers of (?P<file>[^\s:]+):?\s(?P<paths>.*?)-->", re.DOTALL)
_NO_RESULTS = re.compile(r"<!-- no results:(.*?)-->", re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_UNSEEN = re.compile(r"```.*?^```$|`[^`\n]*`|\]\([^)]*\)", re.DOTALL | re.MULTILINE)
_BRACES = re.compile(r"\{([^{}]*)\}")


def problems(text: str, folder: Path) -> list[str]:
    """Return a line for each thing that is wrong with the numbers of a page in a folder."""
    if BEGIN in text:
        text = text.partition(BEGIN)[2].partition(END)[0]
    phrases = [one.strip() for found in _NO_RESULTS.findall(text) for one in found.split(";")]
    plain = _words(_COMMENT.sub("", text))
    found = [
        f"{phrase!r} is on the list of what is no result, but not on the page"
        for phrase in phrases
        if _words(phrase) not in plain
    ]
    text = _UNSEEN.sub(" ", text)
    for chunk, sources in _chunks(text):
        quoted = [one.group().strip() for one in NUMBER.finditer(_without(chunk, phrases))]
        numbers = [one for file, paths in sources for one in _numbers(folder / file, paths)]
        if len(quoted) != len(numbers):
            said = f"{len(quoted)} numbers have {len(numbers)} sources after “{chunk.strip()[:60]}…”:"
            pairs = zip_longest(quoted, [path for path, _ in numbers], fillvalue="–")
            found.append("\n".join([said, *(f"  {quote}: {path}" for quote, path in pairs)]))
        else:
            found += [
                f"{quote} is quoted where {path} is {number!r}"
                for quote, (path, number) in zip(quoted, numbers, strict=True)
                if not agrees(quote, number)
            ]
    return found


def agrees(quote: str, number: float) -> bool:
    """Say whether a quoted number is what the page would write with as many digits."""
    plain = quote.replace(",", "").replace("−", "-")
    if plain.startswith("<"):
        return number < float(plain[1:])
    percent = plain.endswith("%")
    digits = len(plain.rstrip("%").partition(".")[2])
    sign = "+" if plain.startswith("+") else ""
    return f"{100 * number if percent else number:{sign}.{digits}f}" == plain.rstrip("%")


def _chunks(text: str) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield every part of a page that ends with comments on its sources, and these; the rest has none."""
    start, chunk = 0, ""
    sources: list[tuple[str, str]] = []
    for one in _SOURCES.finditer(text):
        between = text[start : one.start()]
        if between.strip() and sources:
            yield chunk, sources
            chunk, sources = "", []
        chunk += between
        sources.append((one["file"], one["paths"]))
        start = one.end()
    yield chunk, sources
    yield text[start:], []


def _without(chunk: str, phrases: list[str]) -> str:
    """Return a part of a page without its comments, and without phrases that hold no results."""
    text = _words(_COMMENT.sub(" ", chunk))
    for phrase in sorted(phrases, key=len, reverse=True):
        text = re.sub(rf"(?<!\w){re.escape(_words(phrase))}(?!\w)", " ", text)
    return text


def _words(text: str) -> str:
    """Return text without emphasis and line breaks."""
    return " ".join(text.replace("**", "").split())


def _numbers(file: Path, paths: str) -> list[tuple[str, float]]:
    """Return the numbers that sources name, each with its source."""
    data = _read(file)
    found = []
    for source in (one.strip() for one in re.split(r"[;\n]", paths)):
        if source.startswith("="):
            found.append((source, _computed(data, source[1:].strip())))
        elif source:
            found += [(path, _one(data, path)) for path in _expanded(source)]
    return found


@cache
def _read(file: Path) -> Any:
    return json.loads(file.read_text(encoding="utf-8"))


def _expanded(source: str) -> list[str]:
    """Return all paths that one with braces stands for, the last braces first."""
    inner = _BRACES.search(source)
    if inner is None:
        return [source]
    before, after = source[: inner.start()], source[inner.end() :]
    return [path for word in inner[1].split(",") for path in _expanded(f"{before}{word.strip()}{after}")]


def _matches(data: Any, path: str) -> list[Any]:
    """Return everything that a path leads to."""
    found = [data]
    for key in path.split("/"):
        field, _, value = key.partition("=")
        found = [
            one
            for place in found
            for name, one in (place.items() if isinstance(place, dict) else enumerate(place))
            if fnmatchcase(str(name), key)
            or (value and isinstance(one, dict) and fnmatchcase(str(one.get(field)), value))
        ]
    return found


def _one(data: Any, path: str) -> float:
    found = _matches(data, path)
    if len(found) != 1 or not isinstance(found[0], int | float):
        raise LookupError(f"{path} leads to {len(found)} places or to no number")
    return found[0]


def _computed(data: Any, source: str) -> float:
    """Return the number that a source in Python gives."""

    def shown(path: str, sign: int) -> int:
        return sum(
            one.get("corrected", one["p"]) < SIGNIFICANT and sign * one.get("difference", one)["value"] > 0
            for one in _matches(data, path)
        )

    known = {
        "at": lambda path: _one(data, path),
        "better": lambda path: shown(path, -1),
        "worse": lambda path: shown(path, 1),
        "count": lambda path: len(_matches(data, path)),
        "largest": lambda path: max(_matches(data, path)),
        "mean": lambda path: sum(_matches(data, path)) / len(_matches(data, path)),
    }
    return float(eval(source, {"__builtins__": {}}, known))  # noqa: S307 - our own pages


if __name__ == "__main__":
    pages = map(Path, sys.argv[1:])
    wrong = [f"{page}: {one}" for page in pages for one in problems(page.read_text("utf-8"), page.parent)]
    sys.exit("\n".join(wrong) or 0)
