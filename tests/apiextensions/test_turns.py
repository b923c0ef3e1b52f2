"""Rules that compute for long: others are answered meanwhile, and nothing is half-written."""

import asyncio

from fakekube.util import tasks
from tests.apiextensions.definitions import custom_object, definition, version
from tests.apiserver.conftest import Api, api

__all__ = ["api"]

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WIDGETS = "/apis/probe.dev/v1/namespaces/t/widgets"
MERGE = {"content-type": "application/merge-patch+json"}
LONG = "self.a.all(x, self.a.all(y, x + y >= 0))"
MANY = list(range(1, 301))


async def define(api: Api, *rules: str) -> None:
    """A definition of Widgets with these rules of their spec."""
    numbers = {"type": "array", "maxItems": 400, "items": {"type": "integer"}}
    spec = {
        "type": "object", "properties": {"a": numbers, "b": {"type": "string"}},
        "x-kubernetes-validations": [{"rule": rule} for rule in rules]}
    schema = {"type": "object", "properties": {"spec": spec}}
    answer = await api("POST", DEFINITIONS, definition(versions=[version(schema=schema)]))
    assert answer.status == 201, answer.tree


async def test_others_are_answered_while_rules_run(api: Api) -> None:
    """Given a rule that takes many turns / when an object is written and another request comes /
    then that is answered first / and the object is stored, or refused, as if nobody had come.
    """
    await define(api, LONG)
    answered: list[str] = []

    async def write(name: str, numbers: list[int], status: int) -> None:
        answer = await api("POST", WIDGETS, custom_object(name=name, spec={"a": numbers}))
        assert answer.status == status, answer.tree
        answered.append(name)

    async def read() -> None:
        await tasks.turn()
        assert (await api("GET", WIDGETS)).tree["items"] == []
        answered.append("read")

    await asyncio.gather(write("good", MANY, 201), read(), write("bad", [*MANY, -1], 422))
    assert answered[0] == "read"
    assert [each["metadata"]["name"] for each in (await api("GET", WIDGETS)).tree["items"]] == ["good"]


async def test_a_patch_holds_although_another_came_meanwhile(api: Api) -> None:
    """Given two patches of one object whose rules take many turns / when they are sent at once /
    then both are in the object.
    """
    await define(api, LONG)
    assert (await api("POST", WIDGETS, custom_object(spec={"a": MANY}))).status == 201

    async def patch(**spec: object) -> None:
        assert (await api("PATCH", f"{WIDGETS}/w", {"spec": spec}, MERGE)).status == 200

    await asyncio.gather(patch(b="x"), patch(a=[*MANY, 7]))
    found = (await api("GET", f"{WIDGETS}/w")).tree["spec"]
    assert (found["b"], len(found["a"])) == ("x", 301)


async def test_nothing_is_stored_of_a_definition_that_is_gone(api: Api) -> None:
    """Given an object whose rules take many turns / when its definition is deleted meanwhile / then
    it is refused as what is not served, and is not there when the definition comes again.
    """
    await define(api, LONG)
    answered: list[tuple[str, int]] = []

    async def write() -> None:
        answered.append(("write", (await api("POST", WIDGETS, custom_object(spec={"a": MANY}))).status))

    async def delete() -> None:
        await tasks.turn()
        answered.append(("delete", (await api("DELETE", f"{DEFINITIONS}/widgets.probe.dev")).status))

    await asyncio.gather(write(), delete())
    assert answered == [("delete", 200), ("write", 404)]
    await define(api, LONG)
    assert (await api("GET", WIDGETS)).tree["items"] == []


async def test_warnings_and_errors_are_told_once(api: Api) -> None:
    """Given a rule that fails behind one that takes many turns / then its error is told once, and
    once as a warning in a change of something else.
    """
    await define(api, LONG, "self.a.size() < 300")
    body = custom_object(spec={"a": MANY}, metadata={"name": "w", "finalizers": ["x"]})
    refused = await api("POST", WIDGETS, body)
    assert (refused.status, len(refused.tree["details"]["causes"])) == (422, 1)
    body["spec"]["a"] = MANY[:299]
    created = await api("POST", WIDGETS, body)
    assert (created.status, len(created.warnings)) == (201, 1)


async def test_a_default_is_checked_in_turns(api: Api) -> None:
    """Given a definition with a default that breaks a rule behind one that takes many turns / then
    the definition is refused, and a read that came meanwhile is answered before.
    """
    spec = {
        "type": "object", "default": {"a": MANY}, "properties": {
            "a": {"type": "array", "maxItems": 400, "items": {"type": "integer"}}},
        "x-kubernetes-validations": [{"rule": LONG}, {"rule": "self.a.size() < 300", "message": "too many"}]}
    body = definition(versions=[version(schema={"type": "object", "properties": {"spec": spec}})])
    answered: list[str] = []

    async def define_it() -> None:
        answer = await api("POST", DEFINITIONS, body)
        assert [cause["message"] for cause in answer.tree["details"]["causes"]] == ["Invalid value: too many"]
        answered.append("definition")

    async def read() -> None:
        assert (await api("GET", DEFINITIONS)).status == 200
        answered.append("read")

    await asyncio.gather(define_it(), read())
    assert answered == ["read", "definition"]
