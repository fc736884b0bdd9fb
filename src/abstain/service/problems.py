"""What the service refuses, and why: errors that HTTP shows as problem details (RFC 9457)."""

from collections.abc import Mapping, Sequence
from typing import Any


class ServiceError(ValueError):
    """A call that the service refuses. Nothing has changed then.

    Args:
        detail: What was expected and what came, in a sentence.
        errors: The fields that are wrong, each with its ``path`` (such as ``answers.gbm.confidence``) and a
            ``message``.
        headers: Headers of HTTP that go with the reply.
    """

    status = 400
    """The status of HTTP."""
    title = "Bad request"
    """The kind of problem, in a few words."""

    def __init__(
        self,
        detail: str,
        *,
        errors: Sequence[Mapping[str, str]] = (),
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.errors = [dict(error) for error in errors]
        self.headers = dict(headers or {})

    @property
    def body(self) -> dict[str, Any]:
        """The problem as the body of a reply."""
        kind = self.title.lower().replace(" ", "-")
        return {
            "type": f"urn:abstain:problem:{kind}",
            "title": self.title,
            "status": self.status,
            "detail": self.detail,
            "errors": self.errors,
        }


class Invalid(ServiceError):  # noqa: N818 -- these are named by what they say of the call
    """A field is out of range, or fields do not fit together."""

    status, title = 422, "Invalid request"

    @classmethod
    def at(cls, path: str, message: str) -> "Invalid":
        """Return the problem of one field."""
        return cls(f"{path}: {message}", errors=[{"path": path, "message": message}])


class Unauthorized(ServiceError):  # noqa: N818
    """There is no key, or one that nobody knows."""

    status, title = 401, "Key required"


class Forbidden(ServiceError):  # noqa: N818
    """The key is for another gate, or not for such calls."""

    status, title = 403, "Not allowed"


class NotFound(ServiceError):  # noqa: N818
    """There is no such gate, or no such case."""

    status, title = 404, "Not found"


class Conflict(ServiceError):  # noqa: N818
    """The call contradicts what is stored: another payload, another label, a setting that cannot change."""

    status, title = 409, "Conflict"


class TooLarge(ServiceError):  # noqa: N818
    """The body is larger than the limit."""

    status, title = 413, "Too large"


class StoreUnavailable(ServiceError):  # noqa: N818
    """The store could not commit, or cannot be reached. The call may be repeated."""

    status, title = 503, "Store unavailable"

    def __init__(self, detail: str, **options: Any) -> None:
        super().__init__(detail, **{"headers": {"Retry-After": "1"}, **options})


class GateStopped(ServiceError):  # noqa: N818
    """The gate's journal did not replay exactly; it waits for somebody to accept that."""

    status, title = 503, "Gate stopped"


class NotReady(ServiceError):  # noqa: N818
    """The service starts or stops, or the gate moves to another replica. The call may be repeated."""

    status, title = 503, "Not ready"

    def __init__(self, detail: str, **options: Any) -> None:
        super().__init__(detail, **{"headers": {"Retry-After": "1"}, **options})
