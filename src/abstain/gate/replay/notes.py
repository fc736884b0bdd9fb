"""What is worth knowing beside the numbers, and what the gate could not know."""

from .classes import Classes
from .columns import PROBABILITY
from .naming import per_cent
from .options import Options
from .outcome import Outcome
from .preparing import Facts
from .reasons import FEW


def notes(options: Options, facts: Facts, classes: Classes | None, rows: int) -> list[str]:
    """What may surprise in a log that was played without fuss."""
    found = []
    if facts.unlabelled:
        found.append(f"{facts.unlabelled:,} of {facts.rows:,} rows have no label and were left out.")
    if facts.never:
        found.append(f"{facts.never:,} labels have no time in {options.label_time}: they come after the last row.")
    if rows < FEW:
        found.append(f"{rows:,} rows are few: intervals are wide, and the gate has little to learn from.")
    if len(options.models) == 1:
        found.append("With a single model, only the threshold is learnt.")
    for k, model in enumerate(options.models):
        if facts.missing[k] == rows:
            found.append(f"{model.name} never has an answer.")
        elif facts.missing[k]:
            share = per_cent(facts.missing[k] / rows)
            found.append(
                f"{model.name} has no answer in {facts.missing[k]:,} rows ({share}): alone, it sends them to review."
            )
        if facts.least[k] == facts.most[k]:
            found.append(
                f"{model.name} is always equally sure ({facts.most[k]:g}): no threshold can tell its answers apart."
            )
    if classes is not None:
        n, times = classes.never_given()
        if n and not any(model.kind == PROBABILITY for model in options.models):
            what = "A label" if n == 1 else f"{n:,} labels"
            are = "is" if n == 1 else "are"
            found.append(f"{what} of {len(classes.labels):,} {are} never given by a model, in {times:,} rows.")
    if options.capacity is not None:
        found.append("The capacity holds for the gate only: the others review as much as they like, and are marked.")
    if options.time is not None and options.label_time is None:
        found.append(f"Times are those of {options.time}; labels come by the number of rows.")
    return found


def unknown(options: Options, out: Outcome, cases: int, delay: str) -> list[str]:
    """What the gate did not know."""
    unseen = {"answered": out.counts["reviewed"], "reviewed": cases - out.counts["reviewed"], "both": 0}[options.labels]
    found = []
    if unseen:
        whose = "reviewed" if options.labels == "answered" else "answered"
        found.append(
            f"{unseen:,} labels of {cases:,} ({per_cent(unseen / cases)}) were never seen: those of {whose} cases."
        )
    if delay != "at once":
        found.append(f"Labels came {delay}.")
    if out.counts["unanswered"]:
        found.append(f"No model had an answer in {out.counts['unanswered']:,} cases: all were sent to review.")
    if out.counts["forced"]:
        found.append(f"{out.counts['forced']:,} cases were answered because no review was left.")
    if out.counts["explored"]:
        found.append(
            f"{out.counts['explored']:,} cases were decided otherwise than the threshold says, just to see the label: "
            "that is how the gate learns what becomes of cases it would not decide so. Its price has what they cost."
        )
    return found
