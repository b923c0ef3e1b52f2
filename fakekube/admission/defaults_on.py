"""The admission plugins that are on by default: a new plugin is a class and a line here.

Upstream: kubernetes/pkg/kubeapiserver/options/plugins.go (DefaultOffAdmissionPlugins tells the others).
"""

from fakekube.admission.claim_resize import PersistentVolumeClaimResize
from fakekube.admission.defaults import (
    DefaultIngressClass,
    DefaultStorageClass,
    DefaultTolerationSeconds,
    PodGroupProtection,
    PodTopologyLabels,
    StorageObjectInUseProtection,
    TaintNodesByCondition,
)
from fakekube.admission.limit_ranger import LimitRanger
from fakekube.admission.namespace_lifecycle import NamespaceLifecycle
from fakekube.admission.plugin import Plugin
from fakekube.admission.pod_resize import PodResizeValidator
from fakekube.admission.pod_security import PodSecurity
from fakekube.admission.priority import Priority
from fakekube.admission.resource_quota import ResourceQuota
from fakekube.admission.runtime_class import RuntimeClass
from fakekube.admission.service_account import ServiceAccount


def plugins() -> list[Plugin]:
    """One of each, in the order in which they run."""
    return [
        NamespaceLifecycle(), LimitRanger(), ServiceAccount(), TaintNodesByCondition(), PodSecurity(),
        Priority(), DefaultTolerationSeconds(), DefaultStorageClass(), StorageObjectInUseProtection(),
        PodGroupProtection(), PersistentVolumeClaimResize(), RuntimeClass(), DefaultIngressClass(),
        PodTopologyLabels(), PodResizeValidator(), ResourceQuota(),
    ]
