"""The repository itself: its size and shape, versions, targets and workflows."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

from ..lowest import lowest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src"
FILES = sorted(SOURCE.rglob("*.py"))
SERVICE = {"client", "service", "serve", "gates", "keys", "backup"}
"""Names of the files and folders that only the service has."""
MOST_FILES, MOST_WITH_ONE_IMPORTER, MOST_DEPENDENCIES = 200, 45, 4
MOST_LINES, MOST_LINES_OF_SERVICE = 26_500, 6_000


@cache
def tree(path):
    """Return the syntax tree of a file."""
    return ast.parse(path.read_text(encoding="utf-8"))


def importers():
    """Return, for every module of the package, the modules that import it."""
    names = {path: ".".join(path.relative_to(SOURCE).with_suffix("").parts) for path in FILES}
    modules = {name.removesuffix(".__init__"): path for path, name in names.items()}
    found = defaultdict(set)
    for module, path in modules.items():
        for node in ast.walk(tree(path)):
            if not isinstance(node, ast.ImportFrom):
                continue
            package = module.split(".") if path.name == "__init__.py" else module.split(".")[:-1]
            base = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*base, *([node.module] if node.module else [])])
            for alias in node.names:
                inside = f"{source}.{alias.name}"
                found[inside if inside in modules else source].add(module)
    return {module: found[module] for module, path in modules.items() if path.name != "__init__.py"}


def lines_of_code(path):
    """Count the lines that are neither empty nor documentation, which may be as long as it needs to be."""
    text = path.read_text(encoding="utf-8")
    documentation = {
        line
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        for line in range(node.lineno, node.end_lineno + 1)
    }
    return sum(1 for number, line in enumerate(text.splitlines(), 1) if line.strip() and number not in documentation)


def test_the_package_stays_small():
    more = len(FILES) - MOST_FILES
    assert more <= 0, f"{more} modules too many: merge two that are read together, or put a helper with its one user"
    service = [path for path in FILES if SERVICE & {path.stem, *path.relative_to(SOURCE).parts}]
    for files, most in ((service, MOST_LINES_OF_SERVICE), (set(FILES) - set(service), MOST_LINES)):
        more = sum(map(lines_of_code, files)) - most
        assert more <= 0, f"{more} lines of code too many"


def test_few_modules_serve_one_other_module():
    alone = sorted(m for m, users in importers().items() if len(users) == 1 and not SERVICE & set(m.split(".")))
    assert len(alone) <= MOST_WITH_ONE_IMPORTER, alone


def test_few_hard_dependencies():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert len(project["dependencies"]) <= MOST_DEPENDENCIES, project["dependencies"]


def test_import_abstain_imports_no_extra():
    extras = "{'typer', 'rich', 'polars', 'jinja2', 'plotly', 'matplotlib', 'joblib', 'pydantic', 'sklearn', 'river'}"
    code = f"import abstain, sys; print(sorted(set(sys.modules) & {extras}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_every_module_says_what_it_is():
    silent = [path for path in FILES if not ast.get_docstring(tree(path))]
    assert silent == []


def test_every_module_has_a_layer_and_contributing_names_it():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ][0]
    named = {one.strip().removeprefix("abstain.") for row in contract["layers"] for one in re.split("[|:]", row)}
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert {one for one in named if f"`{one}/`" not in contributing and f"`{one}.py`" not in contributing} == set()
    here = {path.stem if path.is_file() else path.name for path in (SOURCE / "abstain").iterdir()}
    here -= {"__init__", "__main__", "py", "__pycache__"}
    assert named >= here, f"not in a layer of pyproject.toml: {sorted(here - named)}"


def test_contributing_names_every_target_and_every_script_of_the_pictures():
    contributing = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    targets = re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(targets) == 10
    assert [target for target in targets if f"`make {target}`" not in contributing] == []
    scripts = [path.name for path in (ROOT / "docs" / "pictures").glob("*.py")]
    assert [name for name in scripts if name not in contributing] == []


def test_the_lowest_versions_are_those_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = lowest(ROOT / "pyproject.toml")
    assert [one.partition("=")[0] for one in found[:3]] == ["numpy", "numba", "scipy"]
    assert len(found) == len(project["dependencies"]) + 5 + 3 + 3
    assert all(re.fullmatch(r"[a-z0-9-]+==\d+(\.\d+)+", one) for one in found)
    typer = next(one for one in found if one.startswith("typer=="))
    assert tuple(map(int, typer.removeprefix("typer==").split("."))) >= (0, 12, 4)


def test_a_dependency_without_a_lowest_version_is_refused(tmp_path):
    (tmp_path / "p.toml").write_text('[project]\ndependencies = ["numpy"]\n[project.optional-dependencies]\n')
    with pytest.raises((ValueError, KeyError)):
        lowest(tmp_path / "p.toml")


def test_python_versions_agree():
    """Those of the metadata are those of the workflow."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    named = re.findall(r"Python :: (3\.\d+)", " ".join(project["classifiers"]))
    workflow = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    matrix = re.search(r"python: \[(.*)\]", workflow)
    assert named == re.findall(r"3\.\d+", matrix[1]) == ["3.11", "3.12", "3.13", "3.14"]
    assert project["requires-python"] == ">=3.11"


def test_the_workflow_calls_existing_targets():
    yaml = pytest.importorskip("yaml")
    workflow = yaml.safe_load((ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8"))
    steps = [step["run"] for job in workflow["jobs"].values() for step in job["steps"] if "run" in step]
    called = {word for step in steps for word in step.split() if step.startswith("make ") and "=" not in word} - {
        "make"
    }
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))
    assert called <= targets
    in_ci = set(re.findall(r"test[a-z-]*|lint|docs|demo", (ROOT / ".ci" / "run").read_text(encoding="utf-8")))
    assert in_ci <= called | {"tests"}


@pytest.mark.skipif(sys.platform == "win32", reason="its make may be another one")
def test_make_uses_the_scripts_folder_on_windows():
    for system, folder in (("Windows_NT", ".venv/Scripts"), ("", ".venv/bin")):
        command = ["make", "--dry-run", "--always-make", "bench", f"OS={system}"]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        assert f"{folder}/python -m benchmarks" in done.stdout
