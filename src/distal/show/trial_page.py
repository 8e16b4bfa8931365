"""A trial as a page: one HTML file in which every step of learning can be looked at.

The page holds what decides the trial and the EP of every episode as the reference engine computed
it. Its JavaScript (`page/replay.js`) computes the trial again, bit for bit, and says where an EP
differs. So a page is small however long the trial is. Of a learner that the script has no code for,
and of every learner in a task that is no maze, it holds a recording, and plays what happened.
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
from distal.show.chance import CHANCE_TRIALS, VISIBLE, visible_points
from distal.show.modules import asset, joined
from distal.show.recording import Recording, table_of
from distal.tasks.picture import Picture

if TYPE_CHECKING:
    from distal.show.watched import Watched

_PIXELS = 200  # of the height of a curve, at most
# An escaped backslash, or an escaped character that turns the direction of writing round.
_TURNING = re.compile(r"\\(\\|u(?:061c|200[ef]|202[a-e]|206[6-9]))")


def page_data(watched: Watched) -> dict[str, Any]:
    """Return what the page holds: all that decides the trial, and the EPs to compare with.

    Of a learner that the page cannot compute it holds a recording.
    """
    batch = watched.batches[0]
    seed = int(batch.seed[0])
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
            {
                "kind": learner.kind, **_content(learner, recording, usage), "name": name,
                "eps": eps.tolist(),
            }
            for name, learner, recording, usage, eps in zip(
                watched.names,
                (batch.learners[0] for batch in watched.batches),
                watched.recordings,
                watched.usage,
                watched.eps,
                strict=True,
            )
        ],
        "chance": {"trials": CHANCE_TRIALS, "curve": _chance_points(watched)},
    }  # fmt: skip


def _chance_points(watched: Watched) -> list[tuple[int, float]]:
    """Return (episode, from 0, and value) of a line through chance, which falls in each phase."""
    phase = watched.batches[0].phase
    return [
        (first + episode, value)
        for first in range(0, len(watched.chance), phase)
        for episode, value in visible_points(watched.chance[first : first + phase], _visible(watched))
    ]


def _visible(watched: Watched) -> float:
    """Return the difference between two EPs that can just be seen in the curve."""
    if watched.task.maze is not None:
        return VISIBLE
    low, high = (float(find([find(watched.eps), find(watched.chance)])) for find in (np.min, np.max))
    return (high - low) / _PIXELS


def _table_data(watched: Watched) -> dict[str, Any]:
    """Return what the page says of a task that is no maze, and where its states lie."""
    batch, task = watched.batches[0], watched.task
    table = table_of(batch)
    starts = {str(task.goals[goal]): int(table.starts[goal]) for goal in np.unique(batch.goals)}
    picture, encoder = task.picture, task.encoder
    return {
        "name": task.name,
        "states": len(table.following),
        "starts": starts,  # by goal
        "target": task.target(batch.settings),
        "encoder": None if encoder is None else encoder.word,
        "bits": task.inputs,
        "actions": task.actions,
        "picture": None if picture is None else _picture_data(watched, picture, starts),
    }


def _picture_data(watched: Watched, picture: Picture, starts: dict[str, int]) -> dict[str, Any]:
    """Return the grid of each goal, and where everything is in the states that were visited."""
    recorded = (recording for recording in watched.recordings if recording is not None)
    visited = sorted(set(starts.values()).union(*(recording.visited for recording in recorded)))
    spots = {state: picture.spot(state)[:3] for state in visited}
    return {"rows": {goal: picture.rows_from(start) for goal, start in starts.items()}, "spots": spots}


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


def _content(
    learner: Learner, recording: Recording | None, usage: NDArray[np.int64] | None
) -> dict[str, Any]:
    """Return what the page holds of a learner: all that decides what it does, or what it did."""
    if recording is None:
        return embedded(learner)
    content: dict[str, Any] = {
        "label": learner.label,
        "numbers": learner.numbers,
        "recording": recording.to_dict(),
    }
    if isinstance(learner, Rule) and usage is not None:
        content |= {"delta_w": list(learner.delta_w), "usage": usage.tolist()}
    return content


def _for_script(data: object) -> str:
    """Return JSON that may stand in a script element: nothing in it ends that, or turns writing round."""
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    return _TURNING.sub(lambda found: found[0] if found[1] == "\\" else f"\\{found[0]}", text)


def _filled(template: str, parts: dict[str, str]) -> str:
    """Put the parts in their places, in one pass, so that no part is searched for places itself."""
    return re.sub(r"\{\{(\w+)\}\}", lambda place: parts[place[1]], template)
