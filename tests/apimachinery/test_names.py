"""The quick questions about names have the same answer as the validators that say what is wrong."""

import re

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery import names

PARTS = st.sampled_from(["", "a", "A", "_", "-", ".", "/", "é", " ", "\n", "x" * 62, "x" * 63, "example.com", f"{'y' * 63}."])
TEXTS = st.lists(PARTS, max_size=6).map("".join)


@given(TEXTS)
def test_a_qualified_name_is_a_name_with_or_without_a_domain(text: str) -> None:
    """Given any text, when asked whether it is a label's key, then it is one by the rules of its
    two parts.
    """
    prefix, slash, name = text.rpartition("/")
    fine = len(name.encode()) <= names.MAX_LABEL_LENGTH and re.fullmatch(names.LABEL_NAME, name) is not None
    fine = fine and (not slash or not names.dns1123_subdomain(prefix))
    assert names.is_qualified_name(text) is fine
    assert bool(names.qualified_name(text)) is not fine


@given(TEXTS)
def test_a_label_value_is_one_that_nobody_complains_of(text: str) -> None:
    """Given any text, when asked whether it is a label's value, then it is unless there is a
    complaint.
    """
    assert names.is_label_value(text) is not bool(names.label_value(text))
