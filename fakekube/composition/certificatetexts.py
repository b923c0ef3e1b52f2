"""What Go says of a server's certificate that it does not trust.

Python's error names neither the names in the certificate nor its dates, so the certificate is
looked at once more, on a connection of its own. Upstream: crypto/x509 verify.go.
"""

import asyncio
import ipaddress
import ssl
from urllib.parse import urlsplit

PREFIX = "tls: failed to verify certificate: x509: "
UNKNOWN_AUTHORITY = "certificate signed by unknown authority"
_EXPIRED, _NOT_YET = 10, 9
_MISMATCHES = (62, 64)
LOOK_SECONDS = 2.0


async def told(error: Exception, host: str, address: str, context: ssl.SSLContext) -> str:
    """The text of a refusal to trust the server of the name ``host`` at ``address``.

    ``context`` is one that nobody else uses, trusting the same authorities.
    """
    code = getattr(error, "verify_code", 0)
    if code == _EXPIRED:
        return f"{PREFIX}certificate has expired or is not yet valid: certificate has expired"
    if code == _NOT_YET:
        return f"{PREFIX}certificate has expired or is not yet valid: certificate is not yet valid"
    if code in _MISMATCHES:
        return PREFIX + _mismatch(host, await _names(address, context))
    return PREFIX + UNKNOWN_AUTHORITY


def _mismatch(host: str, names: list[tuple[str, str]]) -> str:
    kind = "IP Address" if _is_address(host) else "DNS"
    valid = [name for found, name in names if found == kind]
    if valid:
        return f"certificate is valid for {', '.join(valid)}, not {host}"
    if kind == "IP Address":
        return f"cannot validate certificate for {host} because it doesn't contain any IP SANs"
    if not names:
        return "certificate relies on legacy Common Name field, use SANs instead"
    return f"certificate is not valid for any names, but wanted to match {host}"


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


async def _names(address: str, context: ssl.SSLContext) -> list[tuple[str, str]]:
    """Kinds and names that the server's certificate holds for; none when it cannot be seen again.
    """
    context.check_hostname = False
    parts = urlsplit(f"//{address}")
    try:
        async with asyncio.timeout(LOOK_SECONDS):
            _, writer = await asyncio.open_connection(
                parts.hostname, parts.port or 443, ssl=context, server_hostname=parts.hostname)
    except (OSError, TimeoutError):
        return []
    certificate = writer.get_extra_info("peercert") or {}
    writer.close()
    return [(str(kind), str(name)) for kind, name in certificate.get("subjectAltName", ())]
