"""Finished Jobs go when ``ttlSecondsAfterFinished`` have passed. Read ``controller.py``.

Upstream: pkg/controller/ttlafterfinished. Left out: metrics.
"""
