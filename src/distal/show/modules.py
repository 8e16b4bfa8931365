"""The JavaScript of a page: modules that import one another, joined into one script.

The files in `page/` are ES modules. A page is one file that opens from disk, so they are joined:
each comes after the modules that it imports, without its imports and exports. They share one
scope, in which every name is defined once.
"""

from __future__ import annotations

import re
from importlib import resources

_IMPORT = re.compile(r'^import \{[^}]*\} from "\./(\w+)\.js";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=function|const|let|class)", re.MULTILINE)


def asset(name: str) -> str:
    """Return a file of the page."""
    return (resources.files("distal.show") / "page" / name).read_text(encoding="utf-8")


def joined(wanted: str) -> str:
    """Return one script of a module and all its imports, each module after its own imports."""
    sources: dict[str, str] = {}

    def add(name: str) -> None:
        source = asset(f"{name}.js")
        for imported in _IMPORT.findall(source):
            if imported not in sources:
                add(imported)
        sources[name] = _EXPORT.sub("", _IMPORT.sub("", source))

    add(wanted)
    return "\n".join(sources.values())
