"""How the kinds of the core group print; pods are in ``pod_printer.py``."""

from fakekube.apimachinery.ages import UNKNOWN, since
from fakekube.apimachinery.types import Json, Tree
from fakekube.apis.printing import (
    AGE,
    NAME,
    NONE,
    UNSET,
    column,
    condition,
    container_images,
    container_names,
    containers_of,
    dig,
    format_labels,
    table,
    timed,
)  # fmt: skip
from fakekube.registry.kind import Printer

ROLE_PREFIX = "node-role.kubernetes.io/"
ROLE_LABEL = "kubernetes.io/role"
CLASS_ANNOTATION = "volume.beta.kubernetes.io/storage-class"
ACCESS_MODES = {"ReadWriteOnce": "RWO", "ReadOnlyMany": "ROX", "ReadWriteMany": "RWX", "ReadWriteOncePod": "RWOP"}


# Configuration


def _config_map_data(obj: Tree) -> int:
    return len(obj.get("data") or ()) + len(obj.get("binaryData") or ())


def _quota(obj: Tree, *, limits: bool) -> str:
    hard, used = dig(obj, "status", "hard") or {}, dig(obj, "status", "used") or {}
    names = [name for name in sorted(hard) if name.startswith("limits.") == limits]
    return ", ".join(f"{name}: {used.get(name, '0')}/{hard[name]}" for name in names)


CONFIG_MAP = table(NAME, column("Data", _config_map_data), AGE)
SECRET = table(NAME, column("Type", "type"), column("Data", lambda obj: len(obj.get("data") or ())), AGE)
RESOURCE_QUOTA = table(
    NAME,
    column("Request", lambda obj: _quota(obj, limits=False)),
    column("Limit", lambda obj: _quota(obj, limits=True)),
    AGE,
)


# Cluster


def _node_status(obj: Tree) -> str:
    ready = condition(obj, "Ready")
    word = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    return f"{word},SchedulingDisabled" if dig(obj, "spec", "unschedulable") else word


def _node_roles(obj: Tree) -> str:
    roles: dict[str, None] = {}
    for key, value in (dig(obj, "metadata", "labels") or {}).items():
        if key.startswith(ROLE_PREFIX) and key != ROLE_PREFIX:
            roles[key.removeprefix(ROLE_PREFIX)] = None
        elif key == ROLE_LABEL and value:
            roles[value] = None
    return ",".join(sorted(roles)) or NONE


def _node_address(obj: Tree, kind: str) -> str:
    addresses = dig(obj, "status", "addresses") or ()
    return next((each.get("address", "") for each in addresses if each.get("type") == kind), NONE)


def _kernel(obj: Tree) -> str:
    info = dig(obj, "status", "nodeInfo") or {}
    kernel = info.get("kernelVersion") or UNKNOWN
    return f"{kernel} ({info['architecture']})" if info.get("architecture") else kernel


def _component(obj: Tree, field: str) -> str:
    healthy = next((each for each in obj.get("conditions") or () if each.get("type") == "Healthy"), None)
    if field != "status":
        return str((healthy or {}).get(field, ""))
    if healthy is None:
        return "Unknown"
    return "Healthy" if healthy.get("status") == "True" else "Unhealthy"


NODE = table(
    NAME,
    column("Status", _node_status),
    column("Roles", _node_roles),
    AGE,
    column("Version", "status.nodeInfo.kubeletVersion"),
    column("Internal-IP+", lambda obj: _node_address(obj, "InternalIP")),
    column("External-IP+", lambda obj: _node_address(obj, "ExternalIP")),
    column("OS-Image+", lambda obj: dig(obj, "status", "nodeInfo", "osImage") or UNKNOWN),
    column("Kernel-Version+", _kernel),
    column("Container-Runtime+", lambda obj: dig(obj, "status", "nodeInfo", "containerRuntimeVersion") or UNKNOWN),
)
COMPONENT_STATUS = table(
    NAME,
    column("Status", lambda obj: _component(obj, "status")),
    column("Message", lambda obj: _component(obj, "message")),
    column("Error", lambda obj: _component(obj, "error")),
)


# Network


def load_balancer(ingresses: list[Tree] | None) -> str:
    """The addresses of a load balancer, sorted, each once."""
    found = [each.get("ip") or each.get("hostname") for each in ingresses or ()]
    return ",".join(sorted(dict.fromkeys(address for address in found if address)))


def _external_ip(obj: Tree) -> str:
    spec = obj.get("spec") or {}
    external = spec.get("externalIPs") or []
    match spec.get("type"):
        case "ClusterIP" | "NodePort":
            return ",".join(external) or NONE
        case "LoadBalancer":
            balancer = load_balancer(dig(obj, "status", "loadBalancer", "ingress"))
            return ",".join(filter(None, [balancer, *external])) or "<pending>"
        case "ExternalName":
            return str(spec.get("externalName", ""))
    return UNKNOWN


def _service_ports(obj: Tree) -> str:
    pieces = []
    for port in dig(obj, "spec", "ports") or ():
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        pieces.append(f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}")
    return ",".join(pieces) or NONE


def _endpoints(obj: Tree) -> str:
    subsets = obj.get("subsets") or ()
    if not subsets:
        return NONE
    shown: list[str] = []
    for subset in subsets:
        addresses = [address.get("ip", "") for address in subset.get("addresses") or ()]
        for port in subset.get("ports") or (None,):
            shown += addresses if port is None else [_host_port(address, port.get("port", 0)) for address in addresses]
    text = ",".join(shown[:3])
    return f"{text} + {len(shown) - 3} more..." if len(shown) > 3 else text


def _host_port(address: str, port: int) -> str:
    return f"[{address}]:{port}" if ":" in address else f"{address}:{port}"


SERVICE = table(
    NAME,
    column("Type", "spec.type"),
    column("Cluster-IP", lambda obj: (dig(obj, "spec", "clusterIPs") or [NONE])[0]),
    column("External-IP", _external_ip),
    column("Port(s)", _service_ports),
    AGE,
    column("Selector+", lambda obj: format_labels(dig(obj, "spec", "selector"))),
)
ENDPOINTS = table(NAME, column("Endpoints", _endpoints), AGE)


# Workloads

POD_TEMPLATE = table(
    NAME,
    column("Containers", lambda obj: container_names(dig(obj, "template", "spec", "containers"))),
    column("Images", lambda obj: container_images(dig(obj, "template", "spec", "containers"))),
    column("Pod Labels", lambda obj: format_labels(dig(obj, "template", "metadata", "labels"))),
)
REPLICATION_CONTROLLER = table(
    NAME,
    column("Desired:integer", "spec.replicas", 0),
    column("Current:integer", "status.replicas", 0),
    column("Ready:integer", "status.readyReplicas", 0),
    AGE,
    *containers_of("spec.template.spec"),
    column("Selector+", lambda obj: format_labels(dig(obj, "spec", "selector"))),
)


# Volumes


def _access_modes(modes: list[str] | None) -> str:
    return ",".join(short for mode, short in ACCESS_MODES.items() if mode in (modes or ()))


def _storage_class(obj: Tree) -> Json:
    annotations = dig(obj, "metadata", "annotations") or {}
    return annotations.get(CLASS_ANNOTATION) or dig(obj, "spec", "storageClassName") or ""


def _phase(obj: Tree) -> Json:
    return "Terminating" if dig(obj, "metadata", "deletionTimestamp") else dig(obj, "status", "phase") or ""


def _claim(obj: Tree) -> str:
    claim = dig(obj, "spec", "claimRef")
    return f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else ""


def _bound(obj: Tree) -> bool:
    return bool(dig(obj, "spec", "volumeName"))


PERSISTENT_VOLUME_CLAIM = table(
    NAME,
    column("Status", _phase),
    column("Volume", "spec.volumeName"),
    column("Capacity", lambda obj: (dig(obj, "status", "capacity", "storage") or "0") if _bound(obj) else ""),
    column("Access Modes", lambda obj: _access_modes(dig(obj, "status", "accessModes")) if _bound(obj) else ""),
    column("StorageClass", _storage_class),
    column("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
    AGE,
    column("VolumeMode+", "spec.volumeMode", UNSET),
)
PERSISTENT_VOLUME = table(
    NAME,
    column("Capacity", "spec.capacity.storage", "0"),
    column("Access Modes", lambda obj: _access_modes(dig(obj, "spec", "accessModes"))),
    column("Reclaim Policy", "spec.persistentVolumeReclaimPolicy"),
    column("Status", _phase),
    column("Claim", _claim),
    column("StorageClass", _storage_class),
    column("VolumeAttributesClass", "spec.volumeAttributesClassName", UNSET),
    column("Reason", "status.reason"),
    AGE,
    column("VolumeMode+", "spec.volumeMode", UNSET),
)


# Events


def _first_seen(obj: Tree, now: float) -> str:
    return since(obj.get("firstTimestamp") or obj.get("eventTime"), now)


def _last_seen(obj: Tree, now: float) -> str:
    series = obj.get("series")
    if series is not None:
        return since(series.get("lastObservedTime"), now)
    return since(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else _first_seen(obj, now)


def _count(obj: Tree) -> Json:
    series = obj.get("series")
    return series.get("count", 0) if series is not None else obj.get("count") or 1


def _target(obj: Tree) -> str:
    involved = obj.get("involvedObject") or {}
    kind = involved.get("kind", "").lower()
    return f"{kind}/{involved['name']}" if involved.get("name") else kind


def _source(obj: Tree) -> Json:
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return f"{component}, {instance}" if instance else component


EVENT: Printer = table(
    timed("Last Seen", _last_seen),
    column("Type", "type"),
    column("Reason", "reason"),
    column("Object", _target),
    column("Subobject+", "involvedObject.fieldPath"),
    column("Source+", _source),
    column("Message", lambda obj: obj.get("message", "").strip()),
    timed("First Seen+", _first_seen),
    column("Count+", _count),
    column("Name+", "metadata.name"),
)
