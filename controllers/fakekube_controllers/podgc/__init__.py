"""Pods that nobody else would remove. Read ``controller.py``. Upstream: pkg/controller/podgc. Left out: metrics."""
