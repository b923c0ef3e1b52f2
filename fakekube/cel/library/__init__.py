"""The functions that Kubernetes adds to CEL, one module a library.

Upstream: apiserver/pkg/cel/library and cel-go's ext.
"""
