"""Sums of estimates are unbiased with a capacity: they estimate the losses at the price of the decision."""

import copy

import numpy as np
import pytest

import abstain as ab
from abstain.engine.feedback import as_feedback, chances_of

from ..reference.capacity import Limited
from .test_unbiased import COST, PREDICTOR_OF, exp3, modelled, robust

FEEDBACKS = [("predicted", 0.0), ("predicted", 0.7), ("abstained", 0.0), ("abstained", 0.5), ("both", 0.0)]
FEEDBACKS += [((0.3, 1.0), 0.8), ((0.6, 0.0), 0.4), ((0.05, 1.0), 0.0)]
T = 4


def leaves(make, feedback, floor, delay):
    """Yield all that can happen: its probability, the sums of estimates, and the sums that they estimate."""
    chances = chances_of(as_feedback(feedback))
    relative = make is not exp3

    def close(player, rounds):
        for one in rounds:
            player.learn(*one)

    def walk(player, t, probability, truth, waiting):
        if t > T:
            close(player, waiting)
            yield probability, player, truth
            return
        player = copy.deepcopy(player)
        segments, predicts, o = player.segments(t)
        fixed, abstains = player.before(t, o), player.game.abstains[t - 1]
        learnt = not (player.empty[t] and o == 0.0)
        told = player.game.loss[t - 1] - (player.game.cost[t - 1] if relative else 0.0)
        truth = truth + learnt * told
        sides = [0.0, 0.0]
        for mass, experts, *_ in segments:
            sides[int(abstains[min(experts)])] += mass
        assert sides[0] == pytest.approx(predicts, abs=1e-13)
        for side, mass in enumerate(sides):
            for seen, chance in ((True, chances[side]), (False, 1.0 - chances[side])):
                if mass * chance > 0.0:
                    after = copy.deepcopy(player)
                    after.note(t, bool(side))
                    queue = [*waiting, (t, o, fixed, seen)]
                    if chances[side] == 0.0:
                        after.learn(t, o, fixed, False)
                        queue = list(waiting)
                    close(after, [one for one in queue if one[0] <= t - delay])
                    rest = [one for one in queue if one[0] > t - delay]
                    yield from walk(after, t + 1, probability * mass * chance, truth, rest)

    player = make(T, chances=chances, floor=floor)
    player.predictor_of = PREDICTOR_OF
    limited = Limited(player, ab.Capacity(share=0.3, burst=1, step=0.2), np.ones(T))
    yield from walk(limited, 1, 1.0, np.zeros(4), [])


@pytest.mark.parametrize(("feedback", "floor"), FEEDBACKS, ids=str)
@pytest.mark.parametrize("delay", [0, 1, 9])
@pytest.mark.parametrize("make", [exp3, robust, modelled])
def test_sums_of_estimates_are_unbiased_with_a_capacity(feedback, floor, delay, make):
    total, error, emptied, priced = 0.0, np.zeros(4), 0.0, 0.0
    for probability, player, truth in leaves(make, feedback, floor, delay):
        total += probability
        error += probability * (player.memories.S[0] - truth)
        emptied += probability * any(player.empty.values())
        priced += probability * (player.game.cost > COST).any()
    assert total == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(error, 0.0, rtol=0, atol=1e-12)
    assert emptied > 0.3  # the bucket matters, and so does the price
    assert priced > 0.3


@pytest.mark.parametrize("make", [exp3, modelled])
def test_ignoring_the_empty_bucket_would_be_biased(make, monkeypatch):
    """If o were that of the draw while the bucket is empty, labels would seem rarer than they are."""
    plain = Limited.segments

    def as_drawn(self, t):
        segments, predicts, o = plain(self, t)
        return segments, predicts, self.player.seen(t)[1] if self.empty[t] else o

    monkeypatch.setattr(Limited, "segments", as_drawn)
    error = np.zeros(4)
    for probability, player, truth in leaves(make, "predicted", 0.0, 0):
        error += probability * (player.memories.S[0] - truth)
    assert abs(error).max() > 0.05
