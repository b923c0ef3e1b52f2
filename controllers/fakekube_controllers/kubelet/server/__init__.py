"""What a kubelet serves to the API server: logs, usage, exec, attach and port-forward. Read
``server.py`` first.

Upstream: pkg/kubelet/server.
"""
