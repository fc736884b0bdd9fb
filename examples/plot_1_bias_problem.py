"""
The bias problem
================

If you update an expert whenever its loss happens to be known, your estimates are biased, because whether a loss
is known depends on what you chose.

Two experts (section 4.1 of the paper): on the left of [0, 1] *red* is never wrong and *blue* often is; on the right
red abstains, which is expensive, and blue is never wrong. Blue is better. But if red is chosen on the right, blue's
success there stays hidden, so blue is seen only where it does badly.
"""

import matplotlib.pyplot as plt
import numpy as np

import abstain as ab

game = ab.instances.bias_problem()
print("expected loss of red and blue:", game.means)

# %%
# Three learners play the same twelve streams. The first updates every expert whose loss is known. The second updates
# only experts that abstain wherever the chosen one does. The third estimates such a graph during the game.

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
# Each line is one run: the expected extra cost compared with following blue, added up. Runs on the instance's own
# graph end in one of two ways, so their mean would show something that never happens.

gap = game.means[0] - game.means[1]
shown = np.arange(99, ROUNDS, 100)
figure, panels = plt.subplots(3, 1, figsize=(6.4, 6.0), sharex=True, sharey=True, layout="constrained")
for axes, (name, followed), colour in zip(panels, red.items(), ("#D55E00", "#0072B2", "#009E73"), strict=True):
    axes.plot(shown + 1, gap * followed.cumsum(axis=1)[:, shown].T, color=colour, linewidth=1, alpha=0.7)
    axes.set_title(name, fontsize=10)
    axes.set_ylabel("regret")
    axes.spines[["top", "right"]].set_visible(False)
panels[-1].set_xlabel("round")
panels[-1].xaxis.set_major_formatter("{x:,.0f}")
plt.show()
