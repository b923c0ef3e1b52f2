"""A small, right object of every kind that can be created, as far as its versions agree, and else
by version.
"""


from fakekube.apimachinery.types import Tree
from fakekube.registry.kind import Kind

CONTAINER = {"name": "main", "image": "registry.example/app:1"}
LABELS = {"app": "specimen"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [CONTAINER]}}
ENDING = {"spec": {"restartPolicy": "Never", "containers": [CONTAINER]}}
WORKLOAD = {"spec": {"selector": {"matchLabels": LABELS}, "template": TEMPLATE}}
ROLE = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view"}
HOOK = {"name": "a.specimen.dev", "sideEffects": "None", "admissionReviewVersions": ["v1"], "failurePolicy": "Ignore",
        "clientConfig": {"url": "https://127.0.0.1:1"}}
MATCHING = {"resourceRules": [{
    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}
SCALED = {"maxReplicas": 3, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"}}
POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
VOLUME = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/tmp"}}
CLAIM = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
DEVICE = {"name": "a", "exactly": {"deviceClassName": "c.specimen.dev"}}
OLDER_DEVICE = {"name": "a", "deviceClassName": "c.specimen.dev"}
SLICE = {"driver": "d.specimen.dev", "nodeName": "n", "pool": POOL}
CRD = {"group": "specimen.dev", "scope": "Namespaced", "names": {"plural": "things", "kind": "Thing"}, "versions": [
    {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}]}
ACCESS = {"resourceAttributes": {"namespace": "default", "verb": "get", "resource": "pods"}}
NAMES = {  # of kinds that do not take any
    "IPAddress": "192.0.2.1", "APIService": "v1.specimen.dev", "CustomResourceDefinition": "things.specimen.dev",
    "StorageVersion": "specimen.things",
}

# By kind, or by version and kind where versions differ.
AUTHORITY = (
    "MIIBHDCBwqADAgECAgEBMAoGCCqGSM49BAMCMA0xCzAJBgNVBAMMAmNhMB4XDTI1MDEwMTAwMDAwMFoXDTM1MDEwMTAwMDAwMFowDTELMAkGA1"
    "UEAwwCY2EwWTATBgcqhkjOPQIBBggqhkjOPQMBBwNCAATbPurqhrCN2H0sNlvoOEWWn5fiss1CaCBvc12p1N55goQZoe3Ej+Fr+iwdLjvfcvAw"
    "v6SBaKVfvpeqI96ZOGHioxMwETAPBgNVHRMBAf8EBTADAQH/MAoGCCqGSM49BAMCA0kAMEYCIQDxsiWl5b/IxfQgixf0LWg1NapziSgSjrZSoL"
    "ZW2V4XaQIhAO6efy6B0kW2QwAWj07l81ix771CDNZcpWx+i8sN6uNM")
ASKED = (
    "MIG6MGICAQAwADBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABNs+6uqGsI3YfSw2W+g4RZafl+KyzUJoIG9zXanU3nmChBmh7cSP4Wv6LB0uO9"
    "9y8DC/pIFopV++l6oj3pk4YeKgADAKBggqhkjOPQQDAgNIADBFAiEAt0oIaFq0BsulsFrB9LTNYfPf00Lfg4atffIBQWHYoxECIDm4DyEKUj5/"
    "aCeSqpAkapet09aehNQ2N42/kgJ+MEYp")
CARRIER = {
    "signerName": "example.com/signer", "podName": "pod", "podUID": "1", "serviceAccountName": "default",
    "serviceAccountUID": "2", "nodeName": "node", "nodeUID": "3"}
BODIES: dict[str, Tree] = {
    "Endpoints": {"subsets": [{"addresses": [{"ip": "192.0.2.1"}], "ports": [{"port": 80}]}]},
    "v1 Event": {"involvedObject": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "Made", "type": "Normal"},
    "events.k8s.io/v1 Event": {
        "regarding": {"kind": "Pod", "name": "p", "namespace": "default"}, "reason": "Made", "type": "Normal",
        "eventTime": "2026-01-01T00:00:00.000000Z", "action": "Make", "reportingController": "specimen.dev/c",
        "reportingInstance": "c-1", "note": "made"},
    "LimitRange": {"spec": {"limits": [{"type": "PersistentVolumeClaim", "max": {"storage": "1Ti"}}]}},
    "PersistentVolumeClaim": {"spec": CLAIM},
    "PersistentVolume": {"spec": VOLUME},
    "Pod": {"spec": {"containers": [CONTAINER], "serviceAccountName": "default"}},
    "PodTemplate": {"template": TEMPLATE},
    "ReplicationController": {"spec": {"selector": LABELS, "template": TEMPLATE}},
    "ResourceQuota": {"spec": {"hard": {"configmaps": "100"}}},
    "Secret": {"stringData": {"a": "b"}},
    "Service": {"spec": {"ports": [{"port": 80}], "selector": LABELS}},
    "APIService": {"spec": {
        "group": "specimen.dev", "version": "v1", "groupPriorityMinimum": 10, "versionPriority": 10,
        "service": {"namespace": "default", "name": "s"}, "insecureSkipTLSVerify": True}},
    "ControllerRevision": {"revision": 1, "data": {}},
    "DaemonSet": WORKLOAD, "Deployment": WORKLOAD, "ReplicaSet": WORKLOAD,
    "StatefulSet": {"spec": WORKLOAD["spec"] | {"serviceName": "s"}},
    "HorizontalPodAutoscaler": {"spec": SCALED},
    "CronJob": {"spec": {"schedule": "0 * * * *", "jobTemplate": {"spec": {"template": ENDING}}}},
    "Job": {"spec": {"template": ENDING}},
    "CertificateSigningRequest": {"spec": {
        "signerName": "specimen.dev/signer", "usages": ["client auth"],
        "request": "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KLS0tLS1FTkQgQ0VSVElGSUNBVEUgUkVRVUVTVC0tLS0t"}},
    "IngressClass": {"spec": {"controller": "specimen.dev/c"}},
    "Ingress": {"spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}}},
    "NetworkPolicy": {"spec": {"podSelector": {}}},
    "IPAddress": {"spec": {"parentRef": {"resource": "services", "namespace": "default", "name": "s"}}},
    "ServiceCIDR": {"spec": {"cidrs": ["192.0.2.0/24"]}},
    "PodDisruptionBudget": {"spec": {"minAvailable": 1, "selector": {"matchLabels": LABELS}}},
    "ClusterRoleBinding": {"roleRef": ROLE}, "RoleBinding": {"roleRef": ROLE},
    "ClusterRole": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "Role": {"rules": [{"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}]},
    "CSIDriver": {"spec": {"attachRequired": False}},
    "CSINode": {"spec": {"drivers": []}},
    "CSIStorageCapacity": {"storageClassName": "s"},
    "StorageClass": {"provisioner": "specimen.dev/p"},
    "VolumeAttachment": {"spec": {"attacher": "specimen.dev", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    "VolumeAttributesClass": {"driverName": "specimen.dev", "parameters": {"a": "b"}},
    "MutatingWebhookConfiguration": {"webhooks": [HOOK]}, "ValidatingWebhookConfiguration": {"webhooks": [HOOK]},
    "ValidatingAdmissionPolicy": {"spec": {"matchConstraints": MATCHING, "validations": [{"expression": "true"}]}},
    "ValidatingAdmissionPolicyBinding": {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
    "MutatingAdmissionPolicy": {"spec": {
        "matchConstraints": MATCHING, "reinvocationPolicy": "Never", "mutations": [
            {"patchType": "JSONPatch", "jsonPatch": {"expression": "[JSONPatch{op: 'add', path: '/data', value: {}}]"}}]}},
    "MutatingAdmissionPolicyBinding": {"spec": {"policyName": "p"}},
    "CustomResourceDefinition": {"spec": CRD},
    "PriorityClass": {"value": 10},
    "RuntimeClass": {"handler": "h"},
    "EndpointSlice": {"addressType": "IPv4", "endpoints": [{"addresses": ["192.0.2.1"]}]},
    "FlowSchema": {"spec": {"priorityLevelConfiguration": {"name": "global-default"}}},
    "PriorityLevelConfiguration": {"spec": {"type": "Limited", "limited": {"limitResponse": {"type": "Reject"}}}},
    "resource.k8s.io/v1beta2 ResourceClaim": {"spec": {"devices": {"requests": [DEVICE]}}},
    "resource.k8s.io/v1 ResourceClaim": {"spec": {"devices": {"requests": [DEVICE]}}},
    "resource.k8s.io/v1beta1 ResourceClaim": {"spec": {"devices": {"requests": [OLDER_DEVICE]}}},
    "resource.k8s.io/v1alpha3 ResourceClaim": {"spec": {"devices": {"requests": [OLDER_DEVICE]}}},
    "resource.k8s.io/v1alpha2 ResourceClaim": {"spec": {"resourceClassName": "c"}},
    "resource.k8s.io/v1alpha2 ResourceClaimTemplate": {"spec": {"spec": {"resourceClassName": "c"}}},
    "resource.k8s.io/v1alpha2 ResourceClass": {"driverName": "specimen.dev"},
    "resource.k8s.io/v1alpha2 ResourceSlice": {"driverName": "specimen.dev", "namedResources": {"instances": []}},
    "ResourceClaimTemplate": {"spec": {"spec": {"devices": {}}}},
    "ResourceSlice": {"spec": SLICE},
    "DeviceClass": {"spec": {}},
    "DeviceTaintRule": {"spec": {"taint": {"key": "specimen.dev/a", "effect": "NoSchedule"}, "deviceSelector": {}}},
    "ResourcePoolStatusRequest": {"spec": {"driver": "d.specimen.dev"}},
    "scheduling.k8s.io/v1alpha1 Workload": {"spec": {"podGroups": [{"name": "g", "policy": {"basic": {}}}]}},
    "scheduling.k8s.io/v1alpha2 Workload": {"spec": {"podGroupTemplates": [{"name": "g", "schedulingPolicy": {"basic": {}}}]}},
    "Workload": {"spec": {"podGroupTemplates": [{"name": "g", "schedulingPolicy": {"basic": {}}}]}},
    "PodGroup": {"spec": {"schedulingPolicy": {"basic": {}}}},
    "CompositePodGroup": {"spec": {
        "schedulingPolicy": {"basic": {}}, "workloadRef": {"workloadName": "w", "templateName": "t"}}},
    "PodSchedulingContext": {"spec": {}}, "StorageVersion": {"spec": {}, "status": {}},
    "LeaseCandidate": {"spec": {
        "leaseName": "l", "binaryVersion": "1.0.0", "emulationVersion": "1.0.0", "strategy": "OldestEmulationVersion"}},
    "ClusterTrustBundle": {
        "spec": {"trustBundle": f"-----BEGIN CERTIFICATE-----\n{AUTHORITY}\n-----END CERTIFICATE-----\n"}},
    "PodCertificateRequest": {"spec": CARRIER | {"pkixPublicKey": "YQ==", "proofOfPossession": "YQ=="}},
    "certificates.k8s.io/v1 PodCertificateRequest": {"spec": CARRIER | {"stubPKCS10Request": ASKED}},
    "StorageVersionMigration": {"spec": {"resource": {"group": "apps", "resource": "deployments"}}},
    "TokenReview": {"spec": {"token": "nobody's"}},
    "SubjectAccessReview": {"spec": ACCESS | {"user": "robin"}}, "SelfSubjectAccessReview": {"spec": ACCESS},
    "LocalSubjectAccessReview": {"spec": ACCESS | {"user": "robin"}, "metadata": {"namespace": "default"}},
    "SelfSubjectRulesReview": {"spec": {"namespace": "default"}}, "SelfSubjectReview": {},
}


def specimen(kind: Kind, name: str = "specimen") -> Tree:
    """An object of a kind, with its name; reviews have none."""
    body = BODIES.get(f"{kind.api_version} {kind.kind}") or BODIES.get(kind.kind) or {}
    meta = {"metadata": {"name": NAMES.get(kind.kind, name)}} if "get" in kind.verbs else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, **meta, **body}


def collection(kind: Kind, namespace: str = "default") -> str:
    """The path of the collection that an object of a kind belongs to."""
    root = f"/apis/{kind.api_version}" if kind.group else f"/api/{kind.version}"
    return f"{root}/namespaces/{namespace}/{kind.plural}" if kind.namespaced else f"{root}/{kind.plural}"
