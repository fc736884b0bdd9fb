"""The settings of the studies."""

from collections.abc import Sequence
from typing import NamedTuple

from ..growth import GrowthStudy
from ..logs.study import LogStudy
from ..spec import AnyStudy
from ..study import Study


class Setting(NamedTuple):
    """A study: what was played, how often, from which seed."""

    name: str
    title: str
    figure: str
    played: str
    experts: str
    learners: str
    rounds: str
    runs: str
    seed: int


def settings(studies: Sequence[AnyStudy]) -> list[Setting]:
    """One for each study."""
    return [_setting(study) for study in studies]


def _setting(study: AnyStudy) -> Setting:
    if isinstance(study, GrowthStudy):
        return _growth(study)
    return _logs(study) if isinstance(study, LogStudy) else _played(study)


def _played(study: Study) -> Setting:
    pairs = ", ".join(f"{key} = {value}" for key, value in sorted(study.experts.options.items()))
    return Setting(
        study.name,
        study.title,
        f"figure {study.figure}" if study.figure else "",
        _pairs(study.settings),
        f"{study.experts.kind}{f' ({pairs})' if pairs else ''}; {study.scale}",
        "; ".join(learner.label for learner in study.learners),
        f"{study.rounds:,}",
        f"{study.expert_sets} × {study.draws}",  # noqa: RUF001 (a times sign)
        study.seed,
    )


def _growth(study: GrowthStudy) -> Setting:
    return Setting(
        study.name,
        study.title,
        "",
        f"lipschitz, d = {', '.join(map(str, study.dims))}: {study.cost:g}",
        "none",
        f"ContEXP3-ABS, {study.actions}{_gammas(study.gammas)}",
        ", ".join(f"{n:,}" for n in study.rounds),
        f"{study.runs} runs",
        study.seed,
    )


def _gammas(gammas: Sequence[float]) -> str:
    return f", \N{GREEK SMALL LETTER GAMMA} = {', '.join(f'{gamma:g}' for gamma in gammas)}" if gammas else ""


def _logs(study: LogStudy) -> Setting:
    return Setting(
        study.name,
        study.title,
        "",
        "; ".join(study.logs),
        "three models, 48 thresholds each",
        "; ".join(dict.fromkeys(learner.label for learner in study.learners)),
        f"{study.rounds:,} at most",
        f"{study.repetitions} seeds",
        study.seed,
    )


def _pairs(pairs: Sequence[tuple[str, float]]) -> str:
    """Sets with equal costs together: "higgs, eye: 0.1, 0.2"."""
    of_set: dict[str, tuple[float, ...]] = {}
    for dataset, cost in pairs:
        of_set[dataset] = (*of_set.get(dataset, ()), cost)
    costs = dict.fromkeys(of_set.values())
    return "; ".join(
        f"{', '.join(name for name, at in of_set.items() if at == some)}: {', '.join(f'{c:g}' for c in some)}"
        for some in costs
    )
