"""The classes of a log, and how answers compare with labels: as whole numbers, numbers or text."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..errors import InputError, shown
from ..gate.combining import candidates
from ..gate.prices import Prices
from ..typing import Array, Bools, Floats, Ints
from .log import blank, check, numbers, refuse
from .options import PROBABILITY, VALUE, ModelColumns, Options

if TYPE_CHECKING:
    import polars as pl

    from .log import Slices

MOST_CLASSES = 20
"""Classes that the report tells apart; the rarest of more are together "other"."""


class Classes:
    """The values of the column of labels and of the columns of answers, counted in one pass.

    A CSV holds text: values compare as numbers if all of them are numbers ("1" and "1.0" are the same), else as
    written. Parquet types are kept. With ``fold_case``, texts that differ only in capitals, or blanks around them, are
    the same.
    """

    def __init__(
        self, slices: "Slices", label: str, answers: Sequence[str], *, typed: bool, fold_case: bool = False
    ) -> None:  # fmt: skip
        import polars as pl

        self.label, self._folds = label, fold_case
        columns = [label, *(one for one in answers if one != label)]
        counts: dict[str, pl.DataFrame] = {}
        for _, rows in slices:
            for column in columns:
                found = rows[column].rename("value").value_counts(name="count")
                if column in counts:
                    found = pl.concat([counts[column], found]).group_by("value").agg(pl.col("count").sum())
                counts[column] = found
        self.dtype = _typed(counts) if typed else _written(counts)
        self._counts = {column: self._as_classes(found) for column, found in counts.items()}
        self.known = pl.concat([found["value"] for found in self._counts.values()]).unique(maintain_order=True)
        """All classes of labels and answers."""

    def _as_classes(self, counts: "pl.DataFrame") -> "pl.DataFrame":
        """The classes among the values, the most frequent first."""
        import polars as pl

        value = self.values(counts["value"])
        there = counts.with_columns(value).filter(pl.col("value").is_not_null())
        there = there.group_by("value").agg(pl.col("count").sum())
        return there.sort(["count", "value"], descending=[True, False])

    def values(self, column: "pl.Series") -> "pl.Series":
        """A column in the type that is compared; missing values are null."""
        import polars as pl

        if column.dtype == pl.String:
            column = column.set(pl.Series(blank(column)), None) if self.dtype == pl.String else column.str.strip_chars()
        made = column.cast(self.dtype, strict=False)
        if self._folds and made.dtype == pl.String:
            made = made.str.strip_chars().str.to_lowercase()
        return made.fill_nan(None) if made.dtype.is_float() else made

    @property
    def labels(self) -> "pl.Series":
        """Labels, the most frequent first."""
        return self._counts[self.label]["value"]

    @property
    def told_apart(self) -> list[str]:
        """The classes of the report, as text; rare ones are "other"."""
        names = [as_text(value) for value in self.labels.head(MOST_CLASSES + 1).to_list()]
        return names if len(names) <= MOST_CLASSES else [*names[: MOST_CLASSES - 1], "other"]

    def codes(self, labels: "pl.Series") -> "pl.Series":
        """The index of each label in `told_apart`."""
        import polars as pl

        apart, many = self.told_apart, len(self.labels) > MOST_CLASSES
        known = self.labels.head(len(apart) - many)
        codes = pl.Series(range(len(known)), dtype=pl.UInt8)
        return labels.replace_strict(known, codes, default=len(known), return_dtype=pl.UInt8)

    def numbers(self, column: "pl.Series") -> Floats:
        """A number for every class of a column, the same for the same; -1 if there is none."""
        import polars as pl

        numbers = pl.Series(range(len(self.known)), dtype=pl.Float64)
        found = column.replace_strict(self.known, numbers, default=-1.0, return_dtype=pl.Float64)
        return found.fill_null(-1.0).to_numpy()

    def find(self, text: str, option: str) -> Any:
        """The class that a user wrote; raise an error that names the option if there is no such class."""
        known = [value for counts in self._counts.values() for value in counts["value"].to_list()]
        wanted = text.strip().lower() if self._folds else text
        for value in known:
            if text in _ways(value) or wanted in _ways(value):
                return value
        raise InputError(f"{option}: expected a class of the log, such as {as_text(known[0])}, got {shown(text)}")

    def never_given(self) -> tuple[int, int]:
        """How many labels no model ever gives, and in how many rows they occur."""
        import polars as pl

        own = self._counts[self.label]
        answers = [found.select("value") for column, found in self._counts.items() if column != self.label]
        if not answers:
            return 0, 0
        rest = own.join(pl.concat(answers).unique(), on="value", how="anti")
        return len(rest), int(rest["count"].sum())

    def some(self, column: str) -> str:
        """Two or three of a column's classes, the most frequent first."""
        return some_of(self._counts[column]["value"].to_list())

    def apart(self, column: str) -> bool:
        """Whether a column of answers has classes, but none of the labels."""
        own = self._counts[column]["value"]
        return len(own) > 0 and not own.is_in(self.labels.implode()).any()

    def nearly(self, column: str) -> tuple[str, str, int] | None:
        """An answer that differs from a label in capitals or blanks alone, that label, and how many do."""
        if self.dtype.is_numeric():
            return None
        labels = {str(label).strip().casefold(): str(label) for label in self.labels.to_list()}
        exact = set(self.labels.to_list())
        such = [
            (str(answer), labels[key], int(count))
            for answer, count in self._counts[column].select("value", "count").iter_rows()
            if answer not in exact and (key := str(answer).strip().casefold()) in labels
        ]
        return (such[0][0], such[0][1], sum(count for *_, count in such)) if such else None

    def pair(self, *, asked: bool) -> tuple[Any, Any] | None:
        """The two classes, in order, if labels and answers have no others.

        None if there are not two; with ``asked`` that is an error.
        """
        known = sorted(self.known.to_list())
        if self.dtype.is_numeric() and set(known) <= {0, 1}:
            return 0, 1
        if len(known) == 2:
            return known[0], known[1]
        if not asked:
            return None
        some = ", ".join(shown(one) for one in known[:5]) + (", ..." if len(known) > 5 else "")
        columns = ", ".join(self._counts)
        raise InputError(f"column {columns}: expected two classes for a binary task, got {len(known):,} ({some})")


def some_of(values: Sequence[object]) -> str:
    """Up to three values as text.

    >>> some_of(["a", "b", "c", "d"])
    "'a', 'b', 'c', ..."
    """
    return ", ".join(shown(one) for one in values[:3]) + (", ..." if len(values) > 3 else "")


def as_text(value: object) -> str:
    """A class as it is written."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _typed(counts: "dict[str, pl.DataFrame]") -> "pl.DataType":
    import polars as pl

    types = {column: found["value"].dtype for column, found in counts.items() if found["value"].dtype != pl.Null}
    texts = [column for column, dtype in types.items() if isinstance(dtype, (pl.String, pl.Categorical, pl.Enum))]
    others = [column for column in types if column not in texts]
    if texts and others:
        raise InputError(
            f"column {others[0]}: expected text, as in column {texts[0]}, got {types[others[0]]}: '1' is not 1; "
            "write both as the same type"
        )
    if texts:
        return pl.String()
    for column in others:
        if not (types[column].is_numeric() or types[column] == pl.Boolean):
            raise InputError(f"column {column}: expected text, whole numbers or truth values, got {types[column]}")
    if any(types[column].is_float() or types[column].is_decimal() for column in others):
        return pl.Float64()
    values = [counts[column]["value"].cast(pl.Float64) for column in others]
    small = all((column.abs() < 2.0**63).all() for column in values)
    return pl.Int64() if small else pl.String()  # larger ones are compared digit by digit


def _written(counts: "dict[str, pl.DataFrame]") -> "pl.DataType":
    """The type of numbers, if every text is a number, and no two texts of a column are the same number."""
    import polars as pl

    for dtype in (pl.Int64(), pl.Float64()):
        for found in counts.values():
            there = found["value"].filter(~pl.Series(blank(found["value"])))
            made = there.str.strip_chars().cast(dtype, strict=False)
            if made.null_count() > 0 or made.n_unique() < len(there):
                break
        else:
            return dtype
    return pl.String()


POSITIVE = {
    "1", "yes", "y", "true", "t", "positive", "pos", "fraud", "fraudulent", "spam", "phishing", "malware", "malicious",
    "attack", "bad", "default", "churn", "churned", "toxic", "abuse", "abusive", "anomaly", "outlier", "defect",
    "defective", "fail", "failed", "failure", "sick", "disease", "malignant", "duplicate",
}  # fmt: skip
NEGATIVE = {
    "0", "no", "n", "false", "f", "negative", "neg", "ok", "okay", "legit", "legitimate", "genuine", "ham", "clean",
    "benign", "normal", "good", "safe", "none", "healthy", "pass", "passed", "retained", "stayed", "valid",
}  # fmt: skip
"""Classes that probabilities usually refer to, and their opposites."""


def meaning(one: str) -> int:
    """+1 for a class that probabilities usually refer to, -1 for the opposite of one, 0 if it is unclear.

    >>> meaning("Fraud"), meaning("not_fraud"), meaning("no"), meaning("cat")
    (1, -1, -1, 0)
    """
    words = [word for word in re.split(r"[\W_]+", one.lower()) if word]
    if len(words) > 1 and words[0] in ("not", "non", "no"):
        return -1
    found = {1 if word in POSITIVE else -1 if word in NEGATIVE else 0 for word in words} - {0}
    return found.pop() if len(found) == 1 else 0


def oriented(pair: tuple[Any, Any], options: Options) -> tuple[tuple[Any, Any], list[str]]:
    """Put the class that probabilities refer to second, and explain it in a note, if there are probabilities.

    It is the class that the options name; else the one named in the columns of probabilities, such as fraud in
    ``xgb_fraud_prob``, if only one is; else the one that its name tells: yes rather than no, 1 rather than 0.

    Raises:
        InputError: If nothing tells which class it is.
    """
    columns = [model.answer for model in options.models if model.kind == PROBABILITY]
    if not columns:
        return pair, []
    both = " or ".join(as_text(one) for one in pair)
    if isinstance(pair[0], str):
        meanings = [meaning(one) for one in pair]
    else:  # 0 and 1, or -1 and 1, but not 1 and 2
        meanings = [-1, 1] if pair[0] <= 0 < pair[1] else [0, 0]
    if options.positive is not None:
        given = options.positive.strip().lower() if options.fold_case else options.positive
        place = [k for k, one in enumerate(pair) if given in _ways(one) or options.positive in _ways(one)]
        if not place:
            raise InputError(f"--positive: expected {both}, got {shown(options.positive)}")
        second, how = place[0], "as --positive says"
    elif len(named := [k for k, one in enumerate(pair) if any(_names(column, one) for column in columns)]) == 1:
        second = named[0]
        where = next(column for column in columns if _names(column, pair[second]))
        how = f"as its name is in {where}; --positive says otherwise"
    elif meanings[0] != meanings[1]:
        second, how = int(meanings[1] > meanings[0]), "as its name suggests; --positive says otherwise"
    else:
        raise InputError(
            f"--positive: expected the class that {columns[0]} has the probability of, {both}: their names do not tell"
        )
    pair = pair[1 - second], pair[second]
    return pair, [f"Probabilities are taken to be of {pair[1]!r} ({how}); the other class is {pair[0]!r}."]


def _ways(one: Any) -> tuple[str, ...]:
    """Ways to write a class; truth values are 0 and 1 here."""
    truth = ("True", "true") if one == 1 else ("False", "false") if one == 0 else ()
    return (as_text(one), str(one), *truth)


def _names(column: str, one: Any) -> bool:
    """Whether a class is a text and a word of the column's name."""
    word = re.escape(one.lower()) if isinstance(one, str) else ""
    return word != "" and re.search(rf"(?<![^\W_]){word}(?![^\W_])", column.lower()) is not None


class Judged(NamedTuple):
    """A model's answers in some rows."""

    confidence: Floats
    """NaN if it has no answer."""
    loss: Floats | Bools
    answer: Floats
    """A number for each answer, the same for the same answer; -1 for a class that is missing."""
    said: Floats | None = None
    """With two classes, -1 for the first and +1 for the second."""
    given: "pl.Series | None" = None
    """The classes that were answered, if there are any."""


STAKE = "the price of a mistake, from 0 on"


class Judge:
    """Compares answers with labels."""

    def __init__(
        self, options: Options, classes: Classes | None, pair: tuple[Any, Any] | None, prices: Prices,
        per_cent: "frozenset[str]" = frozenset(),
    ) -> None:  # fmt: skip
        """Prepare for a log with these classes (None for numbers).

        Args:
            options: What was asked for.
            classes: The classes of the log; None for numbers.
            pair: The classes, if there are two.
            prices: The prices of mistakes.
            per_cent: The columns of confidences and probabilities that are per cent.
        """
        self._per_cent = per_cent
        self._options, self._classes, self._pair, self._prices = options, classes, pair, prices
        self._second = None if pair is None else pair[1]

    def fill(self, records: Array, frame: "pl.DataFrame", begin: int) -> tuple[Bools, Bools]:
        """Fill in confidences, losses, risks and classes; return which rows have a label (n,), and which answers are no
        whole mistake (n, P).
        """
        assert self._options.label is not None
        true: pl.Series | None = None
        label = frame[self._options.label]
        if self._classes is None:
            truth = numbers(label, begin)
            check(label, ~np.isinf(truth), begin, "a finite number")
            judged = [self._number(frame, model, truth, begin) for model in self._options.models]
            labelled = ~np.isnan(truth)
        else:
            true = self._classes.values(label)
            records["class"] = self._classes.codes(true).to_numpy()
            judged = [self._class(frame, model, true, begin) for model in self._options.models]
            labelled = true.is_not_null().to_numpy()
            records["class"][~labelled] = 0
            if "truth" in (records.dtype.names or ()):
                records["truth"] = self._classes.numbers(true) if self._pair is None else self._sign(true) > 0.0
        stake: Floats | float = 1.0
        if self._options.mistake_column is not None:
            column, most = frame[self._options.mistake_column], self._prices.max_stake
            stake = numbers(column, begin)
            check(column, (stake >= 0.0) & ~np.isinf(stake), begin, STAKE)
            if most is not None:
                check(column, stake <= most, begin, f"at most {most:g}, the largest price of a mistake")
        if "stake" in (records.dtype.names or ()):
            records["stake"] = stake
        right = np.ones(records["losses"].shape, np.bool_)
        for k, one in enumerate(judged):
            price, risk = self._priced(one, true, stake)
            records["answer"][:, k] = one.answer
            records["confidence"][:, k] = one.confidence
            records["losses"][:, k] = np.where(np.isnan(one.confidence), 0.0, one.loss * price)
            right[:, k] = one.loss < 1.0
            if one.said is not None:
                records["said"][:, k] = one.said
            if self._prices.staked:
                records["risk"][:, k] = risk
        if "kinds" in (records.dtype.names or ()):
            records["kinds"] = self._kinds(records["answer"], np.isnan(records["confidence"]), stake)
        return labelled, right

    def _kinds(self, answers: Floats, missing: Bools, stake: Floats | float) -> Floats:
        """What each different answer of a row loses if each of them is true, or none is; see `Block.kinds`."""
        import polars as pl

        assert self._classes is not None
        prices, n, two = self._prices, len(answers), self._pair is not None
        size = 2 if two else answers.shape[1]
        code = np.where(missing, -1, answers)
        held = np.tile([0.0, 1.0], (n, 1)) if two else np.full((n, size), -1.0)  # the number of each different answer
        if not two:
            place = candidates(code.astype(np.int64))
            for k in range(size):
                held[place[:, k] >= 0, place[place[:, k] >= 0, k]] = code[place[:, k] >= 0, k]
        found = np.zeros((n, size, size + 1))
        there = held >= 0.0
        found[:] = np.broadcast_to(prices.other.at(stake) / prices.unit, n)[:, np.newaxis, np.newaxis]
        for kind, price in prices.by_kind.items():
            if two:
                assert self._pair is not None
                said, true = (float(self._pair.index(one)) for one in kind)
            else:
                said, true = self._classes.numbers(pl.Series(kind, dtype=self._classes.dtype)).tolist()
            which = (held == said)[:, :, np.newaxis] & (held == true)[:, np.newaxis, :]
            cost = np.broadcast_to(price.at(stake) / prices.unit, n)[:, np.newaxis, np.newaxis]
            found[:, :, :-1] = np.where(which, cost, found[:, :, :-1])
        found[:, range(size), range(size)] = 0.0
        return found * there[:, :, np.newaxis] * np.column_stack([there, np.ones(n)])[:, np.newaxis, :]

    def _priced(self, judged: Judged, true: "pl.Series | None", stake: Floats | float) -> tuple[Any, Any]:
        """What a mistake of the model costs in each row, by what is true, and at worst, relative to the unit."""
        prices = self._prices
        price, risk = prices.other.at(stake), prices.other.at(stake)
        if prices.by_kind:
            assert true is not None
            assert judged.given is not None
            worst: dict[Any, Any] = {}
            for (said, truth), kind in prices.by_kind.items():
                says = (judged.given == said).fill_null(False).to_numpy()
                price = np.where(says & (true == truth).fill_null(False).to_numpy(), kind.at(stake), price)
                known = [worst[said][1]] if said in worst else [] if prices.task.two else [prices.other.at(stake)]
                worst[said] = says, np.max([kind.at(stake), *known], axis=0)
            for says, most in worst.values():
                risk = np.where(says, most, risk)
        return price / prices.unit, risk / prices.unit

    def decided(self, frame: "pl.DataFrame", begin: int) -> Ints:
        """What was decided in each row: the number of the model that answered, or -1 for a review."""
        import polars as pl

        assert self._options.decided is not None
        column, names = frame[self._options.decided], [model.name for model in self._options.models]
        codes = {"review": -1} | ({"answer": 0} if len(names) == 1 else {}) | {name: k for k, name in enumerate(names)}
        made = column.cast(pl.String).replace_strict(codes, default=None, return_dtype=pl.Int64)
        check(column, made.is_not_null().to_numpy(), begin, f"review, or the model that answered ({', '.join(names)})")
        return made.to_numpy()

    def _number(self, frame: "pl.DataFrame", model: ModelColumns, truth: Floats, begin: int) -> Judged:
        most = self._options.max_error
        assert model.sure is not None
        assert most is not None
        answer, error = numbers(frame[model.answer], begin), numbers(frame[model.sure], begin)
        check(frame[model.answer], ~np.isinf(answer), begin, "a finite number")
        check(frame[model.sure], ~(error < 0.0) & ~np.isinf(error), begin, "an error of at least 0")
        sure = np.where(np.isnan(answer), np.nan, 1.0 - np.minimum(1.0, error / most))
        return Judged(sure, np.minimum(1.0, np.abs(answer - truth) / most), answer)

    def _class(self, frame: "pl.DataFrame", model: ModelColumns, truth: "pl.Series", begin: int) -> Judged:
        import polars as pl

        assert self._classes is not None
        if model.kind == PROBABILITY:
            chance = self._share(frame[model.answer], begin, "a probability")
            said = np.where(chance >= 0.5, 1.0, -1.0)
            given = None
            if self._prices.by_kind:
                assert self._pair is not None
                given = pl.Series(self._pair, dtype=truth.dtype).gather((said > 0.0).astype(np.int64))
            return Judged(np.maximum(chance, 1.0 - chance), said != self._sign(truth), said, said, given)
        answer = self._classes.values(frame[model.answer])
        sure = np.full(len(frame), NO_CONFIDENCE)
        if model.sure is not None:
            sure = self._share(frame[model.sure], begin, "a confidence")
        wrong = (answer != truth).fill_null(True).to_numpy()
        sure = np.where(answer.is_null().to_numpy(), np.nan, sure)
        if self._second is None:
            return Judged(sure, wrong, self._classes.numbers(answer), None, answer)
        said = self._sign(answer)
        return Judged(sure, wrong, said, said, answer)

    def _sign(self, classes: "pl.Series") -> Floats:
        return np.where((classes == self._second).fill_null(False).to_numpy(), 1.0, -1.0)

    def _share(self, column: "pl.Series", begin: int, what: str) -> Floats:
        """Numbers from 0 to 1; per cent, if the column has them."""
        import polars as pl

        most = 100.0 if column.name in self._per_cent else 1.0
        if most == 100.0 and column.dtype == pl.String:
            column = column.str.strip_chars().str.strip_suffix("%")
        values = numbers(column, begin)
        wrong = ~(np.isnan(values) | ((values >= 0.0) & (values <= most)))
        if wrong.any():
            expected = f"{what} in [0, {most:g}]"
            if most == 1.0 and (values[wrong] <= 100.0).all() and (values[wrong] >= 0.0).all():
                expected += " (is it per cent? Then say --percent)"
            refuse(column, wrong, begin, expected)
        return values / most


NO_CONFIDENCE = 0.5
"""The confidence of a model that reports none: no threshold tells its answers apart."""


def in_per_cent(slices: "Slices", options: Options) -> frozenset[str]:
    """The columns of confidences and probabilities with a number above 1, or a "%", if they may be per cent."""
    import polars as pl

    columns = [model.answer if model.kind == PROBABILITY else model.sure for model in options.models
               if model.kind != VALUE] if options.percent else []  # fmt: skip
    found = set()
    for _, rows in slices:
        for name in columns:
            if name is None or name in found:
                continue
            column = rows[name]
            texts = column.dtype == pl.String
            if texts and column.str.contains("%", literal=True).any():
                found.add(name)
                continue
            values = (column.str.strip_chars() if texts else column).cast(pl.Float64, strict=False)
            if (values.fill_nan(None) > 1.0).any():
                found.add(name)
    return frozenset(found)
