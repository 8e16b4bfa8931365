"""The tables of reports."""

from __future__ import annotations

from distal.studies.report import Sheet

MIXED = Sheet(
    "Rules",
    "",
    ("rule", "EP", "against chance", "p", "note"),
    [
        ["one", "58.00 ± 3.28", "better (0.003)", "< 0.0001", "15 of 15"],
        ["two", "**−0.08**", "–", "–", ""],
        ["three", "–", "not shown (0.105)", "no p", ""],
        ["four", "(97.2 ± 0.3)", "`code`", "0.4", ""],
    ],
)


def test_words_begin_at_the_left_edge_of_their_column_and_numbers_end_at_the_right() -> None:
    assert "|---|---:|---|---:|---|" in MIXED.markdown()
    assert '<td class="words">better (0.003)</td>' in MIXED.html()
    assert "<td>58.00 ± 3.28</td>" in MIXED.html()
    assert "<td>no p</td>" in MIXED.html()  # a word among numbers stays in their line


def test_a_table_without_rows_has_its_headings() -> None:
    empty = Sheet("Rules", "", ("rule", "EP"), [])
    assert "| rule | EP |" in empty.markdown()
    assert "<th>EP</th>" in empty.html()
