"""Access reviews and rules reviews tell the truth, in every mode."""

from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.client import Client
from fakekube.client.resources import Resource
from tests.auth.conftest import Secured

RULES_REVIEWS = Resource("authorization.k8s.io", "v1", "selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False)
SELF_REVIEWS = Resource("authorization.k8s.io", "v1", "selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False)
LOCAL_REVIEWS = Resource("authorization.k8s.io", "v1", "localsubjectaccessreviews", "LocalSubjectAccessReview")
EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}


async def rules(client: Client, namespace: str = "default") -> Tree:
    status: Tree = (await client.create(RULES_REVIEWS, {"spec": {"namespace": namespace}}))["status"]
    return status


@pytest.mark.spec("API-168")
async def test_a_rules_review_lists_what_somebody_has(secured: Secured) -> None:
    """Given a role in a namespace, when its user asks for their rules there and elsewhere, then it
    is listed there only, after what everybody has; paths are apart.
    """
    own = {"verbs": ["get"], "apiGroups": ["x.dev"], "resources": ["things"], "resourceNames": ["a"]}
    await secured.grant("alice", own)
    here, elsewhere = await rules(secured.user("alice")), await rules(secured.user("alice"), "kube-system")
    assert here["resourceRules"] == [*elsewhere["resourceRules"], own]
    assert {"verbs": ["create"], "apiGroups": ["authentication.k8s.io"], "resources": ["selfsubjectreviews"]} in (
        elsewhere["resourceRules"])
    assert any("/healthz" in rule["nonResourceURLs"] for rule in here["nonResourceRules"])
    assert here["incomplete"] is False
    assert EVERYTHING in (await rules(secured.admin))["resourceRules"]


async def test_without_rbac_everything_is_listed_and_allowed() -> None:
    """Given no RBAC, when somebody asks, then everything is allowed, and a review says so without a
    reason.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        alice = Secured(cluster).user("alice")
        assert (await rules(alice))["resourceRules"] == [EVERYTHING]
        asked = {"spec": {"resourceAttributes": {"verb": "get", "resource": "pods"}}}
        assert (await alice.create(SELF_REVIEWS, asked))["status"] == {"allowed": True}


def asks(**attributes: Any) -> Tree:
    asked = {"verb": "list", "resource": "pods", "namespace": "default"}
    return {"spec": {"user": "x", "resourceAttributes": {**asked, **attributes}}}


IN = {"key": "a", "operator": "In", "values": ["b"]}


@pytest.mark.parametrize(("attributes", "text"), [
    ({"fieldSelector": {"rawSelector": "a=b", "requirements": [IN]}},
     'fieldSelector.rawSelector: Invalid value: "a=b": may not specified at the same time as requirements'),
    ({"labelSelector": {}},
     "labelSelector.requirements: Required value: when spec.resourceAttributes.labelSelector is specified, requirements or raw"),
    ({"fieldSelector": {"requirements": [{"operator": "In"}]}},
     "fieldSelector.requirements[0].key: Required value: must be specified, spec.resourceAttributes.fieldSelector.requirements"),
    ({"labelSelector": {"requirements": [{**IN, "values": ["a b"]}]}},
     'labelSelector.requirements[0].values[0]: Invalid value: "a b"'),
    ({"namespace": "other"}, 'spec.resourceAttributes.namespace: Invalid value: "other": must match metadata.namespace'),
])
async def test_selectors_of_a_review_are_checked(secured: Secured, attributes: Tree, text: str) -> None:
    """Given selectors that say nothing, two things, or something that no label is, and another
    namespace than the path's, when a review carries them, then it is 422 with upstream's text.
    """
    with pytest.raises(APIError) as refused:
        await secured.admin.create(LOCAL_REVIEWS, asks(**attributes), "default")
    assert refused.value.code == 422
    assert text in refused.value.message


@pytest.mark.parametrize(("selector", "told"), [
    ({"fieldSelector": {"rawSelector": "a"}}, "spec.resourceAttributes.fieldSelector ignored due to parse error"),
    ({"labelSelector": {"requirements": [IN, {"key": "c", "operator": "Near"}]}},
     "spec.resourceAttributes.labelSelector partially ignored due to parse error"),
    ({"labelSelector": {"requirements": [IN]}, "fieldSelector": {"requirements": [IN]}}, None),
])
async def test_what_of_a_selector_does_not_count_is_told(secured: Secured, selector: Tree, told: str | None) -> None:
    """Given selectors that cannot be read, in part or whole, when a review carries them, then it is
    answered, and says so.
    """
    answer = await secured.admin.create(LOCAL_REVIEWS, asks(**selector), "default")
    assert answer["status"].get("evaluationError") == told
