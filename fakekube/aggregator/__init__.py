"""Aggregated APIs: versions of API groups that another server answers, or a Handler of this
process.

Read ``apiservices.py`` first. Upstream: k8s.io/kube-aggregator. Left out: connections that
are upgraded.
"""
