"""What a rule that says something impossible is told, word for word; which requests a rule is
about; and what its error answers.
"""

from typing import Any

import pytest

from fakekube.apimachinery.errors import APIError
from fakekube.endpoints.requestinfo import parse
from fakekube.faults.answers import answer
from fakekube.faults.globs import Globs, is_wild, wildness
from fakekube.faults.matching import Matcher, Wanted
from fakekube.faults.rules import FaultError, Rule, rule_of, rules_of

ALL = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
ONE = "a rule does one thing: say one of error, latency, cut, watch, stale, compact, lose_lease, crash, webhook"
FIELDS = (
    "name, verbs, resources, namespaces, names, labels, clusters, users, userAgents, components, paths, nth, every, probability, "
    "times, after, until, error, message, retryAfterSeconds, latency, cut, watch, stale, behind, compact, loseLease, crash, "
    "webhook, moment, events, lasting, optional")


@pytest.mark.parametrize(("values", "said"), [
    ({}, ONE),
    ({"cut": "before", "stale": True}, f"{ONE}, not cut and stale"),
    ({"cut": "before", "verbs": "got"},
     "verbs: 'got' is no verb: known are get, list, watch, create, update, patch, delete, deletecollection, read and write"),
    ({"cut": "before", "labels": "a in"}, "labels: unable to parse requirement: found '' expected: '('"),
    ({"cut": "before", "nth": 1, "every": 2}, "nth and every contradict each other: say one of them"),
    ({"cut": "before", "nth": 1, "probability": 0.5}, "nth and probability contradict each other: say one of them"),
    ({"cut": "before", "every": 2, "probability": 0}, "every and probability contradict each other: say one of them"),
    ({"cut": "before", "probability": 1.1}, "probability: input should be less than or equal to 1"),
    ({"cut": "before", "probability": -0.1}, "probability: input should be greater than or equal to 0"),
    ({"cut": "before", "times": 0}, "times: input should be greater than or equal to 1"),
    ({"cut": "before", "nth": 0}, "nth.0: input should be greater than or equal to 1"),
    ({"cut": "before", "paths": "version"}, "paths: 'version' is no path: it begins with /"),
    ({"cut": "before", "after": 5, "until": 5}, "until (5 s) is not later than after (5 s): no request could meet it"),
    ({"cut": "before", "after": -1}, "after: -1 is below zero"),
    ({"cut": "before", "after": True}, "after: true is no duration: say 1h30m, 90s or 500ms"),
    ({"cut": "before", "after": 1e30}, "after: so long a time cannot be counted"),
    ({"cut": "before", "name": "\ud800"}, "name: half a character is no text"),
    ({"cut": "before", "names": "\ud800"}, "names.0: half a character is no text"),
    ({"cut": "before", "names": 5}, "names: input should be a valid list"),
    ({"cut": "before", "zzz": 5}, f"zzz: there is no such field: known are {FIELDS}"),
    ({"cut": "before", "nam": "a"}, "nam: there is no such field: did you mean name?"),
    ({"latency": 0}, "latency: it takes no time"),
    ({"watch": "end", "verbs": "get"},
     "a fault of watches meets no request whose verb is another: leave verbs out, or say watch"),
    ({"stale": True, "verbs": "write"}, "a stale answer is one to get, list or watch: verbs has none of them"),
    ({"loseLease": True, "verbs": "get,create"}, "a Lease is lost with an update or a patch of it: verbs has neither"),
    ({"error": "Conflict", "verbs": "get"}, "Conflict is an answer to update, patch, delete: verbs has none of them"),
    ({"error": "EtcdNoSpace", "verbs": "delete"}, "EtcdNoSpace is an answer to create, update, patch: verbs has none of them"),
    ({"error": "StorageInitializing", "verbs": "write"},
        "StorageInitializing is an answer to get, list, watch: verbs has none of them"),
    ({"cut": "before", "moment": "after"}, "moment is of error, latency and crash, not of cut"),
    ({"compact": True, "moment": "after"}, "moment is of error, latency and crash, not of compact"),
    ({"error": "Conflict", "moment": "after"},
     ("no control plane answers Conflict to what it has committed: InternalError, ServiceUnavailable, Timeout, ServerTimeout, "
     "EtcdTimeout, EtcdLeaderChanged are possible")),
    ({"error": "Timeout", "message": "a"}, "message is what an InternalError says"),
    ({"cut": "before", "message": "a"}, "message is what an InternalError says"),
    ({"cut": "before", "retryAfterSeconds": 0}, "retryAfterSeconds is of an error"),
    ({"error": "Timeout", "retryAfterSeconds": -1}, "retryAfterSeconds: input should be greater than or equal to 0"),
    ({"cut": "before", "lasting": 1}, "lasting is of watch, but not of watch: no-bookmarks, and of behind"),
    ({"watch": "no-bookmarks", "lasting": 1}, "lasting is of watch, but not of watch: no-bookmarks, and of behind"),
    ({"stale": True, "lasting": 1}, "lasting is of watch, but not of watch: no-bookmarks, and of behind"),
    ({"cut": "before", "behind": 1}, "behind is of stale"),
    ({"stale": True, "behind": 0}, "behind: input should be greater than or equal to 1"),
    ({"watch": "late"}, "watch: late needs lasting, how late each event comes"),
    ({"cut": "before", "events": 1}, "events is of watch"),
    ({"watch": "end", "events": -1}, "events: input should be greater than or equal to 0"),
    ({"cut": "sometimes"}, "cut: input should be 'before', 'after' or 'body'"),
    ({"webhook": "no"}, "webhook: input should be 'refused', 'timeout' or 'error'"),
    ({"watch": "no"}, "watch: input should be 'end', 'cut', 'expire', 'stall', 'late' or 'no-bookmarks'"),
    ({"error": "Timeout", "moment": "later"}, "moment: input should be 'before' or 'after'"),
])
def test_what_an_impossible_rule_is_told(values: dict[str, Any], said: str) -> None:
    """Given a rule that says something impossible / when it is read / then one sentence says what.
    """
    with pytest.raises(FaultError) as refused:
        rule_of(values)
    assert str(refused.value) == said


@pytest.mark.parametrize(("values", "what", "verbs"), [
    ({"error": "InternalError", "message": "m", "retryAfterSeconds": 0, "moment": "after"},
        "error InternalError after the commit",
     ALL),
    ({"error": "Conflict"}, "error Conflict", ("update", "patch", "delete")),
    ({"error": "EtcdNoSpace", "verbs": "write"}, "error EtcdNoSpace", ("create", "update", "patch")),
    ({"error": "StorageInitializing", "verbs": "*"}, "error StorageInitializing", ("get", "list", "watch")),
    ({"latency": "1500ms", "moment": "after"}, "latency 1.5 s after the commit", ALL),
    ({"latency": 90, "verbs": ["read", "delete"]}, "latency 90 s", ("get", "list", "watch", "delete")),
    ({"cut": "body"}, "cut body", ALL), ({"watch": "stall", "lasting": 1, "events": 3}, "watch stall", ("watch",)),
    ({"watch": "late", "lasting": 1}, "watch late", ("watch",)), ({"stale": True}, "stale", ("get", "list", "watch")),
    ({"stale": True, "behind": 1, "lasting": 5}, "stale", ("get", "list", "watch")), ({"compact": True}, "compact", ALL),
    ({"loseLease": True}, "lose lease", ("update", "patch")), ({"lose_lease": True, "verbs": "patch"}, "lose lease", ("patch",)),
    ({"crash": "job", "moment": "after"}, "crash job after the commit", ALL), ({"webhook": "timeout"}, "webhook timeout", ALL),
    ({"cut": "before", "verbs": "list, read ,list"}, "cut before", ("list", "get", "watch")),
    ({"cut": "before", "until": 5.5, "after": 5, "probability": 1, "paths": "*x,?y,/z"}, "cut before", ALL),
])
def test_what_a_rule_does_and_to_what(values: dict[str, Any], what: str, verbs: tuple[str, ...]) -> None:
    """Given a rule / when it is told in a few words / then they say what goes wrong, and of which
    verbs it can.
    """
    rule = rule_of(values)
    assert (rule.what, rule.all_verbs) == (what, verbs)


@pytest.mark.parametrize(("content", "said", "place"), [
    (7, "faults: int is no plan: say a mapping with faults, or a list of rules", ()),
    ("text", "faults: str is no plan: say a mapping with faults, or a list of rules", ()),
    ([7], "faults.0: 7 is no rule", (0,)),
    ([{"cut": "before"}, {}], f"faults.1: {ONE}", (1,)),
    ([{"cut": "no"}], "faults.0.cut: input should be 'before', 'after' or 'body'", (0, "cut")),
    ({"faults": [{"cut": "no"}]}, "faults.0.cut: input should be 'before', 'after' or 'body'", ("faults", 0, "cut")),
    ({"faults": 7}, "faults: input should be a valid list", ("faults",)),
    ({"kind": "Plan"}, "kind: input should be 'FaultPlan'", ("kind",)),
    ({"apiVersion": "v2"}, "apiVersion: input should be 'fakekube.dev/v1'", ("apiVersion",)),
    ({"faults": [], "x": 1}, "x: there is no such field: known are apiVersion, kind, faults", ("x",)),
    ([{"name": "a", "cut": "after"}, {"name": "a", "cut": "after"}], "faults: two are called 'a'", (1,)),
])
def test_what_an_impossible_plan_is_told(content: Any, said: str, place: tuple[Any, ...]) -> None:
    """Given a plan that says something impossible / when it is read / then it is said what, and the
    place is known.
    """
    with pytest.raises(FaultError) as refused:
        rules_of(content)
    assert (str(refused.value), refused.value.place) == (said, place)


def test_forms_of_a_plan() -> None:
    """Given a plan in all its forms / when it is read / then the rules come in order; those without
    a name may be many.
    """
    rule = rule_of({"cut": "after"})
    assert rules_of({"cut": "after"}) == [rule]
    assert rules_of([rule, {"cut": "after"}, rule]) == rules_of((rule, rule, rule)) == [rule] * 3
    assert rules_of({"apiVersion": "fakekube.dev/v1", "kind": "FaultPlan", "faults": [{"cut": "after"}]}) == [rule]
    assert rules_of(rule) == [rule]
    assert rules_of(None) == rules_of([]) == rules_of({"kind": "FaultPlan"}) == []
    assert len(rules_of([{"stale": True}] * 1_000)) == 1_000
    assert len(rule_of({"cut": "after", "names": ["x"] * 1_000}).names) == 1_000
    assert rule_of({"cut": "after", "names": ["x" * 1_024, "*" * 32, *["a*"] * 99]}).names[1] == "*" * 32


@pytest.mark.parametrize(("patterns", "fitting", "others"), [
    (["a"], ["a"], ["", "A", "aa", "ba"]), (["a*"], ["a", "ab", "a\n", "a\nb"], ["ba", ""]), (["?"], ["a", "é", "\n"], ["",
        "ab"]),
    (["*.(x)"], ["a.(x)", ".(x)"], ["a.x", "a(x)"]), (["a", "b*"], ["a", "bc"], ["ab"]), ([], [], ["", "a"]),
    (["*"], ["", "x" * 8_192], ["x" * 8_193]), (["x" * 9_000], ["x" * 9_000], []),
])
def test_which_names_fit(patterns: list[str], fitting: list[str], others: list[str]) -> None:
    """Given patterns / when names are compared / then * stands for anything and ? for a character.
    """
    globs = Globs(patterns)
    assert [globs.fit(text) for text in (*fitting, *others)] == [True] * len(fitting) + [False] * len(others)
    assert [(is_wild(one), wildness(one)) for one in ("a.b", "a*", "?", "*a?*")] == [(False, 0), (True, 1), (True, 1), (True, 3)]


FORMS = [
    ("batch", "jobs", ""), ("apps", "jobs", ""), ("batch", "jobs", "status"), ("", "pods", ""), ("", "pods", "status"), ("",
        "pods", "log")]


@pytest.mark.parametrize(("text", "meant"), [
    ("jobs", [0, 1]), ("jobs.batch", [0]), ("jobs.batch/status", [2]), ("pods.", [3]), ("pods/*", [4, 5]), ("*", [0, 1, 3]),
    ("*/*", [0, 1, 2, 3, 4, 5]), ("*/status", [2, 4]), ("*.batch", [0]), ("*.batch/*", [0, 2]), ("jobs.x", []),
])
def test_which_resources_are_meant(text: str, meant: list[int]) -> None:
    """Given a resource as rules name it / when requests are looked at / then these are about it.
    """
    assert [number for number, form in enumerate(FORMS) if Wanted.of(text).matches(*form)] == meant


@pytest.mark.parametrize(("values", "form", "is_about"), [
    ({"cut": "before"}, ("get", "", "", ""), True), ({"error": "Conflict"}, ("get", "", "", ""), False),
    *(({"error": name}, ("get", "", "", ""), True) for name in (
        "TooManyRequests", "ShuttingDown", "ServiceUnavailable", "Timeout", "InternalError", "Unauthorized")),
    *(({"error": name}, ("get", "", "", ""), False) for name in (
        "ServerTimeout", "StorageInitializing", "EtcdTimeout", "EtcdLeaderChanged", "EtcdNoLeader", "EtcdNoSpace")),
    ({"latency": 1}, ("get", "", "", ""), True), ({"stale": True}, ("get", "", "", ""), False),
    ({"cut": "before", "verbs": "get"}, ("get", "", "", ""), False),
    ({"cut": "before", "verbs": "get", "paths": "*"}, ("get", "", "", ""), True),
    ({"cut": "before", "verbs": "get", "paths": "*"}, ("create", "", "", ""), False),
    ({"cut": "before", "names": "a"}, ("get", "", "", ""), False), ({"cut": "before", "labels": "a"}, ("get", "", "", ""), False),
    ({"cut": "before", "namespaces": "a"}, ("get", "", "", ""), False),
    ({"cut": "before", "resources": "pods"}, ("get", "", "", ""), False),
    ({"cut": "before", "verbs": "get"}, ("get", "", "pods", ""), True),
    ({"cut": "before", "verbs": "get"}, ("list", "", "pods", ""), False),
    ({"cut": "before", "resources": "jobs"}, ("list", "", "pods", ""), False),
    ({"cut": "before", "clusters": "a"}, ("list", "", "pods", ""), False),
    ({"error": "EtcdNoSpace"}, ("create", "", "pods", ""), True), ({"error": "EtcdNoSpace"}, ("create", "", "pods", "eviction"),
        True),
    *(({"error": "EtcdNoSpace"}, ("create", "", "pods", name), False) for name in ("attach", "exec", "portforward", "proxy",
        "token")),
    ({"error": "EtcdNoSpace"}, ("create", "authentication.k8s.io", "tokenreviews", ""), False),
    ({"error": "EtcdNoSpace"}, ("create", "authorization.k8s.io", "subjectaccessreviews", ""), False),
    ({"loseLease": True}, ("update", "coordination.k8s.io", "leases", ""), True),
    ({"loseLease": True}, ("update", "coordination.k8s.io", "leases", "status"), False),
    ({"loseLease": True}, ("update", "", "leases", ""), False), ({"loseLease": True}, ("get", "coordination.k8s.io", "leases",
        ""), False),
])
def test_which_forms_are_meant(values: dict[str, Any], form: tuple[str, str, str, str], is_about: bool) -> None:
    """Given a rule / when the form of a request is looked at / then it may be meant, or not."""
    assert Matcher(rule_of(values), lambda *_: None).is_about(form) is is_about


@pytest.mark.parametrize(("path", "values", "meant"), [
    ("/healthz", {}, False), ("/livez/ping", {}, False), ("/readyz", {}, False), ("/readyz", {"paths": "/readyz"}, True),
    ("/version", {}, True), ("/version", {"paths": "/v?rsion"}, True), ("/version", {"paths": "/x"}, False),
    ("/api/v1/namespaces/a/pods/p", {"namespaces": "a", "names": "p", "users": "u", "user_agents": "g*"}, True),
    ("/api/v1/namespaces/a/pods/p", {"namespaces": "b"}, False), ("/api/v1/namespaces/a/pods/p", {"names": "q"}, False),
    ("/api/v1/namespaces/a/pods", {"names": "q"}, True), ("/api/v1/namespaces/a/pods", {"users": "x"}, False),
    ("/api/v1/namespaces/a/pods", {"user_agents": "x"}, False),
])
def test_who_asks_where(path: str, values: dict[str, Any], meant: bool) -> None:
    """Given a request / when it is compared with a rule / then path, namespace, name, user and
    agent decide; those who ask for health are let through.
    """
    matcher = Matcher(rule_of({"cut": "before", **values}), lambda *_: None)
    assert matcher.is_about_asked(parse("GET", path, {}), "u", "go") is meant


@pytest.mark.parametrize(("values", "code", "text", "headers"), [
    ({"error": "TooManyRequests"}, 429, "Too many requests, please try again later.\n", {"Retry-After": "1"}),
    ({"error": "TooManyRequests", "retryAfterSeconds": 0}, 429, "Too many requests, please try again later.\n",
    {"Retry-After": "0"}),
    ({"error": "ShuttingDown"}, 429, "The apiserver is shutting down, please try again later.\n", {"Retry-After": "5"}),
    ({"error": "ShuttingDown", "retryAfterSeconds": 7}, 429, "The apiserver is shutting down, please try again later.\n",
     {"Retry-After": "7"}),
    ({"error": "ServiceUnavailable"}, 503, "service unavailable\n", {}),
    ({"error": "ServiceUnavailable", "retryAfterSeconds": 0}, 503, "service unavailable\n", {"Retry-After": "0"}),
])
def test_answers_that_are_no_status(values: dict[str, Any], code: int, text: str, headers: dict[str, str]) -> None:
    """Given errors of filters / when they answer / then it is plain text."""
    found = answer(Rule(**values), parse("GET", "/api/v1/namespaces/a/pods/p", {}))
    assert (found.status, found.body) == (code, text.encode())
    assert dict(found.headers) == {**headers, "X-Content-Type-Options": "nosniff"}
    assert found.content_type == "text/plain; charset=utf-8"


@pytest.mark.parametrize(("values", "code", "reason", "message", "details"), [
    ({"error": "EtcdTimeout"}, 500, "", "etcdserver: request timed out", None),
    ({"error": "EtcdLeaderChanged"}, 500, "", "etcdserver: leader changed", None),
    ({"error": "EtcdNoLeader"}, 500, "", "etcdserver: no leader", None),
    ({"error": "EtcdNoSpace"}, 500, "", "etcdserver: mvcc: database space exceeded", None),
    ({"error": "Unauthorized"}, 401, "Unauthorized", "Unauthorized", None),
    ({"error": "StorageInitializing"}, 429, "TooManyRequests", "storage is (re)initializing", {"retryAfterSeconds": 1}),
    ({"error": "StorageInitializing", "retryAfterSeconds": 3}, 429, "TooManyRequests", "storage is (re)initializing",
     {"retryAfterSeconds": 3}),
    ({"error": "InternalError"}, 500, "InternalError", "Internal error occurred: context deadline exceeded",
     {"causes": [{"message": "context deadline exceeded"}]}),
    ({"error": "InternalError", "message": "m"}, 500, "InternalError", "Internal error occurred: m",
    {"causes": [{"message": "m"}]}),
    ({"error": "ServerTimeout"}, 500, "ServerTimeout",
     "The update operation against jobs.batch could not be completed at this time, please try again.",
     {"name": "update", "group": "batch", "kind": "jobs", "retryAfterSeconds": 2}),
    ({"error": "ServerTimeout", "retryAfterSeconds": 9}, 500, "ServerTimeout",
     "The update operation against jobs.batch could not be completed at this time, please try again.",
     {"name": "update", "group": "batch", "kind": "jobs", "retryAfterSeconds": 9}),
    ({"error": "Timeout"}, 504, "Timeout",
        "Timeout: request did not complete within requested timeout - context deadline exceeded",
     {}),
    ({"error": "Conflict"}, 409, "Conflict",
     ('Operation cannot be fulfilled on jobs.batch "j": the object has been modified; please apply your changes to the latest '
     "version and try again"), {"name": "j", "group": "batch", "kind": "jobs"}),
])
def test_answers_that_are_a_status(
    values: dict[str, Any], code: int, reason: str, message: str, details: dict[str, Any] | None,
) -> None:
    """Given errors of the server and of its storage / when they answer / then it is a Status as
    upstream's.
    """
    with pytest.raises(APIError) as raised:
        answer(Rule(**values), parse("PUT", "/apis/batch/v1/namespaces/a/jobs/j", {}))
    told = raised.value.status()
    assert (told["code"], told.get("reason", ""), told["message"], told.get("details")) == (code, reason, message, details)
