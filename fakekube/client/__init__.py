"""One client over any transport: a Handler in this process, or a server behind a URL.

Read ``client.py`` first. Upstream: client-go's dynamic client, rest, and tools/record.
"""
