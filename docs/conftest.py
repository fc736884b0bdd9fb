"""Run the pages as doctests, except for what other tests run.

Scripts beside the pages are no modules, the build runs what it writes, and tests/project/test_tutorials.py runs the
tutorials, which need a folder.
"""

import re
from pathlib import Path
from typing import Any

import pytest

collect_ignore_glob = ["*.py", "gallery/*", "tutorial.md", "research.md"]
FILE = re.compile(r"<!-- (\S+) -->\n```\w+\n(.*?)```", re.DOTALL)


@pytest.fixture(autouse=True)
def folder(request: pytest.FixtureRequest, doctest_namespace: dict[str, Any], tmp_path: Path) -> None:
    """Files that a page shows, each after a comment with its name: examples find them in ``folder``."""
    for name, text in FILE.findall(request.path.read_text(encoding="utf-8")):
        (tmp_path / name).write_text(text, encoding="utf-8")
    doctest_namespace["folder"] = tmp_path
