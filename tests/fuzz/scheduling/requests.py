"""What is asked of a server, and where things are."""

from typing import Any, NamedTuple

NAMESPACES = ("default", "default", "default", "other")


class Ask(NamedTuple):
    """A request; a body of PATCH is a merge patch."""

    method: str
    path: str
    body: Any = None


def pods(namespace: str) -> str:
    """The path of a namespace's pods."""
    return f"/api/v1/namespaces/{namespace}/pods"
