"""What fields a kind has, and what becomes of a body that is to be one.

Read ``structural`` first, then ``decode``.

``definitions`` opens the tables of a Kubernetes release, ``fields`` makes definitions of kinds that
no release has, ``compile`` turns a schema into readers (``scalars``, ``composites``) that answer as
Go's typed decoding would. The forms a body comes in are read by ``apimachinery``: ``duplicates``
and ``yaml``.

Upstream: sigs.k8s.io/json for bodies, kube-openapi and the structural schemas of apiextensions.
"""
