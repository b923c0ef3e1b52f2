"""What the pod security standards object to in a pod: one function a rule.

Upstream: k8s.io/pod-security-admission/policy. A rule answers (reason, detail), or None when it has
no objection.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from fakekube.apimachinery.field_errors import go_quote
from fakekube.apimachinery.types import Tree

Objection = tuple[str, str]
Rule = Callable[[Tree, Tree], Objection | None]  # metadata, spec

APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP_CONTAINER = "container.seccomp.security.alpha.kubernetes.io/"
DEFAULT_CAPABILITIES = (
    "AUDIT_WRITE", "CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "MKNOD", "NET_BIND_SERVICE", "SETFCAP",
    "SETGID", "SETPCAP", "SETUID", "SYS_CHROOT",
)
SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t")
SYSCTLS = (
    (0, (
        "kernel.shm_rmid_forced", "net.ipv4.ip_local_port_range", "net.ipv4.tcp_syncookies",
        "net.ipv4.ping_group_range", "net.ipv4.ip_unprivileged_port_start",
    )),
    (27, ("net.ipv4.ip_local_reserved_ports",)),
    (29, (
        "net.ipv4.tcp_keepalive_time", "net.ipv4.tcp_fin_timeout", "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
    )),
    (32, ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")),
    (37, ("net.ipv4.tcp_slow_start_after_idle", "net.ipv4.tcp_notsent_lowat")),
)
HARMLESS_VOLUMES = (
    "configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "image", "persistentVolumeClaim", "projected", "secret",
)
OTHER_VOLUMES = (
    "hostPath", "gcePersistentDisk", "awsElasticBlockStore", "gitRepo", "nfs", "iscsi", "glusterfs", "rbd",
    "flexVolume", "cinder", "cephfs", "flocker", "fc", "azureFile", "vsphereVolume", "quobyte", "azureDisk",
    "photonPersistentDisk", "portworxVolume", "scaleIO", "storageos",
)


def containers_of(spec: Tree) -> Iterator[Tree]:
    """Init containers, containers, ephemeral ones."""
    for field in ("initContainers", "containers", "ephemeralContainers"):
        yield from spec.get(field) or ()


def security(owner: Tree) -> Tree:
    """The security context of a pod's spec or of a container."""
    context: Tree = owner.get("securityContext") or {}
    return context


def quoted(names: Iterable[str]) -> str:
    """``"a", "b"``."""
    return ", ".join(f'"{name}"' for name in names)


def plural(word: str, things: Any) -> str:
    """The word for that many things."""
    return word if len(things) == 1 else word + "s"


def named(word: str, names: list[str]) -> str:
    """``container "a"``, ``containers "a", "b"``."""
    return f"{plural(word, names)} {quoted(names)}"


def setters(pod: bool, containers: list[str]) -> str:
    """Who set something: ``pod and container "a"``."""
    return " and ".join((["pod"] if pod else []) + ([named("container", containers)] if containers else []))


def bad_containers(spec: Tree, is_bad: Callable[[Tree], Any]) -> list[str]:
    """The names of the containers of which something holds."""
    return [container["name"] for container in containers_of(spec) if is_bad(container)]


def app_armor(metadata: Tree, spec: Tree) -> Objection | None:
    """Profiles are the runtime's own or the node's."""
    def bad(owner: Tree) -> str | None:
        profile = security(owner).get("appArmorProfile")
        kind = None if profile is None else profile.get("type", "")
        return None if kind in ("RuntimeDefault", "Localhost") else kind

    found = [kind for kind in map(bad, (spec, *containers_of(spec))) if kind is not None]
    who = setters(bad(spec) is not None, bad_containers(spec, lambda one: bad(one) is not None))
    annotations = sorted(
        f"{name}={go_quote(value)}" for name, value in (metadata.get("annotations") or {}).items()
        if name.startswith(APPARMOR) and value not in ("", "runtime/default") and not value.startswith("localhost/")
    )
    if annotations:
        who = " and ".join(filter(None, (who, plural("annotation", annotations))))
    if not who:
        return None
    values = [*sorted(set(found)), *annotations]
    return plural("forbidden AppArmor profile", values), f"{who} must not set AppArmor profile type to {quoted(values)}"


def added(container: Tree, allowed: Iterable[str]) -> list[str]:
    """The capabilities a container adds beyond those."""
    return [name for name in (security(container).get("capabilities") or {}).get("add") or () if name not in allowed]


def _too_many_added(spec: Tree, allowed: Iterable[str]) -> str:
    names = bad_containers(spec, lambda container: added(container, allowed))
    if not names:
        return ""
    extra = sorted({name for container in containers_of(spec) for name in added(container, allowed)})
    return f"{named('container', names)} must not include {quoted(extra)} in securityContext.capabilities.add"


def capabilities_baseline(_metadata: Tree, spec: Tree) -> Objection | None:
    """Nothing beyond the default set."""
    detail = _too_many_added(spec, DEFAULT_CAPABILITIES)
    return ("non-default capabilities", detail) if detail else None


def capabilities_restricted(_metadata: Tree, spec: Tree) -> Objection | None:
    """All dropped, and at most low ports added."""
    keeping = bad_containers(
        spec, lambda one: "ALL" not in ((security(one).get("capabilities") or {}).get("drop") or ()))
    details = [f'{named("container", keeping)} must set securityContext.capabilities.drop=["ALL"]'] if keeping else []
    extra = _too_many_added(spec, ("NET_BIND_SERVICE",))
    details += [extra] if extra else []
    return ("unrestricted capabilities", "; ".join(details)) if details else None


def host_namespaces(_metadata: Tree, spec: Tree) -> Objection | None:
    """None of the host's."""
    found = [f"{name}=true" for name in ("hostNetwork", "hostPID", "hostIPC") if spec.get(name)]
    return ("host namespaces", ", ".join(found)) if found else None


def host_path_volumes(_metadata: Tree, spec: Tree) -> Objection | None:
    """No directory of the host."""
    found = [volume["name"] for volume in spec.get("volumes") or () if volume.get("hostPath") is not None]
    return ("hostPath volumes", named("volume", found)) if found else None


def host_ports(_metadata: Tree, spec: Tree) -> Objection | None:
    """No port of the host."""
    def used(container: Tree) -> list[str]:
        return [str(port["hostPort"]) for port in container.get("ports") or () if port.get("hostPort")]

    names = bad_containers(spec, used)
    if not names:
        return None
    ports = sorted({port for container in containers_of(spec) for port in used(container)})
    verb = "uses" if len(names) == 1 else "use"
    return "hostPort", f"{named('container', names)} {verb} {plural('hostPort', ports)} {', '.join(ports)}"


def probe_hosts(_metadata: Tree, spec: Tree) -> Objection | None:
    """Probes and lifecycle handlers call the pod itself."""
    def used(container: Tree) -> list[str]:
        lifecycle = container.get("lifecycle") or {}
        handlers = [container.get(name) for name in ("livenessProbe", "readinessProbe", "startupProbe")]
        handlers += [lifecycle.get(name) for name in ("postStart", "preStop")]
        actions = [(handler or {}).get(name) or {} for handler in handlers for name in ("httpGet", "tcpSocket")]
        return [action["host"] for action in actions if action.get("host")]

    names = sorted(bad_containers(spec, used))
    if not names:
        return None
    hosts = sorted({host for container in containers_of(spec) for host in used(container)})
    verb, word = "uses" if len(names) == 1 else "use", plural("probe or lifecycle host", hosts)
    return "probe or lifecycle host", f"{named('container', names)} {verb} {word} {quoted(hosts)}"


def privileged(_metadata: Tree, spec: Tree) -> Objection | None:
    """No privileged container."""
    names = bad_containers(spec, lambda container: security(container).get("privileged"))
    if not names:
        return None
    return "privileged", f"{named('container', names)} must not set securityContext.privileged=true"


def proc_mount(_metadata: Tree, spec: Tree) -> Objection | None:
    """/proc masked as usual."""
    def unusual(container: Tree) -> str | None:
        value: str | None = security(container).get("procMount")
        return None if value == "Default" else value

    names = bad_containers(spec, lambda container: unusual(container) is not None)
    if not names:
        return None
    values = sorted({value for container in containers_of(spec) if (value := unusual(container)) is not None})
    return "procMount", f"{named('container', names)} must not set securityContext.procMount to {quoted(values)}"


def selinux(types: tuple[str, ...]) -> Rule:
    """Known types, neither user nor role."""
    def rule(_metadata: Tree, spec: Tree) -> Objection | None:
        def bad(owner: Tree) -> bool:
            options = security(owner).get("seLinuxOptions") or {}
            return options.get("type", "") not in types or bool(options.get("user") or options.get("role"))

        who = setters(bad(spec), bad_containers(spec, bad))
        if not who:
            return None
        given = [security(owner).get("seLinuxOptions") or {} for owner in (spec, *containers_of(spec))]
        wrong = sorted({options.get("type", "") for options in given} - set(types))
        data = [named("type", wrong)] if wrong else []
        data += [f"{name} may not be set" for name in ("user", "role") if any(one.get(name) for one in given)]
        return "seLinuxOptions", f"{who} set forbidden securityContext.seLinuxOptions: {'; '.join(data)}"

    return rule


def seccomp_annotations(metadata: Tree, spec: Tree) -> Objection | None:
    """The annotations of old: the runtime's own profile or the node's."""
    annotations = metadata.get("annotations") or {}
    names = {SECCOMP_POD, *(SECCOMP_CONTAINER + container["name"] for container in containers_of(spec))}
    found = sorted(
        f"{name}={go_quote(annotations[name])}" for name in names & set(annotations)
        if annotations[name] not in ("runtime/default", "docker/default")
        and not annotations[name].startswith("localhost/")
    )
    return ("seccompProfile", f"forbidden {plural('annotation', found)} {', '.join(found)}") if found else None


def _seccomp_type(owner: Tree) -> str | None:
    profile = security(owner).get("seccompProfile")
    return None if profile is None else profile.get("type", "")


def _bad_seccomp(owner: Tree) -> bool:
    return _seccomp_type(owner) not in (None, "RuntimeDefault", "Localhost")


def seccomp_baseline(_metadata: Tree, spec: Tree) -> Objection | None:
    """The runtime's own profile or the node's, if any is named."""
    who = setters(_bad_seccomp(spec), bad_containers(spec, _bad_seccomp))
    if not who:
        return None
    values = sorted({str(_seccomp_type(owner)) for owner in (spec, *containers_of(spec)) if _bad_seccomp(owner)})
    return "seccompProfile", f"{who} must not set securityContext.seccompProfile.type to {quoted(values)}"


def seccomp_restricted(metadata: Tree, spec: Tree) -> Objection | None:
    """The same, and one must be named."""
    objection = seccomp_baseline(metadata, spec)
    if objection is not None or _seccomp_type(spec) is not None:
        return objection
    names = bad_containers(spec, lambda container: _seccomp_type(container) is None)
    if not names:
        return None
    wanted = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
    return "seccompProfile", f"pod or {named('container', names)} {wanted}"


def sysctls(minor: int) -> Rule:
    """Only those that stay within the pod."""
    allowed = {name for since, names in SYSCTLS if since <= minor for name in names}

    def rule(_metadata: Tree, spec: Tree) -> Objection | None:
        used = [one.get("name", "") for one in security(spec).get("sysctls") or ()]
        found = [name for name in used if name not in allowed]
        return ("forbidden sysctls", ", ".join(found)) if found else None

    return rule


def windows_host_process(_metadata: Tree, spec: Tree) -> Objection | None:
    """Not on the host itself."""
    def bad(owner: Tree) -> bool:
        return bool((security(owner).get("windowsOptions") or {}).get("hostProcess"))

    who = setters(bad(spec), bad_containers(spec, bad))
    return ("hostProcess", f"{who} must not set securityContext.windowsOptions.hostProcess=true") if who else None


def no_escalation(_metadata: Tree, spec: Tree) -> Objection | None:
    """Escalation ruled out in each container."""
    names = bad_containers(spec, lambda container: security(container).get("allowPrivilegeEscalation") is not False)
    if not names:
        return None
    detail = f"{named('container', names)} must set securityContext.allowPrivilegeEscalation=false"
    return "allowPrivilegeEscalation != false", detail


def restricted_volumes(_metadata: Tree, spec: Tree) -> Objection | None:
    """Only volumes that have nothing of the host or of the network."""
    found = [
        volume for volume in spec.get("volumes") or ()
        if all(volume.get(name) is None for name in HARMLESS_VOLUMES)
    ]
    if not found:
        return None
    types = sorted({
        next((name for name in OTHER_VOLUMES if volume.get(name) is not None), "unknown") for volume in found
    })
    verb, word = "uses" if len(found) == 1 else "use", plural("restricted volume type", types)
    names = [volume["name"] for volume in found]
    return "restricted volume types", f"{named('volume', names)} {verb} {word} {quoted(types)}"


def run_as_non_root(_metadata: Tree, spec: Tree) -> Objection | None:
    """Said of the pod or of every container."""
    def said(owner: Tree) -> bool | None:
        value: bool | None = security(owner).get("runAsNonRoot")
        return value

    who = setters(said(spec) is False, bad_containers(spec, lambda container: said(container) is False))
    if who:
        return "runAsNonRoot != true", f"{who} must not set securityContext.runAsNonRoot=false"
    silent = [] if said(spec) else bad_containers(spec, lambda container: said(container) is None)
    if not silent:
        return None
    detail = f"pod or {named('container', silent)} must set securityContext.runAsNonRoot=true"
    return "runAsNonRoot != true", detail


def run_as_user(_metadata: Tree, spec: Tree) -> Objection | None:
    """Nobody is user 0."""
    def bad(owner: Tree) -> bool:
        return security(owner).get("runAsUser") == 0

    who = setters(bad(spec), bad_containers(spec, bad))
    return ("runAsUser=0", f"{who} must not set runAsUser=0") if who else None


def unless_windows(rule: Rule) -> Rule:
    """The rule, for pods of other systems."""
    return lambda metadata, spec: None if (spec.get("os") or {}).get("name") == "windows" else rule(metadata, spec)


def unless_own_users(rule: Rule) -> Rule:
    """The rule, for pods without a user namespace of their own."""
    return lambda metadata, spec: None if spec.get("hostUsers") is False else rule(metadata, spec)
