"""Further rules at their edges: conversions, declarations, references that lead nowhere."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind
from fakekube.apimachinery.http import UserInfo
from fakekube.apis import catalog, firstobjects
from fakekube.apis.autoscaling.conversion import _metric_from_v1
from fakekube.apis.batch.job_policies import _success_rule
from fakekube.apis.converting import ConvertingStrategy
from fakekube.apis.firstobjects import FirstObjects, ServerFacts
from fakekube.apis.rbac import escalation
from fakekube.apis.scheduling.podgroup import STRATEGY as POD_GROUPS
from fakekube.registry.strategy import Strategy, WriteContext
from fakekube.schema import definitions
from tests.admission.world import World
from tests.apis.strategies_b.steps import named

TARGET = {"kind": "Deployment", "name": "d"}


@pytest.mark.parametrize(("values", "target"), [
    ({"targetValue": "0", "averageValue": "5"}, {"averageValue": "5", "type": "AverageValue"}),
    ({"targetValue": "1", "averageValue": "5"}, {"value": "1", "averageValue": "5", "type": "AverageValue"}),
    ({"targetValue": "0"}, {"value": "0", "type": "Value"}),
])
def test_objects_are_scaled_by_a_value_or_an_average(values: dict[str, str], target: dict[str, str]) -> None:
    """Given a metric of an object in the older shape / when it is converted / then an average
    counts before a value, which is left out where it is nothing.
    """
    found = _metric_from_v1({"type": "Object", "object": {"target": TARGET, "metricName": "m", **values}})
    assert found == {"type": "Object", "object": {"describedObject": TARGET, "metric": {"name": "m"}, "target": target}}


def test_lists_of_indexes_have_a_length() -> None:
    """Given a rule with so many bytes of indexes, and one more / when it is looked at / then the
    latter is too long.
    """
    text = "0" + ",10000" * 10922 + ",10"
    assert len(text) == 65536
    for more, told in (("", []), ("0", ["p.succeededIndexes: Too long: may not be more than 65536 bytes"])):
        found = [str(error) for error in _success_rule({"succeededIndexes": text + more}, "p", 20000)]
        assert [each for each in found if "Too long" in each] == told


def test_a_binding_to_what_is_no_role() -> None:
    """Given a binding whose reference is of an unknown kind / when somebody writes it / then that
    is told, whoever may bind what.
    """
    world = World()
    world.authorization = SimpleNamespace(resolver=SimpleNamespace(), authorizer=None)  # type: ignore[assignment]
    ctx = world.context()
    ctx.user = UserInfo("u", ())
    with pytest.raises(APIError) as error:
        escalation.check_binding(
            named({"roleRef": {"kind": "Group", "name": "g"}}), None, ctx, resource="rolebindings")
    assert (error.value.code, error.value.message) == (500, 'unsupported role reference kind: "Group"')


def test_claims_of_a_group_are_told_behind_their_gate() -> None:
    """Given a status with claims / when the gate for them is off / then it is dropped, unless the
    group asks for claims.
    """
    for gates, claims, kept in (((), [], False), ((), [{"name": "c"}], True), (("DRAWorkloadResourceClaims",), [], True)):
        old = named({"spec": {"resourceClaims": claims}, "status": {}})
        obj = named({"spec": {"resourceClaims": claims}, "status": {"resourceClaimStatuses": [{"name": "c"}]}})
        POD_GROUPS.prepare_for_status_update(obj, old, World(*gates).context("UPDATE", "status"))
        assert ("resourceClaimStatuses" in obj["status"]) is kept


def test_a_kind_may_name_its_own_fields(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a declaration with fields / when the definitions of a release are made / then each
    version that the release has is defined by them.
    """
    def version(name: str) -> Any:
        return SimpleNamespace(version=name)

    defined: list[Any] = []
    fields = {"spec": "object"}
    resources = [
        SimpleNamespace(fields=None, versions=(version("v1"),), kind="Plain"),
        SimpleNamespace(fields=fields, versions=(version("v1"), version("v2")), kind="Own")]
    monkeypatch.setattr(catalog, "GROUPS", [SimpleNamespace(name="g.example", resources=resources)])
    monkeypatch.setattr(catalog, "_has", lambda served, minor: served.version == "v1" and minor == 37)
    found: Any = SimpleNamespace(define=lambda *args: defined.append(args))
    monkeypatch.setattr(definitions, "load", lambda _: found)
    assert catalog.definitions_of("1.37") is found
    assert defined == [(GroupVersionKind("g.example", "v1", "Own"), fields)]


@pytest.mark.parametrize("resource", firstobjects.ENDPOINTS)
def test_a_server_that_says_where_it_is(resource: GroupResource) -> None:
    """Given the address of a server / when it starts / then its endpoints are among the first
    objects, and without one there are none.
    """
    resources: Any = SimpleNamespace(kinds=())
    for address, names in (("1.2.3.4", ["kubernetes"]), ("", [])):
        first = FirstObjects(resources, with_namespace_defaults=False, facts=ServerFacts(False, advertise_address=address))
        found = first.of(resource, "2026-01-01T00:00:00Z")
        assert [tree["metadata"]["name"] for tree in found] == names
        assert (resource in first) is bool(names)


def test_what_is_converted_is_prepared_for_deletion_as_what_is_stored() -> None:
    """Given a strategy for another shape / when an object is about to go / then what is stored is
    prepared, and the object has it in its own shape.
    """
    class Inner(Strategy):
        """Marks what goes."""

        def prepare_for_delete(self, obj: dict[str, Any], ctx: WriteContext) -> None:
            obj["stored"] += "!"

    strategy = ConvertingStrategy(Inner(), lambda tree: {"stored": tree["shown"]}, lambda tree: {"shown": tree["stored"]})
    obj = {"shown": "a"}
    strategy.prepare_for_delete(obj, World().context("DELETE"))
    assert obj == {"shown": "a!"}
