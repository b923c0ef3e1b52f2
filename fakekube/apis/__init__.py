"""The built-in kinds, one folder an API group: how each is declared, validated, defaulted and
printed.

Read ``declaration.py`` first, then ``coordination``, the smallest group. Upstream: pkg/apis,
pkg/registry, pkg/printers.
"""
