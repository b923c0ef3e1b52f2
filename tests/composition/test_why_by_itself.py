"""What is said of objects that wait, of those that they own and of quotas, where no component
answers: whole answers, and where they end.
"""

from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupKind, GroupResource
from fakekube.composition import whyquota
from fakekube.composition.objectnames import object_named
from fakekube.composition.why import _Asking
from fakekube.runtime.why import Answer, Attempt, Change, Reason

Tree = dict[str, Any]
API_VERSIONS = {"pods": "v1", "jobs": "batch/v1", "events": "v1", "resourcequotas": "v1", "ws": "x.dev/v1"}
KINDS = {"pods": "Pod", "jobs": "Job", "ws": "W"}


class Storage:
    """Objects by their plural; an object names its owner by uid."""

    def __init__(self, **trees: list[Tree]) -> None:
        self._buckets: dict[GroupResource, Any] = {}
        for plural, listed in trees.items():
            group = API_VERSIONS[plural].rpartition("/")[0]
            resource = GroupResource(group, plural)
            self._buckets[resource] = SimpleNamespace(resource=resource, records=self._records(listed))

    @staticmethod
    def _records(listed: list[Tree]) -> Any:
        def records(namespace: str = "") -> list[Any]:
            return [SimpleNamespace(
                tree=lambda tree=tree: tree, data=repr(tree).encode(), has_owners="ownerReferences" in tree["metadata"])
                for tree in listed if not namespace or tree["metadata"]["namespace"] == namespace]
        return records

    @property
    def buckets(self) -> list[Any]:
        return list(self._buckets.values())

    def has(self, resource: GroupResource) -> bool:
        return resource in self._buckets

    def bucket(self, resource: GroupResource) -> Any:
        return self._buckets[resource]


def made(plural: str, name: str, owner: str = "", **more: Any) -> Tree:
    owners = {"ownerReferences": [{"uid": "else"}, {"uid": owner}]} if owner else {}
    return {"apiVersion": API_VERSIONS[plural], "kind": KINDS[plural],
            "metadata": {"namespace": "a", "name": name, "uid": f"uid-{name}-", **owners}, "spec": {},
            **more}


def suspended(name: str, owner: str = "", **more: Any) -> Tree:
    return made("jobs", name, owner, spec={"suspend": True}, **more)


def warning(number: int, about: str, message: str, **more: Any) -> Tree:
    return {"metadata": {"namespace": "a", "name": f"e{number}"}, "type": "Warning", "reason": f"R{number}", "message": message,
            "involvedObject": {"uid": f"uid-{about}-"}, **more}


def asked(obj: Tree, *, says: Any = None, depth: int = 0, **trees: list[Tree]) -> Answer:
    """The answer for an object; ``says`` are answers of components, by the name of the object."""
    plural = next(plural for plural, kind in KINDS.items() if kind == obj["kind"])
    group = API_VERSIONS[plural].rpartition("/")[0]
    answers = says or {}
    asking = _Asking(cast("Any", Storage(**trees)), lambda _, tree: list(answers.get(tree["metadata"]["name"], ())))
    return asking.about(GroupResource(group, plural), GroupKind(group, obj["kind"]), obj, depth)


def conditions(*types: str) -> Tree:
    return {"conditions": [{"type": type_, "status": "True", "reason": "R", "message": "m"} for type_ in types]}


TOLD = (Reason("Complete=True", "R: m"),)


@pytest.mark.parametrize(("obj", "answer"), [
    *((made("jobs", "j", status=conditions(type_)),
       Answer("job/a/j", "Finished", "has finished", (Reason(f"{type_}=True", "R: m"),))) for type_ in (
        "Complete", "Failed", "Completed")),
    (made("jobs", "j", status=conditions("Other")), Answer("job/a/j", "Well", "waits for nothing that is known", (
        Reason("Other=True", "R: m"),))),
    (suspended("j"), Answer("job/a/j", "Suspended", "is suspended", changes=(
        Change("Resume", "job/a/j", "set spec.suspend of job j to false"),))),
    (suspended("j", status=conditions("Complete")), Answer("job/a/j", "Finished", "has finished", TOLD)),
    (made("jobs", "j", spec={"suspend": "true"}), Answer("job/a/j", "Well", "waits for nothing that is known")),
    (made("ws", "w", status={"conditions": [{"type": "A", "status": "False"}, {"type": "B", "reason": "R"}]}),
     Answer("w/a/w", "Well", "waits for nothing that is known", (Reason("A=False", ""), Reason("B=None", "R")))),
    ({"apiVersion": "x.dev/v1", "kind": "W", "metadata": {"name": "w", "uid": "u"}},
     Answer("w/w", "Well", "waits for nothing that is known")),
    (made("pods", "p", spec={"nodeName": "n"}), Answer("pod/a/p", "Well", "waits for nothing that is known")),
    (made("pods", "p"), Answer("pod/a/p", "NoScheduler", "has no node, and no scheduler runs")),
])
def test_an_object_by_itself(obj: Tree, answer: Answer) -> None:
    """Given an object that no component answers for, when it is asked about, then its end, that it
    is suspended, or nothing is told, with its conditions.
    """
    assert asked(obj) == answer


def test_warnings_about_an_object() -> None:
    """Given Events, when an object is asked about, then its latest three Warnings are told, each
    text once; those of others and of other namespaces are not.
    """
    events = [
        warning(1, "j", "m1"), warning(2, "j", "m2"), warning(3, "j", "m3"), warning(4, "j", "m1"), warning(5, "k", "x"),
        warning(6, "j", "y", type="Normal"), warning(7, "j", ""), warning(8, "j", "z", involvedObject=None)]
    events[1]["metadata"]["namespace"] = "a"
    assert asked(made("jobs", "j"), events=events) == Answer("job/a/j", "Waiting", "is warned about", (
        Reason("Event R3", "m3"), Reason("Event R4", "m1"), Reason("Event R7", "")))
    for event in events:
        event["metadata"]["namespace"] = "b"
    assert asked(made("jobs", "j"), events=events).state == "Well"
    for event in events:
        event["metadata"]["namespace"] = "default"
    obj = made("ws", "j")
    del obj["metadata"]["namespace"]
    assert (asked(obj, events=events).about, asked(obj, events=events).state) == ("w/j", "Waiting")


def test_what_a_component_says() -> None:
    """Given components that answer, when an object is asked about, then the first answer counts,
    more are what it waits for, and what was said already is not said again.
    """
    first = Answer("job/a/j", "NoQuota", "waits", (Reason("P", "p"),), (Attempt(1, "t", "R", "not enough"),), because=(
        Answer("w/a/x", "X", "x"),))
    events = [warning(1, "j", "0/1: not enough cpu"), warning(2, "j", "other")]
    more = Answer("w/a/y", "Y", "y")
    found = asked(made("jobs", "j", status=conditions("A")), says={"j": [first, more]}, events=events)
    assert found == first._replace(
        reasons=(Reason("P", "p"), Reason("A=True", "R: m"), Reason("Event R2", "other")), because=(*first.because, more))
    for state in ("Finished", "Scheduled", "Well"):
        well = first._replace(state=state)
        assert asked(made("jobs", "j", status=conditions("A")), says={"j": [well]}, events=events) == well


def test_what_an_object_owns() -> None:
    """Given objects that own others, when one is asked about, then those that wait are told of,
    five at most, groups before pods, and none that only another owns or that is well.
    """
    children = [made("pods", f"p{number}", "uid-root-") for number in range(7)]
    waits = {f"p{number}": [Answer(f"pod/a/p{number}", "NoNode", "waits")] for number in range(7)}
    root = made("jobs", "root")
    mended = Change("Resume", "job/a/k", "set spec.suspend of job k to false")
    found = asked(root, jobs=[suspended("k", "uid-root-")], events=[warning(1, "root", "x")])
    assert found == Answer(
        "job/a/root", "Waiting", "has made what waits", (Reason("Event R1", "x"),), changes=(mended,), because=(
            Answer("job/a/k", "Suspended", "is suspended", changes=(mended,)),))
    own = suspended("root")
    found = asked(own, says=waits, pods=children, jobs=[own, suspended("k", "uid-root-"), suspended("l", "uid-other-"),
        made("jobs", "m", "uid-root-")], events=[warning(1, "root", "x")])
    assert [each.about for each in found.because] == ["job/a/k", "pod/a/p0", "pod/a/p1", "pod/a/p2", "pod/a/p3"]
    group = Answer("job/a/k", "Suspended", "is suspended")
    waits["p0"] = [Answer("pod/a/p0", "NoNode", "waits", because=(group,))]
    found = asked(own, says=waits, pods=children[:2], jobs=[suspended("k", "uid-root-")])
    assert [each.about for each in found.because] == ["job/a/k", "pod/a/p1"]
    waits["p0"] = [Answer("pod/a/p0", "NoNode", "waits", because=(group._replace(about="job/a/z"),))]
    assert len(asked(own, says=waits, pods=children[:2]).because) == 2


def test_how_deep_and_how_often_is_asked() -> None:
    """Given objects that own each other, when one is asked about, then each is once, and four
    levels down at most.
    """
    chain = [suspended("j0", "uid-j1-"), *(suspended(f"j{number}", f"uid-j{number - 1}-") for number in range(1, 7))]

    def depth(answer: Answer) -> int:
        return 1 + (depth(answer.because[0]) if answer.because else 0)

    found = asked(chain[0], jobs=chain)
    assert (depth(found), len(found.because)) == (5, 1)
    assert [asked(chain[0], jobs=chain[:2], depth=level).because != () for level in (3, 4)] == [True, False]


def job(count: int, succeeded: int | None = None, **more: Any) -> Tree:
    limits: Tree = {} if succeeded is None else {"completions": count}
    status = {"active": more.pop("active", 0), "succeeded": succeeded}
    spec = {"parallelism": count, **limits, **more, "template": {"spec": {"containers": [
        {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}
    return made("jobs", "j", spec=spec, status=status)


def quota(name: str, hard: Tree, used: Tree) -> Tree:
    return {"metadata": {"namespace": "a", "name": name}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}}


JOBS, SETS = GroupResource("batch", "jobs"), GroupResource("apps", "replicasets")


@pytest.mark.parametrize(("obj", "count"), [
    (job(5), 5), (job(5, active=2), 3), (job(5, 4), 1), (job(5, 0), 5), (job(5, 5), None), (job(2, active=2), None),
    (job(5, suspend=True), None), ({**job(5), "spec": {"parallelism": 5}}, None),
    ({**job(1), "metadata": {**job(1)["metadata"], "deletionTimestamp": "2026-01-01T00:00:00Z"}}, None),
])
def test_how_many_pods_a_job_still_makes(obj: Tree, count: int | None) -> None:
    """Given a quota that allows nothing more, when a Job is asked about, then it lacks as many pods
    as it still makes; one that makes none lacks nothing.
    """
    storage: Any = Storage(resourcequotas=[quota("q", {"pods": "2"}, {"pods": "2"})])
    found = whyquota.refused(storage, JOBS, obj)
    assert (None if found is None else found.pods) == count
    if count is not None:
        assert found == whyquota.Refused(
            count, (Reason("ResourceQuota q", f"{count} more pods ask for pods={count}; used: pods=2, limited: pods=2"),),
            (Change("RaiseQuota", "resourcequota/a/q", f"let resourcequota/a/q allow pods={2 + count}", {
                "hard": {"pods": str(2 + count)}}),))
    assert whyquota.refused(cast("Any", Storage()), JOBS, obj) is None
    assert whyquota.refused(storage, GroupResource("", "pods"), obj) is None


@pytest.mark.parametrize(("hard", "used", "told"), [
    ({"pods": "5"}, {"pods": "2"}, None),
    ({"pods": "5"}, {"pods": "3"}, "3 more pods ask for pods=3; used: pods=3, limited: pods=5"),
    ({"requests.cpu": "3"}, {}, None), ({"requests.cpu": "2"}, {"requests.cpu": "500m"},
     "3 more pods ask for requests.cpu=3; used: requests.cpu=500m, limited: requests.cpu=2"),
    ({"limits.cpu": "9"}, {}, "pods must specify limits.cpu for: c"), ({"services": "0"}, {"services": "9"}, None),
])
def test_what_a_quota_has_against_pods(hard: Tree, used: Tree, told: str | None) -> None:
    """Given a quota, when the three pods of a Job are charged, then what they exceed is told, at
    the edge nothing; where they say too little, no change would help, of other quotas neither.
    """
    storage: Any = Storage(resourcequotas=[quota("q", hard, used)])
    found = whyquota.refused(storage, JOBS, job(3))
    assert (None if found is None else [reason.message for reason in found.reasons]) == (None if told is None else [told])
    if found is not None:
        assert (found.pods, len(found.changes)) == (3, 0 if "specify" in str(told) else 1)
        more = quota("r", {"pods": "0"}, {}), quota("s", {"limits.cpu": "9"}, {})
        both: Any = Storage(resourcequotas=[quota("q", hard, used), *more])
        all_of = whyquota.refused(both, JOBS, job(3))
        assert all_of is not None
        assert (len(all_of.reasons), all_of.changes) == (3, ())
    replicas = {**job(3), "spec": {**job(3)["spec"], "replicas": 4}, "status": {"replicas": 1}}
    assert whyquota.refused(storage, SETS, replicas) == found


def test_a_job_that_quotas_hold_up() -> None:
    """Given a Job that a quota holds up and whose pods wait, when it is asked about, then both are
    told, with the quota's change.
    """
    obj = job(2)
    found = asked(
        obj, resourcequotas=[quota("q", {"pods": "1"}, {"pods": "1"})], events=[warning(1, "j", "x")],
        pods=[made("pods", "p", "uid-j-")])
    target = "resourcequota/a/q"
    assert found == Answer(
        "job/a/j", "QuotaExceeded", "is to make 2 more pods, which quotas do not allow",
        (Reason("ResourceQuota q", "2 more pods ask for pods=2; used: pods=1, limited: pods=1"), Reason("Event R1", "x")),
        changes=(Change("RaiseQuota", target, f"let {target} allow pods=3", {"hard": {"pods": "3"}}),),
        because=(Answer("pod/a/p", "NoScheduler", "has no node, and no scheduler runs"),))


@pytest.mark.parametrize("what", ["pod", "/p", "pod/", "pod/a/b", "", "/"])
async def test_names_that_are_none(what: str) -> None:
    """Given a text that names no object, when it is read, then it is told what to say."""
    with pytest.raises(APIError) as refused:
        await object_named(cast("Any", None), what)
    assert (refused.value.code, refused.value.message) == (400, f"{what!r} names no object: say pod/NAME or job/NAME")


async def test_names_of_objects() -> None:
    """Given a text that names an object, when it is read, then the server says which resource it
    is, or that there is none.
    """
    async def resource(kind: str) -> Any:
        if kind == "x":
            raise KeyError("no x is served")
        return f"resource {kind}"

    client: Any = SimpleNamespace(resource=resource)
    found: Any = await object_named(client, "jobs.batch/report")
    assert found == ("resource jobs.batch", "report")
    with pytest.raises(APIError) as refused:
        await object_named(client, "x/y")
    assert (refused.value.code, refused.value.message) == (400, "no x is served")
