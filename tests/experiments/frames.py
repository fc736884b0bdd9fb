"""Results made by hand."""

import polars as pl

ORDERED = {"UCB": 0.3, "UCB-NT": 0.1, "UCB-GT": 0.02, "FS": 0.01}
EDGES = {"UCB": 2_000, "UCB-NT": 200_000, "UCB-GT": 3_070_000, "FS": 4_000_000}
ABSTAINED = {"UCB": 0.05, "UCB-NT": 0.1, "UCB-GT": 0.4, "FS": 0.5}
T = (1, 10, 100, 1_000, 10_000)


def rows(
    study, dataset, cost, learner, regret, *, edges=None, abstained=0.1, t=T, expert_set=0, draw=0, best=0.0, **columns
):
    """One run; ``regret`` (R_t / t), ``edges`` and ``abstained`` (a fraction) are numbers or one for each t."""

    def each(value):
        return list(value) if isinstance(value, (list, tuple)) else [value] * len(t)

    if edges is None:
        edges = EDGES.get(learner, 10)
        edges = [4_000_000, *[edges] * (len(t) - 1)] if learner == "UCB-GT" else edges
    return pl.DataFrame(
        {
            "study": study,
            "dataset": dataset,
            "cost": float(cost),
            "expert_set": expert_set,
            "draw": draw,
            "learner": learner,
            "t": list(t),
            "loss": [best + r * at for r, at in zip(each(regret), t, strict=True)],
            "best": best,
            "abstained": [round(a * at) for a, at in zip(each(abstained), t, strict=True)],
            "edges": [int(e) for e in each(edges)],
            "seconds_run": 0.1,
            "host": "here",
            **columns,
        },
        schema_overrides={"expert_set": pl.Int64, "draw": pl.Int64, "best": pl.Float64, "loss": pl.Float64},
    )


def setting(study, dataset, cost, regrets=ORDERED, *, edges=EDGES, abstained=ABSTAINED, spread=0.0, **columns):
    """The paper's learners in one setting; with ``spread`` on two expert sets, so far above and below the mean."""
    parts = []
    for learner, regret in regrets.items():
        more = {"edges": edges[learner]} if edges is not EDGES else {}
        for expert_set, sign in ((0, 1), (1, -1)) if spread else ((0, 0),):
            parts.append(
                rows(study, dataset, cost, learner, regret + sign * spread, abstained=abstained[learner],
                     expert_set=expert_set, **more, **columns)
            )  # fmt: skip
    return pl.concat(parts)


def grid(study, sets, costs, **columns):
    """All pairs of sets and costs, in order."""
    return pl.concat([setting(study, dataset, cost, **columns) for dataset in sets for cost in costs])


def empty():
    return rows("none", "none", 0.1, "none", 0.1).clear()
