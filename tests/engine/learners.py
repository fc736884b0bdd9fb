"""Learners of every kind, small."""

import abstain as ab

RINGS = ab.experts.hyperplanes(2, 5, 6, seed=0)
BALLS = ab.experts.hyperplanes(2, 5, 6, regions="balls", seed=0)  # near 0 nobody predicts
MAKE = {
    "UCB": lambda: ab.UCB(RINGS, cost=0.3, seed=1),
    "UCBGT": lambda: ab.UCBGT(RINGS, cost=0.3, seed=1),
    "UCBDSG": lambda: ab.UCBDSG(RINGS, cost=0.3, seed=1, slack=0.001, loss_slack=0.1),
    "FastRates": lambda: ab.FastRates(BALLS, cost=0.3, seed=1, eta=0.5),
    "FS": lambda: ab.FullSupervision(RINGS, cost=0.3, seed=1),
    "Exp3": lambda: ab.Exp3(RINGS, cost=0.3, seed=1),
    "Exp3Abs": lambda: ab.Exp3Abs(RINGS, cost=0.3, seed=1),
    "UCBAbs": lambda: ab.UCBAbs(BALLS, cost=0.3, seed=1),
    "Exp3Abs-memories": lambda: ab.Exp3Abs(
        RINGS, cost=0.3, seed=1, memory="adaptive", feedback=(0.8, 0.3), min_observe=0.5
    ),
    "DoublyRobust": lambda: ab.DoublyRobust(RINGS, cost=0.3, seed=1),
    "DoublyRobust-abstained": lambda: ab.DoublyRobust(
        RINGS, cost=0.3, seed=1, memory=100, feedback="abstained", min_observe=0.3
    ),
    "DoublyRobust-guard": lambda: ab.DoublyRobust(BALLS, cost=0.3, seed=1, guard=0.1, feedback="both"),
    "Stacked": lambda: ab.Stacked(RINGS, cost=0.3, seed=1),
    "ContExp3Abs": lambda: ab.ContExp3Abs(2, cost=0.3, epsilon=0.3, seed=1),
}
