"""By which names a server may be called over TLS."""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.composition import serving
from fakekube.composition.serving import Served


def test_hosts_that_are_let_in_are_in_the_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    """given a server with names of its own, and hosts that are let in, when it is made, then its
    certificate is for all of them, but not for any host
    """
    asked: list[list[str]] = []
    monkeypatch.setattr(serving, "_tls", lambda _identity, names: asked.append([*names]))
    monkeypatch.setattr(serving, "HttpServer", lambda *_, **__: None)
    identity: Any = SimpleNamespace(has_tls=False, token="t", root_ca="")
    for allowed in (["a.example", "*", "b.example"], ["*"], []):
        nothing: Any = None
        Served(
            nothing, identity=identity, clock=nothing, activity=nothing, host="127.0.0.1", port=0, compresses=lambda: True,
            allow_hosts=allowed, names=["own.example"])
    assert asked == [["127.0.0.1", "own.example", "a.example", "b.example"], ["127.0.0.1", "own.example"],
                     ["127.0.0.1", "own.example"]]
