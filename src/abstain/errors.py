"""What is raised for bad input: each a `ValueError` that names the argument, what came and what was expected."""


class AbstainError(ValueError):
    """Anything wrong with what the library was given."""


class InputError(AbstainError):
    """An argument of the wrong shape, range or name."""


class ReadOnlyError(InputError, AttributeError):
    """An attribute that cannot be set."""


class MissingExtraError(InputError, ImportError):
    """A package that is not installed; the message names the extra that brings it."""


class UnknownKindError(InputError):
    """A class that a file names, and that no module imported so far defines."""


class LabelError(AbstainError):
    """A label that the loss cannot judge."""


class DecisionError(AbstainError):
    """A decision that cannot be learnt: of another learner, learnt already, or of a round whose label stays hidden."""


class FileError(AbstainError):
    """A file that is damaged, of another kind, or of a newer version."""


class LabelWarning(UserWarning):
    """Labels that no answer ever equals, or that differ from answers in type, capitals or blanks alone."""


MOST_SHOWN = 200
"""Characters of a value in a sentence."""


def shown(value: object) -> str:
    """A value as a sentence shows it: its representation, cut where it becomes too long to be read."""
    try:
        text = repr(value)
    except Exception:  # an integer with too many digits, a list nested too deeply, a class that cannot show itself
        return f"a {type(value).__name__} that cannot be shown"
    return text if len(text) <= MOST_SHOWN else f"{text[:MOST_SHOWN]}..."
