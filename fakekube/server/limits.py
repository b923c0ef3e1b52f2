"""How long the head of a request may be, and how long it may take to come.

Parsers refuse longer ones. Upstream: net/http's DefaultMaxHeaderBytes, and the ReadHeaderTimeout of
apiserver/pkg/server/secure_serving.go.
"""

MAX_HEAD_BYTES = 1 << 20
MAX_HEADERS = 10_000
READ_HEAD_SECONDS = 32.0
