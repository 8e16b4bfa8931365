"""The result of an evolution."""

from __future__ import annotations

from dataclasses import replace

import distal


def test_winners_that_lose_to_chance_are_said_to_lose_with_what_to_change() -> None:
    short = {"trials": 2, "episodes": 2, "hidden": 2, "steps": 3, "fresh": 2}
    evolved = distal.evolve(runs=1, generations=1, **short)  # type: ignore[arg-type]
    (winner,) = evolved.winners

    def with_fresh(own: float, p: float) -> str | None:
        fresh = replace(winner.fresh, fitness=own, chance=10.0, p=p)
        return replace(evolved, winners=(replace(winner, fresh=fresh),)).verdict

    change = (
        "Try more episodes in a trial, a larger population or more generations; for observations, another "
        "encoding."
    )
    assert with_fresh(8.0, 0.01) == "Beats chance: yes."
    assert with_fresh(12.0, 0.01) == f"Beats chance: no, worse than random weights. {change}"
    assert with_fresh(9.0, 0.2) == f"Beats chance: not shown. {change}"
    lines = evolved.summary().splitlines()
    assert len(lines) == 3
    assert lines[-1] == evolved.verdict
