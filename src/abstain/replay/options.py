"""The options of a replay, and columns that the user did not name: found by their names and their contents."""

import math
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import TYPE_CHECKING

from .._core.validation import as_count, as_number, as_seed, as_share
from ..capacity import Capacity
from ..errors import InputError, shown
from ..gate.answers import Labels
from ..gate.maturity import Maturity, as_maturity
from .log import blank, hint

if TYPE_CHECKING:
    import polars as pl

CLASS, PROBABILITY, VALUE = "class", "probability", "value"
OPTIONS = {CLASS: "--model", PROBABILITY: "--probability", VALUE: "--value"}


@dataclass(frozen=True)
class ModelColumns:
    """The columns of a model."""

    name: str
    kind: str
    answer: str
    """The column of its classes, of its probabilities of one of two classes, or of its numbers."""
    sure: str | None
    """The column of its confidences or expected errors; None for probabilities, which are both, and for a model that
    reports no confidence."""
    text: str | None = field(default=None, compare=False, repr=False)
    """As the user wrote it: names may have ":" and "=", and only the log tells where they end."""

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns of the model."""
        return (self.answer,) if self.sure is None else (self.answer, self.sure)

    @property
    def arguments(self) -> tuple[str, str]:
        """The option of the command line and its value."""
        return OPTIONS[self.kind], f"{self.name}={':'.join(self.columns)}"


def model_columns(kind: str, text: str) -> ModelColumns:
    """Parse ``NAME=ANSWER:CONFIDENCE``, ``NAME=ANSWER``, ``NAME=PROBABILITY`` or ``NAME=NUMBER:ERROR``.

    >>> model_columns("class", "gbm=said:sure")
    ModelColumns(name='gbm', kind='class', answer='said', sure='sure')
    """
    first = next(_readings(kind, text), None)
    if first is None:
        expected = {CLASS: "NAME=ANSWER:CONFIDENCE, or NAME=ANSWER for a model without a confidence,",
                    PROBABILITY: "NAME=COLUMN,", VALUE: "NAME=NUMBER:ERROR, two columns,"}[kind]  # fmt: skip
        raise InputError(f"{OPTIONS[kind]}: expected {expected} got {shown(text)}")
    return first


def _readings(kind: str, text: str) -> Iterator[ModelColumns]:
    """All ways to read a model, the most likely first: a short name, the last colon, two columns rather than one."""
    for equals in (k for k, mark in enumerate(text) if mark == "="):
        name, columns = text[:equals], text[equals + 1 :]
        colons = [k for k, mark in enumerate(columns) if mark == ":"] if kind != PROBABILITY else []
        for colon in reversed(colons):
            if name and columns[:colon] and columns[colon + 1 :]:
                yield ModelColumns(name, kind, columns[:colon], columns[colon + 1 :], text)
        if name and columns and (kind == PROBABILITY or (kind == CLASS and columns.strip(":") == columns)):
            yield ModelColumns(name, kind, columns, None, text)


def as_in(model: ModelColumns, columns: Sequence[str]) -> ModelColumns:
    """The model, read so that the log has its columns: names of columns may have ":" and "="."""
    readings = [model] if model.text is None else [model, *_readings(model.kind, model.text)]
    fits = (one for one in readings if all(column in columns for column in one.columns))
    return replace(next(fits, model), text=None)


def check_there(wanted: str, option: str, columns: Sequence[str]) -> None:
    """Raise an error for a column that the log does not have, with the most similar one."""
    if wanted in columns:
        return
    alike = {column.strip().lower(): column for column in columns}
    near = get_close_matches(wanted.strip().lower(), alike, 1, 0.5)
    hint = f"; did you mean {shown(alike[near[0]])}?" if near else f"; there are {', '.join(columns[:20])}"
    raise InputError(f"{option}: no column {shown(wanted)} in the log{hint}")


FIXED_PRICE = "--fixed-price"


def fixed_price(text: str) -> tuple[str, str, float]:
    """Read the price of a kind of mistake.

    >>> fixed_price("fraud:ok=5")
    ('fraud', 'ok', 5.0)
    """
    kind, equals, price = text.rpartition("=")
    said, colon, true = kind.partition(":")
    try:
        if not (equals and colon and said and true) or said == true:
            raise ValueError
        return said, true, as_number(float(price), FIXED_PRICE, "a price of 0 or more", lambda x: 0.0 <= x < math.inf)
    except ValueError:
        raise InputError(f"{FIXED_PRICE}: expected SAID:TRUE=PRICE, such as fraud:ok=5, got {shown(text)}") from None


def start_policy(text: str) -> tuple[str, float | None]:
    """Read the policy to begin with.

    >>> start_policy("gbm:0.7"), start_policy("gbm:review")
    (('gbm', 0.7), ('gbm', None))
    """
    model, colon, threshold = text.rpartition(":")
    try:
        if not colon or not model:
            raise ValueError
        return model, None if threshold == "review" else float(threshold)
    except ValueError:
        raise InputError(
            f"--start: expected MODEL:THRESHOLD, such as gbm:0.7, or MODEL:review, got {shown(text)}"
        ) from None


def labels_that_come(text: str) -> str | tuple[float, float]:
    """Read which labels come back: a word, or two probabilities.

    >>> labels_that_come("both"), labels_that_come("0.05,1.0")
    ('both', (0.05, 1.0))
    """
    numbers = text.split(",")
    try:
        return (float(numbers[0]), float(numbers[1])) if len(numbers) == 2 else text
    except ValueError:
        return text


COST = 0.2
"""The cost of a review relative to a mistake, if the user gives no prices."""
TASKS = ("classes", "binary", "number")


@dataclass(frozen=True)
class Options:
    """What the user asked for, checked. `complete` finds ``models`` and ``label`` in the log if they are not given.

    The options are those of `abstain replay`; prices are in the user's unit.
    """

    models: tuple[ModelColumns, ...] = ()
    label: str | None = None
    positive: str | None = None
    """The class that probabilities refer to."""
    task: str | None = None
    cost: float | None = None
    review_price: float | None = None
    mistake_price: float | None = None
    mistake_column: str | None = None
    fixed_prices: tuple[tuple[str, str, float], ...] = ()
    """Kinds of mistakes with a price of their own: what was said, what was true, the price."""
    max_error: float | None = None
    capacity: float | None = None
    capacity_per_day: float | None = None
    """How many cases people can review per day; needs ``time``."""
    percent: bool = False
    """Whether confidences and probabilities may be per cent: columns with a number above 1 are."""
    fold_case: bool = False
    """Whether classes that differ only in capitals, or blanks around them, are the same."""
    labels: str | tuple[float, float] | None = None
    """Which labels come back; None: those that a file of cases tells, or those of answered cases."""
    delay: int = 0
    time: str | None = None
    label_time: str | None = None
    maturity: str | None = None
    learner: str | None = None
    combine: bool = False
    warm_start: float = 0.0
    start: tuple[str, float | None] | None = None
    """The policy to begin with: a model and its threshold (None: review every case)."""
    seed: int = 0
    seeds: int = 4
    """How many gates play, each with its own random choices."""
    today: str | None = None
    """``MODEL:THRESHOLD``, which is in use today."""
    decided: str | None = None
    """The column of what was decided: a model's name, or "review"."""
    observed: str | None = None
    """The column of the probability that the label would be seen."""
    unit: str = ""

    def __post_init__(self) -> None:
        self._check_models()
        self._check_prices()
        if self.capacity is not None:
            as_share(self.capacity, "--capacity")
        self._check_capacity()
        self._check_labels()
        as_count(self.delay, "--delay", least=0)
        as_seed(self.seed)
        as_count(self.seeds, "--seeds", most=100)
        if self.models and self.today is not None and self.split:
            self.pair_today()
        if self.observed is not None and self.decided is None:
            raise InputError("--observed: expected --decided with it, the column of what was decided")
        as_number(self.warm_start, "--warm-start", "a share from 0 to 0.5", lambda share: 0.0 <= share <= 0.5)
        if self.label_time is not None and self.time is None:
            raise InputError("--label-time: expected --time with it, the column with the time of the case")
        if self.label_time is not None and self.delay > 0:
            raise InputError("--delay: expected either --delay or --label-time, got both")
        if self.age is not None and self.age.span is not None and self.time is None:
            raise InputError("--maturity: expected --time, the column of times of cases, beside a span of time")

    @property
    def split(self) -> bool:
        """Whether it is clear which part of a model's text is its name."""
        return not any("=" in (model.text or "").partition("=")[2] for model in self.models)

    def _check_labels(self) -> None:
        if self.labels is None:
            return
        try:
            Labels(self.labels)
        except InputError:
            text = self.labels if isinstance(self.labels, str) else ",".join(map(str, self.labels))
            raise InputError(
                "--labels: expected answered, reviewed, both, or two probabilities, after an answer and after a "
                f"review, such as 0.05,1.0, got {shown(text)}"
            ) from None

    def _check_capacity(self) -> None:
        if self.capacity_per_day is None:
            return
        if self.capacity is not None:
            raise InputError("--capacity-per-day: expected either --capacity or --capacity-per-day, got both")
        if self.time is None:
            raise InputError("--capacity-per-day: expected --time with it, the column with the time of the case")
        try:
            Capacity(per_day=self.capacity_per_day)
        except InputError as error:
            raise InputError(f"--capacity-per-day: {str(error).removeprefix('per_day: ')}") from None

    def _check_models(self) -> None:
        names = [model.name for model in self.models]
        for name in names:
            if names.count(name) > 1 and self.split:
                raise InputError(f"--model: expected each name once, got {shown(name)} twice")
        if self.task is not None and self.task not in TASKS:
            raise InputError(f"--task: expected {', '.join(TASKS[:-1])} or {TASKS[-1]}, got {shown(self.task)}")
        kinds = {model.kind for model in self.models}
        if VALUE in kinds and len(kinds) > 1:
            raise InputError("--value: expected all models to answer with numbers, got classes, too")
        if self.models and self.task is not None and (self.task == "number") != (VALUE in kinds):
            wanted = "number" if VALUE in kinds else "classes or binary"
            raise InputError(f"--task: expected {wanted} for these models, got {shown(self.task)}")
        if self.task == "classes" and PROBABILITY in kinds:
            raise InputError("--task: expected binary for probabilities, got 'classes'")
        if self.models and self.positive is not None and PROBABILITY not in kinds:
            raise InputError(f"--positive: expected --probability with it, got {shown(self.positive)} alone")
        if self.combine and VALUE in kinds:
            raise InputError("--combine: expected models that answer with classes, got numbers, which are not combined")
        if self.max_error is not None:
            as_number(self.max_error, "--max-error", "a number above 0", lambda x: 0.0 < x < float("inf"))
        elif VALUE in kinds:
            raise InputError("--max-error: expected the error that counts as a whole mistake, for numbers, got none")

    def _check_prices(self) -> None:
        review, mistake = self.review_price, self.mistake_price
        of_mistakes = mistake is not None or self.mistake_column is not None
        if self.cost is not None:
            as_share(self.cost, "--cost")
            if review is not None or of_mistakes:
                raise InputError("--cost: expected either --cost or prices, got both")
        if review is not None:
            as_number(review, "--review-price", "a price of 0 or more", lambda x: 0.0 <= x < float("inf"))
        if mistake is not None:
            as_number(mistake, "--mistake-price", "a price above 0", lambda x: 0.0 < x < float("inf"))
        if self.fixed_prices and (not of_mistakes or self.max_error is not None):
            raise InputError(
                f"{FIXED_PRICE}: expected --mistake-price or --mistake-column with it, for other mistakes, and classes"
            )
        if of_mistakes and review is None:
            raise InputError("--review-price: expected the price of a review where one of mistakes is given")
        if review is not None and not of_mistakes:
            raise InputError("--mistake-price: expected the price of a mistake where one of reviews is given")
        if review is not None and mistake is not None and review > mistake and not self.fixed_prices:
            raise InputError(
                f"--review-price: expected at most the price of a mistake, {mistake:g}, got {review:g}: then "
                "everything should be answered"
            )

    @property
    def most_sure(self) -> int:
        """The largest confidence: 1, or 100 per cent."""
        return 100 if self.percent else 1

    @property
    def limit(self) -> Capacity | None:
        """The limit on reviews."""
        if self.capacity_per_day is not None:
            return Capacity(per_day=self.capacity_per_day)
        return None if self.capacity is None else Capacity(share=self.capacity)

    def pair_today(self) -> tuple[int, float]:
        """The number of today's model, and its threshold: for numbers, as a confidence."""
        assert self.today is not None
        name, colon, text = self.today.rpartition(":")
        names = [model.name for model in self.models]
        if not colon or name not in names:
            raise InputError(
                f"--today: expected MODEL:THRESHOLD with one of {', '.join(names)}, got {shown(self.today)}"
            )
        try:
            level = float(text)
        except ValueError:
            raise InputError(f"--today: expected a threshold from 0 to 1 after the colon, got {shown(text)}") from None
        as_number(level, "--today", "a threshold from 0 to 1", lambda x: 0.0 <= x <= 1.0)
        return names.index(name), level

    @property
    def age(self) -> Maturity | None:
        """The age at which cases are learnt."""
        return as_maturity(self.maturity, "--maturity")

    @property
    def late(self) -> int:
        """How many rows late labels are learnt, where the rows do not say it themselves."""
        return max(self.delay, 0 if self.age is None else self.age.cases or 0)

    @property
    def by_time(self) -> bool:
        """Whether rows say themselves when their label is learnt."""
        return self.label_time is not None or (self.age is not None and self.age.span is not None)

    @property
    def found_task(self) -> str:
        """The task; if it is not given, the models tell it."""
        if self.task is not None:
            return self.task
        kinds = {model.kind for model in self.models}
        return "number" if VALUE in kinds else "binary" if PROBABILITY in kinds else "classes"

    def columns(self) -> list[tuple[str, str]]:
        """All columns to read, each with the option that names it."""
        wanted = [(OPTIONS[model.kind], column) for model in self.models for column in model.columns]
        single = (("--label", self.label), ("--mistake-column", self.mistake_column), ("--time", self.time),
                  ("--label-time", self.label_time), ("--decided", self.decided),
                  ("--observed", self.observed))  # fmt: skip
        return wanted + [(option, column) for option, column in single if column is not None]

    def numbers(self) -> list[str]:
        """The columns to read that hold numbers, but for times: the others are classes, which stay as written."""
        found = [one.sure for one in self.models] + [one.answer for one in self.models if one.kind != CLASS]
        found += [self.label] * (self.found_task == "number") + [self.mistake_column, self.observed]
        return [column for column in found if column is not None]

    @property
    def labels_text(self) -> str | None:
        """Which labels come back, as the option has it."""
        return ",".join(f"{chance:g}" for chance in self.labels) if isinstance(self.labels, tuple) else self.labels

    def command(self, log: str, out: str, truth: str | None = None) -> str:
        """The command that repeats this replay; ``truth`` is the file of labels of cases."""
        words = ["abstain", "replay", log] + ([] if truth is None else [truth])
        for model in self.models:
            words += model.arguments
        cost = COST if self.cost is None and self.review_price is None else self.cost
        values = {"--label": self.label, "--positive": self.positive, "--task": self.task, "--cost": cost,
                  "--review-price": self.review_price,
                  "--mistake-price": self.mistake_price, "--mistake-column": self.mistake_column,
                  FIXED_PRICE: [f"{said}:{true}={price:.12g}" for said, true, price in self.fixed_prices],
                  "--max-error": self.max_error, "--capacity": self.capacity,
                  "--capacity-per-day": self.capacity_per_day, "--labels": self.labels_text,
                  "--delay": self.delay or None, "--time": self.time, "--label-time": self.label_time,
                  "--maturity": self.maturity,
                  "--today": self.today, "--decided": self.decided, "--observed": self.observed,
                  "--learner": self.learner, "--warm-start": self.warm_start or None,
                  "--start": None if self.start is None else ":".join(
                      (self.start[0], "review" if self.start[1] is None else f"{self.start[1]:.12g}")),
                  "--seed": self.seed, "--seeds": self.seeds,
                  "--unit": self.unit or None, "--out": out}  # fmt: skip
        flags = {"--combine": self.combine, "--percent": self.percent, "--fold-case": self.fold_case}
        words += [flag for flag, given in flags.items() if given]
        for option, value in values.items():
            for one in value if isinstance(value, list) else [] if value is None else [value]:
                words += [option, f"{one:.12g}" if isinstance(one, float) else str(one)]
        return shlex.join(words)


SURE = ("confidence", "conf", "certainty", "score", "probability", "prob", "proba")
ANSWERS = ("prediction", "predicted", "pred", "answer", "class", "label", "said")


def parts(column: str, roles: tuple[str, ...]) -> list[tuple[str, str]]:
    """Split a role from the start or the end of a name: "gbm_conf" and "conf_gbm" give ("gbm", "conf")."""
    lower = column.lower()
    for role in roles:
        if lower == role:
            return [("", role)]
        for mark in "_-. ":
            if lower.endswith(mark + role):
                return [(lower[: -len(role) - 1], role)]
            if lower.startswith(role + mark):
                return [(lower[len(role) + 1 :], role)]
    return []


def out_of_unit(column: "pl.Series", most: int = 1) -> str | None:
    """Why a column cannot hold confidences, which are numbers from 0 to ``most``; None if it can."""
    import polars as pl

    if not (column.dtype.is_numeric() or column.dtype == pl.String):
        return f"it has {column.dtype}, not numbers"
    there = column.filter(~pl.Series(blank(column)))
    if len(there) == 0:
        return "it is empty"
    values = (there.str.strip_chars() if there.dtype == pl.String else there).cast(pl.Float64, strict=False)
    if values.null_count() > 0:
        wrong = there.filter(values.is_null())[0]
        return f"it has {shown(wrong)}, which is not a number{hint(wrong)}"
    beyond = ~values.is_between(0.0, float(most))
    return f"it has {shown(there.filter(beyond)[0])}, which is not in [0, {most}]" if beyond.any() else None


def two_classes(label: "pl.Series") -> bool:
    """Whether the labels of the first rows have two classes."""
    import polars as pl

    return label.filter(~pl.Series(blank(label))).n_unique() == 2


def _texts(column: "pl.Series") -> set[str]:
    """The different texts of a column that holds no numbers."""
    import polars as pl

    if column.dtype != pl.String or column.cast(pl.Float64, strict=False).is_not_null().any():
        return set()
    return set(column.filter(~pl.Series(blank(column))).to_list())


_FEW_CLASSES = 100
"""With more classes, a column that shares some with the labels may be anything."""


def dropped(options: Options, sample: "pl.DataFrame") -> list[str]:
    """One line for each unused column with the name of a confidence: why it is not used."""
    used = {column for _, column in options.columns()}
    lines = []
    known = set() if options.label is None else _texts(sample[options.label])
    for column in sample.columns:
        if column in used:
            continue
        if not parts(column, SURE):
            if len(known) <= _FEW_CLASSES and len(_texts(sample[column]) & known) > 1:
                lines.append(
                    f"{column} answers with classes of the labels, but has no confidence: "
                    f"{shlex.join(['--model', f'{column}={column}'])} takes it for a model all the same"
                )
            continue
        why = out_of_unit(sample[column], options.most_sure)
        if why is None and parts(column, SURE)[0][0] in {model.name.lower() for model in options.models}:
            why = "its model has another"
        if why is None:
            why = "there is no column of answers with it, such as NAME or NAME_prediction"
            if options.label is not None and not two_classes(sample[options.label]):
                why += ", and labels are not two classes, as for a probability"
        lines.append(f"{column} is not taken for a confidence: {why}")
    return lines


def unused(options: Options, sample: "pl.DataFrame") -> list[str]:
    """The columns that the replay does not read."""
    used = {column for _, column in options.columns()}
    return [column for column in sample.columns if column not in used]


LABEL_NAMES = (
    "label",
    "y",
    "target",
    "truth",
    "outcome",
    "y_true",
    "true_label",
    "ground_truth",
    "actual",
    "class",
    "labels",
)
ALONE = "model"
"""The name of the only model, if its columns have none."""


def complete(options: Options, sample: "pl.DataFrame") -> Options:
    """Find what was not given in the first rows, or raise an error that says what is missing."""
    if options.label is None:
        options = replace(options, label=_label(sample.columns))
    if options.labels is None:
        options = replace(options, labels="answered")
    if not options.models:
        models = _models(sample, options)
        if not models:
            raise InputError(
                "--model: found no pair of columns such as gbm and gbm_confidence; name them by "
                "--model NAME=ANSWER:CONFIDENCE, --probability NAME=COLUMN or --value NAME=NUMBER:ERROR "
                f"({'; '.join([*dropped(options, sample), 'there are ' + ', '.join(sample.columns[:20])])})"
            )
        options = replace(options, models=models)
    return options


def _label(columns: list[str]) -> str:
    lower = {column.strip().lower(): column for column in reversed(columns)}
    for name in LABEL_NAMES:
        if name in lower:
            return lower[name]
    raise InputError(
        f"--label: found no column named label, y, target or the like; name it (there are {', '.join(columns[:20])})"
    )


def _models(sample: "pl.DataFrame", options: Options) -> tuple[ModelColumns, ...]:
    """Pair each column of confidences with its answers; without answers, two classes make it probabilities."""
    taken = {column for _, column in options.columns()}
    free = [column for column in sample.columns if column not in taken]
    answers: dict[tuple[str, str], str] = {}
    for column in free:
        for stem, role in parts(column, ANSWERS):
            answers.setdefault((stem, role), column)
        answers[column.lower(), ""] = column
    found: dict[str, ModelColumns] = {}
    for column in free:
        for stem, role in parts(column, SURE):
            if stem in {name.lower() for name in found}:
                continue
            name = _own_case(column, stem) or ALONE
            answer = next((answers[stem, role] for role in ("", *ANSWERS) if (stem, role) in answers), None)
            why = out_of_unit(sample[column], options.most_sure)
            if why is not None:
                if answer is not None and answer != column and out_of_unit(sample[column], 100) is None:
                    raise InputError(f"column {column}: {why}. Is it per cent? Then say --percent")
                continue
            if answer is not None and answer != column:
                found[name] = ModelColumns(name, CLASS, answer, column)
            elif role not in ("confidence", "conf", "certainty") and two_classes(sample[options.label or ""]):
                found[name] = ModelColumns(name, PROBABILITY, column, None)
    return tuple(found.values())


def _own_case(column: str, stem: str) -> str:
    begin = column.lower().find(stem)
    return column[begin : begin + len(stem)]
