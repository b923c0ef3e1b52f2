"""What a client is told about a pod that is accepted, and probably not what it wanted.

Upstream: pkg/api/pod/warnings.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery import names, quantity
from fakekube.apimachinery.field_errors import go_quote, repetitions
from fakekube.apimachinery.types import Tree
from fakekube.apis.addresses import ip_warnings
from fakekube.apis.core.persistentvolumeclaim import claim_spec_warnings
from fakekube.apis.core.pod_profiles import has_profiles, profile_warnings
from fakekube.apis.core.scheduling_validation import PREFERRED, REQUIRED
from fakekube.apis.core.volume_warnings import LISTED, is_free_of_overlaps, overlap_warnings

CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
DEPRECATED_LABELS = {
    "beta.kubernetes.io/arch": 'deprecated since v1.14; use "kubernetes.io/arch" instead',
    "beta.kubernetes.io/os": 'deprecated since v1.14; use "kubernetes.io/os" instead',
    "failure-domain.beta.kubernetes.io/region": 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
    "failure-domain.beta.kubernetes.io/zone": 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
    "beta.kubernetes.io/instance-type": 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
    "app.kubernetes.io/created-by": "deprecated since v1.9",
    "scheduler.alpha.kubernetes.io/preferAvoidPods": "deprecated since v1.22; use Taints and Tolerations instead",
    "node-role.kubernetes.io/master": 'use "node-role.kubernetes.io/control-plane" instead',
}
DEPRECATED_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
DEPRECATED_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
WARNED_VOLUMES = DEPRECATED_VOLUMES.keys() | {"ephemeral"}
FILES = frozenset((*LISTED, "projected"))
RARE_FIELDS = frozenset(("dnsConfig", "hostAliases", "overhead"))
WARNED_FIELDS = RARE_FIELDS | {"affinity", "imagePullSecrets", "nodeSelector", "topologySpreadConstraints"}
BYTE_RESOURCES = ("memory", "ephemeral-storage")
NO_SELECTOR = "a null labelSelector results in matching no pod"


def pod_warnings(pod: Tree) -> list[str]:
    """About a Pod."""
    spec, annotations = pod["spec"], pod["metadata"].get("annotations", {})
    return [] if has_no_warnings(spec, annotations) else pod_spec_warnings(spec, annotations, "spec", "metadata")


def template_warnings(template: Tree, path: str) -> list[str]:
    """About a pod template at ``path``."""
    spec, annotations = template["spec"], (template.get("metadata") or {}).get("annotations", {})
    if has_no_warnings(spec, annotations):
        return []
    return pod_spec_warnings(spec, annotations, f"{path}.spec", f"{path}.metadata")


def has_no_warnings(spec: Tree, annotations: dict[str, str]) -> bool:
    """Whether there is plainly nothing to say about a pod spec.

    Whoever gets False has to ask ``pod_spec_warnings``.
    """
    if not WARNED_FIELDS.isdisjoint(spec) and not _fields_have_no_warnings(spec):
        return False
    if annotations and (has_profiles(annotations) or not DEPRECATED_ANNOTATIONS.keys().isdisjoint(annotations)):
        return False
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        return False
    for volume in spec.get("volumes", ()):
        for kind, source in volume.items():
            if kind in FILES:
                if (kind == "projected" or "items" in source) and not is_free_of_overlaps(volume):
                    return False
            elif kind in WARNED_VOLUMES:
                return False
    ports: list[Tree] = []
    for field in CONTAINER_LISTS:
        if field in spec:
            for container in spec[field] or ():
                if not _container_has_no_warnings(container):
                    return False
                if "ports" in container:
                    ports += container["ports"]
    return not ports or _ports_have_no_warnings(ports)


def _fields_have_no_warnings(spec: Tree) -> bool:
    """The same about fields that most specs do not have: who pulls images, and where a pod may run.
    """
    if not RARE_FIELDS.isdisjoint(spec):
        return False
    secrets = spec.get("imagePullSecrets")
    if secrets and (len(secrets) > 1 or not secrets[0].get("name")):
        return False
    if "nodeSelector" in spec and not DEPRECATED_LABELS.keys().isdisjoint(spec["nodeSelector"]):
        return False
    for constraint in spec.get("topologySpreadConstraints", ()):
        if "labelSelector" not in constraint or constraint.get("topologyKey") in DEPRECATED_LABELS:
            return False
    affinity = spec.get("affinity", {})
    if "nodeAffinity" in affinity and _node_affinity(affinity["nodeAffinity"], ""):
        return False
    return not any(name in affinity and _pod_affinity(affinity[name], "") for name in ("podAffinity", "podAntiAffinity"))


def _container_has_no_warnings(container: Tree) -> bool:
    """Whether no amount of bytes has a fraction, as canonical texts show by their ends, and no
    variable hides another.
    """
    for amounts in container.get("resources", {}).values():
        for name in BYTE_RESOURCES:
            if name in amounts and (not amounts[name].isalnum() or amounts[name][-1] in "mnu"):
                return False
    variables = container.get("env", ())
    return len(variables) < 2 or len({each.get("name") for each in variables}) == len(variables)


def _ports_have_no_warnings(ports: list[Tree]) -> bool:
    """Whether each port has a number and a name of its own, and none an address."""
    if any("hostIP" in port for port in ports):
        return False
    if len(ports) == 1:
        return True
    numbers = dict.fromkeys([(port.get("containerPort"), port.get("protocol")) for port in ports])
    given = [port["name"] for port in ports if "name" in port]
    return len(numbers) == len(ports) and len(dict.fromkeys(given)) == len(given)


def pod_spec_warnings(spec: Tree, annotations: dict[str, str], path: str, meta_path: str) -> list[str]:
    """All that is said about a pod spec, in order: for those about which there may be something to
    say.
    """
    found = [
        f"{path}.nodeSelector[{key}]: {DEPRECATED_LABELS[key]}"
        for key in spec.get("nodeSelector", ()) if key in DEPRECATED_LABELS
    ]
    affinity = spec.get("affinity", {})
    if "nodeAffinity" in affinity:
        found += _node_affinity(affinity["nodeAffinity"], f"{path}.affinity.nodeAffinity")
    for position, constraint in enumerate(spec.get("topologySpreadConstraints", ())):
        here, key = f"{path}.topologySpreadConstraints[{position}]", constraint.get("topologyKey", "")
        if key in DEPRECATED_LABELS:
            found.append(f"{here}.topologyKey: {key} is {DEPRECATED_LABELS[key]}")
        if "labelSelector" not in constraint:
            found.append(f"{here}.labelSelector: {NO_SELECTOR}")
    for key, text in DEPRECATED_ANNOTATIONS.items():
        if key in annotations:
            found.append(f"{meta_path}.annotations[{key}]: {text}")
    if "volumes" in spec:
        found += _volumes(spec["volumes"], f"{path}.volumes")
    found += _duplicates(spec.get("hostAliases", ()), f"{path}.hostAliases", "ip")
    secrets = spec.get("imagePullSecrets", ())
    found += _duplicates(secrets, f"{path}.imagePullSecrets", "name")
    found += [
        f'{path}.imagePullSecrets[{position}].name: invalid empty name ""'
        for position, secret in enumerate(secrets) if not secret.get("name")
    ]
    found += _fractions(spec.get("overhead", {}), f"{path}.overhead")
    if annotations:
        found += profile_warnings(spec, annotations, meta_path, template=path != "spec")
    for container, here in _containers(spec, path):
        resources = container.get("resources")
        if resources:
            found += _fractions(resources.get("limits", {}), f"{here}.resources.limits")
            found += _fractions(resources.get("requests", {}), f"{here}.resources.requests")
        if len(container.get("env", ())) > 1:
            found += _hidden_variables(container["env"], f"{here}.env")
    found += _ports(spec, path)
    if spec.get("terminationGracePeriodSeconds", 0) < 0:
        what = "must be >= 0; negative values are invalid and will be treated as 1"
        found.append(f"{path}.terminationGracePeriodSeconds: {what}")
    for name in ("podAffinity", "podAntiAffinity"):
        if name in affinity:
            found += _pod_affinity(affinity[name], f"{path}.affinity.{name}")
    for position, server in enumerate(spec.get("dnsConfig", {}).get("nameservers", ())):
        found += ip_warnings(f"{path}.dnsConfig.nameservers[{position}]", server)
    for position, alias in enumerate(spec.get("hostAliases", ())):
        found += ip_warnings(f"{path}.hostAliases[{position}].ip", alias.get("ip", ""))
    return found


def _containers(spec: Tree, path: str) -> Iterator[tuple[Tree, str]]:
    for field in CONTAINER_LISTS:
        for position, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{position}]"


def _node_affinity(rules: Tree, path: str) -> list[str]:
    terms = [
        (term, f"{path}.{REQUIRED}.nodeSelectorTerms[{position}]", False)
        for position, term in enumerate((rules.get(REQUIRED) or {}).get("nodeSelectorTerms") or ())
    ] + [
        (weighted.get("preference", {}), f"{path}.{PREFERRED}[{position}].preference", True)
        for position, weighted in enumerate(rules.get(PREFERRED, ()))
    ]
    return [text for term, here, preferred in terms for text in node_term_warnings(term, here, preferred=preferred)]


def node_term_warnings(term: Tree, path: str, *, preferred: bool = False) -> list[str]:
    """About labels of nodes that have other names by now, and values that no label has where nobody
    refuses them.
    """
    found: list[str] = []
    for position, expression in enumerate(term.get("matchExpressions", ())):
        key, where = expression.get("key", ""), f"{path}.matchExpressions[{position}]"
        if key in DEPRECATED_LABELS:
            found.append(f"{where}.key: {key} is {DEPRECATED_LABELS[key]}")
        found += [
            f"{where}.values[{number}]: {value} is invalid, {text}"
            for number, value in enumerate(expression.get("values", ()) if preferred else ())
            for text in names.label_value(value)
        ]
    return found


def _volumes(volumes: list[Tree], path: str) -> list[str]:
    found = []
    for position, volume in enumerate(volumes):
        for name in volume:
            if name in DEPRECATED_VOLUMES:
                shown = "storageOS" if name == "storageos" else name
                found.append(f"{path}[{position}].{shown}: {DEPRECATED_VOLUMES[name]}")
        if claim := volume.get("ephemeral", {}).get("volumeClaimTemplate"):
            here = f"{path}[{position}].ephemeral.volumeClaimTemplate.spec"
            found += claim_spec_warnings(here, claim.get("spec") or {})
    return found + overlap_warnings(volumes)


def _duplicates(items: list[Tree], path: str, field: str) -> list[str]:
    values = [item.get(field, "") for item in items]
    return [
        f"{path}[{position}].{field}: duplicate {field} {go_quote(values[position])}"
        for position in sorted(repetitions(values))]


def _fractions(amounts: dict[str, str], path: str) -> list[str]:
    return [
        f"{path}[{name}]: fractional byte value {go_quote(amounts[name])} is invalid, must be an integer"
        for name in BYTE_RESOURCES if name in amounts and quantity.parse(amounts[name]).milli_value % 1000
    ]


def _hidden_variables(variables: list[Tree], path: str) -> list[str]:
    found: list[str] = []
    seen: set[str] = set()
    for position, variable in enumerate(variables):
        name, value = variable.get("name", ""), variable.get("value", "")
        reference = f"$({name})"
        if name not in seen:
            seen.add(name)
        elif "valueFrom" in variable or value == reference or reference not in value:
            what = f"hides previous definition of {go_quote(name)}, which may be dropped when using apply"
            found.append(f"{path}[{position}]: {what}")
    return found


def _ports(spec: Tree, path: str) -> list[str]:
    """Ports that are there twice, by number and by name."""
    ports = [
        (port, f"{here}.ports[{position}]")
        for container, here in _containers(spec, path) for position, port in enumerate(container.get("ports", ()))
    ]
    found: list[str] = []
    by_number: dict[tuple[int, str], list[tuple[Tree, str]]] = {}
    for port, here in ports:
        if port.get("hostIP") and not port.get("hostPort"):
            found.append(f"{here}: hostIP set without hostPort: {_internal_port(port)}")
        others = by_number.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
        for other, where in others:
            if text := _clash(port, other):
                found.append(f"{here}: {text} port definition with {where}")
        others.append((port, here))
    by_name: dict[str, str] = {}
    for port, here in ports:
        if name := port.get("name"):
            first = by_name.setdefault(name, here)
            if first != here:
                found.append(f"{here}: duplicate port name {go_quote(name)} with {first}, services and probes that "
                             f"select ports by name will use {first}")
    return found


def _internal_port(port: Tree) -> str:
    """A port the way Go prints its structure."""
    return (f"{{Name:{port.get('name', '')} HostPort:{port.get('hostPort', 0)} "
            f"ContainerPort:{port.get('containerPort', 0)} Protocol:{port.get('protocol', '')} HostIP:{port['hostIP']}}}")


def _clash(port: Tree, other: Tree) -> str:
    address, host_port = port.get("hostIP", ""), port.get("hostPort", 0)
    other_address, other_host_port = other.get("hostIP", ""), other.get("hostPort", 0)
    if address == other_address and host_port == other_host_port:
        return "duplicate"
    if not host_port or not other_host_port:
        return "overlapping"
    if host_port == other_host_port and bool(address) != bool(other_address):
        return "dangerously ambiguous"
    return ""


def _pod_affinity(rules: Tree, path: str) -> list[str]:
    found = [
        f"{path}.{REQUIRED}[{position}].labelSelector: {NO_SELECTOR}"
        for position, term in enumerate(rules.get(REQUIRED, ())) if "labelSelector" not in term
    ]
    return found + [
        f"{path}.{PREFERRED}[{position}].podAffinityTerm.labelSelector: {NO_SELECTOR}"
        for position, weighted in enumerate(rules.get(PREFERRED, ()))
        if "labelSelector" not in weighted.get("podAffinityTerm", {})
    ]
