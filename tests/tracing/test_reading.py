"""Which changes a trace tells, and what it says of each."""

import asyncio
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.causes import CAUSE, Acting, Cause
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource
from fakekube.client.resources import CONFIG_MAPS, JOBS, PODS
from fakekube.storage.memory import Bucket, Storage
from fakekube.tracing.reading import Asked, trace
from fakekube.tracing.trace import Trace
from fakekube.util.turns import Turn

MAPS = GroupResource("", "configmaps")
JOB = {"metadata": {"name": "report", "namespace": "default"}, "spec": {"template": {
    "metadata": {"annotations": {"fakekube.dev/run-duration": "10m"}},
    "spec": {"restartPolicy": "Never", "containers": [{"name": "main", "image": "busybox"}]}}}}


class _Endless(Turn):
    """A turn that is never over."""

    def end(self) -> None:
        """Go on."""


class Histories:
    """ConfigMaps that were written for a stated reason, a second after each other."""

    def __init__(self) -> None:
        self.storage = Storage(plain_events=10)
        self.storage.begin(0)
        self.bucket: Bucket = self.storage.add_bucket(MAPS, fields=None)

    def write(self, name: str, because: str | None = None, component: str = "copier", fault: str = "", **data: str) -> int:
        """Make or change one; ``because`` is the version that was acted on, None for nothing."""
        acting = None if because is None else Acting(component, ("ns", name), because)
        path = f"/api/v1/namespaces/ns/configmaps/{name}"
        CAUSE.set(Cause(float(self.storage.revision), "PUT", path, "u", "agent", acting, fault))
        tree: dict[str, Any] = {
            "kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": name, "namespace": "ns", "uid": name}, "data": data}
        record = self.bucket.get("ns", name)
        record = self.bucket.create(tree) if record is None else self.bucket.update(tree, record)
        CAUSE.set(None)
        return record.revision

    def delete(self, name: str) -> None:
        record = self.bucket.get("ns", name)
        assert record is not None
        self.bucket.delete(record)

    def trace(self, name: str, last: int = 20, field: str = "") -> Trace:
        return trace(self.storage, Asked(MAPS, "ns", name, last, field), started=0.0, seed=0, turn=_Endless())


def links(found: Trace) -> dict[int, int]:
    return {step.revision: step.led_by for step in found.steps}


async def test_a_pods_phase_leads_back_to_the_create_of_its_job() -> None:
    """Given a Job that a test created and whose pod has ended, when the causes of the pod's phase
    are asked for, then each step was led to by the one before it, down to the test's request, and
    nothing else is told.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(JOBS, JOB)
        await cluster.advance("1h")
        [pod] = (await cluster.client.list(PODS, "default")).items
        name = pod["metadata"]["name"]
        found = await cluster.trace(f"pod/{name}", field="status.phase")
    assert (found.value, found.object) == ("Succeeded", f"pods default/{name}")
    assert [(step.component, step.request.verb, step.request.subresource, step.object, step.origin)
            for step in found.steps if step.request is not None] == [
        ("", "create", "", "jobs.batch default/report", "Request"),
        ("job", "create", "", f"pods default/{name}", ""),
        ("scheduler", "create", "binding", f"pods default/{name}", ""),
        ("kubelet", "patch", "status", f"pods default/{name}", "")]
    assert [step.led_by for step in found.steps] == [0, *(step.revision for step in found.steps[:-1])]
    assert [str(field) for field in found.steps[-1].fields] == ['status.phase: "Running" -> "Succeeded"']
    first = found.steps[0].request
    assert first is not None
    assert (first.user, first.user_agent) == ("kubernetes-admin", "fakekube")
    assert first.path == "/apis/batch/v1/namespaces/default/jobs"
    assert [step.time - found.started for step in found.steps] == [0, 0, 0, 601]


def test_only_what_led_to_the_object_is_told() -> None:
    """Given changes of an object, of what led to it, and of others, when it is traced, then the
    others are not in it, and of what led to two changes each is told once.
    """
    made = Histories()
    root = made.write("a", x="1")
    made.write("other", str(root), x="1")
    copy = made.write("b", str(root), x="1")
    made.write("b", str(root), x="2")
    last = made.write("b", str(copy), x="3")
    assert links(made.trace("b")) == {root: 0, copy: root, copy + 1: root, last: copy}
    assert [step.is_own for step in made.trace("b").steps] == [False, True, True, True]
    assert [str(field) for field in made.trace("b").steps[-1].fields] == ['data.x: "2" -> "3"']


def test_where_a_trace_ends_it_says_why() -> None:
    """Given writes of a component that acted on nothing, of a client that said nothing, of the
    server, on a version that is not retained, and on versions that cannot be, when they are traced,
    then each says so, and none is made the effect of another.
    """
    made = Histories()
    forgotten = made.write("first", x="1")
    made.storage.compact(forgotten)
    for because in ("", None, str(forgotten), "99", "x", "²", "9" * 5_000):
        made.write("a", because, x=str(because)[:9])
    made.bucket.update({"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "a", "namespace": "ns", "uid": "a"}},
                       made.bucket.get("ns", "a"))  # type: ignore[arg-type]
    found = made.trace("a")
    assert [step.origin for step in found.steps] == ["Component", "Request", *["Forgotten"] * 5, "Server"]
    assert found.steps[-1].time == found.steps[-2].time, "what the server writes comes with what was before"
    assert {step.led_by for step in found.steps} == {0}


def test_no_change_comes_of_itself_or_of_a_later_one() -> None:
    """Given causes that cannot be, as in a snapshot that was changed by hand: of the change itself,
    and of a later one, which came of the earlier, when they are traced, then none leads to another.
    """
    made = Histories()
    made.write("a", "1", x="1")
    made.write("a", "3", x="2")
    made.write("a", "2", x="3")
    assert links(made.trace("a")) == {1: 0, 2: 0, 3: 2}
    assert [step.origin for step in made.trace("a").steps] == ["Forgotten", "Forgotten", ""]


def test_the_latest_changes_are_told() -> None:
    """Given an object that changed 30 times, each time for a reason of its own, when the last three
    are asked for, then these and their causes are told, and how many there are.
    """
    made = Histories()
    for number in range(30):
        reason = made.write("a", x=str(number))
        made.write("b", str(reason), x=str(number))
    found = made.trace("b", last=3)
    assert [(step.object, step.revision) for step in found.steps] == [
        ("configmaps ns/a", 55), ("configmaps ns/b", 56), ("configmaps ns/a", 57), ("configmaps ns/b", 58),
        ("configmaps ns/a", 59), ("configmaps ns/b", 60)]
    assert (found.changes, found.last) == (30, 3)
    assert len(made.trace("b", last=0).steps) == 60


def test_a_long_way_is_told_by_its_ends() -> None:
    """Given an object of which each of 1,000 changes led to the next, when the last two are asked
    for, then those are told, where it began, and how many between are not.
    """
    made = Histories()
    before = made.write("a", x="0")
    for number in range(1, 1_000):
        before = made.write("a", str(before), x=str(number))
    found = made.trace("a", last=2)
    assert links(found) == {1: 0, 2: 1, 3: 2, 997: 3, 998: 997, 999: 998, 1000: 999}
    assert {step.revision: step.left_out for step in found.steps if step.left_out} == {997: 993}


@pytest.mark.parametrize(("length", "told"), [(6, 6), (7, 7), (8, 6), (20, 6)])
def test_a_way_that_is_not_long_is_told_whole(length: int, told: int) -> None:
    """Given ways of several lengths, when they are told, then no line says that one change is left
    out, which would be as long as the change.
    """
    made = Histories()
    before = made.write("a", x="0")
    for number in range(2, length):
        before = made.write("a", str(before), x=str(number))
    made.write("b", str(before))
    assert len(made.trace("b").steps) == told


@pytest.mark.parametrize(("field", "revision", "value"), [
    ("data.x", 3, "b"), ("data.y", 4, "1"), ("data.z", 2, None), ("data", 4, {"x": "b", "y": "1"}), ("metadata.name", 1, "a")])
def test_a_field_is_traced_to_its_last_change(field: str, revision: int, value: object) -> None:
    """Given fields that came, changed and went, when what led to each is asked for, then it is the
    last change of that field, and what it did to it.
    """
    made = Histories()
    made.write("a", x="a", z="1")
    made.write("a", x="a")
    made.write("a", x="b")
    made.write("a", x="b", y="1")
    found = made.trace("a", field=field)
    assert [step.revision for step in found.steps] == [revision]
    assert found.tree().get("value") == value
    assert [each.path for each in found.steps[0].fields] == [field]


def test_the_last_change_of_a_field_is_found_far_back() -> None:
    """Given a field that was set 500 changes ago, when it is asked about, then that is found."""
    made = Histories()
    made.write("a", x="a")
    set_at = made.write("a", x="b")
    for number in range(500):
        made.write("a", x="b", y=str(number))
    assert [step.revision for step in made.trace("a", field="data.x").steps] == [set_at]


def test_an_object_that_had_the_name_before_is_another() -> None:
    """Given an object that was deleted and made again, when it is traced, then what is told is of
    the later one, and that there was another; one that is gone is traced to its end.
    """
    made = Histories()
    made.write("a", x="1")
    made.delete("a")
    made.write("a", x="2")
    made.write("a", x="3")
    found = made.trace("a")
    assert ([step.revision for step in found.steps], found.predecessors) == ([3, 4], 1)
    made.delete("a")
    assert [step.type for step in made.trace("a").steps] == ["ADDED", "MODIFIED", "DELETED"]


def test_changes_that_are_forgotten_are_counted_on() -> None:
    """Given an object of which only the last changes are retained, and one that is retained whole,
    when they are traced, then the trace of the first says that there was more.
    """
    made = Histories()
    made.write("a", x="1")
    made.write("a", x="2")
    made.storage.compact()
    made.write("a", x="3")
    made.write("b")
    assert [(made.trace(name).is_cut, made.trace(name).changes) for name in ("a", "b")] == [(True, 1), (False, 1)]
    assert "It had more, which are not retained any more: what is retained begins after #2." in str(made.trace("a"))
    assert "It had more" not in str(made.trace("b"))


def test_what_cannot_be_traced_is_refused() -> None:
    """Given an object whose changes are forgotten, one that never was, and a field that never was,
    when they are traced, then each is refused with a sentence.
    """
    made = Histories()
    made.write("a", x="1")
    made.write("a", x="2")

    def refusal(name: str, field: str = "") -> tuple[int, str]:
        with pytest.raises(APIError) as caught:
            made.trace(name, field=field)
        return caught.value.code, caught.value.message

    assert refusal("b") == (404, 'configmaps "b" not found')
    assert refusal("a", "data.y") == (400, "no change of configmaps ns/a that is retained was one of its field data.y")
    assert refusal("a", "data.") == (
        400, "'data.' names no field: say status.phase, or status.conditions[Ready].status")
    made.storage.compact()
    assert refusal("a") == (
        410, "no change of configmaps ns/a is retained: what is retained begins after version 2")


def test_a_fault_is_told() -> None:
    """Given a write that met a fault, when it is traced, then the step has its name."""
    made = Histories()
    made.write("a", fault="slow-etcd")
    assert [step.fault for step in made.trace("a").steps] == ["slow-etcd"]


async def test_others_have_their_turn_while_a_long_trace_is_made() -> None:
    """Given an object with 1,000 changes, when all of them are told, and a field is sought in them
    that never changed, then what else is ready runs meanwhile; a short trace is made at once.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}, "data": {"x": "0"}})
        for number in range(1_000):
            await cluster.client.patch(CONFIG_MAPS, "a", "default", {"data": {"x": str(number)}})

        async def turns_of_others(**wanted: Any) -> int:
            turns, making = 0, asyncio.ensure_future(cluster.trace("cm/a", **wanted))
            while not making.done():
                await asyncio.sleep(0)
                turns += 1
            assert making.result().steps
            return turns

        assert await turns_of_others(last=5) < 3
        assert await turns_of_others(last=0) > 4
        assert await turns_of_others(field="metadata.name") > 3


async def test_objects_are_found_where_they_are_kept() -> None:
    """Given objects in two API groups that are kept in one place, with and without namespace, when
    they are traced by any of their names, then they are found.
    """
    async with Cluster(nodes=1, clock="manual") as cluster:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "namespace": "default"}})
        await cluster.settle()
        events = (await cluster.client.list(await cluster.client.resource("events.events.k8s.io"))).items
        assert events
        name, namespace = events[0]["metadata"]["name"], events[0]["metadata"]["namespace"]
        one = await cluster.trace(f"events.events.k8s.io/{name}", namespace=namespace)
        assert one == await cluster.trace(f"events/{name}", namespace=namespace)
        assert (await cluster.trace("node/node-0")).object == "nodes node-0"
        assert (await cluster.trace("cm/a")).steps == (await cluster.trace("configmaps/a", last=0)).steps
        with pytest.raises(APIError, match="namespaces kube-system was there when the cluster began, and nothing has changed it"):
            await cluster.trace("namespace/kube-system")
