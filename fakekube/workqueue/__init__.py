"""Queues of keys for controllers: deduplicated, delayed, rate limited.

Upstream: client-go/util/workqueue.

Guarantees: a key is in the queue at most once; one key is never processed twice at a time; a key
that is added while it is processed is processed again after. Keys come out in the order in which
they were first added.
"""
