"""The pod security standards: which rules a level has at which version, and which levels a
namespace asks for.

Upstream: k8s.io/pod-security-admission/policy/registry.go, api/helpers.go.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import NamedTuple

from fakekube.admission.pod_security_rules import (
    SELINUX_TYPES,
    SYSCTLS,
    Objection,
    Rule,
    app_armor,
    capabilities_baseline,
    capabilities_restricted,
    host_namespaces,
    host_path_volumes,
    host_ports,
    no_escalation,
    privileged,
    probe_hosts,
    proc_mount,
    restricted_volumes,
    run_as_non_root,
    run_as_user,
    seccomp_annotations,
    seccomp_baseline,
    seccomp_restricted,
    selinux,
    sysctls,
    unless_own_users,
    unless_windows,
    windows_host_process,
)
from fakekube.apimachinery import field_errors
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree

LABEL = "pod-security.kubernetes.io/"
LEVELS = ("privileged", "baseline", "restricted")
NEWEST = 37  # the last minor version at which a rule changed
VERSION = re.compile(r"v1\.(0|[1-9][0-9]*)")
MODES = ("enforce", "audit", "warn")


class Check(NamedTuple):
    """A rule through its versions: each holds from its minor version on.

    ``instead_of`` names what it replaces.
    """

    name: str
    versions: tuple[tuple[int, Rule], ...]
    instead_of: str = ""

    def at(self, minor: int) -> Rule | None:
        """The rule of that version, if there was one."""
        return next((rule for since, rule in reversed(self.versions) if since <= minor), None)


BASELINE = (
    Check("appArmorProfile", ((0, app_armor),)),
    Check("capabilities_baseline", ((0, capabilities_baseline),)),
    Check("hostNamespaces", ((0, host_namespaces),)),
    Check("hostPathVolumes", ((0, host_path_volumes),)),
    Check("hostPorts", ((0, host_ports),)),
    Check("hostProbesAndHostLifecycle", ((34, probe_hosts),)),
    Check("privileged", ((0, privileged),)),
    Check("procMount", ((0, proc_mount), (35, unless_own_users(proc_mount)))),
    Check("seLinuxOptions", ((0, selinux(SELINUX_TYPES)), (31, selinux((*SELINUX_TYPES, "container_engine_t"))))),
    Check("seccompProfile_baseline", ((0, seccomp_annotations), (19, seccomp_baseline))),
    Check("sysctls", tuple((minor, sysctls(minor)) for minor, _names in SYSCTLS)),
    Check("windowsHostProcess", ((0, windows_host_process),)),
)
RESTRICTED = (
    Check("allowPrivilegeEscalation", ((8, no_escalation), (25, unless_windows(no_escalation)))),
    Check(
        "capabilities_restricted", ((22, capabilities_restricted), (25, unless_windows(capabilities_restricted))),
        "capabilities_baseline",
    ),
    Check("procMount_restricted", ((35, proc_mount),), "procMount"),
    Check("restrictedVolumes", ((0, restricted_volumes),), "hostPathVolumes"),
    Check("runAsNonRoot", ((0, run_as_non_root), (35, unless_own_users(run_as_non_root)))),
    Check("runAsUser", ((23, run_as_user), (35, unless_own_users(run_as_user)))),
    Check(
        "seccompProfile_restricted", ((19, seccomp_restricted), (25, unless_windows(seccomp_restricted))),
        "seccompProfile_baseline",
    ),
)


@cache
def rules(level: str, minor: int) -> tuple[Rule, ...]:
    """The rules of a level at a minor version, in the order in which they speak."""
    strict = [] if level != "restricted" else [check for check in RESTRICTED if check.at(minor)]
    replaced = {check.instead_of for check in strict}
    chosen = [] if level == "privileged" else [check for check in BASELINE if check.name not in replaced]
    return tuple(rule for check in (*chosen, *strict) if (rule := check.at(minor)) is not None)


class Standard(NamedTuple):
    """A level at a version, ``latest`` or ``v1.x``; prints as messages name it."""

    level: str = "privileged"
    version: str = "latest"

    def __str__(self) -> str:
        return f"{self.level}:{self.version}"

    def objections(self, metadata: Tree, spec: Tree) -> list[Objection]:
        """What it has against a pod."""
        minor = NEWEST if self.version == "latest" else min(NEWEST, int(self.version.removeprefix("v1.")))
        return [found for rule in rules(self.level, minor) if (found := rule(metadata, spec)) is not None]


class Policy(NamedTuple):
    """What a namespace asks for."""

    enforce: Standard = Standard()
    warn: Standard = Standard()


def policy_of(labels: Mapping[str, str]) -> tuple[Policy, list[FieldError]]:
    """What a namespace's labels ask for, and what is wrong with them.

    An unknown level to enforce counts as the strictest, an unknown one to warn of as none. Warnings
    follow a stricter level that is enforced, unless the labels say otherwise. The audit labels are
    only checked: there is no audit log.
    """
    if not any(name.startswith(LABEL) for name in labels):
        return Policy(), []
    errors: list[FieldError] = []
    for mode in MODES:
        for name, text, known in (
            (mode, f"must be one of {', '.join(LEVELS)}", lambda value: value in LEVELS),
            (f"{mode}-version", 'must be "latest" or "v1.x"', _is_version),
        ):
            value = labels.get(LABEL + name)
            if value is not None and not known(value):
                errors.append(field_errors.invalid(field_errors.key("metadata.labels", LABEL + name), value, text))
    enforced = labels.get(LABEL + "enforce", "privileged")
    enforce = Standard(enforced if enforced in LEVELS else "restricted", _version(labels, "enforce"))
    warned = labels.get(LABEL + "warn")
    warn = Standard(warned if warned in LEVELS else "privileged", _version(labels, "warn"))
    if warned is None and enforced in LEVELS[1:]:
        warn = Standard(enforced, warn.version if LABEL + "warn-version" in labels else enforce.version)
    return Policy(enforce, warn), errors


def _is_version(text: str) -> bool:
    return text == "latest" or VERSION.fullmatch(text) is not None


def _version(labels: Mapping[str, str], mode: str) -> str:
    text = labels.get(f"{LABEL}{mode}-version", "latest")
    return text if _is_version(text) else "latest"
