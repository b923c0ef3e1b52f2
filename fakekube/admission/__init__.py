"""Admission: what a write must pass besides validation, and what is filled in on the way.

Read chain.py first, then namespace_lifecycle.py, the smallest plugin that refuses. Upstream:
apiserver/pkg/admission and kubernetes/plugin/pkg/admission. configured.py is where webhooks and
policies begin. Left out: ImagePolicyWebhook.
"""
