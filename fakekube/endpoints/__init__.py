"""From a request to an answer, for every verb: what was asked, in which form, from which body.

Read ``write.py`` first, then ``reading.py``; ``bodies.py`` and ``negotiation.py`` hold the two ways
through an object's form. Upstream: apiserver/pkg/endpoints.
"""
