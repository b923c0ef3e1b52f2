"""The older annotations of pods for seccomp and AppArmor, beside the fields that took their place.

Upstream: applyAppArmorVersionSkew in pkg/registry/core/pod/strategy.go,
ValidateSeccompPodAnnotations, ValidateAppArmorPodAnnotations and what compares them with fields in
pkg/apis/core/validation/validation.go.
"""

from collections.abc import Iterator

from fakekube.apimachinery.field_errors import FieldError, forbidden, go_quote, invalid
from fakekube.apimachinery.types import Tree
from fakekube.apis.core.security_validation import validate_app_armor, validate_descending_path

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
SECCOMP_POD = "seccomp.security.alpha.kubernetes.io/pod"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
PREFIXES = (APP_ARMOR, SECCOMP_POD, SECCOMP)
LOCALHOST = "localhost/"
TYPES: dict[str, tuple[str, ...]] = {"Unconfined": ("unconfined",), "RuntimeDefault": ("runtime/default",)}
SECCOMP_TYPES: dict[str, tuple[str, ...]] = {**TYPES, "RuntimeDefault": ("runtime/default", "docker/default")}
CONTAINER_LISTS = ("initContainers", "containers", "ephemeralContainers")
APP_ARMOR_WARNING = 'deprecated since v1.30; use the "appArmorProfile" field instead'
SECCOMP_WARNING = 'non-functional in v1.27+; use the "seccompProfile" field instead'


def has_profiles(annotations: dict[str, str] | None) -> bool:
    """Whether any annotation may be about a profile."""
    for key in annotations or ():  # noqa: SIM110 - every new pod asks, and a generator costs as much as the answer
        if key.startswith(PREFIXES):
            return True
    return False


def sync_app_armor(spec: Tree, annotations: dict[str, str]) -> list[str]:
    """Fill the fields of a new pod's containers from their annotations; the warnings about those.
    """
    if (spec.get("os") or {}).get("name") == "windows":
        return []
    of_pod, found = (spec.get("securityContext") or {}).get("appArmorProfile"), list[str]()
    for container, _ in _containers(spec, ""):
        key, context = f"{APP_ARMOR}{container.get('name', '')}", container.get("securityContext") or {}
        if key not in annotations or "appArmorProfile" in context:
            continue
        profile = _profile(annotations[key])
        if profile is not None and validate_app_armor(profile, ""):
            profile = None
        if profile is not None and profile != of_pod:
            container["securityContext"] = {**context, "appArmorProfile": profile}
        if profile is None or profile != of_pod:
            found.append(f"metadata.annotations[{key}]: {APP_ARMOR_WARNING}")
    return found


def profile_warnings(spec: Tree, annotations: dict[str, str], meta_path: str, *, template: bool) -> list[str]:
    """About annotations that have no field beside them; those of a Pod for AppArmor are told when
    fields are filled.
    """
    context, found = spec.get("securityContext") or {}, list[str]()
    if SECCOMP_POD in annotations and "seccompProfile" not in context:
        found.append(f"{meta_path}.annotations[{SECCOMP_POD}]: {SECCOMP_WARNING}")
    for container, _ in _containers(spec, ""):
        own, name = container.get("securityContext") or {}, container.get("name", "")
        if f"{SECCOMP}{name}" in annotations and "seccompProfile" not in own:
            found.append(f"{meta_path}.annotations[{SECCOMP}{name}]: {SECCOMP_WARNING}")
        key = f"{APP_ARMOR}{name}"
        if template and key in annotations and "appArmorProfile" not in own:
            of_pod = context.get("appArmorProfile")
            if of_pod is None or of_pod != _profile(annotations[key]):
                found.append(f"{meta_path}.annotations[{key}]: {APP_ARMOR_WARNING}")
    return found


def validate_profile_annotations(annotations: dict[str, str], spec: Tree, path: str) -> list[FieldError]:
    """The annotations by themselves: known values, for containers that are there."""
    found: list[FieldError] = []
    for key, value in annotations.items():
        if key == SECCOMP_POD or key.startswith(SECCOMP):
            found += _seccomp(value, f"{path}.{key}")
    known = [container.get("name", "") for container, _ in _containers(spec, "")]
    for key, value in annotations.items():
        if key.startswith(APP_ARMOR):
            name = key.removeprefix(APP_ARMOR)
            if name not in known:
                found.append(invalid(f"{path}[{key}]", name, "container not found"))
            if value not in ("", "runtime/default", "unconfined") and not value.startswith(LOCALHOST):
                found.append(invalid(f"{path}[{key}]", value, f"invalid AppArmor profile name: {go_quote(value)}"))
    return found


def validate_profiles_match(annotations: dict[str, str], spec: Tree, path: str) -> list[FieldError]:
    """Annotations and fields that say different things."""
    context, found = spec.get("securityContext") or {}, list[FieldError]()
    if SECCOMP_POD in annotations and (profile := context.get("seccompProfile")):
        found += _match(annotations[SECCOMP_POD], profile, f"{path}.securityContext.seccompProfile", "seccomp", SECCOMP_TYPES)
    for container, here in _containers(spec, path):
        key, profile = f"{SECCOMP}{container.get('name', '')}", (container.get("securityContext") or {}).get("seccompProfile")
        if key in annotations and profile:
            where = f"{here}.securityContext.seccompProfile"
            found += _match(annotations[key], profile, where, "seccomp", SECCOMP_TYPES)
    if (spec.get("os") or {}).get("name") == "windows":
        return found
    for container, here in _containers(spec, path):
        key = f"{APP_ARMOR}{container.get('name', '')}"
        profile = (container.get("securityContext") or {}).get("appArmorProfile") or context.get("appArmorProfile")
        if key in annotations and profile:
            found += _match(annotations[key], profile, f"{here}.securityContext.appArmorProfile", "apparmor", TYPES)
    return found


def _containers(spec: Tree, path: str) -> Iterator[tuple[Tree, str]]:
    for field in CONTAINER_LISTS:
        for position, container in enumerate(spec.get(field) or ()):
            yield container, f"{path}.{field}[{position}]"


def _profile(text: str) -> Tree | None:
    """The field that says what an annotation for AppArmor says."""
    for kind, texts in TYPES.items():
        if text in texts:
            return {"type": kind}
    name = text.removeprefix(LOCALHOST)
    return {"type": "Localhost", "localhostProfile": name} if name and name != text else None


def _seccomp(value: str, path: str) -> list[FieldError]:
    if any(value in texts for texts in SECCOMP_TYPES.values()):
        return []
    if value.startswith(LOCALHOST):
        return validate_descending_path(value.removeprefix(LOCALHOST), path)
    return [invalid(path, value, "must be a valid seccomp profile")]


def _match(text: str, profile: Tree, path: str, what: str, types: dict[str, tuple[str, ...]]) -> list[FieldError]:
    kind = profile.get("type", "")
    if kind == "Localhost" and text.startswith(LOCALHOST):
        if text.removeprefix(LOCALHOST) == profile.get("localhostProfile"):
            return []
        return [forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")]
    if kind != "Localhost" and (kind not in types or text in types[kind]):
        return []
    return [forbidden(f"{path}.type", f"{what} type in annotation and field must match")]
