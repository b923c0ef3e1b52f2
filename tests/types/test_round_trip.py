"""A model gives back the tree that it was read from: any tree of our schemas, and what a cluster
has in it.
"""

import importlib
import json
import pkgutil
from datetime import UTC, datetime, timedelta, timezone
from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import fakekube.types
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.composition.cluster import Cluster
from fakekube.types import Container, Job, Lease, Object, Pod, Service, StatefulSet
from fakekube.types.values import WrittenTime
from tests.docs.test_readme import ROOT, python
from tests.releases import specimens
from tests.schema.releases import schema
from tests.schema.test_decode_properties import objects


def kinds() -> list[type[Object]]:
    """The class of every kind, from all modules of the package."""
    found = {}
    for module in pkgutil.iter_modules(fakekube.types.__path__):
        for value in vars(importlib.import_module(f"fakekube.types.{module.name}")).values():
            if isinstance(value, type) and issubclass(value, Object) and value is not Object:
                found[value.resource] = value
    return [found[resource] for resource in sorted(found)]


KINDS = kinds()
EPOCH = datetime(2000, 1, 1, tzinfo=UTC)
NAIVE = EPOCH.replace(tzinfo=None)


def exactly(tree: object) -> str:
    """Equal texts are equal trees, true and 1 told apart."""
    return json.dumps(tree, sort_keys=True)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.resource.gvr}")
@given(data=st.data())
@settings(max_examples=20)
def test_any_tree_of_a_schema_comes_back(kind: type[Object], data: st.DataObject) -> None:
    """Given a tree of the kind's schema, with nulls and unknown fields, when a model reads it, then
    it writes that tree.
    """
    resource = kind.resource
    drawn = data.draw(objects(schema(resource.api_version, resource.kind), 0))
    tree = drawn | {"apiVersion": resource.api_version, "kind": resource.kind}
    before = exactly(tree)
    model = kind.from_tree(tree)
    assert exactly(model.to_tree()) == before
    assert exactly(kind.model_validate_json(before).to_tree()) == before
    assert exactly(json.loads(model.model_dump_json(by_alias=True, exclude_unset=True))) == before
    assert exactly(model.model_copy(deep=True).to_tree()) == before


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: f"{kind.resource.gvr}")
def test_models_know_every_field_of_their_schema(kind: type[Object]) -> None:
    """Given a kind, when its class is compared with its schema, then it has those fields and no
    others.
    """
    names = {field.serialization_alias for field in kind.model_fields.values()}
    assert names == set(schema(kind.resource.api_version, kind.resource.kind).properties)


async def objects_of(client: Client, kind: type[Object]) -> list[Tree]:
    return (await client.list(kind.resource)).items


async def test_what_a_cluster_holds_comes_back() -> None:
    """Given a cluster with an object of every kind, run for an hour, when each is read by its
    model, then all come back.
    """
    served = {(r.group, r.version, r.plural) for r in (kind.resource for kind in KINDS)}
    options = {"feature_gates": {"AllAlpha": True, "AllBeta": True}, "runtime_config": {"api/all": True}}
    async with Cluster(nodes=2, clock="manual", **options) as cluster:
        for kind in KINDS:
            body = specimens.BODIES.get(f"{kind.resource.api_version} {kind.resource.kind}") or specimens.BODIES.get(
                kind.resource.kind, {})
            name = specimens.NAMES.get(kind.resource.kind, f"specimen-{kind.__module__.rpartition('.')[2].replace('_', '-')}")
            await cluster.client.create(kind.resource, {"metadata": {"name": name}} | body, "default")
        await cluster.advance(timedelta(hours=1))
        seen = set()
        for kind in KINDS:
            for tree in await objects_of(cluster.client, kind):
                seen.add((kind.resource.group, kind.resource.version, kind.resource.plural))
                assert exactly(kind.from_tree(tree).to_tree()) == exactly(tree)
                assert await cluster.client.update(kind.resource, kind.from_tree(tree).to_tree(), dry_run=True)
        assert seen == served


@pytest.mark.parametrize("text", [
    "2026-01-01T00:00:00Z", "2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00.000000Z", "2026-01-01T00:00:00.123456789Z",
])
def test_a_time_is_a_datetime_and_comes_back_as_its_text(text: str) -> None:
    """Given a time in some spelling, when it is read, then it is a datetime in UTC or its zone, and
    written as it stood.
    """
    pod = Pod.from_tree({"metadata": {"creationTimestamp": text}})
    found = pod.metadata.creation_timestamp
    assert found is not None
    assert abs(found - datetime(2026, 1, 1, tzinfo=UTC)) < timedelta(seconds=1)
    assert pod.to_tree()["metadata"]["creationTimestamp"] == text


@given(st.integers(0, 10**15).map(lambda micros: EPOCH + timedelta(microseconds=micros)))
@example(datetime(2026, 1, 1, 12, 30, 0, 999999, tzinfo=UTC))
def test_a_time_that_a_program_makes_is_written_as_upstream_does(moment: datetime) -> None:
    """Given an aware datetime, when it is written, then a Time has whole seconds in UTC, a
    MicroTime six digits.
    """
    here = moment.astimezone(timezone(timedelta(hours=2)))
    tree = Job(status={"startTime": here}).to_tree()
    assert tree["status"]["startTime"] == f"{moment:%Y-%m-%dT%H:%M:%S}Z"
    lease = Lease()
    lease.spec.renew_time = here
    assert lease.to_tree()["spec"]["renewTime"] == f"{moment:%Y-%m-%dT%H:%M:%S.%f}Z"


def test_what_is_computed_from_a_time_has_no_text() -> None:
    """Given a time that was read, when a later one is computed from it, then that is written by its
    value.
    """
    pod = Pod.from_tree({"metadata": {"creationTimestamp": "2026-01-01T02:00:00.5+02:00"}})
    assert isinstance(pod.metadata.creation_timestamp, WrittenTime)
    pod.metadata.creation_timestamp += timedelta(hours=1)
    assert pod.to_tree()["metadata"]["creationTimestamp"] == "2026-01-01T01:00:00Z"


def test_a_time_without_a_zone_is_refused() -> None:
    """Given a naive datetime, when it is read or written, then it is an error that says what is
    missing.
    """
    with pytest.raises(ValueError, match="timezone"):
        Pod.from_tree({"metadata": {"creationTimestamp": NAIVE}})
    pod = Pod()
    pod.metadata.creation_timestamp = NAIVE
    with pytest.raises(ValueError, match="a time needs a time zone"):
        pod.to_tree()


@given(st.sampled_from(["1", "1000m", "0.5", "1Gi", 1, 2, 0.5, 1e3]))
def test_a_quantity_reads_as_text_and_comes_back_as_it_stood(written: str | float) -> None:
    """Given a quantity as a text or a number, when it is read, then it is a text, and is written as
    what it was.
    """
    limits = {"resources": {"limits": {"cpu": written}}}
    container = Container.from_tree(limits)
    assert container.resources.limits["cpu"] == str(written)
    assert exactly(container.to_tree()) == exactly(limits)


def test_numbers_and_texts_are_told_apart_where_both_may_stand() -> None:
    """Given ports by number and by name, when a Service is read, then each is what it was."""
    ports = [{"port": 80, "targetPort": 8080}, {"port": 81, "targetPort": "8080"}]
    service = Service.from_tree({"spec": {"ports": ports}})
    assert [port.target_port for port in service.spec.ports] == [8080, "8080"]
    assert service.to_tree()["spec"]["ports"] == ports


def test_modules_stand_below_one_another() -> None:
    """Given the names of the package, when each is asked for, then it is there; unknown ones are
    not.
    """
    for name in fakekube.types.__all__:
        assert getattr(fakekube.types, name) is not None
    assert all(earlier < later for earlier, later in pairwise(fakekube.types.__all__))
    with pytest.raises(AttributeError, match="has no attribute 'Pood'"):
        fakekube.types.Pood  # noqa: B018 (looking is the point)


def test_the_modules_are_what_their_generator_makes() -> None:
    """Given the schema table of the newest release, when the generator runs, then it finds nothing
    to change.
    """
    assert python(ROOT, "-m", "tools.facts", "--check", "types") == "types: unchanged\n"


def test_an_object_within_another_is_read_as_it_stands() -> None:
    """Given claims of a StatefulSet that name no kind, or any, when they are read and written, then
    they are as before.
    """
    claims = [{"metadata": {"name": "a"}}, {"kind": "x"}, {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}]
    tree = {"apiVersion": "apps/v1", "kind": "StatefulSet", "spec": {"volumeClaimTemplates": claims}}
    assert StatefulSet.from_tree(tree).to_tree() == tree
