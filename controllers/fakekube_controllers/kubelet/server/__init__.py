"""What a kubelet serves to the API server: logs, usage, exec, attach and port-forward. Upstream: pkg/kubelet/server."""
