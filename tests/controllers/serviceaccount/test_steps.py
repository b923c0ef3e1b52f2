"""What is written of Secrets for tokens and of what every namespace is given, to the letter."""

import base64
from types import SimpleNamespace
from typing import Any, cast

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, NAMESPACES, SECRETS, SERVICE_ACCOUNTS
from fakekube.runtime.reconcile import Request
from fakekube_controllers.serviceaccount.controller import NamespaceDefaultsReconciler
from fakekube_controllers.serviceaccount.tokens import Key, TokenReconciler
from tests.controllers.scene import Scene

NAME, UID = "kubernetes.io/service-account.name", "kubernetes.io/service-account.uid"
DESCRIBED = "kubernetes.io/description"


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


class Accounts(Scene):
    """A server that makes tokens, and whose objects may be newer than the caches'."""

    def __init__(self, *objects: tuple[Any, Tree], certificate: str = "ca", fresh: tuple[tuple[Any, Tree], ...] = ()) -> None:
        super().__init__(objects)
        self.options["root_ca"] = certificate
        self.fresh = Scene(fresh) if fresh else self

    async def create_token(self, name: str, namespace: str, spec: Tree) -> Tree:
        self.done.append(("token", f"{namespace}/{name}", spec))
        return {"status": {"token": "T"}}

    async def get(self, resource: Any, name: str, namespace: str = "", *, missing_ok: bool = False) -> Tree | None:
        return await Scene.get(self.fresh, resource, name, namespace, missing_ok=missing_ok)

    def with_options(self, *, user: Any) -> "Accounts":
        assert user.name == "system:serviceaccount:kube-system:root-ca-cert-publisher"
        return self


def secret(*, uid: Any = "us", data: Any = None, version: Any = "1", **notes: str) -> Tree:
    return {"metadata": {"name": "s", "namespace": "x", "uid": uid, "resourceVersion": version,
        "annotations": {NAME: "a", **notes}},
            "type": "kubernetes.io/service-account-token", **({"data": data} if data is not None else {})}


def account(*listed: str, uid: str = "ua") -> Tree:
    secrets = {"secrets": [{"name": name} for name in listed]} if listed else {}
    return {"metadata": {"name": "a", "namespace": "x", "uid": uid, "resourceVersion": "5"}, **secrets}


async def done(world: Accounts, *, uid: str = "us", account_uid: str = "") -> list[tuple[Any, ...]]:
    await TokenReconciler(cast("Any", world)).reconcile(Key("x", "s", uid, "a", account_uid))
    return world.done


FULL = {"token": encoded("T"), "namespace": encoded("x"), "ca.crt": encoded("ca")}
ASKED = ("token", "x/a", {"expirationSeconds": 4294967296, "boundObjectRef": {
    "apiVersion": "v1", "kind": "Secret", "name": "s", "uid": "us"}})
OWNER = (SERVICE_ACCOUNTS, account())


def filled(**data: str) -> tuple[Any, ...]:
    return "update", "secrets", "s", {**secret(data=data), "metadata": {**secret()["metadata"],
        "annotations": {NAME: "a", UID: "ua"}}}


@pytest.mark.parametrize(("found", "certificate", "expected"), [
    (secret(), "ca", [ASKED, filled(**FULL)]), (secret(data=FULL), "ca", []),
    (secret(data={**FULL, "other": "o"}), "new", [filled(**{**FULL, "ca.crt": encoded("new"), "other": "o"})]),
    (secret(data=FULL), "", []), (secret(), "", [ASKED, filled(token=encoded("T"), namespace=encoded("x"))]),
    (secret(data={**FULL, "token": ""}), "ca", [ASKED, filled(**FULL)]),
    (secret(data={**FULL, "namespace": ""}), "ca", [filled(**FULL)])])
async def test_a_secret_is_filled_with_what_it_lacks(found: Tree, certificate: str, expected: list[Any]) -> None:
    """Given a Secret that names an account / then it gets a token of 136 years, the namespace and
    the CA, as far as it lacks them.
    """
    assert await done(Accounts((SECRETS, found), OWNER, certificate=certificate)) == expected


async def test_a_secret_that_is_another_by_now() -> None:
    """Given a Secret that the server has in another version, or no more / then nothing is written;
    when it goes or is changed meanwhile / then that is all right.
    """
    for fresh in ((SECRETS, secret(version="2")), (SECRETS, {**secret(), "metadata": {"name": "o", "namespace": "x"}})):
        assert await done(Accounts((SECRETS, secret()), OWNER, fresh=(fresh, OWNER))) == []
    for code, raised in ((404, False), (409, False), (403, True)):
        world = Accounts((SECRETS, secret()), OWNER)
        world.refuse["update", "secrets"] = APIError(code, "x", "no")
        if raised:
            with pytest.raises(APIError, match="no"):
                await done(world)
        else:
            assert await done(world) == [ASKED]


DELETED = ("delete", "secrets", "s", {"uid": "us", "missing_ok": True})


async def test_a_secret_without_its_account_goes() -> None:
    """Given a Secret whose account is gone, or is another / then it goes; one that the cache does
    not show and the server has keeps it.
    """
    assert await done(Accounts((SECRETS, secret(data=FULL)))) == [DELETED]
    assert await done(Accounts((SECRETS, secret(data=FULL)), OWNER), account_uid="former") == [DELETED]
    assert await done(Accounts((SECRETS, secret(data=FULL)), OWNER), account_uid="ua") == []
    assert await done(Accounts((SECRETS, secret(data=FULL)), fresh=(OWNER, (SECRETS, secret())))) == []
    for code, raised in ((409, False), (403, True)):
        world = Accounts((SECRETS, secret()))
        world.refuse["delete", "secrets"] = APIError(code, "x", "no")
        if raised:
            with pytest.raises(APIError, match="no"):
                await done(world)
        else:
            assert await done(world) == []


@pytest.mark.parametrize(("listed", "uid", "kept"), [
    (("s",), "us", None), (("r", "s"), "us", [{"name": "r"}]), (("r",), "us", "all"), ((), "us", "all"),
    (("s",), "former", None)])
async def test_an_account_no_longer_lists_a_secret_that_is_gone(listed: tuple[str, ...], uid: str, kept: Any) -> None:
    """Given an account that lists Secrets / when one is gone, or another has its name / then that
    one is no longer listed.
    """
    objects = [(SECRETS, secret())] if uid == "former" else []
    sent = {"metadata": {"resourceVersion": "5"}, "secrets": kept}
    assert await done(Accounts((SERVICE_ACCOUNTS, account(*listed)), *objects), uid=uid) == (
        [] if kept == "all" else [("patch", "serviceaccounts", "a", sent)])
    assert await done(Accounts()) == []


def test_which_secrets_are_looked_at() -> None:
    """Given Secrets / then those for tokens are looked at when they come, change and go, and when
    their account goes.
    """
    world = Accounts((SECRETS, secret()), (SECRETS, {**secret(**{NAME: "b"}), "type": "kubernetes.io/service-account-token"}))
    TokenReconciler(cast("Any", world)).setup(cast("Any", world))
    added, updated, gone = world.handlers["secrets"]
    for each in (secret(**{UID: "ua"}), {**secret(), "type": "Opaque"}):
        added(each)
        updated({}, each)
        gone(each)
    assert world.queued == [Key("x", "s", "us", "a", "ua")] * 3
    world.queued.clear()
    world.handlers["serviceaccounts"][2](account())
    assert (world.queued, world.handlers["serviceaccounts"][:2]) == ([Key("x", "s", "us", "a", "")], (None, None))


TEXT = ("Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal "
        "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.")
SPACE, DEFAULT = (NAMESPACES, {"metadata": {"name": "x"}}), (SERVICE_ACCOUNTS,
    {"metadata": {"name": "default", "namespace": "x"}})


def published(data: Tree, **notes: str) -> tuple[Any, Tree]:
    return CONFIG_MAPS, {"metadata": {"name": "kube-root-ca.crt", "namespace": "x", "annotations": notes}, "data": data}


RIGHT = published({"ca.crt": "ca"}, **{DESCRIBED: TEXT})


@pytest.mark.parametrize(("objects", "written"), [
    ([SPACE], [("create", "default"), ("create", "kube-root-ca.crt")]), ([SPACE, DEFAULT, RIGHT], []),
    ([SPACE, DEFAULT], [("create", "kube-root-ca.crt")]), ([SPACE, RIGHT], [("create", "default")]), ([], []),
    ([(NAMESPACES, {"metadata": {"name": "x", "deletionTimestamp": "t"}})], []),
    *(([SPACE, DEFAULT, published(data, **notes)], [("update", "kube-root-ca.crt")]) for data, notes in (
        ({"ca.crt": "old"}, {DESCRIBED: TEXT, "k": "v"}), ({"ca.crt": "ca", "x": "y"}, {DESCRIBED: TEXT}),
        ({"ca.crt": "ca"}, {"k": "v"}))),
    ([SPACE, DEFAULT, published({"ca.crt": "ca"}, **{DESCRIBED: "own"})], [])])
async def test_what_every_namespace_has(objects: list[Any], written: list[tuple[str, str]]) -> None:
    """Given a namespace / then it gets its account and the CA, and the CA is put right with its
    description, other annotations kept.
    """
    world = Accounts(*objects)
    await NamespaceDefaultsReconciler(cast("Any", world)).reconcile(Request("", "x"))
    assert [(each[0], each[2]) for each in world.done] == written
    for each in world.done:
        if each[1] == "configmaps":
            assert each[3]["data"] == {"ca.crt": "ca"}
            kept = {"k": "v"} if any("k" in (one[1]["metadata"].get("annotations") or {}) for one in objects) else {}
            assert each[3]["metadata"]["annotations"] == {DESCRIBED: TEXT, **kept}


@pytest.mark.parametrize(("code", "raised"), [(404, False), (409, False), (403, True)])
async def test_a_namespace_that_is_closed_meanwhile(code: int, raised: bool) -> None:
    """Given what cannot be made / then that is all right where it is there or the namespace goes.
    """
    world = Accounts(SPACE)
    world.refuse["create", "serviceaccounts"] = APIError(code, "x", "no")
    if raised:
        with pytest.raises(APIError, match="no"):
            await NamespaceDefaultsReconciler(cast("Any", world)).reconcile(Request("", "x"))
    else:
        await NamespaceDefaultsReconciler(cast("Any", world)).reconcile(Request("", "x"))
        assert [each[2] for each in world.done] == ["kube-root-ca.crt"]


def test_which_namespaces_are_looked_at() -> None:
    """Given a namespace / then it is looked at when it comes or changes, and when what it was given
    goes, or its CA changes.
    """
    world = Accounts()
    NamespaceDefaultsReconciler(cast("Any", world)).setup(cast("Any", world))
    of_spaces, of_accounts, of_maps = (world.handlers[name] for name in ("namespaces", "serviceaccounts", "configmaps"))
    one: Any = SimpleNamespace(named=lambda name: {"metadata": {"name": name, "namespace": "x"}})
    of_spaces[0]({"metadata": {"name": "x"}})
    of_spaces[1]({}, {"metadata": {"name": "x"}})
    for name, count in (("default", 3), ("kube-root-ca.crt", 5), ("other", 5)):
        of_accounts[2](one.named(name))
        of_maps[1]({}, one.named(name))
        of_maps[2](one.named(name))
        assert world.queued == [Request("", "x")] * count
    assert (of_spaces[2], of_accounts[:2], of_maps[0]) == (None, (None, None), None)
