"""A trial as a page: one HTML file that shows every step of learning.

The page holds the inputs of the trial, and the EP of every episode from the reference engine. Its
JavaScript (`page/replay.js`) computes the trial again, bit for bit, and reports any EP that
differs. So a page is small, however long the trial. If the script has no code for a learner, or the
task is not a maze, the page holds a recording and plays it.
"""

from __future__ import annotations

import html
import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from distal.base.checks import straight
from distal.base.colours import DARK, LIGHT, css
from distal.learners import Learner, embedded
from distal.learners.dsp import Rule
from distal.model.readings import READINGS, default
from distal.show.chance_curve import CHANCE_TRIALS, VISIBLE, visible_points
from distal.show.modules import asset, joined
from distal.show.recording import Recording, table_of

if TYPE_CHECKING:
    from distal.show.watched import Watched

_PIXELS = 200  # at most, of the height of the curve
# An escaped backslash, or an escaped character that turns the direction of writing round.
_TURNING = re.compile(r"\\(\\|u(?:061c|200[ef]|202[a-e]|206[6-9]))")


def to_html(watched: Watched) -> str:
    """Return the page."""
    return _filled(
        asset("watch.html"),
        {
            "title": html.escape(straight(watched.title)),
            "style": _filled(asset("watch.css"), {"light": css(LIGHT), "dark": css(DARK)}),
            "data": _for_script(page_data(watched)),
            "script": joined("watch"),
        },
    )


def page_data(watched: Watched) -> dict[str, Any]:
    """Return what the page holds: all that decides the trial, and the EPs to compare with.

    Of a learner that the page cannot compute it holds a recording.
    """
    batch, seed = watched.batches[0], int(watched.batches[0].seed[0])
    learners = (batch.learners[0] for batch in watched.batches)
    content = map(_content, learners, watched.recordings, watched.usage)
    return {
        "title": watched.title,
        "phases": {"every": batch.phase, "goals": watched.goals},
        "evaluation_seed": str(watched.seed),  # 64 bits are more than a JavaScript number holds
        "seed": [seed & 0xFFFFFFFF, seed >> 32],
        "resample": batch.resample,
        "settings": batch.settings.to_dict(),
        "defaults": {name: default(name) for name in READINGS},
        **({"task": _table_data(watched)} if watched.task.maze is None else watched.task.fields()),
        "learners": [
            {**own, "name": name, "eps": eps}
            for own, name, eps in zip(content, watched.names, watched.eps.tolist(), strict=True)
        ],
        "chance": {"trials": CHANCE_TRIALS, "curve": _chance_line(watched)},
    }


def _content(
    learner: Learner, recording: Recording | None, usage: NDArray[np.int64] | None
) -> dict[str, Any]:
    """Return what the page holds of a learner: all that decides what it does, or what it did."""
    if recording is None:
        return {"kind": learner.kind, **embedded(learner)}
    content = {"kind": learner.kind, "label": learner.label, "numbers": learner.numbers}
    if not isinstance(learner, Rule) or usage is None:
        return {**content, "recording": recording.to_dict()}
    rows = {"delta_w": list(learner.delta_w), "usage": usage.tolist()}
    return {**content, "recording": recording.to_dict(), **rows}


def _chance_line(watched: Watched) -> list[tuple[int, float]]:
    """Return (episode, from 0, and value) of a line through chance, which falls in each phase."""
    phase, visible = watched.batches[0].phase, VISIBLE
    if watched.task.maze is None:
        visible = float(np.ptp(np.append(watched.eps, watched.chance))) / _PIXELS
    return [
        (first + episode, value)
        for first in range(0, len(watched.chance), phase)
        for episode, value in visible_points(watched.chance[first : first + phase], visible)
    ]


def _table_data(watched: Watched) -> dict[str, Any]:
    """Return what the page says of a task that is no maze, and where its states lie."""
    batch, task = watched.batches[0], watched.task
    table, picture, encoder = table_of(batch), task.picture, task.encoder
    starts = {str(task.goals[goal]): int(table.starts[goal]) for goal in np.unique(batch.goals)}
    drawn = None
    if picture is not None:  # the grid of each goal, and where everything is in the states that were visited
        recorded = (recording for recording in watched.recordings if recording is not None)
        visited = sorted(set(starts.values()).union(*(recording.visited for recording in recorded)))
        rows = {goal: picture.rows_from(start) for goal, start in starts.items()}
        drawn = {"rows": rows, "spots": {state: picture.spot(state)[:3] for state in visited}}
    return {
        "name": task.name,
        "states": len(table.following),
        "starts": starts,  # by goal
        "target": task.target(batch.settings),
        "encoder": None if encoder is None else encoder.word,
        "bits": task.inputs,
        "actions": task.actions,
        "picture": drawn,
    }


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it ends that, or turns writing round."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return _TURNING.sub(lambda found: found[0] if found[1] == "\\" else f"\\{found[0]}", text)


def _filled(template: str, parts: dict[str, str]) -> str:
    """Put the parts in their places, in one pass, so that no part is searched for places itself."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)
