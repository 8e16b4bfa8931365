"""The study of readings: what every variant changes, and what is kept."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import Maze, ReadingStudy, Settings
from distal.cli import main
from distal.learners import chance_for
from distal.learners.shipped import published_fitness
from distal.model.draws import child_seed
from distal.search.genetic import GeneticAlgorithm
from distal.studies.appendix import correlation
from distal.studies.outline import outline
from distal.studies.plans.readings import STUDY, Readings
from distal.studies.reading_outcome import SEARCH_READINGS, Mean, readings, short_name, variants
from distal.studies.stages import Stages
from tests.given import some
from tests.studies.conftest import PICTURE, READINGS_TINY, SETTINGS

DOCS = Path(__file__).parents[2] / "docs"
pytestmark = pytest.mark.usefixtures("rough")


@pytest.mark.parametrize(
    ("settings", "elites", "maze"),
    [
        (Settings(), "remeasured", "triple-t"),
        (Settings(outputs="random", normalise="layer", hidden=7), "kept", "narrow-h"),
    ],
)
def test_every_value_of_every_reading_and_every_maze_appears_exactly_once(
    settings: Settings, elites: str, maze: str
) -> None:
    search = GeneticAlgorithm(elites=elites)
    base, *others = variants(settings, search, distal.maze(maze))
    assert (base.settings, base.search, base.label) == (settings, search, "base")
    every = {**readings(), "maze": ("triple-t", "narrow-t", "narrow-h")}
    for reading, values in every.items():
        found = [variant.value for variant in others if variant.reading == reading]
        assert sorted([*map(str, found), base.of(reading)]) == sorted(values)
    for variant in others:  # one reading is another one, all else is the base's
        differing = [reading for reading in every if variant.of(reading) != base.of(reading)]
        assert differing == [variant.reading]
        assert variant.settings.hidden == settings.hidden
    alternatives = sum(len(values) - 1 for values in every.values())
    assert len({variant.name for variant in (base, *others)}) == 1 + len(others) == 1 + alternatives


def test_a_maze_without_a_name_is_tried_beside_all_that_have_one() -> None:
    base, *others = variants(Settings(), GeneticAlgorithm(), Maze.from_text(PICTURE))
    assert short_name(base.maze) is None
    labels = [variant.label for variant in others if variant.reading == "maze"]
    assert labels == ["maze = triple-t", "maze = narrow-t", "maze = narrow-h"]
    assert [variant.maze for variant in others[-3:]] == [
        distal.maze(name) for name in ("triple-t", "narrow-t", "narrow-h")
    ]
    assert {variant.maze for variant in others[:-3]} == {base.maze}


def test_the_plan_holds_what_each_reading_touches() -> None:
    study = Readings(scale="paper", settings=Settings(), maze=distal.triple_t_maze())
    planned = outline(study.plan)
    whole, rules, search = 6, 4, 2
    for variant, parts in zip(study.variants, planned.values(), strict=True):
        expected = dict.fromkeys(SEARCH_READINGS, search) | dict.fromkeys(
            ("m_ties", "trace_pre", "normalise"), rules
        )
        assert len(parts) == expected.get(variant.reading or "", whole)
    episodes = {stage.name: stage.episodes for stage in study.plan}
    assert len(episodes) == len(study.plan)  # every name once
    assert episodes["pairing_base"] == 225 * 50 * 8 * 100
    assert episodes["appendix_maze_narrow-t"] == 15 * 40 * 10_000
    assert episodes["evolve_dsp_base"] == 15 * (14 + 300 * 14) * 40 * 100
    assert episodes["evolve_hc_elites_kept"] == 15 * (14 + 300 * 10) * 40 * 100


def test_numbers_are_those_of_plain_evaluations_and_evolutions(studied: tuple[ReadingStudy, Path]) -> None:
    study = studied[0]
    options: Any = {"maze": study.maze, **SETTINGS}
    for outcome in study.outcomes:
        settings = {**vars(outcome.variant.settings), "maze": outcome.variant.maze}
        for k in (0, 9):
            rule = distal.published_rules()[k]
            plain = distal.learn(rule, trials=3, seed=child_seed(3, k, 0, STUDY), **settings)
            found = outcome.rules[k]
            assert (found.fitness, found.standard_error) == pytest.approx(
                (plain.fitness, plain.standard_error)
            )
            # chance too, though the study does not run it where the reading does not touch it
            assert (found.chance, found.difference) == pytest.approx(
                (some(plain.chance).fitness, some(plain.difference).mean)
            )
            assert found.difference_standard_error == pytest.approx(some(plain.difference).standard_error)
        for kind, search in (("dsp", outcome.dsp), ("hc", outcome.hc)):
            evolved = distal.evolve(
                kind, runs=2, generations=1, seed=3, search=outcome.variant.search, **settings
            )
            assert search.first == tuple(evolved.best[:, 0])
            assert search.last == tuple(evolved.best[:, 1])
            assert search.winners == tuple(winner.fresh for winner in evolved.winners)
            assert search.learners == tuple(winner.learner for winner in evolved.winners)
        rule, seed = distal.published_rules()[9], child_seed(3, 9, 2, STUDY)
        plain = distal.learn(rule, trials=5, episodes=120, seed=seed, chance=False, **settings)
        assert outcome.appendix.fitness[9] == pytest.approx(plain.fitness)
        paper = [published_fitness(number) for number in range(1, 16)]
        assert outcome.appendix.r == pytest.approx(
            correlation(np.array(paper), np.array(outcome.appendix.fitness))
        )
    matched = study.base.pairing.fitness[4][4]
    rule = distal.published_rules()[4]
    assert matched == distal.learn(rule, trials=1, seed=child_seed(3, 0, 1, STUDY), **options).fitness


def test_a_reading_changes_what_it_touches_and_nothing_else(studied: tuple[ReadingStudy, Path]) -> None:
    base, *others = studied[0].outcomes
    for outcome in others:
        reading = outcome.variant.reading
        same = {
            "chance": [r.chance for r in outcome.rules] == [r.chance for r in base.rules],
            "published": [r.fitness for r in outcome.rules] == [r.fitness for r in base.rules],
            "pairing": outcome.pairing == base.pairing,
            "appendix": outcome.appendix == base.appendix,
            "evolve_hc": outcome.hc == base.hc,
        }
        assert same["chance"] == outcome.reused("chance") == (reading not in ("outputs", "blocked", "maze"))
        assert same["evolve_hc"] == outcome.reused("evolve_hc")
        assert outcome.reused("evolve_hc") == (reading in ("m_ties", "trace_pre", "normalise"))
        for part in ("published", "appendix", "pairing"):
            assert same[part] == outcome.reused(part) == (reading in SEARCH_READINGS)


def test_means_are_means_and_errors_those_of_independent_trials(studied: tuple[ReadingStudy, Path]) -> None:
    study = studied[0]
    rules = study.base.rules
    assert study.base.published.mean == pytest.approx(sum(rule.fitness for rule in rules) / 15)
    squares = sum(rule.standard_error**2 for rule in rules)
    assert study.base.published.spread == pytest.approx(np.sqrt(squares) / 15)
    assert study.base.difference.mean == pytest.approx(study.base.published.mean - study.base.chance.mean)
    assert Mean.of([1, 3]) == Mean(2, np.sqrt(2))
    assert Mean.of([7]) == Mean(7, None)
    all_chance = [chance_for(rule) for rule in distal.published_rules()]
    assert len(set(all_chance)) > 1  # each rule has its own


def test_an_interrupt_says_how_to_go_on(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    monkeypatch.setitem(Readings.SCALES, "quick", READINGS_TINY)

    def interrupted(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Stages, "test", interrupted)
    assert main(["readings", "--out", str(tmp_path / "out")]) == 130
    last = capsys.readouterr().err.splitlines()[-1]
    assert re.match("distal: interrupted; .*the same command", last)
