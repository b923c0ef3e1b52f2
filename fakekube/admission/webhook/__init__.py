"""Admission webhooks: configurations, the reviews that are sent, and what becomes of the answers.

Read dispatch.py first. Upstream: apiserver/pkg/admission/plugin/webhook.
"""
