"""Functions that came with a release: in rules that were there before, and in new ones."""

import pytest

from fakekube.apiextensions.validation.schemas import Rules
from tests.apiextensions.test_printed_schemas import of_spec

NEW_RULE, NEW_MESSAGE = "ip('::1') == ip(self)", "string(ip(self))"
WHERE = "X.x-kubernetes-validations[0]."


@pytest.mark.parametrize(("release", "known", "told"), [
    ("1.30", (), ["rule", "messageExpression"]), ("1.30", (NEW_RULE,), ["messageExpression"]),
    ("1.30", (NEW_MESSAGE,), ["rule"]), ("1.30", (NEW_RULE, NEW_MESSAGE), []), ("1.31", (), []),
    ("1.29", (NEW_RULE, NEW_MESSAGE), ["rule", "messageExpression"]),
])
def test_new_rules_know_what_the_release_before_knew(release: str, known: tuple[str, ...], told: list[str]) -> None:
    """Given a rule and a message with functions of 1.30 / when their definition comes / then what
    was there before may use what its release has, and what is new what the one before had.
    """
    rules = Rules(release=release, known=frozenset(("true", "'a'", *known)))
    found: list[str] = []
    for name, rule in (("rule", {"rule": NEW_RULE}), ("messageExpression", {"rule": "true", "messageExpression": NEW_MESSAGE})):
        texts = of_spec({"type": "string", "maxLength": 40, "x-kubernetes-validations": [rule]}, rules)
        assert all(text.startswith(f"{WHERE}{name}: Invalid value: {{") for text in texts)
        assert all("undeclared reference to 'ip'" in text for text in texts)
        found += [name] * len(texts)
    both = {"rule": NEW_RULE, "messageExpression": NEW_MESSAGE}
    texts = of_spec({"type": "string", "maxLength": 40, "x-kubernetes-validations": [both]}, rules)
    assert len(texts) == (1 if told else 0)
    assert found == told
