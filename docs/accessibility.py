"""Check the built site with axe: `python docs/accessibility.py out/site [PAGE ...]`.

Chromium (`CHROMIUM` names the program) opens every page, or those that are named, light and, but for the pages of the
reference, which are alike, dark. The exit code is 1 if axe finds anything serious.
"""

import os
import shutil
import sys
from pathlib import Path

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import sync_playwright

SERIOUS = ("serious", "critical")


def check(site: Path, names: list[str], chromium: str) -> int:
    """Print what axe finds; return the number of serious violations."""
    pages = [page for page in sorted(site.rglob("*.html")) if not page.relative_to(site).as_posix().startswith("_")]
    pages = [page for page in pages if not names or page.relative_to(site).as_posix() in names]
    bad = 0
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            context = browser.new_context(color_scheme=scheme)
            tab = context.new_page()
            for page in pages:
                if scheme == "dark" and "reference" in page.relative_to(site).parts:
                    continue
                tab.goto(page.as_uri())
                for one in Axe().run(tab).response["violations"]:
                    bad += one["impact"] in SERIOUS
                    where = [node["html"][:160] for node in one["nodes"][:3]]
                    name = page.relative_to(site).as_posix()
                    print(f"{name} ({scheme}): {one['impact']}: {one['id']}", *where, sep="\n    ")
            context.close()
        browser.close()
    print(f"axe: {len(pages)} pages, {bad} serious violations")
    return bad


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
    return 1 if check(site, names, chromium) else 0


if __name__ == "__main__":
    sys.exit(main())
