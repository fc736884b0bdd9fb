"""Neu and Zhivotovskiy's algorithm 1, line by line, for any number of labels."""

import math

import numpy as np


def fast_rates(
    labels: list[list], losses: np.ndarray, experts: list[tuple[int, int]], abstains: np.ndarray, eta: float,
    u: np.ndarray, signed: bool, delay: int = 0,
) -> tuple[list[int], list[float], np.ndarray]:  # fmt: skip
    """Play.

    ``labels[t][p]`` is what predictor p says, or None; ``losses`` (T, P); ``experts`` are the pairs (predictor, rule);
    ``abstains`` (T, A). Returns the experts followed, the probabilities of predicting, and the last weights q.
    """
    T, P = losses.shape
    used = sorted({p for p, _ in experts})
    L = np.zeros(P)
    chosen, probabilities = [], []
    for t in range(T):
        w = {i: math.exp(-eta * (L[i] - L[used].min())) for i in used}
        votes = {}
        for i in used:  # compared before they are divided, which rounds
            votes[labels[t][i]] = votes.get(labels[t][i], 0.0) + w[i]
        votes.pop(None, None)
        most = max(votes.values(), default=0.0)
        p_star = most / sum(w.values())
        # Ties go to +1, as in the paper; of several classes to the one that is said first.
        order = {labels[t][i]: i for i in reversed(range(P))}
        if signed:
            order[1.0] = -1
        k_star = min((k for k in votes if votes[k] == most), key=order.get, default=None)
        alpha = min(2 * (1 - p_star), 1)
        silent = [k for k, (_, r) in enumerate(experts) if abstains[t, r]]
        said_it = [k for k, (p, _) in enumerate(experts) if k_star is not None and labels[t][p] == k_star]
        speaking = [k for k in said_it if not abstains[t, experts[k][1]]]
        predicts = 1 - alpha
        if not speaking:
            predicts = 0
        if not silent:
            predicts = 1
        chosen.append((speaking[0] if speaking else 0) if u[t] < predicts else silent[0])
        probabilities.append(predicts)
        if t >= delay:
            L += losses[t - delay]
    L += losses[max(0, T - delay) :].sum(axis=0)
    q = np.zeros(P)
    q[used] = np.exp(-eta * (L[used] - L[used].min()))
    return chosen, probabilities, q / q.sum()
