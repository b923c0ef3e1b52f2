"""Nodes: their registration, status, leases and addresses. Read ``agent.py`` first.

Upstream: pkg/kubelet/kubelet_node_status.go.
"""
