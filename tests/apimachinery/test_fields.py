"""Field selectors compare texts, and complain as upstream's."""

import pytest

from fakekube.apimachinery import fields


def test_a_field_selector_compares_with_equality_and_inequality() -> None:
    """Given a selector of two terms / when fields are tried / then both terms count; an absent
    field is empty.
    """
    selector = fields.parse("status.phase!=Running,metadata.name==x")
    assert selector.matches({"metadata.name": "x"})
    assert not selector.matches({"metadata.name": "x", "status.phase": "Running"})
    assert selector.exact("metadata.name") == "x"
    assert str(selector) == "metadata.name=x,status.phase!=Running"


@pytest.mark.parametrize(("text", "value"), [(r"a=x\,y", "x,y"), (r"a=x\=y", "x=y"), (r"a=x\\y", r"x\y"), ("a=", "")])
def test_a_backslash_escapes(text: str, value: str) -> None:
    """Given an escaped value / when the selector is read / then it is the plain one, and prints
    escaped again.
    """
    assert fields.parse(text).exact("a") == value
    assert str(fields.parse(text)) == text


@pytest.mark.spec("API-066")
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a>b", "invalid selector: 'a>b'; can't understand 'a>b'"),
        ("a=b=c", "invalid field selector: unescaped character in value: 61"),
        (r"a=b\x", r"invalid field selector: invalid escape sequence: \x"),
    ],
)
def test_a_bad_field_selector_is_refused_in_upstreams_words(text: str, message: str) -> None:
    """Given a text that is no selector / when it is read / then the error is upstream's."""
    with pytest.raises(fields.SelectorError) as error:
        fields.parse(text)
    assert str(error.value) == message
