"""Plain pods, single or in groups, that wait for their admission behind a scheduling gate.

Read ``controller.py`` for what becomes of them, ``groups.py`` for the rules of a group, and
``webhook.py`` for how they come to wait. Upstream: pkg/controller/jobs/pod (KEP-976).
"""
