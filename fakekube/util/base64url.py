"""Base64 for URLs without padding (RFC 4648, 5), as JSON web tokens have it."""

import base64
import binascii


def encoded(data: bytes) -> str:
    """Bytes as a text."""
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def decoded(text: str) -> bytes | None:
    """The bytes of a text; None for what is none."""
    try:
        return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
