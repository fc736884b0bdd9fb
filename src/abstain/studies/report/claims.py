"""The claims and what other readings do to them, as tables."""

from collections.abc import Sequence

from ..claims import Reading, Verdict
from ..claims.readings import CLAIMS
from .markup import prose, shape, table, text, verdict


def tally(verdicts: Sequence[Verdict]) -> str:
    """How many hold, hold in part, fail, were not judged."""
    words = ("holds", "hold"), ("holds in part", "hold in part"), ("fails", "fail"), ("not judged", "not judged")
    counts = ((word, label, sum(v.verdict == word for v in verdicts)) for word, label in words)
    return " ".join(verdict(word, f"{count} {label}") for word, label, count in counts if count)


def claims(verdicts: Sequence[Verdict]) -> str:
    """A row a claim; the settings in which it fails fold away."""
    rows = [(text(v.number), text(v.claim), verdict(v.verdict), prose(v.numbers) + _where(v)) for v in verdicts]
    return table(("", "Claim", "Verdict", "Numbers"), [rows], "claims")


def _where(verdict: Verdict) -> str:
    used = f" From the results of {text(', '.join(verdict.studies))}." if verdict.studies else ""
    rule = f"<details><summary>How it is judged</summary><p>{text(verdict.rule)}{used}</p></details>"
    if not verdict.fails_at:
        return rule
    places = "".join(f"<li>{text(failure)}</li>" for failure in verdict.fails_at)
    return f"<details><summary>Where it fails ({len(verdict.fails_at)})</summary><ul>{places}</ul></details>{rule}"


def readings(found: Sequence[Reading]) -> str:
    """A row a reading, a column a claim."""
    rows = []
    for reading in found:
        words = {v.number: v.verdict for v in reading.verdicts}
        places = "".join(
            f"<li>Claim {v.number}, {text(v.verdict)}: {prose(v.numbers)}</li>"
            for v in reading.verdicts
            if v.number in reading.breaks
        )
        broken = text(", ".join(map(str, reading.breaks)) or "none")
        if places:
            broken = f"<details><summary>{broken}</summary><ul>{places}</ul></details>"
        marks = (shape(words[number]) if number in words else "" for number in CLAIMS)
        rows.append((text(reading.name), *marks, broken))
    return table(("Reading", *(f"Claim {number}" for number in CLAIMS), "Breaks claims"), [rows], "readings")
