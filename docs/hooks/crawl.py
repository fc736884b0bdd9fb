"""The built site is crawled: links, anchors, titles, pictures' words, and whether texts lead to every page."""

from collections import defaultdict
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

ALONE = {"index.html", "genindex.html", "search.html"}
"""Pages that no text has to link."""


class Page(HTMLParser):
    """What a page links, shows and is called."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.in_text: list[str] = []
        self.silent: list[str] = []
        self.described = False
        self._article = 0
        self._heading = False
        self.title = ""
        self.headings = 0
        self.feed(text)
        self.title = " ".join(self.title.replace("#", " ").split())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of what a tag says."""
        said = {name: value or "" for name, value in attrs}
        if "id" in said:
            self.ids.add(said["id"])
        if tag == "article":
            self._article += 1
        if tag == "h1":
            self._heading = True
            self.headings += 1
        if tag == "a" and "href" in said:
            self.links.append(said["href"])
            if self._article and "headerlink" not in said.get("class", ""):
                self.in_text.append(said["href"])
        if tag in ("img", "script", "source") and "src" in said:
            self.links.append(said["src"])
        if tag == "link" and "href" in said:
            self.links.append(said["href"])
        if tag == "img" and not said.get("alt", "").strip():
            self.silent.append(said.get("src", "?"))
        if tag == "meta" and said.get("name") == "description" and said.get("content"):
            self.described = True

    def handle_endtag(self, tag: str) -> None:
        """Leave what began."""
        if tag == "article":
            self._article -= 1
        if tag == "h1":
            self._heading = False

    def handle_data(self, data: str) -> None:
        """Collect the title."""
        if self._heading:
            self.title += data


def target(page: str, link: str) -> tuple[str, str] | None:
    """Return the file of the site and the anchor that a link leads to; None if it leads elsewhere."""
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return None
    steps: list[str] = list(PurePosixPath(page).parent.parts) if parts.path else list(PurePosixPath(page).parts)
    for step in unquote(parts.path).split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in (".", ""):
            steps.append(step)
    return "/".join(steps), unquote(parts.fragment)


def faults(site: Path) -> list[str]:
    """Return everything that is wrong with a site, a sentence each."""
    pages = {
        path.relative_to(site).as_posix(): Page(path.read_text(encoding="utf-8"))
        for path in sorted(site.rglob("*.html"))
        if not path.relative_to(site).parts[0].startswith("_")
    }
    found, titles, linked = [], defaultdict(list), set()
    for name, page in pages.items():
        titles[page.title].append(name)
        if page.headings != 1:
            found.append(f"{name}: expected one title, got {page.headings}")
        if not page.described:
            found.append(f"{name}: expected a description")
        found += [f"{name}: expected words for the picture {source}" for source in page.silent]
        for link in page.links:
            where = target(name, link)
            if where is None:
                continue
            path, anchor = where
            if not (site / path).is_file():
                found.append(f"{name}: {link} leads nowhere")
            elif anchor and path in pages and anchor not in pages[path].ids:
                found.append(f"{name}: {link} leads to no place of {path}")
        linked.update(where[0] for link in page.in_text if (where := target(name, link)) and where[0] != name)
    found += [f"{' and '.join(names)} are both called {title!r}" for title, names in titles.items() if len(names) > 1]
    found += [f"{name}: no text links it" for name in pages if name not in linked and name not in ALONE]
    return found


def check(app: Sphinx, error: Exception | None) -> None:
    """Called by Sphinx when all is written."""
    if error is None and app.builder.format == "html":
        found = faults(Path(app.outdir))
        if found:
            raise ExtensionError("\n".join(["the site has faults:", *found]))


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", check, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
