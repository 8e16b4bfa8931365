"""A page of HTML as tests look at it: its tags closed, its links, what a browser fetches for it."""

from __future__ import annotations

from html.parser import HTMLParser

# What a browser fetches by itself; an ordinary link is followed by a person.
FETCHED = {
    "script": "src", "img": "src", "iframe": "src", "source": "src", "video": "src", "audio": "src",
    "link": "href", "embed": "src", "object": "data", "use": "href", "image": "href",
}  # fmt: skip
VOID = frozenset(("meta", "br", "img", "link", "hr", "input", "source", "embed"))


class Page(HTMLParser):
    """Collects what a page fetches, its ids, links, styles and words; `open` holds tags that do not close."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.styles: list[str] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.fetched += [given[name] for name in (FETCHED.get(tag, ""), "xlink:href") if name in given]
        self.fetched += [part.split()[0] for part in given.get("srcset", "").split(",") if part.strip()]
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        self.ids += [given["id"]] if given.get("id") else []
        self.styles.append(given.get("style", ""))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        self.words.append(data)
