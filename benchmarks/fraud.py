"""Fraud-like logs: rare positives, heavy-tailed amounts, a rules engine that often has no answer.

A missed fraud costs the amount, a false alarm a fee. ``python -m benchmarks.fraud`` compares the gate with one
threshold that was tuned on the first tenth, and with thresholds that are re-tuned on labels of its own answers.
"""

import sys
from typing import NamedTuple

import numpy as np

import abstain as ab
from abstain.alternatives.renewed import Retuning
from abstain.alternatives.thresholds import Rounds, follow
from abstain.gate.frames import Block
from abstain.gate.prices import weighed
from abstain.typing import Bools, Floats

REVIEW, ALARM = 4.0, 10.0
"""The price of a review, and of a false alarm."""
MODELS = ("gbm", "logreg", "rules")
SETTINGS = {
    "classes": ("ok", "fraud"),
    "review_price": REVIEW,
    "mistake_price": {("ok", "fraud"): ab.PerStake(1.0), ("fraud", "ok"): ALARM},
}
"""The gate's classes and prices."""


class Log(NamedTuple):
    """A log of transactions."""

    fraud: Bools
    """(n,) the label."""
    amount: Floats
    """(n,) what is at stake."""
    probability: Floats
    """(n, 3) of fraud, as each model has it; NaN: no answer."""


def fraud_log(n: int, seed: int | list[int], positives: float = 0.02) -> Log:
    """Make a log of n transactions: log-normal amounts of 60 in the median, and three models.

    Two models report a probability of fraud, one of them miscalibrated. Rules answer in a quarter of the cases.

    Args:
        n: The number of transactions.
        seed: The seed of the random numbers.
        positives: The share of frauds.

    Returns:
        The log.
    """
    rng = np.random.default_rng(seed)
    fraud = rng.random(n) < positives
    amount = np.exp(rng.normal(np.log(60.0), 1.2, n) + 0.5 * fraud)
    prior = np.log(positives / (1.0 - positives))
    probability = np.empty((n, 3))
    for k, (apart, scale) in enumerate(((3.2, 1.0), (2.4, 0.6))):
        # Two normal scores that are `apart` give calibrated log-odds; a scale other than 1 spoils the calibration.
        score = rng.normal(np.where(fraud, apart / 2.0, -apart / 2.0), 1.0)
        probability[:, k] = 1.0 / (1.0 + np.exp(-scale * (prior + apart * score)))
    fires = rng.random(n) < np.where(fraud, 0.5, 0.02)
    clears = ~fires & (rng.random(n) < np.where(fraud, 0.05, 0.23))
    probability[:, 2] = np.where(fires, 0.9, np.where(clears, 0.02, np.nan))
    return Log(fraud, amount, probability)


def as_block(log: Log, gate: ab.Gate) -> Block:
    """The log as a gate plays it."""
    said = np.where(log.probability >= 0.5, 1.0, -1.0)
    confidence = np.maximum(log.probability, 1.0 - log.probability)
    risk = np.where(said > 0.0, ALARM, log.amount[:, np.newaxis]) / gate.unit
    wrong = (said > 0.0) != log.fraud[:, np.newaxis]
    losses = np.where(np.isnan(confidence), 0.0, np.where(wrong, risk, 0.0))
    return Block(confidence, losses, said, risk)


def costs(n: int, seed: int, **options: object) -> dict[str, Floats]:
    """The price of every case, for the gate and its alternatives, on one log."""
    log, gate = fraud_log(n, seed), ab.Gate(MODELS, seed=seed, **SETTINGS, **options)  # type: ignore[arg-type]
    block = as_block(log, gate)
    with gate._playing() as play:
        played = play(block)
    assert block.risk is not None
    sure = weighed(block.confidence, block.risk)
    cost = np.full(n, gate.review_price / gate.unit)
    rounds = Rounds(np.where(np.isnan(sure), -np.inf, sure), block.losses, cost)
    labelled = rounds.cut(np.arange(n) < n // 10)
    own = Retuning(labelled)
    tuned = follow(rounds, own.model, own.threshold)
    found = {"gate": played.loss, "tuned": tuned.loss, "retuned-own": own.play(rounds, np.arange(n) + 1).loss}
    return {name: loss * gate.unit for name, loss in found.items()}


def main() -> None:
    """Print mean prices per case: on the first tenth of a log, and on the rest, which alternatives are scored on."""
    n = int(sys.argv[1]) if len(sys.argv) > 1 else 300_000
    print(f"{n:,} transactions, price per case on the first 10 % and on the rest; relative to tuned")
    for seed in range(3):
        found = costs(n, seed)
        first, rest = ({k: v[part].mean() for k, v in found.items()} for part in (slice(n // 10), slice(n // 10, n)))
        words = [f"{k:>12} {first[k]:6.3f} {rest[k]:6.3f} {rest[k] / rest['tuned'] - 1.0:+7.1%}" for k in found]
        print(f"seed {seed}: " + "; ".join(words))


if __name__ == "__main__":
    main()
