"""Answers of two language models to tickets, as a log would have them: what docs/llm.md is executed on.

They are made up, from a fixed seed, so that the page needs no network and no key. The cheap model gives one answer with
the logarithms of its tokens' probabilities, and it is surer than it should be; the expensive one is sampled five times.
"""

import math
import random
from collections.abc import Iterator
from typing import NamedTuple

QUEUES = ("billing", "delivery", "returns", "technical")
SAMPLES = 5


class Ticket(NamedTuple):
    """A ticket, what the models said, and the queue that solved it."""

    cheap: str
    logprobs: list[float]
    expensive: list[str]
    queue: str


def answers(n: int = 6_000, seed: int = 0) -> Iterator[Ticket]:
    """N tickets; from the middle on there is a new product, which the cheap model knows nothing about."""
    rng = random.Random(seed)
    for i in range(n):
        truth = rng.choice(QUEUES)
        hard = rng.random() ** 2
        new = i >= n // 2 and rng.random() < 0.2
        knows = 0.5 if new else 1.0 - 0.7 * max(0.01, hard - 0.25)
        says = truth if rng.random() < knows else rng.choice(QUEUES)
        doubt = abs(rng.gauss(0.12 if new else 0.6 * (1.0 - knows), 0.04))
        tokens = rng.choice((1, 2))
        logprobs = [round(math.log(min(0.9999, max(0.05, 1.0 - doubt / tokens))), 4) for _ in range(tokens)]
        better = 1.0 - 0.4 * hard
        leaning = rng.choice(QUEUES) if rng.random() < 0.15 * hard else truth
        samples = [leaning if rng.random() < better else rng.choice(QUEUES) for _ in range(SAMPLES)]
        yield Ticket(f"{says.capitalize()}.", logprobs, samples, truth)
