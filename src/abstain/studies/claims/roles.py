"""What studies are to the claims: fields of theirs, never parts of their names."""

from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from ..problems import UNSCALED
from ..spec import AnyStudy, paper
from ..study import Study


class Role(NamedTuple):
    """What a study is to the claims."""

    role: str = ""
    """One of `study.ROLES`, or nothing."""
    scale: str = ""

    @property
    def is_reading(self) -> bool:
        """Whether it is another reading of the paper."""
        return self.role == "reading"

    def repeats(self, dataset: str) -> bool:
        """Whether a study of another scaling has the same runs: of a set that is not scaled."""
        return self.scale == "minmax" and dataset in UNSCALED


class Roles:
    """The roles of studies by their names: those given, and the paper's."""

    def __init__(self, studies: Iterable[AnyStudy] = ()) -> None:
        self._known = {**_paper_roles(), **{study.name: _role(study) for study in studies}}

    def __getitem__(self, study: str) -> Role:
        return self._known.get(study, Role())

    def named(self, role: str) -> tuple[str, ...]:
        """The studies with that role."""
        return tuple(name for name, known in self._known.items() if known.role == role)


def _role(study: AnyStudy) -> Role:
    return Role(study.role, study.scale if isinstance(study, Study) else "")


@cache
def _paper_roles() -> dict[str, Role]:
    return {name: _role(study) for name, study in paper().items()}
