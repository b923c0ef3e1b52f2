"""Definitions and their objects come, change and go in any order: what is served is what a simple
model says, and refusals leave nothing behind.
"""

from typing import Any

import orjson
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from fakekube.apimachinery.gvk import GroupResource
from tests.apiextensions.definitions import SCHEMA, custom_object, definition, version
from tests.fuzz.conftest import Target

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PLURALS, NAMES = st.sampled_from(["widgets", "gadgets"]), st.sampled_from(["a", "b"])
BROKEN = {"type": "object", "properties": {"spec": {"type": "text"}}}
NARROW = {"type": "object", "properties": {"spec": {"type": "object"}}}


def collection(plural: str) -> str:
    """The path of the objects of a definition."""
    return f"/apis/probe.dev/v1/namespaces/default/{plural}"


class Definitions(RuleBasedStateMachine):
    """The model: names of objects by definition."""

    def __init__(self) -> None:
        super().__init__()
        self.target = Target()
        self.model: dict[str, set[str]] = {}

    def teardown(self) -> None:
        self.target.loop.close()

    def put(self, path: str, **spec: Any) -> int:
        """The status of an update of a definition."""
        tree = orjson.loads(self.target.send("GET", path).body)
        tree["spec"] |= spec
        return self.target.send("PUT", path, orjson.dumps(tree)).status

    @rule(plural=PLURALS, dry=st.booleans())
    def define(self, plural: str, dry: bool) -> None:
        """Only one definition has a name."""
        tree = definition(plural, plural.capitalize())
        status = self.target.post(DEFINITIONS, tree, {"dryRun": "All"} if dry else None).status
        assert status == (409 if plural in self.model else 201)
        if not dry:
            self.model.setdefault(plural, set())

    @rule(plural=PLURALS)
    def define_badly(self, plural: str) -> None:
        """A definition with a schema that is none is refused."""
        tree = definition(plural, plural.capitalize(), versions=[version(schema=BROKEN)])
        assert self.target.post(DEFINITIONS, tree).status in (409, 422)

    @rule(plural=PLURALS, schema=st.sampled_from([SCHEMA, NARROW, BROKEN]))
    def change(self, plural: str, schema: Any) -> None:
        """Objects stay when the schema changes, and when the change is refused."""
        if plural in self.model:
            status = self.put(f"{DEFINITIONS}/{plural}.probe.dev", versions=[version(schema=schema)])
            assert status == (422 if schema is BROKEN else 200)

    @rule(plural=PLURALS)
    def undefine(self, plural: str) -> None:
        """Its objects go with a definition."""
        status = self.target.send("DELETE", f"{DEFINITIONS}/{plural}.probe.dev").status
        assert status == (200 if self.model.pop(plural, None) is not None else 404)

    @rule(plural=PLURALS, name=NAMES, size=st.sampled_from([1, "x"]))
    def create(self, plural: str, name: str, size: Any) -> None:
        """Objects can be created of what is defined."""
        tree = custom_object(name, kind=plural.capitalize(), spec={"size": size})
        status = self.target.post(collection(plural), tree).status
        if plural not in self.model:
            assert status == 404
        elif status == 201:
            assert name not in self.model[plural]
            self.model[plural].add(name)
        else:
            assert status in ((409, 422) if name in self.model[plural] else (422,))

    @rule(plural=PLURALS, name=NAMES)
    def delete(self, plural: str, name: str) -> None:
        """Objects can be deleted that are there."""
        status = self.target.send("DELETE", f"{collection(plural)}/{name}").status
        assert status == (200 if name in self.model.get(plural, ()) else 404)
        self.model.get(plural, set()).discard(name)

    @invariant()
    def serves_what_is_defined(self) -> None:
        """Lists, discovery, definitions and storage agree with the model."""
        listed = orjson.loads(self.target.send("GET", DEFINITIONS).body)["items"]
        assert {tree["spec"]["names"]["plural"] for tree in listed} == set(self.model)
        found = self.target.send("GET", "/apis/probe.dev/v1")
        served = {each["name"] for each in orjson.loads(found.body)["resources"]} if found.status == 200 else set()
        assert served == set(self.model)
        for plural in ("widgets", "gadgets"):
            answer = self.target.send("GET", collection(plural))
            bucket = self.target.server.buckets.existing(GroupResource("probe.dev", plural))
            expected = self.model.get(plural, set())
            assert {record.name for record in (bucket.records() if bucket is not None else ())} == expected
            if plural not in self.model:
                assert answer.status == 404
            else:
                assert {tree["metadata"]["name"] for tree in orjson.loads(answer.body)["items"]} == expected


TestDefinitions = Definitions.TestCase
TestDefinitions.settings = settings(
    max_examples=15, stateful_step_count=15, deadline=None, suppress_health_check=list(HealthCheck))
