"""
Epsilon-greedy in plain Python
==============================

A learner is a class in a module, and a study is a table in a TOML file that names it as ``module:Class``. Put both into
one folder; nothing has to be registered or installed.

The module, ``greedy.py``, in plain Python:

.. literalinclude:: ../../examples/own/greedy.py
   :language: python

The study, ``mine.toml``. Anything it leaves out is as in the paper: 2,000 experts, the 0-1 loss, the seeds.

.. literalinclude:: ../../examples/own/mine.toml
   :language: toml
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import polars as pl

import abstain as ab
from abstain.checks import check_learner

HERE = Path("own").resolve()  # beside this script

# %%
# First, check the rules that all learners obey: a label is learnt once, a copy continues like the original, files can
# be read back, and more.

sys.path.insert(0, str(HERE))
from greedy import EpsilonGreedy  # noqa: E402

experts = ab.experts.hyperplanes(dim=2, n_predictors=4, n_rings=5, seed=0)
check_learner(lambda: EpsilonGreedy(experts, cost=0.2, seed=0))

# %%
# Then run the study, as ``abstain reproduce mine.toml --jobs 1`` would. If it is interrupted, it resumes where it
# stopped.

out = Path(tempfile.mkdtemp())
command = [sys.executable, "-m", "abstain", "reproduce", str(HERE / "mine.toml"), "--out", str(out), "--jobs", "1"]
subprocess.run(command, check=True, capture_output=True)
results = pl.read_parquet(out / "results.parquet")
print(results.select("learner", "cost", "expert_set", "draw", "t", "loss", "best").tail(3))

# %%
# A row has the loss of a learner up to round t, and that of the best expert. Lines are means over two expert sets and
# two draws; bands go from the smallest to the largest.

regret = (
    results.with_columns(regret=(pl.col("loss") - pl.col("best")) / pl.col("t"))
    .filter(pl.col("t") >= 50)
    .group_by("learner", "t", maintain_order=True)
    .agg(mean=pl.col("regret").mean(), least=pl.col("regret").min(), largest=pl.col("regret").max())
)
figure, axes = plt.subplots(figsize=(6.4, 4.0), layout="constrained")
names = regret["learner"].unique(maintain_order=True)
for name, colour, dashes in zip(
    names, ("#0072B2", "#D55E00", "#CC79A7", "#000000"), ("-", "--", "-.", ":"), strict=True
):
    of = regret.filter(pl.col("learner") == name)
    axes.fill_between(of["t"], of["least"], of["largest"], color=colour, alpha=0.12, linewidth=0)
    axes.plot(of["t"], of["mean"], color=colour, linestyle=dashes, label=name)
    print(f"{name}: {of['mean'][-1]:.4f} per round")
axes.set(xlabel="round", ylabel="regret per round", xscale="log")
axes.set_xticks([50, 100, 200, 500, 1_000, 2_000], [f"{t:,}" for t in (50, 100, 200, 500, 1_000, 2_000)])
axes.spines[["top", "right"]].set_visible(False)
axes.legend(frameon=False)
plt.show()
