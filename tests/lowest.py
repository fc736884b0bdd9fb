"""Prints the lowest versions that pyproject.toml allows, as constraints for pip."""

import re
import sys
import tomllib
from pathlib import Path

EXTRAS = ("cli", "studies", "sklearn", "river", "dask")


def lowest(path: Path) -> list[str]:
    """``name==version`` for each dependency of the package and of the extras that tests use."""
    project = tomllib.loads(path.read_text(encoding="utf-8"))["project"]
    wanted = [*project["dependencies"], *(one for extra in EXTRAS for one in project["optional-dependencies"][extra])]
    found = []
    for requirement in wanted:
        if requirement.startswith("abstain["):  # an extra that includes another
            continue
        match = re.fullmatch(r"([A-Za-z0-9_.-]+)(\[.*\])?>=([0-9.]+)", requirement)
        if match is None:
            raise ValueError(f"{path}: expected name>=version, got {requirement!r}")
        found.append(f"{match[1]}=={match[3]}")
    return found


if __name__ == "__main__":
    sys.stdout.write("\n".join(lowest(Path(__file__).parents[1] / "pyproject.toml")) + "\n")
