"""Check the built site with axe: `python docs/accessibility.py out/site axe.min.js`.

`npm pack axe-core` brings axe.min.js. Chromium (`CHROMIUM` names the program) opens every page, light and dark. The
exit code is 1 if axe finds anything serious.
"""

import base64
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

CHROMIUM = os.environ.get("CHROMIUM", "chromium")
SERIOUS = ("serious", "critical")
RUN = """<script src="{root}axe.min.js"></script><script>
addEventListener("load", async () => {{
  const found = await axe.run();
  const where = nodes => nodes.slice(0, 3).map(node => node.html.slice(0, 160));
  const short = found.violations.map(one => [one.impact, one.id, where(one.nodes)]);
  const pre = document.createElement("script");
  pre.type = "text/plain"; pre.id = "axe-found";
  pre.textContent = btoa(unescape(encodeURIComponent(JSON.stringify(short))));
  document.body.append(pre);
}});</script></body>"""


def violations(page: Path, dark: bool) -> list[tuple[str, str, list[str]]]:
    """Open a page and return what axe finds: how bad, which rule, and where."""
    looks = ["--blink-settings=preferredColorScheme=0"] if dark else []
    command = [
        CHROMIUM,
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--virtual-time-budget=20000",
        *looks,
        "--dump-dom",
    ]
    shown = subprocess.run([*command, page.as_uri()], check=True, capture_output=True, text=True, timeout=120).stdout
    found = re.search(r'id="axe-found">([^<]*)<', shown)
    if found is None:
        raise RuntimeError(f"{page.name}: axe did not run")
    return json.loads(base64.b64decode(found[1]))


def main(site: Path, axe: Path, names: list[str]) -> int:
    """Check all pages, or those named; return the number of serious violations."""
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "site")
        shutil.copytree(site, copy)
        shutil.copy(axe, copy / "axe.min.js")
        for page in sorted(copy.rglob("*.html")):
            name = page.relative_to(copy).as_posix()
            if name.startswith("_") or (names and name not in names):
                continue
            root = "../" * name.count("/")
            page.write_text(
                page.read_text(encoding="utf-8").replace("</body>", RUN.format(root=root)), encoding="utf-8"
            )
            for dark in (False, True):
                for impact, rule, where in violations(page, dark):
                    bad += impact in SERIOUS
                    print(f"{name} ({'dark' if dark else 'light'}): {impact}: {rule}", *where, sep="\n    ")
    return bad


if __name__ == "__main__":
    sys.exit(1 if main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3:]) else 0)
