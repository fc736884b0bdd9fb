"""Seeds by what they are for, so that they are the same in any order, on any number of workers.

Experts are drawn by (data set, expert set), data by (data set, expert set, draw): the same for all costs, scalings and
learners. A learner's own seed adds both and its label.
"""

import zlib

from numpy.random import SeedSequence


def _number(name: str) -> int:
    return zlib.crc32(name.encode())  # hash() is another one in every process


def as_number(seed: SeedSequence | None) -> int:
    """A seed for somebody's own function, which any generator takes."""
    return 0 if seed is None else int(seed.generate_state(1)[0])


def of_experts(seed: int, dataset: str, expert_set: int) -> SeedSequence:
    """The seed of an expert set."""
    return SeedSequence([seed, _number("experts"), _number(dataset), expert_set])


def of_data(seed: int, dataset: str, expert_set: int, draw: int) -> SeedSequence:
    """The seed of a draw of the data."""
    return SeedSequence([seed, _number("data"), _number(dataset), expert_set, draw])


def of_labels(seed: int, dataset: str, expert_set: int, draw: int) -> SeedSequence:
    """The seed of labels that are spoilt."""
    return SeedSequence([seed, _number("labels"), _number(dataset), expert_set, draw])


def of_learner(seed: int, dataset: str, expert_set: int, draw: int, label: str) -> SeedSequence:
    """The seed of a learner."""
    return SeedSequence([seed, _number("learner"), _number(dataset), expert_set, draw, _number(label)])
