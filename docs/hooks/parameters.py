"""Sections of docstrings as fields: parameters in the order of the signature, what is returned and what is raised."""

import ast
import inspect
import re
import textwrap
from typing import Any

from sphinx.application import Sphinx

SECTION = re.compile(r"^Args:\n((?:[ \t]+.*\n|\n(?=[ \t]))+)", re.MULTILINE)
OTHERS = re.compile(r"^(Returns|Raises|Attributes):\n((?:[ \t]+.*\n|\n(?=[ \t]))+)", re.MULTILINE)
ENTRY = re.compile(r"^    (\w+): (.*(?:\n     +.*)*)", re.MULTILINE)
MODULES = re.compile(r"\b[a-z_]+\.(?=[A-Z])")  # costs.CostLike
COMPILED = re.compile(r"CPUDispatcher\(<function (\w+)>\)")  # a kernel, as Numba shows it


def described(doc: str) -> dict[str, str]:
    """Parameters and what is said of them under ``Args:``."""
    found = SECTION.search(doc + "\n")
    entries = ENTRY.findall(found[1]) if found else []
    return {name: " ".join(text.split()) for name, text in entries}


def inherited(kind: type) -> dict[str, str]:
    """The same of a class: what it does not say itself, the class that it extends says."""
    bases = [base for base in reversed(kind.__mro__) if base.__module__.partition(".")[0] == "abstain"]
    return {name: text for base in bases for name, text in described(inspect.cleandoc(base.__doc__ or "")).items()}


def annotated(function: Any) -> dict[str, str]:
    """Types of parameters as they are written: an alias says more than what it stands for."""
    try:
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(function))).body
    except (OSError, TypeError):  # made by a decorator, or compiled
        return {}
    if not isinstance(tree, ast.FunctionDef):
        return {}
    arguments = [*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs]
    return {a.arg: MODULES.sub("", ast.unparse(a.annotation)).strip("'\"") for a in arguments if a.annotation}


def outcomes(doc: str) -> tuple[str, str]:
    """A docstring without what it returns and raises; and fields that say so. Attributes become a list."""
    fields: list[str] = []

    def field(found: re.Match[str]) -> str:
        section, text = found.groups()
        if section == "Returns":
            fields.append(f":returns: {' '.join(text.split())}\n")
            return ""
        entries = [(name, " ".join(words.split())) for name, words in ENTRY.findall(text)]
        if section == "Attributes":
            return "".join(f"* ``{name}``: {words}\n" for name, words in entries)
        fields.extend(f":raises {name}: {words}\n" for name, words in entries)
        return ""

    return OTHERS.sub(field, doc), "".join(fields)


def tabled(doc: str, names: list[str], meaning: dict[str, str], types: dict[str, str]) -> str:
    """The docstring with a field for each parameter instead of its ``Args:``, before its first example."""
    fields = "".join(
        f":param {name}: {meaning.get(name, '')}\n" + (f":type {name}: {types[name]}\n" if name in types else "")
        for name in names
        if name in meaning or name in types
    )
    rest, said = outcomes(SECTION.sub("", doc + "\n"))
    fields += said
    before, prompt, examples = rest.partition("\n>>> ")
    return f"{before.rstrip()}\n\n{fields}{prompt}{examples}"


def process(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    """Called by Sphinx for every docstring."""
    if what not in ("class", "function", "method") or not callable(obj):
        return
    doc = "\n".join(lines)
    meaning = inherited(obj) if isinstance(obj, type) else described(doc)
    types = annotated(obj.__init__ if isinstance(obj, type) else inspect.unwrap(obj))
    try:
        parameters = list(inspect.signature(obj).parameters)
    except ValueError:  # a warning or an error without a constructor of its own
        return
    lines[:] = tabled(doc, parameters, meaning, types).split("\n")


def named(
    app: Sphinx, what: str, name: str, obj: Any, options: Any, signature: str | None, returns: str | None
) -> tuple[str | None, str | None]:
    """Called by Sphinx for every signature: kernels that are defaults have names."""
    return signature and COMPILED.sub(r"\1", signature), returns


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", process)
    app.connect("autodoc-process-signature", named)
    return {"parallel_read_safe": True}
