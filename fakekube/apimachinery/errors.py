"""Every failure that a client can see is an APIError, and every APIError is a ``metav1.Status``.

The server raises them, the panic guard and the filters answer them, and the client raises them
again from the answer. Upstream: apimachinery/pkg/api/errors/errors.go. Anything else that is raised
is a programmer's error.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError, go_quote
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.apimachinery.types import Tree


class APIError(Exception):
    """A failure with its HTTP code, machine-readable reason, text and details."""

    def __init__(
        self, code: int, reason: str, message: str, details: Mapping[str, Any] | None = None, *,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message
        self.details, self.metadata = details, metadata

    def status(self) -> Tree:
        """The body of the answer, its keys in upstream's order; what is empty is absent."""
        result: Tree = {"kind": "Status", "apiVersion": "v1", "metadata": dict(self.metadata or {}), "status": "Failure"}
        if self.message:
            result["message"] = self.message
        if self.reason:
            result["reason"] = self.reason
        if self.details is not None:
            result["details"] = dict(self.details)
        return result | {"code": self.code}

    @property
    def causes(self) -> list[Mapping[str, str]]:
        """``details.causes``, or nothing."""
        return list((self.details or {}).get("causes") or ())

    @classmethod
    def from_status(cls, status: Tree, code: int) -> "APIError":
        """The error that an answer describes; ``code`` is the HTTP code, for a body that is no
        Status.
        """
        return cls(
            status.get("code") or code, status.get("reason", ""), status.get("message", ""), status.get("details"),
            metadata=status.get("metadata"),
        )


def details_of(group: str, kind: str, name: str = "") -> Tree:
    """``details`` with its keys in upstream's order; ``kind`` is the resource or the kind, as the
    error has it.
    """
    return ({"name": name} if name else {}) | ({"group": group} if group else {}) | ({"kind": kind} if kind else {})


def is_namespace_terminating(error: APIError) -> bool:
    """Whether a create was refused because the namespace is being deleted: a controller need not
    report that.
    """
    return any(cause.get("reason") == "NamespaceTerminating" for cause in error.causes)


def is_race(error: APIError) -> bool:
    """Whether somebody else was faster: what was to be written is gone, changed or there already,
    or its namespace ends.

    Upstream's controllers tell of these from verbosity 4 on.
    """
    return error.code in (404, 409) or is_namespace_terminating(error)


def not_found(resource: GroupResource, name: str) -> APIError:
    """404 ``jobs.batch "x" not found``."""
    details = details_of(resource.group, resource.resource, name)
    return APIError(404, "NotFound", f"{resource} {go_quote(name)} not found", details)


def no_such_path() -> APIError:
    """404 of a path inside a known group that leads nowhere."""
    return APIError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: GroupResource, name: str, *, terminating: bool = False) -> APIError:
    """409 on create; the text says when the one that is in the way is on its way out."""
    prefix = "object is being deleted: " if terminating else ""
    return APIError(
        409, "AlreadyExists", f"{prefix}{resource} {go_quote(name)} already exists",
        details_of(resource.group, resource.resource, name),
    )


def conflict(resource: GroupResource, name: str, why: str = "") -> APIError:
    """409 of optimistic concurrency, or of a precondition when ``why`` says so."""
    why = why or "the object has been modified; please apply your changes to the latest version and try again"
    return APIError(
        409, "Conflict", f"Operation cannot be fulfilled on {resource} {go_quote(name)}: {why}",
        details_of(resource.group, resource.resource, name),
    )


def invalid(kind: GroupKind, name: str, errors: Sequence[FieldError]) -> APIError:
    """422 with one cause an error."""
    details = details_of(kind.group, kind.kind, name)
    errors = field_errors.tellable(errors)
    if errors:
        details["causes"] = [error.cause() for error in errors]
    return APIError(422, "Invalid", f"{kind} {go_quote(name)} is invalid: {field_errors.aggregate(errors)}", details)


def forbidden(resource: GroupResource | None, name: str, why: str, causes: Sequence[Mapping[str, str]] = ()) -> APIError:
    """403; without a resource the text is that of a path, without a name that of a collection."""
    if resource is None:
        return APIError(403, "Forbidden", f"forbidden: {why}", {})
    subject = f"{resource} {go_quote(name)}" if name else f"{resource}"
    details = details_of(resource.group, resource.resource, name) | ({"causes": list(causes)} if causes else {})
    return APIError(403, "Forbidden", f"{subject} is forbidden: {why}", details)


def unauthorized() -> APIError:
    """401."""
    return APIError(401, "Unauthorized", "Unauthorized")


def bad_request(message: str) -> APIError:
    """400."""
    return APIError(400, "BadRequest", message)


def method_not_allowed() -> APIError:
    """405 as upstream's router words it."""
    return APIError(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {})


def method_not_supported(resource: GroupResource, verb: str) -> APIError:
    """405 as the handler of custom resources words it."""
    message = f"{verb} is not supported on resources of kind {go_quote(str(resource))}"
    return APIError(405, "MethodNotAllowed", message, details_of(resource.group, resource.resource, ""))


def not_acceptable(message: str) -> APIError:
    """406."""
    return APIError(406, "NotAcceptable", message)


def unsupported_media_type(message: str, details: Mapping[str, Any] | None = None) -> APIError:
    """415."""
    return APIError(415, "UnsupportedMediaType", message, details)


def expired(message: str, continue_token: str = "") -> APIError:
    """410; a list that can be gone on with carries its token in the Status."""
    return APIError(410, "Expired", message, metadata={"continue": continue_token} if continue_token else None)


def too_large(message: str) -> APIError:
    """413."""
    return APIError(413, "RequestEntityTooLarge", f"Request entity too large: {message}")


def too_many_requests(message: str, retry_after_seconds: int = 0, causes: Sequence[Mapping[str, str]] = ()) -> APIError:
    """429."""
    details: Tree = {"causes": list(causes)} if causes else {}
    if retry_after_seconds:
        details["retryAfterSeconds"] = retry_after_seconds
    return APIError(429, "TooManyRequests", message, details)


def future_version(asked: int, current: int) -> APIError:
    """504 of a read at a version that is not there yet."""
    return APIError(504, "Timeout", f"Timeout: Too large resource version: {asked}, current: {current}", {
        "causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}], "retryAfterSeconds": 1,
    })


def internal(text: str) -> APIError:
    """500 with reason InternalError."""
    return APIError(500, "InternalError", f"Internal error occurred: {text}", {"causes": [{"message": text}]})


def raw(text: str, code: int = 500) -> APIError:
    """What upstream makes of an error that is no Status: the text alone, without a reason."""
    return APIError(code, "", text)
