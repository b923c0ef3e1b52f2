"""Lists and maps with nothing in them that storage does not keep: what they do until then."""

from typing import Any

import pytest

from fakekube.apimachinery import empties
from fakekube.apimachinery.empties import Emptied
from fakekube.apimachinery.equality import same
from tests.apiserver.conftest import Api

PODS = "/api/v1/namespaces/t/pods"
POLICIES = "/apis/networking.k8s.io/v1/namespaces/t/networkpolicies"
DEPLOYMENTS = "/apis/apps/v1/namespaces/t/deployments"
MERGE = {"content-type": "application/merge-patch+json"}
POD: dict[str, Any] = {"metadata": {"name": "p"}, "spec": {"containers": [{"name": "c", "image": "i"}]}}


async def test_they_are_not_stored(api: Api) -> None:
    """Given a pod with an empty list and an empty map / when it is posted / then neither is stored,
    and nobody owns them.
    """
    spec = {**POD["spec"], "nodeSelector": {}, "hostAliases": [], "containers": [{"name": "c", "image": "i", "env": []}]}
    made = (await api("POST", PODS, {**POD, "spec": spec})).tree
    assert not {"nodeSelector", "hostAliases"} & {*made["spec"]}
    assert "env" not in made["spec"]["containers"][0]
    assert "f:hostAliases" not in made["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]


@pytest.mark.parametrize("verb", ["PUT", "PATCH"])
async def test_they_are_no_change_where_upstream_compares_by_meaning(api: Api, verb: str) -> None:
    """Given a pod / when it gets empty lists / then nothing has changed."""
    made = (await api("POST", PODS, POD)).tree
    spec = {**made["spec"], "hostAliases": [], "imagePullSecrets": [], "overhead": {}}
    answer = await api(verb, f"{PODS}/p", {**made, "spec": spec}, MERGE if verb == "PATCH" else {})
    assert (answer.status, answer.tree["metadata"]["resourceVersion"]) == (200, made["metadata"]["resourceVersion"])


async def test_errors_print_them(api: Api) -> None:
    """Given a pod / when more changes than may / then the lines that differ have the lists that
    were given.
    """
    await api("POST", PODS, POD)
    spec = {"hostname": "h", "hostAliases": [{"ip": "1.2.3.4", "hostnames": []}], "initContainers": []}
    refused = await api("PATCH", f"{PODS}/p", {"spec": spec}, MERGE)
    assert refused.status == 422
    assert '"Hostnames": []' in refused.message
    assert '"InitContainers": []' not in refused.message  # which upstream makes anew


async def test_types_with_names_for_json_leave_them_out(api: Api) -> None:
    """Given a Deployment whose labels are an empty map, and whose selector has empty lists / when
    it is posted / then the first is printed and the others are not.
    """
    selector = {"matchLabels": {"a": "b"}, "matchExpressions": []}
    template = {**POD, "metadata": {"labels": {}, "finalizers": []}}
    body = {"metadata": {"name": "d"}, "spec": {"selector": selector, "template": template}}
    refused = await api("POST", DEPLOYMENTS, body)
    assert "spec.template.metadata.labels: Invalid value: {}: `selector` does not match template `labels`" in refused.message
    body["spec"]["selector"] = {**selector, "matchLabels": {"a": "-"}}
    refused = await api("POST", DEPLOYMENTS, body)
    assert 'spec.selector: Invalid value: {"matchLabels":{"a":"-"}}: invalid label selector' in refused.message


async def test_they_are_a_change_where_upstream_compares_exactly(api: Api) -> None:
    """Given a NetworkPolicy / when an update has an empty list / then its generation rises, and not
    when it has none, or one that a default fills.
    """
    policy = {"metadata": {"name": "n"}, "spec": {"podSelector": {}}}
    made = (await api("POST", POLICIES, policy)).tree
    same_again = await api("PUT", f"{POLICIES}/n", made)
    assert same_again.tree["metadata"]["generation"] == 1
    defaulted = await api("PUT", f"{POLICIES}/n", {**made, "spec": {**made["spec"], "policyTypes": []}})
    assert defaulted.tree["metadata"]["generation"] == 1
    changed = await api("PUT", f"{POLICIES}/n", {**made, "spec": {**made["spec"], "egress": []}})
    assert (changed.tree["metadata"]["generation"], "egress" in changed.tree["spec"]) == (2, False)


async def test_metadata_of_a_template_may_have_none(api: Api) -> None:
    """Given a claim template whose claims get an empty list of finalizers / when it is posted /
    then that is forbidden as a full one is.
    """
    devices = {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}
    template = {"metadata": {"name": "x"}, "spec": {"metadata": {"finalizers": []}, "spec": {"devices": devices}}}
    refused = await api("POST", "/apis/resource.k8s.io/v1/namespaces/t/resourceclaimtemplates", template)
    assert refused.message.endswith("spec.metadata.finalizers: Forbidden: cannot be set")


async def test_a_body_that_cannot_be_read_leaves_nothing_behind(api: Api) -> None:
    """Given a NetworkPolicy with an empty list that cannot be read / when the next one is written /
    then the list is not taken for a part of that.
    """
    policy = {"metadata": {"name": "n"}, "spec": {"podSelector": {}}}
    made = (await api("POST", POLICIES, policy)).tree
    assert (await api("PUT", f"{POLICIES}/n", {**made, "spec": {"egress": [], "ingress": 1}})).status == 400
    assert (await api("PUT", f"{POLICIES}/n", made)).tree["metadata"]["generation"] == 1


def test_what_is_the_old_objects_own_is_left_alone() -> None:
    """Given an object that shares a part with the old one / when what was given is put back / then
    only in its own parts, and it can be taken out again.
    """
    old = {"spec": {"a": 1}, "status": {}}
    obj = {"spec": old["spec"], "status": {"x": [{}]}}
    lost = {"spec": Emptied([("l", True)], {}), "status": Emptied((), {
        "x": Emptied((), {0: Emptied([("m", False)], {}), 1: Emptied([("m", False)], {})}),
        "y": Emptied([("m", False)], {})})}
    given = [Emptied((), {**lost, "metadata": Emptied([("labels", False)], {})}).but_for("metadata")]
    put = empties.put_back(obj, old, given)
    assert obj == {"spec": {"a": 1}, "status": {"x": [{"m": {}}], "y": {"m": {}}}}
    empties.take_out(put)
    assert obj == {"spec": {"a": 1}, "status": {"x": [{}]}}


def test_what_was_taken_out_of_a_tree_is_found_there() -> None:
    """Given a tree, and what was taken out of its parts / when places are asked for / then they
    lead to each of these parts, and to no other; a tree that lost nothing has none.
    """
    tree = {"a": [{"b": {}}, {"c": 1}], "d": {"e": {}}}
    taken = [(tree["a"][0]["b"], "x", True), (tree["a"][0]["b"], "y", False), (tree, "z", True)]
    inner = Emptied([("x", True), ("y", False)], {})
    assert empties.places(tree, taken) == [Emptied([("z", True)], {"a": Emptied((), {0: Emptied((), {"b": inner})})})]
    assert empties.places(tree, []) == []


def test_they_are_the_same_as_nothing() -> None:
    """Given trees with and without them / when compared / then they are the same, while a list that
    storage keeps is not.
    """
    assert same({"a": empties.NoItems(), "b": [{"c": empties.NoEntries()}]}, {"b": [{}]})
    assert same(empties.NoItems(), [])
    assert not same({"a": []}, {})
    assert not same({"a": empties.NoItems()}, {"a": [1]})
    assert not same({"a": empties.NoItems(), "b": True}, {"b": 1})


async def test_amounts_of_nothing_are_no_change_of_a_claim(api: Api) -> None:
    """Given a PersistentVolumeClaim / when an update has no limits in a map / then nothing has
    changed; an Ingress without rules says in which form it has none.
    """
    claims, ingresses = "/api/v1/namespaces/t/persistentvolumeclaims", "/apis/networking.k8s.io/v1/namespaces/t/ingresses"
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    made = (await api("POST", claims, {"metadata": {"name": "c"}, "spec": spec})).tree
    resources = {**spec["resources"], "limits": {}}
    assert (await api("PUT", f"{claims}/c", {**made, "spec": {**made["spec"], "resources": resources}})).status == 200
    refused = await api("POST", ingresses, {"metadata": {"name": "i"}, "spec": {"rules": []}})
    assert "spec: Invalid value: []: either `defaultBackend` or `rules` must be specified" in refused.message
