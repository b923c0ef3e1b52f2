"""What SubjectAccessReviews refuse, and how rules are shown."""

import pytest

from fakekube.auth.rules import PolicyRule
from fakekube.endpoints.reviews import _resource_rule
from tests.apiserver.conftest import Api

REVIEWS = "/apis/authorization.k8s.io/v1"


@pytest.mark.parametrize(("path", "spec", "expected"), [
    ("/namespaces/t/localsubjectaccessreviews", {"user": "u", "nonResourceAttributes": {"path": "/x", "verb": "get"}},
     'spec.nonResourceAttributes: Invalid value: {"Path":"/x","Verb":"get"}: disallowed on this kind of request'),
    ("/namespaces/t/localsubjectaccessreviews", {"user": "u", "resourceAttributes": {"namespace": "other", "verb": "get"}},
     'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'),
    ("/subjectaccessreviews", {"resourceAttributes": {"verb": "get"}},
     'spec.user: Invalid value: "": at least one of user or group must be specified'),
])
async def test_a_review_that_asks_oddly_is_refused(api: Api, path: str, spec: dict, expected: str) -> None:
    """Given a review that asks about what its kind does not answer / then upstream's words say so.
    """
    metadata = {"namespace": "t"} if "namespaces" in path else {}
    answer = await api("POST", f"{REVIEWS}{path}", {"metadata": metadata, "spec": spec})
    assert answer.status == 422
    assert expected in answer.message


def test_a_rule_is_shown_with_what_it_has() -> None:
    """Given rules / then each list that is not empty is shown, under upstream's names."""
    rule = PolicyRule(verbs=("get",), groups=("apps",), resources=("deployments",), names=("a",))
    assert _resource_rule(rule) == {
        "verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["a"]}
    assert _resource_rule(PolicyRule(verbs=("*",))) == {"verbs": ["*"]}
