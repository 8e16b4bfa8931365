"""`write_report`: what `reproduce`, or one of the studies, returned, as a folder of files."""

from __future__ import annotations

from pathlib import Path

from distal.base.checks import folder, instance
from distal.studies import beyond_report, reading_report, report, task_report
from distal.studies.beyond_study import BeyondStudy
from distal.studies.experiments import Reproduction
from distal.studies.reading_study import ReadingStudy
from distal.studies.task_study import TaskStudy


def write_report(result: Reproduction | ReadingStudy | TaskStudy | BeyondStudy, out: str | Path) -> Path:
    """Write figures, tables, numbers and the page into a folder; return the path of the page.

    The folder is that of the work itself, or any that holds no file of these names.
    """
    out = folder("out", out)
    if isinstance(result, ReadingStudy):
        return reading_report.write(result, out)
    if isinstance(result, TaskStudy):
        return task_report.write(result, out)
    if isinstance(result, BeyondStudy):
        return beyond_report.write(result, out)
    expected = "what reproduce, study_readings, study_tasks or study_beyond returns"
    return report.write(instance("result", result, Reproduction, expected), out)
