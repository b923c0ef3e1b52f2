"""What a fieldSelector may name, kind by kind. Upstream: the conversion.go and strategy.go of each kind."""

from collections.abc import Callable, Mapping
from sys import intern

from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import dig
from fakekube.registry.kind import Selectable

UNSUPPORTED = "field label not supported: {label}"

_INVOLVED = tuple(
    (name, f"involvedObject.{name}")
    for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
)


def selectable(
    *labels: str, unknown: str = UNSUPPORTED, special: Mapping[str, Callable[[Tree], str]] | None = None,
) -> Selectable:  # fmt: skip
    """Labels that are paths of fields, but for the ``special`` ones, which name a function each.

    ``unknown`` may hold ``{gvk}`` beside ``{label}``; the catalog fills it in.
    """
    special = special or {}
    paths = tuple((label, tuple(label.split("."))) for label in labels if label not in special)

    def values(obj: Tree) -> dict[str, str]:
        found = {label: _text(dig(obj, *path)) for label, path in paths}
        for label, function in special.items():
            found[label] = function(obj)
        return found

    return Selectable(tuple(dict.fromkeys([*labels, *special])), values, {}, unknown)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _flag(*path: str) -> Callable[[Tree], str]:
    return lambda obj: "true" if dig(obj, *path) else "false"


def _number(*path: str) -> Callable[[Tree], str]:
    return lambda obj: str(dig(obj, *path) or 0)


def _pod_values(obj: Tree) -> dict[str, str]:
    """Written out, as it runs on every write of every pod. What thousands of pods say is one text: each record keeps its own."""
    spec, status = obj.get("spec") or {}, obj.get("status") or {}
    addresses = status.get("podIPs")
    return {
        "spec.nodeName": intern(spec.get("nodeName", "")),
        "spec.restartPolicy": intern(spec.get("restartPolicy", "")),
        "spec.schedulerName": intern(spec.get("schedulerName", "")),
        "spec.serviceAccountName": intern(spec.get("serviceAccountName", "")),
        "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
        "status.phase": intern(status.get("phase", "")),
        "status.podIP": addresses[0].get("ip", "") if addresses else "",
        "status.podIPs": "",  # accepted, and never set
        "status.nominatedNodeName": intern(status.get("nominatedNodeName", "")),
    }


def _event_values(obj: Tree) -> dict[str, str]:
    """Written out, as it runs on every write of every event; texts that many share are one, as above."""
    get, reporter = (obj.get("involvedObject") or {}).get, intern(obj.get("reportingComponent", ""))
    source = (obj.get("source") or {}).get("component")
    return {
        "involvedObject.kind": intern(get("kind", "")),
        "involvedObject.namespace": intern(get("namespace", "")),
        "involvedObject.name": get("name", ""),
        "involvedObject.uid": get("uid", ""),
        "involvedObject.apiVersion": intern(get("apiVersion", "")),
        "involvedObject.resourceVersion": get("resourceVersion", ""),
        "involvedObject.fieldPath": intern(get("fieldPath", "")),
        "reason": intern(obj.get("reason", "")),
        "reportingComponent": reporter,
        "source": intern(source) if source else reporter,
        "type": intern(obj.get("type", "")),
    }


POD = Selectable(
    (
        "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "spec.hostNetwork",
        "status.phase", "status.podIP", "status.podIPs", "status.nominatedNodeName",
    ),
    _pod_values, {"spec.host": "spec.nodeName"}, UNSUPPORTED,
)  # fmt: skip
NODE = selectable(special={"spec.unschedulable": _flag("spec", "unschedulable")})
NAMESPACE = selectable("status.phase")
SECRET = selectable("type")
SERVICE = selectable("spec.clusterIP", "spec.type")
REPLICATION_CONTROLLER = selectable(special={"status.replicas": _number("status", "replicas")})
EVENT = Selectable(
    (*(label for _, label in _INVOLVED), "reason", "reportingComponent", "source", "type"), _event_values, {}, UNSUPPORTED,
)  # fmt: skip
# The names of events.k8s.io stand for those of the core group, which are not accepted themselves.
EVENT_OF_GROUP = Selectable(
    ("reason", "type"),
    EVENT.values,
    {f"regarding.{name}": label for name, label in _INVOLVED}
    | {"reportingController": "reportingComponent"},
    UNSUPPORTED,
)
JOB = selectable(
    unknown='field label "{label}" not supported for Job',
    special={"status.successful": _number("status", "succeeded")},
)
SIGNER = selectable("spec.signerName")
POD_CERTIFICATE_REQUEST = selectable("spec.signerName", "spec.podName", "spec.nodeName")
RESOURCE_SLICE = selectable(
    "spec.nodeName", "spec.driver", unknown="field label not supported for {gvk}: {label}",
)  # fmt: skip
