"""Answers to "may somebody do this?": reviews are created, answered and forgotten.

Every request is allowed here, as by upstream's AlwaysAllow. A reviewer takes the decoded review, may change it, and
returns the answer. Upstream: pkg/registry/authorization, pkg/apis/authorization/validation. Left out: field and label
selectors in the question.
"""

from collections.abc import Callable, Mapping

from fakekube.apimachinery import errors
from fakekube.apimachinery.field_errors import FieldError, child, invalid
from fakekube.apimachinery.gvk import GroupKind
from fakekube.apimachinery.types import Tree
from fakekube.registry.strategy import WriteContext

GROUP = "authorization.k8s.io"
UNION = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
NOBODY = "at least one of user or group must be specified"
Reviewer = Callable[[Tree, WriteContext], Tree]


def _path_shown(attributes: Tree | None) -> Tree | None:
    """Non-resource attributes as upstream prints them."""
    if attributes is None:
        return None
    return {"Path": attributes.get("path", ""), "Verb": attributes.get("verb", "")}


def _spec_errors(spec: Tree) -> list[FieldError]:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    return [] if (resource is None) != (path is None) else [invalid("spec", _path_shown(path), UNION)]


def _subject_errors(spec: Tree) -> list[FieldError]:
    return [] if spec.get("user") or spec.get("groups") else [invalid("spec.user", spec.get("user", ""), NOBODY)]


def _metadata_errors(review: Tree, *allowed: str) -> list[FieldError]:
    metadata = review.get("metadata") or {}
    if all(name in ("managedFields", *allowed) for name in metadata):
        return []
    what = "must be empty except for namespace" if allowed else "must be empty"
    return [invalid("metadata", metadata, what)]


def _answer(review: Tree, kind: str, found: list[FieldError]) -> Tree:
    if found:
        raise errors.invalid(GroupKind(GROUP, kind), "", found)
    return {**review, "status": {"allowed": True}}


def self_subject_access_review(review: Tree, _ctx: WriteContext) -> Tree:
    """May I? Raises Invalid."""
    metadata = review.setdefault("metadata", {})
    metadata.pop("namespace", None)  # the kind has none, so what is said of it does not count
    spec = review.setdefault("spec", {})
    return _answer(review, "SelfSubjectAccessReview", _spec_errors(spec) + _metadata_errors(review))


def subject_access_review(review: Tree, _ctx: WriteContext) -> Tree:
    """May they? Raises Invalid."""
    metadata = review.setdefault("metadata", {})
    metadata.pop("namespace", None)
    spec = review.setdefault("spec", {})
    found = _spec_errors(spec) + _subject_errors(spec) + _metadata_errors(review)
    return _answer(review, "SubjectAccessReview", found)


def local_subject_access_review(review: Tree, _ctx: WriteContext) -> Tree:
    """May they, in the namespace of ``metadata``? Raises Invalid."""
    metadata, spec = review.setdefault("metadata", {}), review.setdefault("spec", {})
    found = _spec_errors(spec) + _subject_errors(spec) + _metadata_errors(review, "namespace")
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and resource.get("namespace", "") != metadata.get("namespace", ""):
        where = child("spec.resourceAttributes", "namespace")
        found.append(invalid(where, resource.get("namespace", ""), "must match metadata.namespace"))
    if path is not None:
        found.append(invalid("spec.nonResourceAttributes", _path_shown(path), "disallowed on this kind of request"))
    return _answer(review, "LocalSubjectAccessReview", found)


def self_subject_rules_review(review: Tree, _ctx: WriteContext) -> Tree:
    """What may I? Raises BadRequest without a namespace."""
    if not (review.get("spec") or {}).get("namespace"):
        raise errors.bad_request("no namespace on request")
    return {"metadata": {}, "spec": {}, "status": {
        "resourceRules": [{"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}],
        "nonResourceRules": [{"verbs": ["*"], "nonResourceURLs": ["*"]}], "incomplete": False,
    }}


def reviewers() -> Mapping[str, Reviewer]:
    """The reviewer of each resource of the group, by plural."""
    return {
        "selfsubjectaccessreviews": self_subject_access_review, "subjectaccessreviews": subject_access_review,
        "localsubjectaccessreviews": local_subject_access_review,
        "selfsubjectrulesreviews": self_subject_rules_review,
    }
