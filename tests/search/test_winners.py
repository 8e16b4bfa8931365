"""Winners: the leader or the best finalist of each run, measured again on fresh trials, beside chance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from scipy import stats

from distal import InputError, Rule, evolve, learn, resume
from distal.model.draws import child_seed
from tests.evolutions import FEW, TINY
from tests.given import some
from tests.mazes import T
from tests.search.test_run_folder import rows_of


def test_the_winner_is_the_best_of_the_last_generation_with_an_honest_fitness_and_chance_beside_it(
    finished: Path,
) -> None:
    evolved = resume(finished)
    rows = rows_of(finished)
    for winner in evolved.winners:
        last = [row for row in rows if int(row["run"]) == winner.run][-1]
        assert winner.selected == float(last["best"])
    # the fitness in the file is that of an evaluation with the seed of its place
    first = evolved.winners[0]
    assert isinstance(first.learner, Rule)
    run_seed = child_seed(0, 0, 0, 4)
    remeasured = learn(
        first.learner, trials=200, episodes=5, steps=8, hidden=5, maze=T, seed=child_seed(run_seed, 0, 0, 6)
    )
    assert first.remeasured == remeasured.fitness
    assert first.standard_error == remeasured.standard_error
    assert remeasured.chance is not None
    assert first.fresh.chance == remeasured.chance.fitness
    assert first.fresh.chance_standard_error == remeasured.chance.standard_error
    assert first.fresh.difference == pytest.approx(some(remeasured.difference).mean)
    assert first.fresh.difference_standard_error == pytest.approx(some(remeasured.difference).standard_error)
    own, by_chance = remeasured.final, remeasured.chance.final
    assert first.fresh.p == pytest.approx(stats.ttest_rel(own, by_chance).pvalue, rel=1e-5)
    lower, equal = (own < by_chance).sum(), (own == by_chance).sum()
    assert first.fresh.superiority == (lower + equal / 2) / len(own)


def test_a_winner_is_measured_on_as_many_fresh_trials_as_are_asked_for(tmp_path: Path) -> None:
    options: Any = {"runs": 1, "generations": 1, "trials": 1, "episodes": 2, "maze": T, "steps": 9}
    few = evolve("hc", fresh=3, out=tmp_path / "few", **options)
    usual = evolve("hc", out=tmp_path / "usual", **options)
    assert (few.best == usual.best).all()  # the search itself is as it was
    # Three trials for two goals are two for each: the first four of the usual four hundred.
    (winner,) = few.winners
    seed = child_seed(few.config.run_seed(0), 0, 0, 6)
    alone = learn(winner.learner, trials=2, episodes=2, maze=T, steps=9, seed=seed)
    assert len(alone.final) == 4
    assert winner.remeasured == alone.fitness
    assert '"fresh": 3' in (tmp_path / "few" / "config.json").read_text()
    assert '"fresh"' not in (tmp_path / "usual" / "config.json").read_text()
    assert resume(tmp_path / "few", generations=2).config.fresh == 3
    with pytest.raises(InputError, match="fresh is 1, expected a whole number from 2 to"):
        evolve("hc", fresh=1, **options)


def test_the_winner_is_the_best_finalist_on_trials_of_their_own() -> None:
    leader = evolve(search=FEW, **TINY)
    chosen = evolve(search=FEW, **TINY, finalists=4)
    assert chosen.best.tolist() == leader.best.tolist()  # the search is the same
    assert [one.selected for one in chosen.winners] != [one.selected for one in leader.winners]
