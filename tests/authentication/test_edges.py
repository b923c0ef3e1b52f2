"""Tokens, accounts and certificates at their edges."""

import base64
from typing import Any

import pytest

from fakekube.admission.service_account import ServiceAccount
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.auth import bootstraptokens
from fakekube.auth.tokens import Bound, InvalidToken, Tokens
from fakekube.util.clock import ManualClock
from fakekube.util.rng import Rng
from tests.admission.world import World, kind

ACCOUNT: Tree = {"metadata": {"namespace": "t", "name": "bot", "uid": "u-1"}}
ISSUER = "https://kubernetes.default.svc"


class Stored:
    """Objects that tokens speak of, and the clock that judges them."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.objects: dict[tuple[str, str, str, str], Tree] = {("", "serviceaccounts", "t", "bot"): ACCOUNT}
        self.tokens = Tokens(self.clock, Rng(0), b"secret", lambda *key: self.objects.get(key))

    def put(self, plural: str, namespace: str, name: str, uid: str, **meta: Any) -> None:
        self.objects["", plural, namespace, name] = {"metadata": {"name": name, "uid": uid, **meta}}

    def issued(self, *bound: Bound, seconds: float = 600, **options: Any) -> str:
        return self.tokens.issue(ACCOUNT, options.pop("audiences", []), self.clock.time() + seconds, bound, **options).token

    def verified(self, token: str, *audiences: str) -> Any:
        """The extras of a token's user, or why it does not count."""
        try:
            found = self.tokens.verify(token, audiences or (ISSUER,))
        except InvalidToken as error:
            return str(error)
        return None if found is None else {name.rpartition("/")[2]: value[0] for name, value in found.user.extra.items()}


@pytest.mark.parametrize(("after", "told"), [
    (660.0, None), (661.0, "service account token has expired"), (-60.0, None),
    (-61.0, "service account token is not valid yet")])
def test_when_a_token_counts(after: float, told: str | None) -> None:
    """Given a token for ten minutes / then it counts from a minute before until a minute after."""
    stored = Stored()
    token = stored.issued()
    stored.clock.jump_to(stored.clock.time() + after)
    found = stored.verified(token)
    assert found == told if told else set(found) == {"credential-id"}


POD, NODE, SECRET = Bound("Pod", "p", "u-p"), Bound("Node", "n", "u-n"), Bound("Secret", "s", "u-s")


@pytest.mark.parametrize(("bound", "extra"), [
    ((POD,), {"pod-name": "p", "pod-uid": "u-p"}), ((NODE,), {"node-name": "n", "node-uid": "u-n"}), ((SECRET,), {}),
    ((POD, Bound("Node", "gone", "")), {"pod-name": "p", "pod-uid": "u-p", "node-name": "gone"}),
    ((Bound("Pod", "gone", "u"),), "service account token has been invalidated"),
    ((Bound("Pod", "p", "u"),), "pod UID (u-p) does not match service account pod ref claim (u)"),
    ((Bound("Secret", "s", "u"),), "secret UID (u-s) does not match service account secret ref claim (u)"),
    ((Bound("Node", "n", "u"),), "node UID (u-n) does not match service account node ref claim (u)"),
])
def test_what_a_token_is_bound_to(bound: tuple[Bound, ...], extra: Any) -> None:
    """Given tokens that are bound to objects / then those are looked at, a pod's node is not, and
    the user tells of pod and node.
    """
    stored = Stored()
    for plural, namespace, name in (("pods", "t", "p"), ("nodes", "", "n"), ("secrets", "t", "s")):
        stored.put(plural, namespace, name, f"u-{name}")
    found = stored.verified(stored.issued(*bound))
    if isinstance(extra, str):
        assert found == extra
        return
    assert found.pop("credential-id").startswith("JTI=")
    assert found == extra


@pytest.mark.parametrize(("seconds", "counts"), [(60, True), (61, False)])
def test_objects_on_their_way_out(seconds: int, counts: bool) -> None:
    """Given a pod or an account that is being deleted / then the token counts a minute longer."""
    stored = Stored()
    going = {"deletionTimestamp": "2026-01-01T00:00:00Z"}
    stored.clock.jump_to(1767225600.0)
    stored.put("pods", "t", "p", "u-p", **going)
    token, of_account = stored.issued(POD), stored.issued()
    stored.put("serviceaccounts", "t", "bot", "u-1", **going)
    stored.clock.jump_to(1767225600.0 + seconds)
    told = stored.verified(of_account)
    assert isinstance(told, dict) if counts else told == "service account t/bot has been deleted"
    stored.put("serviceaccounts", "t", "bot", "u-1")
    told = stored.verified(token)
    assert isinstance(told, dict) if counts else told == "service account token has been invalidated"
    stored.put("serviceaccounts", "t", "bot", "u-2")
    assert stored.verified(token) == "service account UID (u-2) does not match claim (u-1)"
    del stored.objects["", "serviceaccounts", "t", "bot"]
    assert stored.verified(token) == 'serviceaccounts "bot" not found'


def test_the_audiences_of_a_token() -> None:
    """Given audiences of a token and wanted ones / then those that are both come back in the order
    in which they are wanted.
    """
    stored = Stored()
    token = stored.issued(audiences=["a", "b"])
    found = stored.tokens.verify(token, ("c", "b", "a"))
    assert found is not None
    assert found.audiences == ("b", "a")
    assert found.user.groups == ("system:serviceaccounts", "system:serviceaccounts:t", "system:authenticated")
    assert (found.user.name, found.user.uid) == ("system:serviceaccount:t:bot", "u-1")
    assert stored.verified(token, "c") == 'token audiences ["a" "b"] is invalid for the target audiences ["c"]'


def bootstrap(type_: str = "bootstrap.kubernetes.io/token", meta: Any = None, **data: str) -> Tree:
    known = {"token-id": "abcdef", "token-secret": "0123456789abcdef", "usage-bootstrap-authentication": "true", **data}
    return {"metadata": meta or {}, "type": type_, "data": {
        name: value if value.startswith("!") else base64.b64encode(value.encode()).decode() for name, value in known.items()}}


@pytest.mark.parametrize(("secret", "groups"), [
    (bootstrap(), ("system:bootstrappers",)), (bootstrap("Opaque"), None),
    (bootstrap(meta={"deletionTimestamp": "2026-01-01T00:00:00Z"}), None),
    (bootstrap(**{"auth-extra-groups": "system:bootstrappers:b,system:bootstrappers:a"}),
     ("system:bootstrappers", "system:bootstrappers:a", "system:bootstrappers:b")),
    (bootstrap(**{"auth-extra-groups": "system:bootstrappers:A"}), None), (bootstrap(**{"token-id": "other1"}), None),
    (bootstrap(**{"auth-extra-groups": "system:bootstrappers:" + "a" * 256}), (
        "system:bootstrappers", "system:bootstrappers:" + "a" * 256)),
    (bootstrap(**{"auth-extra-groups": "system:bootstrappers:" + "a" * 257}), None),
    (bootstrap(expiration="1970-01-01T00:01:40Z"), None), (bootstrap(expiration="1970-01-01T00:01:41Z"),
        ("system:bootstrappers",)),
    (bootstrap(**{"token-secret": "!"}), None), (bootstrap(**{"usage-bootstrap-authentication": "yes"}), None),
])
def test_secrets_of_bootstrap_tokens(secret: Tree, groups: tuple[str, ...] | None) -> None:
    """Given Secrets / then a token counts where all of them is right, at a hundred seconds."""
    asked: list[tuple[str, ...]] = []

    def lookup(*key: str) -> Tree:
        asked.append(key)
        return secret

    found = bootstraptokens.user_of("abcdef.0123456789abcdef", lookup, 100.0)
    assert (None if found is None else found.groups) == groups
    assert found is None or found.name == "system:bootstrap:abcdef"
    assert asked == [("", "secrets", "kube-system", "bootstrap-token-abcdef")]
    assert bootstraptokens.user_of("abcdef.0123456789abcdeF", lookup, 100.0) is None


@pytest.mark.parametrize(("text", "guards"), [
    *((text, True) for text in ("1", "t", "T", "TRUE", "true", "True")), *((text, False) for text in ("0", "yes", "tRUE", ""))])
def test_which_accounts_guard_their_secrets(text: str, guards: bool) -> None:
    """Given an annotation / then an account guards its secrets where Go reads it as true."""
    world = World()
    world.put("", "serviceaccounts", {"metadata": {
        "name": "default", "namespace": "t", "annotations": {"kubernetes.io/enforce-mountable-secrets": text}}})
    pod = {"metadata": {"name": "p"}, "spec": {
        "containers": [], "serviceAccountName": "default", "volumes": [{"name": "v", "secret": {"secretName": "x"}}]}}
    attrs = world.attributes(kind("", "v1", "pods"), pod)
    if not guards:
        ServiceAccount().validate(attrs)
        return
    with pytest.raises(APIError, match="is not allowed because service account default"):
        ServiceAccount().validate(attrs)


@pytest.mark.parametrize(("of_pod", "of_account", "mounts"), [
    (None, None, True), (None, False, False), (None, True, True), (True, False, True), (False, True, False)])
def test_whose_word_counts_about_the_token(of_pod: bool | None, of_account: bool | None, mounts: bool) -> None:
    """Given what pod and account say of the token / then the word of the pod counts first.
    """
    world = World()
    world.put("", "serviceaccounts", {"metadata": {"name": "default", "namespace": "t"}, **(
        {} if of_account is None else {"automountServiceAccountToken": of_account})})
    spec: Tree = {"containers": [{"name": "c"}], "imagePullSecrets": [{"name": "own"}]}
    pod = {"metadata": {"name": "p"}, "spec": spec if of_pod is None else {**spec, "automountServiceAccountToken": of_pod}}
    world.objects["", "serviceaccounts", "t", "default"]["imagePullSecrets"] = [{"name": "other"}]
    ServiceAccount().admit(world.attributes(kind("", "v1", "pods"), pod))
    assert ("volumes" in pod["spec"]) is mounts
    assert pod["spec"]["imagePullSecrets"] == [{"name": "own"}]
