"""What is indexed and remembered decides as upstream's walk through all bindings does."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from fakekube.apimachinery.gvk import GroupResource
from fakekube.apimachinery.http import UserInfo
from fakekube.apimachinery.types import Tree
from fakekube.auth.authorizer import Access
from fakekube.auth.rbac import CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, RBAC, ROLE_BINDINGS, ROLES
from fakekube.auth.rules import rules_of
from fakekube.storage.memory import Bucket, Storage

NAMES, NAMESPACES = st.sampled_from("ab"), st.sampled_from(["n", "m"])
WORDS = st.lists(st.sampled_from(["*", "x", "y"]), min_size=1, max_size=2)
RULE = st.fixed_dictionaries({"verbs": WORDS, "apiGroups": WORDS, "resources": WORDS}, optional={
    "resourceNames": st.lists(NAMES, min_size=1, max_size=1)})
SUBJECT = st.one_of(
    st.fixed_dictionaries({"kind": st.sampled_from(["User", "Group"]), "name": NAMES}),
    st.fixed_dictionaries({"kind": st.just("ServiceAccount"), "name": NAMES}, optional={"namespace": NAMESPACES}))
USERS = st.builds(
    UserInfo, st.one_of(NAMES, st.builds("system:serviceaccount:{}:{}".format, NAMESPACES, NAMES)),
    st.lists(NAMES, max_size=2).map(tuple), st.just(""), st.just({}))
ACCESS = st.builds(
    Access, st.sampled_from("xyz"), st.sampled_from("xy"), st.just("v1"), st.sampled_from("xy"), st.just(""),
    st.sampled_from(["", "n", "m"]), st.sampled_from(["", "a", "b"]))
KINDS = {ROLES: "Role", CLUSTER_ROLES: "ClusterRole", ROLE_BINDINGS: "RoleBinding", CLUSTER_ROLE_BINDINGS: "ClusterRoleBinding"}


@st.composite
def changes(draw: Any) -> tuple[GroupResource, Tree | None, str, str]:
    """A resource, what becomes of one of its objects (None: it goes), and that object's key."""
    resource = draw(st.sampled_from(list(KINDS)))
    namespace = draw(NAMESPACES) if resource in (ROLES, ROLE_BINDINGS) else ""
    name = draw(NAMES)
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    if draw(st.integers(0, 4)) == 0:
        return resource, None, namespace, name
    if resource in (ROLES, CLUSTER_ROLES):
        body: Tree = {"rules": draw(st.lists(RULE, max_size=2))}
    else:
        kind = draw(st.sampled_from(["Role", "ClusterRole"])) if namespace else "ClusterRole"
        body = {"roleRef": {"kind": kind, "name": draw(NAMES)}, "subjects": draw(st.lists(SUBJECT, max_size=2))}
    return resource, {"kind": KINDS[resource], "apiVersion": "v1", "metadata": meta, **body}, namespace, name


def change(bucket: Bucket, tree: Tree | None, namespace: str, name: str) -> None:
    present = bucket.get(namespace, name)
    if tree is None:
        if present is not None:
            bucket.delete(present)
    elif present is None:
        bucket.create(tree)
    else:
        bucket.update(tree, present)


def is_meant(subject: Tree, user: UserInfo, namespace: str) -> bool:
    if subject["kind"] == "ServiceAccount":
        place = subject.get("namespace") or namespace
        return bool(place) and user.name == f"system:serviceaccount:{place}:{subject['name']}"
    return subject["name"] in user.groups if subject["kind"] == "Group" else subject["name"] == user.name


def walked(storage: Storage, user: UserInfo, access: Access) -> bool:
    """Upstream's way: every binding, every rule."""
    bindings = [record.tree() for record in storage.bucket(CLUSTER_ROLE_BINDINGS).all()]
    if access.namespace:
        bindings += [record.tree() for record in storage.bucket(ROLE_BINDINGS).records(access.namespace)]
    for binding in bindings:
        namespace = binding["metadata"].get("namespace", "")
        if not any(is_meant(subject, user, namespace) for subject in binding["subjects"]):
            continue
        reference = binding["roleRef"]
        of_role = (ROLES, namespace) if reference["kind"] == "Role" else (CLUSTER_ROLES, "")
        role = storage.bucket(of_role[0]).get(of_role[1], reference["name"])
        for rule in rules_of(role.tree()) if role is not None else ():
            if rule.allows(access.verb, access.group, access.resource, "") and (not rule.names or access.name in rule.names):
                return True
    return False


@given(st.lists(st.tuples(changes(), USERS, ACCESS), max_size=25))
def test_decisions_follow_what_is_stored(steps: list[Any]) -> None:
    """Given roles and bindings that come, change and go, when anybody asks for anything in between,
    then the answer is that of a walk through all that is stored; and it says why.
    """
    storage = Storage()
    for resource in KINDS:
        storage.add_bucket(resource, fields=None)
    authorizer = RBAC(storage.bucket)
    asked: list[tuple[UserInfo, Access]] = []
    for (resource, tree, namespace, name), user, access in steps:
        change(storage.bucket(resource), tree, namespace, name)
        asked.append((user, access))
        for one, wanted in asked:
            decision = authorizer.decide(one, wanted)
            assert decision.allowed == walked(storage, one, wanted)
            assert decision.reason.startswith("RBAC: allowed by ") is decision.allowed
