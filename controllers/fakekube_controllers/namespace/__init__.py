"""The namespace controller: a namespace that is deleted loses its content, pods first, and then itself.

Read ``controller.py`` first. Upstream: pkg/controller/namespace.
"""
