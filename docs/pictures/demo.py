"""Draw the picture of the README from what `abstain demo` plays: `python docs/pictures/demo.py`."""

import tempfile
from pathlib import Path

import matplotlib as mpl
import matplotlib.dates as dates
import numpy as np
from matplotlib.figure import Figure

from abstain.replay import demo
from abstain.replay.options import Options
from abstain.replay.run import replay

LINES = {
    "tuned": ("#D55E00", (0, (4, 2)), "threshold, tuned once"),
    "retuned-own": ("#8A6D00", (0, (1, 1.2)), "threshold, re-tuned every 500 cases"),
    "gate": ("#0072B2", "-", "gate"),
}
PIECES = 60
GAP = np.timedelta64(6, "h")
mpl.rcParams["svg.hashsalt"] = "abstain"  # the same file from the same numbers

with tempfile.TemporaryDirectory() as folder:
    log = Path(folder, "log.csv")
    demo.write(log)
    options = Options(review_price=1.0, mistake_price=5.0, unit="EUR", time="time", label_time="label_time")
    found = replay(log, options, Path(folder, "replay"))

timeline = found.timeline
when = np.array(timeline.time, "datetime64[s]")
groups = np.array_split(np.arange(len(when)), PIECES)
figure = Figure(figsize=(7.0, 3.6), layout="constrained")
axes = figure.add_subplot()
tenth = when[np.searchsorted(timeline.row, found.first)]
axes.axvspan(when[0], tenth, color="#EEEEEE", lw=0)
axes.text(when[0] + GAP, 0.02, "tuned here", transform=axes.get_xaxis_transform(), fontsize=10, color="#444444")
for kind, (colour, dashes, name) in LINES.items():
    price = np.array(timeline.loss[kind]) * found.price
    axes.plot(
        [when[rows].astype("int64").mean().astype("datetime64[s]") for rows in groups],
        [price[rows].mean() for rows in groups],
        color=colour, linestyle=dashes, linewidth=2.4 if kind == "gate" else 1.7, label=name,
    )  # fmt: skip
broken = np.datetime64("2026-03-01") + np.array([demo.BROKEN[0], demo.BROKEN[1], demo.AWAY[1]]).astype("timedelta64[D]")
top = axes.get_ylim()[1]
words = {"va": "top", "fontsize": 10, "color": "#444444"}
for at in broken:
    axes.axvline(at, color="#BBBBBB", linewidth=0.8, zorder=0)
axes.text(broken[0] - GAP, top, "the best model breaks", ha="right", **words)
axes.text(broken[1] - GAP, 0.08 * top, "switched off", ha="right", **words)
axes.text(broken[2] + GAP, top, "repaired", ha="left", **words)
axes.set(ylabel="EUR per case", ylim=(0.0, None), xlim=(when[0], when[-1]))
axes.xaxis.set_major_locator(dates.DayLocator(interval=5))
axes.xaxis.set_major_formatter(dates.DateFormatter("%-d %b"))
axes.spines[["top", "right"]].set_visible(False)
figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=10.5)
figure.savefig(Path(__file__).with_suffix(".svg"), metadata={"Date": None})
for kind, (_, _, name) in LINES.items():
    price = np.array(timeline.loss[kind]) * found.price
    pieces = [price[rows].mean() for rows in groups]
    print(f"{name}: at most {max(pieces):.2f} EUR per case")
