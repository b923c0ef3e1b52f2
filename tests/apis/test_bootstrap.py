"""What a fresh cluster holds."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apis.bootstrap import KINDS, RBAC, bootstrap_objects
from fakekube.apis.catalog import catalog
from fakekube.apis.gates import Gates

RECORDED = Path(__file__).resolve().parents[3] / "shared" / "data" / "bootstrap-1.37.json"
FLOW = "flowcontrol.apiserver.k8s.io"


def named(group: str, resource: str, name: str) -> dict[str, Any]:
    found = [obj for obj in bootstrap_objects(GroupResource(group, resource)) if obj["metadata"]["name"] == name]
    assert len(found) == 1
    return found[0]


def test_most_resources_start_empty():
    """Given a resource that nothing is started with / when asked / then nothing."""
    assert bootstrap_objects(GroupResource("", "pods")) == []
    assert bootstrap_objects(GroupResource("batch", "jobs")) == []


@pytest.mark.parametrize(
    ("group", "resource", "count"),
    [
        ("", "namespaces", 4), ("", "services", 1), ("scheduling.k8s.io", "priorityclasses", 2),
        (RBAC, "clusterroles", 73), (RBAC, "clusterrolebindings", 54), (RBAC, "roles", 7), (RBAC, "rolebindings", 7),
        (FLOW, "flowschemas", 11), (FLOW, "prioritylevelconfigurations", 8),
    ],
)  # fmt: skip
def test_the_rest_starts_with_what_a_real_cluster_has(group: str, resource: str, count: int):
    """Given a resource / when asked / then as many objects as a 1.37 cluster has, with names and no
    uids.
    """
    found = bootstrap_objects(GroupResource(group, resource))
    assert len(found) == count
    assert all(obj["metadata"]["name"] and "uid" not in obj["metadata"] for obj in found)
    assert list(found[0])[:3] == ["kind", "apiVersion", "metadata"]


def test_each_call_gives_trees_of_its_own():
    """Given objects that a caller changed / when asked again / then they are as before."""
    namespaces = GroupResource("", "namespaces")
    bootstrap_objects(namespaces)[0]["metadata"]["name"] = "changed"
    assert bootstrap_objects(namespaces)[0]["metadata"]["name"] == "default"


def test_roles_and_bindings():
    """Given the notation of the table / when read / then whole roles and bindings come out."""
    admin = named(RBAC, "clusterroles", "cluster-admin")
    assert admin["rules"] == [
        {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]},
        {"verbs": ["*"], "nonResourceURLs": ["*"]},
    ]
    assert admin["metadata"]["labels"] == {"kubernetes.io/bootstrapping": "rbac-defaults"}
    view = named(RBAC, "clusterroles", "view")
    assert view["aggregationRule"] == {
        "clusterRoleSelectors": [{"matchLabels": {"rbac.authorization.k8s.io/aggregate-to-view": "true"}}]
    }
    assert view["metadata"]["labels"]["rbac.authorization.k8s.io/aggregate-to-edit"] == "true"
    binding = named(RBAC, "clusterrolebindings", "cluster-admin")
    assert binding["subjects"] == [{"kind": "Group", "apiGroup": RBAC, "name": "system:masters"}]
    assert binding["roleRef"] == {"apiGroup": RBAC, "kind": "ClusterRole", "name": "cluster-admin"}
    places = {obj["metadata"]["namespace"] for obj in bootstrap_objects(GroupResource(RBAC, "roles"))}
    assert places == {"kube-system", "kube-public"}


def test_priority_classes_of_the_system():
    """Given the built-in classes / when read / then they have the values that admission knows."""
    node = named("scheduling.k8s.io", "priorityclasses", "system-node-critical")
    assert node["value"] == 2000001000
    assert node["metadata"]["generation"] == 1


def test_an_older_release_gets_them_in_its_own_version():
    """Given releases before flow control was stable / when asked with a catalog / then in what they
    store.
    """
    def level(release: str) -> dict[str, Any]:
        found = bootstrap_objects(
            GroupResource(FLOW, "prioritylevelconfigurations"), catalog(release, Gates(release)).kinds
        )
        return found[0]

    assert level("1.37")["apiVersion"] == f"{FLOW}/v1"
    assert level("1.27")["apiVersion"] == f"{FLOW}/v1beta3"
    assert level("1.27")["spec"]["limited"]["nominalConcurrencyShares"] == 5
    assert level("1.25")["apiVersion"] == f"{FLOW}/v1beta2"
    assert level("1.25")["spec"]["limited"]["assuredConcurrencyShares"] == 5


def test_api_services_stand_for_what_is_served():
    """Given a catalog / when its APIServices are asked / then one a group version, with upstream's
    priorities.
    """
    found = bootstrap_objects(GroupResource("apiregistration.k8s.io", "apiservices"), catalog("1.37", Gates("1.37")).kinds)
    specs = {obj["metadata"]["name"]: obj["spec"] for obj in found}
    assert specs["v1."] == {"version": "v1", "groupPriorityMinimum": 18000, "versionPriority": 1}
    batch = {"group": "batch", "version": "v1", "groupPriorityMinimum": 17400, "versionPriority": 15}
    assert specs["v1.batch"] == batch
    assert specs["v2.autoscaling"]["versionPriority"] == 30
    assert "v1.apiregistration.k8s.io" not in specs


def test_the_objects_are_those_of_a_real_cluster():
    """Given the objects of a fresh 1.37 cluster / when compared / then all facts agree."""
    if not RECORDED.exists():
        pytest.skip(f"no recorded objects here ({RECORDED})")
    expected: dict[GroupResource, list[Any]] = {}
    for path, objects in json.loads(RECORDED.read_text()).items():
        parts = path.strip("/").split("/")
        group = parts[1] if parts[0] == "apis" else ""
        expected.setdefault(GroupResource(group, parts[-1]), []).extend(objects)
    assert sorted(expected) == sorted(KINDS)
    for resource, objects in expected.items():
        assert sorted(map(neutral, bootstrap_objects(resource))) == sorted(map(neutral, objects))


def neutral(obj: dict[str, Any]) -> str:
    """Without what depends on the run: times, the port of the server, and what the recording left
    out.
    """
    obj = {name: obj[name] for name in obj if name not in ("kind", "apiVersion") and obj[name] != {}}
    obj["metadata"] = {name: value for name, value in obj["metadata"].items() if name != "generation"}

    def cleaned(name: str, value: Any) -> Any:
        if name in ("lastTransitionTime", "targetPort"):
            return None
        if isinstance(value, dict):
            return {key: cleaned(key, each) for key, each in value.items()}
        return [cleaned("", each) for each in value] if isinstance(value, list) else value

    return json.dumps(cleaned("", obj), sort_keys=True)
