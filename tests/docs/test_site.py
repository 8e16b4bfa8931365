"""The documentation site: it builds without a warning, is complete, and needs no network."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import distal
from distal.base.colours import DARK, LIGHT
from distal.base.files import write_text
from tests import doors
from tests.command_line import options
from tests.given import some
from tests.html_page import Page
from tests.processes import wait_until

if TYPE_CHECKING:
    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Opened

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def sphinx(docs: Path, site: Path) -> subprocess.CompletedProcess[str]:
    """Build a site as `make docs` does."""
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (options,) = re.findall(r"sphinx-build (.*) docs build/site$", makefile, re.MULTILINE)
    return subprocess.run(
        [sys.executable, "-m", "sphinx", *options.split(), docs, site],
        capture_output=True,
        text=True,
        check=False,
        cwd=site.parent,
        timeout=300,
    )


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the site, once for all of pytest's workers; return its folder.

    It is built from a copy, in which pages of Python names can be written.
    """
    own = tmp_path_factory.getbasetemp()
    folder = (own.parent if "PYTEST_XDIST_WORKER" in os.environ else own) / "site"
    try:
        folder.mkdir()
    except FileExistsError:  # another worker builds it
        wait_until((folder / "said").exists, 300)
        assert (folder / "said").read_text() == ""
        return folder / "site"
    shutil.copytree(DOCS, folder / "docs", ignore=shutil.ignore_patterns("api", "__pycache__"))
    (folder / "src").symlink_to(ROOT / "src")
    done = sphinx(folder / "docs", folder / "site")
    write_text(folder / "said", done.stderr if done.returncode else "")
    assert done.returncode == 0, done.stderr
    return folder / "site"


@cache
def pages(folder: Path) -> dict[str, Page]:
    """Return all pages by their path in the site."""
    return {
        path.relative_to(folder).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(folder.rglob("*.html"))
        if "_static" not in path.parts  # a template of the theme
    }


def place(page: str, target: str) -> str:
    """Return the path in the site that a page means by a relative address."""
    return os.path.normpath(Path(page).parent / target.split("#", maxsplit=1)[0].split("?", maxsplit=1)[0])


def navigation(built: Path) -> set[str]:
    """Return the pages that the navigation of the four parts leads to."""
    found: set[str] = set()
    for part in ("index.html", "learn.html", "do.html", "know.html", "look-up.html"):
        text = (built / part).read_text(encoding="utf-8")
        for bar in re.findall(r'(?s)class="[^"]*(?:bd-navbar-elements|bd-toc-item)[^"]*">.*?</nav>', text):
            found |= {link.split("#")[0] for link in Page(bar).links if "://" not in link}
    return found


def test_every_page_is_in_the_navigation(built: Path) -> None:
    sources = [*DOCS.glob("*.md"), *DOCS.glob("notebooks/*.ipynb")]
    names = {path.relative_to(DOCS).with_suffix(".html").as_posix() for path in sources}
    assert names - navigation(built) == {"index.html"}
    for name in names:
        assert (built / name).is_file()


def test_no_two_pages_have_the_same_title(built: Path) -> None:
    found = (built / name for name in pages(built) if not name.startswith(("api/", "genindex", "search")))
    titles = [some(re.search(r"<h1>(.*?)<", page.read_text(encoding="utf-8")))[1] for page in found]
    assert sorted(set(titles)) == sorted(titles)


LONG = ("api/", "commands", "genindex", "search", "py-modindex")  # lists, not pages to read
UNREAD = ("table", "pre", "details", "svg", "script", "style")


def words(html: str) -> int:
    """Count the words of an article: without tables, printed lines, figures and folded parts."""
    article = html.split("<article")[1].split("</article", maxsplit=1)[0]
    for name in UNREAD:
        article = re.sub(rf"(?s)<{name}\b.*?</{name}>", " ", article)
    return len(re.sub("<[^>]*>", " ", article).split())


def test_a_page_to_read_has_at_most_1500_words(built: Path) -> None:
    for name in pages(built):
        if not name.startswith(LONG):
            assert words((built / name).read_text(encoding="utf-8")) <= 1500, name


def test_no_page_loads_anything_from_the_network(built: Path) -> None:
    for name, page in pages(built).items():
        for target in page.fetched:
            assert not re.match(r"(https?:)?//", target), (name, target)
        assert not any("url(" in style for style in page.styles)
    for sheet in built.rglob("*.css"):
        text = sheet.read_text(encoding="utf-8")
        assert not re.search(r"""(url\(|@import)\s*(url\()?\s*["']?(https?:)?//""", text), sheet
    for picture in built.rglob("*.svg"):
        text = picture.read_text(encoding="utf-8")
        assert not re.search(r"""(?:src|href)=["'](https?:)?//|url\(\s*["']?http|@import""", text), picture


def test_what_a_page_fetches_is_there(built: Path) -> None:
    for name, page in pages(built).items():
        for target in page.fetched:
            if not target.startswith(("data:", "#")):
                assert (built / place(name, target)).exists(), (name, target)


def test_links_between_pages_lead_to_a_place_on_them(built: Path) -> None:
    all_pages = pages(built)
    for name, page in all_pages.items():
        for link in page.links:
            file, _, anchor = link.partition("#")
            if "://" in link or link.startswith("mailto:") or link in ("", "."):
                continue
            there = place(name, file) if file else name
            assert there in all_pages or (built / there).is_file(), (name, link)
            assert not anchor or anchor in all_pages[there].ids, (name, link)


def test_the_command_reference_has_every_command_and_option(built: Path) -> None:
    text = (built / "commands.html").read_text(encoding="utf-8")
    for name, actions in options().items():
        start = text.index(f"<h2>distal {name}<")
        end = text.find("<h2>", start + 1)
        section = text[start : end if end > 0 else None]
        for action in actions:
            for option in set(action.option_strings) - {"-h", "--help"}:
                assert option in re.sub("<[^>]*>", "", section), (name, option)


def test_every_public_name_has_a_page_and_no_two_share_a_file_where_case_does_not_count(built: Path) -> None:
    ids = {name for page in pages(built).values() for name in page.ids}
    for name in doors.listed():
        assert name in ids, name
    files = [path.name.lower() for path in (built / "api").iterdir()]
    assert len(files) == len(set(files)) >= len(doors.listed())


def test_a_link_to_a_python_name_leads_to_its_page(built: Path) -> None:
    assert "api/distal.Task.html#distal.Task" in pages(built)["own-task.html"].links


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


@pytest.mark.parametrize(
    ("words", "title", "page"),
    [
        (
            "hill climbing",
            "First steps > Compare with hill climbing",
            "notebooks/first-steps.html#compare-with-hill-climbing",
        ),
        ("eligibility trace", "Glossary", "glossary.html"),
        ("eligibility trace", "Related work > Eligibility traces", "related-work.html#eligibility-traces"),
        ("ABCD", "Related work", "related-work.html"),
        ("neuromodulation", "Related work > Neuromodulation", "related-work.html#neuromodulation"),
        ("distal.Maze", "distal.Maze", "api/distal.Maze.html"),
    ],
)
def test_the_search_works_in_a_folder(opened: Opened, words: str, title: str, page: str) -> None:
    opened.keyboard.press("Control+k")
    opened.keyboard.type(words)
    opened.get_by_role("link", name=title, exact=True).first.click()
    opened.wait_for_url(f"**/{page}*")


def test_figures_take_the_colours_of_a_dark_page(opened: Opened, built: Path) -> None:
    opened.goto((built / "explained.html").as_uri())
    ink = opened.evaluate("getComputedStyle(document.querySelector('svg.distal')).getPropertyValue('--ink')")
    assert ink == DARK["ink"]


def test_no_page_is_wider_than_a_phone(browser: Browser, built: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844}, is_mobile=True)
    page = context.new_page()
    for name in ("index", "explained", "commands", "api", "api/distal.learn", "results-tables", "glossary"):
        page.goto((built / f"{name}.html").as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    context.close()


# Names in the first cells of tables that reach into the next cell.
COVERED = """[...document.querySelectorAll('article td:first-child')].filter(cell => {
  const words = document.createRange(); words.selectNodeContents(cell);
  return words.getBoundingClientRect().right > cell.getBoundingClientRect().right + 1;
}).map(cell => cell.textContent)"""


def test_names_in_tables_cover_nothing_on_a_phone(browser: Browser, built: Path) -> None:
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    for name in ("api", "environments", "your-method", "searching", "formats", "commands"):
        page.goto((built / f"{name}.html").as_uri())
        assert page.evaluate(COVERED) == [], name
    context.close()


def test_what_scrolls_sideways_fades_where_it_goes_on_and_is_clear_at_its_end(
    opened: Opened, built: Path
) -> None:
    opened.set_viewport_size({"width": 390, "height": 844})
    opened.goto((built / "getting-started.html").as_uri())
    more = "box => getComputedStyle(box).getPropertyValue('--more')"
    wide = opened.locator("article pre", has_text="lower EP is better").first
    assert wide.evaluate(more) == "48px"
    wide.evaluate("box => box.scrollTo(box.scrollWidth, 0)")
    opened.wait_for_function(
        "box => getComputedStyle(box).getPropertyValue('--more') == '0px'", arg=wide.element_handle()
    )
    short = opened.locator("article pre").first
    short.evaluate("box => { box.textContent = 'short' }")
    assert short.evaluate(more) == "0px"


def test_figures_of_notebooks_are_dark_in_the_dark(opened: Opened, built: Path) -> None:
    opened.goto((built / "notebooks" / "first-steps.html").as_uri())
    figure = opened.locator(".cell_output img").first
    assert figure.evaluate("image => getComputedStyle(image).filter").startswith("invert(1)")


@pytest.mark.parametrize(
    "figure", sorted([*DOCS.glob("*.svg"), *DOCS.glob("figures/*.svg")]), ids=lambda path: path.name
)
def test_figures_have_colours_for_dark_ground(figure: Path) -> None:
    if figure.name != "maze.svg":  # a picture of a maze brings its own ground
        assert "prefers-color-scheme: dark" in figure.read_text(encoding="utf-8")


def project(root: Path, pages: dict[str, str]) -> Path:
    """Write a small project with the site's own settings and these pages; return its folder."""
    shutil.copytree(DOCS / "style", root / "docs" / "style")
    shutil.copytree(DOCS / "templates", root / "docs" / "templates")
    for name in ("conf.py", "command_reference.py", "address.py"):
        shutil.copy(DOCS / name, root / "docs")
    for name, text in pages.items():
        (root / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        (root / "docs" / name).write_text(text, encoding="utf-8")
    (root / "src").mkdir()
    return root


WRONG = {
    "[a](nowhere.md)": "cross-reference target not found: 'nowhere.md'",
    "[a](#nowhere)": "cross-reference target not found: 'nowhere'",
    "[a](api.md#distal.nothing)": "cross-reference target not found: 'distal.nothing'",
    "```{eval-rst}\n.. autofunction:: tiny.call\n```": "Inline literal start-string without end-string",
}


def test_what_is_wrong_on_a_page_stops_the_build_and_is_said(tmp_path: Path) -> None:
    root = project(tmp_path, {"index.md": "\n\n".join(["# Home", *WRONG])})
    (root / "src" / "tiny.py").write_text('def call() -> None:\n    """Do ``it."""\n')
    done = sphinx(root / "docs", tmp_path / "site")
    assert done.returncode != 0
    said = [line for line in done.stderr.splitlines() if "WARNING: " in line or "ERROR: " in line]
    for complaint in WRONG.values():
        assert any(complaint in line for line in said), done.stderr


@pytest.mark.parametrize("path", sorted(DOCS.glob("notebooks/*.ipynb")), ids=lambda path: path.stem)
def test_a_notebook_becomes_a_page_with_its_outputs(path: Path, built: Path) -> None:
    html = (built / "notebooks" / f"{path.stem}.html").read_text(encoding="utf-8")
    article = " ".join(html.split("<article")[1].split("</article")[0].split())
    said = unescape(re.sub("<[^>]*>", "", article))
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            about, *_, last = cell["metadata"], "".join(cell["source"]).splitlines()[-1]
            assert (" ".join(last.split()) in said) != ("remove-cell" in about.get("tags", []))
            alt = about["mystnb"]["image"]["alt"] if "mystnb" in about else ""
            assert f'<img alt="{alt}' in unescape(article)
            for output in cell["outputs"]:
                assert all(" ".join(line.split()) in said for line in output.get("text", []))


def test_the_address_of_the_repository_is_in_one_place(tmp_path: Path) -> None:
    title = {"cell_type": "markdown", "source": ["# Small"], "metadata": {}}
    language = {"language_info": {"name": "python"}}
    small = json.dumps({"nbformat": 4, "nbformat_minor": 4, "metadata": language, "cells": [title]})
    home = "# Home\n\n```{toctree}\nnotebooks/small\n```\n"
    root = project(tmp_path, {"index.md": home, "notebooks/small.ipynb": small})
    address = "https://github.com/someone/distal"
    urls = f'[project]\nname = "distal"\n[project.urls]\nRepository = "{address}.git"\n'
    (root / "pyproject.toml").write_text(urls, encoding="utf-8")
    done = sphinx(root / "docs", tmp_path / "site")
    assert done.returncode == 0, done.stderr
    found = pages(tmp_path / "site")["notebooks/small.html"].links
    path = "docs/notebooks/small.ipynb"
    assert f"https://colab.research.google.com/github/someone/distal/blob/main/{path}" in found
    assert f"https://mybinder.org/v2/gh/someone/distal/main?labpath={path}" in found
    assert address in pages(tmp_path / "site")["index.html"].links


def test_notebooks_install_from_the_address_and_the_readme_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DOCS)
    from address import installed_from, links, repository

    cell = 'ADDRESS = ""\nprint(ADDRESS)'
    assert installed_from(cell, "https://example.org/distal") == cell.replace(
        '""', '"git+https://example.org/distal"'
    )
    assert installed_from(cell, "") == cell
    assert links("docs/one.ipynb", "") == links("docs/one.ipynb", "https://example.org/distal") == ""
    assert repository(ROOT / "none.toml") == ""
    assert repository() in (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_figures_are_what_the_script_draws(tmp_path: Path) -> None:
    subprocess.run([sys.executable, DOCS / "make_figures.py", tmp_path], check=True, timeout=120)
    drawn = {path.name: path.read_text(encoding="utf-8") for path in tmp_path.iterdir()}
    kept = {path.name: path.read_text(encoding="utf-8") for path in (DOCS / "pictures").iterdir()}
    assert drawn == kept


def section(page: str, heading: str) -> str:
    """Return what a page says under a heading."""
    text = (DOCS / page).read_text(encoding="utf-8")
    return text.split(f"\n## {heading}\n")[1].split("\n## ")[0]


def beside_chance(page: str) -> dict[str, tuple[str, str]]:
    """Return, for every rule whose result a page prints, its fitness and that of chance."""
    printed = (DOCS / page).read_text(encoding="utf-8")
    names = re.findall(r"^ ± standard error  +(\S.*?) {2,}chance ", printed, re.MULTILINE)
    scores = re.findall(r"^ fitness: mean best EP +(\S+) ± \S+ +(\S+) ± ", printed, re.MULTILINE)
    return dict(zip(names, scores, strict=True))


def test_what_is_said_of_chance_is_what_the_run_examples_print() -> None:
    printed = beside_chance("your-method.md")
    assert sorted(printed) == ["evolved:1", "paper:1"]
    assert beside_chance("inside-a-rule.md") == {"evolved:1": printed["evolved:1"]}
    assert beside_chance("getting-started.md")["evolved:1"] == printed["evolved:1"]
    does = section("inside-a-rule.md", "The best rule")
    own = re.findall(r"^ reached (?:in|after) .*?  +(\d.*?%)  +\d.*?%", does, re.MULTILINE)
    assert len(own) == 3
    said = set(re.findall(r"\d+\.\d\d%", re.sub(r"```.*?```", "", does, flags=re.DOTALL)))
    assert said == set(own)
    chance = some(re.search(r"^ fitness: mean best EP +\S+ ± \S+ +(\S+) ±", does, re.MULTILINE))
    assert f"chance, which is at {chance[1]}:" in section("inside-a-rule.md", "Look inside")


def test_captions_tell_what_the_pictures_of_the_example_show() -> None:
    text = (DOCS / "explained.md").read_text(encoding="utf-8")
    captions = {name: words for words, name in re.findall(r"!\[([^\]]*)\]\(pictures/(\w+)\.svg\)", text)}
    trial = distal.learn("evolved:1", trials=1, keep_ep=True, chance=False)
    reached = [n for n, ep in enumerate(some(trial.ep)[6].tolist(), start=1) if ep < 100]
    for name in ("traces", "trial"):
        assert f"episode {reached[0]}" in captions[name]
    drawn = (DOCS / "pictures" / "traces.svg").read_text(encoding="utf-8")
    row = some(re.search(r"name row (\d+): Δw = \+1", drawn))
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
    light, dark = (declared(sheet, f'html[data-theme="{name}"]') for name in ("light", "dark"))
    assert (light["pst-color-primary"], light["pst-color-secondary"]) == (LIGHT["dsp"], LIGHT["hc"])
    assert (dark["pst-color-primary"], dark["pst-color-secondary"]) == (DARK["dsp"], DARK["hc"])
    in_the_dark = declared(sheet, 'html[data-theme="dark"] svg.distal')
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
