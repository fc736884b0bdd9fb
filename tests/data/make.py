"""Write missing fixtures of the file format's current version; those of older versions stay."""

import json
from pathlib import Path

import abstain as ab
from abstain._core.files import VERSION

FOLDER = Path(__file__).parent


RINGS = ab.experts.hyperplanes(2, 4, 5, seed=3)
SINGLES = ab.experts.thresholds(2, [-1.0, 0.1, 0.2, 0.3, 0.5])  # every expert has a rule of its own


def finite(kind, experts=RINGS, **options):
    return lambda: kind(experts, cost=0.3, seed=2, **options)


LEARNERS = {
    "ucb": finite(ab.UCB, ties="random"),
    "ucb_nt": finite(ab.UCBNT, ties="random"),
    "ucb_gt": finite(ab.UCBGT, ties="random"),
    "ucb_dsg": finite(ab.UCBDSG, ties="random", slack=0.001, loss_slack=0.1),
    "fs": finite(ab.FullSupervision, ties="random"),
    "fast_rates": finite(ab.FastRates),
    "exp3": finite(ab.Exp3),
    "exp3_abs": finite(ab.Exp3Abs),
    "exp3_abs_singles": finite(ab.Exp3Abs, SINGLES),
    "ucb_abs": finite(ab.UCBAbs),
    "exp3_abs_memories": finite(ab.Exp3Abs, memory="adaptive", feedback=(0.7, 0.4), min_observe=0.2),
    "exp3_abs_share": finite(ab.Exp3Abs, memory="share"),
    "doubly_robust": finite(ab.DoublyRobust),
    "doubly_robust_guard": finite(ab.DoublyRobust, SINGLES, guard=0.05, feedback="both"),
    "doubly_robust_memories": finite(ab.DoublyRobust, memory="adaptive", feedback="abstained", min_observe=0.1),
    "exp3_abs_capacity": finite(ab.Exp3Abs, SINGLES, capacity=ab.Capacity(share=0.1, burst=3)),
    "doubly_robust_capacity": finite(ab.DoublyRobust, feedback="both", capacity=ab.Capacity(share=0.2, burst=5)),
    "stacked": finite(ab.Stacked),
    "stacked_singles": finite(ab.Stacked, SINGLES),
    "cont_exp3_abs": lambda: ab.ContExp3Abs(2, cost=0.3, gamma=0.3, epsilon=0.4, actions="grid", seed=2),
}


def learnt(learner):
    if isinstance(learner, ab.ContExp3Abs):
        return learner.weights_at([0.0, 0.0])
    return learner.weights if hasattr(learner, "weights") else learner.means


def main():
    for name, make in LEARNERS.items():
        path = FOLDER / f"{name}-v{VERSION}.abstain"
        if path.exists():
            continue
        X, y = ab.datasets.load("synthetic", n=400, seed=1)
        learner = make()
        ab.simulate(learner, X[:190], y[:190])
        decisions = [learner.decide(x) for x in X[190:200]]
        learner.save(path)
        state = {"round": learner.round, "pending": learner.pending}
        decision = next(d for d in decisions if d.round in learner.pending)
        learner.learn(decision, 1)
        trace = ab.simulate(learner, X[200:], y[200:])
        after = {"expert": trace.expert.tolist(), "learnt": learnt(learner).tolist()}
        text = json.dumps({**state, "decision": json.loads(decision.to_json()), **after})
        path.with_suffix(".json").write_text(text + "\n")


if __name__ == "__main__":
    main()
