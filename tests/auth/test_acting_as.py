"""Acting as somebody else: what headers mean, and which checks are made in which order."""

from collections.abc import Callable

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import UserInfo
from fakekube.auth.authorizer import Access, AccessAttributes, Decision
from fakekube.auth.impersonation import Impersonation, any_impersonation, wanted_user
from fakekube.auth.rules import UserRules

LISTS = Access("list", "", "v1", "pods", namespace="t")
CALLER = UserInfo("boss", ("g",))
AGENT = UserInfo("system:serviceaccount:a:agent", (), "", {
    "authentication.kubernetes.io/node-name": ("n",), "other": ("x",)})


@pytest.mark.parametrize(("headers", "wanted"), [
    ({}, None), ({"accept": "x"}, None), ({"impersonate-user": "jane"}, UserInfo("jane", ())),
    ({"impersonate-user": "jane", "impersonate-group": " a , b,,c"}, UserInfo("jane", ("a", "b", "c"))),
    ({"impersonate-user": "jane", "impersonate-uid": "u", "impersonate-extra-a%2Fb": "x, y", "impersonate-extra-c": ""},
     UserInfo("jane", (), "u", {"a/b": ("x", "y"), "c": ("",)})),
])
def test_whom_headers_name(headers: dict[str, str], wanted: UserInfo | None) -> None:
    """Given headers / then they name a user with groups, uid and extras, or nobody."""
    assert wanted_user(headers) == wanted
    assert any_impersonation(headers) is any(name.startswith("impersonate-") for name in headers)


@pytest.mark.parametrize(("headers", "shown"), [
    ({"impersonate-group": "a,b"}, 'UID:"", Groups:[]string{"a", "b"}, Extra:map[string][]string(nil)'),
    ({"impersonate-uid": "u"}, 'UID:"u", Groups:[]string(nil), Extra:map[string][]string(nil)'),
    ({"impersonate-extra-k": "v,w", "impersonate-extra-a": "b"},
     'UID:"", Groups:[]string(nil), Extra:map[string][]string{"a":[]string{"b"}, "k":[]string{"v", "w"}}'),
])
def test_parts_without_a_user(headers: dict[str, str], shown: str) -> None:
    """Given groups, a uid or extras alone / then 400 shows them as Go does."""
    with pytest.raises(APIError) as caught:
        wanted_user(headers)
    assert (caught.value.code, caught.value.message) == (
        400, f'requested &user.DefaultInfo{{Name:"", {shown}}} without impersonating a user name')


class Asked:
    """An authorizer that writes down what it is asked, and allows some of it."""

    def __init__(self, allows: Callable[[str], bool]) -> None:
        self.allows, self.log, self.extras = allows, list[str](), list[object]()

    def decide(self, user: UserInfo, access: AccessAttributes) -> Decision:
        below = f"/{access.subresource}" if access.subresource else ""
        place = f" in {access.namespace}" if access.namespace else ""
        group = f".{access.group}" if access.group else ""
        text = f"{access.verb} {access.resource}{group}{below} {access.name}{place}".strip()
        self.log.append(text)
        self.extras.append(user.extra)
        return Decision(self.allows(text), "no")

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        return UserRules([])


AUTH = ".authentication.k8s.io"


@pytest.mark.parametrize(("wanted", "groups", "log"), [
    (UserInfo("jane", ()), ("system:authenticated",), ["impersonate users jane"]),
    (UserInfo("jane", ("a", "b"), "u", {"k": ("v", "w")}), ("a", "b", "system:authenticated"), [
        "impersonate users jane", f"impersonate uids{AUTH} u", "impersonate groups a", "impersonate groups b",
        f"impersonate userextras{AUTH}/k v", f"impersonate userextras{AUTH}/k w"]),
    (UserInfo("system:serviceaccount:a:b", ()), ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"),
     ["impersonate serviceaccounts b in a"]),
    (UserInfo("system:serviceaccount:a:b", ("g",)), ("g", "system:authenticated"), [
        "impersonate serviceaccounts b in a", "impersonate groups g"]),
    *((UserInfo(name, ()), ("system:authenticated",), [f"impersonate users {name}"]) for name in (
        "system:serviceaccount:a", "system:serviceaccount:a:b:c", "system:serviceaccount:A:b", "system:serviceaccount:a:B_")),
    (UserInfo("system:anonymous", ()), ("system:unauthenticated",), ["impersonate users system:anonymous"]),
    (UserInfo("system:anonymous", ("system:unauthenticated",)), ("system:unauthenticated",), [
        "impersonate users system:anonymous", "impersonate groups system:unauthenticated"]),
    (UserInfo("jane", ("system:authenticated",)), ("system:authenticated",), [
        "impersonate users jane", "impersonate groups system:authenticated"]),
    (UserInfo("jane", ("system:unauthenticated",)), ("system:unauthenticated",), [
        "impersonate users jane", "impersonate groups system:unauthenticated"]),
    (UserInfo("system:node:n", ()), ("system:authenticated",), ["impersonate users system:node:n"]),
])
def test_the_old_kind(wanted: UserInfo, groups: tuple[str, ...], log: list[str]) -> None:
    """Given leave of the old kind alone / then each part is asked for, and the groups are
    completed.
    """
    asked = Asked(lambda _: True)
    made = Impersonation(asked, constrained=False).act_as(CALLER, wanted, LISTS)
    assert made == (UserInfo(wanted.name, groups, wanted.uid, wanted.extra), "")
    assert asked.log == log


@pytest.mark.parametrize(("caller", "wanted", "mode", "groups", "log"), [
    (CALLER, UserInfo("jane", ()), "user-info", ("system:authenticated",), [
        "impersonate-on:user-info:list pods  in t", f"impersonate:user-info users{AUTH} jane"]),
    (CALLER, UserInfo("system:serviceaccount:a:b", ()), "serviceaccount",
     ("system:serviceaccounts", "system:serviceaccounts:a", "system:authenticated"), [
        "impersonate-on:serviceaccount:list pods  in t", f"impersonate:serviceaccount serviceaccounts{AUTH} b in a"]),
    (CALLER, UserInfo("system:node:n", ()), "arbitrary-node", ("system:nodes", "system:authenticated"), [
        "impersonate-on:arbitrary-node:list pods  in t", f"impersonate:arbitrary-node nodes{AUTH} n"]),
    (AGENT, UserInfo("system:node:n", ()), "associated-node", ("system:nodes", "system:authenticated"), [
        "impersonate-on:associated-node:list pods  in t", f"impersonate:associated-node nodes{AUTH} *"]),
    (AGENT, UserInfo("system:node:m", ()), "arbitrary-node", ("system:nodes", "system:authenticated"), [
        "impersonate-on:arbitrary-node:list pods  in t", f"impersonate:arbitrary-node nodes{AUTH} m"]),
    (CALLER, UserInfo("jane", ("a",), "u", {"x.io/k": ("v",)}), "user-info", ("a", "system:authenticated"), [
        "impersonate-on:user-info:list pods  in t", f"impersonate:user-info users{AUTH} jane",
        f"impersonate:user-info uids{AUTH} u", f"impersonate:user-info groups{AUTH} a",
        f"impersonate:user-info userextras{AUTH}/x.io/k v"]),
    (CALLER, UserInfo("jane", ("a", "b", "c", "d"), "", {"x.io/k": ("v", "w"), "x.io/l": ("x", "y")}), "user-info",
     ("a", "b", "c", "d", "system:authenticated"), [
        "impersonate-on:user-info:list pods  in t", f"impersonate:user-info users{AUTH} jane",
        f"impersonate:user-info groups{AUTH} *", f"impersonate:user-info userextras{AUTH}/* *"]),
    (CALLER, UserInfo("jane", ("a", "b", "c"), "", {"x.io/k": ("v", "w"), "x.io/l": ("x",)}), "user-info",
     ("a", "b", "c", "system:authenticated"), [
        "impersonate-on:user-info:list pods  in t", f"impersonate:user-info users{AUTH} jane",
        *(f"impersonate:user-info groups{AUTH} {name}" for name in "abc"),
        *(f"impersonate:user-info userextras{AUTH}/{key}" for key in ("x.io/k v", "x.io/k w", "x.io/l x"))]),
])
def test_the_constrained_kind(
    caller: UserInfo, wanted: UserInfo, mode: str, groups: tuple[str, ...], log: list[str],
) -> None:
    """Given leave of a mode / then it is asked for the request first, then for each part, for many
    at once; the mode is told.
    """
    asked = Asked(lambda _: True)
    made = Impersonation(asked, constrained=True).act_as(caller, wanted, LISTS)
    assert made == (UserInfo(wanted.name, groups, wanted.uid, wanted.extra), f"impersonate:{mode}")
    assert asked.log == log
    if mode == "associated-node":
        keys = ("authentication.kubernetes.io/node-name", "other")
        assert asked.extras[0] == {"authentication.kubernetes.io/associated-node-keys": keys}


@pytest.mark.parametrize(("caller", "wanted", "modes"), [
    (CALLER, UserInfo("jane", ()), ["user-info"]), (CALLER, UserInfo("system:node:n", ()), ["arbitrary-node"]),
    (CALLER, UserInfo("system:node:N_", ()), ["user-info"]), (CALLER, UserInfo("system:serviceaccount:a:b", ()),
        ["serviceaccount"]),
    *((CALLER, UserInfo("system:node:n", *more), list[str]()) for more in ((("g",),), ((), "u"), ((), "", {"k": ("v",)}))),
    (AGENT, UserInfo("system:node:n", ()), ["associated-node", "arbitrary-node"]),
    (UserInfo("x", (), "", AGENT.extra), UserInfo("system:node:n", ()), ["arbitrary-node"]),
])
def test_which_modes_are_for_whom(caller: UserInfo, wanted: UserInfo, modes: list[str]) -> None:
    """Given no leave at all / then the modes for such users are asked in order, the old kind last,
    and the first refusal is shown.
    """
    asked = Asked(lambda _: False)
    with pytest.raises(APIError) as caught:
        Impersonation(asked, constrained=True).act_as(caller, wanted, LISTS)
    requests = [f"impersonate-on:{mode}:list pods  in t" for mode in modes]
    assert asked.log[:-1] == requests
    assert asked.log[-1].startswith("impersonate ")
    assert caught.value.message.endswith(": no")
    assert (f"cannot impersonate-on:{modes[0]}:list" if modes else "cannot impersonate resource") in caught.value.message


def test_the_mode_that_passed_goes_first() -> None:
    """Given a caller who passed by the old kind / then that is asked first the next time, by each
    caller for itself.
    """
    asked = Asked(lambda text: text.startswith("impersonate "))
    leave = Impersonation(asked, constrained=True)
    for _ in range(2):
        assert leave.act_as(CALLER, UserInfo("jane", ()), LISTS)[1] == ""
    assert asked.log == ["impersonate-on:user-info:list pods  in t", "impersonate users jane", "impersonate users jane"]
    asked.log.clear()
    leave.act_as(UserInfo("other", ()), UserInfo("jane", ()), LISTS)
    assert asked.log == ["impersonate-on:user-info:list pods  in t", "impersonate users jane"]


@pytest.mark.parametrize(("wanted", "text"), [
    (UserInfo("jane", ("a", "system:masters")), "impersonating the system:masters group is not allowed"),
    (UserInfo("jane", (), "", {"": ("v",)}), "impersonating the empty string key in extra is not allowed"),
    (UserInfo("jane", (), "", {"x.io/k": ("v", "")}), "impersonating the empty string value in extra is not allowed"),
    (UserInfo("jane", (), "", {"k": ("v",)}), (
        'impersonating an invalid key in extra is not allowed: extra.key: Invalid value: "k": must be a domain-prefixed path '
        '(such as "acme.io/foo")')),
])
def test_what_the_constrained_kind_never_allows(wanted: UserInfo, text: str) -> None:
    """Given leave for everything of a mode / when administrators or nameless extras are wanted /
    then 403 says which.
    """
    asked = Asked(lambda verb: not verb.startswith("impersonate "))
    with pytest.raises(APIError) as caught:
        Impersonation(asked, constrained=True).act_as(CALLER, wanted, LISTS)
    assert caught.value.code == 403
    assert text in caught.value.message
    if "masters" in text:
        assert caught.value.message == (
            'groups.authentication.k8s.io "system:masters" is forbidden: User "boss" cannot impersonate:user-info resource '
            f'"groups" in API group "authentication.k8s.io" at the cluster scope: {text}')
