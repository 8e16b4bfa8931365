"""What rules have in common: the consensus, distances, clusters, and which rules are meant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import InputError
from distal.evaluation import rule_set
from tests.mazes import T

SMALL: Any = {"maze": T, "episodes": 12, "trials": 8, "steps": 12, "hidden": 5}


LINE = ["--episodes", "8", "--trials", "2", "--steps", "8", "--hidden", "4"]


def test_the_consensus_weighs_rules_by_their_use() -> None:
    table = np.zeros((3, 32), np.int64)
    use = np.zeros((3, 32))
    table[:, 5], use[:, 5] = [1, 1, -1], [0.5, 0.25, 0.25]
    table[:, 6], use[:, 6] = [1, -1, -1], [0.0, 0.0, 0.1]  # only the last one uses it
    table[:, 7] = 1  # nobody does
    mean, agreement = rule_set.consensus(table, use)
    assert mean[[5, 6, 7]].tolist() == [0.5, -1, 0]
    assert agreement[[5, 6, 7]].tolist() == [0.75, 1, 0]


def test_rules_are_as_far_apart_as_the_updates_that_they_make_differently() -> None:
    table = np.zeros((3, 32), np.int64)
    use = np.zeros((3, 32))
    table[:, 0], use[:, 0] = [1, -1, 0], [0.6, 0.4, 0.2]
    table[:, 1], use[:, 1] = [1, 1, 1], [0.4, 0.6, 0.8]
    apart = rule_set.distances(table, use)
    # Opposite in half of the updates of the first two; half of 0.4, and half of 0.3, with a change or none.
    assert [apart[0, 1], apart[0, 2], apart[1, 2]] == pytest.approx([0.5, 0.2, 0.15])
    assert (apart == apart.T).all()
    clusters, order = rule_set.clustered(apart)  # 1 and 2 join at 0.15; 0 would at 0.35, beyond 2/9
    assert clusters[1] == clusters[2] != clusters[0]
    assert order[1] == 2  # which is the nearest to both


def test_equal_rules_are_one_cluster_and_share_all_their_rows(tmp_path: Path) -> None:
    rule, other = distal.find_rule("evolved:1"), distal.find_rule("champion:2")
    rule.save(tmp_path / "a.json")
    found = distal.inspect_set([rule, tmp_path / "a.json", other], **{**SMALL, "trials": 1})
    assert found.clusters[0] == found.clusters[1] != found.clusters[2]
    assert found.distances[0, 1] == 0
    alone = distal.inspect_set([rule, rule], **{**SMALL, "trials": 1})
    assert set(alone.shared) == {row for row in range(32) if alone.use[row] >= rule_set.USED}
    assert alone.consensus[list(alone.shared)].tolist() == [rule.delta_w[row] for row in alone.shared]
    assert json.loads(json.dumps(found.to_dict()))["rules"][2]["cluster"] == found.clusters[2]


def test_a_set_is_named_by_a_word_a_folder_or_a_list(tmp_path: Path) -> None:
    few = distal.GeneticAlgorithm(population=3, elite_count=1)
    small: Any = {"generations": 1, "search": few, "trials": 1, "episodes": 2}
    evolved = distal.evolve(runs=2, maze=T, steps=5, hidden=2, out=tmp_path / "runs", **small)
    winners = [winner.learner.delta_w for winner in evolved.winners]  # type: ignore[attr-defined]
    assert [rule.delta_w for rule in rule_set.find_rules(tmp_path / "runs")] == winners
    assert [rule.delta_w for rule in rule_set.find_rules(tmp_path / "runs" / "winners")] == winners
    assert rule_set.find_rules("paper") == distal.published_rules()
    assert len(rule_set.find_rules(["paper", "evolved:1", str(tmp_path / "runs")])) == 18
    (tmp_path / "empty").mkdir()
    with pytest.raises(
        InputError, match="empty' holds no rules: neither winners/ of distal evolve nor rule files"
    ):
        rule_set.find_rules(str(tmp_path / "empty"))
    with pytest.raises(InputError, match="expected two rules or more; inspect takes one"):
        distal.inspect_set("paper:1")
