"""What both sides of the wire share: names of things, errors, requests and answers.

Read ``http.py`` first. Upstream: k8s.io/apimachinery.
"""
