"""The studies by the words of their commands, and the reports of what they give."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from distal.base.checks import InputError, folder
from distal.studies.beyond import Beyond
from distal.studies.champions import Champions
from distal.studies.experiments import Experiments
from distal.studies.readings import Readings
from distal.studies.rivals import Rivals
from distal.studies.study import Study
from distal.studies.tasks import Tasks

STUDIES: tuple[type[Study[Any]], ...] = (
    Experiments, Readings, Tasks, Beyond, Rivals, Champions,
)  # fmt: skip


def write_report(result: Any, out: str | Path) -> Path:
    """Write figures, tables, numbers and the page into a folder; return the path of the page.

    Args:
        result: The outcome of a study: what `reproduce`, `study_readings`, `study_tasks`,
            `study_beyond`, `study_rivals` or `champions` returns.
        out: The folder of the work itself, or any that holds no file of these names.

    Raises:
        InputError: If the result is something else, or the folder cannot be used.
    """
    out = folder("out", out)
    for study in STUDIES:
        if isinstance(result, study.report_class.of):
            return study.report_class(result).write(out)
    raise InputError(
        f"result is a {type(result).__name__}, expected what reproduce, study_readings, study_tasks, "
        "study_beyond or study_rivals returns"
    )
