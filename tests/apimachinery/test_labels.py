"""Label selectors select, print and complain as upstream's."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import labels


@pytest.mark.parametrize(
    ("selector", "matching", "failing"),
    [
        ("a=1", {"a": "1"}, {"a": "2"}),
        ("a==1", {"a": "1"}, {}),
        ("a!=1", {}, {"a": "1"}),
        ("a in (1,2)", {"a": "2"}, {"a": "3"}),
        ("a notin (1,2)", {"b": "1"}, {"a": "1"}),
        ("a", {"a": ""}, {"b": ""}),
        ("!a", {"b": ""}, {"a": ""}),
        ("a>1", {"a": "2"}, {"a": "x"}),
        ("a<1", {"a": "0"}, {"a": "1"}),
        ("a=", {"a": ""}, {"a": "1"}),
        ("a=1,b=2", {"a": "1", "b": "2"}, {"a": "1"}),
        ("a in ()", {"a": ""}, {"a": "1"}),
        ("a in (,x)", {"a": ""}, {"a": "1"}),
        ("in in (in,notin)", {"in": "notin"}, {"in": "a"}),
    ],
)
def test_a_selector_selects(selector: str, matching: dict[str, str], failing: dict[str, str]) -> None:
    """Given a selector / when labels are tried / then it selects those that fulfil it and no
    others.
    """
    parsed = labels.parse(selector)
    assert parsed.matches(matching)
    assert not parsed.matches(failing)


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("k in (b,a),!n,a=2,m,z==1,y>1", "a=2,k in (a,b),m,!n,y>1,z==1"),
        (" a = 1 ", "a=1"),
        ("", ""),
    ],
)
def test_a_selector_prints_sorted(text: str, printed: str) -> None:
    """Given a selector / when it is printed / then requirements are in order of their keys, values
    sorted.
    """
    assert str(labels.parse(text)) == printed


@pytest.mark.spec("API-064")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a in b", "unable to parse requirement: found 'b' expected: '('"),
        ("a in (", "unable to parse requirement: found '', expected: ',', ')' or identifier"),
        ("a and b", "unable to parse requirement: found 'and', expected: in, notin, =, ==, !=, gt, lt"),
        ("=a", "found '=', expected: !, identifier, or 'end of string'"),
        ("a,", "found '', expected: identifier after ','"),
        ("a=1=2", "found '=', expected: ',' or 'end of string'"),
        (
            "a>many",
            (
                'unable to parse requirement: values[0]: Invalid value: "many": '
                "for 'Gt', 'Lt' operators, the value must be an integer"
            ),
        ),
    ],
)
def test_a_bad_selector_is_refused_in_upstreams_words(text: str, message: str) -> None:
    """Given a text that is no selector / when it is read / then the error names what was found and
    what was wanted.
    """
    with pytest.raises(labels.SelectorError) as error:
        labels.parse(text)
    assert str(error.value) == message


def test_a_label_selector_object_selects_by_both_of_its_parts() -> None:
    """Given matchLabels and matchExpressions / when they become a selector / then all of them have
    to hold.
    """
    selector = labels.from_label_selector(
        {
            "matchLabels": {"b": "2"},
            "matchExpressions": [
                {"key": "a", "operator": "In", "values": ["y", "x"]},
                {"key": "c", "operator": "DoesNotExist"},
            ],
        }
    )
    assert str(selector) == "a in (x,y),b=2,!c"
    assert selector.matches({"a": "x", "b": "2"})
    assert labels.from_label_selector({}).empty
    assert not labels.from_label_selector(None).matches({})


KEYS = st.sampled_from(["a", "b", "example.com/c", "-bad", ""])
VALUES = st.sampled_from(["", "1", "2", "-bad"])
EXPRESSIONS = st.fixed_dictionaries({"key": KEYS, "operator": st.sampled_from(["In", "Exists", "x"])}, optional={
    "values": st.lists(VALUES, max_size=2)})
SELECTORS = st.none() | st.fixed_dictionaries({}, optional={
    "matchLabels": st.dictionaries(KEYS, VALUES, max_size=3), "matchExpressions": st.lists(EXPRESSIONS, max_size=1)})


@given(SELECTORS, st.dictionaries(KEYS, VALUES))
def test_a_selector_object_selects_as_its_requirements_do(selector: dict[str, Any] | None, values: dict[str, str]) -> None:
    """Given a LabelSelector, a bad one maybe, when labels are tried, then its requirements decide,
    or say why not.
    """
    try:
        expected: bool | str = labels.from_label_selector(selector).matches(values)
    except labels.SelectorError as error:
        expected = str(error)
    try:
        found: bool | str = labels.selects(selector, values)
    except labels.SelectorError as error:
        found = str(error)
    assert found == expected
