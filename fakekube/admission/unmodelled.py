"""Warnings of what is stored and has no effect here, for those who ask for them.

A fake says what it does not do, where the user sees it: an object that nobody acts on, or a field
of one, is answered with a Warning header. The option ``warn_unmodelled`` adds this plugin to the
chain; it is off by default, so that answers are upstream's. There is no counterpart upstream. What
is modelled in part is told in ``docs/coverage.md`` alone.
"""

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from fakekube.admission.plugin import Plugin
from fakekube.apimachinery.types import Tree
from fakekube.registry.attributes import Attributes
from fakekube.registry.kind import Kind

KINDS: Mapping[tuple[str, str], str] = MappingProxyType({
    ("flowcontrol.apiserver.k8s.io", "flowschemas"): "no request is queued or refused by priority and fairness",
    ("flowcontrol.apiserver.k8s.io", "prioritylevelconfigurations"): "no request is queued or refused by priority and fairness",
    ("networking.k8s.io", "ingresses"): "no controller routes traffic by it",
    ("networking.k8s.io", "networkpolicies"): "no traffic is filtered by it",
    ("storage.k8s.io", "volumeattachments"): "volumes are never attached or mounted by a driver",
    ("storagemigration.k8s.io", "storageversionmigrations"): "nothing is migrated",
})
"""Kinds that nobody acts on, by group and resource, and what therefore does not happen."""

FIELDS: Mapping[tuple[str, str], Mapping[str, str]] = MappingProxyType({
    ("", "services"): {"spec.externalIPs": "no traffic is routed by it"},
})
"""Fields that nobody acts on, by group and resource of their kind."""

LOAD_BALANCER = "spec.type: nothing gives a Service of type LoadBalancer an address"

POD_FIELDS: Mapping[str, str] = MappingProxyType({
    "volumes[*].hostPath": "containers see nothing of volumes",
    "volumes[*].image": "containers see nothing of volumes",
    "volumes[*].nfs": "containers see nothing of volumes",
    "containers[*].lifecycle.postStart": "it is not run",
    "initContainers[*].lifecycle.postStart": "it is not run",
})
"""The same of pod specifications, wherever they stand."""


class UnmodelledWarnings(Plugin):
    """Warns of the kinds and fields of the tables above. It refuses nothing."""

    name = "UnmodelledWarnings"

    def handles(self, kind: Kind, operation: str, subresource: str) -> bool:
        """What is created, and changes of what is not its status alone."""
        key = (kind.group, kind.plural)
        known = key in KINDS or key in FIELDS or _is_pod(kind) or bool(kind.pod_template)
        return known and operation in ("CREATE", "UPDATE") and not subresource

    def validate(self, attrs: Attributes) -> None:
        """Warn."""
        if attrs.obj is not None:
            for text in warnings(attrs.kind, attrs.obj):
                attrs.ctx.warn(text)


def warnings(kind: Kind, obj: Tree) -> Iterator[str]:
    """What of an object has no effect, a sentence each."""
    key = (kind.group, kind.plural)
    if (text := KINDS.get(key)) is not None:
        yield f"fakekube stores this {kind.kind} only: {text}"
    if key == ("", "services") and (obj.get("spec") or {}).get("type") == "LoadBalancer":
        yield f"fakekube: {LOAD_BALANCER}"
    for path, text in FIELDS.get(key, {}).items():
        for where in _set(obj, path.split("."), ""):
            yield f"fakekube stores {where} only: {text}"
    template: Any = obj
    for name in kind.pod_template:
        template = (template or {}).get(name)
    if template and (_is_pod(kind) or kind.pod_template):
        prefix = ".".join((*kind.pod_template, "spec."))
        for path, text in POD_FIELDS.items():
            for where in _set(template.get("spec") or {}, path.split("."), prefix):
                yield f"fakekube stores {where} only: {text}"


def _is_pod(kind: Kind) -> bool:
    return not kind.group and kind.plural == "pods"


def _set(value: Any, path: list[str], before: str) -> Iterator[str]:
    """Where a path leads to something: ``volumes[1].hostPath`` of ``volumes[*].hostPath``."""
    name, every, _ = path[0].partition("[*]")
    found = value.get(name) if isinstance(value, dict) else None
    if not found and found != {}:
        return
    for where, item in ((f"{name}[{number}]", each) for number, each in enumerate(found)) if every else ((name, found),):
        if len(path) == 1:
            yield f"{before}{where}"
        else:
            yield from _set(item, path[1:], f"{before}{where}.")
