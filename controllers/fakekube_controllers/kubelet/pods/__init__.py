"""The life of pods on their nodes. Read ``workers.py`` first. Upstream: pkg/kubelet/pod_workers.go,
pkg/kubelet/status, pkg/kubelet/lifecycle.
"""
