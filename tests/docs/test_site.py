"""The documentation site: it builds without a warning, is complete, and needs no network."""

from __future__ import annotations

import argparse
import base64
import json
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

import distal
from distal import cli
from distal.base.checks import InputError
from distal.base.colours import DARK, LIGHT
from distal.studies.reproduction import paper_results
from tests.html_page import Page

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Opened

pytest.importorskip("zensical", reason="the site needs the extra docs")

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site as `make docs` does; return its folder."""
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, DOCS / "make_site.py", folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def make_site(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(DOCS)
    import make_site

    return make_site


def pages(folder: Path) -> dict[str, Page]:
    """Return all pages by their path in the site."""
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
    }


def place(page: str, target: str) -> str:
    """Return the path in the site that a page means by a relative address."""
    return os.path.normpath(Path(page).parent / target.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0])


def nav(entries: list[Any]) -> list[str]:
    """Return the files of a navigation, in order."""
    files: list[str] = []
    for entry in entries:
        for value in entry.values():
            files += nav(value) if isinstance(value, list) else [value]
    return files


def navigation() -> list[str]:
    return nav(tomllib.loads((ROOT / "zensical.toml").read_text(encoding="utf-8"))["project"]["nav"])


def test_every_page_is_in_the_navigation_and_every_entry_is_a_page(built: Path) -> None:
    files = navigation()
    sources = [*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")]
    assert sorted(files) == sorted(path.relative_to(DOCS).with_suffix(".md").as_posix() for path in sources)
    for file in files:
        assert (built / file).with_suffix(".html").is_file()


def test_no_page_loads_anything_from_the_network(built: Path) -> None:
    for name, page in pages(built).items():
        for target in page.fetched:
            assert not re.match(r"(https?:)?//", target), (name, target)
        assert not any("url(" in style for style in page.styles)
    for sheet in built.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"""url\(\s*["']?(https?:)?//|@import""", text), sheet
    for picture in built.rglob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"""(?:src|href)=["'](https?:)?//|url\(\s*["']?http|@import""", text), picture


def test_what_a_page_fetches_is_there(built: Path) -> None:
    for name, page in pages(built).items():
        if name == "404.html":  # its addresses begin at the root of a server
            continue
        for target in page.fetched:
            if not target.startswith(("data:", "#")):
                assert (built / place(name, target)).exists(), (name, target)


def test_the_command_reference_has_every_command_and_option(built: Path) -> None:
    text = (built / "commands.html").read_text(encoding="utf-8")
    subcommands = next(
        action for action in cli.make_parser()._actions if isinstance(action, argparse._SubParsersAction)
    )
    for name, parser in subcommands.choices.items():
        start = text.index(f'<h2 id="{name}">')
        end = text.find("<h2 ", start + 1)
        section = text[start : end if end > 0 else None]
        for action in parser._actions:
            for option in set(action.option_strings) - {"-h", "--help"}:
                assert option in section, (name, option)


def test_the_python_reference_has_every_public_name(built: Path) -> None:
    page = pages(built)["api.html"]
    for name in distal.__all__:
        assert f"distal.{name}" in page.ids, name


@pytest.fixture
def opened(browser: Browser, built: Path) -> Iterator[Opened]:
    """Open the home page from its folder, in the dark; nothing but files may be asked for."""
    context = browser.new_context(color_scheme="dark")
    page = context.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((built / "index.html").as_uri())
    yield page
    context.close()
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []


def test_the_search_works_in_a_folder_and_keeps_what_is_typed_while_results_come(opened: Opened) -> None:
    opened.locator(".md-search__button").click()
    found = opened.get_by_text("Hill climbing: the baseline").first
    for words in ("hill", " climbing"):
        opened.keyboard.type(words)
        found.wait_for()
    assert opened.get_by_placeholder("Search").input_value() == "hill climbing"
    found.click()
    opened.wait_for_url("**/explained.html*")
    assert "#hill-climbing-the-baseline" in opened.url


def test_a_reader_who_likes_it_dark_gets_it_dark_and_can_switch(opened: Opened) -> None:
    def brightness() -> int:
        colour = opened.evaluate("getComputedStyle(document.body).backgroundColor")
        return max(int(part) for part in re.findall(r"\d+", colour)[:3])

    assert brightness() < 64
    opened.get_by_title("Light").click()
    opened.wait_for_function("document.body.dataset.mdColorScheme === 'default'")
    assert brightness() > 192


def project(root: Path, pages: dict[str, str]) -> Path:
    """Write a small project with the site's own settings and these pages; return its folder."""
    settings = (ROOT / "zensical.toml").read_text(encoding="utf-8")
    entries = ", ".join(f'{{ "{name}" = "{Path(name).with_suffix(".md").as_posix()}" }}' for name in pages)
    settings = re.sub(r"(?s)nav = \[.*?\n\]\n", f"nav = [{entries}]\n", settings)
    for name, text in {
        "zensical.toml": settings,
        **{f"docs/{name}": text for name, text in pages.items()},
    }.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text, encoding="utf-8")
    (root / "src").mkdir()
    return root


@pytest.mark.parametrize(
    ("page", "complaint"),
    [
        ("[a](nowhere.md)", "page does not exist"),
        ("[a](#nowhere)", "anchor does not exist"),
        ("[a][tiny.nothing]", "unresolved autoref"),
        ("::: tiny.call", "'wrong' does not appear in the function signature"),
    ],
)
def test_what_is_wrong_on_a_page_stops_the_build(
    make_site: ModuleType, tmp_path: Path, page: str, complaint: str
) -> None:
    root = project(tmp_path / "project", {"index.md": f"# Home\n\n{page}\n"})
    tiny = 'def call(right: int) -> None:\n    """Do it.\n\n    Args:\n        wrong: No.\n    """\n'
    (root / "src" / "tiny.py").write_text(tiny)
    with pytest.raises(InputError, match=complaint):
        make_site.build(root, tmp_path / "site")
    assert not (tmp_path / "site").exists()


def test_a_folder_with_other_files_is_left_alone(make_site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(InputError, match="holds other files"):
        make_site.build(ROOT, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["thesis.tex"]


DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def notebook(*cells: dict[str, Any]) -> str:
    return json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})


def code(source: str, *outputs: dict[str, Any], **metadata: Any) -> dict[str, Any]:
    return {"cell_type": "code", "source": source, "outputs": outputs, "metadata": metadata}


def shows(**data: Any) -> dict[str, Any]:
    """Return an output in several forms; `_` stands for the stroke in a form's name."""
    return {
        "output_type": "display_data",
        "data": {name.replace("_", "/"): form for name, form in data.items()},
    }


def test_a_notebook_becomes_a_page_with_its_outputs(make_site: ModuleType, tmp_path: Path) -> None:
    links = "See [Home](../index.md) and [the readme](../../README.md)."
    small = notebook(
        {"cell_type": "markdown", "source": ["# Small\n", "\n", links], "metadata": {}},
        code(
            "print(1)", {"output_type": "stream", "name": "stdout", "text": ["\x1b[1mone\x1b[0m\n", "```\n"]}
        ),
        code("secret()", tags=["remove-cell"]),
        code("result", shows(text_plain="Result(1 < 2)")),
        code("frame", shows(text_plain="plain", text_html=["<table>\n\n", "<tr><td>7</td></tr></table>"])),
        code("plot()", shows(text_plain="Axes", image_png=base64.b64encode(DOT).decode()), alt="A dot"),
    )
    home = "# Home\n\n[Small](notebooks/small.ipynb#small)\n"
    root = project(tmp_path / "project", {"index.md": home, "notebooks/small.ipynb": small})
    make_site.build(root, tmp_path / "site")
    site = tmp_path / "site"
    html = (site / "notebooks" / "small.html").read_text(encoding="utf-8")
    assert re.search(r'<h1 id="small">Small', html)
    assert '<a href="../index.html">Home</a> and the readme.' in html
    assert re.search(r'class="output highlight"><pre>(<[^>]*>)*one\n```\n', html)
    assert re.search(r'class="output highlight"><pre>(<[^>]*>)*Result\(1 &lt; 2\)', html)
    assert re.search(r'<div class="output">\s*<table>\s*<tr><td>7</td></tr></table>', html)
    assert '<img alt="A dot" src="small-6-1.png"' in html.replace(" />", "")
    assert (site / "notebooks" / "small-6-1.png").read_bytes() == DOT
    assert "secret" not in html
    assert "plain" not in html.split("<article")[1].split("</article")[0]
    assert 'href="notebooks/small.html#small"' in (tmp_path / "site" / "index.html").read_text(
        encoding="utf-8"
    )
    assert list((tmp_path / "site").rglob("*.ipynb")) == []


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (
            notebook(code("1 / 0", {"output_type": "error", "ename": "ZeroDivisionError"})),
            "ZeroDivisionError",
        ),
        (json.dumps({"nbformat": 3, "worksheets": []}), "no notebook of format 4"),
    ],
)
def test_a_notebook_that_failed_or_is_too_old_is_refused(
    make_site: ModuleType, tmp_path: Path, text: str, complaint: str
) -> None:
    root = project(tmp_path / "project", {"index.md": "# Home\n", "bad.ipynb": text})
    with pytest.raises(InputError, match=rf"bad\.ipynb .*{complaint}"):
        make_site.build(root, tmp_path / "site")


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
    paper = paper_results()
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
