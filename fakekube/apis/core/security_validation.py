"""What is wrong with security contexts of pods and containers.

Upstream: ValidateSecurityContext, validatePodSpecSecurityContext and their helpers in
pkg/apis/core/validation/validation.go. Left out: the user names of Windows beyond their first
rules.
"""

from fakekube.apimachinery import field_errors, names
from fakekube.apimachinery.field_errors import FieldError, complaints
from fakekube.apimachinery.types import Tree
from fakekube.apimachinery.validation import one_of
from fakekube.apis.internals import internal

PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
SYSCTL_SEGMENT = "[a-z0-9]([-_a-z0-9]*[a-z0-9])?"
SYSCTL = rf"({SYSCTL_SEGMENT}[\./])*{SYSCTL_SEGMENT}"
MAX_SYSCTL_LENGTH = 253
MAX_PROFILE_LENGTH = 4095
IPC_SYSCTLS = ("kernel.shm", "kernel.msg", "kernel.sem", "fs.mqueue.")
UNIX_IDS = ("runAsUser", "runAsGroup")
MAX_GMSA_KIB = 64
MAX_WINDOWS_DOMAIN = 256
MAX_WINDOWS_USER = 104
WINDOWS_MARKS = '"/\\:;|=,+*?<>@[]'
NETBIOS_NAME = r'[^\\/:*?"<>|.][^\\/:*?"<>|]{0,14}'
WINDOWS_DOMAIN = r"[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*"
NO_PRIVILEGES = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
NO_ADMIN = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"


def validate_container_context(context: Tree, path: str, *, host_users: bool) -> list[FieldError]:
    """The security context of a container."""
    found: list[FieldError] = []
    for name in UNIX_IDS:
        if name in context:
            found += complaints(f"{path}.{name}", context[name], names.unix_id(context[name]))
    if "procMount" in context:
        mount = context["procMount"]
        found += one_of(f"{path}.procMount", mount, ("Default", "Unmasked"))
        if host_users and mount == "Unmasked":
            what = "`hostUsers` must be false to use `Unmasked`"
            found.append(field_errors.invalid(f"{path}.procMount", mount, what))
    if "seccompProfile" in context:
        found += _seccomp(context["seccompProfile"], f"{path}.seccompProfile")
    if context.get("allowPrivilegeEscalation") is False:
        shown = internal("SecurityContext", context)
        if context.get("privileged"):
            found.append(field_errors.invalid(path, shown, NO_PRIVILEGES))
        added = (context.get("capabilities") or {}).get("add") or ()
        found += [field_errors.invalid(path, shown, NO_ADMIN) for name in added if name == "CAP_SYS_ADMIN"]
    if "windowsOptions" in context:
        found += _windows(context["windowsOptions"], f"{path}.windowsOptions")
    if "appArmorProfile" in context:
        found += validate_app_armor(context["appArmorProfile"], f"{path}.appArmorProfile")
    return found


def validate_pod_context(context: Tree, spec: Tree, path: str) -> list[FieldError]:
    """The security context of a pod."""
    found: list[FieldError] = []
    for name in ("fsGroup", *UNIX_IDS):
        if name in context:
            found += complaints(f"{path}.{name}", context[name], names.unix_id(context[name]))
    for position, number in enumerate(context.get("supplementalGroups", ())):
        found += complaints(f"{path}.supplementalGroups[{position}]", number, names.unix_id(number))
    if "sysctls" in context:
        found += _sysctls(context["sysctls"], spec, f"{path}.sysctls")
    if "fsGroupChangePolicy" in context:
        policies = ("Always", "OnRootMismatch")
        found += one_of(f"{path}.fsGroupChangePolicy", context["fsGroupChangePolicy"], policies)
    if "seccompProfile" in context:
        found += _seccomp(context["seccompProfile"], f"{path}.seccompProfile")
    if "windowsOptions" in context:
        found += _windows(context["windowsOptions"], f"{path}.windowsOptions")
    if "appArmorProfile" in context:
        found += validate_app_armor(context["appArmorProfile"], f"{path}.appArmorProfile")
    if "supplementalGroupsPolicy" in context:
        policies = ("Merge", "Strict")
        found += one_of(f"{path}.supplementalGroupsPolicy", context["supplementalGroupsPolicy"], policies)
    if "seLinuxChangePolicy" in context:
        policies = ("MountOption", "Recursive")
        found += one_of(f"{path}.seLinuxChangePolicy", context["seLinuxChangePolicy"], policies)
    return found


def _seccomp(profile: Tree, path: str) -> list[FieldError]:
    kind = profile.get("type", "")
    if not kind:
        found = [field_errors.required(f"{path}.type", "type is required when seccompProfile is set")]
    else:
        found = one_of(f"{path}.type", kind, PROFILES)
    local = profile.get("localhostProfile")
    here = f"{path}.localhostProfile"
    if kind == "Localhost":
        if local is None:
            found.append(field_errors.required(here, "must be set when seccomp type is Localhost"))
        else:
            found += validate_descending_path(local, here)
    elif local is not None:
        shown = internal("SeccompProfile", profile)
        found.append(field_errors.invalid(here, shown, "can only be set when seccomp type is Localhost"))
    return found


def validate_app_armor(profile: Tree, path: str) -> list[FieldError]:
    """A profile of AppArmor, of a pod or of a container."""
    kind, local, here = profile.get("type", ""), profile.get("localhostProfile"), f"{path}.localhostProfile"
    if not kind:
        return [field_errors.required(f"{path}.type", "type is required when appArmorProfile is set")]
    if kind not in PROFILES:
        return [field_errors.not_supported(f"{path}.type", kind, PROFILES)]
    if kind != "Localhost":
        what = "can only be set when AppArmor type is Localhost"
        return [] if local is None else [field_errors.invalid(here, local, what)]
    found: list[FieldError] = []
    if not local or not local.strip():
        found.append(field_errors.required(here, "must be set when AppArmor type is Localhost"))
    if local and local != local.strip():
        found = [field_errors.invalid(here, local, "must not be padded with whitespace")]
    if local and len(local.encode()) > MAX_PROFILE_LENGTH:
        found.append(field_errors.too_long(here, MAX_PROFILE_LENGTH))
    return found


def _sysctls(sysctls: list[Tree], spec: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    seen: set[str] = set()
    for position, sysctl in enumerate(sysctls):
        here, name = f"{path}[{position}].name", sysctl.get("name", "")
        if not name:
            found.append(field_errors.required(here))
        elif len(name) > MAX_SYSCTL_LENGTH or not names.matches(SYSCTL, name):
            what = f"must have at most {MAX_SYSCTL_LENGTH} characters and match regex ^{SYSCTL}$"
            found.append(field_errors.invalid(here, name, what))
        elif name in seen:
            found.append(field_errors.duplicate(here, name))
        dotted = name.replace("/", ".")
        if spec.get("hostNetwork") and dotted.startswith("net."):
            found.append(field_errors.invalid(here, name, "may not be specified when 'hostNetwork' is true"))
        elif spec.get("hostIPC") and dotted.startswith(IPC_SYSCTLS):
            found.append(field_errors.invalid(here, name, "may not be specified when 'hostIPC' is true"))
        seen.add(name)
    return found


def _windows(options: Tree, path: str) -> list[FieldError]:
    found: list[FieldError] = []
    if "gmsaCredentialSpecName" in options:
        name = options["gmsaCredentialSpecName"]
        found += complaints(f"{path}.gmsaCredentialSpecName", name, names.dns1123_subdomain(name))
    if "gmsaCredentialSpec" in options:
        text, here = options["gmsaCredentialSpec"], f"{path}.gmsaCredentialSpec"
        if not text:
            found.append(field_errors.invalid(here, text, "gmsaCredentialSpec cannot be an empty string"))
        elif len(text.encode()) > MAX_GMSA_KIB * 1024:
            found.append(field_errors.invalid(here, text, f"gmsaCredentialSpec size must be under {MAX_GMSA_KIB} KiB"))
    if "runAsUserName" in options:
        text, here = options["runAsUserName"], f"{path}.runAsUserName"
        if not text:
            found.append(field_errors.invalid(here, text, "runAsUserName cannot be an empty string"))
        elif any(mark < " " or mark == "\x7f" for mark in text):
            found.append(field_errors.invalid(here, text, "runAsUserName cannot contain control characters"))
        elif text.count("\\") > 1:
            found.append(field_errors.invalid(here, text, "runAsUserName cannot contain more than one backslash"))
        else:
            found += complaints(here, text, _windows_user(text))
    return found


def _windows_user(text: str) -> list[str]:
    r"""What is wrong with ``DOMAIN\user``, where the domain may be left out."""
    domain, backslash, user = text.rpartition("\\")
    found: list[str] = []
    if len(domain.encode()) >= MAX_WINDOWS_DOMAIN:
        found.append(f"runAsUserName's Domain length must be under {MAX_WINDOWS_DOMAIN} characters")
    if backslash and not names.matches(NETBIOS_NAME, domain) and not names.matches(WINDOWS_DOMAIN, domain):
        found.append("runAsUserName's Domain doesn't match the NetBios nor the DNS format")
    if not user:
        found.append("runAsUserName's User cannot be empty")
    elif len(user.encode()) > MAX_WINDOWS_USER:
        found.append(f"runAsUserName's User length must not be longer than {MAX_WINDOWS_USER} characters")
    if user and not user.strip(". "):
        found.append("runAsUserName's User cannot contain only periods or spaces")
    if any(mark in WINDOWS_MARKS for mark in user):
        found.append(f"runAsUserName's User cannot contain the following characters: {WINDOWS_MARKS}")
    return found


def validate_descending_path(text: str, path: str) -> list[FieldError]:
    """A relative path that stays below where it starts."""
    found: list[FieldError] = []
    if text.startswith("/"):
        found.append(field_errors.invalid(path, text, "must be a relative path"))
    if ".." in text.split("/"):
        found.append(field_errors.invalid(path, text, "must not contain '..'"))
    return found
