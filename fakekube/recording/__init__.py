"""What clients ask of a cluster, written down.

Read ``recorder.py`` first, then ``lines.py`` (the file). Upstream has no counterpart;
kube-apiserver's audit log comes closest.
"""
