"""Icons as what is used of them: a few lines of style instead of the theme's script with all icons, 1.5 MB."""

import re
from pathlib import Path
from urllib.parse import quote

from sphinx.application import Sphinx

USED = re.compile(r'class="[^"]*\bfa-(?:solid|regular|brands) fa-([a-z-]+)')
SCRIPT = re.compile(r'<script[^>]*\bsrc="([^"]*_static/)scripts/fontawesome\.js[^"]*"[^>]*></script>')
STYLE = r'<link rel="stylesheet" href="\1icons.css" />'
PRELOAD = re.compile(r'\s*<link[^>]*\bhref="[^"]*fontawesome\.js[^"]*"[^>]*>')
TOGGLE = '<summary{}><span class="toctree-toggle"'
"""What opens a part of the menu: an icon, which needs a name."""
MADE_BY_SCRIPTS = {"xmark"}
BASE = """\
.fa-solid, .fa-regular, .fa-brands {
  display: inline-block; width: 1em; height: 1em; vertical-align: -0.125em; background: currentColor;
  mask: var(--icon) center / contain no-repeat;
}
:is(.fa-solid, .fa-regular, .fa-brands)::before { content: none; }
.fa-fw { width: 1.25em; }
.fa-lg { font-size: 1.25em; vertical-align: -0.075em; }
html[data-mode=auto] .theme-switch-button .theme-switch[data-mode=auto],
html[data-mode=dark] .theme-switch-button .theme-switch[data-mode=dark],
html[data-mode=light] .theme-switch-button .theme-switch[data-mode=light] { display: inline-block; }
.search-button-field > i { display: inline-block !important; }
@media (forced-colors: active) { .fa-solid { background: CanvasText; } }
"""


def icon(script: str, name: str) -> str:
    """Find an icon by its name or another name of it; return it as SVG."""
    drawn = r':\[(\d+),(\d+),\[[^\]]*\],"[0-9a-f]+","([^"]+)"\]'
    found = re.search(rf'(?<![\w-]){re.escape(name)}"?{drawn}', script) or re.search(
        rf'"?[a-z0-9-]+"?:\[(\d+),(\d+),\[[^\]]*"{re.escape(name)}"[^\]]*\],"[0-9a-f]+","([^"]+)"\]', script
    )
    if found is None:
        raise LookupError(f"the theme has no icon {name}")
    width, height, path = found.groups()
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"><path d="{path}"/></svg>'


def replace(app: Sphinx, error: Exception | None) -> None:
    """Called by Sphinx when all is written."""
    static = Path(app.outdir, "_static")
    script = static / "scripts" / "fontawesome.js"
    if error is not None or app.builder.format != "html" or not script.exists():
        return
    names = set(MADE_BY_SCRIPTS)
    for page in Path(app.outdir).rglob("*.html"):
        text = page.read_text(encoding="utf-8").replace(TOGGLE.format(""), TOGGLE.format(' aria-label="More pages"'))
        names.update(USED.findall(text))
        page.write_text(PRELOAD.sub("", SCRIPT.sub(STYLE, text)), encoding="utf-8")
    drawn = script.read_text(encoding="utf-8")
    rules = [
        f'.fa-{name} {{ --icon: url("data:image/svg+xml,{quote(icon(drawn, name))}"); }}' for name in sorted(names)
    ]
    (static / "icons.css").write_text(BASE + "\n".join(rules) + "\n", encoding="utf-8")
    for path in {*static.rglob("*.map"), *static.glob("scripts/fontawesome.js*")}:
        path.unlink()


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("build-finished", replace, priority=800)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
