"""Plans that are wrong: where, and why; plans that are too large; and who may send one."""

import asyncio
import http.client
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import jsonschema  # type: ignore[import-untyped]
import pytest

from fakekube import Cluster
from fakekube.composition.clusterfaults import read
from fakekube.composition.options import OptionError
from fakekube.faults.rules import FaultError, json_schema, rule_of, rules_of
from fakekube.testing.background import BackgroundCluster
from tests.faults.asking import MAPS, ask, create, status

PATH = "/fakekube/v1/faults"
HEAD = "apiVersion: fakekube.dev/v1\nkind: FaultPlan\nfaults:\n- {stale: true}\n- name: b\n"

WRONG = [
    ("  error: Sometimes\n", 6, "faults.1.error: input should be 'TooManyRequests'"),
    ("  cut: before\n  nth: often\n", 7, "faults.1.nth: input should be"),
    ("  cut: before\n  nth:\n  - 1\n  - x\n", 9, "faults.1.nth.1: input should be a valid integer"),
    ("  cut: before\n  every: 0\n", 7, "faults.1.every: input should be greater than or equal to 1"),
    ("  latency: {}\n", 6, "faults.1.latency: {} is no duration: say 1h30m, 90s or 500ms"),
    ("  latency: yes\n", 6, "faults.1.latency: true is no duration"),
    ("  latency: soon\n", 6, "faults.1.latency: 'soon' is no duration"),
    ("  names: {a: b}\n  stale: true\n", 6, "faults.1.names: input should be a valid list"),
    ("  labels: [a]\n  stale: true\n", 6, "faults.1.labels: input should be a valid string"),
    ("  stale: perhaps\n", 6, "faults.1.stale: input should be a valid boolean"),
    ("  cut: before\n  verb: get\n", 7, "faults.1.verb: there is no such field: did you mean verbs?"),
    ("  cut: before\n  latency: 1s\n", 5, "faults.1: a rule does one thing"),
    ("  cut: before\n  paths: version\n", 5, "faults.1: paths: 'version' is no path: it begins with /"),
    ("  cut: before\n- {name: b, stale: true}\n", 7, "two are called 'b'"),
    ("  cut: before\n- 7\n", 7, "faults.2: 7 is no rule"),
    ("  cut: before\nfault: []\n", 7, "fault: there is no such field: did you mean faults?"),
    ("  cut: before\n  until: 1s\n  after: 5s\n", 5, "faults.1: until (1 s) is not later than after (5 s)"),
]


@pytest.mark.parametrize(("text", "line", "said"), WRONG)
def test_what_is_wrong_has_a_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    """Given a file with a mistake / when it is read as a plan / then one sentence says where it is,
    with the line, and what is wrong.
    """
    file = tmp_path / "plan.yaml"
    file.write_text(HEAD + text)
    with pytest.raises(OptionError) as caught:
        read(str(file))
    assert str(caught.value).startswith(f"faults: {file}:{line}: {said}")
    assert "\n" not in str(caught.value)


def test_a_list_of_rules_has_lines_too(tmp_path: Path) -> None:
    """Given a file that is a list, and one of JSON / when a rule of it is wrong / then its line is
    told.
    """
    for name, text in (("plan.yaml", "- stale: true\n- error: Conflict\n  times: 0\n"),
                       ("plan.json", '[{"stale": true},\n{"error": "Conflict",\n"times": 0}]')):
        (tmp_path / name).write_text(text)
        with pytest.raises(OptionError, match=rf"{name}:3: faults\.1\.times: input should be greater"):
            read(tmp_path / name)


def test_the_command_tells_the_line(tmp_path: Path) -> None:
    """Given a file with a mistake / when the command is to add it / then it tells the line, and
    asks no server.
    """
    file = tmp_path / "plan.yaml"
    file.write_text("faults:\n- cut: sometimes\n")
    done = subprocess.run(
        [sys.executable, "-m", "fakekube", "faults", "add", str(file), "--server", "http://127.0.0.1:1"], capture_output=True,
        text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: {file}:2: faults.0.cut: input should be 'before', 'after' or 'body'")


# too much


async def test_there_are_bounds() -> None:
    """Given more rules, more patterns and longer ones than a cluster takes / when they are added at
    once, one by one, and over HTTP / then a sentence says how many it takes, and nothing was added.
    """
    with pytest.raises(FaultError, match="faults: 1,001 are more than the 1,000 that a plan takes"):
        rules_of([{"stale": True}] * 1_001)
    for name in ("names", "namespaces", "clusters", "users", "userAgents", "components", "paths", "resources"):
        with pytest.raises(FaultError, match=r": 1,001 are more than the 1,000 that a rule takes"):
            rule_of({"cut": "before", name: ["/x"] * 1001})
        with pytest.raises(FaultError, match="one has more than 1024 characters"):
            rule_of({"cut": "before", name: "/" + "x" * 1024})
        with pytest.raises(FaultError, match=r"one has more than 32 of \* and \?"):
            rule_of({"cut": "before", name: "/" + "x*" * 33})
    with pytest.raises(FaultError, match=r"101 patterns with \* and \? are more than the 100 that a rule takes"):
        rule_of({"cut": "before", "names": ["a*"] * 60, "users": ["a?"] * 41})
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        cluster.faults.add_all(rules_of([{"stale": True, "optional": True}] * 1_000))
        with pytest.raises(FaultError, match="there are 1,000 faults, and a cluster takes no more"):
            cluster.faults.add(stale=True)
        answer = await ask(cluster, "POST", PATH, {"faults": [{"stale": True}]})
        assert (answer.status, status(answer)["message"]) == (
            400, "1,001 faults are more than the 1,000 that a cluster takes")
        assert len(cluster.faults) == 1_000


async def test_the_largest_patterns_are_searched_for_in_linear_time() -> None:
    """Given a hundred patterns that would take other engines for ever / when a name that nearly
    fits is asked for, by a client whose name is a megabyte / then it is answered.
    """
    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        cluster.faults.add(error="Timeout", names=["*a" * 16 + str(number) for number in range(100)], optional=True)
        cluster.faults.add(error="Timeout", user_agents="*a" * 16 + "b" + "?" * 16, optional=True)
        assert (await create(cluster, "a" * 250)).status == 201
        assert (await ask(cluster, "GET", MAPS, agent="ab" * 500_000)).status == 200


async def test_a_plan_is_read_in_turns() -> None:
    """Given a plan of a thousand rules / when it is sent, and told / then others have their turns
    meanwhile, and no request meets a rule before all hold; of one that is wrong at its end none
    does.
    """
    def plan(last: object) -> dict[str, object]:
        rules: list[object] = [{"name": f"r{number}", "cut": "before", "optional": True} for number in range(999)]
        return {"faults": [*rules, last]}

    async with Cluster(nodes=0, controllers="", clock="manual") as cluster:
        for last, code, count in (({"cut": "soon"}, 400, 0), ({"stale": True, "optional": True}, 200, 1_000)):
            held: list[int] = []
            sending = asyncio.ensure_future(ask(cluster, "POST", PATH, plan(last)))
            while not sending.done():
                held.append(len(cluster.faults))
                await asyncio.sleep(0)
            assert (await sending).status == code
            assert len(cluster.faults) == count
            assert len(held) > 15
            assert set(held) <= {0, count}


# editors


def test_editors_know_what_is_right() -> None:
    """Given the JSON schema / when rules that are read are validated, in the form of files / then
    it takes each, and refuses what is no field, no value, or more than one thing.
    """
    validator = jsonschema.Draft202012Validator(json_schema())
    validator.check_schema(json_schema())
    for rule in [
        {"verbs": "write", "cut": "after", "probability": 0.1}, {"error": "EtcdLeaderChanged", "after": "30s", "until": 35},
        {"userAgents": ["a*"], "stale": True, "behind": 3, "lasting": "5s"},
        {"verbs": ["list", "read"], "latency": 0.5, "nth": [1, 2]},
        {"watch": "late", "lasting": "1m", "events": 2, "every": 2}, {"crash": "job", "moment": "after", "times": 1},
        {"webhook": "refused", "names": "a.example.com"}, {"loseLease": True, "optional": True},
        {"compact": True, "labels": "a=b"},
        {"error": "TooManyRequests", "retryAfterSeconds": 3, "paths": "/openapi/*"},
        {"error": "InternalError", "message": "no", "resources": "pods/*", "namespaces": "a,b", "users": "u"},
    ]:
        assert rule_of(rule)
        validator.validate({"apiVersion": "fakekube.dev/v1", "kind": "FaultPlan", "faults": [{"name": "x", **rule}]})
    for values in (
        {}, {"error": "Conflict", "latency": "1s"}, {"error": "Conflict", "verb": "get"}, {"error": "Nope"}, {"cut": "soon"},
        {"error": "Conflict", "probability": 2}, {"error": "Conflict", "nth": 0}, {"cut": "after", "verbs": ["put"]},
        {"latency": True}, {"cut": "after", "names": {}}, {"stale": "perhaps"},
    ):
        assert [error.message for error in validator.iter_errors({"faults": [values]})], values


# who may send one


@pytest.fixture(scope="module")
def served() -> Any:
    """A cluster on a port."""
    with BackgroundCluster(nodes=0, controllers="") as cluster:
        yield cluster


@pytest.mark.parametrize(("headers", "code"), [
    ({}, 200), ({"Content-Type": "text/plain"}, 415), ({"Origin": "https://evil.example"}, 403), ({"Origin": "null"}, 403),
    ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Host": "evil.example"}, 403), ({"Sec-Fetch-Site": "same-origin"}, 200)])
@pytest.mark.parametrize("method", ["POST", "GET", "DELETE"])
def test_a_page_of_another_site_breaks_nothing(
    served: BackgroundCluster, headers: dict[str, str], code: int, method: str,
) -> None:
    """Given a cluster on a port / when a page of another site, or a form, sends a plan, reads or
    removes those that are at work / then it is refused, as at each of these doors, and nothing
    changes.
    """
    served.faults.clear()
    where = urlsplit(served.url)
    connection = http.client.HTTPConnection(str(where.hostname), where.port or 80, timeout=20)
    body = json.dumps({"faults": [{"stale": True, "optional": True}]}) if method == "POST" else None
    sent = {"Content-Type": "application/json"} | headers if method == "POST" else {
        name: value for name, value in headers.items() if name != "Content-Type"}
    connection.request(method, PATH, body, sent)
    answer = connection.getresponse()
    answer.read()
    assert answer.status == (code if method == "POST" or code != 415 else 200)
    connection.close()
    assert len(list(served.run(lambda cluster: list(cluster.faults)))) == (1 if (method, answer.status) == ("POST", 200) else 0)
