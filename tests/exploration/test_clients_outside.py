"""Strategies against a client outside, in a thread of the test, which a user of its own tells from
the test.
"""

import pytest

from fakekube.exploration import items
from tests.exploration.test_strategies import ran

PROJECT = """
import threading
import lightkube
import pytest
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.core_v1 import ConfigMap, Secret

def run(path, second):
    client = lightkube.Client(lightkube.KubeConfig.from_file(path), namespace="default")
    try:
        work(client, second)
    finally:
        client._client._client.close()

def work(client, second):
    for _, found in client.watch(ConfigMap):
        if found.metadata.name == "web":
            for metadata in ObjectMeta(name="web-0"), ObjectMeta(**second):
                try:
                    client.create(Secret(metadata=metadata))
                    return
                except lightkube.ApiError as error:
                    if error.status.reason == "AlreadyExists":
                        return
                except Exception:
                    continue

@pytest.mark.fakekube(strategies="ambiguous-writes", explore=6, target="operator")
def test_it(fakekube_server):
    operator = fakekube_server.kubeconfig_for("operator", ["system:masters"])
    thread = threading.Thread(target=run, args=(operator, SECOND), daemon=True)
    thread.start()
    client = lightkube.Client(lightkube.KubeConfig.from_file(fakekube_server.kubeconfig), namespace="default")
    client.create(ConfigMap(metadata=ObjectMeta(name="web")))
    thread.join(10)
    made = len(list(client.list(Secret)))
    client._client._client.close()
    assert made == 1
"""


@pytest.mark.parametrize(("second", "outcome"), [({"generateName": "web-"}, "failed"), ({"name": "web-0"}, "passed")])
def test_a_client_outside_is_told_wrongly(pytester, second, outcome):
    """Given a client that makes another Secret when it is told of an error, when its writes are
    committed and it is told otherwise, then its test fails; that of one which makes the same again
    does not.
    """
    assert "fakekube_server" in items.OWN_CLUSTERS
    result, told = ran(pytester, f"SECOND = {second!r}\n{PROJECT}")
    result.assert_outcomes(**{outcome: 1})
    assert ("fault: write 1 of operator is committed and" in told) == (outcome == "failed")


STALE = """
import threading
import pytest
from tests.exploration.buggy import plain

@pytest.mark.fakekube(
    strategies="stale-states", explore=SEEDS, target="operator", nodes=0, controllers="", clock="manual", grace="200ms")
def test_it(fakekube_server):
    stop, core = threading.Event(), plain.connected(fakekube_server.kubeconfig)
    operator = fakekube_server.kubeconfig_for("operator", ["system:masters"])
    threading.Thread(target=getattr(plain, OPERATOR)(), args=(operator, stop), daemon=True).start()
    try:
        core.create_namespaced_config_map("default", {"metadata": {"name": "web"}})
        fakekube_server.advance("1m")
        core.delete_namespaced_config_map("web", "default")
        fakekube_server.advance("1m")
        core.create_namespaced_config_map("default", {"metadata": {"name": "web"}})
        fakekube_server.advance("1m")
        uid = core.read_namespaced_secret("web", "default").metadata.uid
        core.patch_namespaced_config_map("web", "default", {"data": {"color": "blue"}})
        fakekube_server.advance("2m")
        assert core.read_namespaced_secret("web", "default").metadata.uid == uid
    finally:
        stop.set()
"""


@pytest.mark.parametrize(("operator", "seeds", "outcome"), [("CleansByName", 100, "failed"), ("CleansByUid", 6, "passed")])
def test_a_client_outside_lists_anew_at_a_replica_that_is_behind(pytester, operator, seeds, outcome):
    """Given a client that nobody here can start again, which lists with resourceVersion=0 when its
    watch breaks, when it reads from a replica that is behind, then it acts on what is long gone,
    and its test fails; that of one which compares uids does not.
    """
    result, told = ran(pytester, f"OPERATOR, SEEDS = {operator!r}, {seeds}\n{STALE}")
    result.assert_outcomes(**{outcome: 1})
    assert ("fault: operator then reads for" in told) == (outcome == "failed")
