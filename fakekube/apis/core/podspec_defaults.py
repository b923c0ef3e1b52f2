"""What the server fills into a pod's spec, wherever it stands: in a Pod or in the template of a
workload.

Every function changes its argument in place and leaves alone what is there, so that a second run
changes nothing.
Upstream: pkg/apis/core/v1/{defaults,zz_generated.defaults}.go and pkg/util/parsers. Left out:
defaults of fields behind gates that are off (the protocol of HTTP probes).
"""


from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.types import Tree

DEFAULT_MODE = 0o644
IDENTIFIER = "[a-f0-9]{64}"
"""What is the number of an image, and no name."""
MAX_REPOSITORY_LENGTH = 255
TOKEN_EXPIRATION_SECONDS = 3600
GRACE_PERIOD_SECONDS = 30
REPOSITORY_PART = "[a-z0-9]+(?:(?:[._]|__|[-]+)[a-z0-9]+)*"
TAG = r"[\w][\w.-]{0,127}"
DIGEST = "[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,}"
MODED_VOLUMES = ("secret", "configMap", "downwardAPI", "projected")
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
VOLUME_FIELDS: dict[str, dict[str, str | bool]] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "fsType": "ext4", "readOnly": False, "kind": "Shared"},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}


def default_pod_spec(spec: Tree) -> None:
    """Fill a pod spec; what only a Pod of its own gets is in ``default_pod``."""
    for container in spec.get("containers") or ():
        default_container(container)
    if "initContainers" in spec:
        for container in spec["initContainers"]:
            default_container(container)
    if "ephemeralContainers" in spec:
        for container in spec["ephemeralContainers"]:
            default_container(container)
    if "volumes" in spec:
        for volume in spec["volumes"]:
            _volume(volume)
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    spec.setdefault("restartPolicy", "Always")
    spec.setdefault("terminationGracePeriodSeconds", GRACE_PERIOD_SECONDS)
    spec.setdefault("dnsPolicy", "ClusterFirst")
    spec.setdefault("schedulerName", "default-scheduler")
    if "securityContext" not in spec:
        spec["securityContext"] = {}
    if "overhead" in spec:
        round_amounts(spec["overhead"])
    if "resources" in spec:
        _resources(spec["resources"])


def default_template(template: Tree) -> None:
    """Fill the pod spec of a pod template."""
    template.setdefault("metadata", {})
    default_pod_spec(template.setdefault("spec", {"containers": None}))


def default_pod(spec: Tree) -> None:
    """Fill what a Pod gets and a template does not. Runs before ``default_pod_spec``."""
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        spec["terminationGracePeriodSeconds"] = 1
    host_network = spec.get("hostNetwork", False)
    for field in ("containers", "initContainers"):
        for container in spec.get(field) or ():
            resources = container.get("resources")
            if resources and (limits := resources.get("limits")):
                resources["requests"] = {**limits, **resources.get("requests", {})}
            if host_network:
                for port in container.get("ports", ()):
                    port.setdefault("hostPort", port.get("containerPort", 0))
    spec.setdefault("enableServiceLinks", True)


def default_container(container: Tree) -> None:
    """Fill a container of any of the three lists."""
    if "imagePullPolicy" not in container:
        container["imagePullPolicy"] = pull_policy(container.get("image", ""))
    container.setdefault("terminationMessagePath", "/dev/termination-log")
    container.setdefault("terminationMessagePolicy", "File")
    if container.setdefault("resources", {}):
        _resources(container["resources"])
    if "ports" in container:
        for port in container["ports"]:
            port.setdefault("protocol", "TCP")
    if "env" in container:
        for variable in container["env"]:
            if "valueFrom" in variable:
                _value_from(variable["valueFrom"])
    for name in PROBES:
        if name in container:
            _probe(container[name])
    if "lifecycle" in container:
        for handler in container["lifecycle"].values():
            if isinstance(handler, dict) and "httpGet" in handler:
                _http_get(handler["httpGet"])


def pull_policy(image: str) -> str:
    """Always for the tag latest, also for that of an image that names neither tag nor digest; else
    IfNotPresent.
    """
    _, colon, tag = image.rpartition(":")
    if colon and tag != "latest" and "/" not in tag and "@" not in image:
        return "IfNotPresent"  # it is another tag, or no image at all
    return "Always" if _tag(image) == "latest" else "IfNotPresent"


def _tag(image: str) -> str:
    """The tag of an image, latest when it has none, and nothing for what is no image."""
    rest, at, digest = image.partition("@")
    if at and not names.matches(DIGEST, digest):
        return ""
    slash = rest.rfind("/")
    colon = rest.find(":", slash + 1)
    name, tag = (rest[:colon], rest[colon + 1:]) if colon >= 0 else (rest, "")
    if colon >= 0 and not names.matches(TAG, tag):
        return ""
    parts = name.split("/")
    in_library = len(parts) == 1  # whose name upstream completes
    if in_library and names.matches(IDENTIFIER, image):
        return ""
    if len(parts) > 1 and (any(mark in parts[0] for mark in ".:") or parts[0] == "localhost" or not parts[0].islower()):
        parts = parts[1:]
    if len("/".join(["library", *parts] if in_library else parts)) > MAX_REPOSITORY_LENGTH:
        return ""
    if not all(names.matches(REPOSITORY_PART, part) for part in parts):
        return ""
    return tag or ("" if at else "latest")


def _resources(resources: Tree) -> None:
    if "limits" in resources:
        round_amounts(resources["limits"])
    if "requests" in resources:
        round_amounts(resources["requests"])


def round_amounts(amounts: dict[str, str]) -> None:
    """Amounts of resources are whole thousandths."""
    for name, text in amounts.items():
        if (text[-1] in "un" or "e-" in text) and (rounded := quantity.round_up_milli(text)) != text:
            amounts[name] = rounded


def _value_from(source: Tree) -> None:
    if "fieldRef" in source:
        source["fieldRef"].setdefault("apiVersion", "v1")
    elif "resourceFieldRef" in source:
        source["resourceFieldRef"].setdefault("divisor", "0")
    elif "fileKeyRef" in source:
        source["fileKeyRef"].setdefault("optional", False)


def _probe(probe: Tree) -> None:
    probe.setdefault("timeoutSeconds", 1)
    probe.setdefault("periodSeconds", 10)
    probe.setdefault("successThreshold", 1)
    probe.setdefault("failureThreshold", 3)
    if "httpGet" in probe:
        _http_get(probe["httpGet"])
    if "grpc" in probe and probe["grpc"].get("service") is None:
        probe["grpc"]["service"] = ""


def _http_get(action: Tree) -> None:
    action.setdefault("path", "/")
    action.setdefault("scheme", "HTTP")


def _volume(volume: Tree) -> None:
    for source in volume:
        if source != "name":
            break
    else:
        volume["emptyDir"] = {}
        return
    value = volume[source]
    if source in MODED_VOLUMES:
        value.setdefault("defaultMode", DEFAULT_MODE)
        if source == "projected":
            value["sources"] = value.get("sources") or None
            for projection in value.get("sources") or ():
                _projection(projection)
        elif source == "downwardAPI":
            for item in value.get("items", ()):
                _value_from(item)
    elif source in VOLUME_FIELDS:
        for name, default in VOLUME_FIELDS[source].items():
            value.setdefault(name, default)
    elif source == "ephemeral" and "volumeClaimTemplate" in value:
        claim = value["volumeClaimTemplate"].setdefault("spec", {})
        claim.setdefault("volumeMode", "Filesystem")
        _resources(claim.setdefault("resources", {}))
    elif source == "image":
        value.setdefault("pullPolicy", pull_policy(value.get("reference", "")))


def _projection(projection: Tree) -> None:
    if "serviceAccountToken" in projection:
        projection["serviceAccountToken"].setdefault("expirationSeconds", TOKEN_EXPIRATION_SECONDS)
    elif "downwardAPI" in projection:
        for item in projection["downwardAPI"].get("items", ()):
            _value_from(item)
