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
