"""A local, read-only copy of what the server holds, kept up to date by watching.

Upstream: client-go/tools/cache.

Read ``informer.py`` first. Objects in a cache are plain trees that everybody shares: never change
one.
"""
