"""The stack that combines models equals its pseudocode in plain NumPy."""

import numpy as np
import pytest

from abstain.gate.combining import Combination, Lesson, candidates

from ..reference.combining import Stack

NO_KINDS = np.zeros((0, 0))


def random_case(rng, n_models, two, n_classes):
    answers = rng.integers(0, 2 if two else n_classes, n_models)
    confidence = rng.choice([0.0, 0.3, 0.5, 0.8, 0.99, 1.0, -1.0], n_models)
    confidence = np.where(confidence < 0.0, rng.random(n_models), confidence)
    answers = np.where(rng.random(n_models) < 0.15, -1, answers)
    return (answers if two else candidates(answers[np.newaxis])[0]), confidence


@pytest.mark.parametrize("n_models", [1, 3, 5])
@pytest.mark.parametrize("two", [True, False])
@pytest.mark.parametrize("priced", [False, True])
@pytest.mark.sample(6)
def test_the_compiled_stack_equals_the_pseudocode(n_models, two, priced):
    rng = np.random.default_rng([n_models, two, priced])
    for game in range(3):
        stack, twin, waiting = Combination(n_models, two), Stack(n_models, two), []
        for _ in range(80 if game < 2 else 400):
            code, confidence = random_case(rng, n_models, two, 4)
            size = 2 if two else n_models
            kinds, price = NO_KINDS, None
            if priced:
                table = rng.random((size, size + 1)).round(2)
                kinds, price = table, lambda said, true, table=table: table[said, -1 if true is None else true]
            answer, sure, chances = stack.answer(code.tolist(), confidence.tolist(), kinds)
            answers = [None if one < 0 else int(one) for one in code]
            expected, expected_sure, expected_chances = twin.say(answers, confidence, price)
            assert (None if answer < 0 else answer) == expected
            assert sure == pytest.approx(expected_sure, abs=1e-7)
            assert np.reshape(chances, expected_chances.shape) == pytest.approx(expected_chances, abs=1e-7)
            truth = int(rng.integers(-1 if not two else 0, max(2, code.max() + 1) if not two else 2))
            waiting.append((answers, code, confidence, truth, rng.choice([0.05, 0.4, 1.0]), expected_chances))
            if len(waiting) > rng.integers(0, 5):  # labels come late, in any order
                answers, code, confidence, truth, o, chances = waiting.pop(int(rng.integers(len(waiting))))
                stack.learn(Lesson(code, confidence, truth, o, chances.ravel()))
                twin.learn(answers, confidence, truth, o, chances)
        assert stack.stacks.theta == pytest.approx(np.array([part.theta for part in twin.parts]), abs=1e-6)
        assert stack.stacks.score == pytest.approx(np.array([part.score for part in twin.parts]), abs=1e-6)


def test_it_learns_that_agreement_counts():
    """Two models that err independently: where they agree they are right, where they differ nobody knows."""
    rng = np.random.default_rng(0)
    stack = Combination(2, False)
    for _ in range(1_000):
        right = rng.random(2) < 0.7
        code = [0, 0] if right.all() else [0, 1]  # both say the truth, or different things
        chances = stack.answer(code, [0.7, 0.7], NO_KINDS)[2]
        truth = 0 if right[0] else 1 if right[1] else -1
        stack.learn(Lesson(code, [0.7, 0.7], truth, 1.0, chances))
    assert stack.answer([0, 0], [0.7, 0.7], NO_KINDS)[1] > 0.95
    assert stack.answer([0, 1], [0.7, 0.7], NO_KINDS)[1] < 0.6
