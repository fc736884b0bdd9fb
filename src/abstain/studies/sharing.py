"""Studies that share their runs: they play the same games, or one all those of another."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from .spec import AnyStudy
from .study import Study


def earlier(study: Study, studies: Sequence[AnyStudy]) -> Study | None:
    """The first of the studies before this one that plays the same."""
    before = studies[: next(k for k, one in enumerate(studies) if one.name == study.name)]
    return next((one for one in before if isinstance(one, Study) and one.played == study.played), None)


def repeated(studies: Sequence[AnyStudy]) -> set[str]:
    """The names of studies whose runs another has, too: all it plays and more, or the same and it comes first."""
    played = [study for study in studies if isinstance(study, Study)]
    return {
        study.name
        for k, study in enumerate(played)
        if any(is_part(study, other) and (j < k or not is_part(other, study)) for j, other in enumerate(played))
    }


def is_part(study: Study, other: Study) -> bool:
    """Whether the other plays every game of the first, in the same way.

    >>> from .spec import paper
    >>> is_part(paper()["main"], paper()["regret"]), is_part(paper()["regret"], paper()["main"])
    (True, False)
    """
    if not set(study.settings) <= set(other.settings):
        return False
    settings = replace(other.played, sets=(), costs=(), settings=study.settings, instead=())
    return replace(study.played, instead=()) == settings


def said(studies: Sequence[AnyStudy], of: Iterable[str]) -> list[str]:
    """Of which studies others' curves are to be seen instead, a sentence each."""
    found = [study for study in studies if isinstance(study, Study) and study.name in set(of)]
    pairs = [(study.name, earlier(study, studies)) for study in found]
    return [f"{name} plays the same games as {first.name}: see its curves." for name, first in pairs if first]
