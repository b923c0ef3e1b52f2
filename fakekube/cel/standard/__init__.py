"""The standard library of CEL: operators, conversions, functions of texts and times.

Read ``library`` first. Upstream: common/stdlib/standard.go and the methods of common/types.
"""
