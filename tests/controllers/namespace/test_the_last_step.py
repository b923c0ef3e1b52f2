"""The finalizer of a namespace goes last: the step alone."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube_controllers.namespace.controller import NamespaceReconciler


@pytest.mark.parametrize(("namespace", "code", "raised", "written"), [
    (["kubernetes"], 0, "", [[]]), (["kubernetes", "mine"], 0, "", [["mine"]]), (None, 0, "", []), (["kubernetes"], 404, "", []),
    (["kubernetes"], 409, "no", []), (["kubernetes"], 500, "no", []), ([], 0, "", [[]]),
])
async def test_a_namespace_loses_its_finalizer(namespace: Any, code: int, raised: str, written: Any) -> None:
    """Given a namespace that is empty / then Kubernetes' finalizer goes; one that is gone already
    is no error, any other refusal is.
    """
    done: list[Any] = []

    async def get(*_: Any, missing_ok: bool) -> Any:
        assert missing_ok
        return None if namespace is None else {"metadata": {"name": "x"}, "spec": {"finalizers": namespace}}

    async def update(_: Any, body: Any, *, subresource: str) -> None:
        assert subresource == "finalize"
        if code:
            raise APIError(code, "R", "no")
        done.append(body["spec"]["finalizers"])

    made: Any = object.__new__(NamespaceReconciler)
    made.client = SimpleNamespace(get=get, update=update)
    try:
        await made._finalize("x")
        said = ""
    except APIError as error:
        said = error.message
    assert (said, done) == (raised, written)
