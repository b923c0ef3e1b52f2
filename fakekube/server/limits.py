"""How long the head of a request may be; parsers refuse longer ones.

Upstream: net/http's DefaultMaxHeaderBytes.
"""

MAX_HEAD_BYTES = 1 << 20
MAX_HEADERS = 10_000
