"""KubeSchedulerConfiguration: which profiles there are, with which plugins, weights and arguments.

Upstream: pkg/scheduler/apis/config, k8s.io/kube-scheduler/config/v1. Read ``model.py`` first.
"""
