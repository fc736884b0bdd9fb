"""The paper's experiments and those beyond it: studies (TOML), claims and figures."""

import os
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources

from .. import experiments
from ..experiments import CLAIMS, FIGURES, SECTIONS, STUDIES, Study, StudyFile, of_packages, register, select

register(STUDIES, "growth", "abstain.paper.growth:GrowthStudy")
register(STUDIES, "logs", "abstain.paper.logs.study:LogStudy")
register(CLAIMS, "paper", "abstain.paper.claims")
register(FIGURES, "paper", "abstain.paper.figures")
register(SECTIONS, "paper", "abstain.paper.readings")


@cache
def paper() -> StudyFile:
    """The paper's studies by name; each is made when it is asked for."""
    return _file("paper.toml", None)


@cache
def shipped() -> tuple[Mapping[str, Study], ...]:
    """The paper's studies and those beyond it."""
    return paper(), _file("beyond.toml", paper()), _file("logs.toml", paper())


def read(path: str | os.PathLike[str]) -> dict[str, Study]:
    """The studies of a TOML file, by name; what it leaves out, and learners it does not define, are the paper's."""
    return experiments.read(path, paper())


def find(name: str | os.PathLike[str]) -> list[Study]:
    """The studies of a name, of which "all" are the paper's without other readings, or those of a TOML file.

    Studies of installed packages have names, too. With other readings comes our own, `regret`, to compare them with.

    Raises:
        InputError: If there is no such study, or something is wrong with one.
        FileError: If the file cannot be read.
    """
    if str(name).endswith(".toml"):
        return list(read(name).values())
    if name == "all":
        return [paper()[key] for key in paper() if paper().role(key) != "reading"]
    others, broken = of_packages()
    chosen = select((*shipped(), *others), str(name), broken)
    if any(study.role == "reading" for study in chosen):
        chosen.insert(0, paper()["regret"])
    return chosen


def _file(name: str, base: StudyFile | None) -> StudyFile:
    text = resources.files(__package__).joinpath(name).read_text(encoding="utf-8")
    return StudyFile(tomllib.loads(text), base)
