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
CallFault = Callable[[str, Tree, int], None]
"""Given the name of a webhook, or the kind whose objects are converted (``Web.example.com``), the
clientConfig and the seconds that a call may take: raises CallError where the call is to go wrong.
"""
ConversionFunction = Callable[[Tree, str], Tree]
"""Makes of an object, its own to change, what it is in another ``apiVersion`` of its group. What it
is given was not looked at before: it raises what Python raises (TypeError, AttributeError,
LookupError, ValueError) for an object of another shape.
"""


class Callables:
    """The functions of one cluster, by the URLs that lead to them."""

    def __init__(self) -> None:
        self._functions: dict[str, Function] = {}
        self._conversions: dict[str, ConversionFunction] = {}
        self.fault: CallFault | None = None

    def check(self, name: str, config: Tree, timeout_seconds: int) -> None:
        """Let a call go wrong that somebody wants to. Raises CallError then."""
        if self.fault is not None:
            self.fault(name, config, timeout_seconds)

    def add(self, name: str, function: Function) -> str:
        """Let a function be called under a name; its URL.

        ValueError when there is one of that name.
        """
        url = f"https://{HOST}/{quote(name)}"
        if url in self._functions:
            raise ValueError(f"there is a webhook {name!r} already")
        self._functions[url] = function
        return url

    def add_conversion(self, name: str, function: ConversionFunction) -> None:
        """Let a function be called as the conversion webhook of a name; see ``conversion_url``."""
        self._conversions[conversion_url(name)] = function

    def find_conversion(self, config: Tree) -> ConversionFunction | None:
        """The same as ``find`` for a conversion."""
        return self._conversions.get(config.get("url", ""))

    def find(self, config: Tree) -> Function | None:
        """The function that a ``clientConfig`` leads to; None where it leads elsewhere."""
        return self._functions.get(config.get("url", ""))


def conversion_url(name: str) -> str:
    """The URL that leads to the conversions of a definition, ``webs.example.com``."""
    return f"https://{HOST}/convert/{quote(name)}"
