"""
Confidence thresholds
=====================

Two models answer with a confidence. A review costs 1, a mistake costs 5. Which model should answer, and how confident
must it be? The gate learns that from the outcomes of its answers.

*Plain* is right as often as it says. *Boastful* is right less often than it says, so no threshold that you would guess
is right for it.
"""

import matplotlib.pyplot as plt
import numpy as np
import polars as pl

import abstain as ab

rng = np.random.default_rng(0)
CASES, REVIEW, MISTAKE = 10_000, 1.0, 5.0
truth = rng.choice(["ham", "spam"], CASES)
other = np.where(truth == "ham", "spam", "ham")
chance = rng.uniform([[0.5], [0.4]], [[1.0], [0.9]], (2, CASES))  # of being right
right = rng.random((2, CASES)) < chance
confidence = np.array([chance[0], np.sqrt(chance[1])])
cases = pl.DataFrame(
    {
        "plain": np.where(right[0], truth, other),
        "plain_confidence": confidence[0],
        "boastful": np.where(right[1], truth, other),
        "boastful_confidence": confidence[1],
    }
)

# %%
# Cases come one by one. Only answers have an outcome.

gate = ab.Gate(["plain", "boastful"], review_price=REVIEW, mistake_price=MISTAKE, seed=0)
price, weights, days = np.empty(CASES), [], np.arange(250, CASES + 1, 250)
for number, (row, label) in enumerate(zip(cases.iter_rows(named=True), truth, strict=True), start=1):
    case = gate.decide({name: (row[name], row[f"{name}_confidence"]) for name in gate.models})
    price[number - 1] = REVIEW
    if case.action == "answer":
        gate.learn(case, label)
        price[number - 1] = MISTAKE * (case.answer != label)
    if number in days:
        weights.append(gate.policy().with_columns(case=pl.lit(number)))
print(gate)

# %%
# With the outcomes of both models we can draw what each threshold would have cost, and where the gate's weight lies.

levels = np.linspace(0.5, 1.0, 101)
fixed = {
    name: [np.where(confidence[k] > level, MISTAKE * ~right[k], REVIEW).mean() for level in levels]
    for k, name in enumerate(gate.models)
}
figure, (above, below) = plt.subplots(2, 1, figsize=(6.4, 6.4), layout="constrained")
policy = gate.policy().filter(pl.col("weight") > 0.01)
for name, colour, dashes in (("plain", "#0072B2", "-"), ("boastful", "#D55E00", "--")):
    above.plot(levels, fixed[name], color=colour, linestyle=dashes, label=name)
    held = policy.filter(pl.col("model") == name)
    above.scatter(
        held["threshold"],
        np.interp(held["threshold"], levels, fixed[name]),
        s=300 * held["weight"],
        color=colour,
        alpha=0.5,
    )
above.set(
    xlabel="answers above this confidence",
    ylabel="price per case",
    title="what a threshold costs; dots: the gate's weight",
)
above.legend(frameon=False)
history = pl.concat(weights).group_by("case", "model").agg(pl.col("weight").sum()).sort("case")
for name, colour, dashes in (("plain", "#0072B2", "-"), ("boastful", "#D55E00", "--")):
    of = history.filter(pl.col("model") == name)
    below.plot(of["case"], of["weight"], color=colour, linestyle=dashes, label=name)
below.set(xlabel="case", ylabel="weight", ylim=(0, 1), title="which model the gate follows")
below.xaxis.set_major_formatter("{x:,.0f}")
for axes in (above, below):
    axes.title.set_fontsize(10)
    axes.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# What was paid, including the time while it was still learning:

print(f"the gate {price.mean():.3f}, of that in the second half {price[CASES // 2 :].mean():.3f}")
print(f"the best threshold of all, known afterwards: {min(map(min, fixed.values())):.3f}")
print(f"everything to review: {REVIEW:.3f}; every case answered by plain: {MISTAKE * (~right[0]).mean():.3f}")
