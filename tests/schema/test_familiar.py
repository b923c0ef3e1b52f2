"""Bodies whose end came before are read as if they were new."""

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.gvk import GroupVersionKind
from fakekube.apimachinery.types import Familiar
from fakekube.schema import definitions
from fakekube.schema.decode import Codec
from fakekube.schema.definitions import Definitions
from fakekube.schema.duplicates import duplicate_keys

POD = GroupVersionKind("", "v1", "Pod")
SPECS = (
    '{"containers":[{"name":"a","image":"b","ports":[]}]}', '{"containers":[{"name":"a"}],"nodeName":null}',
    '{"containers":[{"name":"a"}]}}', "{}", '{"containers":[{"name":"a"}]},"status":{}', '{"containers":[]},"kind":"Pod"',
)
HEADS = (
    '{"metadata":{"name":"a"},', '{"kind":"Pod","apiVersion":"v1","metadata":{"name":"b","labels":{}},', "{",
    '{"metadata":{"annotations":{"x":"\\"spec\\":{}"}},', '{"metadata":{"name":"c"},"spec" :{"hostNetwork":true},',
    '{"metadata":{"name":"d","name":"e"},', '{"metadata":{"labels":', '{"sp\\u0065c":{},', '{"status":{},', "[",
    '{"metadata":{"name":"f","nonsense":1},',
)


@pytest.fixture(scope="module")
def pods() -> Definitions:
    return definitions.load("1.37")


def fresh(pods: Definitions) -> Codec:
    schema = pods.schema(POD)
    assert schema is not None
    return Codec(schema)


def read(codec: Codec, body: bytes) -> object:
    """What reading a body whole gives: a tree without complaints, or None. The codec learns of it."""
    try:
        value = orjson.loads(body)
    except orjson.JSONDecodeError:
        return None
    if not isinstance(value, dict) or duplicate_keys(body, value):
        return None
    decoded = codec.decode(value, body)
    if decoded.unknown:
        return None
    codec.endings.learn(body, decoded.tree)
    return decoded.tree


@given(st.lists(st.tuples(st.sampled_from(HEADS), st.sampled_from(SPECS)), min_size=1, max_size=30))
def test_what_is_recalled_is_what_would_have_been_read(pods: Definitions, parts: list[tuple[str, str]]) -> None:
    """Given bodies put together from a few beginnings and ends, some of them broken or with a key twice
    When each is recalled, or read whole and learnt where nothing is recalled
    Then what is recalled equals what reading it whole gives."""
    codec = fresh(pods)
    for head, spec in parts * 3:
        body = f'{head}"spec":{spec}}}'.encode()
        recalled = codec.recall(body)
        if recalled is None:
            read(codec, body)
        else:
            assert recalled == read(fresh(pods), body)


def test_an_end_that_comes_the_third_time_is_shared(pods: Definitions) -> None:
    """Given two pods of one template that were read
    When a third and a fourth one come
    Then their spec is one and the same, decoded."""
    codec = fresh(pods)
    bodies = [b'{"metadata":{"name":"p%d"},"spec":{"containers":[{"name":"a","ports":[]}]}}' % number for number in range(4)]
    assert codec.recall(bodies[0]) is None
    for body in bodies[:2]:
        read(codec, body)
    third, fourth = codec.recall(bodies[2]), codec.recall(bodies[3])
    assert third is not None
    assert fourth is not None
    assert third["spec"] is fourth["spec"]
    assert isinstance(third["spec"], Familiar)
    assert third["spec"] == {"containers": [{"name": "a", "resources": {}}]}
    assert (third["metadata"]["name"], fourth["metadata"]["name"]) == ("p2", "p3")
