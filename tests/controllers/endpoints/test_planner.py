"""Spreading endpoints over slices: whatever comes and goes, every pod is in one slice, and no slice
is too full.
"""

from hypothesis import given, settings
from hypothesis import strategies as st

from fakekube_controllers.endpoints.slices import MANAGED_BY, MANAGER, SERVICE_NAME, Planner

LIMIT = 3
SERVICE = {
    "apiVersion": "v1", "kind": "Service", "metadata": {"name": "s", "namespace": "default", "uid": "service"},
    "spec": {
        "selector": {"app": "x"}, "clusterIP": "10.0.0.1", "ipFamilies": ["IPv4"],
        "ports": [{"port": 80, "targetPort": "web"}]},
}


class Nodes:
    """Every node is there."""

    def get(self, namespace, name):
        return {"metadata": {"name": name}}


def pod(number, port, ready):
    return {
        "metadata": {"name": f"p{number}", "namespace": "default", "uid": f"u{number}"},
        "spec": {"nodeName": "n", "containers": [{"name": "c", "ports": [{"name": "web", "containerPort": port}]}]},
        "status": {
            "phase": "Running", "podIP": f"10.1.0.{number}", "podIPs": [{"ip": f"10.1.0.{number}"}],
            "conditions": [{"type": "Ready", "status": "True" if ready else "False"}]},
    }


def applied(slices, changes):
    """The slices after the changes, named as a server names them."""
    kept = {each["metadata"]["name"]: each for each in slices}
    for each in changes.delete:
        del kept[each["metadata"]["name"]]
    for each in changes.update:
        assert each["metadata"]["name"] in kept
        kept[each["metadata"]["name"]] = each
    names = (f"s-{number}" for number in range(1000) if f"s-{number}" not in kept)
    for each, name in zip(changes.create, names, strict=False):
        kept[name] = {**each, "metadata": {**each["metadata"], "name": name}}
    return list(kept.values())


POPULATIONS = st.lists(
    st.dictionaries(st.integers(1, 12), st.tuples(st.sampled_from([80, 81]), st.booleans()), max_size=10), min_size=1, max_size=5)


@settings(deadline=None)
@given(POPULATIONS)
def test_every_pod_is_in_one_slice(populations):
    """Given pods of one kind after another / when slices are planned for each / then every pod
    stands once, in a slice of its port, with its state; no slice is too full or empty beside
    others; and planning once more changes nothing.
    """
    slices = []
    for population in populations:
        pods = [pod(number, *what) for number, what in population.items()]
        slices = applied(slices, Planner(SERVICE, Nodes(), limit=LIMIT).plan("IPv4", pods, slices))
        found = {
            int(endpoint["targetRef"]["name"][1:]): (each["ports"][0]["port"], endpoint["conditions"]["ready"])
            for each in slices for endpoint in each["endpoints"]}
        assert found == population
        sizes = [len(each["endpoints"]) for each in slices]
        assert sum(sizes) == len(population)
        assert max(sizes) <= LIMIT
        assert sizes == [0] or min(sizes) > 0
        labels = {SERVICE_NAME: "s", MANAGED_BY: MANAGER}
        assert all(each["metadata"]["labels"] == labels and each["metadata"]["ownerReferences"] for each in slices)
        again = Planner(SERVICE, Nodes(), limit=LIMIT).plan("IPv4", pods, slices)
        assert again == ([], [], [])
