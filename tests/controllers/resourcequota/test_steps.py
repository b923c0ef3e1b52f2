"""What a quota is told of what is used, which resources are counted, and when it is counted anew.
"""

from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, PODS, RESOURCE_QUOTAS, SECRETS, SERVICES, Resource
from fakekube.runtime.reconcile import Request
from fakekube_controllers.resourcequota.controller import QuotaReconciler
from tests.controllers.scene import Scene

KEY = Request("x", "q")
WIDGETS = Resource("x.io", "v1", "widgets", "Widget")
WIDE = Resource("x.io", "v1", "wides", "Wide", namespaced=False)


class Counting(Scene):
    """Objects to be counted; handlers and timers are noted."""

    is_shut_down = False

    def __init__(self, *objects: tuple[Any, Tree], period: float | None = None) -> None:
        super().__init__(objects)
        self.watched: list[str] = []
        self.synced, self.timers = 0, list[tuple[float, Any, bool]]()
        self.options = {} if period is None else {"resource_quota_sync_period": period}
        self.calls: dict[str, tuple[Any, ...]] = {}

    async def list(self, resource: Any, namespace: str = "", *, field_selector: str = "") -> Any:
        if resource == RESOURCE_QUOTAS:
            assert field_selector == "metadata.name=q"
        return await super().list(resource, namespace)

    async def resource(self, name: str) -> Any:
        return {"widgets.x.io": WIDGETS, "wides.x.io": WIDE}[name]

    def add_handler(self, resource: Any, on_add: Any = None, on_update: Any = None, on_delete: Any = None) -> None:
        super().add_handler(resource, on_add, on_update, on_delete)
        self.watched.append(resource.plural)

    async def wait_for_sync(self) -> None:
        self.synced += 1

    def call_later(self, seconds: float, call: Any, *, lazy: bool) -> None:
        self.timers.append((seconds, call, lazy))


def quota(hard: Tree | None, *, status: Tree | None = None, name: str = "q", **spec: Any) -> tuple[Any, Tree]:
    return RESOURCE_QUOTAS, {"metadata": {"name": name, "namespace": "x"}, "spec": {**({"hard": hard} if hard else {}), **spec},
                             **({"status": status} if status is not None else {})}


def obj(resource: Any, namespace: str = "x", **spec: Any) -> tuple[Any, Tree]:
    return resource, {"metadata": {"name": "o", "namespace": namespace}, "spec": spec}


def pod(cpu: str, *, ended: bool = False, **spec: Any) -> tuple[Any, Tree]:
    found = obj(PODS, containers=[{"name": "c", "resources": {"requests": {"cpu": cpu}}}], **spec)[1]
    return PODS, {**found, "status": {"phase": "Failed" if ended else "Running"}}


def controller(scene: Counting) -> QuotaReconciler:
    one = QuotaReconciler(cast("Any", scene))
    one.queue = cast("Any", scene)
    return one


@pytest.mark.parametrize(("hard", "objects", "used", "watched"), [
    ({"pods": "9", "requests.cpu": "4"}, [pod("100m"), pod("1"), pod("1", ended=True)],
        {"pods": "2", "requests.cpu": "1100m"}, ["pods"]),
    ({"pods": "9"}, [obj(PODS, "y", containers=[])], {"pods": "0"}, ["pods"]),
    ({"configmaps": "1", "secrets": "2", "services": "3"}, [obj(CONFIG_MAPS), obj(SECRETS), obj(SECRETS), obj(SERVICES)],
     {"configmaps": "1", "secrets": "2", "services": "1"}, ["services", "configmaps", "secrets"]),
    ({"count/widgets.x.io": "4"}, [obj(WIDGETS), obj(WIDGETS)], {"count/widgets.x.io": "2"}, ["widgets"]),
    ({"count/gone.x.io": "4", "count/wides.x.io": "4"}, [obj(WIDE)], None, []), ({}, [], None, [])])
async def test_what_is_used(hard: Tree, objects: list[Any], used: Tree | None, watched: list[str]) -> None:
    """Given a quota and objects / then what it counts is told, with its limits, and watched once.
    """
    scene = Counting(quota(hard), *objects)
    one = controller(scene)
    await one.reconcile(KEY)
    await one.reconcile(KEY)
    expected = {name: amounts for name, amounts in (("hard", hard), ("used", used)) if amounts}
    assert [each[3]["status"] for each in scene.done] == ([expected] * 2 if expected else [])
    assert (scene.watched, scene.synced) == (watched, len(watched))


async def test_a_quota_of_a_scope() -> None:
    """Given a quota of pods that end by themselves / then others do not count."""
    scene = Counting(quota({"pods": "9"}, scopes=["Terminating"]), pod("1"), pod("1", activeDeadlineSeconds=5))
    await controller(scene).reconcile(KEY)
    assert scene.done[0][3]["status"]["used"] == {"pods": "1"}


async def test_what_is_known_already_is_not_written() -> None:
    """Given a status that is right / then nothing is written; what nobody counts any more stays."""
    known = {"hard": {"pods": "9"}, "used": {"pods": "1"}}
    scene = Counting(quota({"pods": "9"}, status=known), pod("1"))
    await controller(scene).reconcile(KEY)
    assert scene.done == []
    scene = Counting(quota({"pods": "9", "other": "5"}, status={"hard": {}, "used": {"other": "3", "gone": "1"}}), pod("1"))
    await controller(scene).reconcile(KEY)
    assert scene.done[0][3]["status"] == {"hard": {"pods": "9", "other": "5"}, "used": {"pods": "1", "other": "3"}}
    scene = Counting()
    await controller(scene).reconcile(KEY)
    assert scene.done == []


@pytest.mark.parametrize(("code", "again"), [(404, True), (409, True), (403, False)])
async def test_a_quota_that_is_charged_meanwhile(code: int, again: bool) -> None:
    """Given a quota that somebody charges meanwhile / then it is counted again; other errors are
    raised.
    """
    scene = Counting(quota({"pods": "9"}))
    scene.refuse["update", "resourcequotas"] = APIError(code, "x", "no")
    if again:
        await controller(scene).reconcile(KEY)
    else:
        with pytest.raises(APIError, match="no"):
            await controller(scene).reconcile(KEY)
    assert scene.queued == ([KEY] if again else [])


@pytest.mark.parametrize(("period", "seconds"), [(None, 300.0), (7.0, 7.0)])
def test_when_quotas_are_counted(period: float | None, seconds: float) -> None:
    """Given quotas / then they are counted when they come, when their limits change, and every now
    and then, which stops no clock.
    """
    scene = Counting(quota({"pods": "9"}), quota({"pods": "1"}, name="r"), period=period)
    one = controller(scene)
    one.setup(cast("Any", scene))
    added, updated, gone = scene.handlers["resourcequotas"]
    added(quota({"pods": "9"})[1])
    updated(quota({"pods": "9"})[1], quota({"pods": "8"})[1])
    updated(quota({"pods": "9"})[1], quota({"pods": "9"}, status={"used": {}})[1])
    assert (scene.queued, gone) == ([KEY] * 2, None)
    scene.queued.clear()
    [(waited, call, lazy)] = scene.timers
    assert (waited, lazy) == (seconds, True)
    call()
    assert ([key.name for key in scene.queued], len(scene.timers)) == (["q", "r"], 2)
    scene.is_shut_down = True
    call()
    assert (len(scene.queued), len(scene.timers)) == (2, 2)


async def test_what_is_given_back_is_counted() -> None:
    """Given quotas that count pods, and others / when a pod goes or costs otherwise / then those
    that count pods in its namespace are counted anew.
    """
    elsewhere = quota({"pods": "9"}, name="y")
    elsewhere[1]["metadata"]["namespace"] = "y"
    scene = Counting(quota({"pods": "9"}), quota({"secrets": "9"}, name="r"), elsewhere)
    one = controller(scene)
    await one.reconcile(KEY)
    _, updated, gone = scene.handlers["pods"]
    gone(pod("1")[1])
    updated(pod("1")[1], pod("1", ended=True)[1])
    updated(pod("1")[1], pod("1")[1])
    assert scene.queued == [KEY] * 2
