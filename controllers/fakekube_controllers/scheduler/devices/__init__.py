"""Which devices ResourceClaims get on a node: structured parameters of dynamic resource allocation.

Plain functions over ResourceSlices, DeviceClasses, claims, and what is allocated already; the
plugin DynamicResources asks them. It is imported with the first pod that has claims. Upstream:
dynamic-resource-allocation/structured. Left out: derived attributes, compatibility groups and
skipped node operations, which are alpha.
"""
