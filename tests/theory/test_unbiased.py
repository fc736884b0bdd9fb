"""The sums of estimates are unbiased, whatever the feedback and the floor, also where labels are late: on small games,
over the whole tree of draws and of labels that come or not.
"""

import copy
import math
from types import SimpleNamespace

import numpy as np
import pytest

from abstain.engine.feedback import as_feedback, chances_of
from abstain.learners.exp3.guesses import Constants

from ..reference.game import Game
from ..reference.robust import Player, Robust

FEEDBACKS = [("predicted", 0.0), ("predicted", 0.7), ("abstained", 0.0), ("abstained", 0.5), ("both", 0.0)]
FEEDBACKS += [((0.3, 1.0), 0.0), ((0.3, 1.0), 0.8), ((0.6, 0.0), 0.4), ((0.5, 0.5), 0.3), ((0.2, 0.9), 0.9)]
PREDICTOR_OF, RULE_OF = np.array([0, 0, 1, 1]), np.array([0, 1, 0, 1])
# Who abstains (rounds, rules): one in every round does and one does not, so that either side can be taken.
ABSTAINS = np.array([[False, True], [True, False], [False, True], [True, False]])
LOSSES = np.array([[1.0, 0.25], [0.0, 1.0], [0.75, 0.0], [1.0, 1.0]])
COST = np.array([0.3, 0.2, 0.4, 0.3])
PLAIN = Constants(
    patience=1.0, pessimism=math.inf, clip=0.0, prior=0.5
)  # guesses that move much, and fade, in a few rounds


def game(T):
    abstains = ABSTAINS[:T][:, RULE_OF]
    return Game(abstains, np.where(abstains, COST[:T, None], LOSSES[:T][:, PREDICTOR_OF]), COST[:T], False, RULE_OF)


def exp3(T, **options):
    return Player(game(T), **options)


def robust(T, constants=PLAIN, outcomes=None, **options):
    return Robust(game(T), PREDICTOR_OF, LOSSES[:T], ABSTAINS[:T], outcomes, constants, **options)


def modelled(T, **options):
    """With a model of the label: it is +1, and -1 would have cost what +1 does not."""
    return robust(T, outcomes=np.stack([1.0 - LOSSES[:T], LOSSES[:T]], axis=2), **options)


class Naive(Player):
    """What was lost where it was seen, as if that were all there is."""

    def learn(self, t, o, fixed, seen):
        super().learn(t, 1.0, fixed, seen)


def naive(T, **options):
    return Naive(game(T), **options)


def leaves(make, T, feedback, floor, delay=0, **options):
    """Yield all that can happen, with its probability."""
    chances = chances_of(as_feedback(feedback))

    def close(player, rounds):
        for t, o, fixed, seen in rounds:
            player.learn(t, o, fixed, seen)

    def walk(player, t, probability, waiting):
        if t > T:
            close(player, waiting)
            yield probability, player
            return
        segments, predicts, o = player.segments(t)
        assert sum(mass for mass, _, _ in segments) == pytest.approx(1.0, abs=1e-13)
        fixed = player.before(t, o)
        sides = [0.0, 0.0]  # only whether the followed expert abstains matters
        for mass, expert, _ in segments:
            sides[int(player.game.abstains[t - 1, expert])] += mass
        assert sides[0] == pytest.approx(predicts, abs=1e-13)
        for side, mass in enumerate(sides):
            for seen, chance in ((True, chances[side]), (False, 1.0 - chances[side])):
                if mass * chance > 0.0:
                    after = copy.deepcopy(player)
                    if chances[side] == 0.0:  # then it is known at once
                        after.learn(t, o, fixed, False)
                        queue = list(waiting)
                    else:
                        queue = [*waiting, (t, o, fixed, seen)]
                    close(after, [one for one in queue if one[0] <= t - delay])
                    yield from walk(
                        after, t + 1, probability * mass * chance, [one for one in queue if one[0] > t - delay]
                    )

    yield from walk(make(T, chances=chances, floor=floor, **options), 1, 1.0, [])


def expected(make, T, feedback, floor, **options):
    """Return the mean of the sums of estimates (memories, K)."""
    total, mean, n = 0.0, 0.0, 0
    for probability, player in leaves(make, T, feedback, floor, **options):
        total, mean, n = total + probability, mean + probability * player.memories.S, n + 1
    assert total == pytest.approx(1.0, abs=1e-12)
    return SimpleNamespace(S=mean, n=n)


ALL = pytest.mark.parametrize(("feedback", "floor"), FEEDBACKS, ids=str)
LATE = pytest.mark.parametrize(("T", "delay"), [(3, 0), (3, 1), (2, 5)])


@ALL
@LATE
def test_estimates_of_exp3_abs_are_unbiased(feedback, floor, T, delay):
    """The means are the sums of the losses."""
    found = expected(exp3, T, feedback, floor, delay=delay)
    assert found.n >= 2 if feedback == "both" else found.n >= 2**T
    np.testing.assert_allclose(found.S[0], game(T).loss.sum(axis=0), rtol=0, atol=1e-12)


@ALL
@LATE
@pytest.mark.parametrize("make", [robust, modelled])
def test_estimates_of_doubly_robust_are_unbiased(feedback, floor, T, delay, make):
    """The means are the sums of the losses minus the cost, whatever the guesses of the decision were."""
    truth = (game(T).loss - COST[:T, None]).sum(axis=0)
    np.testing.assert_allclose(expected(make, T, feedback, floor, delay=delay).S[0], truth, rtol=0, atol=1e-12)


@pytest.mark.long
@ALL
def test_estimates_of_a_guard_are_unbiased(feedback, floor):
    truth = (game(3).loss - COST[:3, None]).sum(axis=0)
    found = expected(modelled, 3, feedback, floor, guard=0.1)
    np.testing.assert_allclose(found.S, np.tile(truth, (2, 1)), rtol=0, atol=1e-12)


@pytest.mark.parametrize("feedback", ["predicted", "abstained", (0.3, 1.0)], ids=str)
def test_estimates_of_memories_are_unbiased(feedback):
    """All memories see the same estimates: those that have not faded yet have the same sums."""
    truth = (game(3).loss - COST[:3, None]).sum(axis=0)
    found = expected(modelled, 3, feedback, 0.2, holds=(None, 20_000, 5_000))
    np.testing.assert_allclose(found.S, np.tile(truth, (3, 1)), rtol=0, atol=1e-12)


@ALL
def test_naive_estimates_are_biased(feedback, floor):
    """Without 1 / o, predicting looks better than it is, unless all losses are seen."""
    found, truth = expected(naive, 3, feedback, floor).S[0], game(3).loss.sum(axis=0)
    if feedback == "both":
        np.testing.assert_allclose(found, truth, atol=1e-12)
    else:
        assert (found <= truth + 1e-12).all()
        assert (truth - found).max() > 0.1


@ALL
@pytest.mark.parametrize("clip", [0.3, 2.0])
@pytest.mark.parametrize("pessimism", [math.inf, 0.0])
def test_the_clip_shrinks_the_correction(feedback, floor, clip, pessimism):
    """It shrinks the correction: a round's mean is ``m - c + h (l - m)``, between guess and loss, with ``h = min(1, o /
    (clip eta))``; where the debt is at its limit, ``h l - c``.

    Walked round by round, from every place of the tree.
    """
    constants = PLAIN._replace(clip=clip, pessimism=pessimism)
    chances, clipped = chances_of(as_feedback(feedback)), 0
    places = [modelled(3, constants=constants, chances=chances, floor=floor)]
    for t in (1, 2, 3):
        following = []
        for player in places:
            segments, _, o = player.segments(t)
            m, eta, S = player.before(t, o), player.memories.eta(0), player.memories.S[0].copy()
            mean = np.zeros(len(S))
            sides = [sum(mass for mass, k, _ in segments if player.game.abstains[t - 1, k] == side) for side in (0, 1)]
            for side, mass in enumerate(sides):
                for seen, chance in ((True, chances[side]), (False, 1.0 - chances[side])):
                    if mass * chance > 0.0:
                        after = copy.deepcopy(player)
                        after.learn(t, o, m, seen)
                        mean += mass * chance * (after.memories.S[0] - S)
                        following.append(after)
            kept = min(1.0, o / (clip * eta))
            clipped += kept < 1.0
            truth = kept * LOSSES[t - 1] + (pessimism > 0.0) * (1.0 - kept) * m - COST[t - 1]
            wanted = np.where(player.game.abstains[t - 1], 0.0, truth[PREDICTOR_OF])
            np.testing.assert_allclose(mean, wanted, rtol=0, atol=1e-12)
        places = following
    if clip == 2.0:
        assert clipped > 0  # the rate begins at 1
