"""What every namespace is given: the service account ``default`` and the cluster's CA in a ConfigMap.

Read ``controller.py`` first. Upstream: pkg/controller/serviceaccount, pkg/controller/certificates/rootcacertpublisher.
"""
