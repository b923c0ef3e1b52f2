"""Deployments: their pods are single pods that wait, each for itself.

There is no controller: the webhook puts into the template what lets the pods wait. Upstream:
pkg/controller/jobs/deployment.
"""
