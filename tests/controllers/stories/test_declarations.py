"""How controllers are declared: name, account, queue, what they are for and start with."""

from importlib import import_module
from typing import Any, cast

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.runtime.builder import Declaration
from fakekube_controllers.disruption import component as disruption
from fakekube_controllers.endpoints import for_endpoints, for_slices
from fakekube_controllers.ephemeralvolume import component as ephemeral
from fakekube_controllers.namespace import component as namespace
from fakekube_controllers.resourceclaim import component as resourceclaim
from fakekube_controllers.serviceaccount import for_tokens
from fakekube_controllers.tainteviction import component as tainteviction
from fakekube_controllers.volumeprovisioner import component as volumeprovisioner

CLAIMS, VOLUMES, REQUESTS = "persistentvolumeclaims", "persistentvolumes", "certificatesigningrequests"
STATUS, CLASSES = "validatingadmissionpolicystatus", "volumeattributesclasses"
DECLARED = """
deployment component deployment deployment-controller - deployments deployments controller:DeploymentReconciler
replicaset replica_sets replicaset replicaset-controller - replicasets replicasets controller:ReplicaSetReconciler
replicaset replication_controllers replicationcontroller replication-controller - replicationcontrollers \
replicationcontrollers controller:ReplicationReconciler
disruption component disruption disruption-controller - poddisruptionbudgets poddisruptionbudgets,pods* \
controller:DisruptionReconciler
statefulset component statefulset statefulset-controller - statefulsets statefulsets controller:StatefulSetReconciler
daemonset component daemonset daemon-set-controller - daemonsets daemonsets controller:DaemonSetReconciler
nodelifecycle component nodelifecycle node-controller - - nodes controller:NodeLifecycleReconciler
tainteviction component tainteviction node-controller - - nodes* controller:TaintEvictionReconciler
ttl component ttl ttl-controller - - nodes controller:NodeTTL
endpoints for_endpoints endpoint endpoint-controller - services services*,endpoints endpointscontroller:EndpointsReconciler
endpoints for_slices endpointslice endpointslice-controller endpoint_slice services services* \
slicecontroller:EndpointSliceReconciler
endpoints for_mirrors endpointslicemirroring endpointslicemirroring-controller endpoint_slice_mirroring - endpoints \
mirroring:MirroringReconciler
serviceaccount component serviceaccount service-account-controller - - namespaces,serviceaccounts,configmaps \
controller:NamespaceDefaultsReconciler
serviceaccount for_tokens serviceaccount-token - serviceaccount_tokens_secret - secrets* tokens:TokenReconciler
podautoscaler component horizontalpodautoscaling horizontal-pod-autoscaler horizontalpodautoscaler - \
horizontalpodautoscalers controller:HorizontalReconciler
certificates for_signing csrsigning certificate-controller - {REQUESTS} {REQUESTS} signing:SigningReconciler
certificates for_approving csrapproving certificate-controller - {REQUESTS} {REQUESTS} approving:ApprovingReconciler
certificates for_cleaning csrcleaner certificate-controller - {REQUESTS} {REQUESTS} cleaner:CleanerReconciler
{STATUS} component validatingadmissionpolicy-status validatingadmissionpolicy-status-controller - \
validatingadmissionpolicies validatingadmissionpolicies controller:PolicyStatusReconciler
namespace component namespace namespace-controller - - namespaces* controller:NamespaceReconciler
clusterroleaggregation component clusterroleaggregation clusterrole-aggregation-controller ClusterRoleAggregator - \
clusterroles controller:ClusterRoleReconciler
persistentvolume component persistentvolume-binder persistent-volume-binder - - {CLAIMS},{VOLUMES} \
controller:PersistentVolumeBinder
pvprotection component persistentvolume-protection pv-protection-controller - {VOLUMES} {VOLUMES} \
controller:VolumeReconciler
pvcprotection component persistentvolumeclaim-protection pvc-protection-controller pvcprotection - {CLAIMS} \
controller:ClaimReconciler
vacprotection component volumeattributesclass-protection volumeattributesclass-protection-controller - - {CLASSES} \
controller:ClassReconciler
volumeprovisioner component volume-provisioner - - - {CLAIMS}*,{VOLUMES}* controller:VolumeProvisioner
ephemeralvolume component ephemeral-volume ephemeral-volume-controller - - pods* controller:EphemeralVolumes
resourceclaim component resourceclaim resource-claim-controller - - pods* controller:ResourceClaims
podgc component podgc pod-garbage-collector - - pods controller:PodGarbageCollector
resourcequota component resourcequota resourcequota-controller - - resourcequotas controller:QuotaReconciler
podgroupprotection component podgroup-protection podgroup-protection-controller - - - controller:PodGroupProtection
"""
ROWS = [line.format(CLAIMS=CLAIMS, VOLUMES=VOLUMES, REQUESTS=REQUESTS, STATUS=STATUS, CLASSES=CLASSES).split()
        for line in DECLARED.strip().splitlines()]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row[0]}.{row[1]}")
def test_how_a_controller_is_declared(row: list[str]) -> None:
    """Given a package / then its controller has this name, account in kube-system and queue, is for
    this resource, starts with the first object of these (* with some of them), and is this class.
    """
    package, attribute, name, account, queue, primary, starts, path = row
    found: Declaration = getattr(import_module(f"fakekube_controllers.{package}"), attribute)
    *more, made = cast("Any", found.make).args
    user = found.options.user
    triggers = [f"{one[0].plural}*" if isinstance(one, tuple) and callable(one[-1]) else cast("Any", one).plural
                for one in found.starts_with or ()]
    sources = [source.resource.plural for source in (more[1] if more else ())]
    assert (found.name, user.name if user else "-", found.options.queue or "-", ",".join(sources) or "-",
        ",".join(triggers) or "-") == (
        name, "-" if account == "-" else f"system:serviceaccount:kube-system:{account}", queue, primary, starts)
    module, _, kind = path.partition(":")
    assert made == f"fakekube_controllers.{package}.{module}:{kind}"
    assert callable(getattr(import_module(f"fakekube_controllers.{package}.{module}"), kind))
    assert found.options.user_agent == ("fakekube-provisioner" if package == "volumeprovisioner" else "kube-controller-manager")
    assert (found.options.limiter is None) is (attribute != "for_slices")


def test_the_back_off_of_slices() -> None:
    """Given a Service whose slices cannot be written / then it is tried after 1 s, then 2, up to
    1,000.
    """
    limiter = cast("Any", for_slices.options.limiter)(None)
    assert [limiter.when("k") for _ in range(12)] == [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1000, 1000]


def tainted(effect: str) -> Tree:
    return {"spec": {"taints": [{"key": "k", "effect": "NoSchedule"}, {"key": "k", "effect": effect}]}}


def annotated(key: str, value: str) -> Tree:
    return {"metadata": {"annotations": {key: value}}}


PROVISIONER = "fakekube.dev/provisioner"
GOING = {"metadata": {"deletionTimestamp": "t"}}
WITH_CLAIMS: Tree = {"spec": {"resourceClaims": [{}]}}
DISRUPTED = {"status": {"conditions": [{"type": "DisruptionTarget", "status": "True"}]}}
STAYING = {"status": {"conditions": [{"type": "DisruptionTarget", "status": "False"}]}}


@pytest.mark.parametrize(("declaration", "place", "yes", "no"), [
    (disruption, 1, [DISRUPTED], [STAYING, {}]), (tainteviction, 0, [tainted("NoExecute")],
        [tainted("NoSchedule"), {"spec": {}}]),
    (for_endpoints, 0, [{"spec": {"selector": {"a": "b"}}}], [{"spec": {}}, {"spec": {"selector": {}}}]),
    (for_slices, 0, [{"spec": {"selector": {"a": "b"}}}], [{"spec": {}}]), (namespace, 0, [GOING], [{"metadata": {}}]),
    (for_tokens, 0, [{"type": "kubernetes.io/service-account-token"}], [{"type": "Opaque"}, {}]),
    (volumeprovisioner, 0, [annotated("volume.kubernetes.io/storage-provisioner", PROVISIONER)], [annotated("x", PROVISIONER)]),
    (volumeprovisioner, 1, [annotated("pv.kubernetes.io/provisioned-by", PROVISIONER)], [annotated("x", PROVISIONER)]),
    (ephemeral, 0, [{"spec": {"volumes": [{"emptyDir": {}}, {"ephemeral": {}}]}}], [{"spec": {"volumes": [{}]}}, {"spec": {}}]),
    (resourceclaim, 0, [WITH_CLAIMS], [{"spec": {}}])])
def test_what_a_controller_starts_with(declaration: Declaration, place: int, yes: list[Tree], no: list[Tree]) -> None:
    """Given objects / then only those that make work start the controller."""
    tells = cast("Any", declaration.starts_with)[place][1]
    assert [bool(tells(one)) for one in [*yes, *no]] == [True] * len(yes) + [False] * len(no)
