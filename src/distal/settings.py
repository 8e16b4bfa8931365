"""The settings of network and episode, and the readings where the paper is silent.

The first value of each reading is the default; docs/readings.md gives the
evidence for it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypedDict

from distal.checks import InputError, integer, one_of, suggestion

READINGS: dict[str, tuple[str, ...]] = {
    # How four output sums become activations and one action.
    "outputs": ("winner", "binary", "random"),
    # Whether a move into a wall still turns the agent.
    "blocked": ("turn", "stay"),
    # The modulatory signal when an episode is as good as the one before.
    "m_ties": ("reward", "punish"),
    # Which step's hidden and output activations are `pre` of W_h and W_ho.
    "trace_pre": ("previous", "current"),
    # Which incoming weights share one norm.
    "normalise": ("neuron", "layer", "none"),
}

MAX_HIDDEN = 256
MAX_STEPS = 10_000


class SettingsDict(TypedDict, total=False):
    """The settings as keyword arguments."""

    hidden: int
    steps: int
    outputs: str
    blocked: str
    m_ties: str
    trace_pre: str
    normalise: str


@dataclass(frozen=True)
class Settings:
    """Hidden neurons, steps per episode (N_steps) and the five readings."""

    hidden: int = 20
    steps: int = 100
    outputs: str = "winner"
    blocked: str = "turn"
    m_ties: str = "reward"
    trace_pre: str = "previous"
    normalise: str = "neuron"

    def __post_init__(self) -> None:
        object.__setattr__(self, "hidden", integer("hidden", self.hidden, 1, MAX_HIDDEN))
        object.__setattr__(self, "steps", integer("steps", self.steps, 1, MAX_STEPS))
        for name, values in READINGS.items():
            one_of(name, getattr(self, name), values)

    @classmethod
    def of(cls, options: SettingsDict, others: Iterable[str] = ()) -> Settings:
        """Return settings from keyword arguments; refuse a name that is none of them.

        `others` are the caller's own keywords, for the nearest right spelling.
        """
        known = cls.__dataclass_fields__
        for name in options:
            if name not in known:
                names = ", ".join(known)
                near = suggestion(name, [*known, *others])
                raise InputError(f"unknown keyword {name!r}, the settings are {names}{near}")
        return cls(**options)
