"""The whole answer to a write: of each file a row of objects, and what becomes of them or what is
told of them, in order.

``told`` are the causes of a refusal, ``warned`` the warnings, ``becomes`` is what is stored. With
``before`` that is created first, and gets the status ``stood``; then it gets ``patch``, a merge
patch, through the endpoint ``through``, and ``becomes`` has those parts of it that are no longer as
they were. All is a dry run but for what ``lasts``. ``release`` and ``gates`` are for another server
than usual. A uid that was given out is written UID.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import pytest
import yaml

from fakekube.apimachinery.http import Response
from tests.fuzz.conftest import MERGE_PATCH, Target

FOLDER = Path(__file__).parent
STRICT = {"fieldValidation": "Strict"}
AT_ONCE = {"gracePeriodSeconds": "0", "propagationPolicy": "Background"}
UID = re.compile(rb"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
GIVEN_OUT = ("name", "namespace", "uid", "creationTimestamp", "resourceVersion", "managedFields")


def cases() -> Iterator[Any]:
    """All of them, each named after its file and its title."""
    for file in sorted(FOLDER.glob("*.yaml")):
        for case in yaml.load(file.read_text(), yaml.CSafeLoader):
            yield pytest.param(case, id=f"{file.stem}-{case['case'].replace(' ', '-')}")


@pytest.fixture(scope="module")
def servers() -> Iterator[Any]:
    """A server of a release with gates, one for all who ask for the same."""
    made: list[Target] = []

    @cache
    def server(release: str, gates: str) -> Target:
        options = {"kubernetes_version": release} if release else {}
        options |= {"feature_gates": gates} if gates else {}
        made.append(Target(**options, runtime_config="api/all=true"))
        return made[-1]

    yield server
    for each in made:
        each.loop.close()


def answer(server: Any, case: dict[str, Any]) -> dict[str, Any]:
    """What is told, warned of and stored, each only if there is any."""
    target, path = server(case.get("release", ""), case.get("gates", "")), case["at"]
    query = STRICT if case.get("lasts") else {**STRICT, "dryRun": "All"}
    if "before" not in case:
        tree = {**case["object"], "metadata": {"name": "x", **case["object"].get("metadata", {})}}
        response = target.send("POST", path, orjson.dumps(tree), query=query)
        if response.status == 201 and query is STRICT:
            _delete(target, f"{path}/{tree['metadata']['name']}")
        return _read(response)
    before = {**case["before"], "metadata": {"name": "x", **case["before"].get("metadata", {})}}
    made = target.send("POST", path, orjson.dumps(before))
    assert made.status == 201, made.body
    here = f"{path}/{before['metadata']['name']}"
    if "stood" in case:
        stood = orjson.dumps({"status": case["stood"]})
        made = target.send("PATCH", f"{here}/status", stood, MERGE_PATCH)
        assert made.status == 200, made.body
    known = orjson.loads(UID.sub(b"UID", target.send("GET", here).body))
    through = case.get("through", "")
    response = target.send("PATCH", here + (through and f"/{through}"), orjson.dumps(case["patch"]), MERGE_PATCH, query=query)
    _delete(target, here)
    return _read(response, known)


def _delete(target: Target, path: str) -> None:
    assert target.send("DELETE", path, query=AT_ONCE).status == 200
    target.send("PATCH", path, b'{"metadata": {"finalizers": null}}', MERGE_PATCH)


def _read(response: Response, known: dict[str, Any] | None = None) -> dict[str, Any]:
    warned = [value.partition('"')[2][:-1].replace('\\"', '"') for name, value in response.headers if name == "Warning"]
    found: dict[str, Any] = {"warned": warned} if warned else {}
    tree = orjson.loads(UID.sub(b"UID", response.body))
    if response.status in (200, 201):
        before = _parts(known) if known else {}
        becomes = {name: part for name, part in _parts(tree).items() if before.get(name, {}) != part}
        return {**found, "becomes": becomes} if becomes else found
    causes = (tree.get("details") or {}).get("causes") or []
    told = [f"{cause['field']}: {cause['message']}" for cause in causes] or [f"{tree['code']}: {tree['message']}"]
    return {**found, "told": told}


def _parts(tree: dict[str, Any]) -> dict[str, Any]:
    """An object without what it was given."""
    metadata = {name: value for name, value in tree["metadata"].items() if name not in GIVEN_OUT}
    return {name: part for name, part in {**tree, "metadata": metadata}.items() if name not in ("kind", "apiVersion")}


@pytest.mark.parametrize("case", list(cases()))
def test_the_whole_answer(servers: Any, case: dict[str, Any]) -> None:
    """Given an object, or a change of one / when it is sent / then the answer is this, and nothing
    but this.
    """
    expected = {name: case[name] for name in ("told", "warned", "becomes") if name in case}
    assert answer(servers, case) == expected
