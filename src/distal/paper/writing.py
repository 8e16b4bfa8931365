"""`write_report`: what `reproduce` or `study_readings` returned, as a folder of files."""

from __future__ import annotations

from pathlib import Path

from distal.base.checks import folder, instance
from distal.paper import reading_report, report
from distal.paper.experiments import Reproduction
from distal.paper.reading_study import ReadingStudy


def write_report(result: Reproduction | ReadingStudy, out: str | Path) -> Path:
    """Write figures, tables, numbers and the page into a folder; return the path of the page.

    The folder is that of the work itself, or any that holds no file of these names.
    """
    out = folder("out", out)
    if isinstance(result, ReadingStudy):
        return reading_report.write(result, out)
    expected = "what reproduce or study_readings returns"
    return report.write(instance("result", result, Reproduction, expected), out)
