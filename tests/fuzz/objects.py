"""One object of many kinds, with many fields filled in: what the fuzz takes apart and blows up."""

from typing import Any

CORE, DEFAULT = "/api/v1", "/api/v1/namespaces/default"
LABELS = {"app": "web"}
SELECTOR = {
    "matchLabels": LABELS, "matchExpressions": [{"key": "tier", "operator": "In", "values": ["a", "b"]}, {"key": "k",
        "operator": "Exists"}]}
AFFINITY_TERM = {"topologyKey": "zone", "labelSelector": SELECTOR, "namespaces": ["default"], "matchLabelKeys": ["app"]}
POD_SPEC = {
    "terminationGracePeriodSeconds": 30, "activeDeadlineSeconds": 60, "priority": 0, "hostname": "h", "subdomain": "s",
    "nodeSelector": {"disk": "ssd"}, "imagePullSecrets": [{"name": "pull"}], "serviceAccountName": "default",
    "readinessGates": [{"conditionType": "example.com/ready"}], "schedulingGates": [{"name": "example.com/gate"}],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a.example"]}],
    "dnsConfig": {"nameservers": ["1.1.1.1"], "searches": ["a.b"], "options": [{"name": "ndots", "value": "2"}]},
    "tolerations": [{"key": "t", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 60}],
    "topologySpreadConstraints": [
        {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": SELECTOR,
            "minDomains": 2}],
    "affinity": {
        "nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
            {"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}, {"key": "n", "operator": "Gt",
                "values": ["5"]}]}]}},
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [AFFINITY_TERM],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 5, "podAffinityTerm": AFFINITY_TERM}]}},
    "securityContext": {"supplementalGroups": [1000], "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "1"}],
        "runAsUser": 5},
    "resourceClaims": [{"name": "claim", "resourceClaimName": "gpu"}],
    "volumes": [
        {"name": "data", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "maps", "configMap": {"name": "m", "items": [{"key": "a", "path": "b"}], "defaultMode": 420}},
        {"name": "all", "projected": {"sources": [
            {"secret": {"name": "s", "items": [{"key": "a", "path": "b"}]}},
            {"downwardAPI": {"items": [{"path": "n", "fieldRef": {"fieldPath": "metadata.name"}}]}},
            {"serviceAccountToken": {"path": "t", "expirationSeconds": 3600}}]}}],
    "initContainers": [{"name": "init", "image": "busybox:1", "command": ["sh", "-c", "true"]}],
    "containers": [{
        "name": "main", "image": "registry.example/web:1.0", "command": ["web"], "args": ["--port", "80"],
        "ports": [{"name": "http", "containerPort": 80, "protocol": "TCP"}, {"hostPort": 8080, "containerPort": 81}],
        "env": [{"name": "A", "value": "1"}, {"name": "B", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}],
        "envFrom": [{"prefix": "P_", "configMapRef": {"name": "m"}}],
        "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"cpu": "1", "example.com/gpu": "1"},
            "claims": [{"name": "claim"}]},
        "volumeMounts": [{"name": "data", "mountPath": "/data", "subPath": "x"}, {"name": "maps", "mountPath": "/maps"}],
        "livenessProbe": {
            "httpGet": {"path": "/z", "port": "http", "httpHeaders": [{"name": "X-A", "value": "b"}]}, "periodSeconds": 5,
            "initialDelaySeconds": 1, "failureThreshold": 3, "terminationGracePeriodSeconds": 5},
        "lifecycle": {"preStop": {"sleep": {"seconds": 5}}}, "restartPolicyRules": [], "imagePullPolicy": "Always",
        "securityContext": {"capabilities": {"add": ["NET_ADMIN"], "drop": ["ALL"]}}}],
}  # fmt: skip
PLAIN = {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}]}
TEMPLATE = {"metadata": {"labels": {**LABELS, "tier": "a", "k": ""}, "annotations": {"a": "b"}}, "spec": PLAIN}
ONCE = {"metadata": {"labels": LABELS}, "spec": {**PLAIN, "restartPolicy": "Never", "activeDeadlineSeconds": 9}}
JOB_SPEC = {
    "parallelism": 2, "completions": 4, "completionMode": "Indexed", "backoffLimit": 3, "activeDeadlineSeconds": 600,
    "ttlSecondsAfterFinished": 60, "backoffLimitPerIndex": 1, "maxFailedIndexes": 2, "template": ONCE,
    "podFailurePolicy": {"rules": [
        {"action": "FailIndex", "onExitCodes": {"containerName": "c", "operator": "In", "values": [1, 2, 42]}},
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]}]},
    "successPolicy": {"rules": [{"succeededIndexes": "0,2-3", "succeededCount": 2}]},
}
ROLE_RULES = [{"apiGroups": ["", "apps"], "resources": ["pods", "pods/log"], "resourceNames": ["a"], "verbs": ["get", "list"]}]
HOOK = {
    "name": "a.example.com", "clientConfig": {"url": "https://a.example/x"}, "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    "rules": [{"apiGroups": ["*"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
        "timeoutSeconds": 5,
    "namespaceSelector": SELECTOR, "matchConditions": [{"name": "m", "expression": "true"}],
}
SCHEMA = {"type": "object", "properties": {"spec": {
    "type": "object", "required": ["a"], "properties": {
        "a": {"type": "string", "enum": ["x", "y"], "pattern": "^[xy]$", "maxLength": 9}, "n": {"type": "integer",
            "maximum": 5}}}}}


def group(name: str, plural: str, *, namespaced: bool = True) -> str:
    """The path of a collection."""
    return f"/apis/{name}/namespaces/default/{plural}" if namespaced else f"/apis/{name}/{plural}"


def objects() -> list[tuple[str, dict[str, Any]]]:
    """The path of each collection, and what is in an object of it besides its name."""
    return [
        (f"{DEFAULT}/pods", {"spec": POD_SPEC}),
        (f"{DEFAULT}/configmaps", {"data": {"a": "b", "c.d": "e"}, "binaryData": {"f": "Zm9v"}, "immutable": False}),
        (f"{DEFAULT}/secrets", {"type": "Opaque", "data": {"a": "Zm9v"}, "stringData": {"b": "c"}}),
        (f"{DEFAULT}/services", {"spec": {
            "type": "LoadBalancer", "selector": LABELS, "externalIPs": ["1.2.3.4"], "loadBalancerSourceRanges": ["10.0.0.0/8"],
            "ipFamilies": ["IPv4"], "sessionAffinity": "ClientIP",
                "sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 60}},
            "ports": [{"name": "a", "port": 80, "targetPort": "http", "nodePort": 30080}, {"name": "b", "port": 81,
                "appProtocol": "http"}]}}),
        (f"{DEFAULT}/resourcequotas", {"spec": {
            "hard": {"pods": "5", "requests.cpu": "2", "count/jobs.batch": "7"}, "scopes": ["NotBestEffort"],
            "scopeSelector": {"matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}]}}}),
        (f"{DEFAULT}/limitranges", {"spec": {"limits": [
            {"type": "Container", "max": {"cpu": "2"}, "min": {"cpu": "1m"}, "default": {"cpu": "1"},
                "maxLimitRequestRatio": {"cpu": "4"}}]}}),
        (f"{DEFAULT}/endpoints", {"subsets": [{"addresses": [{"ip": "10.0.0.1", "hostname": "h"}], "ports": [{"name": "p",
            "port": 80}]}]}),
        (f"{DEFAULT}/persistentvolumeclaims", {"spec": {
            "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "selector": SELECTOR,
                "storageClassName": "s"}}),
        (f"{DEFAULT}/serviceaccounts", {"secrets": [{"name": "s"}], "imagePullSecrets": [{"name": "p"}]}),
        (f"{DEFAULT}/events", {"involvedObject": {"namespace": "default", "name": "a"}, "reason": "R", "message": "m",
            "count": 5}),
        (f"{DEFAULT}/replicationcontrollers", {"spec": {"replicas": 3, "selector": LABELS, "minReadySeconds": 5,
            "template": TEMPLATE}}),
        (f"{CORE}/nodes", {
            "spec": {"podCIDRs": ["10.0.0.0/24"], "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]},
            "status": {"capacity": {"cpu": "4"}, "addresses": [{"type": "InternalIP", "address": "10.0.0.2"}],
                "images": [{"names": ["i"]}]}}),
        (f"{CORE}/persistentvolumes", {"spec": {
            "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Gi"}, "hostPath": {"path": "/a"},
                "mountOptions": ["ro"]}}),
        (group("apps/v1", "deployments"), {"spec": {
            "replicas": 3, "selector": SELECTOR, "template": TEMPLATE, "minReadySeconds": 1, "progressDeadlineSeconds": 600,
            "revisionHistoryLimit": 2, "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%",
                "maxUnavailable": 1}}}}),
        (group("apps/v1", "statefulsets"), {"spec": {
            "replicas": 2, "serviceName": "s", "selector": SELECTOR, "template": TEMPLATE, "ordinals": {"start": 1},
            "podManagementPolicy": "Parallel", "updateStrategy": {"rollingUpdate": {"partition": 1}},
            "volumeClaimTemplates": [{"metadata": {"name": "d"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}]}}),
        (group("apps/v1", "daemonsets"), {"spec": {"selector": SELECTOR, "template": TEMPLATE, "minReadySeconds": 3}}),
        (group("batch/v1", "jobs"), {"spec": JOB_SPEC}),
        (group("batch/v1", "cronjobs"), {"spec": {
            "schedule": "*/5 0-3,7 * * 1-5", "timeZone": "Europe/Berlin", "startingDeadlineSeconds": 60,
                "successfulJobsHistoryLimit": 1,
            "jobTemplate": {"spec": {"template": ONCE}}}}),
        (group("autoscaling/v2", "horizontalpodautoscalers"), {"spec": {
            "minReplicas": 1, "maxReplicas": 5, "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment",
                "name": "web"},
            "metrics": [{"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization",
                "averageUtilization": 50}}}],
            "behavior": {"scaleDown": {"stabilizationWindowSeconds": 5, "policies": [{"type": "Pods", "value": 1,
                "periodSeconds": 15}]}}}}),
        (group("policy/v1", "poddisruptionbudgets"), {"spec": {"minAvailable": "50%", "selector": SELECTOR}}),
        (group("networking.k8s.io/v1", "networkpolicies"), {"spec": {"podSelector": SELECTOR, "policyTypes": ["Ingress"],
            "ingress": [
            {"from": [{"ipBlock": {"cidr": "10.0.0.0/8", "except": ["10.1.0.0/16"]}}], "ports": [{"port": 80,
                "endPort": 90}]}]}}),
        (group("networking.k8s.io/v1", "ingresses"), {"spec": {
            "tls": [{"hosts": ["a.b"], "secretName": "s"}], "rules": [{"host": "a.b", "http": {"paths": [
                {"path": "/x", "pathType": "Prefix", "backend": {"service": {"name": "s", "port": {"number": 80}}}}]}}]}}),
        (group("discovery.k8s.io/v1", "endpointslices"), {
            "addressType": "IPv4", "ports": [{"name": "p", "port": 80}], "endpoints": [
                {"addresses": ["10.0.0.1"], "hostname": "h", "hints": {"forZones": [{"name": "z"}]}}]}),
        (group("coordination.k8s.io/v1", "leases"), {"spec": {
            "holderIdentity": "h", "leaseDurationSeconds": 15, "renewTime": "2026-01-01T00:00:00.000000Z",
                "leaseTransitions": 1}}),
        (group("rbac.authorization.k8s.io/v1", "roles"), {"rules": ROLE_RULES}),
        (group("resource.k8s.io/v1", "resourceclaims"), {"spec": {"devices": {
            "requests": [{"name": "r", "exactly": {"deviceClassName": "c", "count": 1,
                "selectors": [{"cel": {"expression": "true"}}]}}],
            "constraints": [{"requests": ["r"], "matchAttribute": "a.b/c"}]}}}),
        (group("resource.k8s.io/v1", "resourceslices", namespaced=False), {"spec": {
            "driver": "d.example", "nodeName": "n", "pool": {"name": "p", "generation": 1, "resourceSliceCount": 1},
            "devices": [{"name": "d", "attributes": {"a": {"string": "x"}}, "capacity": {"m": {"value": "1Gi"}}}]}}),
        (group("storage.k8s.io/v1", "storageclasses", namespaced=False), {
            "provisioner": "p.example", "parameters": {"a": "b"}, "mountOptions": ["ro"],
            "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a"]}]}]}),
        (group("storage.k8s.io/v1", "csinodes", namespaced=False), {"spec": {"drivers": [
            {"name": "d.example", "nodeID": "n", "topologyKeys": ["zone"], "allocatable": {"count": 5}}]}}),
        (group("node.k8s.io/v1", "runtimeclasses", namespaced=False), {
            "handler": "h", "overhead": {"podFixed": {"cpu": "1m"}}, "scheduling": {"nodeSelector": LABELS,
                "tolerations": [{"key": "a"}]}}),
        (group("certificates.k8s.io/v1", "certificatesigningrequests", namespaced=False), {"spec": {
            "request": "Zm9v", "signerName": "a.b/c", "usages": ["client auth", "digital signature"],
                "expirationSeconds": 3600}}),
        (group("admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", namespaced=False), {"webhooks": [HOOK]}),
        (group("apiextensions.k8s.io/v1", "customresourcedefinitions", namespaced=False), {"spec": {
            "group": "example.com", "scope": "Namespaced", "names": {"plural": "kepts", "kind": "Kept", "shortNames": ["k"]},
            "versions": [{
                "name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": SCHEMA},
                "additionalPrinterColumns": [{"name": "A", "type": "string", "jsonPath": ".spec.a"}],
                "selectableFields": [{"jsonPath": ".spec.a"}]}]}}),
        ("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", {"spec": {"resourceAttributes": {
            "verb": "get", "resource": "pods", "labelSelector": {"requirements": [{"key": "a", "operator": "In",
                "values": ["b"]}]}}}}),
    ]  # fmt: skip


METADATA = {
    "labels": LABELS, "annotations": {"example.com/note": "x"}, "finalizers": ["example.com/keep"],
    "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "n", "uid": "u"}],
}
