"""`distal evolve`."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

import distal
from distal import CMA, resume
from distal.cli import main
from tests.command_line import refusal


def test_the_command_line_evolves_resumes_and_summarises(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "a run")
    small = ["--runs", "2", "--generations", "2", "--trials", "1", "--episodes", "3", "--hidden", "4"]
    assert main(["evolve", *small, "--out", out]) == 0
    captured = capsys.readouterr()
    assert "generation 2 of 2" in captured.err
    assert "re-measured" in captured.out
    assert main(["evolve", "--resume", out, "--generations", "3"]) == 0
    assert main(["runs", out]) == 0
    text = capsys.readouterr().out
    assert "DSP rules: 2 runs of 3 generations, " in text
    assert "generation 3 of 3, finished" in text
    listed = text[text.index("finished") :]
    assert "selected" in listed
    assert "beats chance" in listed
    assert "best fitness" not in listed
    assert (
        text.count("P(better): the share of trials in which it is better than chance; a tie counts half") == 2
    )
    assert main(["evolve", "--resume", out, "--brief"]) == 0
    brief = [line for line in capsys.readouterr().out.splitlines() if line.strip()]
    assert len(brief) == 5
    assert set(brief[:-1]) <= set(text.splitlines())
    assert brief[-1].startswith("Beats chance: ")
    single = ["--runs", "1", "--generations", "1", *small[4:], "--out", str(tmp_path / "one")]
    assert main(["evolve", *single]) == 0
    assert "DSP rules: 1 run of 1 generation, " in capsys.readouterr().out
    assert main(["runs", str(tmp_path), "--json"]) == 0
    assert '"done": 3' in capsys.readouterr().out
    for arguments, problem in (
        (["evolve", *small], "no folder for the runs; name one with --out DIR"),
        (["evolve", *small, "--out", out], "is not empty"),
        (
            ["evolve", "--resume", out, "--runs", "3"],
            "--runs cannot be given with --resume; only --generations and --budget can",
        ),
        (["evolve", "--resume", str(tmp_path / "no")], "is not a folder of runs"),
        (
            ["evolve", "--learner", "dps", "--out", out],
            "expected one of dsp, hc, eligibility, online, neuron, es, cma, reinforce; did you mean 'dsp'?",
        ),
        (["runs", str(tmp_path / "no")], "is not a folder"),
        (["runs", os.devnull], "is not a folder"),
    ):
        assert problem in refusal(capsys, *arguments)


def test_in_a_pipe_generations_are_lines(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Private numbers: short work is told, too.
    for name in ("LONG", "_SHORTEST", "_MARK"):
        monkeypatch.setattr(f"distal.base.progress.{name}", 0.0)
    small = ["--runs", "1", "--generations", "2", "--trials", "1", "--episodes", "2", "--fresh", "8"]
    assert main(["evolve", *small, "--engine", "reference", "--out", str(tmp_path / "runs")]) == 0
    first, *lines = capsys.readouterr().err.splitlines()
    begin = "evolving: 1 run of 2 generations, winners on 8 fresh trials, 704 episodes; about "
    assert first.startswith(begin)
    assert [line.partition(": ")[0] for line in lines] == [f"generation {k} of 2" for k in range(3)]
    assert all("of 704 episodes  " in line and "  best " in line for line in lines)


def test_the_command_line_takes_a_search_and_its_options(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = str(tmp_path / "runs")
    small = ["--runs", "1", "--generations", "1", "--trials", "1", "--episodes", "2", "--hidden", "2"]
    assert (
        main(["evolve", "--search", "cma", "--sigma", "0.2", "--population", "5", *small, "--out", out]) == 0
    )
    assert "1 run of 1 generation, search cma, seed 0" in capsys.readouterr().out
    assert main(["evolve", "--resume", out, "--generations", "2"]) == 0
    assert main(["runs", out]) == 0
    assert "learner dsp, search cma, seed 0, generation 2 of 2, finished" in capsys.readouterr().out
    assert resume(out).config.search == CMA(population=5, sigma=0.2)
    shutil.rmtree(out)
    for options, problem in (
        (["--search", "cma", "--elite-count", "2"], "the search cma has no option elite_count; it has popu"),
        (["--sigma", "0.2"], "the search ga has no option sigma; it has population, elite_count"),
        (["--search", "cms"], "search is 'cms', expected one of ga, cma; did you mean 'cma'?"),
        (["--search", "cma", "--sigma", "0"], "sigma is 0, expected a number above 0, up to 1"),
        (["--search", "cma", "--population", "3"], "population is 3, expected a whole number from 4"),
    ):
        assert problem in refusal(capsys, "evolve", *options, "--out", out)
        assert not Path(out).exists()
    assert "only --generations and --budget can" in refusal(
        capsys, "evolve", "--resume", out, "--search", "cma"
    )


def test_the_command_begins_with_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = [
        "evolve", "--runs", "1", "--generations", "0", "--trials", "1", "--episodes", "2", "--steps", "5",
    ]  # fmt: skip
    asked += ["--hidden", "3", "--fresh", "8", "--out", str(tmp_path / "runs")]
    assert main([*asked, "--begin-with", "champion:1", "paper:2", "--json"]) == 0
    config = json.loads(capsys.readouterr().out)["config"]
    assert config["begin_with"][1][32:] == list(distal.find_rule("paper:2").numbers.values())
    again = [*asked[:-1], str(tmp_path / "other")]
    assert "--begin-with has a learner of kind hc" in refusal(capsys, *again, "--begin-with", "hc")
    assert not (tmp_path / "other").exists()


def test_an_exchange_needs_islands(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for more in ([], ["--islands", "1"]):
        assert "give --islands as well" in refusal(
            capsys, "evolve", "--exchange", "5", *more, "--out", str(tmp_path / "runs")
        )
    assert not (tmp_path / "runs").exists()
