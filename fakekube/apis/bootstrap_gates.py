"""What feature gates add to the roles of ``bootstrap.txt``, in its notation.

``gate NAME``, and below it roles and bindings of their own, or ``rules ROLE,...`` and what those
roles have besides. No recording of a fresh cluster shows it, so it is written by hand. Upstream:
plugin/pkg/auth/authorizer/rbac/bootstrappolicy.
"""

TABLE = """\
gate GenericWorkload
rules admin,edit,system:aggregate-to-edit
  create,delete,deletecollection,patch,update scheduling.k8s.io podgroups,workloads
rules admin,edit,system:aggregate-to-view,view
  get,list,watch scheduling.k8s.io podgroups,podgroups/status,workloads
rules system:kube-scheduler
  get,list,watch scheduling.k8s.io podgroups
  patch,update scheduling.k8s.io podgroups/status
clusterrole system:controller:podgroup-protection-controller
  get,list,update,watch scheduling.k8s.io podgroups
  get,list,watch - pods
clusterrolebinding system:controller:podgroup-protection-controller ClusterRole/system:controller:podgroup-protection-controller sa=kube-system/podgroup-protection-controller
gate CompositePodGroup
rules admin,edit,system:aggregate-to-edit
  create,delete,deletecollection,patch,update scheduling.k8s.io compositepodgroups
rules admin,edit,system:aggregate-to-view,view
  get,list,watch scheduling.k8s.io compositepodgroups,compositepodgroups/status
rules system:kube-scheduler
  get,list,watch scheduling.k8s.io compositepodgroups
  patch,update scheduling.k8s.io compositepodgroups/status
gate WorkloadWithJob
rules system:controller:job-controller
  create,get,list,patch,update,watch scheduling.k8s.io podgroups,workloads
gate DRAWorkloadResourceClaims
rules system:controller:resource-claim-controller
  get,list,watch scheduling.k8s.io podgroups
  patch,update scheduling.k8s.io podgroups/status
"""  # noqa: E501 - a row of the table
