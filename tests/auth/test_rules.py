"""Rules of roles by themselves: what they cover, how they read, and who decides by name."""

import pytest

from fakekube.apimachinery.http import UserInfo
from fakekube.auth.authorizer import Access, AlwaysAllow, AlwaysDeny, Decision, Union, forbidden
from fakekube.auth.rules import PolicyRule, UserRules, errors_text, missing, rules_of

POD = PolicyRule(("get",), ("",), ("pods",))


@pytest.mark.parametrize(("wide", "narrow", "covers"), [
    (POD, POD, True), (POD._replace(verbs=("*",)), POD, True), (POD, POD._replace(verbs=("get", "list")), False),
    (POD._replace(groups=("*",)), POD._replace(groups=("", "batch")), True), (POD, POD._replace(groups=("batch",)), False),
    (POD._replace(resources=("*",)), POD._replace(resources=("pods/log",)), True),
    (POD._replace(resources=("*/log",)), POD._replace(resources=("pods/log",)), True),
    (POD._replace(resources=("*/log",)), POD._replace(resources=("pods/exec",)), False),
    (POD._replace(resources=("*/log",)), POD, False), (POD, POD._replace(resources=("pods/log",)), False),
    (POD, POD._replace(names=("a",)), True), (POD._replace(names=("a",)), POD, False),
    (POD._replace(names=("a", "b")), POD._replace(names=("b",)), True),
    (POD._replace(names=("a",)), POD._replace(names=("a", "b")), False),
    (PolicyRule(("get",), urls=("/a/*",)), PolicyRule(("get",), urls=("/a/b",)), True),
    (PolicyRule(("get",), urls=("/a/*",)), PolicyRule(("get",), urls=("/a/b", "/c")), False),
    (PolicyRule(("get",), urls=("*",)), PolicyRule(("get",), urls=("/a", "/b")), True),
    (PolicyRule(("get",), urls=("/a",)), PolicyRule(("get",), urls=("/ab",)), False),
    (PolicyRule(("get",), urls=("/a", "/b")), PolicyRule(("get",), urls=("/b",)), True),
])
def test_what_a_rule_covers(wide: PolicyRule, narrow: PolicyRule, covers: bool) -> None:
    """Given two rules / then the first covers the second exactly where it allows all of it."""
    assert wide.covers(narrow) is covers


def test_how_rules_read() -> None:
    """Given rules of resources and of paths / then their texts are those of Go."""
    tree = {"rules": [
        {"verbs": ["get", "list"], "apiGroups": ["", "b"], "resources": ["pods"], "resourceNames": ['a"']},
        {"verbs": ["get"], "nonResourceURLs": ["/a"]}, {}]}
    assert [rule.text() for rule in rules_of(tree)] == [
        r'{APIGroups:["" "b"], Resources:["pods"], ResourceNames:["a\""], Verbs:["get" "list"]}',
        '{NonResourceURLs:["/a"], Verbs:["get"]}', "{}"]
    assert rules_of({}) == ()


def test_single_rules_of_a_rule() -> None:
    """Given a rule of two groups, resources, verbs and names, and of paths / then its size is the
    number of single rules.
    """
    rule = PolicyRule(("a", "b"), ("g", "h"), ("r", "s"), ("m", "n", "o"), ("/x",))
    atoms = list(rule.atoms())
    assert (rule.size, len(atoms), len(set(atoms))) == (26, 26, 26)
    assert atoms[:2] == [PolicyRule(("a",), ("g",), ("r",), (name,)) for name in "mn"]
    assert atoms[-1] == PolicyRule(("b",), urls=("/x",))
    assert (rule._replace(names=()).size, len(list(rule._replace(names=()).atoms()))) == (10, 10)


def test_what_is_missing() -> None:
    """Given rules that are held / then what is wanted and not covered comes back, paths first,
    resources with their verbs together.
    """
    held = [POD, PolicyRule(("get",), urls=("/a",))]
    wanted = [
        POD, PolicyRule(("list", "get", "watch"), ("",), ("pods", "nodes")), PolicyRule(("get", "put"), urls=("/a", "/b")),
        PolicyRule(("get",), ("",), ("secrets",), ("x", "y"))]
    assert missing(held, wanted) == [
        PolicyRule(("put",), urls=("/a",)), PolicyRule(("get",), urls=("/b",)), PolicyRule(("put",), urls=("/b",)),
        PolicyRule(("list", "watch"), ("",), ("pods",)), PolicyRule(("list", "get", "watch"), ("",), ("nodes",)),
        PolicyRule(("get",), ("",), ("secrets",), ("x",)), PolicyRule(("get",), ("",), ("secrets",), ("y",))]
    most = PolicyRule(tuple(map(str, range(10_000))), ("",), ("pods",))
    assert missing([], [most]) == [most]
    more = PolicyRule(tuple(map(str, range(10_001))), ("",), ("pods", ))
    assert missing([more._replace(verbs=("0",))], [more]) == [more]
    assert missing([more._replace(verbs=("0",))], [most]) == [most._replace(verbs=most.verbs[1:])]


def test_errors_are_told_once() -> None:
    """Given none, one, and several errors with one twice / then their text is upstream's."""
    assert (errors_text([]), errors_text(["a", "a"]), errors_text(["b", "a", "b"])) == ("", "a", "[b, a]")


class Says:
    """An authorizer that gives one answer, and counts how often."""

    def __init__(self, decision: Decision, rules: UserRules) -> None:
        self.decision, self.found, self.asked = decision, rules, 0

    def decide(self, user: UserInfo, access: object) -> Decision:
        self.asked += 1
        return self.decision

    def rules(self, user: UserInfo, namespace: str) -> UserRules:
        return self.found


def test_the_first_that_says_yes() -> None:
    """Given several authorizers / then the first yes decides, refusals are told together, named
    since 1.37, and administrators are asked nothing.
    """
    silent, no = Says(Decision(False), UserRules([])), Says(Decision(False, "why"), UserRules([POD], True, "e"))
    yes, late = Says(Decision(True, "ok"), UserRules([POD])), Says(Decision(False, "late"), UserRules([], False, "f"))
    user, access = UserInfo("u", ()), Access("get", resource="pods")
    every = Union([("silent", silent), ("no", no), ("yes", yes), ("late", late)], minor=37)
    assert every.decide(user, access) == Decision(True, "ok")
    assert late.asked == 0
    assert every.rules(user, "") == UserRules([POD, POD], True, "e, f")
    refusing = [("silent", silent), ("no", no), ("late", late)]
    assert Union(refusing, minor=37).decide(user, access) == Decision(False, "no: why\nlate: late")
    assert Union(refusing, minor=36).decide(user, access) == Decision(False, "why\nlate")
    assert every.decide(UserInfo("u", ("system:masters",)), access) == Decision(True)
    assert no.asked == 3


def test_the_two_that_always_say_the_same() -> None:
    """Given those who allow and deny everything / then so do their rules."""
    user, access = UserInfo("u", ()), Access("get", resource="pods")
    everything = [PolicyRule(("*",), ("*",), ("*",)), PolicyRule(("*",), urls=("*",))]
    assert (AlwaysAllow().decide(user, access), AlwaysAllow().rules(user, "")) == (Decision(True), UserRules(everything))
    assert AlwaysDeny().decide(user, access) == Decision(False, "Everything is forbidden.")
    assert AlwaysDeny().rules(user, "") == UserRules([])


@pytest.mark.parametrize(("access", "reason", "message"), [
    (Access("get", "batch", "v1", "jobs", "status", "t", "j"), "why",
     ('jobs.batch "j" is forbidden: User "a&lt;" cannot get resource "jobs/status" in API group "batch" '
     'in the namespace "t": why')),
    (Access("list", resource="nodes"), "",
     'nodes is forbidden: User "a&lt;" cannot list resource "nodes" in API group "" at the cluster scope'),
    (Access("post", path="/a>"), "<b>", 'forbidden: User "a&lt;" cannot post path "/a&gt;": <b>'),
])
def test_how_a_refusal_reads(access: Access, reason: str, message: str) -> None:
    """Given what was asked and why not / then the 403 is upstream's; what could be HTML is written
    as entities, but for the reason.
    """
    error = forbidden(UserInfo("a<", ()), access, reason)
    assert (error.code, error.reason, error.message) == (403, "Forbidden", message)
