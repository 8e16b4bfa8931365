"""Pages that interpret results: every number that one quotes is that of the JSON file it comes from."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import pytest

from tests.given import some

ROOT = Path(__file__).parents[2]
# Written by hand. A page about results belongs here; docs/quoted.py says how it names its sources.
HAND_WRITTEN = (
    "beyond", "champions", "explained", "inside-a-rule", "performance", "readings", "results", "reward",
    "rivals", "tasks", "your-method",
)  # fmt: skip
PAGES = ["README.md", *(f"docs/{name}.md" for name in HAND_WRITTEN)]
JSON = (
    '{"means": {"own": 57.926, "chance": 94.44}, "share": 0.9068, "p": 3e-7, "falls": -4.484, "gaps": [%s]}'
)
GAPS = (
    '{"name": "a", "value": -1.5, "p": 0.01, "corrected": 0.02},'
    ' {"name": "b", "value": -2, "p": 0.01, "corrected": 0.2},'
    ' {"name": "c", "difference": {"value": 3}, "p": 0.001}'
)
PAGE = """# A page

<!-- no results: 100 episodes; 95% -->

In 100 episodes the mean is **57.93**, chance 94.44 (−4.48, p < 0.0001), and 90.7% get there: `rule:1`.

<!-- numbers of kept.json: means/{own,chance}; falls; p; share -->

| | difference |
|---|---:|
| 95% | −1.50 |

Better in 1 of 3, worse in 1; together 152.37.

<!-- numbers of kept.json
gaps/name=a/value
= better("gaps/*")
= count("gaps/*")
= worse("gaps/*")
= at("means/own") + at("means/chance")
-->

<details>
<summary>Shares</summary>

| 95% | 90.68% |
|---|---|

</details>

<!-- numbers of kept.json: share -->

[A link](page-2.md) and 100 episodes.
"""


@pytest.fixture
def quoted(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(ROOT / "docs")
    import quoted

    return quoted


@pytest.mark.parametrize("page", PAGES)
def test_every_number_is_that_of_its_source(quoted: ModuleType, page: str) -> None:
    path = ROOT / page
    assert quoted.problems(path.read_text(encoding="utf-8"), path.parent) == []


@pytest.mark.parametrize("page", PAGES)
def test_a_number_that_is_changed_on_a_page_is_found(quoted: ModuleType, page: str) -> None:
    path = ROOT / page
    text = path.read_text(encoding="utf-8")
    number = some(re.search(r"\d+\.\d+(?=[^`>]*<!-- numbers of)", text))
    changed = f"{text[: number.end() - 1]}{(int(number[0][-1]) + 1) % 10}{text[number.end() :]}"
    assert len(quoted.problems(changed, path.parent)) == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "kept.json").write_text(JSON % GAPS, encoding="utf-8")
    return tmp_path


def test_a_page_with_the_right_numbers_has_no_problems(quoted: ModuleType, folder: Path) -> None:
    assert quoted.problems(PAGE, folder) == []


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("57.93", "57.92", "57.92 is quoted where means/own is 57.926"),
        ("90.7%", "90.8%", "90.8% is quoted where share is 0.9068"),
        ("−4.48", "+4.48", "+4.48 is quoted where falls is -4.484"),
        ("−1.50", "−1.51", "−1.51 is quoted where gaps/name=a/value is -1.5"),
        ("p < 0.0001", "p = 0.0001", "0.0001 is quoted where p is 3e-07"),
        ("1 of 3", "2 of 3", "2 is quoted where"),
        ("152.37", "152.36", "152.36 is quoted where"),
        ("chance 94.44", "chance less", "4 numbers have 5 sources"),
        ("90.68%", "90.69%", "90.69% is quoted where share is 0.9068"),
        ("100 episodes.", "100 times.", "1 numbers have 0 sources"),
        ("In 100 episodes", "Here", None),
        ("90.7% get there", "0.9068 get there", None),
    ],
)
def test_a_number_that_is_changed_is_said(
    quoted: ModuleType, folder: Path, right: str, wrong: str, said: str | None
) -> None:
    found = quoted.problems(PAGE.replace(right, wrong), folder)
    assert found == [] if said is None else said in "".join(found)


def test_a_phrase_that_the_page_does_not_have_is_said(quoted: ModuleType, folder: Path) -> None:
    found = quoted.problems(PAGE.replace("95%;", "").replace("95% -->", "95%; 7 levels -->"), folder)
    assert found == ["'7 levels' is on the list of what is no result, but not on the page"]


def test_a_source_that_leads_nowhere_is_refused(quoted: ModuleType, folder: Path) -> None:
    with pytest.raises(LookupError, match="means/mine leads to 0 places"):
        quoted.problems(PAGE.replace("means/{own", "means/{mine"), folder)


def test_only_a_marked_part_is_held_to_its_numbers(quoted: ModuleType, folder: Path) -> None:
    text = f"12.5 before.\n{quoted.BEGIN}\n{PAGE}\n{quoted.END}\n13.5 after."
    assert quoted.problems(text, folder) == []
    assert quoted.problems(text.replace(quoted.BEGIN, ""), folder) != []
