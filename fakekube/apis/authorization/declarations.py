"""The reviews of authorization.k8s.io; nothing of them is stored.

Upstream: pkg/registry/authorization/rest.
"""

from fakekube.apis.declaration import CREATE, Group, Resource


def _review(plural: str, kind: str, *, namespaced: bool = False) -> Resource:
    return Resource(plural=plural, kind=kind, namespaced=namespaced, verbs=CREATE, table=False)


GROUP = Group(
    "authorization.k8s.io",
    17600,
    (
        _review("localsubjectaccessreviews", "LocalSubjectAccessReview", namespaced=True),
        _review("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
        _review("selfsubjectrulesreviews", "SelfSubjectRulesReview"),
        _review("subjectaccessreviews", "SubjectAccessReview"),
    ),
)
