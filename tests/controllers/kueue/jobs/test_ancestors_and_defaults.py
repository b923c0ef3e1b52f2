"""Who is above a job, what a job gets by default, and in which words a webhook says what failed."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery import errors, labels
from fakekube.apimachinery.admission_requests import Denied
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.gvk import GroupResource, GroupVersionKind
from fakekube.apimachinery.types import Tree
from fakekube_controllers.kueue.configuration import Configuration
from fakekube_controllers.kueue.features import Features
from fakekube_controllers.kueue.jobframework import ancestors, defaults, webhooks
from fakekube_controllers.kueue.jobframework.ancestors import ChainLimitReached, CyclicOwnership, WorkloadOwnerNotFound

QUEUE, CLASS = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"


def web(name: str, above: str = "", *, queue: str = "", kind: str = "Web") -> Tree:
    """A job, and who is above it."""
    metadata: Tree = {"name": name, "namespace": "n", "uid": name, "labels": {QUEUE: queue} if queue else {}}
    if above:
        metadata["ownerReferences"] = [
            {"apiVersion": "example.com/v1", "kind": kind, "name": above, "uid": above, "controller": True}]
    return {"metadata": metadata}


class Server:
    """Has some objects, and serves the kind Web."""

    def __init__(self, *found: Tree) -> None:
        self.found = {each["metadata"]["name"]: each for each in found}

    async def for_kind(self, gvk: GroupVersionKind) -> str:
        if gvk.kind != "Web":
            raise KeyError(gvk.kind)
        return "webs"

    async def get(self, _resource: Any, name: str, _namespace: str = "", *, missing_ok: bool = False) -> Tree | None:
        if name not in self.found and not missing_ok:
            raise errors.not_found(GroupResource("", "namespaces"), name)
        return self.found.get(name)


INTEGRATIONS: Any = SimpleNamespace(
    is_known_owner=lambda owner: owner["kind"] in ("Web", "Absent"),
    is_managed_owner=lambda owner: owner is not None and owner["kind"] == "Web")


async def above(job: Tree, *found: Tree, everything: bool = False) -> str | None:
    """The name of the managed job above a job."""
    server: Any = Server(*found)
    ancestor = await ancestors.find_ancestor_job_managed_by_kueue(
        server, INTEGRATIONS, job, manage_jobs_without_queue_name=everything)
    return None if ancestor is None else ancestor["metadata"]["name"]


async def test_the_uppermost_job_that_is_managed() -> None:
    """Given jobs above each other, when it is asked who manages one, then it is the uppermost that
    is in a queue, or that is there at all where all are managed.
    """
    chain = web("b", "c", queue="q"), web("c", "d", queue="q"), web("d")
    assert await above(web("a")) is None
    assert await above(web("a", "b"), *chain) == "c"
    assert await above(web("a", "b"), *chain, everything=True) == "d"
    assert await above(web("a", "d"), *chain) is None
    assert await above(web("a", "x", kind="Other")) is None


async def test_owners_that_cannot_be_followed() -> None:
    """Given jobs in a circle, owners that are gone or of no kind, and too many of them, when it is
    asked who is above, then each is an error of its own.
    """
    with pytest.raises(CyclicOwnership) as cyclic:
        await above(web("a", "b"), web("b", "a"), web("a", "b"))
    assert str(cyclic.value) == "cyclic ownership"
    with pytest.raises(WorkloadOwnerNotFound) as gone:
        await above(web("a", "b"))
    assert str(gone.value) == 'workload owner not found\nWeb.example.com "b" not found'
    assert gone.value.status is not None
    with pytest.raises(WorkloadOwnerNotFound) as no_kind:
        await above(web("a", "b", kind="Absent"))
    assert (str(no_kind.value), no_kind.value.status) == ("workload owner not found\n'Absent'", None)
    chain = [web(str(number), str(number + 1)) for number in range(1, 20)]
    with pytest.raises(ChainLimitReached) as many:
        await above(web("0", "1"), *chain)
    assert str(many.value) == "managed owner chain limit reached"


@pytest.mark.parametrize(("count", "is_reached"), [(9, False), (10, False), (11, True)])
async def test_ten_owners_are_looked_at(count: int, is_reached: bool) -> None:
    """Given a job below others, when more than ten are above it, then it is not said who is the
    uppermost.
    """
    chain = [web(str(number), str(number + 1) if number < count else "", queue="q") for number in range(1, count + 1)]
    if is_reached:
        with pytest.raises(ChainLimitReached):
            await above(web("0", "1"), *chain)
    else:
        assert await above(web("0", "1"), *chain) == str(count)


def test_caches_that_do_not_show_all() -> None:
    """Given caches of jobs, when an owner is in none, then it is not known who is above; when all
    are, it is the managed one.
    """
    listed = {"b": web("b", "c", queue="q"), "c": web("c")}
    lister: Any = SimpleNamespace(get=lambda _namespace, name: listed.get(name))

    def cached(job: Tree, **jobs: Any) -> str | None:
        found = ancestors.cached_ancestor_job_managed_by_kueue(
            {("example.com/v1", kind): each for kind, each in jobs.items()}, INTEGRATIONS, job,
            manage_jobs_without_queue_name=False)
        return None if found is None else found["metadata"]["name"]

    assert cached(web("a", "b"), Web=lister) == "b"
    assert cached(web("a", "x"), Web=lister) is None
    assert cached(web("a", "b")) is None
    del listed["c"]
    assert cached(web("a", "b"), Web=lister) is None


@pytest.mark.parametrize(("selector", "wanted"), [
    ("", True), ("kubernetes.io/metadata.name=n", True), ("kubernetes.io/metadata.name!=n", False), ("team=a", True),
    ("team=b", False), ("kubernetes.io/metadata.name!=n,team=a", False)])
async def test_namespaces_whose_jobs_are_managed(selector: str, wanted: bool) -> None:
    """Given a selector of namespaces, when a namespace is held against it, then by its labels,
    among which is its name.
    """
    server: Any = Server({"metadata": {"name": "n", "labels": {"team": "a", "kubernetes.io/metadata.name": "n"}}})
    assert await defaults.namespace_matches(server, "n", labels.parse(selector)) is wanted


@pytest.mark.parametrize(("gate", "job", "has_default", "wanted"), [
    (True, web("a"), True, {CLASS: "default"}),
    (True, web("a", queue="q"), True, {QUEUE: "q", CLASS: "default"}),
    (True, web("a"), False, {}), (False, web("a"), True, {}), (True, web("a", "b"), True, {}),
    (True, {"metadata": {"name": "a", "labels": {CLASS: "own"}}}, True, {CLASS: "own"}),
])
async def test_the_default_class(gate: bool, job: Tree, has_default: bool, wanted: dict[str, str]) -> None:
    """Given a WorkloadPriorityClass for jobs that name none, when a job is made, then it gets that
    if this is on, it is there, and nobody above is managed.
    """
    configuration = Configuration(features=Features(WorkloadPriorityClassDefaulting=gate))
    options: Any = SimpleNamespace(configuration=configuration, integrations=INTEGRATIONS)
    server: Any = Server(*([{"metadata": {"name": "default"}}] if has_default else []))
    made = {"metadata": {**job["metadata"], "labels": {**job["metadata"]["labels"]}}}
    await defaults.apply_default_workload_priority_class(server, made, options)
    assert made["metadata"]["labels"] == wanted


STATUS = APIError(404, "NotFound", "w is not there")


def raising(error: Exception, *, later: bool) -> Callable[..., Any]:
    """A webhook that fails, at once or when it is awaited."""
    async def wait() -> None:
        raise error

    def function(_request: object, **_: object) -> Any:
        if later:
            return wait()
        raise error

    return function


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize(("error", "wanted"), [
    (STATUS, (404, "NotFound", "w is not there")),
    (WorkloadOwnerNotFound(STATUS, STATUS), (404, "NotFound", "w is not there")),
    (WorkloadOwnerNotFound("no kind"), (403, "Forbidden", "workload owner not found\nno kind")),
    (CyclicOwnership(), (403, "Forbidden", "cyclic ownership")),
    (ChainLimitReached(), (403, "Forbidden", "managed owner chain limit reached")),
])
async def test_what_fails_is_denied(error: Exception, wanted: tuple[int, str, str], later: bool) -> None:
    """Given a webhook a step of which fails, when it is asked, then it denies with the step's
    Status, or else as what is forbidden.
    """
    async def ask() -> None:
        request: Any = None
        pending = webhooks.answered(raising(error, later=later), request)
        assert pending is not None
        await pending

    with pytest.raises(Denied) as denied:
        await ask()
    assert (denied.value.code, denied.value.reason, str(denied.value)) == wanted
