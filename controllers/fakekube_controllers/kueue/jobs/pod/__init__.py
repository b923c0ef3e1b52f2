"""Plain pods, single or in groups, that wait for their admission behind a scheduling gate.

``groups.py`` has the rules of a group. Upstream: pkg/controller/jobs/pod (KEP-976).
"""
