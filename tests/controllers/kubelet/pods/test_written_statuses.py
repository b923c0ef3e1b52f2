"""The status of a pod that is written while the pod goes."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.kubelet.pods import status
from fakekube_controllers.kubelet.pods.status_manager import StatusManager

POD: Any = {"metadata": {"name": "p", "namespace": "n", "uid": "u", "resourceVersion": "7"}, "spec": {"nodeName": "n1"}}


@pytest.mark.parametrize(("present", "code", "raised", "shown", "written"), [
    ({"phase": "Running"}, 0, "", True, 0), ({"phase": "Pending"}, 0, "", False, 1), ({"phase": "Pending"}, 404, "", False, 1),
    ({"phase": "Pending"}, 409, "no", None, 1), ({}, 500, "no", None, 1)])
async def test_a_status_that_is_not_shown_is_written(
    monkeypatch: pytest.MonkeyPatch, present: Any, code: int, raised: str, shown: Any, written: int,
) -> None:
    """Given what a pod's status is to be / when it is not so, then it is written, for that pod in
    that version; that the pod is gone is no error, any other refusal is.
    """
    asked: list[Any] = []

    async def patch(*what: Any, **options: Any) -> None:
        asked.append((*what[1:], options))
        if code:
            raise APIError(code, "R", "no")

    monkeypatch.setattr(status, "render", lambda *_, **__: {"phase": "Running"})
    clients: Any = SimpleNamespace(of=lambda _: SimpleNamespace(patch=patch))
    addresses: Any = SimpleNamespace(of_node=lambda _: "10.0.0.1", of_pod=lambda *_: "10.1.0.1")
    made = StatusManager(clients, addresses, observed_generation=False, removal_seconds=0)
    run: Any = SimpleNamespace(pod={**POD, "status": present})
    try:
        found: Any = await made.sync(run, 0.0)
        said = ""
    except APIError as error:
        found, said = None, error.message
    assert (found, said, run.status) == (shown, raised, {"phase": "Running"})
    body = {"metadata": {"uid": "u", "resourceVersion": "7"}, "status": {"phase": "Running"}}
    assert asked == [("p", "n", body, {"subresource": "status", "read_answer": False})] * written
