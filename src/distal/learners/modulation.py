"""The modulatory signal m: whether an episode was better than the one before."""

from __future__ import annotations

from typing import Any

from distal.base.checks import code_for
from distal.learners.learner import Memory, Trial, flipped
from distal.networks.episode import Episode
from distal.networks.network import Network

M_READINGS = {"reward": 1, "punish": -1}  # m, where an EP equals the one before


def modulatory_signal(ep: float, previous: float | None, ties: str) -> int:
    """Return m: +1 if the episode was no worse than the one before, else −1.

    Args:
        ep: The EP of the episode.
        previous: The EP of the one before. None for the first episode after fresh weights,
            which counts as +1.
        ties: The reading "m_ties": with "punish" an equal EP gives −1.

    Returns:
        −1 or 1.

    Raises:
        InputError: If there is no such reading.
    """
    tied = code_for("m_ties", M_READINGS, ties)
    if previous is None or ep < previous:
        return 1
    return tied if ep == previous else -1


def heard(network: Network, trial: Trial, memory: Memory, episode: Episode[Any]) -> int:
    """Return m as a learner hears it that keeps the EP of the episode before as "ep"."""
    m = modulatory_signal(episode.ep, memory.number("ep"), network.settings.m_ties)
    return -m if flipped(network.settings, trial, episode.number) else m
