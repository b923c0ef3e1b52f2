"""What is wrong with a projected volume and its sources.

Upstream: validateProjectionSources in pkg/apis/core/validation/validation.go.
"""

from fakekube.apimachinery import field_errors, names, validation
from fakekube.apimachinery.field_errors import FieldError
from fakekube.apimachinery.types import Tree
from fakekube.apis.checks import signer_name
from fakekube.apis.core.container_env import is_plain_field_ref
from fakekube.apis.core.volume_items import (
    VOLUME_FIELD_PATHS,
    validate_downward_file,
    validate_free_path,
    validate_key_to_path,
    validate_mode,
)

SHORTEST_TOKEN_SECONDS = 600
LONGEST_TOKEN_SECONDS = 2**32
SHORTEST_CERTIFICATE_SECONDS = 3600
LONGEST_CERTIFICATE_SECONDS = 91 * 86400
LONGEST_KUBERNETES_CERTIFICATE_SECONDS = 86400
KEY_TYPES = ("RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519")
CERTIFICATE_PATHS = ("credentialBundlePath", "keyPath", "certificateChainPath")
CONFLICT = "conflicting duplicate paths"
NO_PATH = "specify at least one of credentialBundlePath, keyPath, and certificateChainPath"


def validate_projected(source: Tree, path: str) -> list[FieldError]:
    """A projected volume; no two of its files may have the same path."""
    found = validate_mode(source.get("defaultMode"), f"{path}.defaultMode")
    taken: set[str] = set()
    for position, projection in enumerate(source.get("sources") or ()):
        here = f"{path}.sources[{position}]"
        for name in ("secret", "configMap"):
            if name in projection:
                found += _keyed(projection[name], f"{here}.{name}", path, taken)
        if "downwardAPI" in projection:
            for item in projection["downwardAPI"].get("items", ()):
                found += validate_downward_file(item, f"{here}.downwardAPI")
                found += _take(item.get("path", ""), item.get("path", ""), path, taken)
        if "serviceAccountToken" in projection:
            found += _token(projection["serviceAccountToken"], f"{here}.serviceAccountToken", path)
        if "clusterTrustBundle" in projection:
            found += _trust_bundle(projection["clusterTrustBundle"], f"{here}.clusterTrustBundle", path, taken)
        if "podCertificate" in projection:
            found += _certificate(projection["podCertificate"], f"{here}.podCertificate", path, taken)
        if len(projection) > 1:
            found.append(field_errors.forbidden(here, "may not specify more than 1 volume type per source"))
    return found


def accepts_projected(source: Tree) -> bool:
    """Whether a projected volume has nothing but plain files of tokens, ConfigMaps and fields of
    the pod, as that of the service account's token has. Whoever gets False has to ask
    ``validate_projected``.
    """
    if validate_mode(source.get("defaultMode"), ""):
        return False
    paths: list[str] = []
    for projection in source.get("sources") or ():
        if len(projection) != 1:
            return False
        if "serviceAccountToken" in projection:
            token = projection["serviceAccountToken"]
            if not SHORTEST_TOKEN_SECONDS <= token.get("expirationSeconds", 0) <= LONGEST_TOKEN_SECONDS:
                return False
            paths.append(token.get("path", ""))
        elif "configMap" in projection:
            if not projection["configMap"].get("name"):
                return False
            for item in projection["configMap"].get("items", ()):
                if not item.get("key") or "mode" in item:
                    return False
                paths.append(item.get("path", ""))
        elif "downwardAPI" in projection:
            for item in projection["downwardAPI"].get("items", ()):
                if len(item) > 2 or not is_plain_field_ref(item.get("fieldRef"), VOLUME_FIELD_PATHS):
                    return False
                paths.append(item.get("path", ""))
        else:
            return False
    for path in paths:
        if not path or path[0] in "./" or ".." in path:
            return False
    return len(dict.fromkeys(paths)) == len(paths)


def _take(text: str, shown: str, path: str, taken: set[str]) -> list[FieldError]:
    if not text:
        return []
    if text in taken:
        return [field_errors.invalid(path, shown, CONFLICT)]
    taken.add(text)
    return []


def _keyed(source: Tree, path: str, volume_path: str, taken: set[str]) -> list[FieldError]:
    found: list[FieldError] = []
    if not source.get("name"):
        found.append(field_errors.required(f"{path}.name"))
    for position, item in enumerate(source.get("items", ())):
        found += validate_key_to_path(item, f"{path}.items[{position}]")
        found += _take(item.get("path", ""), source.get("name", ""), volume_path, taken)
    return found


def _token(source: Tree, path: str, volume_path: str) -> list[FieldError]:
    found: list[FieldError] = []
    seconds = source.get("expirationSeconds")
    if seconds is None:
        found.append(field_errors.required(f"{path}.expirationSeconds"))
    elif seconds < SHORTEST_TOKEN_SECONDS:
        what = "may not specify a duration less than 10 minutes"
        found.append(field_errors.invalid(f"{path}.expirationSeconds", seconds, what))
    elif seconds > LONGEST_TOKEN_SECONDS:
        what = "may not specify a duration larger than 2^32 seconds"
        found.append(field_errors.invalid(f"{path}.expirationSeconds", seconds, what))
    if not source.get("path"):
        return [*found, field_errors.required(f"{volume_path}.path")]
    return found + validate_free_path(source["path"], f"{volume_path}.path")


def _trust_bundle(source: Tree, path: str, volume_path: str, taken: set[str]) -> list[FieldError]:
    found: list[FieldError] = []
    name, signer = source.get("name"), source.get("signerName")
    if name is not None and signer is not None:
        found.append(field_errors.invalid(path, source, "only one of name and signerName may be used"))
    elif name is not None:
        if not name:
            found.append(field_errors.required(f"{path}.name", "must be a valid object name"))
        texts = [f"not a valid clustertrustbundlename: {text}" for text in _bundle_name(name)]
        found += field_errors.complaints(f"{path}.name", name, texts)
        if "labelSelector" in source:
            what = "labelSelector must be unset if name is specified"
            found.append(field_errors.invalid(f"{path}.labelSelector", source["labelSelector"], what))
    elif signer is not None:
        if not signer:
            found.append(field_errors.required(f"{path}.signerName", "must be a valid signer name"))
        found += signer_name(f"{path}.signerName", signer)
        found += validation.label_selector(source.get("labelSelector"), f"{path}.labelSelector")
    else:
        found.append(field_errors.required(path, "either name or signerName must be specified"))
    text = source.get("path", "")
    if not text:
        found.append(field_errors.required(f"{path}.path"))
    return found + validate_free_path(text, f"{path}.path") + _take(text, text, volume_path, taken)


def _bundle_name(name: str) -> list[str]:
    """``my-bundle``, or ``example.com:signer:my-bundle`` for that of a signer."""
    return names.dns1123_subdomain(name.rpartition(":")[2])


def _certificate(source: Tree, path: str, volume_path: str, taken: set[str]) -> list[FieldError]:
    found = signer_name(f"{path}.signerName", source.get("signerName", ""))
    found += validation.one_of(f"{path}.keyType", source.get("keyType", ""), KEY_TYPES)
    seconds = source.get("maxExpirationSeconds")
    if seconds is not None:
        kubernetes = source.get("signerName", "").partition("/")[0].endswith("kubernetes.io")
        longest = LONGEST_KUBERNETES_CERTIFICATE_SECONDS if kubernetes else LONGEST_CERTIFICATE_SECONDS
        here = f"{path}.maxExpirationSeconds"
        if seconds < SHORTEST_CERTIFICATE_SECONDS:
            found.append(field_errors.invalid(here, seconds, "if provided, maxExpirationSeconds must be >= 3600"))
        if seconds > longest:
            found.append(field_errors.invalid(here, seconds, f"if provided, maxExpirationSeconds must be <= {longest}"))
    given = [name for name in CERTIFICATE_PATHS if source.get(name)]
    for name in given:
        found += validate_free_path(source[name], f"{path}.{name}")
        found += _take(source[name], source[name], volume_path, taken)
    return found if given else [*found, field_errors.required(path, NO_PATH)]
