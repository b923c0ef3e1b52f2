"""The ways in: the option, the marker, HTTP, a cluster in the background."""

import json
from pathlib import Path

import kubernetes
import pytest

from fakekube import Cluster
from fakekube.composition.options import OptionError
from fakekube.faults.plan import FaultNeverMet
from fakekube.faults.rules import FaultError
from fakekube.testing.background import BackgroundCluster
from tests.faults.asking import MAPS, ask, create, status

PATH = "/fakekube/v1/faults"
PLAN = """
kind: FaultPlan
faults:
- {name: unsure, resources: configmaps, verbs: create, error: EtcdTimeout, moment: after, nth: 1}
"""


async def test_a_plan_as_an_option(tmp_path: Path) -> None:
    """Given a file with a plan / when a cluster is made with it / then requests meet it; a plan
    that is none is refused before anything starts.
    """
    file = tmp_path / "plan.yaml"
    file.write_text(PLAN)
    async with Cluster(nodes=0, controllers="", clock="manual", faults=file) as cluster:
        assert [(await create(cluster, name)).status for name in "aab"] == [500, 409, 201]
    with pytest.raises(OptionError, match=r"^faults: a rule does one thing"):
        Cluster(faults={"resources": "pods"})


async def test_over_http() -> None:
    """Given a cluster / when a plan is posted, met, looked at and removed over HTTP / then each
    answer lists what is at work, and who met it; nonsense changes nothing.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        assert status(await ask(cluster, "GET", PATH))["items"] == []
        plan = {"faults": [
            {"name": "x", "verbs": "create", "error": "ServerTimeout", "times": 1}, {"compact": True, "name": "y"}]}
        listed = status(await ask(cluster, "POST", PATH, plan))
        assert [(item["name"], item["what"], item["met"]) for item in listed["items"]] == [
            ("x", "error ServerTimeout", 0), ("y", "compact", 0)]
        assert listed["items"][0]["rule"] == {"name": "x", "verbs": ["create"], "error": "ServerTimeout", "times": 1}
        assert (await create(cluster, "a")).status == 500
        listed = status(await ask(cluster, "GET", PATH))
        assert [item["met"] for item in listed["items"]] == [1, 0]
        assert [(one["fault"], one["verb"], one["path"], one["user_agent"]) for one in listed["meetings"]] == [
            ("x", "create", MAPS, "test")]

        for body, said in (({"faults": [{"name": "z", "compact": True}, {"error": "Nope"}]}, "faults.1.error: input should be"),
                           ({"faults": [{"name": "z", "compact": True}, {"name": "y", "compact": True}]},
                            "a fault is called 'y' already")):
            refused = await ask(cluster, "POST", PATH, body)
            assert refused.status == 400
            assert status(refused)["message"].startswith(said)
        assert (await ask(cluster, "DELETE", PATH, name="z")).status == 404
        assert (await ask(cluster, "PUT", PATH)).status == 405
        assert [item["name"] for item in status(await ask(cluster, "DELETE", PATH, name="x"))["items"]] == ["y"]
        assert status(await ask(cluster, "DELETE", PATH))["items"] == []


def test_a_background_cluster(tmp_path: Path) -> None:
    """Given a cluster behind a port / when a client that blocks meets an ambiguous error and a cut
    connection / then it sees what it would see of a real one, and the objects are there.
    """
    with BackgroundCluster(kubeconfig=tmp_path / "kubeconfig", nodes=0) as cluster:
        api = kubernetes.client.CoreV1Api(kubernetes.config.new_client_from_config(str(cluster.kubeconfig)))
        with cluster.faults.add(verbs="create", resources="configmaps", error="EtcdTimeout", moment="after", times=1) as fault:
            with pytest.raises(kubernetes.client.ApiException) as caught:
                api.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
            assert caught.value.status == 500
            assert json.loads(caught.value.body)["message"] == "etcdserver: request timed out"
            assert fault.met == 1
        assert api.read_namespaced_config_map("a", "default").metadata.name == "a"
        broken = pytest.raises(Exception, match=r"Connection broken: IncompleteRead")
        with cluster.faults.add(verbs="get", resources="configmaps", cut="body"), broken:
            api.read_namespaced_config_map("a", "default")
        with pytest.raises(FaultError, match="one thing"):
            cluster.faults.add(compact=True, stale=True)
        with pytest.raises(FaultNeverMet), cluster.faults.add(verbs="delete", compact=True):
            pass
        assert cluster.faults.meetings[0].verb == "create"


def test_a_marker(pytester: pytest.Pytester) -> None:
    """Given tests whose marker has a plan / when they run / then requests meet it, and a fault that
    none met is an error of its test.
    """
    pytester.makepyfile("""
        import pytest
        from fakekube.client.resources import CONFIG_MAPS
        from fakekube.apimachinery.errors import APIError

        PLAN = [{"name": "full", "verbs": "create", "resources": "configmaps", "error": "EtcdNoSpace"}]

        @pytest.mark.fakekube(nodes=0, faults=PLAN)
        async def test_met(fake_cluster):
            with pytest.raises(APIError, match="database space exceeded"):
                await fake_cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}}, "default")

        @pytest.mark.fakekube(nodes=0, faults=PLAN)
        async def test_not_met(fake_cluster):
            pass
    """)
    pytester.makeini("[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function")
    result = pytester.runpytest_subprocess("-q")
    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(["*FaultNeverMet: the fault full (error EtcdNoSpace) met no request: none matched"])
