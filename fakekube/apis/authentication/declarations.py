"""The reviews of authentication.k8s.io; nothing of them is stored.

Upstream: pkg/registry/authentication/rest.
"""

from fakekube.apis.declaration import CREATE, Deprecated, Group, Resource, Served

GROUP = Group(
    "authentication.k8s.io",
    17700,
    (
        Resource(
            plural="selfsubjectreviews",
            kind="SelfSubjectReview",
            namespaced=False,
            verbs=CREATE,
            table=False,
            versions=(
                Served("v1", since=28),
                Served("v1beta1", since=27, until=32, deprecated=Deprecated(30, 33)),
                Served("v1alpha1", since=26, until=31, deprecated=Deprecated(29, 32)),
            ),
        ),
        Resource(plural="tokenreviews", kind="TokenReview", namespaced=False, verbs=CREATE, table=False),
    ),
)
