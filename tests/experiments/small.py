"""Studies small enough for tests."""

from abstain.experiments.specs import ExpertsSpec, LearnerSpec
from abstain.experiments.study import LearnerStudy

FEW = ExpertsSpec("hyperplanes", {"n_predictors": 3, "n_rings": 4})
LEARNERS = (LearnerSpec("UCB-GT", "UCBGT"), LearnerSpec("EXP3-ABS", "Exp3Abs"), LearnerSpec("FS", "FullSupervision"))


def small(**changes):
    values = {
        "name": "small",
        "sets": ("synthetic",),
        "costs": (0.1, 0.3),
        "experts": FEW,
        "learners": LEARNERS,
        "rounds": 200,
        "draws": 3,
        "expert_sets": 2,
        "checkpoints": 8,
    }
    return LearnerStudy(**(values | changes))


def tables(curves, studies):
    """All tables of studies."""
    return [table for study in studies for table in study.tables(curves, studies)]
