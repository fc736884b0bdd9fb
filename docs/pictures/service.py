"""Photograph the service's page at the end of the demo's month, for the pages about the service.

`python docs/pictures/service.py` starts `abstain serve --demo`, waits two minutes and stops it. It needs Chromium
(`CHROMIUM` names the program), Playwright and Pillow. Run it again when the page changes.
"""

import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
from PIL import Image
from playwright.sync_api import sync_playwright

from abstain.service.demo import ROWS

FOLDER = Path(__file__).parents[1] / "_static" / "service"
SECONDS = 600.0
PICTURES = [
    ("gate-1280-light", "/ui/gates/demo", 1120), ("gate-1280-dark", "/ui/gates/demo", 1120),
    ("gate-768-light", "/ui/gates/demo", 1120), ("gate-768-dark", "/ui/gates/demo", 1120),
    ("gate-390-light", "/ui/gates/demo", 1000), ("gate-390-dark", "/ui/gates/demo", 1000),
    ("gates-768-dark", "/ui", 700),
    ("review-1280-light", "/ui/gates/demo/review", 560), ("review-390-dark", "/ui/gates/demo/review", 1000),
]  # fmt: skip
"""What is shown, width and colours; where; and how much of it."""


def wait_for_the_month(url: str) -> None:
    """Return when all cases of the demo were decided and their labels came."""
    end, last = time.monotonic() + SECONDS, None
    while time.monotonic() < end:
        time.sleep(2.0)
        try:
            found = httpx.get(f"{url}/v1/gates/demo/health").json()
        except httpx.HTTPError:
            continue
        now = found.get("cases"), found.get("labels")
        if now[0] is not None and now[0] >= ROWS and now == last:
            return
        last = now
    raise TimeoutError(f"the demo took more than {SECONDS:g} seconds")


def main() -> None:
    """Take all pictures."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    server = subprocess.Popen([sys.executable, "-m", "abstain", "serve", "--demo", "--port", str(port)])
    try:
        wait_for_the_month(url)
        chromium = shutil.which(os.environ.get("CHROMIUM", "chromium"))
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            for name, path, height in PICTURES:
                _, width, scheme = name.split("-")
                context = browser.new_context(
                    color_scheme="dark" if scheme == "dark" else "light",
                    viewport={"width": int(width), "height": height},
                )
                tab = context.new_page()
                tab.goto(url + path)
                tab.wait_for_timeout(3_000)
                file = FOLDER / f"{name}.png"
                tab.screenshot(path=file)
                context.close()
                Image.open(file).convert("RGB").quantize(64).save(file, optimize=True)
            browser.close()
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
