"""A gate that combines its models: one more model, `combined`, in single cases and in tables, over restarts."""

import copy
import pickle
import threading

import numpy as np
import pytest

import abstain as ab
from abstain.errors import DecisionError, FileError, InputError, LabelError
from abstain.gate.case import Case
from abstain.gate.combining import COMBINED
from abstain.gate.frames import Block

MODELS = ["a", "b", "c"]
LEARNT = ("theta", "covariance", "score", "learnt", "share")


def learnt(gate):
    return [getattr(gate._combination.stacks, name).copy() for name in LEARNT]


def same(one, other):
    return all(np.array_equal(x, y) for x, y in zip(one, other, strict=True))


class Random:
    """Cases with random answers, in a row of dictionaries and as a block."""

    def __init__(self, rng, n, models, classes, prices):
        n_models = len(models)
        self.models, self.truth = models, [classes[i] for i in rng.integers(0, len(classes), n)]
        self.answers = [
            [true if rng.random() < 0.6 else classes[rng.integers(len(classes))] for _ in models] for true in self.truth
        ]
        self.confidence = rng.random((n, n_models)).round(1)
        self.confidence[rng.random((n, n_models)) < 0.2] = np.nan
        most = prices.max_stake or 1000.0
        self.stakes = rng.choice([0.0, 0.01, 0.1, 0.5, 1.0], n) * most if prices.staked else None
        self.numbers = np.array([[classes.index(one) for one in row] for row in self.answers])
        self.two, self.classes, self.prices = len(classes) == 2, classes, prices

    def case(self, i):
        given = zip(self.models, self.answers[i], self.confidence[i], strict=True)
        said = {model: (answer, None if np.isnan(sure) else float(sure)) for model, answer, sure in given}
        return said, {} if self.stakes is None else {"stake": float(self.stakes[i])}

    def stake(self, i):
        return 1.0 if self.stakes is None else float(self.stakes[i])

    def loss(self, i, answer):
        return self.prices.full(answer, self.truth[i], self.stake(i))

    def risk(self, i):
        given = zip(self.answers[i], self.confidence[i], strict=True)
        return [self.prices.risk(None if np.isnan(sure) else one, self.stake(i)) for one, sure in given]

    def block(self, rows, truth=None, due=None):
        there, at = ~np.isnan(self.confidence[rows]), range(*rows.indices(len(self.truth)))
        losses = np.array([[self.loss(i, one) for one in self.answers[i]] for i in at]).reshape(there.shape) * there
        kinds = None
        if self.prices.by_kind and (self.prices.staked or not self.two):
            kinds = []
            for i in at:
                given = zip(self.answers[i], self.confidence[i], strict=True)
                different = list(dict.fromkeys(one for one, sure in given if not np.isnan(sure)))
                different, size = (self.classes, 2) if self.two else (different, len(self.models))
                kinds.append(self.prices.between(different, size, self.stake(i)))
            kinds = np.array(kinds)
        return Block(
            self.confidence[rows], losses, np.where(self.numbers[rows] == 1, 1.0, -1.0) if self.two else None,
            None if self.stakes is None else np.array([self.risk(i) for i in at]), None, due, None, self.numbers[rows],
            np.array([self.classes.index(self.truth[i]) for i in at]), kinds,
        )  # fmt: skip


def setting(rng, seed, kind, labels):
    """A gate's options, its classes, and how late labels are."""
    two = bool(rng.integers(2))
    classes, delay = (0, 1) if two else ("x", "y", "z", "w"), int(rng.integers(0, 5))
    prices = [
        {"cost": 0.2},
        {"max_stake": 10.0, "review_price": 2.0},
        {"review_price": 1.0, "mistake_price": {(classes[0], classes[1]): 5, "other": 3}},
        {"cost": 0.2, "capacity": 0.3},
        {"review_price": 2.0, "mistake_price": ab.PerStake(1.5)},
        {"review_price": 2.0, "mistake_price": {(classes[0], classes[1]): ab.PerStake(1.0), "other": 5.0}},
        {"review_price": 2.0, "mistake_price": {(classes[1], classes[0]): 3, "other": 1}, "max_stake": 50.0},
    ][0 if kind is ab.UCB else seed % 7]
    later = labels == "both" and bool(rng.integers(2))
    options = {"seed": seed, "thresholds": 5, "task": "binary" if two else "classes", "combine": True, **prices}
    options |= {"labels": labels, "learner": kind}
    if not later and isinstance(labels, str):
        options["maturity"] = delay or None  # live, how late labels are is not known at first
    return options, classes, delay, later


@pytest.mark.parametrize(
    "kind", [*(pytest.param(kind, marks=pytest.mark.long) for kind in (ab.DoublyRobust, ab.Exp3Abs)), ab.UCB]
)
@pytest.mark.long
def test_tables_are_played_as_single_cases_are(kind):
    """To the last bit, whatever the prices, labels, delays, capacity: rows that nobody answers included."""
    followed = 0
    for seed in range(40 if kind is ab.DoublyRobust else 8):
        rng = np.random.default_rng(seed)
        models, n = MODELS[: rng.integers(1, 4)], int(rng.integers(20, 60))
        labels = ["answered", "reviewed", "both", (0.5, 0.7)][rng.integers(4)]
        labels = "answered" if kind is ab.UCB else labels
        options, classes, delay, later = setting(rng, seed, kind, labels)
        one, other = (ab.Gate(models, **options) for _ in range(2))
        other.learner._identity.learner = one.learner.id  # which labels come depends on it
        log = Random(rng, n, models, classes, one._prices)
        due = np.arange(n) + 1 + (rng.integers(0, 6, n) if later else delay)
        cut, played, waiting = int(rng.integers(0, n + 1)), [], {}
        with one._playing(delay, later) as play:
            for rows in (slice(0, cut), slice(cut, n)):
                if rows.stop > rows.start:
                    part = play(log.block(rows, due=due[rows] if later else None))
                    played += list(zip(part.reviewed, part.model, part.threshold, part.loss, strict=True))
        comes = other.learner.comes(1, n)

        def hear(now, waiting=waiting, due=due, other=other):
            for j in sorted((j for j in waiting if due[j] <= now), key=lambda j: (due[j], j)):
                case, true, seen = waiting.pop(j)
                other.learn(case, true) if seen else other.forget(case)

        for i, (reviewed, model, threshold, loss) in enumerate(played):
            hear(i)
            said, stake = log.case(i)
            shown, before = other.peek(said, **stake), learnt(other)
            case = Case.from_json(other.decide(said, **stake).to_json())
            assert (shown.action, shown.answers, shown.lesson) == (case.action, case.answers, case.lesson)
            assert same(before, learnt(other)) or options.get("maturity") is not None
            assert (case.action == "review") == reviewed
            assert case.model == [*models, COMBINED][model]
            assert (1.0 if case.threshold is None else case.threshold) == threshold
            assert reviewed or loss == log.loss(i, case.answer)
            followed += case.model == COMBINED
            if other.learner.expects[int(reviewed)]:
                waiting[i] = case, log.truth[i], bool(comes[i, int(reviewed)])
        hear(n)
        assert same(learnt(one), learnt(other))
        assert np.array_equal(one._tally.counts, other._tally.counts)
        assert one.learner._random.bit_generator.state == other.learner._random.bit_generator.state
    assert followed > 0


@pytest.mark.parametrize(("labels", "hidden"), [("answered", "review"), ("reviewed", "answer")])
@pytest.mark.long
def test_hidden_labels_are_never_read(labels, hidden):
    rng = np.random.default_rng(1)
    gates = [ab.Gate(MODELS, cost=0.2, labels=labels, combine=True, thresholds=5, seed=0) for _ in range(2)]
    log = Random(rng, 500, MODELS, ("x", "y", "z", "w"), gates[0]._prices)
    with gates[0]._playing(3) as play:
        first = play(log.block(slice(0, 500)))
    for i, reviewed in enumerate(first.reviewed):
        if reviewed == (hidden == "review"):
            log.truth[i] = log.classes[rng.integers(4)]
    with gates[1]._playing(3) as play:
        second = play(log.block(slice(0, 500)))
    for one, two in zip(first[:4], second[:4], strict=True):
        assert np.array_equal(one, two)
    assert same(learnt(gates[0]), learnt(gates[1]))


def some_gate(n=80, **options):
    """A gate that has learnt something, some of its open cases, and a log to go on with."""
    rng = np.random.default_rng(3)
    options = {"cost": 0.2, "combine": True, "thresholds": 5, "seed": 0, "labels": "both", **options}
    gate = ab.Gate(MODELS, **options)
    log = Random(rng, 200, MODELS, ("x", "y", "z", "w"), gate._prices)
    cases = []
    for i in range(n):
        cases.append((gate.decide(log.case(i)[0]), log.truth[i]))
        if len(cases) > 4:
            teach(gate, *cases.pop(int(rng.integers(3))))
    return gate, cases, log


def teach(gate, case, true):
    if gate.labels == "both" or case.action == "answer":
        gate.learn(case, true)


def go_on(gate, cases, log, first):
    done = []
    for case, true in cases:
        teach(gate, Case.from_json(case.to_json()), true)
    for i in range(first, len(log.truth)):
        case = gate.decide(log.case(i)[0])
        done.append((case.action, case.answer, case.model, case.threshold, case.confidence, case.lesson))
        teach(gate, case, log.truth[i])
    return done


@pytest.mark.parametrize("maturity", [None, 10])
def test_files_and_copies_go_on_to_the_last_bit(tmp_path, maturity):
    gate, cases, log = some_gate(maturity=maturity)
    assert (len(gate._combination.early) > 0) == (maturity is not None)
    gate.save(tmp_path / "gate.abstain")
    others = [
        ab.load(tmp_path / "gate.abstain"),
        copy.copy(gate),
        copy.deepcopy(gate),
        pickle.loads(pickle.dumps(gate)),
    ]
    expected = go_on(gate, cases, log, 80)
    for other in others:
        assert other.combine
        assert go_on(other, cases, log, 80) == expected
        assert same(learnt(gate), learnt(other))


def test_a_copy_shares_nothing():
    gate, _, log = some_gate()
    before, other = learnt(gate), copy.copy(gate)
    go_on(other, [], log, 80)
    assert same(before, learnt(gate))


@pytest.mark.parametrize("name", ["theta", "covariance", "score", "learnt", "early.code", "early.chances"])
def test_a_file_with_an_impossible_combination_is_refused(tmp_path, name):
    from abstain._core import files

    gate, *_ = some_gate(maturity=10)
    gate.save(tmp_path / "gate.abstain")
    header, arrays = files.read(tmp_path / "gate.abstain")
    wrong = arrays[f"gate.combined.{name}"].copy()
    wrong.flat[0] = -5 if wrong.dtype == np.int64 else np.nan
    for change in (wrong, wrong[..., :1], None):
        changed = {**arrays, f"gate.combined.{name}": change}
        if change is None:
            del changed[f"gate.combined.{name}"]
        files.write(tmp_path / "bad.abstain", header, changed)
        with pytest.raises(FileError):
            ab.load(tmp_path / "bad.abstain")


def test_models_come_and_go():
    """What is known of the others stays; open cases of earlier models can be learnt; the combination stays last."""
    gate, cases, log = some_gate()
    theta = gate._combination.stacks.theta.copy()
    gate.remove_model("b")
    assert gate.models == ["a", "c"]
    assert np.array_equal(gate._combination.stacks.theta, np.delete(theta, range(4, 8), axis=1))
    gate.add_model("d")
    assert np.array_equal(gate._combination.stacks.theta[:, :8], np.delete(theta, range(4, 8), axis=1)[:, :-1])
    assert gate.thresholds.shape == (4, 5)
    before = gate._combination.stacks.learnt[0]
    for case, true in cases:
        teach(gate, case, true)
    assert gate._combination.stacks.learnt[0] == before + sum(case.answers[COMBINED] is not None for case, _ in cases)
    case = gate.decide({"a": ("x", 0.9), "d": ("y", 0.6)})
    assert list(case.answers) == ["a", "c", "d", COMBINED]
    for i in range(80, 120):
        case = gate.decide({("d" if name == "b" else name): one for name, one in log.case(i)[0].items()})
        teach(gate, case, log.truth[i])
    while len(gate.models) > 1:
        gate.remove_model(gate.models[0])
    assert gate.decide({"d": ("y", 0.6)}).answers[COMBINED] == "y"


def test_labels_kept_for_their_age_survive_a_change_of_models():
    gate, _, log = some_gate(maturity=10)
    assert gate._combination.early
    gate.remove_model("b")
    gate.add_model("e")
    for i in range(80, 120):
        gate.decide({name: one for name, one in log.case(i)[0].items() if name != "b"})
    assert not gate._combination.early


def test_numbers_are_not_combined():
    with pytest.raises(InputError, match='combine: expected False for task="number"'):
        ab.Gate(MODELS, cost=0.2, task="number", combine=True)
    with pytest.raises(InputError, match="combine: expected"):
        ab.Gate(MODELS, cost=0.2, combine="yes")


def test_the_name_of_the_combination_is_taken():
    with pytest.raises(InputError, match="'combined' is the name of the models' combination"):
        ab.Gate(["a", COMBINED], cost=0.2, combine=True)
    gate = ab.Gate(["a"], cost=0.2, combine=True)
    with pytest.raises(InputError, match="'combined' is the name"):
        gate.add_model(COMBINED)
    assert gate.models == ["a"]
    assert ab.Gate(["a", COMBINED], cost=0.2, combine=False).models == ["a", COMBINED]


def independent(rng):
    """Three models that err independently, none of which is sure: only agreement tells."""
    truth = int(rng.integers(0, 8))
    said = [truth if rng.random() < 0.75 else int(rng.integers(0, 8)) for _ in MODELS]
    return {model: (f"k{one}", 0.75) for model, one in zip(MODELS, said, strict=True)}, f"k{truth}"


def test_it_is_followed_where_agreement_tells_and_named_everywhere():
    rng, late = np.random.default_rng(0), []
    gate = ab.Gate(MODELS, cost=0.1, combine=True, seed=0)
    for t in range(4_000):
        said, truth = independent(rng)
        case = gate.decide(said)
        if case.action == "answer":
            gate.learn(case, truth)
        if t >= 3_000:
            late.append((case.model, case.action == "answer", case.answer == truth))
    names, answered, right = map(np.array, zip(*late, strict=True))
    assert (names == COMBINED).mean() > 0.8
    assert answered.mean() > 0.7
    assert right[answered].mean() > 0.93  # a model alone: 0.78
    assert str(gate).startswith("answers with combined above confidence")
    policy = gate.policy()
    assert policy["model"][0] == COMBINED
    assert set(policy["model"]) == {*MODELS, COMBINED}
    assert gate.models == MODELS


def test_the_combined_answer_has_the_least_expected_price():
    """Saying ham where spam is true costs ten times as much: a doubtful ham is called spam."""
    prices = {("ham", "spam"): 10.0, ("spam", "ham"): 1.0}
    for given in ({"classes": ("ham", "spam"), "mistake_price": prices}, {"mistake_price": {**prices, "other": 1.0}}):
        gate = ab.Gate(["a", "b"], review_price=0.5, combine=True, seed=0, **given)
        case = gate.peek({"a": ("ham", 0.7), "b": ("spam", 0.6)})
        assert case.answers[COMBINED] == "spam"
        plain = {name: value for name, value in given.items() if name != "mistake_price"}
        case = ab.Gate(["a", "b"], cost=0.5, combine=True, **plain).peek({"a": ("ham", 0.7), "b": ("spam", 0.6)})
        assert case.answers[COMBINED] == "ham"


def test_two_classes_may_be_answered_against_all_models():
    gate, rng = ab.Gate(["a"], cost=0.4, labels="both", task="binary", combine=True, seed=0), np.random.default_rng(0)
    for _ in range(300):
        gate.learn(gate.decide({"a": 0.3}), int(rng.random() < 0.9))
    case = gate.peek({"a": 0.3})
    assert (case.answers["a"], case.answers[COMBINED]) == (0, 1)


def test_without_any_answer_there_is_none_to_combine():
    gate = ab.Gate(MODELS, cost=0.2, combine=True, labels="both", seed=0)
    before = learnt(gate)
    case = gate.decide({"a": None})
    assert (case.action, case.answers[COMBINED]) == ("review", None)
    gate.learn(case, "x")
    assert same(before, learnt(gate))


@pytest.mark.parametrize("thresholds", [5, "quantiles"])
def test_a_warm_start_teaches_the_combination(thresholds):
    rng = np.random.default_rng(0)
    rows = [independent(rng) for _ in range(400)]
    log = {name: [said[name][0] for said, _ in rows] for name in MODELS}
    log |= {f"{name}_confidence": [0.75] * 400 for name in MODELS} | {"label": [truth for _, truth in rows]}
    gate = ab.Gate(MODELS, cost=0.1, combine=True, thresholds=thresholds, seed=0)
    with pytest.raises(LabelError):
        gate.warm_start({**log, "label": [*log["label"][:-1], None]})
    assert gate._combination.stacks.learnt[0] == 0
    gate.warm_start(log)
    assert gate._combination.stacks.learnt[0] == 400
    assert gate.policy()["model"][0] == COMBINED
    case = gate.peek(dict.fromkeys(MODELS, ("k1", 0.75)))
    assert (case.answers[COMBINED], len(gate.thresholds)) == ("k1", 4)
    if thresholds == "quantiles":
        assert len(np.unique(gate.thresholds[3])) > 10


def test_frames_are_decided_as_single_cases_are():
    one, _, log = some_gate()
    other, rows = copy.copy(one), [log.case(i)[0] for i in range(80, 130)]
    frame = {name: [row[name][0] if row[name][1] is not None else None for row in rows] for name in MODELS}
    frame |= {f"{name}_confidence": [row[name][1] for row in rows] for name in MODELS}
    decided = one.decide_many(frame)
    cases = [other.decide(row) for row in rows]
    assert decided["model"].to_list() == [case.model for case in cases]
    assert decided["answer"].to_list() == [case.answer for case in cases]
    one.learn(decided["case"][0], "x")
    other.learn(cases[0], "x")
    assert same(learnt(one), learnt(other))


def test_errors_leave_the_combination_as_it_was():
    gate, cases, log = some_gate()
    before, block = learnt(gate), log.block(slice(80, 120))
    with pytest.raises(LabelError), gate._playing() as play:  # noqa: PT012
        play(block)
        play(block._replace(losses=block.losses + 2.0))
    assert same(before, learnt(gate))
    assert gate.round == 80
    with pytest.raises(InputError, match="block: expected its answers"), gate._playing() as play:
        play(block._replace(answer=None))
    with pytest.raises(LabelError):
        gate.learn(cases[0][0], None)
    plain = ab.Gate(MODELS, cost=0.2, seed=0)
    for _ in range(20):
        other = plain.decide(log.case(0)[0])
        with pytest.raises(DecisionError):
            gate.learn(other, "x")
    assert same(before, learnt(gate))


def test_many_threads_use_one_gate():
    gate = ab.Gate(MODELS, cost=0.2, combine=True, labels="both", thresholds=5, seed=0)

    def work(seed):
        rng = np.random.default_rng(seed)
        for _ in range(100):
            said, truth = independent(rng)
            gate.learn(gate.decide(said), truth)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (gate.round, gate._combination.stacks.learnt[0]) == (400, 400)
    assert np.isfinite(gate._combination.stacks.covariance).all()


def test_a_model_that_left_and_came_back_is_a_new_one():
    """What was said before under its name is no lesson about it, when the label comes and when it has come."""
    twins = []
    for name in ("b", "c"):
        for early in (False, True):
            gate = ab.Gate(["a", "b"], cost=0.2, labels="both", combine=True, maturity=5, seed=0)
            case = gate.decide({"a": ("x", 0.6), "b": ("y", 0.9)})
            if early:
                gate.learn(case, "y")
            gate.remove_model("b")
            gate.add_model(name)
            if not early:
                gate.learn(case, "y")
            for _ in range(6):
                gate.decide({})
            twins.append(gate._combination.stacks)
    for one in twins[1:]:
        assert np.array_equal(one.theta, twins[0].theta)
