"""Time, tasks, randomness and bookkeeping of what is in flight; nothing here knows Kubernetes.

Read ``clock.py`` first, then ``driver.py``, which moves virtual time. This is the only package that may touch
``time``, ``random`` and ``asyncio``'s own sleeping and task creation.
"""
