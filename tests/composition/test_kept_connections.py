"""Connections to servers that are asked: what is kept for the next request, and what is noted."""

import ssl
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest

from fakekube.composition import aggregatedservers, certificatetexts, httppool
from fakekube.composition.httppool import HTTPPool, Reused
from fakekube.util.certificates import CertificateAuthority


async def test_a_session_notes_connections_that_are_used_again() -> None:
    """Given a session, when a request uses a connection again, then its Reused says so; it keeps no
    cookies and sets no limit to time or connections.
    """
    session: Any = httppool._new_session()
    (trace,) = session.trace_configs
    assert list(trace.on_connection_reuseconn) == [httppool._note]
    context: Any = SimpleNamespace(trace_request_ctx=Reused())
    before = context.trace_request_ctx.connection
    await httppool._note(None, context, None)
    assert (before, context.trace_request_ctx.connection) == (False, True)
    assert (session.connector.limit, session.timeout.total, session.timeout.sock_connect) == (0, None, None)
    assert isinstance(session.cookie_jar, aiohttp.DummyCookieJar)
    await session.close()


def test_contexts_are_kept_by_whom_they_trust() -> None:
    """Given a pool, when it is to trust the same again, then it has the same context, prepared
    once; another trust has another, and only where any certificate will do nothing is checked.
    """
    prepared: list[ssl.SSLContext] = []
    pool = HTTPPool(prepared.append)
    strict, lax = pool._context((b"", False)), pool._context((b"", True))
    assert pool._context((b"", False)) is strict
    assert prepared == [strict, lax]
    assert [(each.check_hostname, each.verify_mode) for each in (strict, lax)] == [
        (True, ssl.CERT_REQUIRED), (False, ssl.CERT_NONE)]


def test_what_an_api_server_shows_of_itself() -> None:
    """Given a context, when there is a certificate to show, then it is loaded; else nothing is."""
    loaded: list[str] = []

    class Context:
        """Notes what is in the file that it is to load."""

        def load_cert_chain(self, name: str) -> None:
            with open(name, encoding="utf-8") as file:  # noqa: PTH123 - as ssl has it
                loaded.append(file.read())

    context: Any = Context()
    signed: Any = SimpleNamespace(key=b"KEY\n", certificate=b"CERT\n")
    aggregatedservers._show(context, signed)
    aggregatedservers._show(context, None)
    assert loaded == ["KEY\nCERT\n"]


def test_a_bundle_is_trusted_root_or_not() -> None:
    """Given a bundle, when it is to be trusted, then its certificates are, and no other."""
    context = httppool._context_of(CertificateAuthority(b"seed").certificate.encode())
    assert len(context.get_ca_certs()) == 1
    assert context.verify_flags & ssl.VERIFY_X509_PARTIAL_CHAIN
    assert (context.check_hostname, context.verify_mode) == (True, ssl.CERT_REQUIRED)


@pytest.mark.parametrize(("host", "is_address"), [
    ("10.0.0.1", True), ("::1", True), ("a.b", False), ("10.0.0", False), ("", False),
])
def test_names_and_addresses(host: str, is_address: bool) -> None:
    """Given a host, when its certificate is looked at, then it is an address or a name."""
    assert certificatetexts._is_address(host) is is_address


async def test_a_server_that_cannot_be_seen_again(unused_tcp_port: int) -> None:
    """Given a server that is gone, when its certificate is to be seen, then there are no names."""
    context = httppool._context_of(b"")
    assert await certificatetexts._names(f"127.0.0.1:{unused_tcp_port}", context) == []
    assert context.check_hostname is False
