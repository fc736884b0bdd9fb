"""What is known of studies beside the frame of their results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ... import datasets
from ..growth import Row
from ..problems import INSTANCES
from ..spec import AnyStudy
from ..study import Study


@dataclass(frozen=True)
class Known:
    """What claims need that the frame does not say."""

    n_experts: Mapping[str, int] = field(default_factory=dict)
    """K on each set of the studies with the role "adversarial"."""
    growth: Sequence[Row] = ()
    """Runs of ContEXP3-ABS."""


def known(studies: Sequence[AnyStudy], growth: Sequence[Row] = ()) -> Known:
    """What is known of these studies."""
    return Known(_n_experts(studies), growth)


def _n_experts(studies: Sequence[AnyStudy]) -> dict[str, int]:
    return {
        dataset: (
            INSTANCES[dataset](cost).experts
            if dataset in INSTANCES
            else study.experts.make(datasets.info(dataset).features, None)
        ).n_experts
        for study in studies
        if isinstance(study, Study) and study.role == "adversarial"
        for dataset, cost in study.settings
    }
