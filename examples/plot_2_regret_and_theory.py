r"""
Regret against theory
=====================

Theorem 1 promises that the expected regret of EXP3-ABS after :math:`T` rounds is at most

.. math:: \sqrt{2\,(c^2 + 1)\,T\, \log K}

on any sequence, if its rate is tuned for :math:`T`. How large is it in practice?
"""

import matplotlib.pyplot as plt
import numpy as np

import abstain as ab

# %%
# Two games have the same bound: points in the plane, drawn independently, and the same points with labels that are
# inverted in the second and the fourth fifth, so that good experts become bad.

COST, ROUNDS, RUNS = 0.2, 20_000, 10
experts = ab.experts.hyperplanes(dim=2, n_predictors=20, n_rings=10, seed=0)
X, y = ab.datasets.load("synthetic", n=ROUNDS, seed=0)
fifth = np.arange(ROUNDS) * 5 // ROUNDS
games = {"independent draws": y, "labels inverted twice": np.where(fifth % 2 == 1, -y, y)}

# %%
# There are two rates. The tuned one has to know the horizon; the adaptive one, which is the default, need not.

RATES = {"tuned": {"eta": "tuned", "horizon": ROUNDS}, "adaptive": {"eta": "adaptive"}}
regret = {}
for game, labels in games.items():
    best = ab.best_in_hindsight(experts, X, labels, cost=COST)
    for rate, options in RATES.items():
        runs = [
            ab.simulate(ab.Exp3Abs(experts, cost=COST, seed=seed, **options), X, labels).regret(best)
            for seed in range(RUNS)
        ]
        regret[game, rate] = np.array(runs)
        bound = ab.theory.exp3_abs_bound(ROUNDS, experts.n_experts, COST, rate)
        print(f"{game}, {rate}: {regret[game, rate][:, -1].mean():.0f} of {bound:.0f}")

# %%
# Lines are means of ten runs, with a band from the smallest to the largest. Regret is measured against the expert that
# is best after all rounds, so before that it may be negative. The bound of the tuned rate is for the last round.

COLOURS = {"tuned": ("#0072B2", "--"), "adaptive": ("#D55E00", "-")}
rounds = np.arange(199, ROUNDS, 200)
figure, panels = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True, sharey=True, layout="constrained")
for axes, game in zip(panels, games, strict=True):
    for rate, (colour, dashes) in COLOURS.items():
        runs = regret[game, rate][:, rounds]
        axes.fill_between(rounds + 1, runs.min(axis=0), runs.max(axis=0), color=colour, alpha=0.15, linewidth=0)
        axes.plot(rounds + 1, runs.mean(axis=0), color=colour, linestyle=dashes, label=f"{rate} rate")
    limit = [ab.theory.exp3_abs_bound(int(t) + 1, experts.n_experts, COST, "adaptive") for t in rounds]
    axes.plot(rounds + 1, limit, color=COLOURS["adaptive"][0], linestyle=":", label="bound, adaptive")
    last = ab.theory.exp3_abs_bound(ROUNDS, experts.n_experts, COST, "tuned")
    axes.plot(ROUNDS, last, "v", color=COLOURS["tuned"][0], label="bound, tuned")
    axes.set(title=game, ylabel="regret")
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_xlabel("round")
panels[-1].xaxis.set_major_formatter("{x:,.0f}")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()
