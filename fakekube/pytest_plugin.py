"""A fresh cluster for every test that asks for one.

``fakekube_server`` is a server on a real port, in a background thread, for synchronous clients; ``fake_cluster`` runs in the
test's own event loop, for async tests. Options come from the ini file (``fakekube_nodes`` ...) and from the marker
``@pytest.mark.fakekube(nodes=3, clock="manual")``, the closest winning. The report of a test that fails has a section with
the seed, the last writes and what they answered to. A controller that changes an object which belongs to a cache fails the test,
unless ``fakekube_cache_mutation_detector = false`` or the marker says otherwise. Tests under pytest-xdist do not meet: every
cluster has a port and memory of its own.

This module imports pytest and nothing else: projects that have us installed and do not use us must not pay.
"""

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fakekube.composition.options import ClusterOptions
    from fakekube.testing.background import BackgroundCluster

INI = {
    "nodes": "nodes of the cluster (default 1)",
    "controllers": "controllers that run, as kube-controller-manager's --controllers (default *)",
    "kubernetes_version": "Kubernetes release to be (default the newest)",
    "feature_gates": "feature gates, A=true,B=false",
    "runtime_config": "API versions to serve besides, group/version=true",
    "clock": "auto, manual, real, or how many times as fast as the wall's (default auto)",
    "seed": "seed of names, uids and jitter (default 0)",
    "disable_admission_plugins": "admission plugins to switch off",
    "metrics_server": "false: metrics.k8s.io is not served",
    "default_storage_class": "true: there is a default StorageClass, whose volumes are made at once",
    "event_ttl": "how long an Event is kept after its last write (default 1h)",
    "grace": "how long clients outside must be quiet, in real time, before virtual time moves (default 600ms; 0: not at all)",
    "allow_host": "names by which clients reach the server, besides localhost and its address",
    "allow_origin": "web origins whose pages may use the server",
    "etcd_compaction_interval": "how old a version has to be at least to be read no more (default never, or 5m on a real clock)",
    "advertise_address": "the IP address of the endpoints of the service kubernetes (default: it has none)",
    "client_ca_file": "a file whose CA the ConfigMap extension-apiserver-authentication publishes (default: there is none)",
    "resource_quota_sync_period": "how often all quotas are counted anew (default 5m)",
}

GUARD = "cache_mutation_detector"
"""What is on in tests, and off elsewhere unless somebody asks for it."""

CLUSTERS = ("fake_cluster", "fakekube_server")
SECTION = "fakekube: the seed, and the last writes"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The ini options, one for each that the marker takes."""
    for name, text in INI.items():
        parser.addini(f"fakekube_{name}", f"fakekube: {text}")
    parser.addini(f"fakekube_{GUARD}", "fakekube: false: a controller that changes a cached object does not fail its test")


def pytest_configure(config: pytest.Config) -> None:
    """The marker; and the async fixture, where some plugin runs async tests."""
    known = ", ".join(f"{name}=" for name in (*INI, GUARD))
    config.addinivalue_line("markers", f"fakekube({known}): what the test's cluster is like")
    manager = config.pluginmanager
    if manager.hasplugin("asyncio") or manager.hasplugin("anyio"):
        from fakekube.testing import async_fixtures

        manager.register(async_fixtures.plugin(manager.hasplugin("asyncio")), "fakekube-async")


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> "Iterator[None]":
    """To the report of a test that failed, what its clusters did last, and how to have it again."""
    outcome: Any = yield
    report = outcome.get_result()
    if report.when == "call" and report.failed:
        used = getattr(item, "funcargs", {})
        clusters = [used[name] for name in CLUSTERS if name in used]
        if clusters:
            from fakekube.testing import report as words

            for cluster in clusters:
                report.sections.append((SECTION, words.of_failure(cluster, item.nodeid)))


@pytest.fixture
def fakekube_options(request: pytest.FixtureRequest) -> "ClusterOptions":
    """What this test's cluster is like. Override it in a conftest to decide otherwise.

    Raises UsageError for an option that cannot be meant.
    """
    from fakekube.composition.options import ClusterOptions, OptionError

    values: dict[str, Any] = {GUARD: True}
    for name in (*INI, GUARD):
        if text := request.config.getini(f"fakekube_{name}"):
            values[name] = text
    for marker in reversed(list(request.node.iter_markers("fakekube"))):
        if marker.args:
            raise pytest.UsageError("@pytest.mark.fakekube takes keyword arguments only, such as nodes=3")
        values.update(marker.kwargs)
    try:
        return ClusterOptions.of(**values)
    except OptionError as error:
        raise pytest.UsageError(f"fakekube: {error}") from error


@pytest.fixture
def fakekube_server(fakekube_options: "ClusterOptions", tmp_path: Path) -> "Iterator[BackgroundCluster]":
    """A cluster behind a real port on loopback, in a thread of its own, for clients that block.

    It has ``url``, ``kubeconfig`` (a path), and ``settle()``, ``advance(seconds)``, ``run_until(predicate)`` to be called
    from the test.
    """
    from fakekube.composition.options import OptionError
    from fakekube.testing.background import BackgroundCluster

    with ExitStack() as stack:
        try:
            cluster = stack.enter_context(BackgroundCluster(fakekube_options, kubeconfig=tmp_path / "kubeconfig"))
        except OptionError as error:  # what only the server knows: releases, gates, APIs, plugins
            raise pytest.UsageError(f"fakekube: {error}") from error
        yield cluster


@pytest.fixture
def fakekube_kubeconfig(fakekube_server: "BackgroundCluster") -> Path:
    """The path of a kubeconfig that leads to this test's server."""
    return fakekube_server.kubeconfig
