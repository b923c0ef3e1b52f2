"""What a report says, word for word."""

from typing import Any

from fakekube.recording.comparison import Difference
from fakekube.recording.exchanges import Exchange
from fakekube.recording.outcomes import Outcome, Played
from fakekube.recording.plan import Conversation, Step
from fakekube.recording.report import Found, of_plan, of_plays, of_setups, totals, tree


def step(path: str, reason: str = "", uncompared: str = "") -> Step:
    return Step(Exchange({"method": "GET", "path": path, "code": 200, "query": {"limit": ["1"]}}), reason, uncompared)


def conversation(test: str, *steps: Step, **facts: Any) -> Conversation:
    return Conversation(test, facts, list(steps))


def test_what_was_otherwise_where_it_was_recorded() -> None:
    """Given recordings of other releases and with controllers of their own / when that is told /
    then each release has its sentence, and the first three tests their names.
    """
    told = [conversation(test, release="1.36", extra=["x"]) for test in ("a", "", "c", "d")]
    assert list(of_setups([*told, conversation("e", release="1.35")], Found("u", "1.37"))) == [
        "4 tests recorded on Kubernetes 1.36, played on 1.37: what these releases do otherwise differs, too",
        "1 test recorded on Kubernetes 1.35, played on 1.37: what these releases do otherwise differs, too",
        "controllers of their own ran in the clusters of 4 tests, which do not run there: a, the recording, c ..."]
    assert list(of_setups(told[:1] * 2, Found("u", "1.36"))) == [
        "controllers of their own ran in the clusters of 1 test, which do not run there: a"]
    assert list(of_setups([conversation("e", release="1.36")], Found("u", "1.36"))) == []


def test_what_would_be_done() -> None:
    """Given two conversations / when what would be done is told / then what is played comes by
    verb and resource, then what is not by its reason, and what would be made without a namespace.
    """
    pods, first = "/api/v1/namespaces/default/pods", conversation(
        "a", step("/api/v1/namespaces/default/pods"), step("/version"), step("/api/v1/nodes", "no node"),
        step("/api/v1/nodes", "no node"), step("/api/v1/secrets", "no node"), step("/api/v1/events", "no node"),
        step("/apis", "no node"), step("/openapi/v2", "also"))
    first.namespaces, first.clusterwide, first.idle = ["default", "b"], ["high", "a"], True
    second = conversation("b", step(pods, uncompared="a fault"), step(f"{pods}/p"))
    second.namespaces = ["c"]
    found = Found("https://there", "1.37", ("w", "x", "y", "z"), 2)
    lines = [
        "https://there: Kubernetes 1.37, 2 nodes",
        "it has no nodes: no pod runs there, and what follows from that does not count",
        "it is in use: 4 namespaces of others (w, x, y ...), which are left alone",
        "4 of 10 requests of 2 tests are played, in 3 namespaces fakekube-verify-*, which are deleted at the end:",
        "      1 get pods", "      1 get version", "      2 list pods",
        "and 2 objects without a namespace are made and deleted: a, high",
        "not played:", "      1 also: /openapi/v2", "      5 no node: list nodes, list secrets, list events ...",
        "not compared:", "      1 a fault: list pods"]
    assert list(of_plan([first, second], found)) == lines
    lines[2] = "it is in use: 4 namespaces of others (w, x, y ...), and what is made would be noticed there"
    assert list(of_plan([first, second], found, alone=True)) == lines
    alone = conversation("", step("/version"))
    assert list(of_plan([alone], Found("u", "1.37", ("w",), 1))) == [
        "u: Kubernetes 1.37, 1 node", "it is in use: 1 namespace of others (w), which are left alone",
        "1 of 1 request of 1 test are played, in 0 namespaces fakekube-verify-*, which are deleted at the end:",
        "      1 get version"]


def test_what_came_of_it() -> None:
    """Given what was played / when it is told / then what differs and counts comes by test, what
    does not count on demand, and the sums last; programs get the same.
    """
    counted, state = Difference("answer", "spec.a", "1", "2"), Difference("state", "status.b", "3", "4")
    forbidden = Difference("forbidden", "", "200", "403")
    asked = [step("/api/v1/nodes/n"), step("/version"), step("/apis"), step("/api")]
    first = Played(
        conversation("a", *asked, step("/x", "why")), [
            Outcome(asked[0], [counted, state]), Outcome(asked[1], [state]), Outcome(asked[2], [forbidden]), Outcome(asked[3])],
        failure="it ended", left=["x", "y"])
    second = Played(conversation("", step("/y", uncompared="lost")), [Outcome(asked[1])])
    third = Played(conversation("c"), [Outcome(asked[1], [state])])
    plays = [first, second, third]
    last = "verify: 6 requests of 3 tests: 2 equal, 1 differ, 3 only in what controllers write or users may"
    assert list(of_plays(plays)) == [
        "a", "  GET /api/v1/nodes/n?limit=1", "    answer spec.a: 1 recorded, 2 there", "  not played to its end: it ended",
        "  still there: x, y", last]
    assert list(of_plays(plays, state=True)) == [
        "a", "  GET /api/v1/nodes/n?limit=1", "    answer spec.a: 1 recorded, 2 there", "    state status.b: 3 recorded, 4 there",
        "  GET /version?limit=1", "    state status.b: 3 recorded, 4 there",
        "  GET /apis?limit=1", "    forbidden: 200 recorded, 403 there", "  not played to its end: it ended",
        "  still there: x, y", "c", "  GET /version?limit=1", "    state status.b: 3 recorded, 4 there", last]
    assert list(of_plays([Played(conversation(""), failure="no")])) == [
        "the recording", "  not played to its end: no", "verify: 0 requests of 1 test: 0 equal, 0 differ"]
    assert list(of_plays([Played(conversation(""), left=["z"])]))[1] == "  still there: z"
    assert [totals(each).is_equal for each in (plays, [second], [third], [Played(conversation(""), failure="no")])] == [
        False, True, True, False]
    differing = [{"kind": "state", "path": "status.b", "recorded": "3", "there": "4"}]
    told = tree(plays, Found("u", "1.37"))
    assert {name: told[name] for name in told if name != "tests"} == {
        "kind": "Verification", "apiVersion": "fakekube.dev/v1", "server": "u", "release": "1.37",
        "totals": {"played": 6, "equal": 2, "differ": 1, "uncounted": 3, "failures": 1}}
    assert told["tests"][1:] == [
        {"test": "", "failure": "", "left": [], "requests": [{"request": "GET /version?limit=1", "differences": []}],
         "notPlayed": [], "notCompared": [{"request": "GET /y?limit=1", "reason": "lost"}]},
        {"test": "c", "failure": "", "left": [], "requests": [{"request": "GET /version?limit=1", "differences": differing}],
         "notPlayed": [], "notCompared": []}]
    assert {name: value for name, value in told["tests"][0].items() if name != "requests"} == {
        "test": "a", "failure": "it ended", "left": ["x", "y"], "notPlayed": [{"request": "GET /x?limit=1", "reason": "why"}],
        "notCompared": []}
