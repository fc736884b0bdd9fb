"""The pages of the site: what is executed elsewhere is shown as it was written."""

import importlib.util
from pathlib import Path

import abstain as ab

ROOT = Path(__file__).parent.parent
spec = importlib.util.spec_from_file_location("fences", ROOT / "docs" / "hooks" / "fences.py")
fences = importlib.util.module_from_spec(spec)
spec.loader.exec_module(fences)


def test_examples_are_fenced():
    text = "It counts.\n\n>>> 1 + 1\n2\n\nAnd more.\n\n>>> 2\n2"
    expected = "It counts.\n\n```python\n>>> 1 + 1\n2\n```\n\nAnd more.\n\n```python\n>>> 2\n2\n```"
    assert fences.fenced(text) == expected
    assert fences.fenced("No example.") == "No example."


def test_the_reference_has_every_public_name():
    pages = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "reference").glob("*.md"))
    modules = {"datasets", "experts", "graphs", "instances", "losses", "theory"}
    for name in ab.__all__:
        if name not in modules and name != "AbstainError":
            assert f"::: abstain.{name}" in pages or f"::: abstain.{name}.{name}" in pages, name
