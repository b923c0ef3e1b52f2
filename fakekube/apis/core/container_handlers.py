"""What is wrong with what a kubelet does to a container: probes and lifecycle handlers.

Upstream: pkg/apis/core/validation/validation.go (validateProbe, validateHandler,
validateLifecycle).
"""

from typing import Any

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import nonnegative_fields, one_of

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
PROBE_COUNTS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
HTTP_PROTOCOLS = ("HTTP1", "HTTP2")
HTTP_SCHEMES = ("HTTP", "HTTPS")
PLAIN_HTTP_FIELDS = frozenset(("path", "port", "scheme"))
PLAIN_PROBE_FIELDS = frozenset(("httpGet", *PROBE_COUNTS))
GRPC_MODES = ("Plaintext", "TLS")
WINDOWS_SIGNALS = ("SIGKILL", "SIGTERM")
PLAIN_SIGNALS = (
    "ABRT", "ALRM", "BUS", "CHLD", "CLD", "CONT", "FPE", "HUP", "ILL", "INT", "IO", "IOT", "KILL", "PIPE", "POLL",
    "PROF", "PWR", "QUIT", "RTMAX", "RTMIN", "SEGV", "STKFLT", "STOP", "SYS", "TERM", "TRAP", "TSTP", "TTIN",
    "TTOU", "URG", "USR1", "USR2", "VTALRM", "WINCH", "XCPU", "XFSZ",
)


def validate_probes(container: Tree, path: str, grace_seconds: int) -> list[FieldError]:
    """The three probes of a container."""
    found: list[FieldError] = []
    for name in PROBES:
        if name in container:
            found += _probe(container[name], f"{path}.{name}", name, grace_seconds)
    return found


def _probe(probe: Tree, path: str, kind: str, grace_seconds: int) -> list[FieldError]:
    found = _handler(probe, path, grace_seconds)
    found += nonnegative_fields(probe, path, *PROBE_COUNTS)
    grace = probe.get("terminationGracePeriodSeconds")
    if grace is not None and grace <= 0:
        found.append(field_errors.invalid(f"{path}.terminationGracePeriodSeconds", grace, "must be greater than 0"))
    if kind == "readinessProbe":
        if grace is not None:
            what = "must not be set for readinessProbes"
            found.append(field_errors.invalid(f"{path}.terminationGracePeriodSeconds", grace, what))
    elif probe.get("successThreshold") != 1:
        found.append(field_errors.invalid(f"{path}.successThreshold", probe.get("successThreshold", 0), "must be 1"))
    return found


def accepts_probes(container: Tree, grace_seconds: int) -> bool:
    """Whether the probes of a container are fine at a glance.

    Whoever gets False has to ask ``validate_probes``.
    """
    for name in PROBES:
        if name in container:
            probe = container[name]
            if not _is_plain_http_probe(probe, name) and _probe(probe, "", name, grace_seconds):
                return False
    return True


def _is_plain_http_probe(probe: Tree, kind: str) -> bool:
    """Whether it is a GET of a port with the usual fields, and none of its numbers is below zero.
    """
    action = probe.get("httpGet")
    if action is None or not (action.keys() <= PLAIN_HTTP_FIELDS and probe.keys() <= PLAIN_PROBE_FIELDS):
        return False
    if kind != "readinessProbe" and probe.get("successThreshold") != 1:
        return False
    if not action.get("path") or action.get("scheme") not in HTTP_SCHEMES or validate_port(action.get("port", 0), ""):
        return False
    return all(probe.get(name, 0) >= 0 for name in PROBE_COUNTS)


def validate_lifecycle(lifecycle: Tree, path: str, grace_seconds: int, system: str) -> list[FieldError]:
    """A container's lifecycle; ``system`` is the pod's operating system, or empty."""
    found: list[FieldError] = []
    for name in ("postStart", "preStop"):
        if name in lifecycle:
            found += _handler(lifecycle[name], f"{path}.{name}", grace_seconds)
    if "stopSignal" in lifecycle:
        found += _stop_signal(lifecycle["stopSignal"], f"{path}.stopSignal", system)
    return found


def _stop_signal(signal: str, path: str, system: str) -> list[FieldError]:
    if not system:
        return [field_errors.forbidden(path, "may not be set for containers with empty `spec.os.name`")]
    if system == "windows":
        return one_of(path, signal, WINDOWS_SIGNALS)
    return one_of(path, signal, _linux_signals()) if system == "linux" else []


def _linux_signals() -> list[str]:
    real_time = [f"SIGRTMAX-{number}" for number in range(1, 15)] + [f"SIGRTMIN+{number}" for number in range(1, 16)]
    return sorted([f"SIG{name}" for name in PLAIN_SIGNALS] + real_time)


def _handler(holder: Tree, path: str, grace_seconds: int) -> list[FieldError]:
    found: list[FieldError] = []
    present = [name for name in HANDLERS if name in holder]
    if not present:
        return [field_errors.required(path, "must specify a handler type")]
    first = present[0]
    action, here = holder[first], f"{path}.{first}"
    if first == "exec":
        if not action.get("command"):
            found.append(field_errors.required(f"{here}.command"))
    elif first == "httpGet":
        found += _http_get(action, here)
    elif first == "tcpSocket":
        found += validate_port(action.get("port", 0), f"{here}.port")
    elif first == "grpc":
        found += validate_port(action.get("port", 0), f"{here}.port")
        if "mode" in action and action["mode"] not in GRPC_MODES:
            found.append(field_errors.not_supported(f"{here}.mode", action["mode"], GRPC_MODES))
    else:
        found += _sleep(action.get("seconds", 0), here, grace_seconds)
    more = "may not specify more than 1 handler type"
    return found + [field_errors.forbidden(f"{path}.{name}", more) for name in present[1:]]


def _sleep(seconds: int, path: str, grace_seconds: int) -> list[FieldError]:
    if 0 <= seconds <= grace_seconds:
        return []
    what = f"must be non-negative and less than terminationGracePeriodSeconds ({grace_seconds})"
    return [field_errors.invalid(path, seconds, what)]


def _http_get(action: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if not action.get("path"):
        found.append(field_errors.required(f"{path}.path"))
    found += validate_port(action.get("port", 0), f"{path}.port")
    scheme = action.get("scheme", "")
    if scheme not in HTTP_SCHEMES:
        found.append(field_errors.not_supported(f"{path}.scheme", scheme, HTTP_SCHEMES))
    for header in action.get("httpHeaders", ()):
        name = header.get("name", "")
        found += complaints(f"{path}.httpHeaders", name, names.http_header(name))
    if "protocol" in action:
        found += _http_protocol(action, action["protocol"], path)
    return found


def _http_protocol(action: Tree, protocol: str, path: str) -> list[FieldError]:
    if protocol not in HTTP_PROTOCOLS:
        return [field_errors.not_supported(f"{path}.protocol", protocol, HTTP_PROTOCOLS)]
    if protocol == "HTTP2" and action.get("scheme") != "HTTP":
        return [field_errors.invalid(f"{path}.protocol", protocol, "is only supported with HTTP (H2C)")]
    if protocol == "HTTP2" and action.get("host"):
        return [field_errors.invalid(f"{path}.host", action["host"], 'must be empty when `protocol` is "HTTP2"')]
    return []


def validate_port(port: Any, path: str) -> list[FieldError]:
    """A port by number or by name."""
    texts = names.port_name(port) if isinstance(port, str) else names.port_number(port)
    return complaints(path, port, texts)
