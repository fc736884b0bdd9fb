"""What a maintainer runs before a release: `python tools/release.py`.

It builds the sdist, builds the wheel from the sdist, and looks into both. Then it installs the wheel into an empty
environment of every supported Python that is on this machine, outside the checkout, plays a gate there, runs the
command, and type-checks a program of a user against the installed wheel. Anything that fails ends it with an error.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
USE = """
import abstain as ab

gate: ab.Gate = ab.Gate(["gbm", "rules"], review_price=1.0, mistake_price=5.0, seed=0)
case: ab.Case = gate.decide({"gbm": ("spam", 0.93), "rules": None})
if case.action == "answer":
    gate.learn(case, "spam")
assert gate.round == 1, gate.round
print("abstain", ab.__version__)
"""
WRONG = """
import abstain as ab

gate: int = ab.Gate(["gbm"], cost=0.2)
"""
NEEDED = (
    "abstain/py.typed",
    "licenses/LICENSE",
    "abstain/paper/paper.toml",
    "abstain/replay/report/templates/report.html",
    "abstain/service/migrations/env.py",
    "abstain/service/page/static/",
)
"""Files that the wheel must have."""


def run(*command: str | Path, **options: object) -> str:
    """Run a program and return what it printed; end the script if it fails."""
    done = subprocess.run([str(one) for one in command], capture_output=True, text=True, **options)  # type: ignore[call-overload]
    if done.returncode:
        raise SystemExit(f"failed: {' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return str(done.stdout)


def supported() -> list[str]:
    """Return the versions of Python that pyproject.toml names."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))


def find(version: str) -> str | None:
    """Return an interpreter of a version that can make environments; None if there is none."""
    pyenv = sorted(
        Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{version}.*/bin/python")
    )
    for program in (shutil.which(f"python{version}"), *map(str, pyenv), sys.executable):
        if program is None:
            continue
        asked = subprocess.run(
            [program, "-c", "import sys, venv; print('%d.%d' % sys.version_info[:2])"], capture_output=True, text=True
        )
        if asked.returncode == 0 and asked.stdout.strip() == version:
            return program
    return None


def build(folder: Path) -> tuple[Path, Path]:
    """Build the sdist, and the wheel from it; return both."""
    venv = folder / "build"
    run(sys.executable, "-m", "venv", venv)
    python = venv / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", "build")
    run(python, "-m", "build", "--outdir", folder / "dist", ROOT)
    return next((folder / "dist").glob("*.tar.gz")), next((folder / "dist").glob("*.whl"))


def look_into(sdist: Path, wheel: Path) -> None:
    """Check that nothing needed is missing, and nothing else is in there."""
    names = zipfile.ZipFile(wheel).namelist()
    missing = [needed for needed in NEEDED if not any(needed in name for name in names)]
    with tarfile.open(sdist) as archive:
        sources = archive.getnames()
    missing += [
        name
        for name in ("LICENSE", "README.md", "CHANGELOG.md")
        if not any(one.endswith(f"/{name}") for one in sources)
    ]
    if missing:
        raise SystemExit(f"missing: {', '.join(missing)}")
    odd = [name for name in (*names, *sources) if re.search(r"\.(nbi|nbc|pyc|db|parquet)$|__pycache__", name)]
    if odd:
        raise SystemExit(f"does not belong there: {', '.join(odd[:5])}")


def try_out(wheel: Path, python: str, folder: Path) -> str:
    """Install the wheel for one Python and use it as a newcomer would; return what it says of itself."""
    venv = folder / "venv"
    run(python, "-m", "venv", venv)
    own = venv / "bin" / "python"
    empty = {"HOME": str(folder), "PATH": os.environ["PATH"], "MPLBACKEND": "Agg"}
    run(own, "-m", "pip", "install", "--quiet", wheel)
    for name, text in (("use.py", USE), ("wrong.py", WRONG)):
        (folder / name).write_text(text, encoding="utf-8")
    said = run(own, "use.py", cwd=folder, env=empty)
    run(own, "-m", "pip", "install", "--quiet", f"{wheel}[cli]", "mypy")
    run(venv / "bin" / "abstain", "--version", cwd=folder, env=empty)
    run(own, "-m", "mypy", "--strict", "use.py", cwd=folder, env=empty)
    wrong = subprocess.run(
        [own, "-m", "mypy", "--strict", "wrong.py"], cwd=folder, env=empty, capture_output=True, text=True
    )
    if "Incompatible types" not in wrong.stdout:
        raise SystemExit(f"mypy did not see the types of the wheel:\n{wrong.stdout}")
    return said.strip()


def main() -> None:
    """Build, look, install and use."""
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--out", type=Path, help="keep the sdist and the wheel in this folder")
    asked.add_argument(
        "versions", nargs="*", help="versions of Python to try; all that are supported, if none is named"
    )
    options = asked.parse_args()
    with tempfile.TemporaryDirectory(prefix="abstain-release-") as name:
        folder = Path(name)
        sdist, wheel = build(folder)
        look_into(sdist, wheel)
        print(f"{sdist.name}, {wheel.name}: complete")
        tried = 0
        for version in options.versions or supported():
            python = find(version)
            if python is None:
                print(f"Python {version}: not on this machine, not tried")
                continue
            place = folder / version
            place.mkdir()
            print(f"Python {version}: {try_out(wheel, python, place)} plays a gate, has its command and its types")
            tried += 1
        if not tried:
            raise SystemExit("no supported Python was found")
        if options.out is not None:
            options.out.mkdir(parents=True, exist_ok=True)
            for file in (sdist, wheel):
                shutil.copy(file, options.out)
                print(options.out / file.name)


if __name__ == "__main__":
    main()
