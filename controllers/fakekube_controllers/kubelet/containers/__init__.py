"""One container, as a state machine over time. Read ``container.py`` first. Upstream:
pkg/kubelet/kuberuntime, images, prober.
"""
