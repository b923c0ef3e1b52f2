"""The status of ValidatingAdmissionPolicies."""

import pytest

from fakekube.client.resources import CUSTOM_RESOURCE_DEFINITIONS, VALIDATING_ADMISSION_POLICIES
from tests.controllers.world import World, manual_cluster

COMPONENT = "fakekube_controllers.validatingadmissionpolicystatus:component"
DEPLOYMENTS = {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}


@pytest.fixture
async def world():
    async with manual_cluster("", extra=COMPONENT) as cluster:
        yield World(cluster)


async def checked(world, *validations, rules=(DEPLOYMENTS,), name="p", **spec):
    """What the status of such a policy says."""
    policy = {"metadata": {"name": name}, "spec": {
        "matchConstraints": {"resourceRules": list(rules)}, "validations": list(validations), **spec}}
    created = await world.client.create(VALIDATING_ADMISSION_POLICIES, policy)
    assert "status" not in created or "observedGeneration" not in created["status"]
    await world.settle()
    return (await world.client.get(VALIDATING_ADMISSION_POLICIES, name))["status"]


def warnings(status):
    return [(each["fieldRef"], each["warning"]) for each in status["typeChecking"].get("expressionWarnings", ())]


@pytest.mark.spec("API-165")
async def test_expressions_that_fit(world):
    """Given a policy whose expressions fit the kinds that it matches / when it is created and
    changed / then its status has the generation that was checked, and no warnings.
    """
    status = await checked(
        world, {"expression": "object.spec.replicas > 1", "messageExpression": "string(object.metadata.name)"})
    assert status == {"observedGeneration": 1, "typeChecking": {}}
    changed = {"spec": {"validations": [{"expression": "object.nope == 1"}]}}
    await world.client.patch(VALIDATING_ADMISSION_POLICIES, "p", body=changed)
    await world.settle()
    found = await world.client.get(VALIDATING_ADMISSION_POLICIES, "p")
    assert found["status"]["observedGeneration"] == 2
    assert [field for field, _ in warnings(found["status"])] == ["spec.validations[0].expression"]
    assert [(entry["operation"], entry["subresource"]) for entry in found["metadata"]["managedFields"] if (
        entry["manager"] == "validatingadmissionpolicy-status")] == [("Apply", "status")]


@pytest.mark.spec("API-165")
async def test_warnings_are_those_of_the_type_check(world):
    """Given expressions that fit no type / when the policy is created / then each is named, with
    what the check says for each kind, in the order of group, version and kind.
    """
    status = await checked(
        world, {"expression": "object.spec.replicas > 1 && variables.n == 'x'", "messageExpression": "'x' + object.foo"},
        {"expression": "authorizer.requestResource.check('get').allowed()"},
        {"expression": "object.metadata == 1 || params.data.a == 1 || request.name == 'a'"},
        rules=[{**DEPLOYMENTS, "apiGroups": [""], "resources": ["event", "deployments/scale"]}, DEPLOYMENTS],
        variables=[{"name": "n", "expression": "object.spec.replicas"}], paramKind={"apiVersion": "v1", "kind": "ConfigMap"})
    first, message, check, parameters = warnings(status)
    text = "object.spec.replicas > 1 && variables.n == 'x'"
    spec = f"ERROR: <input>:1:7: undefined field 'spec'\n | {text}\n | ......^\n"
    equal = "found no matching overload for '_==_' applied to"
    assert first == ("spec.validations[0].expression", "\n".join((
        f"/v1, Kind=Event: {spec}",
        f"apps/v1, Kind=Deployment: ERROR: <input>:1:41: {equal} '(int, string)'\n | {text}\n | {'.' * 40}^\n",
        f"events.k8s.io/v1, Kind=Event: {spec}")))
    assert message[0] == "spec.validations[0].messageExpression"
    assert message[1].count("ERROR: <input>:1:13: undefined field 'foo'\n") == 3
    assert check[1].count("unexpected failed resolution of 'kubernetes.authorization.Authorizer'") == 3
    assert f"{equal} '(Deployment0.metadata, int)'" in parameters[1]
    assert f"{equal} '(string, int)'" in parameters[1]


@pytest.mark.spec("API-165")
async def test_quantities_are_not_seen(world):
    """Given an expression about a quantity / when its types are checked / then there is no such
    field, since the schema gives it no single type.
    """
    status = await checked(world, {"expression": "object.spec.template.spec.containers.all(c, 'cpu' in c.resources.limits)"})
    assert "undefined field 'limits'" in warnings(status)[0][1]


@pytest.mark.spec("API-165")
@pytest.mark.parametrize("rule", [
    {"apiGroups": ["*"]}, {"apiVersions": ["*"]}, {"resources": ["*"]}, {"resources": ["deployments/status"]},
    {"apiGroups": ["nobody.dev"]}])
async def test_what_is_not_checked(world, rule):
    """Given a rule with a wildcard, for a sub-resource, or for what is not there / when the policy
    is created / then nothing is checked.
    """
    assert await checked(world, {"expression": "object.nope == 1"}, rules=[{**DEPLOYMENTS, **rule}]) == {
        "observedGeneration": 1, "typeChecking": {}}


@pytest.mark.spec("API-165")
async def test_ten_kinds_are_checked(world):
    """Given a rule that names more than ten kinds, and one after it / when the policy is created /
    then the first ten are checked.
    """
    names = ["configmaps", "endpoints", "limitranges", "namespaces", "nodes", "persistentvolumeclaims", "persistentvolumes",
             "podtemplates", "replicationcontrollers", "resourcequotas", "secrets", "services"]
    rules = [{**DEPLOYMENTS, "apiGroups": [""], "resources": names}, DEPLOYMENTS]
    status = await checked(world, {"expression": "object.nope == 1"}, rules=rules)
    assert warnings(status)[0][1].count("undefined field 'nope'") == 10
    assert "Kind=Secret" not in warnings(status)[0][1]


@pytest.mark.spec("API-165")
async def test_custom_kinds(world):
    """Given a definition / when a policy about its objects is created / then its schema is what
    they are checked against, and unknown parameters may be anything.
    """
    await world.client.create(CUSTOM_RESOURCE_DEFINITIONS, {"metadata": {"name": "cars.a.dev"}, "spec": {
        "group": "a.dev", "names": {"plural": "cars", "kind": "Car"}, "scope": "Namespaced", "versions": [{
            "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": {"spec": {"type": "object", "properties": {"doors": {"type": "integer"}}}}}}}]}})
    status = await checked(
        world, {"expression": "object.spec.doors == 'x'"}, {"expression": "object.spec.doors == params.anything"},
        rules=[{**DEPLOYMENTS, "apiGroups": ["a.dev"], "resources": ["cars"]}],
        paramKind={"apiVersion": "b.dev/v1", "kind": "Nobody"})
    assert [field for field, _ in warnings(status)] == ["spec.validations[0].expression"]
    assert warnings(status)[0][1].startswith("a.dev/v1, Kind=Car: ERROR: <input>:1:19: found no matching overload")
