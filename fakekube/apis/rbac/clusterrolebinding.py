"""ClusterRoleBinding: a RoleBinding for the whole cluster."""

from fakekube.apis.rbac.rolebinding import RoleBindingStrategy

STRATEGY = RoleBindingStrategy(namespaced=False)
