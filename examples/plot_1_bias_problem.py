"""
The bias problem
================

Who updates estimates wherever a loss happens to be known gets them wrong: whether it is known depends on what was
chosen.

Two experts (section 4.1 of the paper). On the left of [0, 1] *red* never errs and *blue* often does; on the right red
abstains, which is dear, and blue never errs. Blue is better. But where red is chosen on the right, blue's success
there stays hidden, and blue is seen at its worst only.
"""

import matplotlib.pyplot as plt
import numpy as np

import abstain as ab

game = ab.instances.bias_problem()
print("expected loss of red and blue:", game.means)

# %%
# Three learners play the same twelve streams. The first updates whoever's loss is known, the second only experts that
# abstain wherever the chosen one does, the third finds such a graph on its way.

LEARNERS = {
    "UCB-NT on the instance's own graph": lambda: ab.UCBNT(game.experts, cost=game.cost, graph="abstention"),
    "UCB-NT on the subset graph": lambda: ab.UCBNT(game.experts, cost=game.cost, graph="subset"),
    "UCB-GT": lambda: ab.UCBGT(game.experts, cost=game.cost),
}
ROUNDS, RUNS = 20_000, 12
red = {name: np.empty((RUNS, ROUNDS)) for name in LEARNERS}
for run in range(RUNS):
    X, y = game.draw(ROUNDS, seed=run)
    for name, new in LEARNERS.items():
        red[name][run] = ab.simulate(new(), X, y).expert == 0

for name, followed in red.items():
    trapped = (followed[:, ROUNDS // 2 :].mean(axis=1) > 0.9).sum()
    print(f"{name}: {trapped} of {RUNS} runs stay with red")

# %%
# Every line is a run: what a round costs in expectation above following blue, added up. Runs on the instance's own
# graph go one of two ways, so a mean over them would show what never happens.

gap = game.means[0] - game.means[1]
shown = np.arange(99, ROUNDS, 100)
figure, panels = plt.subplots(3, 1, figsize=(6.4, 6.0), sharex=True, sharey=True, layout="constrained")
for axes, (name, followed), colour in zip(panels, red.items(), ("#D55E00", "#0072B2", "#009E73"), strict=True):
    axes.plot(shown + 1, gap * followed.cumsum(axis=1)[:, shown].T, color=colour, linewidth=1, alpha=0.7)
    axes.set_title(name, fontsize=10)
    axes.set_ylabel("regret")
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_xlabel("round")
plt.show()
