"""Where the kubeconfig of a worker cluster comes from, and which ones are refused.

Upstream: loadClientConfig, validateKubeconfig and validateKubeConfigPath in
pkg/controller/admissionchecks/multikueue/multikueuecluster.go. One thing is let in that upstream
refuses: ``insecure-skip-tls-verify`` beside a URL without TLS, where there is nothing to verify.
"""

import base64
import binascii
import ipaddress
import os
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from fakekube.apimachinery import names as object_names
from fakekube.apimachinery import yaml
from fakekube.apimachinery.types import ReadOnlyTree, Tree
from fakekube.cache.lister import Lister
from fakekube_controllers.kueue import names
from fakekube_controllers.kueue.features import Features

KUBECONFIG_PATH_PREFIX = "/etc/multikueue/kubeconfigs"
"""Files elsewhere are not read."""
PATH = "Path"
BAD_KUBECONFIG, INSECURE_KUBECONFIG = "BadKubeConfig", "InsecureKubeConfig"
BAD_CLUSTER_PROFILE, NO_CLUSTER_PROFILES = "BadClusterProfile", "MultiKueueClusterProfileFeatureDisabled"


class CannotLoad(Exception):
    """There is no kubeconfig that may be used; ``reason`` is that of the condition."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason


class Kubeconfig(NamedTuple):
    """A kubeconfig as text and as a tree."""

    text: str
    tree: Tree


def load(cluster: ReadOnlyTree, secrets: Lister, namespace: str, features: Features) -> Kubeconfig:
    """What a MultiKueueCluster names. Raises CannotLoad."""
    source = (cluster.get("spec") or {}).get("clusterSource") or {}
    if source.get("clusterProfileRef"):
        if not features.MultiKueueClusterProfile:
            raise CannotLoad(NO_CLUSTER_PROFILES, "MultiKueueClusterProfile feature gate is disabled")
        raise CannotLoad(BAD_CLUSTER_PROFILE, "no access provider configured")
    ref = source.get("kubeConfig")
    if ref is None:
        raise CannotLoad(BAD_KUBECONFIG, "kubeconfig reference is nil")
    text = _read_file(ref["location"], features) if ref.get("locationType") == PATH else (
        _of_secret(secrets, namespace, ref["location"]))
    return Kubeconfig(text, _validated(text))


def _of_secret(secrets: Lister, namespace: str, name: str) -> str:
    secret = secrets.get(namespace, name)
    if secret is None:
        raise CannotLoad(BAD_KUBECONFIG, f'Secret "{name}" not found')
    data = (secret.get("data") or {}).get(names.MULTIKUEUE_CONFIG_KEY)
    if data is None:
        raise CannotLoad(BAD_KUBECONFIG, f'key "{names.MULTIKUEUE_CONFIG_KEY}" not found in secret "{name}"')
    try:
        return base64.b64decode(data).decode()
    except (binascii.Error, UnicodeDecodeError) as error:
        raise CannotLoad(INSECURE_KUBECONFIG, f"failed to parse kubeconfig(apiconfig): {error}") from error


def _read_file(location: str, features: Features) -> str:
    path = Path(location)
    if features.MultiKueueKubeConfigPathValidation:
        path = _allowed_path(location)
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        text = error.strerror if isinstance(error, OSError) else error
        raise CannotLoad(BAD_KUBECONFIG, f"open {path}: {text}") from error


def _allowed_path(location: str) -> Path:
    """The file itself, all links followed, if it lies where kubeconfigs may. Raises CannotLoad."""
    refused = "kubeconfig path is not under the allowed prefix"
    if not location:
        raise CannotLoad(BAD_KUBECONFIG, "kubeconfig path must not be empty")
    cleaned = Path(os.path.normpath(location))
    if ".." in cleaned.parts:
        raise CannotLoad(BAD_KUBECONFIG, f'{refused}: path contains ".."')
    if not cleaned.is_absolute():
        raise CannotLoad(BAD_KUBECONFIG, f"{refused}: path must be absolute")
    prefix = Path(KUBECONFIG_PATH_PREFIX).resolve()
    if not prefix.is_dir():
        raise CannotLoad(BAD_KUBECONFIG, f'{refused}: "{cleaned}" is not under "{KUBECONFIG_PATH_PREFIX}"')
    if not cleaned.exists():
        raise CannotLoad(
            BAD_KUBECONFIG, f"cannot resolve kubeconfig path symlinks: lstat {cleaned}: no such file or directory")
    resolved = cleaned.resolve()
    if not resolved.is_relative_to(prefix):
        raise CannotLoad(BAD_KUBECONFIG, f'{refused}: "{resolved}" is not under "{prefix}"')
    return resolved


def _validated(text: str) -> Tree:
    """A kubeconfig that asks for nothing unsafe. Raises CannotLoad."""
    try:
        config = yaml.load(text.encode())[0]
    except ValueError as error:
        raise CannotLoad(INSECURE_KUBECONFIG, f"failed to parse kubeconfig(apiconfig): {_line(error)}") from error
    if not isinstance(config, dict):
        raise CannotLoad(INSECURE_KUBECONFIG, "failed to parse kubeconfig(apiconfig): it is no mapping")
    try:
        _check(config)
    except (AttributeError, TypeError, KeyError, ValueError) as error:
        raise CannotLoad(INSECURE_KUBECONFIG, f"failed to parse kubeconfig(apiconfig): {_line(error)}") from error
    return config


def _check(config: Tree) -> None:
    """Raises CannotLoad; AttributeError, TypeError, KeyError or ValueError for other types."""
    users = [entry.get("user") or {} for entry in config.get("users") or ()]
    if any(user.get("tokenFile") for user in users):
        raise CannotLoad(INSECURE_KUBECONFIG, "tokenFile is not allowed")
    for entry in config.get("clusters") or ():
        name, cluster = entry["name"], entry.get("cluster") or {}
        server = str(cluster.get("server") or "")
        if cluster.get("insecure-skip-tls-verify") and not server.startswith("http://"):
            raise CannotLoad(INSECURE_KUBECONFIG, f"insecure TLS verification is not allowed for cluster {name}")
        if cluster.get("certificate-authority"):
            raise CannotLoad(
                INSECURE_KUBECONFIG,
                f"certificate-authority file paths are not allowed, use certificate-authority-data for cluster {name}")
        if not server:
            raise CannotLoad(INSECURE_KUBECONFIG, f"server URL is required for cluster {name}")
        if not _is_valid_host(server):
            raise CannotLoad(INSECURE_KUBECONFIG, "untrusted server endpoint")
    if not config.get("clusters"):
        raise CannotLoad(
            INSECURE_KUBECONFIG, "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER "
            "environment variable")
    for user in users:
        for field, text in (("username", "basic auth is not allowed"), ("password", "basic auth is not allowed"),
                            ("exec", "exec plugins are not allowed"), ("auth-provider", "auth providers are not allowed")):
            if user.get(field):
                raise CannotLoad(INSECURE_KUBECONFIG, text)


def _is_valid_host(server: str) -> bool:
    host = urlsplit(server.lower()).hostname or ""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return not object_names.dns1123_subdomain(host)
    return True


def _line(error: Exception) -> str:
    return " ".join(str(error).split())
