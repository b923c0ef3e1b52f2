"""Groups that pods belong to are not deleted under them. Read ``controller.py``.

Upstream: pkg/controller/scheduling/podgroupprotection.
"""
