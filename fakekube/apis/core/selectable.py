"""What a fieldSelector may name of pods and events: written out, as it runs on every write of each
of them.

What thousands of objects say is one text, through ``intern``: each record keeps its own reference.
Upstream: pkg/registry/core/pod/strategy.go and event/strategy.go, pkg/apis/core/v1/conversion.go.
"""

from sys import intern

from fakekube.apimachinery.types import Tree
from fakekube.apis.selecting import UNSUPPORTED
from fakekube.registry.kind import Selectable

_INVOLVED = tuple(
    (name, f"involvedObject.{name}")
    for name in ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")
)


def _pod_values(obj: Tree) -> dict[str, str]:
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
