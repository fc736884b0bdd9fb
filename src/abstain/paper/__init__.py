"""The paper's experiments and those beyond it: studies (TOML), claims and figures."""

from ..experiments.registry import CLAIMS, FIGURES, register

register(CLAIMS, "paper", "abstain.paper.claims")
register(FIGURES, "paper", "abstain.paper.figures")
