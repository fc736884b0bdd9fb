"""Studies: what a study of any kind has, and the study of learners on data sets."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, NamedTuple, Self, TypeAlias

from pydantic import Field, PlainValidator, ValidationInfo, model_validator

from .. import datasets
from .._core.validation import is_number
from ..errors import InputError
from . import sets
from .jobs import Comparator, DrawJob, Job, Record, Stage, shown_rounds
from .model import Count, Items, Model, Seed, SpecError, as_items, counting, listing, one_of, word_of
from .sets import source
from .specs import ExpertsSpec, LearnerSpec, SetSpec, problem_of

if TYPE_CHECKING:
    import polars as pl
    from rich.console import Console

    from .tables import FinalNumbers
    from .toml import StudyFile

SetAndCost: TypeAlias = tuple[str, float]

ROLES = ("main", "extreme", "confidence", "small", "bias", "adversarial", "theory", "reading")
MOST_ROUNDS = 10**9
QUICK_ROUNDS, QUICK_DRAWS = 2_000, 2


class Description(NamedTuple):
    """A study in words, for the report: what is played, how often, from which seed."""

    name: str
    title: str
    figure: str
    settings: str
    experts: str
    learners: str
    rounds: str
    runs: str
    seed: int


class Columns(NamedTuple):
    """What the columns of a frame of results are; all others are numbers to compare."""

    keys: tuple[str, ...]
    """Those that tell rows apart."""
    setting: tuple[str, ...]
    """Those of them that name a setting, in which rows are repetitions or rounds."""
    machine: tuple[str, ...] = ("seconds_run", "host")
    """Those that depend on the machine."""


class Study(Model, ABC):
    """A study of any kind: its fields say what is played, `jobs` and `collect` how.

    A subclass is a kind of study: ``kind = "module:Class"`` in a TOML file, or ``kind = NAME`` if it is registered
    under the entry point group ``abstain.studies``.

    Args:
        name: Its name, which heads its files.
        title: What it is about, for people.
        figure: The paper's figure that shows it.
        role: What it is to the paper's claims, which look at studies by their roles: one of `ROLES`, or nothing.
        claims: Own claims it is judged by.
        figures: Own figures of it.
        seed: The first of all its random numbers.
    """

    name: Annotated[str, Field(min_length=1)]
    title: str = ""
    figure: str = ""
    role: Annotated[str, word_of("", *ROLES)] = ""
    seed: Seed = 0
    claims: Annotated[tuple[Any, ...], Field(exclude=True)] = ()
    figures: Annotated[tuple[Any, ...], Field(exclude=True)] = ()

    positional: ClassVar[tuple[str, ...]] = ("name",)
    kind: ClassVar[str]
    """What a frame of its results is called, and the file NAME.parquet."""
    columns: ClassVar[Columns]
    """Of that frame."""
    is_sorted: ClassVar[bool] = False
    """Whether the rows of that frame are sorted by its keys; else they are in the order of the studies and jobs."""
    in_report: ClassVar[bool] = True
    """Whether the report shows it; other studies show themselves, by `show`."""

    @classmethod
    def place(cls, given: Mapping[str, Any]) -> str:
        name = given.get("name")
        return f"study {name}: " if isinstance(name, str) and name else "study: "

    @classmethod
    def known(cls) -> list[str]:
        return [*(name for name in cls.model_fields if name not in ("name", "own")), "kind"]

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any], file: "StudyFile") -> Self:
        """The study of a table of a TOML file; of the file's defaults it has the seed.

        Args:
            name: Its name.
            table: The table [studies.NAME].
            file: What else the file says: it makes learners, experts and sets.
        """
        return cls._made(
            name,
            {"seed": file.defaults.get("seed", 0), **table},
            learners=file.learners,
            claims=file.claims,
            figures=file.figures,
        )

    @classmethod
    def _made(cls, name: str, table: Mapping[str, Any], **makers: Callable[[Any], Any]) -> Self:
        """The study of a table, some of whose values are made of what stands there; an error says all that is wrong."""
        values = {key: value for key, value in table.items() if key != "kind"}
        problems: list[tuple[str, str]] = []
        for key, make in makers.items():
            if key in values and key in cls.model_fields:
                try:
                    values[key] = make(values[key])
                except InputError as error:
                    problems += error.problems if isinstance(error, SpecError) else [("", str(error))]
                    del values[key]
        try:
            made = cls(name=name, **values)
        except SpecError as error:
            problems += [(field, text) for field, text in error.problems if field or not problems]
        if problems:
            raise SpecError(problems)
        return made

    @abstractmethod
    def jobs(self) -> Sequence[Job]:
        """All jobs that it needs; studies may share some."""

    @abstractmethod
    def collect(self, records: Mapping[str, Record]) -> "pl.DataFrame":
        """Its results, as far as there are records of its jobs, by their keys; the column ``study`` is its name."""

    @abstractmethod
    def describe(self) -> Description:
        """The study in words."""

    def tables(self, results: "pl.DataFrame", studies: "Sequence[Study]") -> "Sequence[FinalNumbers]":
        """Its tables of final numbers.

        Args:
            results: The results of all studies of its kind.
            studies: All studies of the run; several may share a table, which the first of them has.
        """
        return ()

    def show(self, results: "pl.DataFrame", out: Path, console: "Console") -> list[str]:
        """Write and print what the report does not show; returns what could not be done, a sentence each."""
        return []

    def quick(self) -> Self:
        """The same in little time: to see that it works."""
        return self

    def here(self, data: Any) -> tuple[Self, str]:
        """What to play where its data sets may not be here: itself, or another study and a sentence that says so."""
        return self, ""


def _as_pairs(pairs: Any, info: ValidationInfo) -> tuple[SetAndCost, ...]:
    for pair in as_items(pairs, info):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise InputError(f"{info.field_name}: expected pairs of a set and a cost, got {pair!r}")
    return tuple((pair[0], pair[1]) for pair in pairs)


Pairs = Annotated[tuple[SetAndCost, ...], PlainValidator(_as_pairs)]
Learners = Annotated[tuple[LearnerSpec, ...], listing(LearnerSpec)]


class LearnerStudy(Study):
    """Learners on data sets: every setting (set, cost), for each expert set on each draw, by every learner.

    Give ``sets`` and ``costs``, whose pairs are all played, or ``settings``; the others are filled in.

    Args:
        sets: Names of sets, or own ones (`SetSpec`).
        costs: The costs of abstaining.
        settings: Pairs of a set and a cost.
        instead: What is played where none of the sets is here.
        scale: How features are scaled: "maxabs", "minmax" or "none".
        experts: The experts; drawn anew for each expert set, if they are random.
        learners: The learners.
        rounds: How many rounds a game has.
        draws: How often the data are drawn for each expert set.
        expert_sets: How often experts are drawn.
        checkpoints: About how many rounds are kept, equally spaced in log t.
        quick_rounds: How many of the rounds a quick run plays.
        table: The table of final numbers it is part of, if not one of its own.
        reference: The learner that others are compared with there, if not FS or the first.
        apart: Learners that do not compete with the others.
        own: Own sets; settings find them by their names.

    >>> study = LearnerStudy("mine", sets=("synthetic",), costs=(0.1, 0.2), learners=(LearnerSpec("UCB", "UCB"),))
    >>> study.settings
    (('synthetic', 0.1), ('synthetic', 0.2))
    """

    kind: ClassVar[str] = "results"
    is_sorted: ClassVar[bool] = True
    columns: ClassVar[Columns] = Columns(
        ("study", "dataset", "cost", "expert_set", "draw", "learner", "t"), ("study", "dataset", "cost", "learner")
    )

    sets: Annotated[tuple[str, ...], Items] = ()
    costs: Annotated[tuple[float, ...], Items] = ()
    settings: Pairs = ()
    instead: Pairs = ()
    scale: Annotated[str, word_of("maxabs", "minmax", "none")] = "maxabs"
    experts: ExpertsSpec = Field(default_factory=ExpertsSpec)
    learners: Learners = ()
    rounds: Count = 10_000
    draws: Count = 5
    expert_sets: Count = 5
    checkpoints: Annotated[int, counting(2)] = 60
    quick_rounds: Count = QUICK_ROUNDS
    table: str = ""
    reference: str = ""
    apart: Annotated[tuple[str, ...], Items] = ("FS",)
    own: Annotated[tuple[SetSpec, ...], Items] = ()

    @classmethod
    def from_table(cls, name: str, table: Mapping[str, Any], file: "StudyFile") -> Self:
        """The study of a table of a TOML file, which has the file's defaults where it says nothing."""
        others = ("sets", "costs") if "settings" in table else ("settings",)
        values = {key: value for key, value in file.defaults.items() if key not in others} | {"own": None, **table}
        made = cls._made(
            name, values, experts=file.experts, learners=file.learners, own=lambda _: file.own_sets,
            claims=file.claims, figures=file.figures,
        )  # fmt: skip
        if "settings" in table and ("sets" in table or "costs" in table):
            raise InputError("expected settings, or sets and costs, got both")
        return made

    @model_validator(mode="before")
    @classmethod
    def _name_own_sets(cls, given: Any) -> Any:
        """Own sets among the sets are called by their names there."""
        names, own = (given.get(key, ()) for key in ("sets", "own"))
        if not isinstance(names, (tuple, list)) or not isinstance(own, (tuple, list)):
            return given  # the fields' own validation reports it
        more = [one for one in names if isinstance(one, SetSpec) and one not in own]
        names = [one.name if isinstance(one, SetSpec) else one for one in names]
        return given | {"sets": names, "own": (*own, *more)}

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.rounds > MOST_ROUNDS:
            raise InputError(f"rounds: expected at most {MOST_ROUNDS:,}, got {self.rounds:,}")
        if not self.settings and not (self.sets and self.costs):
            raise InputError("expected sets and costs, or settings, got neither")
        own = [one.name for one in self.own]
        if len(set(own)) < len(own):
            raise InputError(f"own: expected no name twice, got {', '.join(own)}")
        pairs = self.settings or tuple((dataset, cost) for dataset in self.sets for cost in self.costs)
        for dataset, cost in (*pairs, *self.instead):
            if dataset not in own:
                sets.check(dataset)
            made = problem_of(dataset, self.own_set(dataset)) is not None
            if made != (self.experts.kind == "instance"):
                needed = "instance" if made else "hyperplanes, axis_planes or another that takes features"
                raise InputError(f"experts: {dataset} needs experts of kind {needed}")
            if not is_number(cost) or not 0.0 <= cost <= 1.0:
                raise InputError(f"cost: expected a number in [0, 1], got {cost!r}")
        labels = [learner.label for learner in self.learners]
        if not labels or len(set(labels)) < len(labels):
            raise InputError(f"learners: expected at least one and no label twice, got {', '.join(labels) or 'none'}")
        if self.reference and self.reference not in labels:
            raise InputError(f"reference: expected one of {'; '.join(labels)}, got {self.reference!r}")
        for label in self.apart:
            one_of(label, dict.fromkeys((*labels, "FS")), "apart")
        settings = tuple(dict.fromkeys((dataset, float(cost)) for dataset, cost in pairs))
        used = tuple(dict.fromkeys(dataset for dataset, _ in settings))
        self.__dict__.update(
            settings=settings, sets=used, costs=tuple(dict.fromkeys(cost for _, cost in settings)),
            own=tuple(one for one in self.own if one.name in used),
        )  # fmt: skip
        return self

    @property
    def games(self) -> Self:
        """The study without what only describes it: equal for studies that play the same games."""
        return self.replace(
            name="games", title="", figure="", table="", role="", reference="", apart=(), claims=(), figures=()
        )

    def own_set(self, dataset: str) -> SetSpec | None:
        """The own set of that name; None for the library's."""
        return next((one for one in self.own if one.name == dataset), None)

    def quick(self) -> Self:
        """The same on one expert set and two draws, in few rounds."""
        rounds, draws = min(self.rounds, self.quick_rounds), min(self.draws, QUICK_DRAWS)
        return self.replace(rounds=rounds, draws=draws, expert_sets=1)

    def here(self, data: Any) -> tuple[Self, str]:
        """The study itself; if none of its sets is here, the same on those it names instead."""
        files = list(dict.fromkeys(source(dataset) for dataset in self.sets if dataset not in sets.INSTANCES))
        if not self.instead or not files or self.own:
            return self, ""
        if any(datasets.info(name, data=data).found is not None for name in files):
            return self, ""
        other, several = self.replace(sets=(), costs=(), settings=self.instead), len(files) > 1
        return other, (
            f"{' and '.join(files)} {'are' if several else 'is'} not here, so {self.name} is played on "
            f"{', '.join(other.sets)} instead; to get {'them' if several else 'it'}: abstain datasets get "
            f"{' '.join(files)}"
        )

    def stages(self) -> list[tuple[float, Stage]]:
        """The cost and the stage of every group of draws. Scalings share a set that is not scaled."""
        found = []
        for dataset, cost in self.settings:
            own = self.own_set(dataset)
            scale = self.scale if (sets.is_scaled(dataset) if own is None else own.is_scaled) else "none"
            for expert_set in range(self.expert_sets):
                stage = Stage(
                    dataset, scale, self.experts, self.rounds, self.checkpoints, expert_set, self.seed, own=own
                )
                found.append((cost, stage))
        return found

    def draw_jobs(self) -> list[DrawJob]:
        """The learners on every draw, at every cost."""
        stages = self.stages()
        return [DrawJob(stage, cost, draw, self.learners) for cost, stage in stages for draw in range(self.draws)]

    def comparators(self) -> list[Comparator]:
        """The best expert of every group."""
        return [Comparator(stage, cost, self.draws) for cost, stage in self.stages()]

    def jobs(self) -> list[Job]:
        return [*self.draw_jobs(), *self.comparators()]

    def collect(self, records: Mapping[str, Record]) -> "pl.DataFrame":
        """The curves: one row for each run and round t kept.

        A row has the learner's cumulative loss, that of the best expert (``best``) and of the best sequence of experts,
        one for each regime of a stream (``tracked``: the same where nothing moves), the rounds abstained, and the edges
        of the graph in use. Its regret is ``loss - best``, its tracking regret ``loss - tracked``; ``pseudo`` is its
        regret in expected losses, where those of the experts are known.
        """
        best = {(group.stage.key, group.cost): records.get(group.key) for group in self.comparators()}
        at = shown_rounds(self.rounds, self.checkpoints).tolist()
        runs = []
        for job in self.draw_jobs():
            done, compared = records.get(job.key), best[job.stage.key, job.cost]
            if done is None or compared is None:
                continue
            tracked = compared["tracked" if "tracked" in compared else "best"][job.draw]
            for spec, run in zip(self.learners, done["runs"], strict=True):
                runs.append((
                    self.name, job.stage.dataset, job.cost, job.stage.expert_set, job.draw, spec.label, at,
                    run["loss"], compared["best"][job.draw], tracked, run["abstained"], run["edges"],
                    run.get("pseudo", [None] * len(at)), run["seconds_run"], done["host"],
                ))  # fmt: skip
        return curves_frame(runs)

    def tables(self, results: "pl.DataFrame", studies: Sequence[Study]) -> "Sequence[FinalNumbers]":
        """The table it is part of, with the studies that share it."""
        from .tables import table_of

        name = self.table or self.name
        sharing = [study for study in with_curves(studies) if (study.table or study.name) == name]
        return table_of(name, sharing, results) if sharing[0].name == self.name else ()

    def describe(self) -> Description:
        options = ", ".join(f"{key} = {value}" for key, value in sorted(self.experts.options.items()))
        return Description(
            self.name,
            self.title,
            f"figure {self.figure}" if self.figure else "",
            _in_words(self.settings),
            f"{self.experts.kind}{f' ({options})' if options else ''}; {self.scale}",
            "; ".join(learner.label for learner in self.learners),
            f"{self.rounds:,}",
            f"{self.expert_sets} × {self.draws}",  # noqa: RUF001 (a times sign)
            self.seed,
        )


def curves_frame(runs: Sequence[Sequence[Any]] = ()) -> "pl.DataFrame":
    """The frame of curves, from runs whose numbers are lists over the rounds kept."""
    import polars as pl

    numbers = {"t": pl.Int64, "loss": pl.Float64, "best": pl.Float64, "tracked": pl.Float64, "abstained": pl.Int64,
               "edges": pl.Int64, "pseudo": pl.Float64}  # fmt: skip
    schema: dict[str, Any] = {
        "study": pl.String, "dataset": pl.String, "cost": pl.Float64, "expert_set": pl.Int64, "draw": pl.Int64,
        "learner": pl.String, **{name: pl.List(kind) for name, kind in numbers.items()},
        "seconds_run": pl.Float64, "host": pl.String,
    }  # fmt: skip
    return pl.DataFrame(list(runs), schema=schema, orient="row").explode(list(numbers)).sort(LearnerStudy.columns.keys)


def _in_words(pairs: Sequence[SetAndCost]) -> str:
    """Sets with equal costs together: "higgs, eye: 0.1, 0.2"."""
    of_set: dict[str, tuple[float, ...]] = {}
    for dataset, cost in pairs:
        of_set[dataset] = (*of_set.get(dataset, ()), cost)
    return "; ".join(
        f"{', '.join(name for name, at in of_set.items() if at == some)}: {', '.join(f'{c:g}' for c in some)}"
        for some in dict.fromkeys(of_set.values())
    )


def with_curves(studies: Iterable[Study]) -> list[LearnerStudy]:
    """Those of the studies that have learners' curves."""
    return [study for study in studies if isinstance(study, LearnerStudy)]


def earlier(study: LearnerStudy, studies: Sequence[Study]) -> LearnerStudy | None:
    """The first of the studies before this one that plays the same."""
    before = studies[: next(k for k, one in enumerate(studies) if one.name == study.name)]
    return next((one for one in with_curves(before) if one.games == study.games), None)


def repeated(studies: Sequence[Study]) -> set[str]:
    """The names of studies whose runs another has, too: all it plays and more, or the same and it comes first."""
    played = with_curves(studies)
    return {
        study.name
        for k, study in enumerate(played)
        if any(is_part(study, other) and (j < k or not is_part(other, study)) for j, other in enumerate(played))
    }


def is_part(study: LearnerStudy, other: LearnerStudy) -> bool:
    """Whether the other plays every game of the first, in the same way."""
    if not set(study.settings) <= set(other.settings):
        return False
    settings = other.games.replace(sets=(), costs=(), settings=study.settings, instead=())
    return study.games.replace(instead=()) == settings


def said(studies: Sequence[Study], of: Iterable[str]) -> list[str]:
    """Of which studies others' curves are to be seen instead, a sentence each."""
    found = [study for study in with_curves(studies) if study.name in set(of)]
    pairs = [(study.name, earlier(study, studies)) for study in found]
    return [f"{name} plays the same games as {first.name}: see its curves." for name, first in pairs if first]
