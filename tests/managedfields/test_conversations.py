"""What upstream's own library answered in random conversations, replayed.

The answers are those of apimachinery v0.37.1 with structured-merge-diff v6.4.2. Every conversation
is a row of applies and updates by three managers on one object, nulls, duplicates and fields
without a type among them.
"""

from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson
import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.managedfields.manager import FieldManager
from fakekube.schema.structural import from_openapi
from tests.managedfields.world import T0


@lru_cache
def recorded() -> dict[str, Any]:
    found: dict[str, Any] = orjson.loads(Path(__file__).with_name("conversations.json").read_bytes())
    return found


@lru_cache
def manager() -> FieldManager:
    return FieldManager(from_openapi(recorded()["schema"]), "example.com/v1", kind="Widget", reset_fields={})


def answered(live: Any, step: dict[str, Any]) -> dict[str, Any]:
    """The object after a step; the very text of upstream's error when there is one."""
    sent = orjson.loads(orjson.dumps(step["sent"]))
    if step["op"] == "apply":
        return manager().apply(live, sent, manager=step["manager"], now=T0, force=step["force"])
    manager().update(live, sent, manager=step["manager"], now=T0)
    found: dict[str, Any] = sent
    return found


def shown(tree: dict[str, Any]) -> dict[str, Any]:
    metadata = {name: value for name, value in tree["metadata"].items() if name != "managedFields"}
    entries = [
        {
            **({} if "time" in entry else {"timeless": True}),
            "manager": entry["manager"],
            "operation": entry["operation"],
            "fields": entry["fieldsV1"],
        }
        for entry in tree["metadata"].get("managedFields", [])
    ]
    return {"object": {**tree, "metadata": metadata}, "entries": entries}


@pytest.mark.parametrize("number", range(45))
def test_a_conversation_goes_as_upstreams(number: int) -> None:
    """Given a recorded conversation / when it is played again / then object, owners, times and
    errors are the same.
    """
    live: Any = None
    for step in recorded()["conversations"][number]:
        answer = step["answer"]
        if "error" in answer:
            with pytest.raises(APIError) as error:
                answered(live, step)
            assert sorted(error.value.message.split("\n")) == sorted(answer["error"].split("\n"))
            continue
        live = answered(live, step)
        assert shown(live) == answer
