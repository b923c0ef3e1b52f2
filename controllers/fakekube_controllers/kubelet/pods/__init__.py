"""The life of pods on their nodes. Upstream: pkg/kubelet/pod_workers.go, pkg/kubelet/status, pkg/kubelet/lifecycle."""
