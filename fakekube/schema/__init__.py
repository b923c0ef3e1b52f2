"""What fields a kind has, and what becomes of a body that is to be one.

Read ``structural`` first, then ``decode``.

``definitions`` opens the tables of a Kubernetes release, ``fields`` makes definitions of kinds that
no release has, ``compile`` turns a schema into readers (``scalars``, ``composites``) that answer as
Go's typed decoding would, ``duplicates`` and ``yaml`` read the forms a body comes in.

Upstream: sigs.k8s.io/json and sigs.k8s.io/yaml for bodies, kube-openapi and the structural schemas
of apiextensions.
"""
