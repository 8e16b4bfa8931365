"""The documentation site: it builds without a warning, is complete, and loads nothing from the network."""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import distal
from distal import cli
from distal.base.colours import DARK, LIGHT

pytest.importorskip("material", reason="the site needs the extra docs")

ROOT = Path(__file__).parent.parent
DOCS = ROOT / "docs"
# What a browser fetches by itself; an ordinary link is followed by a person.
FETCHED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
    "link": "href", "embed": "src", "object": "data", "use": "href", "image": "href",
}  # fmt: skip


class Page(HTMLParser):
    """Collects what a page fetches, its ids, and the links it offers."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.styles: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        if tag in FETCHED and FETCHED[tag] in given:
            self.fetched.append(given[FETCHED[tag]])
        self.fetched += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.ids.add(given.get("id", ""))
        self.styles.append(given.get("style", ""))


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Build the site strictly; return its folder and all that was printed."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", folder],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder, done.stdout + done.stderr


def pages(folder: Path) -> dict[str, Page]:
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.html"))}


def nav(entries: list[Any]) -> list[str]:
    """Return the files of a navigation, in order."""
    files: list[str] = []
    for entry in entries:
        for value in entry.values():
            files += nav(value) if isinstance(value, list) else [value]
    return files


def navigation() -> list[str]:
    from mkdocs.config import load_config

    return nav(load_config(str(ROOT / "mkdocs.yml"))["nav"])


def test_the_site_builds_without_a_warning(built: tuple[Path, str]) -> None:
    _, printed = built
    for line in printed.splitlines():
        assert line.startswith("INFO "), line


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page(built: tuple[Path, str]) -> None:
    folder, _ = built
    files = navigation()
    assert sorted(files) == sorted(path.name for path in DOCS.glob("*.md"))
    for file in files:
        assert (folder / file).with_suffix(".html").is_file()


def test_no_page_loads_anything_from_the_network(built: tuple[Path, str]) -> None:
    folder, _ = built
    for name, page in pages(folder).items():
        for target in page.fetched:
            assert not re.match(r"(https?:)?//", target), (name, target)
        assert not any("url(" in style for style in page.styles)
    for sheet in folder.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"""url\(\s*["']?(https?:)?//|@import""", text), sheet
    for picture in folder.rglob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"""(?:src|href)=["'](https?:)?//|url\(\s*["']?http|@import""", text), picture


def test_what_a_page_fetches_is_there(built: tuple[Path, str]) -> None:
    folder, _ = built
    for name, page in pages(folder).items():
        if name == "404.html":  # its addresses begin at the root of a server
            continue
        for target in page.fetched:
            if not target.startswith(("data:", "#")):
                assert (folder / target.split("#")[0].split("?")[0]).exists(), (name, target)


def test_links_between_pages_lead_to_a_place_on_them(built: tuple[Path, str]) -> None:
    folder, _ = built
    all_pages = pages(folder)
    for name, page in all_pages.items():
        if name == "404.html":
            continue
        for link in page.links:
            file, _, anchor = link.partition("#")
            if "://" in link or link.startswith("mailto:") or link in ("", "."):
                continue
            assert file in ("", *all_pages), (name, link)
            assert not anchor or anchor in all_pages[file or name].ids, (name, link)


def test_the_command_reference_has_every_command_and_option(built: tuple[Path, str]) -> None:
    folder, _ = built
    text = (folder / "commands.html").read_text(encoding="utf-8")
    subcommands = next(
        action for action in cli._parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, parser in subcommands.choices.items():
        start = text.index(f'<h2 id="{name}">')
        end = text.find("<h2 ", start + 1)
        section = text[start : end if end > 0 else None]
        for action in parser._actions:
            for option in set(action.option_strings) - {"-h", "--help"}:
                assert option in section, (name, option)


def test_the_python_reference_has_every_public_name(built: tuple[Path, str]) -> None:
    folder, _ = built
    page = pages(folder)["api.html"]
    for name in distal.__all__:
        assert f"distal.{name}" in page.ids, name


def test_the_figures_are_what_the_script_draws(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DOCS / "make_figures.py", tmp_path], check=True, timeout=120)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").iterdir()}
    assert drawn == kept


def test_the_numbers_to_compare_with_are_those_of_the_results() -> None:
    page = (DOCS / "compare.md").read_text(encoding="utf-8")
    data = json.loads((DOCS / "results.json").read_text(encoding="utf-8"))
    tests = {name: test["fitness_at"] for name, test in data["tests"].items()}

    def at(test: str, chosen_by: str) -> list[float]:
        chosen = tests[chosen_by]["10000"]
        k = chosen.index(min(chosen))
        return [tests[test][episodes][k] for episodes in ("100", "1000", "10000")]

    best = int(np.argmin(tests["dsp"]["10000"]))
    for method, numbers in (
        ("DSP, the best rule of 15", at("dsp", "dsp")),
        ("hill climbing, the best parameters of 15", at("hc", "hc")),
        ("DSP resampled every 100, the same rule", at("dsp_resampled", "dsp")),
        ("DSP resampled every 100, the rule best at it", at("dsp_resampled", "dsp_resampled")),
        ("hill climbing resampled, the same parameters", at("hc_resampled", "hc")),
        (
            "chance, with the α of the best rule",
            [data["chance"]["fitness_at"][episodes][best] for episodes in ("100", "1000", "10000")],
        ),
    ):
        cells = " | ".join(f"{number:.2f}" for number in numbers)
        assert f"| {method} | {cells} | ours |" in page
    paper = distal.paper.experiments.paper_results()
    thousand, ten_thousand = paper["best_1000_episodes"], paper["best_10000_episodes"]
    for method, key in (
        ("DSP, rule 1", "dsp"),
        ("hill climbing", "hc"),
        ("DSP resampled, rule 1", "dsp_resampled"),
    ):
        assert f"| {method} | – | {thousand[key]:.2f} | {ten_thousand[key]:.2f} | paper |" in page


def section(page: str, heading: str) -> str:
    """Return what a page says under a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def with_two_digits(text: str) -> set[str]:
    """Return the numbers with two digits after the point, as they are written."""
    return set(re.findall(r"(?<![\d.])\d+\.\d\d(?!\.?\d)", text))


def test_the_explanation_quotes_the_results() -> None:
    data = json.loads((DOCS / "results.json").read_text(encoding="utf-8"))
    ours = {line["what"]: line["ours"] for line in data["comparison"]}
    known = [line[key] for line in data["comparison"] for key in ("paper", "ours", "low", "high")]
    for test in (*data["tests"].values(), data["chance"]):
        known += [value for values in test["fitness_at"].values() for value in values]
    written = {f"{value:.2f}" for value in known if isinstance(value, float)}
    fresh = {
        f"{ours[what]:.2f}"
        for what in (
            "DSP rules, winners re-measured on fresh trials: mean",
            "hill climbing, winners re-measured on fresh trials: mean",
            "chance: mean on the same trials as DSP rules",
        )
    }
    for heading in ("What the rules do, and what they do not do", "Evolution", "What came out"):
        said = with_two_digits(section("explained.md", heading).replace("redrawn with probability 0.15", ""))
        assert said <= written, heading
        assert heading == "Evolution" or fresh <= said


def beside_chance(page: str) -> dict[str, tuple[str, str]]:
    """Return, for every rule whose result a page prints, its fitness and that of chance."""
    printed = (DOCS / page).read_text(encoding="utf-8")
    names = re.findall(r"^ ± standard error  +(\S.*?) {2,}chance ", printed, re.MULTILINE)
    scores = re.findall(r"^ fitness: mean best EP +(\S+) ± \S+ +(\S+) ± ", printed, re.MULTILINE)
    return dict(zip(names, scores, strict=True))


def test_what_is_said_of_chance_is_what_the_run_examples_print() -> None:
    printed = beside_chance("compare.md")
    assert sorted(printed) == ["evolved:1", "paper:1"]
    assert beside_chance("inside-a-rule.md") == {"evolved:1": printed["evolved:1"]}
    assert beside_chance("getting-started.md")["evolved:1"] == printed["evolved:1"]
    does = section("inside-a-rule.md", "What the best rule does")
    own = re.findall(r"^ reached (?:in|after) .*?  +(\d.*?%)  +\d.*?%", does, re.MULTILINE)
    assert len(own) == 3
    said = set(re.findall(r"(\d+\.\d\d) %", does))
    assert {f"{share} %" for share in said} == {share.replace("%", " %") for share in own}
    chance = re.search(r"^ fitness: mean best EP +\S+ ± \S+ +(\S+) ±", does, re.MULTILINE)
    assert chance is not None
    assert f"chance, which is at {chance[1]}:" in section("inside-a-rule.md", "Look inside")


def test_captions_tell_what_the_pictures_of_the_example_show() -> None:
    text = (DOCS / "explained.md").read_text(encoding="utf-8")
    captions = {name: words for words, name in re.findall(r"!\[([^\]]*)\]\(pictures/(\w+)\.svg\)", text)}
    trial = distal.learn("evolved:1", trials=1, keep_ep=True, chance=False)
    assert trial.ep is not None
    reached = [n for n, ep in enumerate(trial.ep[6].tolist(), start=1) if ep < 100]
    for name in ("traces", "trial"):
        assert f"episode {reached[0]}" in captions[name]
    drawn = (DOCS / "pictures" / "traces.svg").read_text(encoding="utf-8")
    row = re.search(r"name row (\d+): Δw = \+1", drawn)
    assert row is not None
    assert f"row {row[1]} says: strengthen" in captions["traces"]
    # A disc for every episode, a large one where the goal was reached, and one of each in the key.
    discs = re.findall(r'<circle [^>]*class="(dsp(?: half)?)"', (DOCS / "pictures" / "trial.svg").read_text())
    assert discs.count("dsp") == len(reached) + 1
    assert len(discs) == 100 + 2


def declared(sheet: str, selector: str) -> dict[str, str]:
    """Return the variables that a style sheet sets for a selector."""
    body = sheet.split(f"\n{selector} {{")[1].split("}", maxsplit=1)[0]
    return dict(re.findall(r"--([\w-]+): ([^;]+);", body))


def test_the_site_and_its_pictures_have_the_colours_of_all_others() -> None:
    sheet = (DOCS / "style" / "distal.css").read_text(encoding="utf-8")
    light, dark = (declared(sheet, name) for name in (":root", '[data-md-color-scheme="slate"]'))
    assert (light["md-primary-fg-color--light"], light["md-accent-fg-color"]) == (LIGHT["dsp"], LIGHT["hc"])
    assert (dark["md-typeset-a-color"], dark["md-accent-fg-color"]) == (DARK["dsp"], DARK["hc"])
    in_the_dark = declared(sheet, '[data-md-color-scheme="slate"] svg.distal')
    for picture in (DOCS / "pictures").iterdir():
        text = picture.read_text(encoding="utf-8")
        roles = dict(re.findall(r"--(\w+):(#[0-9a-f]{6});", text))
        assert roles.pop("paper") == "#ffffff"
        assert roles == {role: LIGHT[role] for role in roles}
        assert in_the_dark == {role: DARK[role] for role in roles}
        used = set(re.findall(r"var\(--(\w+)\)", text))
        assert used == {"paper", *roles}
        classes = {name for names in re.findall(r'class="([^"]*)"', text) for name in names.split()}
        for name in classes - {"distal"}:
            assert f".{name}{{" in text, (picture.name, name)
