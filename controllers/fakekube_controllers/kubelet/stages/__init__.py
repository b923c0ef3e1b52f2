"""KWOK's Stages: pods and nodes live as data says.

Read ``stage.py``, ``manifest.py``, then ``player.py``.

Upstream: sigs.k8s.io/kwok, pkg/utils/lifecycle and pkg/kwok/controllers. Left out: Stages of other
kinds than Pod and Node, CEL, impersonation, and templates beyond what ``template.py`` says. Queries
need the extra ``kwok``.
"""
