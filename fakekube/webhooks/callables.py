"""Webhooks that are Python functions of this process: found by the URL of their configuration.

A configuration object stands in the cluster for each, as for any webhook; its URL leads nowhere but
here. So what the object says (rules, selectors, failurePolicy) holds, kubectl shows it, and whoever
deletes it ends the calls.
"""

from collections.abc import Awaitable, Callable
from urllib.parse import quote

from fakekube.apimachinery.admission_requests import AdmissionRequest
from fakekube.apimachinery.types import Tree

HOST = "webhooks.fakekube.invalid"

Function = Callable[[AdmissionRequest], Awaitable[None] | None]


class Callables:
    """The functions of one cluster, by the URLs that lead to them."""

    def __init__(self) -> None:
        self._functions: dict[str, Function] = {}

    def add(self, name: str, function: Function) -> str:
        """Let a function be called under a name; its URL.

        ValueError when there is one of that name.
        """
        url = f"https://{HOST}/{quote(name)}"
        if url in self._functions:
            raise ValueError(f"there is a webhook {name!r} already")
        self._functions[url] = function
        return url

    def find(self, config: Tree) -> Function | None:
        """The function that a ``clientConfig`` leads to; None where it leads elsewhere."""
        return self._functions.get(config.get("url", ""))
