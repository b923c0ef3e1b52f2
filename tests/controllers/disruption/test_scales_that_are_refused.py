"""The scale of a controller that is none of Kubernetes' own, when the server does not give it."""

from types import SimpleNamespace
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.client.resources import Resource
from fakekube_controllers.disruption import expected
from fakekube_controllers.disruption.expected import UnknownScale

FOOS = Resource("example.com", "v1", "foos", "Foo")
OWNER = {"apiVersion": "example.com/v1", "kind": "Foo", "name": "f", "uid": "u"}


@pytest.mark.parametrize(("scale", "listed", "found"), [
    ({"metadata": {"uid": "u"}, "spec": {"replicas": 3}}, [], ("u", 3)), ({"metadata": {"uid": "u"}, "spec": {}}, [], ("u", 0)),
    ({"metadata": {"uid": "other"}, "spec": {"replicas": 3}}, [], None), (404, ["foos/scale"], None),
    (404, ["foos"], "foos.example.com does not implement the scale subresource"), (403, ["foos/scale"], "no"),
    (KeyError(), [], 'no matches for kind "Foo" in version "example.com/v1"'),
])
async def test_what_is_known_of_a_scale(scale: Any, listed: list[str], found: Any) -> None:
    """Given a controller of any kind / then its scale is what the server says; none where it is
    gone or another one, an error where its kind has none, or the server refuses.
    """
    async def for_kind(_: Any) -> Resource:
        if isinstance(scale, KeyError):
            raise scale
        return FOOS

    async def get(*_: Any, subresource: str) -> Any:
        assert subresource == "scale"
        if isinstance(scale, int):
            raise APIError(scale, "R", "no")
        return scale

    async def request(_: str, path: str) -> Any:
        assert path == "/apis/example.com/v1"
        return SimpleNamespace(body=orjson.dumps({"resources": [{"name": name} for name in listed]}))

    client: Any = SimpleNamespace(for_kind=for_kind, get=get, request=request)
    try:
        answer: Any = await expected._scale_of_another(client, OWNER, "example.com", "v1", "n")
    except (APIError, UnknownScale) as error:
        answer = str(error)
    assert answer == found
