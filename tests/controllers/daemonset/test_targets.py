"""Which node a daemon's pod is on or made for."""

import pytest

from fakekube_controllers.daemonset.placing import target_of


def made_for(*values, key="metadata.name", operator="In"):
    term = {"matchFields": [{"key": key, "operator": operator, "values": list(values)}]}
    return {"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [term]}}}}


@pytest.mark.parametrize(("spec", "node"), [
    ({"nodeName": "a"}, "a"), ({"nodeName": "a", **made_for("b")}, "a"), (made_for("b"), "b"), (made_for("b", "c"), None),
    (made_for("b", key="metadata.uid"), None), (made_for("b", operator="NotIn"), None), ({}, None), ({"affinity": {}}, None)])
def test_the_node_of_a_daemons_pod(spec, node):
    """Given a pod that is bound, or made for one node, several or none / then its node is told."""
    assert target_of({"metadata": {"name": "p"}, "spec": spec}) == node
