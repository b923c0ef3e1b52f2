"""Pods leave nodes whose NoExecute taints they do not tolerate, or tolerate only for a while. Read ``controller.py``."""
