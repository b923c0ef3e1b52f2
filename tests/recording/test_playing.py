"""What a test asked of one cluster of ours is asked of another one: without a difference if it is
like the first, with each kind of difference where it was changed on purpose, and nothing else is
touched.
"""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Frame, Handler, Request, Response, Sink
from fakekube.client import users
from fakekube.client.client import Client
from fakekube.client.inprocess import InProcess
from fakekube.client.resources import CONFIG_MAPS, JOBS, NAMESPACES, NODES, PODS, PRIORITY_CLASSES, SECRETS
from fakekube.recording import exchanges
from fakekube.recording.asking import Target
from fakekube.recording.binary import Unpacking
from fakekube.recording.outcomes import Played
from fakekube.recording.plan import (
    BYTES,
    CLUSTER_SCOPED,
    LATER,
    NOT_MADE,
    NOT_OURS,
    SAYS_FOR_ALL,
    SYSTEM_NAMESPACE,
    UNSERVED,
    UNTOLD,
    Conversation,
    Step,
    other_setup,
    plan,
)
from fakekube.recording.player import play_all
from fakekube.recording.recorder import Recorder
from fakekube.recording.report import Found, of_plan, of_plays, totals
from tests.recording.faulty import FAULTS, faulty_story

JOB: dict[str, Any] = {"metadata": {"name": "j"}, "spec": {"completions": 2, "parallelism": 2, "template": {"spec": {
    "restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
Story = Callable[[Cluster], Awaitable[None]]
EMPTY = ("default", "kube-node-lease", "kube-public", "kube-system")


async def recorded(story: Story, *, cluster_scoped: bool = False, alone: bool = False, **options: Any) -> Conversation:
    """What a story asks of a cluster, to be played."""
    lines: list[bytes] = []
    recorder = Recorder(lines.append, secrets=True)
    async with Cluster(**{"nodes": 1, "clock": "manual", "record": recorder, **options}) as cluster:
        await story(cluster)
    recording = exchanges.parse(b"".join(lines).splitlines())
    [(test, name, asked)] = recording.conversations()
    return plan(test, recording.clusters[name], asked, cluster_scoped=cluster_scoped, alone=alone)


async def played(
    conversation: Conversation, cluster: Cluster, around: Callable[[Handler], Handler] = lambda handler: handler,
) -> Played:
    """The conversation, played on a cluster, by whose clock it is waited."""
    names = iter(range(100))
    target = Target(InProcess(around(cluster.apiserver)), cluster.apiserver.clock)
    [result] = await play_all(
        target, [conversation], suffix=lambda: f"x{next(names)}", wait_seconds=10.0, jobs=1)
    return result


def told(result: Played) -> list[str]:
    """The differences, as they are told."""
    return [str(each) for outcome in result.outcomes for each in outcome.differences]


async def names_of(cluster: Cluster, resource: Any = NAMESPACES) -> list[str]:
    return sorted(item["metadata"]["name"] for item in (await cluster.client.list(resource)).items)


async def whole_story(cluster: Cluster) -> None:
    """Writes, conflicts, patches, pages, watches, a Job with its pods, Tables, deletions."""
    client = cluster.client
    made = await client.create(NAMESPACES, {"metadata": {"generateName": "suite-"}})
    namespace = made["metadata"]["name"]
    for name in "abc":
        await client.create(CONFIG_MAPS, {"metadata": {"name": name}, "data": {"in": namespace}}, namespace)
    stale = await client.get(CONFIG_MAPS, "a", namespace)
    fresh = await client.update(CONFIG_MAPS, {**stale, "data": {"n": "1"}})
    with pytest.raises(APIError, match="the object has been modified"):
        await client.update(CONFIG_MAPS, {**stale, "data": {"n": "2"}})
    async with await client.watch(CONFIG_MAPS, namespace, resource_version=fresh["metadata"]["resourceVersion"]) as events:
        await client.patch(CONFIG_MAPS, "a", namespace, type="json", body=[
            {"op": "test", "path": "/metadata/uid", "value": fresh["metadata"]["uid"]},
            {"op": "replace", "path": "/data/n", "value": "3"}])
        await client.apply({
            "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "d", "namespace": namespace}, "data": {"x": "y"}},
            field_manager="me")
        await client.delete(CONFIG_MAPS, "b", namespace, uid=(await client.get(CONFIG_MAPS, "b", namespace))["metadata"]["uid"])
        for _ in range(3):
            await anext(events)
    page = await client.list(CONFIG_MAPS, namespace, limit=2)
    await client.list(CONFIG_MAPS, namespace, limit=2, continue_token=page.continue_token)
    await client.create(SECRETS, {"metadata": {"name": "s"}, "stringData": {"k": "v"}})
    job = await client.create(JOBS, JOB)
    while not (await client.get(JOBS, "j"))["status"].get("succeeded"):
        await cluster.advance("30s")
    pods = (await client.list(PODS, "default", label_selector=f"controller-uid={job['metadata']['uid']}")).items
    assert len(pods) == 2
    for pod in pods:
        await client.get(PODS, pod["metadata"]["name"])
    await client.delete(JOBS, "j", propagation_policy="Background")
    await cluster.advance("1m")
    assert not (await client.list(PODS, "default")).items
    await client.list(CONFIG_MAPS)
    with pytest.raises(APIError, match="is invalid"):
        await client.create(CONFIG_MAPS, {"metadata": {"name": "Not_A_Name"}}, namespace)
    await client.delete(NAMESPACES, namespace)
    await cluster.advance("1m")
    assert await client.get(NAMESPACES, namespace, missing_ok=True) is None


async def test_two_clusters_that_are_alike_do_not_differ() -> None:
    """Given a story with writes, conflicts, pages, watches and a Job / when it is played on another
    cluster with another seed, where others have objects of the same names / then nothing differs,
    all is gone afterwards, and what others have is as it was.
    """
    conversation = await recorded(whole_story)
    async with Cluster(nodes=1, clock="auto", seed=7) as cluster:
        theirs = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"whose": "theirs"}})
        result = await played(conversation, cluster)
        assert told(result) == []
        assert not result.failure
        assert len(result.outcomes) > 25
        assert result.left == []
        assert await names_of(cluster) == [*EMPTY]
        assert await cluster.client.get(CONFIG_MAPS, "a") == theirs


class Changed:
    """A server that answers some requests in another way: ``change`` gets what matches."""

    def __init__(self, handler: Handler, method: str, path: str, change: Callable[[Response], Response]) -> None:
        self._handler, self._method, self._path, self._change = handler, method, re.compile(path), change

    async def handle(self, request: Request) -> Response:
        response = await self._handler.handle(request)
        matches = request.method == self._method and self._path.search(request.path)
        return self._change(response) if matches else response


def with_field(response: Response, *path: str, value: Any) -> Response:
    tree = orjson.loads(response.body)
    place = tree
    for name in path[:-1]:
        place = place.setdefault(name, {})
    place[path[-1]] = value
    return Response(response.status, orjson.dumps(tree), headers=list(response.own_headers))


class WithoutDeletions:
    """A stream that keeps deletions to itself."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        self._sink: Any = None

    def start(self, sink: Sink) -> None:
        self._sink = sink
        self._stream.start(self)

    def stop(self) -> None:
        self._stream.stop()

    def send(self, frame: Frame) -> None:
        if b'"DELETED"' not in frame.data:
            self._sink.send(frame)

    def end(self) -> None:
        self._sink.end()


def without_deletions(response: Response) -> Response:
    if response.stream is not None:
        response.stream = WithoutDeletions(response.stream)
    return response


def status(code: int, message: str) -> Callable[[Response], Response]:
    body = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "code": code}
    return lambda _: Response(code, orjson.dumps(body))


async def small_story(cluster: Cluster) -> None:
    client = cluster.client
    async with await client.watch(CONFIG_MAPS, "default", field_selector="metadata.name=a") as events:
        await client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
        await client.get(CONFIG_MAPS, "a")
        await client.delete(CONFIG_MAPS, "a")
        for _ in range(2):
            await anext(events)
    await client.create(JOBS, {**JOB, "spec": {**JOB["spec"], "suspend": True}})
    await cluster.settle()
    await client.get(JOBS, "j")


@pytest.mark.parametrize(("method", "path", "change", "difference"), [
    ("POST", "configmaps", status(507, "no room"), 'code: 201 recorded, 507 "no room" there'),
    ("GET", "configmaps/a", lambda answer: with_field(answer, "data", "k", value="w"), 'answer data.k: "v" recorded, "w" there'),
    ("POST", "configmaps", lambda answer: with_field(answer, "metadata", "generation", value=1),
     "answer metadata.generation: (none) recorded, 1 there"),
    ("POST", "configmaps", lambda answer: Response(answer.status, answer.body, headers=[("Warning", '299 - "hm"')]),
     'warning: [] recorded, ["299 - \\"hm\\""] there'),
    ("GET", "configmaps$", without_deletions, "event ConfigMap default/a: ADDED DELETED recorded, ADDED there"),
    ("GET", "jobs/j", lambda answer: with_field(answer, "status", "active", value=9),
     "state status.active: (none) recorded, 9 there"),
    ("POST", "jobs", status(403, 'jobs.batch is forbidden: User "ann" cannot create resource "jobs"'),
     'forbidden: 201 recorded, 403 "jobs.batch is forbidden: User \\"ann\\" cannot create resource \\"jobs\\"" there'),
])
async def test_each_kind_of_difference_is_shown(
    method: str, path: str, change: Callable[[Response], Response], difference: str,
) -> None:
    """Given a story / when it is played on a cluster whose answers to one request were changed /
    then that difference is told first, and counts unless controllers or the user's rights make it.
    """
    conversation = await recorded(small_story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster, lambda handler: Changed(handler, method, path, change))
        assert told(result)[0] == difference
        counted = not difference.startswith(("state", "forbidden"))
        assert totals([result]).differ >= 1 if counted else totals([result]).uncounted >= 1
        lines = list(of_plays([result]))
        assert (f"    {difference}" in lines) == counted
        assert f"    {difference}" in list(of_plays([result], state=True))
        assert await names_of(cluster) == [*EMPTY]


async def test_a_lost_race_is_tried_again() -> None:
    """Given a story that updates what it has read / when a controller writes in between there /
    then the update is made on the newer version, and nothing differs.
    """
    async def story(cluster: Cluster) -> None:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a"}, "data": {"k": "1"}})
        read = await cluster.client.get(CONFIG_MAPS, "a")
        await cluster.client.update(CONFIG_MAPS, {**read, "data": {"k": "2"}})

    conversation = await recorded(story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        class Racing:
            def __init__(self, handler: Handler) -> None:
                self._handler, self._raced = handler, False

            async def handle(self, request: Request) -> Response:
                if request.method == "PUT" and not self._raced:
                    self._raced = True
                    namespace = request.path.split("/")[4]
                    client = Client(InProcess(cluster.apiserver), user_agent="kubelet")
                    await client.patch(CONFIG_MAPS, "a", namespace, body={"metadata": {"annotations": {"x": "y"}}})
                    await client.patch(CONFIG_MAPS, "a", namespace, body={"metadata": {"annotations": None}})
                return await self._handler.handle(request)

        assert [each for each in told(await played(conversation, cluster, Racing)) if "managedFields" not in each] == []


async def cluster_wide(cluster: Cluster) -> None:
    client = cluster.client
    await client.create(PRIORITY_CLASSES, {"metadata": {"name": "high"}, "value": 7})
    await client.get(PRIORITY_CLASSES, "high")
    await client.create(PODS, {"metadata": {"name": "p"}, "spec": {
        "priorityClassName": "high", "containers": [{"name": "c", "image": "i"}]}})
    await client.list(NODES)
    await client.get(CONFIG_MAPS, "kube-root-ca.crt", "kube-system")
    await client.delete(PRIORITY_CLASSES, "high")
    await client.create(await client.resource("validatingwebhookconfigurations"), {"metadata": {"name": "all"}})
    with pytest.raises(APIError):
        await client.delete(NAMESPACES, "default")


async def test_what_concerns_all_of_a_cluster_is_refused_or_gets_a_name_of_its_own() -> None:
    """Given a story with objects that have no namespace / when it is planned, with and without
    leave for such / then they are left out, and what is about them; or they get names of their own,
    and are gone afterwards. Nodes, the system's namespaces and webhooks are left alone in any case.
    """
    refused = await recorded(cluster_wide)
    reasons = {str(step.exchange): step.reason for step in refused.steps}
    assert reasons["POST /apis/scheduling.k8s.io/v1/priorityclasses"] == CLUSTER_SCOPED
    assert reasons["DELETE /apis/scheduling.k8s.io/v1/priorityclasses/high"] == NOT_OURS
    assert reasons["GET /api/v1/nodes"] == NOT_OURS
    assert reasons["GET /api/v1/namespaces/kube-system/configmaps/kube-root-ca.crt"] == SYSTEM_NAMESPACE
    assert reasons["POST /apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"] == SAYS_FOR_ALL
    assert reasons["DELETE /api/v1/namespaces/default"] == SYSTEM_NAMESPACE

    allowed = await recorded(cluster_wide, cluster_scoped=True)
    async with Cluster(nodes=0, clock="auto") as cluster:
        before = await names_of(cluster, PRIORITY_CLASSES)
        result = await played(allowed, cluster)
        assert [each for each in told(result) if not each.startswith("state")] == []
        asked = [(entry.verb, entry.resource) for entry in cluster.apiserver.log]
        assert asked.count(("create", "priorityclasses")) == 1
        assert await names_of(cluster, PRIORITY_CLASSES) == before
        assert await names_of(cluster) == [*EMPTY]


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
    "metadata": {"name": "shirts.stable.example.com"},
    "spec": {"group": "stable.example.com", "scope": "Namespaced",
             "names": {"plural": "shirts", "singular": "shirt", "kind": "Shirt"},
             "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                 "type": "object", "properties": {"color": {"type": "string"}}}}}]}}


async def shirts(cluster: Cluster) -> None:
    client = cluster.client
    await client.create(await client.resource("customresourcedefinitions"), DEFINITION)
    await client.create(await client.resource("shirts"), {
        "apiVersion": "stable.example.com/v1", "kind": "Shirt", "metadata": {"name": "s"}, "color": "red"})


async def test_definitions() -> None:
    """Given a story with a definition of its own / when it is played with and without leave, and
    where others have that definition / then it is made and removed, or left out with its objects,
    or left as it was.
    """
    without = await recorded(shirts)
    assert [step.reason for step in without.steps if step.exchange.method == "POST"] == [CLUSTER_SCOPED, NOT_MADE]
    with_leave = await recorded(shirts, cluster_scoped=True)
    async with Cluster(nodes=0, clock="auto") as cluster:
        definitions = await cluster.client.resource("customresourcedefinitions")
        assert told(await played(with_leave, cluster)) == []
        assert await names_of(cluster, definitions) == []
        theirs = await cluster.client.create(definitions, DEFINITION)
        assert told(await played(with_leave, cluster)) == []
        still = await cluster.client.get(definitions, "shirts.stable.example.com")
        assert still["metadata"]["uid"] == theirs["metadata"]["uid"]


@pytest.mark.parametrize(("path", "body"), [
    ("/api/v1/namespaces", {"bodyText": '{"metadata": {"name": "theirs"}'}),
    ("/api/v1/namespaces", {"body": {"kind": "Namespace"}}),
    ("/api/v1/namespaces", {}),
])
async def test_what_cannot_be_translated_is_not_sent(path: str, body: dict[str, Any]) -> None:
    """Given a recorded write without a namespace whose body has no name to translate / when it is
    played, whatever was planned / then it is not sent.
    """
    line = {"number": 1, "cluster": "0", "method": "POST", "path": path, "query": {}, "code": 201, "answer": {}, **body}
    step = Step(exchanges.Exchange(line))
    async with Cluster(nodes=0, clock="auto") as cluster:
        before = cluster.apiserver.log.total
        result = await played(Conversation("", {}, [step]), cluster)
        assert (result.outcomes, step.reason) == ([], NOT_OURS)
        assert [entry.verb for entry in cluster.apiserver.log][before:] == []


async def test_what_was_recorded_in_another_setup_is_not_played() -> None:
    """Given a recording of a cluster with a gate, and one of an autoscaler / when they are planned
    for a cluster without the gate, or without metrics / then nothing of them is played, and it is
    told why.
    """
    async def story(cluster: Cluster) -> None:
        client = cluster.client
        await client.create(await client.resource("horizontalpodautoscalers"), {"metadata": {"name": "a"}, "spec": {
            "maxReplicas": 2, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}})

    conversation = await recorded(story, feature_gates="GenericWorkload=true")
    asked = [step.exchange for step in conversation.steps]
    assert other_setup(conversation.facts) == ("GenericWorkload",)
    assert other_setup(conversation.facts, ["GenericWorkload"]) == ()
    assert other_setup({"addons": ["kueue", "ray"]}, addons=["ray"]) == ("kueue",)
    assert plan("", conversation.facts, asked, setup=["GenericWorkload"]).played == []
    without = plan("", conversation.facts, asked, groups=["autoscaling"])
    assert [step.reason for step in without.steps][-1] == "its cluster had metrics.k8s.io: --any-setup plays it all the same"
    assert plan("", conversation.facts, asked, groups=["autoscaling", "metrics.k8s.io"]).played != []


async def test_a_look_from_which_a_name_was_taken_stays() -> None:
    """Given a story that lists pods three times with nothing written between, and asks for one of
    them after the second / when it is planned / then the first look is left out, and no other.
    """
    async def story(cluster: Cluster) -> None:
        await cluster.client.create(JOBS, JOB)
        await cluster.settle()
        await cluster.client.list(PODS, "default")
        [pod, _] = (await cluster.client.list(PODS, "default")).items
        await cluster.client.get(PODS, pod["metadata"]["name"])
        await cluster.client.list(PODS, "default")

    conversation = await recorded(story)
    looks = [step.reason for step in conversation.steps if step.exchange.info.resource == "pods"]
    assert looks == [LATER, "", "", ""]


async def test_where_no_pod_runs() -> None:
    """Given the whole story, in which pods of a Job run / when it is played on a cluster without
    nodes / then what follows from that is told, and does not count.
    """
    conversation = await recorded(whole_story)
    conversation = plan("", conversation.facts, [step.exchange for step in conversation.steps], nodes=0)
    assert conversation.idle
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert [each for each in told(result) if not each.startswith("state")] == []
        assert totals([result]).uncounted > 0
    shown = list(of_plan([conversation], Found("url", "1.37")))
    assert "it has no nodes: no pod runs there, and what follows from that does not count" in shown


async def test_protobuf_is_played_as_json() -> None:
    """Given a recorded write whose body and answer are protobuf / when it is unpacked and played /
    then nothing differs, and the other cluster has the object.
    """
    lines: list[bytes] = []
    async with Cluster(nodes=0, clock="manual", record=Recorder(lines.append)) as cluster:
        codec = cluster.apiserver.services.protobuf
        body = codec.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"k": "v"}})
        assert body is not None
        media = "application/vnd.kubernetes.protobuf"
        await cluster.client.request(
            "POST", "/api/v1/namespaces/default/configmaps", body=body, content_type=media, accept=media)
    recording = exchanges.parse(b"".join(lines).splitlines())
    [(test, name, asked)] = recording.conversations()
    packed = plan(test, recording.clusters[name], asked)
    assert [step.reason for step in packed.steps] == [BYTES]
    for exchange in asked:
        Unpacking().unpack(exchange, "1.37")
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(plan(test, recording.clusters[name], asked), cluster)
        assert (told(result), len(result.outcomes)) == ([], 1)
        assert result.outcomes[0].step.exchange.answer["data"] == {"k": "v"}


async def test_an_interrupted_run_leaves_nothing() -> None:
    """Given a run that is cancelled while an answer is awaited / when it has ended / then its
    namespaces are gone.
    """
    conversation = await recorded(small_story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        reached = asyncio.Event()

        class Stuck:
            def __init__(self, handler: Handler) -> None:
                self._handler = handler

            async def handle(self, request: Request) -> Response:
                if request.method == "GET" and request.path.endswith("configmaps/a"):
                    reached.set()
                    await asyncio.Event().wait()
                return await self._handler.handle(request)

        run = asyncio.get_running_loop().create_task(played(conversation, cluster, Stuck))
        await reached.wait()
        assert len(await names_of(cluster)) == len(EMPTY) + 1
        run.cancel()
        with pytest.raises(asyncio.CancelledError):
            await run
        assert await names_of(cluster) == [*EMPTY]


async def test_what_keeps_its_finalizers_goes_too() -> None:
    """Given a story that leaves an object with a finalizer that nobody takes off / when it was
    played / then its namespace is gone all the same.
    """
    async def story(cluster: Cluster) -> None:
        await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "a", "finalizers": ["example.com/held"]}})
        await cluster.client.delete(CONFIG_MAPS, "a")

    conversation = await recorded(story)
    async with Cluster(nodes=0, clock="auto") as cluster:
        result = await played(conversation, cluster)
        assert (told(result), result.left) == ([], [])
        assert await names_of(cluster) == [*EMPTY]


async def test_who_is_no_administrator_asks_as_themselves() -> None:
    """Given a story in which a limited user is refused and then let in / when it is played where
    RBAC decides, too / then nothing differs.
    """
    async def story(cluster: Cluster) -> None:
        ann = cluster.client.with_options(user=users.named("ann", ("team",)))
        with pytest.raises(APIError, match="cannot list resource"):
            await ann.list(CONFIG_MAPS, "default")
        client = cluster.client
        rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]}]
        binding = {
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "r"},
            "subjects": [{"kind": "User", "name": "ann", "apiGroup": "rbac.authorization.k8s.io"}]}
        for kind, body in (("roles", {"rules": rules}), ("rolebindings", binding)):
            await client.create(await client.resource(kind), {"metadata": {"name": "r"}, **body})
        await ann.list(CONFIG_MAPS, "default")

    conversation = await recorded(story, authorization_mode="RBAC")
    async with Cluster(nodes=0, clock="auto", authorization_mode="RBAC") as cluster:
        class Administrator:
            def __init__(self, handler: Handler) -> None:
                self._handler = handler

            async def handle(self, request: Request) -> Response:
                request.user = request.user or users.admin()
                return await self._handler.handle(request)

        assert told(await played(conversation, cluster, Administrator)) == []


@pytest.mark.real
async def test_a_real_cluster_does_not_differ(request: pytest.FixtureRequest) -> None:
    """Given the whole story / when it is played on the cluster of ``--kubeconfig`` / then nothing
    differs but what controllers and kubelets write, and all is gone afterwards.
    """
    from fakekube.client.kubeconfig import load_client
    from fakekube.util.rng import Rng
    from fakekube.util.wallclock import RealClock

    path = request.config.getoption("--kubeconfig")
    if not path:
        pytest.skip("--kubeconfig names no cluster")
    conversation = await recorded(small_story)
    client = load_client(path, impersonate=True)
    try:
        [result] = await play_all(
            Target(client.transport, RealClock()), [conversation], suffix=Rng.unpredictable().suffix, wait_seconds=10.0, jobs=1)
    finally:
        await client.close()
    assert [each for each in told(result) if not each.startswith("state")] == []
    assert (result.failure, result.left) == ("", [])


async def test_what_met_a_fault_is_no_difference() -> None:
    """Given a test whose requests met faults, when they are played where there are none, then no
    answer differs: what was never done is not played, what was committed is, and an answer that a
    fault has made is not compared; the plan says so.
    """
    conversation = await recorded(faulty_story, controllers="", nodes=0, faults=FAULTS)
    steps = [(str(step.exchange).rpartition("/")[2], step.reason, step.uncompared) for step in conversation.steps]
    assert steps == [
        ("configmaps?watch=true", UNTOLD, ""), ("configmaps", UNSERVED, ""), ("configmaps", "", UNTOLD), ("configmaps", "", ""),
        ("configmaps", "", ""), ("configmaps", "", ""), ("configmaps?resourceVersion=0", UNTOLD, ""), ("configmaps", "", "")]
    lines = list(of_plan([conversation], Found("there", "1.37")))
    assert lines[-5:] == [
        "not played:", f"      2 {UNTOLD}: watch configmaps, list configmaps", f"      1 {UNSERVED}: create configmaps",
        "not compared:", f"      1 {UNTOLD}: create configmaps"]
    async with Cluster(nodes=0, controllers="") as cluster:
        result = await played(conversation, cluster)
    assert told(result) == []
    assert len(result.outcomes) == 4
