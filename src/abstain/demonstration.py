"""The learners on the synthetic set: a table and a figure."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from . import datasets, experts
from .errors import InputError
from .learners import UCB, UCBGT, UCBNT, Exp3Abs, FullSupervision, Learner
from .regret import best_in_hindsight
from .simulate import simulate
from .trace import Best, Trace

if TYPE_CHECKING:
    from matplotlib.figure import Figure

LEARNERS: dict[str, type[Learner]] = {
    "UCB": UCB,
    "UCB-NT": UCBNT,
    "UCB-GT": UCBGT,
    "EXP3-ABS": Exp3Abs,
    "FS": FullSupervision,
}
# Okabe and Ito's palette and a marker each: told apart without colour, too.
STYLES = {
    "UCB": ("#D55E00", "o"),
    "UCB-NT": ("#000000", "s"),
    "UCB-GT": ("#009E73", "^"),
    "EXP3-ABS": ("#CC79A7", "v"),
    "FS": ("#0072B2", "D"),
}


class Curve(NamedTuple):
    """What one learner's lines show, at the checkpoints."""

    regret: np.ndarray
    abstained: np.ndarray
    edges: np.ndarray


def curve(trace: Trace, best: Best) -> Curve:
    """Average regret R_t / t, fraction abstained so far, and edges, at a trace's checkpoints."""
    rounds = np.arange(1, len(trace) + 1)
    at = trace.checkpoints - 1
    return Curve((trace.regret(best) / rounds)[at], (np.cumsum(trace.abstained) / rounds)[at], trace.edges)


def run(out: Path, rounds: int, cost: float, seed: int, console: Console) -> tuple[Table, Path]:
    """Play, and return the table and the path of the figure."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise InputError(f"out: expected a folder, got the file {out}") from None
    X, y = datasets.load("synthetic", n=rounds, seed=seed)
    pairs = experts.hyperplanes(dim=2, seed=seed)
    console.print("Preparing: the kernels are compiled at their first use, then kept on disk.", highlight=False)
    with console.status("Compiling ..."):
        for kind in LEARNERS.values():
            simulate(kind(pairs, cost=cost, seed=seed), X[:2], y[:2], checkpoints=[1])
        best = best_in_hindsight(pairs, X, y, cost=cost)
    checkpoints = np.unique(np.geomspace(1, rounds, 60).round().astype(int))
    curves = {}
    columns = (TextColumn("{task.description:8}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console) as progress:
        for name, kind in LEARNERS.items():
            task = progress.add_task(name, total=rounds)
            trace = simulate(
                kind(pairs, cost=cost, seed=seed),
                X,
                y,
                checkpoints=checkpoints,
                progress=lambda done, task=task: progress.update(task, completed=done),  # type: ignore[misc]
            )
            curves[name] = curve(trace, best)
    path = out / "demo.png"
    draw(curves, checkpoints).savefig(path, dpi=150)
    return table(curves, f"synthetic, {pairs.n_experts} experts, {rounds} rounds, cost {cost}"), path


def table(curves: dict[str, Curve], title: str) -> Table:
    """The last point of every line."""
    result = Table(title=title)
    result.add_column("learner")
    for heading in ("regret / round", "abstained", "edges"):
        result.add_column(heading, justify="right")
    for name, line in curves.items():
        result.add_row(name, f"{line.regret[-1]:.4f}", f"{line.abstained[-1]:.1%}", f"{line.edges[-1]:,}")
    return result


def draw(curves: dict[str, Curve], checkpoints: np.ndarray) -> "Figure":
    """Three panels over t: average regret, fraction abstained, edges (as in the paper's figure 5)."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11.0, 3.6), layout="constrained")
    panels = figure.subplots(1, 3)
    for name, line in curves.items():
        colour, marker = STYLES[name]
        for panel, values in zip(panels, line, strict=True):
            panel.plot(
                checkpoints, values, color=colour, marker=marker, markevery=8, markersize=5, linewidth=1.6, label=name
            )
    for panel, heading in zip(panels, ("average regret $R_t / t$", "fraction abstained", "edges"), strict=True):
        panel.set(xscale="log", xlabel="round $t$", title=heading)
        panel.grid(alpha=0.3)
    panels[2].set_yscale("log")
    panels[0].legend(frameon=False)
    return figure
