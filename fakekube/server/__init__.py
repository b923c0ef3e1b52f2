"""A Handler on a port: HTTP, WebSocket, and the kubeconfig that leads there.

Read ``http.py`` first. Upstream: net/http behind apiserver/pkg/server.
"""
