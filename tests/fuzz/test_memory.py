"""However much nonsense comes, the server stays as large as it was."""

import gc

import pytest

from benchmarks.load import resident_bytes
from tests.fuzz.conftest import APPLY, JSON, MAP, MAPS, MERGE_PATCH, YAML, Target
from tests.fuzz.test_corpus import CASES

ROUNDS = 30
GROWTH_BYTES = 24 << 20


def nonsense(target: Target, number: int) -> None:
    """A little of everything, different in every round where anything might be remembered."""
    for method, url, body, media, *_ in CASES.values():
        target.send(method, url.partition("?")[0], body, media)
    for each in range(50):
        text = f"{number}-{each}"
        target.send("GET", MAPS, query={"labelSelector": f"a{text}=b", "fieldSelector": f"metadata.name={text}"})
        target.send("GET", f"{MAPS}/{text}", headers={"accept": f"application/x{text}", "user-agent": text})
        target.send("PATCH", MAP, b'{"data":{"%b":5}}' % text.encode(), MERGE_PATCH)
        target.send("POST", MAPS, b'{"metadata":{"name":"a"},"x%b":1}' % text.encode(), JSON, query={"fieldValidation": "Strict"})
        target.send("POST", MAPS, b"a: [%b" % text.encode() * 20, YAML)
        target.send("PATCH", MAP, b'{"metadata":{"managedFields":[{"fieldsV1":{"f:%b":{}}}]}}' % text.encode(), APPLY,
                    query={"fieldManager": text})
    target.send("POST", MAPS, b"x" * (4 << 20))
    target.send("POST", MAPS, b'{"metadata":{"name":"a"},"data":{"a":%d}}' % number + b" " * (2 << 20))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_nonsense_leaves_nothing_behind(target: Target) -> None:
    """Given some rounds of nonsense / when many more come / then memory stays within bounds."""
    for number in range(5):
        nonsense(target, number)
    gc.collect()
    before = resident_bytes()
    for number in range(5, 5 + ROUNDS):
        nonsense(target, number)
    gc.collect()
    assert resident_bytes() - before < GROWTH_BYTES
