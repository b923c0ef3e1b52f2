"""Which kubeconfigs of worker clusters are read, and in which words others are refused."""

import base64
from pathlib import Path
from typing import Any

import pytest
import yaml

from fakekube.apimachinery.meta import ObjectKey
from fakekube.apimachinery.types import Tree
from fakekube.cache.indexer import Indexer
from fakekube.cache.lister import Lister
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.multikueue import kubeconfigs
from fakekube_controllers.kueue.multikueue.kubeconfigs import CannotLoad

NOTHING_SET = (
    "invalid configuration: no configuration has been provided, try setting KUBERNETES_MASTER environment variable")
PARSE, PREFIX = "failed to parse kubeconfig(apiconfig): ", "kubeconfig path is not under the allowed prefix: "
GOOD: Tree = {
    "clusters": [{"name": "c", "cluster": {"server": "https://worker.example"}}],
    "users": [{"name": "u", "user": {"token": "t"}}]}


def secrets(*data: Tree) -> Lister:
    """Secrets named ``s``, at most one."""
    indexer = Indexer()
    for each in data:
        indexer.put(ObjectKey("kueue-system", "s"), {"metadata": {"name": "s", "namespace": "kueue-system"}, **each})
    return Lister(indexer)


def of_text(text: bytes) -> Tree:
    """A Secret with a kubeconfig."""
    return {"data": {"kubeconfig": base64.b64encode(text).decode()}}


def refusal(source: Tree, *data: Tree, **features: bool) -> tuple[str, str]:
    """Reason and text of what is said of a source."""
    with pytest.raises(CannotLoad) as refused:
        kubeconfigs.load({"spec": {"clusterSource": source}}, secrets(*data), "kueue-system", Features(**features))
    return refused.value.reason, str(refused.value)


def of_secret() -> Tree:
    """A source that is a Secret."""
    return {"kubeConfig": {"location": "s", "locationType": "Secret"}}


def of_path(location: str) -> Tree:
    """A source that is a file."""
    return {"kubeConfig": {"location": location, "locationType": "Path"}}


@pytest.mark.spec("KUEUE-151")
@pytest.mark.parametrize(("source", "data", "features", "wanted"), [
    ({"clusterProfileRef": {"name": "p"}}, (), {},
     ("MultiKueueClusterProfileFeatureDisabled", "MultiKueueClusterProfile feature gate is disabled")),
    ({"clusterProfileRef": {"name": "p"}}, (), {"MultiKueueClusterProfile": True},
     ("BadClusterProfile", "no access provider configured")),
    ({}, (), {}, ("BadKubeConfig", "kubeconfig reference is nil")),
    (of_secret(), (), {}, ("BadKubeConfig", 'Secret "s" not found')),
    (of_secret(), ({},), {}, ("BadKubeConfig", 'key "kubeconfig" not found in secret "s"')),
    (of_secret(), ({"data": {"other": ""}},), {}, ("BadKubeConfig", 'key "kubeconfig" not found in secret "s"')),
    (of_secret(), (of_text(b"\xff"),), {},
     ("InsecureKubeConfig", f"{PARSE}'utf-8' codec can't decode byte 0xff in position 0: invalid start byte")),
    (of_secret(), (of_text(b"[]"),), {}, ("InsecureKubeConfig", f"{PARSE}it is no mapping")),
    (of_secret(), (of_text(b"clusters: [1]"),), {},
     ("InsecureKubeConfig", f"{PARSE}'int' object is not subscriptable")),
    (of_secret(), (of_text(b"users: [x]"),), {}, ("InsecureKubeConfig", f"{PARSE}'str' object has no attribute 'get'")),
    (of_secret(), (of_text(b"clusters: [{}]"),), {}, ("InsecureKubeConfig", f"{PARSE}'name'")),
    (of_secret(), (of_text(b"{}"),), {}, ("InsecureKubeConfig", NOTHING_SET)),
])
def test_sources_that_cannot_be_loaded(source: Tree, data: tuple[Tree, ...], features: dict[str, bool], wanted: Any) -> None:
    """Given a source of a kubeconfig that is not there or cannot be read, when it is loaded, then
    the reason and the text say why.
    """
    assert refusal(source, *data, **features) == wanted


@pytest.mark.spec("KUEUE-151")
@pytest.mark.parametrize(("cluster", "user", "text"), [
    ({}, {"tokenFile": "/t"}, "tokenFile is not allowed"),
    ({"server": ""}, {"tokenFile": "/t"}, "tokenFile is not allowed"),
    ({}, {"username": "u"}, "basic auth is not allowed"),
    ({}, {"password": "p"}, "basic auth is not allowed"),
    ({}, {"exec": {"command": "x"}}, "exec plugins are not allowed"),
    ({}, {"auth-provider": {"name": "x"}}, "auth providers are not allowed"),
    ({"insecure-skip-tls-verify": True}, {}, "insecure TLS verification is not allowed for cluster c"),
    ({"certificate-authority": "/ca"}, {"exec": {"command": "x"}},
     "certificate-authority file paths are not allowed, use certificate-authority-data for cluster c"),
    ({"server": ""}, {}, "server URL is required for cluster c"),
    ({"server": "https://"}, {}, "untrusted server endpoint"),
    ({"server": "https://a_b"}, {}, "untrusted server endpoint"),
])
def test_kubeconfigs_that_are_not_safe(cluster: Tree, user: Tree, text: str) -> None:
    """Given a kubeconfig with one thing that is not safe, when it is loaded, then it is refused
    in words of that.
    """
    config: Tree = {
        "clusters": [{"name": "c", "cluster": {**GOOD["clusters"][0]["cluster"], **cluster}}],
        "users": [{"name": "u", "user": user}]}
    assert refusal(of_secret(), of_text(yaml.safe_dump(config).encode())) == ("InsecureKubeConfig", text)


@pytest.mark.parametrize("server", ["https://worker.example", "https://WORKER", "https://10.0.0.1:6443", "https://[::1]"])
def test_a_good_kubeconfig_is_text_and_tree(server: str) -> None:
    """Given a kubeconfig with a server by name or address, when it is loaded, then it is what the
    Secret has, as text and as a tree.
    """
    tree = {**GOOD, "clusters": [{"name": "c", "cluster": {"server": server}}]}
    text = yaml.safe_dump(tree)
    cluster = {"spec": {"clusterSource": of_secret()}}
    found = kubeconfigs.load(cluster, secrets(of_text(text.encode())), "kueue-system", Features())
    assert found == (text, tree)


def test_files_that_are_read_or_not(tmp_path: Path) -> None:
    """Given files anywhere, when their path is not looked at, then a kubeconfig is read, and what
    is no file or no text is refused with its path.
    """
    (tmp_path / "good").write_text(yaml.safe_dump(GOOD))
    (tmp_path / "bytes").write_bytes(b"\xff")
    cluster = {"spec": {"clusterSource": of_path(str(tmp_path / "good"))}}
    assert kubeconfigs.load(cluster, secrets(), "kueue-system", Features()).tree == GOOD
    absent, no_text = tmp_path / "absent", tmp_path / "bytes"
    assert refusal(of_path(str(absent))) == ("BadKubeConfig", f"open {absent}: No such file or directory")
    assert refusal(of_path(str(no_text))) == (
        "BadKubeConfig", f"open {no_text}: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte")


def test_files_lie_where_kubeconfigs_may(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a folder for kubeconfigs, when paths are looked at, then one below it is read, also
    by a link within, and none that leads out of it.
    """
    allowed = tmp_path / "kubeconfigs"
    monkeypatch.setattr(kubeconfigs, "KUBECONFIG_PATH_PREFIX", str(allowed))
    gate = {"MultiKueueKubeConfigPathValidation": True}

    def refused(location: str) -> str:
        reason, text = refusal(of_path(location), **gate)
        assert reason == "BadKubeConfig"
        return text

    assert refused(str(allowed / "good")) == f'{PREFIX}"{allowed}/good" is not under "{allowed}"'
    allowed.mkdir()
    (allowed / "good").write_text(yaml.safe_dump(GOOD))
    (allowed / "link").symlink_to(allowed / "good")
    (tmp_path / "outside").write_text(yaml.safe_dump(GOOD))
    (allowed / "out").symlink_to(tmp_path / "outside")
    for name in ("good", "link", "../kubeconfigs/good"):
        cluster = {"spec": {"clusterSource": of_path(f"{allowed}/{name}")}}
        assert kubeconfigs.load(cluster, secrets(), "kueue-system", Features(**gate)).tree == GOOD
    assert refused("") == "kubeconfig path must not be empty"
    assert refused("../good") == f'{PREFIX}path contains ".."'
    assert refused("good") == f"{PREFIX}path must be absolute"
    assert refused(f"{allowed}/absent") == (
        f"cannot resolve kubeconfig path symlinks: lstat {allowed}/absent: no such file or directory")
    for location in (f"{allowed}/../outside", f"{allowed}/out"):
        assert refused(location) == f'{PREFIX}"{tmp_path}/outside" is not under "{allowed}"'
