"""The study of rivals: its winners, its trials, its comparisons and its page."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from distal import RivalStudy, learn
from distal.engines import Runner
from distal.learners import KINDS as LEARNERS
from distal.model.draws import child_seed
from distal.studies.plans.rivals import FLIP, KINDS, MARKS, PROBLEMS, RIVALS, Rivals, RivalsReport
from distal.studies.report import to_markdown
from tests.given import some
from tests.studies.conftest import SEED, TASKS_TINY

pytestmark = pytest.mark.usefixtures("rough")
TESTED = ("dsp", "eligibility", "es")


def test_every_kind_of_learner_that_evolves_and_trains_the_paper_s_network_is_a_rival() -> None:
    evolves = {kind: learner for kind, learner in LEARNERS.items() if learner.genes is not None}
    assert set(KINDS) == {kind for kind, learner in evolves.items() if learner.needs is None}
    assert [problem.name for problem in PROBLEMS] == [
        "triple_t", "narrow_t", "cliff_walking", "frozen_lake_8x8", "cart_pole",
    ]  # fmt: skip
    assert MARKS == (100, 1_000, 10_000)


def test_all_kinds_have_the_same_budget_in_every_task() -> None:
    for one in Rivals().planned:
        budgets = {replace(one.config(kind, 0), learner="dsp").to_dict().__repr__() for kind in KINDS}
        assert len(budgets) == 1


def test_a_winner_is_tested_in_trials_of_its_own_beside_chance_and_with_rewards_turned_round(
    rivalled: tuple[RivalStudy, Path],
) -> None:
    outcome, seed = rivalled[0].outcomes[0], child_seed(SEED, 0, 0, RIVALS)
    task = outcome.problem.make()
    trials = -(-TASKS_TINY.tested // len(task.goals))
    assert set(outcome.tested) == set(TESTED)
    for one in outcome.tested.values():
        plain, turned = (
            learn(
                one.learner, task=task, episodes=TASKS_TINY.long, trials=trials, seed=seed, flip=flip,
                steps=outcome.steps, engine=Runner("steps", workers=1),
            )
            for flip in (0.0, FLIP)
        )  # fmt: skip
        assert one.marks[-1].best.value == pytest.approx(plain.fitness)
        assert one.marks[-1].chance.value == pytest.approx(some(plain.chance).fitness)
        assert one.flipped[-1].value == pytest.approx(turned.fitness)
        assert one.marks[0].best.value == pytest.approx(plain.best[:, 2].mean())


def test_p_against_the_table_is_corrected_for_all_comparisons_of_the_task(
    rivalled: tuple[RivalStudy, Path],
) -> None:
    outcome = rivalled[0].outcomes[1]
    others = [gap for name in TESTED[1:] for gap in outcome.tested[name].versus]
    assert len(others) == 4  # two learners after 3 and 6 episodes
    order = np.argsort([gap.p for gap in others], kind="stable")
    steps = [min(1.0, (len(others) - k) * others[i].p) for k, i in enumerate(order)]
    for i, expected in zip(order, np.maximum.accumulate(steps), strict=True):
        assert others[i].corrected == pytest.approx(expected)
    table, other = outcome.tested["dsp"], outcome.tested["es"]
    for ours, theirs, gap in zip(table.marks, other.marks, other.versus, strict=True):
        assert gap.difference.value == pytest.approx(theirs.best.value - ours.best.value)
    assert all(gap.difference.value == 0 for gap in outcome.tested["dsp"].versus)


def test_the_page_has_every_learner_beside_chance_after_every_number_of_episodes(
    rivalled: tuple[RivalStudy, Path],
) -> None:
    study, folder = rivalled
    page = (folder / "rivals.md").read_text(encoding="utf-8")
    assert page == to_markdown(RivalsReport.title, RivalsReport(study).blocks())
    outcome = study.outcomes[0]
    for name in TESTED:
        for mark in outcome.tested[name].marks:
            row = next(
                line for line in page.splitlines()
                if line.startswith(f"| {KINDS[name].label} | {mark.episodes:,} |")
            )  # fmt: skip
            assert f"{mark.best.value:.2f}" in row.replace("−", "-")
            assert f"{mark.chance.value:.2f}" in row.replace("−", "-")
