"""The secrets of a cluster, how somebody outside records it, and the names that packages give."""

from importlib import import_module
from pathlib import Path
from typing import Any

import orjson
import pytest

import fakekube
import fakekube.testing
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.http import Request, Response, UserInfo
from fakekube.composition import recordingpath
from fakekube.composition.identity import Identity
from fakekube.composition.options import ClusterOptions, OptionError
from fakekube.composition.recordingpath import RecordingPath

NAMES = {
    "background": ["BackgroundCluster"], "claims": ["Always", "Eventually", "LeadsTo", "Never", "Until"],
    "history": ["Change", "History", "HistoryForgotten", "State"], "incluster": ["in_cluster"],
    "records": ["assert_event", "assert_no_event", "assert_requested", "events", "requests"], "runningclaims": ["checking"],
    "temporal": ["HistoryError", "always", "eventually", "leads_to", "never", "run_until", "until"],
    "timelines": ["Timeline", "timeline"],
}


def test_names_that_packages_give() -> None:
    """Given the packages that tests import, when a name is taken from them, then it is the one of
    its module; any other is told as Python does.
    """
    assert sorted(fakekube.testing.__all__) == sorted(name for names in NAMES.values() for name in names)
    for module, names in NAMES.items():
        for name in names:
            found = import_module(f"fakekube.testing.{module}")
            assert getattr(fakekube.testing, name) is getattr(found, name)
    assert fakekube.Cluster is import_module("fakekube.composition.cluster").Cluster
    assert fakekube.__all__ == ["Cluster", "__version__"]
    for package, name in ((fakekube, "fakekube"), (fakekube.testing, "fakekube.testing")):
        with pytest.raises(AttributeError) as refused:
            getattr(package, "nothing")  # noqa: B009 - a type checker would refuse it
        assert str(refused.value) == f"module {name!r} has no attribute 'nothing'"


def test_tokens_follow_from_the_seed() -> None:
    """Given two clusters of one seed, when their tokens are compared, then they are the same, and
    others than those of another seed; each user has one, again and again.
    """
    one, same, other = (Identity(ClusterOptions.of(seed=seed)) for seed in (3, 3, 4))
    assert one.token == same.token != other.token
    assert (one.token[:9], len(one.token)) == ("fakekube-", 25)
    assert one.token == "fakekube-" + one.token[9:]
    assert list(one.tokens) == [one.token]
    assert (one.tokens[one.token].name, one.tokens[one.token].groups[0]) == ("kubernetes-admin", "system:masters")
    users = [UserInfo("a", ("b",)), UserInfo("a", ()), UserInfo("a", ("b",))]
    tokens = [one.token_for(user) for user in users]
    assert tokens[0] == tokens[2] == same.token_for(users[0]) != tokens[1]
    assert other.token_for(users[0]) != tokens[0]
    assert (tokens[0][:9], len(tokens[0])) == ("fakekube-", 41)
    assert one.tokens[tokens[1]] == users[1]
    assert (one.front_proxy(), one.client_authorities, one.has_tls) == (None, "", False)


@pytest.mark.parametrize(("options", "nobody", "is_open"), [
    ({}, "kubernetes-admin", True), ({"anonymous_auth": False}, None, True), ({"anonymous_auth": True}, "system:anonymous", True),
    ({"authorization_mode": "RBAC"}, "system:anonymous", False),
    ({"authorization_mode": "RBAC", "anonymous_auth": False}, None, False),
])
def test_who_asks_without_credentials(options: dict[str, Any], nobody: str | None, is_open: bool) -> None:
    """Given a cluster, when somebody asks without credentials, then it is who the options say."""
    found = Identity(ClusterOptions.of(**options)).credentials
    assert (found[2] and found[2].name, found[3]) == (nobody, is_open)


def test_authorities_of_clients(tmp_path: Path) -> None:
    """Given a file of authorities, when it is read, then it ends with a line; what holds none is
    told.
    """
    file = tmp_path / "ca"
    for text in ("-----BEGIN CERTIFICATE-----\nx", "-----BEGIN CERTIFICATE-----\nx\n"):
        file.write_text(text)
        assert Identity(ClusterOptions.of(client_ca_file=file)).client_authorities == "-----BEGIN CERTIFICATE-----\nx\n"
    for data, told in ((b"x", f"{file} holds no certificate in PEM"),
                       (b"\xff", f"{file}: 'utf-8' codec can't decode byte 0xff in position 0: invalid start byte")):
        file.write_bytes(data)
        with pytest.raises(OptionError) as refused:
            Identity(ClusterOptions.of(client_ca_file=file))
        assert str(refused.value) == f"client_ca_file: {told}"


class Recorded:
    """A cluster that is recorded, or not."""

    def __init__(self) -> None:
        self.recorders: list[Any] = []
        self.is_recorded = False
        self.path = RecordingPath(self.recorders.append, lambda: self.is_recorded)

    def ask(self, method: str, **body: Any) -> Response:
        return self.path.answer(Request(method, "/fakekube/v1/recording", {}, {}, orjson.dumps(body) if body else b"", None))

    def refused(self, method: str, **body: Any) -> tuple[int, str]:
        with pytest.raises(APIError) as refused:
            self.ask(method, **body)
        return refused.value.code, refused.value.message


def test_somebody_records(monkeypatch: pytest.MonkeyPatch) -> None:
    """Given somebody who records, when lines come and are taken, then each comes once; more than is
    kept is lost, which is said, and after the end there is nothing.
    """
    monkeypatch.setattr(recordingpath, "MOST_BYTES", 10)
    cluster = Recorded()
    nobody = 400, "nobody records this cluster"
    assert [cluster.refused("GET"), cluster.refused("POST", stop=True)] == [nobody, nobody]
    for body in ({"secrets": True}, {"start": True, "stop": True}, {"start": "no"}):
        assert cluster.refused("POST", **body) == (400, "give either start or stop")
    assert cluster.refused("PUT", start=True)[0] == 405
    assert cluster.ask("POST", start=True).body == b'{"recording":true}'
    for data in (b"12345", b"67890", b"x"):
        cluster.path._keep(data)
    taken = cluster.ask("GET")
    assert (taken.body, taken.content_type, dict(taken.headers)) == (
        b"1234567890", "application/x-ndjson",
        {"Warning": '299 - "1 bytes of the recording are lost: nobody took them"'})
    cluster.path._keep(b"y")
    again = cluster.ask("GET")
    assert (again.body, dict(again.headers), cluster.ask("GET").body) == (b"y", {}, b"")
    cluster.is_recorded = True
    assert cluster.refused("POST", start="TRUE") == (400, "this cluster is recorded already")
    assert cluster.ask("POST", stop="true").body == b'{"recording":false}'
    assert [recorder is None for recorder in cluster.recorders] == [False, True]
    assert cluster.refused("GET") == nobody
