"""`write_report` for all studies, until tasks and beyond are in `registry`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from distal.base.checks import folder
from distal.studies import beyond_report, registry, task_report
from distal.studies.beyond_study import BeyondStudy
from distal.studies.task_study import TaskStudy


def write_report(result: Any, out: str | Path) -> Path:
    """Write figures, tables, numbers and the page into a folder; return the path of the page.

    The folder is that of the work itself, or any that holds no file of these names.
    """
    if isinstance(result, TaskStudy):
        return task_report.write(result, folder("out", out))
    if isinstance(result, BeyondStudy):
        return beyond_report.write(result, folder("out", out))
    return registry.write_report(result, out)
