"""Time, tasks, randomness and a count of work in flight; nothing here knows Kubernetes.

Read ``clock.py`` first, then ``driver.py``, which moves virtual time. This is the only package that
may use ``time``, ``random`` and asyncio's own sleeping and task creation.
"""
