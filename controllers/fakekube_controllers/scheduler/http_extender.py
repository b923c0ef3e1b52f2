"""Extenders that are asked over HTTP, as a configuration names them.

The POSTs are sent by the function that the composition hands in (option ``post`` of the context).
Upstream: pkg/scheduler/extender.go, kube-scheduler/extender/v1. Left out: client certificates, and
TLS that trusts any certificate.
"""

import base64
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from fakekube.apimachinery import meta
from fakekube.runtime.context import Context
from fakekube.util.durations import go_nanoseconds
from fakekube_controllers.scheduler.config.model import ConfigurationError, ExtenderConfig
from fakekube_controllers.scheduler.framework.extender import ExtenderError, FilterResult
from fakekube_controllers.scheduler.framework.types import NodeInfo, PodInfo

TIMEOUT_SECONDS = 5.0
OK = 200

Post = Callable[[str, bytes, bytes, float], Awaitable[tuple[int, bytes]]]
"""From a URL, a body of JSON, a bundle of authorities (PEM; empty: the system's) and the most real
seconds to the status and the body of the answer. Raises OSError, whose text says why there is none.
"""


class HTTPExtender:
    """One extender. Raises ConfigurationError for what is not possible here."""

    def __init__(self, ctx: Context, config: ExtenderConfig) -> None:
        post: Post | None = ctx.options.get("post")
        if post is None:
            raise ConfigurationError(f"extender {config.url_prefix}: nothing here sends requests to extenders")
        self._post, self._config = post, config
        self.name, self.weight, self.is_ignorable = config.url_prefix, config.weight, config.ignorable
        self.is_filter, self.is_prioritizer = bool(config.filter_verb), bool(config.prioritize_verb)
        self.is_binder, self.supports_preemption = bool(config.bind_verb), bool(config.preempt_verb)
        self._managed = dict.fromkeys(each.name for each in config.managed_resources)
        self._timeout_seconds = (go_nanoseconds(config.http_timeout) or 0) / 1e9 or TIMEOUT_SECONDS
        self._ca_bundle = self._authorities()

    def _authorities(self) -> bytes:
        tls = self._config.tls_config
        if tls is None:
            return b""
        if tls.cert_file or tls.cert_data or tls.insecure:
            raise ConfigurationError(f"extender {self.name}: client certificates and insecure TLS are not modelled")
        try:
            return base64.b64decode(tls.ca_data) if tls.ca_data else Path(tls.ca_file).read_bytes() if tls.ca_file else b""
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"extender {self.name}: tlsConfig: {error}") from error

    def is_interested(self, pod: PodInfo) -> bool:
        """Whether the pod requests a resource that it manages; without any it manages all pods."""
        if not self._managed:
            return True
        spec = pod.pod["spec"]
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            resources = container.get("resources") or {}
            if any(name in self._managed for part in ("requests", "limits") for name in resources.get(part) or ()):
                return True
        return False

    async def filter(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> FilterResult:
        """Which nodes the pod fits."""
        answer = await self._send(self._config.filter_verb, self._arguments(pod, nodes))
        by_name = {node.name: node for node in nodes}
        names = answer.get("NodeNames") if self._config.node_cache_capable else None
        if names is None:
            names = [meta.name_of(each) for each in (answer.get("Nodes") or {}).get("items") or ()]
        for name in names:
            if name not in by_name:
                raise ExtenderError(
                    f'extender "{self.name}" claims a filtered node "{name}" which is not found in the input node list')
        return FilterResult(
            [by_name[name] for name in names], answer.get("FailedNodes") or {}, answer.get("FailedAndUnresolvableNodes") or {})

    async def prioritize(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> Mapping[str, int]:
        """Scores from 0 to 10 by the node's name, without the weight."""
        listed = await self._sent(self._config.prioritize_verb, self._arguments(pod, nodes))
        try:
            return {str(each["Host"]): int(each["Score"]) for each in listed}
        except (TypeError, KeyError, ValueError) as error:
            raise ExtenderError(f"extender {self.name}: the answer is no list of hosts with scores") from error

    async def bind(self, pod: PodInfo, node_name: str) -> None:
        """Bind the pod."""
        await self._send(self._config.bind_verb, {
            "PodName": meta.name_of(pod.pod), "PodNamespace": meta.namespace_of(pod.pod), "PodUID": pod.uid,
            "Node": node_name})

    async def process_preemption(
        self, pod: PodInfo, victims: Mapping[str, Sequence[PodInfo]], violations: Mapping[str, int],
    ) -> Mapping[str, Sequence[PodInfo]]:
        """The candidates for preemption that remain: victims by the node's name."""
        key = "NodeNameToMetaVictims" if self._config.node_cache_capable else "NodeNameToVictims"
        answer = await self._send(self._config.preempt_verb, {"Pod": pod.pod, key: {
            name: {"Pods": [self._victim(each) for each in pods], "NumPDBViolations": violations.get(name, 0)}
            for name, pods in victims.items()}})
        kept: dict[str, Sequence[PodInfo]] = {}
        for name, each in (answer.get("NodeNameToMetaVictims") or {}).items():
            known = {pod.uid: pod for pod in victims.get(name, ())}
            uids = [one.get("UID") for one in (each or {}).get("Pods") or ()]
            if any(uid not in known for uid in uids):
                raise ExtenderError(f"extender: {self.name} claims to preempt a pod that is not on node {name}")
            kept[name] = [known[uid] for uid in uids]
        return kept

    def _victim(self, pod: PodInfo) -> Any:
        return {"UID": pod.uid} if self._config.node_cache_capable else pod.pod

    def _arguments(self, pod: PodInfo, nodes: Sequence[NodeInfo]) -> dict[str, Any]:
        if self._config.node_cache_capable:
            return {"Pod": pod.pod, "Nodes": None, "NodeNames": [node.name for node in nodes]}
        return {"Pod": pod.pod, "Nodes": {"metadata": {}, "items": [node.node for node in nodes]}, "NodeNames": None}

    async def _send(self, verb: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """The answer, an object without an error. Raises ExtenderError."""
        answer = await self._sent(verb, arguments)
        if not isinstance(answer, dict):
            raise ExtenderError(f"extender {self.name}: the answer to {verb} is no object")
        if answer.get("Error"):
            raise ExtenderError(str(answer["Error"]))
        return answer

    async def _sent(self, verb: str, arguments: dict[str, Any]) -> Any:
        url = f"{self.name.rstrip('/')}/{verb}"
        try:
            status, body = await self._post(url, orjson.dumps(arguments), self._ca_bundle, self._timeout_seconds)
        except OSError as error:
            raise ExtenderError(f'Post "{url}": {error}') from error
        if status != OK:
            raise ExtenderError(f"failed {verb} with extender at URL {url}, code {status}")
        try:
            return orjson.loads(body)
        except ValueError as error:
            raise ExtenderError(f"extender {self.name}: the answer to {verb} is no JSON") from error
