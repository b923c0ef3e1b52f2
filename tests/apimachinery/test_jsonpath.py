"""JSONPath as kubectl speaks it."""

import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.jsonpath import BadPath, NotApplicable, compiled, text_of

TREE = {
    "kind": "Widget", "metadata": {"labels": {"probe.dev/x": "label"}},
    "spec": {"n": 3, "none": None, "m": {"a-b": "dashed"}, "l": [{"k": "a", "v": 1}, {"k": "b", "v": 2}, {"k": "b", "v": 3}]},
}


@pytest.mark.parametrize(("path", "found"), [
    (".kind", ["Widget"]), (".spec.n", [3]), (".spec.x.y", []), (".spec.none", [None]),
    (r".metadata.labels.probe\.dev/x", ["label"]), (".spec.m['a-b']", ["dashed"]), (".spec.m.*", ["dashed"]),
    (".spec.l[0].k", ["a"]), (".spec.l[-1].v", [3]), (".spec.l[*].v", [1, 2, 3]), (".spec.l[0:2].v", [1, 2]),
    (".spec.l[1:].v", [2, 3]), (".spec.l[::2].v", [1, 3]), (".spec.l[0,2].v", [1, 3]), (".spec.l[-2:-1].v", [2]),
    ('.spec.l[?(@.k=="b")].v', [2, 3]), (".spec.l[?(@.k=='a')].v", [1]), (".spec.l[?(@.v>1)].k", ["b", "b"]),
    (".spec.l[?(@.v>=3)].v", [3]), (".spec.l[?(@.v!=1)].v", [2, 3]), (".spec.l[?(@.x)].v", []), (".spec.l[?(@.k)].v", [1, 2, 3]),
    ("..k", ["a", "b", "b"]), (".spec..v", [1, 2, 3]), (".spec.l[5:5]", []),
])
def test_what_a_path_leads_to(path: str, found: list[Any]) -> None:
    """Given a tree / when a path is followed / then it leads to what upstream's does."""
    assert compiled(path).find(TREE) == found


@pytest.mark.parametrize("path", [".spec.l[9].k", ".kind[0]", '.spec.m[?(@.k=="b")]', ".spec.l[?(@.k==1)]", ".spec.l[2:1]"])
def test_a_path_may_mean_nothing_for_a_value(path: str) -> None:
    """Given an index beyond a list, or a filter of a map / when it is followed / then that is told.
    """
    with pytest.raises(NotApplicable):
        compiled(path).find(TREE)


@pytest.mark.parametrize(("path", "words"), [
    (".spec.l[x]", "invalid array index x"), (".spec.l[0", "unterminated array"), (".a[?(@.b", "unterminated filter"),
    (".....", "invalid multiple recursive descent"), ("range", "unrecognized identifier range"), (".a'b", ""),
])
def test_what_is_no_path_says_why(path: str, words: str) -> None:
    """Given a text that is no path / when it is read / then the error reads as upstream's."""
    if not words:
        assert compiled(path).find({"a'b": 1}) == [1]
        return
    with pytest.raises(BadPath) as error:
        compiled(path)
    assert str(error.value) == words


@pytest.mark.parametrize(("value", "text"), [
    ("a", "a"), (True, "true"), (None, "<no value>"), (5, "5"), (1.5, "1.5"), (1e6, "1e+06"), (100000.0, "100000"),
    (1e-7, "1e-07"),
    ({"b": "<", "a": 1}, '{"a":1,"b":"\\u003c"}'), ([], "[]"),
])
def test_how_values_print(value: Any, text: str) -> None:
    """Given a value / when it is printed / then it reads as Go prints it."""
    assert text_of(value) == text


def test_no_path_takes_long() -> None:
    """Given paths whose steps multiply, and filters in filters / when they are read and followed /
    then they are refused.
    """
    deep: Any = []
    for _ in range(100):
        deep = [deep, deep]
    for path in ("..[*]" * 20, "[*,*]" * 40, "[0,1]" * 40):
        with pytest.raises(NotApplicable):
            compiled(path).find(deep)
    with pytest.raises(BadPath):
        compiled("[?(" * 5000 + ")]" * 5000)


@given(st.text(alphabet=".[]?()@*:,'\"=<>!-019abc\\ {}", max_size=30))
def test_no_text_does_harm(text: str) -> None:
    """Given any text / when it is read as a path and followed / then nothing but the own errors
    comes of it.
    """
    with contextlib.suppress(BadPath, NotApplicable):
        compiled(text).find(TREE)
