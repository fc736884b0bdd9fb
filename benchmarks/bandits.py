"""Rounds of other libraries' bandits, UCB with the same width as ours, on given rewards (T, K)."""

import math
from collections.abc import Callable
from typing import Any

from mabwiser.mab import MAB, LearningPolicy
from river import bandit

from .data import Floats
from .literal import BETA
from .timing import Task

DELTA = math.sqrt(BETA)
"""Both libraries' widths are ``DELTA sqrt(2 log(t) / Q)``."""


def river_ucb() -> Any:
    return bandit.UCB(delta=DELTA, seed=0)


def river_exp3() -> Any:
    return bandit.Exp3(gamma=0.1, seed=0)


def river_rounds(rewards: Floats, make_policy: Callable[[], Any]) -> Task:
    """Pull and update; for UCB, after each arm was pulled once."""

    def prepare() -> Callable[[], object]:
        arms: list[Any] = list(range(rewards.shape[1]))
        policy = make_policy()
        if make_policy is river_ucb:
            for arm in arms:
                policy.update(arm, rewards[0, arm])

        def run() -> None:
            for reward in rewards:
                arm = policy.pull(arms)
                policy.update(arm, reward[arm])

        return run

    return prepare


def mabwiser_rounds(rewards: Floats) -> Task:
    """Predict and learn one arm at a time, after each arm was pulled once."""

    def prepare() -> Callable[[], object]:
        arms = list(range(rewards.shape[1]))
        model = MAB(arms, LearningPolicy.UCB1(alpha=DELTA))
        model.fit(arms, rewards[0])

        def run() -> None:
            for reward in rewards:
                arm: Any = model.predict()
                model.partial_fit([arm], [reward[arm]])

        return run

    return prepare
