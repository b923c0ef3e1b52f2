"""What goes wrong where the control plane is the client: calls of webhooks and of converters.

Upstream: apiserver/pkg/util/webhook; the words are those of Go's HTTP client.
"""

from urllib.parse import urlsplit

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree
from fakekube.faults.plan import Faults
from fakekube.webhooks.client import CallError, url_of
from fakekube.webhooks.statuses import unstructured
from fakekube.webhooks.transport import Answer

HTTPS_PORT = 443


class CallFaults:
    """Looks at each call. It is a ``CallFault`` of ``webhooks/callables.py``."""

    def __init__(self, faults: Faults) -> None:
        self._faults = faults

    def __call__(self, name: str, config: Tree, timeout_seconds: int) -> None:
        """Raises CallError where the call meets a fault."""
        fault = self._faults.of_calls(name)
        if fault is None:
            return
        url = url_of(config, timeout_seconds)
        if fault.rule.webhook == "error":
            raise CallError(unstructured(Answer(500, {"content-type": "text/plain"}, b"")))
        if fault.rule.webhook == "timeout":
            raise CallError(f"Post {go_quote(url)}: context deadline exceeded")
        parts = urlsplit(url)
        raise CallError(
            f"Post {go_quote(url)}: dial tcp {parts.hostname}:{parts.port or HTTPS_PORT}: connect: connection refused")
