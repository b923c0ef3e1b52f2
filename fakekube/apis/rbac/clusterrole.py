"""ClusterRole: a Role for the whole cluster, which may speak of paths too and be put together from
others.
"""

from fakekube.apis.rbac.role import RoleStrategy

STRATEGY = RoleStrategy(namespaced=False)
