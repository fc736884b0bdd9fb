"""Check the built site with axe, and that its menu has one line: `python docs/accessibility.py out/site [PAGE ...]`.

Chromium (`CHROMIUM` names the program) opens every page, or those that are named, light and, but for the pages of the
reference, which are alike, dark. The exit code is 1 if axe finds anything serious, or the menu wraps.
"""

import os
import shutil
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, sync_playwright

SERIOUS = ("serious", "critical")
WIDTHS = (960, 1000, 1100, 1280)
"""Windows in which the menu at the top has one line; narrower ones have a button for it."""
LINES = "new Set([...document.querySelectorAll('.bd-header .navbar-nav > li')].map(item => item.offsetTop)).size"


def wrapped(tab: Page) -> list[int]:
    """Return the widths at which the menu of an open page does not have one line."""
    found = []
    for width in WIDTHS:
        tab.set_viewport_size({"width": width, "height": 800})
        if tab.evaluate(LINES) != 1:
            found.append(width)
    return found


def check(site: Path, pages: list[Path], chromium: str, scheme: str) -> tuple[list[str], int]:
    """Open pages in a colour scheme; return what axe finds, how the menu wraps, and how much of it is serious."""
    found, bad = [], 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        tab = browser.new_context(color_scheme=scheme).new_page()
        for page in pages:
            name = page.relative_to(site).as_posix()
            if scheme == "dark" and name.startswith("reference/"):
                continue
            tab.goto(page.as_uri())
            for one in Axe().run(tab).response["violations"]:
                bad += one["impact"] in SERIOUS
                where = [node["html"][:160] for node in one["nodes"][:3]]
                found.append("\n    ".join([f"{name} ({scheme}): {one['impact']}: {one['id']}", *where]))
        if scheme == "light":
            tab.goto((site / "index.html").as_uri())
            found += [f"index.html: at {width} px the menu does not have one line" for width in wrapped(tab)]
            bad += len(wrapped(tab))
        browser.close()
    return found, bad


def main() -> int:
    """Check what the command line names.

    Returns:
        The exit code: 1 if something serious was found, 2 if there is no browser or no page.
    """
    site, names = Path(sys.argv[1]).resolve(), sys.argv[2:]
    chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
    if chromium is None or not (site / "index.html").exists():
        print("This needs Chromium, and the site that `make docs` builds.", file=sys.stderr)
        return 2
    pages = [page for page in sorted(site.rglob("*.html")) if not page.relative_to(site).as_posix().startswith("_")]
    pages = [page for page in pages if not names or page.relative_to(site).as_posix() in names]
    serious = 0
    with ProcessPoolExecutor(2) as pool:
        for found, bad in pool.map(partial(check, site, pages, chromium), ("light", "dark")):
            print(*found, sep="\n", end="\n" if found else "")
            serious += bad
    print(f"axe: {len(pages)} pages, {serious} serious findings")
    return 1 if serious else 0


if __name__ == "__main__":
    sys.exit(main())
