"""
Late labels
===========

Labels rarely arrive before the next case has to be decided. A decision holds everything that its label needs, so labels
can be learnt whenever they come, in any order, with the probabilities of the round they belong to.
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
# One by one: make three decisions, write them down, and learn them in the order in which labels arrive.

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
# A delay costs about as much as is lost while nothing is known, and only once: the curves rise during the delay, and
# are nearly parallel afterwards.

figure, panels = plt.subplots(2, 1, figsize=(6.4, 6.4), sharex=True, sharey=True, layout="constrained")
shown = np.arange(99, ROUNDS, 100)
for axes, name in zip(panels, KINDS, strict=True):
    for delay, colour, dashes in zip(
        DELAYS, ("#000000", "#0072B2", "#009E73", "#D55E00"), ("-", "--", "-.", ":"), strict=True
    ):
        axes.plot(shown + 1, regret[name, delay][shown], color=colour, linestyle=dashes, label=f"{delay:,} rounds late")
    axes.set(title=name, ylabel="regret, mean")
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_xlabel("round")
panels[-1].set_ylim(bottom=0)
panels[-1].xaxis.set_major_formatter("{x:,.0f}")
figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2, frameon=False)
plt.show()
