"""What is known of studies beside the frame of their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from ... import datasets
from ...errors import AbstainError
from .. import seeds
from ..growth import Row
from ..problems import INSTANCES
from ..spec import AnyStudy
from ..study import Study


@dataclass(frozen=True)
class Known:
    """What claims need that the frame does not say."""

    n_experts: Mapping[str, int] = field(default_factory=dict)
    """K on each set of the studies with the role "adversarial"."""
    largest: Mapping[str, float] = field(default_factory=dict)
    """The largest share of the rows that one rule abstains on, for each set of the studies with the role "extreme"."""
    growth: Sequence[Row] = ()
    """Runs of ContEXP3-ABS."""


def known(studies: Sequence[AnyStudy], growth: Sequence[Row] = (), data: Path | None = None) -> Known:
    """What is known of these studies; ``data`` is the folder of the data sets."""
    played = [study for study in studies if isinstance(study, Study)]
    largest = {
        dataset: share
        for study in played
        if study.role == "extreme"
        for dataset in study.sets
        if (share := _largest(study, dataset, data)) is not None
    }
    return Known(_n_experts(played), largest, growth)


def _n_experts(studies: Sequence[Study]) -> dict[str, int]:
    """On sets of the library's; of others the number of features is not known here."""
    return {
        dataset: (
            INSTANCES[dataset](cost).experts
            if dataset in INSTANCES
            else study.experts.make(datasets.info(dataset).features, None)
        ).n_experts
        for study in studies
        if study.role == "adversarial"
        for dataset, cost in study.settings
        if (dataset in INSTANCES or dataset in datasets.names) and study.own_set(dataset) is None
    }


def _largest(study: Study, dataset: str, data: Path | None) -> float | None:
    """On the study's first draw; None if the set is not one of the library's, or not here."""
    if dataset not in datasets.names or study.own_set(dataset) is not None:
        return None
    scale = None if study.scale == "none" else study.scale
    seed = seeds.of_data(study.seed, dataset, 0, 0)
    try:
        X, _ = datasets.load(dataset, scale=scale, data=data, n=study.rounds, seed=seed)
    except AbstainError:  # not here, or damaged, which is said elsewhere
        return None
    experts = study.experts.make(X.shape[1], seeds.of_experts(study.seed, dataset, 0))
    return float(experts.advise(X).abstains.mean(axis=0).max())
