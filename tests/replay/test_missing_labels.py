"""Labels that are missing: bounds that hold whatever they are, and estimates where it is known how they got lost."""

import itertools
import json
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import abstain as ab
from abstain.errors import InputError
from abstain.replay import play, run
from abstain.replay.policies import spreads
from abstain.replay.rows import Rows, Slice
from abstain.replay.run import replay

from .logs import NAMES, options, small_log

pytestmark = pytest.mark.usefixtures("no_page")


@pytest.fixture
def no_bounds(monkeypatch):
    """All rows count by their estimates, however large their largest term is."""
    monkeypatch.setattr(play, "CUTOFFS", (np.inf,))


def by_kind(found):
    return {one.name if one.kind == "always" else one.kind: one for one in found.policies}


def selective(frame, seed=0, floor=0.0):
    """Labels of surely answered rows only, as a gate's own log has them: the uncertain ones are missing."""
    rng = np.random.default_rng(seed)
    chance = np.clip(frame["gbm_confidence"].fill_null(0.0).to_numpy() * 2.0 - 0.9, floor, 1.0)
    seen = (rng.random(len(frame)) < chance) & frame["gbm"].is_not_null().to_numpy()
    seen[: len(frame) // 10] |= frame["gbm"].is_not_null().to_numpy()[: len(frame) // 10]
    chance[: len(frame) // 10] = 1.0
    return frame.with_columns(
        label=pl.when(pl.Series(seen)).then("label"),
        decided=pl.when(pl.Series(seen)).then(pl.lit("gbm")).otherwise(pl.lit("review")),
        observed=pl.Series(chance),
    )


def test_bounds_hold_whatever_the_labels_are(tmp_path):
    """Of policies that do not learn, the true price is inside the bounds, and each end is reached by some labels."""
    frame = small_log(1_000, missing=0.0)
    frame.write_csv(tmp_path / "all.csv")
    whole = by_kind(replay(tmp_path / "all.csv", options(today="gbm:0.8"), tmp_path / "out"))
    selective(frame).write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(today="gbm:0.8"), tmp_path / "out")
    part = by_kind(found)
    for kind in ("always gbm", "always rules", "today", "review"):
        one, true = part[kind], whole[kind]
        assert one.lowest - 1e-12 <= true.loss <= one.highest + 1e-12
        assert one.known == (kind == "review")
        if kind != "today":
            assert one.low <= true.difference <= one.high
    # The rows that were answered are the easy ones: to leave the others out is to say that it costs less than it does.
    answered = selective(frame).slice(100).filter(pl.col("label").is_not_null())
    naive = (answered["gbm"] != answered["label"]).mean()
    assert naive < 0.9 * whole["always gbm"].loss
    told = json.loads((tmp_path / "out" / "replay.json").read_text())
    assert told["without_label"] == found.left_out > 400
    assert all(policy["lowest"] <= policy["loss"] <= policy["highest"] for policy in told["policies"])
    assert part["always gbm"].share is None
    assert "the log does not tell which of them is cheaper" in found.verdict
    assert "(--decided, --observed)" in found.verdict


@pytest.mark.parametrize("classes", [("a", "b"), ("a", "b", "c")])
def test_the_ends_of_bounds_are_reached(tmp_path, classes):
    """Small logs with all labels there could be: the least and the largest difference are the bounds themselves."""
    frame = small_log(120, missing=0.0, classes=classes, seed=4)
    gone = [30, 57, 58, 99, 110]
    holes = frame.with_columns(label=pl.when(~pl.int_range(120).is_in(gone)).then("label"))
    holes.write_csv(tmp_path / "log.csv")
    given = options(today="rules:0.6")
    part = by_kind(replay(tmp_path / "log.csv", given, tmp_path / "out"))
    today = part["today"]
    labels, answers = frame["label"].to_list(), {name: frame[name].to_list() for name in NAMES}
    sure = frame["rules_confidence"].to_list()
    losses, apart = [], []
    for truth in itertools.product(classes, repeat=len(gone)):
        true = [*labels]
        for row, one in zip(gone, truth, strict=True):
            true[row] = one
        gbm = [float(answers["gbm"][t] != true[t]) for t in range(12, 120)]
        own = [float(answers["rules"][t] != true[t]) if sure[t] > 0.6 else 0.25 for t in range(12, 120)]
        losses.append((np.mean(gbm), np.mean(own)))
        apart.append(np.mean(gbm) - np.mean(own))
    always = part["always gbm"]
    assert (always.mistakes, always.most_mistakes) == pytest.approx((always.lowest, always.highest))
    for k, policy in enumerate((always, today)):
        assert (policy.lowest, policy.highest) == pytest.approx((np.min(losses, axis=0)[k], np.max(losses, axis=0)[k]))
    assert always.difference == pytest.approx((min(apart) + max(apart)) / 2)
    assert always.low <= min(apart)
    assert max(apart) <= always.high


def test_rows_that_two_policies_answer_alike_are_sure(tmp_path):
    """If both give the same answer, they make the same mistake or none: the difference is known, the price is not."""
    frame = small_log(300, missing=0.0).with_columns(rules=pl.col("gbm"), rules_confidence=pl.lit(0.9))
    frame = frame.with_columns(label=pl.when(pl.int_range(300) % 3 > 0).then("label"))
    frame.write_csv(tmp_path / "log.csv")
    part = by_kind(replay(tmp_path / "log.csv", options(today="rules:0.5"), tmp_path / "out"))
    always = part["always gbm"]
    assert not always.known
    assert (always.difference, always.low, always.high) == (0.0, 0.0, 0.0)


def test_numbers_that_are_close_differ_by_little(tmp_path):
    rng = np.random.default_rng(0)
    truth = rng.normal(0.0, 1.0, 300)
    frame = pl.DataFrame(
        {"y": truth, "a": truth + 0.1, "a_error": [0.2] * 300, "b": truth + 0.3, "b_error": [0.2] * 300}
    )
    frame.with_columns(y=pl.when(pl.int_range(300) % 2 == 0).then("y")).write_csv(tmp_path / "log.csv")
    models = ("a=a:a_error", "b=b:b_error")
    given = options(models=tuple(map(number, models)), label="y", max_error=2.0, today="a:0.1")
    part = by_kind(replay(tmp_path / "log.csv", given, tmp_path / "out"))
    always = part["always b"]
    assert always.high - always.low <= 0.2 + 0.05  # 0.1 either way in half of the rows, and chance
    assert always.low <= 0.1 <= always.high + 1e-12


def number(text):
    from abstain.replay.options import model_columns

    return model_columns("value", text)


@pytest.mark.usefixtures("no_bounds")
def test_the_estimate_is_unbiased_by_enumeration(tmp_path):
    """Every way in which labels of a few rows can be seen or not, weighed by its probability: the mean is the truth."""
    frame = small_log(110, missing=0.0, seed=2)
    rows, chances = [40, 60, 61, 80], [0.5, 0.25, 0.7, 0.9]
    # A row that is not scored has no label in any case, so that estimates are made in all of them.
    base = frame.with_columns(
        label=pl.when(pl.int_range(110) != 5).then("label"), decided=pl.lit("gbm"),
        observed=pl.when(pl.int_range(110) == 5).then(0.0).otherwise(1.0),
    )  # fmt: skip
    given = options(today="rules:0.6", decided="decided", observed="observed")
    frame.write_csv(tmp_path / "all.csv")
    whole = by_kind(replay(tmp_path / "all.csv", options(today="rules:0.6"), tmp_path / "out"))
    means = dict.fromkeys(("always gbm", "always rules", "today"), 0.0)
    for seen in itertools.product((True, False), repeat=len(rows)):
        weight = np.prod([p if s else 1 - p for p, s in zip(chances, seen, strict=True)])
        label, decided, observed = (base[name].to_list() for name in ("label", "decided", "observed"))
        for row, chance, shown in zip(rows, chances, seen, strict=True):
            observed[row] = chance
            if not shown:
                label[row], decided[row] = None, "review"
        log = base.with_columns(label=pl.Series(label), decided=pl.Series(decided), observed=pl.Series(observed))
        log.write_csv(tmp_path / "log.csv")
        part = by_kind(replay(tmp_path / "log.csv", given, tmp_path / "out"))
        for kind in means:
            means[kind] += weight * part[kind].loss
            assert part[kind].known
    for kind, mean in means.items():
        assert mean == pytest.approx(whole[kind].loss, abs=1e-9), kind


@pytest.mark.parametrize(
    ("labels", "chances", "bounded"),
    [
        ((0.5, 1.0), (0.5, 1.0), False),
        ((0.96, 0.96), (0.96, 0.96), False),
        ("reviewed", (0.0, 1.0), True),
        ("answered", (1.0, 0.0), False),
        ("answered", (0.96, 0.96), True),
        ("both", (0.96, 0.96), True),
    ],
)
def test_the_policy_that_decided_differs_from_itself_by_nothing(tmp_path, labels, chances, bounded):
    """Whatever the labels are that are missing, and however few of them were drawn."""
    frame = small_log(400)
    answers = pl.col("gbm").is_not_null() & (pl.col("gbm_confidence") > 0.7)
    frame = frame.with_columns(
        decided=pl.when(answers).then(pl.lit("gbm")).otherwise(pl.lit("review")),
        observed=pl.when(answers).then(chances[0]).otherwise(chances[1]),
    )
    drawn = pl.Series(np.random.default_rng(0).random(400)) < pl.col("observed")
    frame.with_columns(label=pl.when(drawn | (pl.int_range(400) < 40)).then("label")).write_csv(tmp_path / "log.csv")
    given = options(today="gbm:0.7", decided="decided", observed="observed", labels=labels)
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    decided = by_kind(found)["decided"]
    assert decided.known != bounded
    assert (decided.difference, decided.low, decided.high) == (0.0, 0.0, 0.0)
    assert " exactly as much as today's threshold, gbm above 0.7" in found.verdict


def test_the_difference_of_two_estimates_is_that_of_their_prices(tmp_path):
    """However narrow the bounds are: the verdict, the table and the parts of the saving tell the same numbers."""
    rng, frame = np.random.default_rng(0), small_log(1_000, missing=0.0, classes=("a", "b"))
    chance = np.clip(3.0 * frame["gbm_confidence"].to_numpy() - 1.2, 0.02, 1.0)
    done = rng.random(1_000) < chance
    drawn = (rng.random(1_000) < np.where(done, 0.3, 1.0)) | (np.arange(1_000) < 100)
    frame.with_columns(
        decided=pl.when(pl.Series(done)).then(pl.lit("gbm")).otherwise(pl.lit("review")),
        observed=pl.Series(1.0 - 0.7 * chance), label=pl.when(pl.Series(drawn)).then("label"),
    ).write_csv(tmp_path / "log.csv")  # fmt: skip
    given = options(today="gbm:0.6", decided="decided", observed="observed", labels=(0.3, 1.0))
    found = replay(tmp_path / "log.csv", given, tmp_path / "out")
    part = by_kind(found)
    for one in found.policies:
        assert one.known
        if one.difference is not None:
            assert one.difference == pytest.approx(one.loss - part["today"].loss, abs=1e-12)
            assert one.share == pytest.approx(one.difference / part["today"].loss)
    assert sum(one.saved for one in found.saved) == pytest.approx(-900 * part["decided"].difference)
    assert "any share" not in found.verdict


@pytest.mark.usefixtures("no_bounds")
def test_what_both_policies_answered_alike_is_left_to_no_draw(tmp_path):
    """By enumeration of the labels an audit draws: the mean is right, and only rows with other answers move it."""
    frame = small_log(110, missing=0.0, seed=2)
    alike, apart, whole = [60, 61, 80], 40, pl.int_range(110)
    kept = [row in (*alike, apart) for row in range(110)]
    base = frame.with_columns(
        gbm_confidence=pl.when(pl.Series(kept)).then(0.9).otherwise(0.3),
        rules=pl.when(whole == apart).then(pl.lit("b")).otherwise("rules"),
        gbm=pl.when(whole == apart).then(pl.lit("a")).otherwise("gbm"),
        label=pl.when(whole == apart).then(pl.lit("a")).when(whole != 5).then("label"),
        decided=pl.when(whole == apart).then(pl.lit("rules")).when(pl.Series(kept)).then(pl.lit("gbm"))
        .otherwise(pl.lit("review")),
        observed=pl.when(pl.Series(kept)).then(0.5).when(whole == 5).then(0.0).otherwise(1.0),
    )  # fmt: skip
    given = options(today="gbm:0.5", decided="decided", observed="observed", labels=(0.5, 1.0))
    found = {}
    for seen in itertools.product((True, False), repeat=4):
        hidden = [row for row, shown in zip([apart, *alike], seen, strict=True) if not shown]
        log = base.with_columns(label=pl.when(~whole.is_in(hidden)).then("label"))
        log.write_csv(tmp_path / "log.csv")
        found[seen] = by_kind(replay(tmp_path / "log.csv", given, tmp_path / "out"))["decided"]
    assert np.mean([one.difference for one in found.values()]) == pytest.approx(1 / 99)
    for seen, one in found.items():
        like = found[seen[0], True, True, True]
        assert (one.difference, one.low, one.high) == pytest.approx((like.difference, like.low, like.high))
        assert one.low < 1 / 99 < one.high


def drawn_labels(frame, rows, chances):
    """A log for each way in which the labels of these rows can be seen, with its probability.

    A row's probability is the next one of ``chances`` if the label before it was seen, and half of it if not.
    """
    for seen in itertools.product((True, False), repeat=len(rows)):
        weight, before = 1.0, True
        label, observed = frame["label"].to_list(), [1.0] * len(frame)
        label[5], observed[5] = None, 0.0  # not scored: so that estimates are made in all of them
        for row, most, shown in zip(rows, chances, seen, strict=True):
            observed[row] = most if before else most / 2
            weight, before = weight * (observed[row] if shown else 1.0 - observed[row]), shown
            label[row] = label[row] if shown else None
        decided = ["gbm" if one is not None else "review" for one in label]
        yield weight, frame.with_columns(
            label=pl.Series(label), observed=pl.Series(observed), decided=pl.Series(decided)
        )  # fmt: skip


@pytest.mark.parametrize("stakes", [False, True])
def test_intervals_cover_by_enumeration_for_every_cutoff(tmp_path, monkeypatch, stakes):
    """Each cutoff's interval holds in 95 % of all draws of labels, and at its share of the 5 %; so does the narrowest,
    which is no wider than any of them, though it is chosen by what the labels were."""
    frame, rows, chances = small_log(110, missing=0.0, seed=3), [40, 52, 61, 70, 80, 95], [0.9, 0.5, 0.3, 0.2, 0.1, 0.9]
    given, kinds = {"today": "rules:0.6", "decided": "decided", "observed": "observed"}, {}
    if stakes:
        frame, kinds, more = kinds_log(CLASSES[:2], n=110, seed=3)
        given |= more
    whole = frame if stakes else frame.with_columns(stake=1.0)
    true = costs_of(whole, frame["label"].to_list(), kinds, review=1.0 if stakes else 0.25)
    kept, old, level = [], run.policies, play.CUTOFFS
    monkeypatch.setattr(run, "policies", lambda out, *rest: kept.append(out) or old(out, *rest))
    held = {**dict.fromkeys(itertools.product((0.05, 0.0125), range(5)), 0.0), "narrowest": 0.0}
    used = set()
    for weight, log in drawn_labels(frame, rows, chances):
        log.write_csv(tmp_path / "log.csv")
        found = replay(tmp_path / "log.csv", options(**given), tmp_path / "out")
        out, one, widths = kept.pop(), by_kind(found)["always gbm"], []
        apart = (true["always gbm"] - true["today"]) / found.price
        for cutoff in range(5):
            low, high = (end.sum() / 99 for end in out.blocks_between("always gbm", "today", cutoff))
            for share, cutoffs in ((0.05, (1.0,)), (0.0125, level)):
                monkeypatch.setattr(play, "CUTOFFS", cutoffs)
                half = out.half_width("always gbm", "today", cutoff)
                held[share, cutoff] += weight * (low - half - 1e-9 <= apart <= high + half + 1e-9)
            widths.append(high - low + 2 * half)
        if weight > 0.02:  # each cutoff alone, at its share of the 5 %, is no narrower than what was chosen
            for cutoff in range(5):
                part = ({key: each[[cutoff]] for key, each in all_.items()} for all_ in (out.open_pairs, out.noise))
                alone = replace(out, **dict(zip(("open_pairs", "noise"), part, strict=True)))
                ends = spreads(alone, [("always gbm", "today")], 0)[0]
                assert one.high - one.low <= ends.high[0] - ends.low[0] + 1e-9
        used.add(int(spreads(out, [("always gbm", "today")], 0)[1][0]))
        held["narrowest"] += weight * (one.low - 1e-9 <= apart <= one.high + 1e-9)
        assert one.high - one.low >= min(widths) - 1e-9
        assert one.lowest <= one.loss <= one.highest
    assert held[0.05, 0] == held[0.0125, 0] == pytest.approx(1.0)  # bounds alone
    assert all(mass >= (0.95 if key == "narrowest" else 1.0 - key[0]) for key, mass in held.items()), held
    assert len(used) > 1


def test_labels_that_were_not_shown_are_not_in_bounds(tmp_path):
    """A log may have labels that the feedback did not show: whatever they are, ends and estimates are the same."""
    rows = Rows(tmp_path / "rows", 2, said=False, risk=False, time=False, due=False, truth=False, kinds=0, partly=True,
                by_kind=None, decided=True, observed=True, passed=False)  # fmt: skip
    rng, records = np.random.default_rng(0), rows.empty(50)
    records["confidence"], records["answer"] = rng.uniform(0.5, 1.0, (2, 50, 2))[0], rng.integers(0, 2, (50, 2))
    records["labelled"], records["observed"], records["guess"] = 1, 0.2, 0.3
    records["weight"] = np.where(np.arange(50) % 3 == 0, 5.0, 0.0)
    records["losses"] = rng.integers(0, 2, (50, 2))
    flipped = records.copy()
    flipped["losses"][records["weight"] == 0.0] = 1.0 - records["losses"][records["weight"] == 0.0]
    one, other = rng.integers(-1, 2, (2, 50))
    told = []
    for each in (records, flipped):
        part = Slice(0, each, 0.25)
        least, most = part.ends(one, other, part.paid())
        assert (least <= most).all()
        told.append(np.array([least, most, *part.noise(one, other, part.paid(), "answered")]))
    np.testing.assert_array_equal(*told)


@pytest.mark.long
def test_intervals_of_estimates_cover_under_adaptive_logging(tmp_path):
    """Whether a label is seen depends on what was seen before; of 60 logs about 95 % have the truth in the interval."""
    inside = 0
    for seed in range(60):
        frame = small_log(2_000, missing=0.0, seed=seed)
        rng = np.random.default_rng(seed)
        wrong = (frame["gbm"] != frame["label"]).to_numpy()
        seen, chance, lately = np.zeros(2_000, np.bool_), np.ones(2_000), 0.3
        for t in range(200, 2_000):
            chance[t] = np.clip(1.0 - 2.0 * lately, 0.1, 1.0)
            seen[t] = rng.random() < chance[t]
            if seen[t]:
                lately += 0.05 * (wrong[t] - lately)
        seen[:200] = True
        log = frame.with_columns(
            label=pl.when(pl.Series(seen)).then("label"), observed=pl.Series(chance),
            decided=pl.when(pl.Series(seen)).then(pl.lit("gbm")).otherwise(pl.lit("review")),
        )  # fmt: skip
        log.write_csv(tmp_path / "log.csv")
        given = options(today="gbm:0.7", decided="decided", observed="observed")
        found = replay(tmp_path / "log.csv", given, tmp_path / "out")
        always, scored = by_kind(found)["always gbm"], frame.slice(200)
        sure = (scored["gbm_confidence"] > 0.7).to_numpy()
        true = (wrong[200:] - np.where(sure, wrong[200:], 0.25)).mean()
        inside += always.low <= true <= always.high
        assert 100 < found.effective < 2_000
    assert inside >= 54


def test_what_could_not_be_seen_has_bounds(tmp_path):
    """Where the probability is 0, and where a label should have come and did not, nothing is estimated."""
    frame = small_log(400, missing=0.0)
    row = pl.int_range(400)
    never, lost = row % 10 == 3, row % 10 == 7
    frame = frame.with_columns(
        observed=pl.when(never).then(0.0).otherwise(0.5),
        decided=pl.when(never | (row % 2 == 0)).then(pl.lit("review")).otherwise(pl.lit("gbm")),
    ).with_columns(label=pl.when((pl.col("decided") == "gbm") & ~lost | (row < 40)).then("label"))
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(decided="decided", observed="observed"), tmp_path / "out")
    always = by_kind(found)["always gbm"]
    # 36 rows could not be seen; 36 that should have been seen count twice, as every label that was seen does.
    assert always.highest - always.lowest == pytest.approx((36 + 36 * 2) / 360)
    assert "for them there are only bounds" in " ".join(found.notes)
    assert (
        "In 36 of them a label should have come, as --labels says (answered): if labels are drawn, as in an audit,"
        in (" ".join(found.notes))
    )
    assert f"The effective number of labels is {found.effective:,.0f}." in " ".join(found.notes)


@pytest.mark.parametrize(("labels", "fits"), [("answered", False), ((0.9, 0.9), True), ("reviewed", False)])
def test_probabilities_that_do_not_fit_the_labels(tmp_path, labels, fits):
    """Labels that come whatever was decided, while --labels says that only answers, or only reviews, show them."""
    frame = small_log(2_000, missing=0.0)
    frame.with_columns(
        decided=pl.when(pl.col("gbm_confidence") > 0.6).then(pl.lit("gbm")).otherwise(pl.lit("review")),
        observed=pl.lit(0.9),
        label=pl.when(pl.Series(np.random.default_rng(0).random(2_000)) < 0.9).then("label"),
    ).write_csv(tmp_path / "log.csv")
    given = options(decided="decided", observed="observed", labels=labels)
    warnings = " ".join(replay(tmp_path / "log.csv", given, tmp_path / "out").warnings)
    assert ("in observed are below 1, they expect 1,800 labels, but there are" in warnings) == (not fits)


def test_what_was_decided_is_the_headline(tmp_path):
    """With all the labels of what was answered, the price of what was decided is exact."""
    frame = selective(small_log(1_000, missing=0.0), floor=0.05)
    frame.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(decided="decided", observed="observed"), tmp_path / "out")
    assert (found.lead, found.baseline) == ("decided", "tuned")
    scored = frame.slice(100)
    true = scored.select(
        pl.when(pl.col("decided") == "review")
        .then(0.25)
        .otherwise((pl.col("gbm") != pl.col("label")).cast(float))
        .mean()
    ).item()
    decided = by_kind(found)["decided"]
    assert found.verdict.startswith("What was decided costs")
    assert decided.known
    bounds = by_kind(replay(tmp_path / "log.csv", options(decided="decided"), tmp_path / "out"))["decided"]
    assert (bounds.lowest, bounds.highest) == pytest.approx((true, true))


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"observed": "observed"}, "--observed: expected --decided with it"),
        ({"decided": "label"}, "column label: expected review, or the model that answered .gbm, rules."),
        ({"decided": "decided", "observed": "big"}, "column big: expected a probability in .0, 1."),
        ({"today": "gbm"}, "--today: expected MODEL:THRESHOLD with one of gbm, rules, got 'gbm'"),
        ({"today": "xgb:0.5"}, "--today: expected MODEL:THRESHOLD with one of gbm, rules"),
        ({"today": "gbm:high"}, "--today: expected a threshold from 0 to 1 after the colon, got 'high'"),
        ({"today": "gbm:1.5"}, "--today: expected a threshold from 0 to 1"),
        ({"seeds": 0}, "--seeds: expected"),
    ],
)
def test_what_is_refused(tmp_path, given, words):
    frame = selective(small_log(300, missing=0.0)).with_columns(big=pl.lit(1.5))
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises(InputError, match=words):
        replay(tmp_path / "log.csv", options(**given), tmp_path / "out")


def test_no_label_in_the_first_tenth(tmp_path):
    frame = small_log(300).with_columns(label=pl.when(pl.int_range(300) >= 30).then("label"))
    frame.write_csv(tmp_path / "log.csv")
    with pytest.raises(InputError, match="expected rows with a label in its first tenth"):
        replay(tmp_path / "log.csv", options(), tmp_path / "out")


def test_a_warm_start_learns_from_labels_alone(tmp_path):
    """Rows without a label are not taken for rows in which every model is right."""
    log = small_log(400)
    hidden = log.with_columns(label=pl.when(pl.int_range(pl.len()) % 2 > 0).then("label"))
    hidden.write_csv(tmp_path / "log.csv")
    replay(tmp_path / "log.csv", options(warm_start=0.5, seeds=1), tmp_path / "out")
    left, gate = ab.load(tmp_path / "out" / "gate.abstain"), ab.Gate(list(NAMES), cost=0.25, seed=0)
    gate.warm_start(log[1:200:2])
    assert left._tally.n - left.round == gate._tally.n == 100


CLASSES = ("a", "b", "c", "d", "e")
KINDS = {("a", "b"): 9.0, ("b", "a"): 0.0, ("c", "a"): 2.0}


def price(said, true, stake, kinds):
    """What an answer costs in a log with these prices by kind; other mistakes cost what is at stake."""
    return 0.0 if said == true else kinds.get((said, true), stake)


def kinds_log(classes, n=120, seed=4):
    """A log with stakes, and its options with prices by kind."""
    frame = small_log(n, missing=0.0, classes=classes, seed=seed)
    frame = frame.with_columns(stake=pl.Series(np.random.default_rng(seed).integers(0, 8, n).astype(float)))
    kinds = {kind: one for kind, one in KINDS.items() if set(kind) <= set(classes)}
    fixed = tuple((*kind, one) for kind, one in kinds.items())
    return frame, kinds, {"cost": None, "review_price": 1.0, "mistake_column": "stake", "fixed_prices": fixed}


def costs_of(frame, label, kinds, review=1.0):
    """By policy: the mean price of the rows after the first tenth, with these labels."""
    n, stakes = len(frame), frame["stake"].to_list()
    answers = {name: frame[name].to_list() for name in NAMES}
    sure = frame["rules_confidence"].to_list()
    lost = {name: [price(*row, kinds) for row in zip(answers[name], label, stakes, strict=True)] for name in NAMES}
    today = [lost["rules"][t] if sure[t] > 0.6 else review for t in range(n)]
    every = {"always gbm": lost["gbm"], "always rules": lost["rules"], "today": today}
    return {kind: float(np.mean(costs[n // 10 :])) for kind, costs in every.items()}


@pytest.mark.parametrize("classes", [CLASSES[:2], CLASSES[:3], CLASSES])
def test_bounds_with_prices_by_kind_are_the_best_and_the_worst_labels(tmp_path, classes):
    """By enumeration of all labels that may be missing: of prices and of differences the bounds are the ends."""
    frame, kinds, given = kinds_log(classes)
    gone = [30, 57, 58, 99, 110][: 5 if len(classes) < 5 else 4]
    holes = frame.with_columns(label=pl.when(~pl.int_range(120).is_in(gone)).then("label"))
    holes.write_csv(tmp_path / "log.csv")
    found = replay(tmp_path / "log.csv", options(today="rules:0.6", **given), tmp_path / "out")
    part, costs, n = by_kind(found), [], len(frame)
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet").rows(named=True)
    gate = [None if one["action"] == "review" else frame[one["model"]][t] for t, one in enumerate(cases)]
    for truth in itertools.product(classes, repeat=len(gone)):
        label = frame["label"].to_list()
        for row, one in zip(gone, truth, strict=True):
            label[row] = one
        costs.append(costs_of(frame, label, kinds))
        paid = [1.0 if gate[t] is None else price(gate[t], label[t], frame["stake"][t], kinds) for t in range(12, n)]
        costs[-1]["gate"] = np.mean(paid)
    for kind in ("always gbm", "always rules", "today", "gate"):
        values, policy = [one[kind] for one in costs], part[kind]
        assert (policy.lowest * found.price, policy.highest * found.price) == pytest.approx((min(values), max(values)))
        if kind != "today":
            apart = [one[kind] - one["today"] for one in costs]
            assert policy.difference * found.price == pytest.approx((min(apart) + max(apart)) / 2)
            assert policy.low * found.price <= min(apart) + 1e-9
            assert max(apart) <= policy.high * found.price + 1e-9


@pytest.mark.usefixtures("no_bounds")
@pytest.mark.parametrize("classes", [CLASSES[:2], CLASSES[:3]])
def test_estimates_with_prices_by_kind_are_unbiased_by_enumeration(tmp_path, classes):
    """Every way in which labels of a few rows can be seen or not, weighed by its probability: the mean is the truth."""
    frame, kinds, given = kinds_log(classes, n=110, seed=2)
    rows, chances, row = [40, 61, 80], [0.5, 0.25, 0.7], pl.int_range(110)
    true, means, mistakes = costs_of(frame, frame["label"].to_list(), kinds), {}, 0.0
    for seen in itertools.product((True, False), repeat=len(rows)):
        weight = np.prod([p if s else 1 - p for p, s in zip(chances, seen, strict=True)])
        hidden = [at for at, shown in zip(rows, seen, strict=True) if not shown]
        observed = pl.when(row == 5).then(0.0)
        for at, chance in zip(rows, chances, strict=True):
            observed = observed.when(row == at).then(chance)
        log = frame.with_columns(
            label=pl.when((row != 5) & ~row.is_in(hidden)).then("label"), observed=observed.otherwise(1.0),
            decided=pl.when(row.is_in(hidden)).then(pl.lit("review")).otherwise(pl.lit("gbm")),
        )  # fmt: skip
        log.write_csv(tmp_path / "log.csv")
        more = {"today": "rules:0.6", "decided": "decided", "observed": "observed"}
        found = replay(tmp_path / "log.csv", options(**more, **given), tmp_path / "out")
        for kind in true:
            policy = by_kind(found)[kind]
            assert policy.known
            means[kind] = means.get(kind, 0.0) + weight * policy.loss * found.price
        mistakes += weight * by_kind(found)["always rules"].mistakes
    assert means == pytest.approx(true)
    later = frame.slice(11)
    lost = [price(*one, kinds) for one in later.select("rules", "label", "stake").iter_rows()]
    assert mistakes == pytest.approx(np.mean([one > 0.0 for one in lost]))  # a mistake that costs nothing is none


@pytest.mark.usefixtures("no_bounds")
@pytest.mark.parametrize("classes", [CLASSES[:2], CLASSES[:3]])
@pytest.mark.parametrize("by_kind_too", [False, True])
def test_a_gate_that_combines_has_estimates(tmp_path, classes, by_kind_too):
    frame, _, given = kinds_log(classes, n=600)
    selective(frame, floor=0.2).write_csv(tmp_path / "log.csv")
    more = {"decided": "decided", "observed": "observed", "combine": True} | (given if by_kind_too else {})
    found = replay(tmp_path / "log.csv", options(**more), tmp_path / "out")
    gate = by_kind(found)["gate"]
    assert gate.known
    assert gate.low < gate.difference < gate.high
    cases = pl.read_parquet(tmp_path / "out" / "cases.parquet")
    assert cases.filter(pl.col("model") == "combined").height > 0
