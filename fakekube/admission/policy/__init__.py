"""Admission policies: expressions that decide about writes, or change them.

Read validating.py first, then mutating.py. Upstream: apiserver/pkg/admission/plugin/policy. Left
out: static manifests.
"""
