"""API group metrics.k8s.io, which metrics-server adds to a cluster: what nodes and pods use."""
