"""What is wrong with containers: regular ones, init containers, and ephemeral ones.

Upstream: validateContainers, validateInitContainers, validateEphemeralContainers in
pkg/apis/core/validation/validation.go. Only what a container has is looked at: most have little.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.pods import is_sidecar
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.checks import PROTOCOLS, PULL_POLICIES
from fakekube.apis.core.container_env import accepts_env, validate_env, validate_env_from
from fakekube.apis.core.container_handlers import PROBES, accepts_probes, validate_lifecycle, validate_probes
from fakekube.apis.core.mounts_validation import accepts_mounts, validate_devices, validate_mounts
from fakekube.apis.core.resource_requirements import accepts_requirements, validate_requirements
from fakekube.apis.core.security_validation import validate_container_context

MESSAGE_POLICIES = ("File", "FallbackToLogsOnError")
RESTART_POLICIES = ("Always", "Never", "OnFailure")
RULE_ACTIONS = ("Restart", "RestartAllContainers")
MAX_RULES, MAX_CODES, MAX_PORT = 20, 255, 65535
HANDLED = frozenset(("lifecycle", *PROBES))
PLAIN_FIELDS = HANDLED | {
    "args", "command", "env", "envFrom", "image", "imagePullPolicy", "name", "ports", "resources", "restartPolicy",
    "securityContext", "stdin", "stdinOnce", "terminationMessagePath", "terminationMessagePolicy", "tty", "volumeMounts",
    "workingDir",
}
PLAIN_PORT = frozenset(("containerPort", "protocol"))
# In the order of Go's struct, in which upstream complains about them.
EPHEMERAL_ORDER = (
    "ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules", "livenessProbe", "readinessProbe",
    "startupProbe", "lifecycle",
)
NO_RULES = "restartPolicyRules are not allowed for init containers with restart policy Always"
NOT_FOR_INIT = "may not be set for init containers without restartPolicy=Always"
NOT_FOR_EPHEMERAL = "cannot be set for an Ephemeral Container"


@dataclass(slots=True)
class Surroundings:
    """What a container's fields are checked against: parts of its pod."""

    volumes: dict[str, Tree]
    claim_names: Sequence[str] = ()
    grace_seconds: int = 0
    system: str = ""
    restart_policy: str = "Always"
    host_users: bool = True
    restarting_all: bool = True


def validate_containers(containers: list[Tree], path: str, around: Surroundings) -> list[FieldError]:
    """The regular containers: at least one."""
    if not containers:
        return [field_errors.required(path)]
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, container in enumerate(containers):
        here, name = f"{path}[{position}]", container.get("name", "")
        found += _common(container, name, here, around)
        if name in taken:
            found.append(field_errors.duplicate(f"{here}.name", name))
        taken.add(name)
        if "lifecycle" in container:
            lifecycle = container["lifecycle"]
            found += validate_lifecycle(lifecycle, f"{here}.lifecycle", around.grace_seconds, around.system)
        found += validate_probes(container, here, around.grace_seconds)
        if "restartPolicy" in container or "restartPolicyRules" in container:
            found += _restart_policy(container, here, around)
    return found + _host_ports(containers, path)


def accepts_containers(
    containers: list[Tree], volumes: dict[str, Tree], grace_seconds: int, regular: Sequence[Tree] | None = None,
) -> bool:
    """Whether containers are fine at a glance.

    ``regular`` are the regular ones beside init containers.

    Whoever gets False has to ask ``validate_containers`` or ``validate_init_containers``.
    """
    taken = {container.get("name", "") for container in regular or ()}
    for container in containers:
        if not container.keys() <= PLAIN_FIELDS:
            return False
        name, image = container.get("name", ""), container.get("image", "")
        if names.dns1123_label(name) or name in taken or not image or image != image.strip():
            return False
        taken.add(name)
        if "restartPolicy" in container and container["restartPolicy"] not in RESTART_POLICIES:
            return False
        if regular is not None and not is_sidecar(container) and not HANDLED.isdisjoint(container):
            return False
        if not (_accepts_parts(container, volumes) and accepts_probes(container, grace_seconds)):
            return False
        if "lifecycle" in container and validate_lifecycle(container["lifecycle"], "", grace_seconds, ""):
            return False
    return True


def _accepts_parts(container: Tree, volumes: dict[str, Tree]) -> bool:
    if container.get("terminationMessagePolicy") not in MESSAGE_POLICIES:
        return False
    if container.get("imagePullPolicy") not in PULL_POLICIES:
        return False
    if "ports" in container and not _accepts_ports(container["ports"]):
        return False
    if "env" in container and not accepts_env(container["env"]):
        return False
    if "envFrom" in container and validate_env_from(container["envFrom"], ""):
        return False
    if "volumeMounts" in container and not accepts_mounts(container, volumes):
        return False
    if (resources := container.get("resources")) and not accepts_requirements(resources):
        return False
    context = container.get("securityContext")
    return not context or ("windowsOptions" not in context and not validate_container_context(context, "", host_users=True))


def _accepts_ports(ports: list[Tree]) -> bool:
    """Whether no port has anything to do with the host's, and none is wrong."""
    if any("hostPort" in port for port in ports):
        return False
    if len(ports) == 1 and ports[0].keys() == PLAIN_PORT:
        return 1 <= ports[0]["containerPort"] <= MAX_PORT and ports[0]["protocol"] in PROTOCOLS
    return not _ports(ports, "")


def validate_init_containers(
    containers: list[Tree], regular: list[Tree], path: str, around: Surroundings,
) -> list[FieldError]:
    """The init containers, of which those that always restart are sidecars."""
    found: list[FieldError] = []
    taken = [container.get("name", "") for container in regular]
    for position, container in enumerate(containers):
        here, name = f"{path}[{position}]", container.get("name", "")
        found += _common(container, name, here, around)
        sidecar = is_sidecar(container)
        if sidecar and container.get("restartPolicyRules") and not around.restarting_all:
            found.append(field_errors.forbidden(f"{here}.restartPolicyRules", NO_RULES))
        elif "restartPolicy" in container or "restartPolicyRules" in container:
            found += _restart_policy(container, here, around)
        if name in taken:
            found.append(field_errors.duplicate(f"{here}.name", name))
        elif name:
            taken.append(name)
        found += _host_ports([container], path)
        if sidecar:
            if "lifecycle" in container:
                lifecycle = container["lifecycle"]
                found += validate_lifecycle(lifecycle, f"{here}.lifecycle", around.grace_seconds, around.system)
            found += validate_probes(container, here, around.grace_seconds)
            continue
        given = [field for field in ("lifecycle", *PROBES) if field in container]
        found += [field_errors.forbidden(f"{here}.{field}", NOT_FOR_INIT) for field in given]
        what = "must not be set to 'RestartContainer' for non-sidecar initContainers"
        for number, policy in enumerate(container.get("resizePolicy", ())):
            if policy.get("restartPolicy") == "RestartContainer":
                wrong = f"{here}.resizePolicy[{number}].restartPolicy"
                found.append(field_errors.invalid(wrong, "RestartContainer", what))
    return found


def validate_ephemeral_containers(
    containers: list[Tree], others: list[Tree], path: str, around: Surroundings,
) -> list[FieldError]:
    """The ephemeral containers; ``others`` are all the pod's other ones."""
    found: list[FieldError] = []
    other_names = [container.get("name", "") for container in others]
    taken = list(other_names)
    for position, container in enumerate(containers):
        here, name = f"{path}[{position}]", container.get("name", "")
        found += _common(container, name, here, around)
        found += validate_image_padding(container, here)
        if name in taken:
            found.append(field_errors.duplicate(f"{here}.name", name))
        taken.append(name)
        target = container.get("targetContainerName")
        if target and target not in other_names:
            found.append(field_errors.not_found(f"{here}.targetContainerName", target))
        given = [field for field in EPHEMERAL_ORDER if container.get(field) or (field == "lifecycle" and field in container)]
        found += [field_errors.forbidden(f"{here}.{field}", NOT_FOR_EPHEMERAL) for field in given]
        for number, mount in enumerate(container.get("volumeMounts", ())):
            given = [field for field in ("subPath", "subPathExpr") if mount.get(field)]
            wrong = f"{here}.volumeMounts[{number}]"
            found += [field_errors.forbidden(f"{wrong}.{field}", NOT_FOR_EPHEMERAL) for field in given]
    return found


def validate_image_padding(container: Tree, path: str) -> list[FieldError]:
    """Blanks around an image, which a Pod refuses and a template does not."""
    image = container.get("image", "")
    if image == image.strip():
        return []
    return [field_errors.invalid(f"{path}.image", image, "must not have leading or trailing whitespace")]


def _common(container: Tree, name: str, path: str, around: Surroundings) -> list[FieldError]:
    """What holds for all three sorts."""
    found: list[FieldError] = []
    if not name:
        found.append(field_errors.required(f"{path}.name"))
    else:
        found += complaints(f"{path}.name", name, names.dns1123_label(name))
    if not container.get("image"):
        found.append(field_errors.required(f"{path}.image"))
    policy = container.get("terminationMessagePolicy", "")
    if policy not in MESSAGE_POLICIES:
        found += _policy(f"{path}.terminationMessagePolicy", policy, MESSAGE_POLICIES)
    if "ports" in container:
        found += _ports(container["ports"], f"{path}.ports")
    if "env" in container:
        found += validate_env(container["env"], f"{path}.env")
    if "envFrom" in container:
        found += validate_env_from(container["envFrom"], f"{path}.envFrom")
    if "volumeMounts" in container:
        found += validate_mounts(container, around.volumes, f"{path}.volumeMounts")
    if "volumeDevices" in container:
        found += validate_devices(container, around.volumes, f"{path}.volumeDevices")
    policy = container.get("imagePullPolicy", "")
    if policy not in PULL_POLICIES:
        found += _policy(f"{path}.imagePullPolicy", policy, PULL_POLICIES)
    if resources := container.get("resources"):
        found += validate_requirements(resources, f"{path}.resources", around.claim_names)
    if "resizePolicy" in container:
        found += _resize_policy(container["resizePolicy"], f"{path}.resizePolicy", around.restart_policy)
    if context := container.get("securityContext"):
        found += validate_container_context(context, f"{path}.securityContext", host_users=around.host_users)
    return found


def _policy(path: str, value: str, allowed: Sequence[str]) -> list[FieldError]:
    return [field_errors.not_supported(path, value, allowed) if value else field_errors.required(path)]


def _ports(ports: list[Tree], path: str) -> list[FieldError]:
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, port in enumerate(ports):
        here, name, number = f"{path}[{position}]", port.get("name", ""), port.get("containerPort", 0)
        if name:
            if texts := names.port_name(name):
                found += complaints(f"{here}.name", name, texts)
            elif name in taken:
                found.append(field_errors.duplicate(f"{here}.name", name))
            else:
                taken.add(name)
        if not number:
            found.append(field_errors.required(f"{here}.containerPort"))
        else:
            found += complaints(f"{here}.containerPort", number, names.port_number(number))
        if host_port := port.get("hostPort"):
            found += complaints(f"{here}.hostPort", host_port, names.port_number(host_port))
        protocol = port.get("protocol", "")
        if protocol not in PROTOCOLS:
            found += _policy(f"{here}.protocol", protocol, PROTOCOLS)
    return found


def _host_ports(containers: list[Tree], path: str) -> list[FieldError]:
    """No two ports of the host may be the same."""
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, container in enumerate(containers):
        for number, port in enumerate(container.get("ports", ())):
            if not port.get("hostPort"):
                continue
            text = f"{port.get('protocol', '')}/{port.get('hostIP', '')}/{port['hostPort']}"
            if text in taken:
                found.append(field_errors.duplicate(f"{path}[{position}].ports[{number}].hostPort", text))
            taken.add(text)
    return found


def _resize_policy(policies: list[Tree], path: str, restart_policy: str) -> list[FieldError]:
    found: list[FieldError] = []
    taken: set[str] = set()
    for position, policy in enumerate(policies):
        name, restart = policy.get("resourceName", ""), policy.get("restartPolicy", "")
        if name in taken:
            found.append(field_errors.duplicate(f"{path}[{position}]", name))
        taken.add(name)
        if name not in ("cpu", "memory"):
            found += _policy(path, name, ("cpu", "memory"))
        if restart not in ("NotRequired", "RestartContainer"):
            found += _policy(path, restart, ("NotRequired", "RestartContainer"))
        if restart_policy == "Never" and restart != "NotRequired":
            what = "must be 'NotRequired' when pod `restartPolicy` is 'Never'"
            found.append(field_errors.invalid(path, restart, what))
    return found


def _restart_policy(container: Tree, path: str, around: Surroundings) -> list[FieldError]:
    """A container's own restart policy, and its rules by exit code."""
    found: list[FieldError] = []
    rules = container.get("restartPolicyRules", ())
    if "restartPolicy" not in container:
        if not rules:
            return found
        what = "must specify restartPolicy when restart rules are used"
        found.append(field_errors.required(f"{path}.restartPolicy", what))
    else:
        found += one_of(f"{path}.restartPolicy", container["restartPolicy"], RESTART_POLICIES)
    if len(rules) > MAX_RULES:
        found.append(field_errors.too_many(f"{path}.restartPolicyRules", len(rules), MAX_RULES))
    for position, rule in enumerate(rules):
        here = f"{path}.restartPolicyRules[{position}]"
        actions = RULE_ACTIONS if around.restarting_all else RULE_ACTIONS[:1]
        found += one_of(f"{here}.action", rule.get("action", ""), actions)
        codes = rule.get("exitCodes")
        if codes is None:
            found.append(field_errors.required(f"{here}.exitCodes", "must be specified"))
            continue
        found += one_of(f"{here}.exitCodes.operator", codes.get("operator", ""), ("In", "NotIn"))
        if len(codes.get("values", ())) > MAX_CODES:
            found.append(field_errors.too_many(f"{here}.exitCodes.values", len(codes["values"]), MAX_CODES))
    return found
