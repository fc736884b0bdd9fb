"""Photograph the terminal and the report of `abstain demo`, and draw the social picture.

`python docs/pictures/screens.py` needs Chromium (`CHROMIUM` names the program), Rich and
Pillow. Run it again when the report or the tables change.
"""

import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from rich.console import Console
from rich.text import Text

HERE = Path(__file__).parent
CHROMIUM = os.environ.get("CHROMIUM", "chromium")
COLUMNS = 80
TERMINAL = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-label="A terminal">
<style>
.{unique_id}-matrix {{ font-family: ui-monospace, "DejaVu Sans Mono", Menlo, monospace;
font-size: {char_height}px; line-height: {line_height}px; white-space: pre; }}
{styles}
</style>
<defs>{lines}</defs>
<rect fill="#1b1f24" width="{width}" height="{height}" rx="8"/>
<g transform="translate(12, 12)" class="{unique_id}-matrix">{matrix}</g>
</svg>
"""
SOCIAL = """<!doctype html><style>
body {{ margin: 0; background: #fff; font-family: "DejaVu Sans", sans-serif; color: #1b1f24; }}
h1 {{ margin: 48px 60px 8px; font-size: 60px; }}
p {{ margin: 0 60px 20px; font-size: 30px; color: #454d55; }}
img {{ display: block; width: 930px; margin: 0 auto; }}
</style><h1>abstain</h1><p>A model answers, or a person does. Learn which, case by case.</p><img src="{picture}">
"""


def photograph(page: str, path: Path, width: int, height: int, colours: int = 64) -> None:
    """Save what Chromium shows of a page, with few colours: screens have few."""
    subprocess.run(
        [
            CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--virtual-time-budget=5000",
            f"--screenshot={path}", f"--window-size={width},{height}", page,
        ],
        check=True, capture_output=True,
    )  # fmt: skip
    Image.open(path).convert("RGB").quantize(colours).save(path, optimize=True)


def terminal(output: str, path: Path) -> None:
    """Draw what a command printed as an SVG that needs no font from elsewhere."""
    lines = output.splitlines()
    first = next(i for i, line in enumerate(lines) if "rows scored" in line or "┏" in line)
    last = next((i for i, line in enumerate(lines) if line.startswith("Saved, by part")), len(lines))
    console = Console(record=True, width=COLUMNS, file=io.StringIO())
    console.print(Text.from_ansi("$ abstain demo\n" + "\n".join(lines[first:last])))
    path.write_text(console.export_svg(code_format=TERMINAL, unique_id="screen"), encoding="utf-8")


def main() -> None:
    """Make all pictures."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "abstain", "demo", "--out", "demo"],
            check=True, capture_output=True, text=True, cwd=folder,
            env={**os.environ, "COLUMNS": str(COLUMNS), "FORCE_COLOR": "1"},
        )  # fmt: skip
        terminal(done.stdout, HERE / "terminal.svg")
        photograph(Path(folder, "demo", "replay", "report.html").as_uri(), HERE / "report.png", 1000, 1330)
        social = Path(folder, "social.html")
        social.write_text(SOCIAL.format(picture=(HERE / "demo.svg").as_uri()), encoding="utf-8")
        photograph(social.as_uri(), HERE / "social.png", 1200, 630)


if __name__ == "__main__":
    main()
