"""
Late labels
===========

A label rarely comes before the next case has to be decided. A decision carries all that its label needs, so that it
can be learnt whenever it comes, in any order: with the probabilities of the round it belongs to, not those of the day
it arrives.
"""

import matplotlib.pyplot as plt
import numpy as np

import abstain as ab

rng = np.random.default_rng(0)
ROUNDS = 20_000
y = rng.choice([-1, 1], ROUNDS)
X = y[:, np.newaxis] + [0.8, 1.0, 1.2] * rng.normal(size=(ROUNDS, 3))  # the scores of three models
experts = ab.experts.thresholds(n_models=3, thresholds=np.linspace(0, 2, 20))

# %%
# One by one: three decisions are made, written down, and learnt in the order in which labels come.

learner = ab.DoublyRobust(experts, cost=0.1, seed=1)
decisions = [learner.decide(x) for x in X[:3]]
print("open:", learner.pending)
for decision, label in reversed(list(zip(decisions, y[:3], strict=True))):
    if not decision.abstained:
        learner.learn(ab.Decision.from_json(decision.to_json()), label)
print("open:", learner.pending)

# %%
# A whole table, played by two learners with exponential weights: with ``delay=n`` the label of a round is learnt n
# rounds later. Five runs each.

DELAYS, RUNS = (0, 100, 1_000, 5_000), 5
KINDS = {"DoublyRobust": ab.DoublyRobust, "EXP3-ABS": ab.Exp3Abs}
best = ab.best_in_hindsight(experts, X, y, cost=0.1)
regret = {
    (name, delay): np.mean(
        [ab.simulate(kind(experts, cost=0.1, seed=seed), X, y, delay=delay).regret(best) for seed in range(RUNS)],
        axis=0,
    )
    for name, kind in KINDS.items()
    for delay in DELAYS
}
for name in KINDS:
    print(f"{name}:", ", ".join(f"{regret[name, delay][-1]:.0f} after a delay of {delay}" for delay in DELAYS))

# %%
# A delay costs about what is lost while nothing is known, once: the curves rise for as long, and are nearly parallel
# then.

figure, panels = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True, sharey=True, layout="constrained")
shown = np.arange(99, ROUNDS, 100)
for axes, name in zip(panels, KINDS, strict=True):
    for delay, colour, dashes in zip(
        DELAYS, ("#000000", "#0072B2", "#009E73", "#D55E00"), ("-", "--", "-.", ":"), strict=True
    ):
        axes.plot(shown + 1, regret[name, delay][shown], color=colour, linestyle=dashes, label=f"{delay:,} rounds late")
    axes.set(title=name, ylabel="regret, mean", ylim=(0, None))
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_xlabel("round")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()
