"""What a fieldSelector may name, kind by kind. Upstream: the conversion.go and strategy.go of each kind."""

from collections.abc import Callable, Mapping

from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import dig
from fakekube.registry.kind import Selectable

UNSUPPORTED = "field label not supported: {label}"

EVENT_OBJECT_FIELDS = ("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath")


def selectable(
    *labels: str, unknown: str = UNSUPPORTED, aliases: Mapping[str, str] | None = None,
    special: Mapping[str, Callable[[Tree], str]] | None = None,
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

    return Selectable(tuple(dict.fromkeys([*labels, *special])), values, aliases or {}, unknown)


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)


def _flag(*path: str) -> Callable[[Tree], str]:
    return lambda obj: "true" if dig(obj, *path) else "false"


def _number(*path: str) -> Callable[[Tree], str]:
    return lambda obj: str(dig(obj, *path) or 0)


def _pod_ip(obj: Tree) -> str:
    addresses = dig(obj, "status", "podIPs") or [{}]
    return str(addresses[0].get("ip", ""))


def _event_source(obj: Tree) -> str:
    return str(dig(obj, "source", "component") or obj.get("reportingComponent", ""))


POD = selectable(
    "spec.nodeName", "spec.restartPolicy", "spec.schedulerName", "spec.serviceAccountName", "status.phase",
    "status.nominatedNodeName", aliases={"spec.host": "spec.nodeName"},
    special={
        "spec.hostNetwork": _flag("spec", "hostNetwork"),
        "status.podIP": _pod_ip,
        "status.podIPs": lambda _obj: "",  # accepted, and never set
    },
)  # fmt: skip
NODE = selectable(special={"spec.unschedulable": _flag("spec", "unschedulable")})
NAMESPACE = selectable("status.phase")
SECRET = selectable("type")
SERVICE = selectable("spec.clusterIP", "spec.type")
REPLICATION_CONTROLLER = selectable(special={"status.replicas": _number("status", "replicas")})
EVENT = selectable(
    *(f"involvedObject.{name}" for name in EVENT_OBJECT_FIELDS), "reason", "reportingComponent", "type",
    special={"source": _event_source},
)  # fmt: skip
# The names of events.k8s.io stand for those of the core group, which are not accepted themselves.
EVENT_OF_GROUP = Selectable(
    ("reason", "type"),
    EVENT.values,
    {f"regarding.{name}": f"involvedObject.{name}" for name in EVENT_OBJECT_FIELDS}
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
