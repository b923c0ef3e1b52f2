"""Fields of a pod spec that the server forgets while their feature gate is off and no stored object
uses them.

Upstream: pkg/api/pod/util.go, dropDisabledFields. Gates that are on in every release served here
are left out.
"""

from collections.abc import Callable, Iterator, Sequence

from fakekube.apimachinery.types import Tree

Gate = Callable[[str], bool]
SPEC_FIELDS = {
    "schedulingGroup": "GenericWorkload",
    "workloadRef": "GenericWorkload",
    "evictionResponders": "EvictionRequestAPI",
    "resources": "PodLevelResources",
    "hostnameOverride": "HostnameOverride",
}
FILES_OF = frozenset(("secret", "configMap", "downwardAPI", "projected"))
MOUNT_FIELD = "bindMountOptions"
HTTP_HOLDERS = ("livenessProbe", "readinessProbe", "startupProbe")
HOOKS = ("postStart", "preStop")
RARE_HOLDERS = frozenset(("lifecycle", "restartPolicyRules", *HTTP_HOLDERS))


def drop_disabled(spec: Tree, old: Tree | None, gate: Gate) -> None:
    """Remove fields of features that ``gate`` says are off from ``spec``, unless ``old`` uses them
    too.
    """
    before = old or {}
    if not SPEC_FIELDS.keys().isdisjoint(spec):
        for field, feature in SPEC_FIELDS.items():
            if field in spec and field not in before and not gate(feature):
                del spec[field]
    if "topologySpreadConstraints" in spec and not gate("MatchLabelKeysInPodTopologySpread"):
        _drop_label_keys(spec, before)
    no_files = not gate("EnvFiles")
    for container in _containers(spec):
        if no_files and "env" in container:
            _drop_file_keys(container, before)
        if "volumeMounts" in container:
            for mount in container["volumeMounts"]:
                if MOUNT_FIELD in mount and not gate("VolumeBindMountOptions"):
                    del mount[MOUNT_FIELD]
        if not RARE_HOLDERS.isdisjoint(container):
            _drop_from_holders(container, before, gate)
    if "volumes" in spec:
        for volume in spec["volumes"]:
            if "emptyDir" in volume and "mode" in volume["emptyDir"] and not gate("EmptyDirVolumeMode"):
                del volume["emptyDir"]["mode"]
        if not gate("AtomicWriteVolumeUserFields"):
            _drop_users(spec, before)


def _drop_users(spec: Tree, before: Tree) -> None:
    found = _users(spec["volumes"])
    if found and not _users(before.get("volumes") or ()):
        for holder, field in found:
            del holder[field]


def _users(volumes: Sequence[Tree]) -> list[tuple[Tree, str]]:
    """What says to whom files of a volume belong, and in which field."""
    found: list[tuple[Tree, str]] = []
    for volume in volumes:
        for name, files in volume.items():
            if name not in FILES_OF:
                continue
            if "defaultUser" in files:
                found.append((files, "defaultUser"))
            sources = (files.get("sources") or ()) if name == "projected" else ({name: files},)
            for part in [part for source in sources for part in source.values()]:
                if "user" in part:
                    found.append((part, "user"))
                if "items" in part:
                    found += [(item, "user") for item in part["items"] if "user" in item]
    return found


def _drop_from_holders(container: Tree, before: Tree, gate: Gate) -> None:
    if "lifecycle" in container:
        if "stopSignal" in container["lifecycle"]:
            _drop_stop_signal(container, before, gate)
        for name in HOOKS:
            if name in container["lifecycle"]:
                _drop_probe_fields(container["lifecycle"][name], gate)
    for name in HTTP_HOLDERS:
        if name in container:
            _drop_probe_fields(container[name], gate)
    if "restartPolicyRules" in container:
        _drop_restart_rules(container, before, gate)


def _containers(spec: Tree) -> Sequence[Tree]:
    containers = spec.get("containers") or ()
    if "initContainers" in spec or "ephemeralContainers" in spec:
        return [*containers, *(spec.get("initContainers") or ()), *(spec.get("ephemeralContainers") or ())]
    return containers


def _drop_label_keys(spec: Tree, before: Tree) -> None:
    if any("matchLabelKeys" in constraint for constraint in before.get("topologySpreadConstraints", ())):
        return
    for constraint in spec.get("topologySpreadConstraints", ()):
        constraint.pop("matchLabelKeys", None)


def _drop_file_keys(container: Tree, before: Tree) -> None:
    if not any("fileKeyRef" in source for each in _containers(before) for source in _sources(each)):
        for source in _sources(container):
            source.pop("fileKeyRef", None)


def _sources(container: Tree) -> Iterator[Tree]:
    for variable in container.get("env", ()):
        if "valueFrom" in variable:
            yield variable["valueFrom"]


def _drop_stop_signal(container: Tree, before: Tree, gate: Gate) -> None:
    used = any("stopSignal" in each.get("lifecycle", ()) for each in _containers(before))
    if not used and not gate("ContainerStopSignals"):
        container["lifecycle"] = {name: value for name, value in container["lifecycle"].items() if name != "stopSignal"}


def _drop_restart_rules(container: Tree, before: Tree, gate: Gate) -> None:
    used = any("restartPolicyRules" in each for each in _containers(before))
    if not used and not gate("ContainerRestartRules"):
        del container["restartPolicyRules"]


def _drop_probe_fields(probe: Tree, gate: Gate) -> None:
    if "protocol" in probe.get("httpGet", ()) and not gate("H2CContainerProbe"):
        del probe["httpGet"]["protocol"]
    if "mode" in probe.get("grpc", ()) and not gate("GRPCContainerProbeTLS"):
        del probe["grpc"]["mode"]
