"""The line on which something stands in a file of YAML."""

import orjson
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.yaml import line_of

TEXT = """\
# a plan
kind: FaultPlan
faults:
- name: one
  error: EtcdTimeout
- {name: two,
   nth: [1,
         none]}
-
  nested: &anchor
  - [a, b]
  - x: y
other: *anchor
...
kind: Other
"""

TREES = st.recursive(
    st.integers(-5, 5), lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcdef"), inner, max_size=4),
    max_leaves=12)


@pytest.mark.parametrize(("place", "line"), [
    ((), 1), (("kind",), 2), (("faults",), 3), (("faults", 0), 4), (("faults", 0, "error"), 5), (("faults", 1), 6),
    (("faults", 1, "nth"), 7), (("faults", 1, "nth", 1), 8), (("faults", 1, "missing"), 6), (("faults", 2), 10),
    (("faults", 2, "nested", 0, 1), 11), (("faults", 2, "nested", 1, "x"), 12), (("other",), 13), (("nowhere", 1), 1),
    (("faults", 7), 3),
])
def test_where_it_stands(place: tuple[str | int, ...], line: int) -> None:
    """Given a text / when a place of it is looked for / then its line is told, or that of the
    nearest around it.
    """
    assert line_of(TEXT, place) == line


@pytest.mark.parametrize("text", ["", "a: [", "{[1]: 2}", "&a [*a]", "- " * 3000 + "x"])
def test_texts_that_are_none(text: str) -> None:
    """Given a text that is no YAML, or strange / when a place is looked for / then it is the first
    line.
    """
    assert line_of(text, ("a", 1, "b")) == 1


@given(TREES, st.data())
def test_each_value_is_found(tree: object, draw: st.DataObject) -> None:
    """Given any tree, one value a line / when a way into it is taken / then the line that is told
    has its key, or begins its item.
    """
    place: list[str | int] = []
    inner = tree
    while isinstance(inner, dict | list) and inner and draw.draw(st.booleans()):
        step = draw.draw(st.sampled_from(sorted(inner) if isinstance(inner, dict) else range(len(inner))))
        place.append(step)
        inner = inner[step]
    text = yaml.safe_dump(tree, default_flow_style=False)
    line = text.splitlines()[line_of(text, place) - 1]
    if place and isinstance(place[-1], str):
        assert f"{place[-1]}:" in line
    elif place:
        assert "-" in line or "{}" in line or "[]" in line
    as_json = orjson.dumps(tree, option=orjson.OPT_INDENT_2).decode()
    line = as_json.splitlines()[line_of(as_json, place) - 1]
    if place and isinstance(place[-1], str):
        assert f'"{place[-1]}"' in line
