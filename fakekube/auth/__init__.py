"""Who somebody is, and what they may do.

Read ``authorizer.py`` first. Upstream: apiserver/pkg/authentication and authorization,
pkg/serviceaccount.
"""
