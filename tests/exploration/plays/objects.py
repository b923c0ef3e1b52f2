"""Plays of what keeps other objects: owners, namespaces, accounts, quotas, services, certificates.
"""

import base64

from fakekube.apimachinery.http import UserInfo
from fakekube.client.resources import (
    CERTIFICATE_SIGNING_REQUESTS,
    CLUSTER_ROLES,
    CONFIG_MAPS,
    ENDPOINT_SLICES,
    ENDPOINTS,
    NAMESPACES,
    PODS,
    RESOURCE_QUOTAS,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    VALIDATING_ADMISSION_POLICIES,
)
from tests.exploration.plays.play import Play, all_of, load, one_of, told

SERVED = """
- {apiVersion: v1, kind: Service, metadata: {name: web, namespace: default}, spec: {selector: {a: web}, ports: [{port: 80}]}}
- {apiVersion: v1, kind: Service, metadata: {name: alone, namespace: default}, spec: {ports: [{port: 80}]}}
- apiVersion: v1
  kind: Endpoints
  metadata: {name: alone, namespace: default}
  subsets: [{addresses: [{ip: 192.0.2.1}, {ip: 192.0.2.2}], ports: [{port: 80}]}]
- apiVersion: v1
  kind: Pod
  metadata: {name: one, namespace: default, labels: {a: web}}
  spec: {containers: [{name: a, image: a}]}
- apiVersion: v1
  kind: Pod
  metadata: {name: two, namespace: default, labels: {a: web}}
  spec: {containers: [{name: a, image: a}]}
"""
QUOTA = """
- {apiVersion: v1, kind: ResourceQuota, metadata: {name: all, namespace: default}, spec: {hard: {pods: "3", configmaps: "5"}}}
- {apiVersion: v1, kind: ConfigMap, metadata: {name: one, namespace: default}}
- {apiVersion: v1, kind: Pod, metadata: {name: a, namespace: default}, spec: {containers: [{name: a, image: a}]}}
- {apiVersion: v1, kind: Pod, metadata: {name: b, namespace: default}, spec: {containers: [{name: a, image: a}]}}
"""
TOKENS = """
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: robot, namespace: default}}
- {apiVersion: v1, kind: ServiceAccount, metadata: {name: other, namespace: default}}
- apiVersion: v1
  kind: Secret
  metadata: {name: robot-token, namespace: default, annotations: {kubernetes.io/service-account.name: robot}}
  type: kubernetes.io/service-account-token
- apiVersion: v1
  kind: Secret
  metadata: {name: other-token, namespace: default, annotations: {kubernetes.io/service-account.name: other}}
  type: kubernetes.io/service-account-token
"""
ROLES = """
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: all}
  aggregationRule: {clusterRoleSelectors: [{matchLabels: {part: "true"}}]}
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: part1, labels: {part: "true"}}
  rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
- apiVersion: rbac.authorization.k8s.io/v1
  kind: ClusterRole
  metadata: {name: part2, labels: {part: "true"}}
  rules: [{apiGroups: [""], resources: [secrets], verbs: [get]}]
"""
KUBELETS = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: kubelets}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: system:certificates.k8s.io:certificatesigningrequests:selfnodeclient
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: system:nodes}]
"""
POLICY = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: p}
spec:
  matchConstraints:
    resourceRules: [{apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}]
  validations: [{expression: object.spec.replicas > 1}]
"""


async def _owner_goes(cluster, propagation_policy):
    """Two maps have an owner, which is deleted."""
    made = await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "owner", "namespace": "default"}})
    owner = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": made["metadata"]["uid"]}
    for name in ("a", "b"):
        await cluster.client.create(
            CONFIG_MAPS, {"metadata": {"name": name, "namespace": "default", "ownerReferences": [owner]}})
    await cluster.advance("2m")
    await cluster.client.delete(CONFIG_MAPS, "owner", "default", propagation_policy=propagation_policy)
    await cluster.advance("20m")


async def garbage(cluster):
    await _owner_goes(cluster, "Foreground")
    return await all_of(cluster, CONFIG_MAPS)


async def orphans(cluster):
    await _owner_goes(cluster, "Orphan")
    return await all_of(cluster, CONFIG_MAPS, "metadata.name", "metadata.ownerReferences")


async def namespace(cluster):
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "n"}})
    await cluster.advance("2m")
    await cluster.client.create(CONFIG_MAPS, {"metadata": {"name": "one", "namespace": "n"}})
    await cluster.client.create(
        PODS, {"metadata": {"name": "p", "namespace": "n"}, "spec": {"containers": [{"name": "a", "image": "a"}]}})
    await cluster.advance("2m")
    await cluster.client.delete(NAMESPACES, "n")
    await cluster.advance("20m")
    left = [await all_of(cluster, resource, namespace="n") for resource in (SERVICE_ACCOUNTS, CONFIG_MAPS, PODS)]
    return await all_of(cluster, NAMESPACES), left


async def account(cluster):
    await cluster.client.create(NAMESPACES, {"metadata": {"name": "n"}})
    await cluster.advance("2m")
    await cluster.client.delete(SERVICE_ACCOUNTS, "default", "n", missing_ok=True)
    await cluster.advance("10m")
    return await all_of(cluster, SERVICE_ACCOUNTS, namespace="n"), await all_of(cluster, CONFIG_MAPS, namespace="n")


async def tokens(cluster):
    await load(cluster, TOKENS)
    await cluster.advance("2m")
    await cluster.client.delete(SERVICE_ACCOUNTS, "other", "default")
    await cluster.advance("10m")
    secrets = (await cluster.client.list(SECRETS, "default")).items
    data = [(one["metadata"]["name"], sorted(one.get("data") or ())) for one in secrets]
    return data, await all_of(cluster, SERVICE_ACCOUNTS)


async def quota(cluster):
    await load(cluster, QUOTA)
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "b", "default", grace_period_seconds=0)
    await cluster.client.patch(RESOURCE_QUOTAS, "all", "default", {"spec": {"hard": {"pods": "4"}}})
    await cluster.advance("20m")
    return await one_of(cluster, RESOURCE_QUOTAS, "all", "status.hard", "status.used")


async def services(cluster):
    await load(cluster, SERVED)
    await cluster.advance("2m")
    await cluster.client.delete(PODS, "two", "default", grace_period_seconds=0)
    moved = {"subsets": [{"addresses": [{"ip": "192.0.2.9"}], "ports": [{"port": 80}]}]}
    await cluster.client.patch(ENDPOINTS, "alone", "default", moved)
    await cluster.advance("10m")
    slices = sorted(
        (told(one, "metadata.labels[kubernetes.io/service-name]"), told(end, "addresses", "targetRef.name"))
        for one in (await cluster.client.list(ENDPOINT_SLICES, "default")).items for end in one["endpoints"])
    ends = sorted(
        (one["metadata"]["name"], address["ip"]) for one in (await cluster.client.list(ENDPOINTS, "default")).items
        for subset in one.get("subsets") or () for address in subset.get("addresses") or ())
    return slices, ends


async def services_that_go(cluster):
    await load(cluster, SERVED)
    await cluster.advance("2m")
    for name in ("web", "alone"):
        await cluster.client.delete(SERVICES, name, "default")
    await cluster.advance("10m")
    return await all_of(cluster, ENDPOINTS), await all_of(cluster, ENDPOINT_SLICES)


def _certificate_request(name, *groups):
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    attributes = [x509.NameAttribute(x509.NameOID.ORGANIZATION_NAME, group) for group in groups]
    subject = x509.Name([*attributes, x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    made = x509.CertificateSigningRequestBuilder(subject).sign(ec.generate_private_key(ec.SECP256R1()), hashes.SHA256())
    return base64.b64encode(made.public_bytes(serialization.Encoding.PEM)).decode()


async def certificates(cluster):
    client, approved = cluster.client, {"type": "Approved", "status": "True", "reason": "Test", "message": "yes"}
    kubelet = client.with_options(user=UserInfo("system:node:n", ("system:nodes", "system:authenticated")))
    await load(cluster, KUBELETS)
    await kubelet.create(CERTIFICATE_SIGNING_REQUESTS, {"metadata": {"name": "kubelet"}, "spec": {
        "request": _certificate_request("system:node:n", "system:nodes"), "usages": ["client auth", "digital signature"],
        "signerName": "kubernetes.io/kube-apiserver-client-kubelet"}})
    for name in ("ann", "bob"):
        made = await client.create(CERTIFICATE_SIGNING_REQUESTS, {"metadata": {"name": name}, "spec": {
            "request": _certificate_request(name), "signerName": "kubernetes.io/kube-apiserver-client",
            "usages": ["client auth"]}})
        if name == "ann":
            made["status"] = {"conditions": [approved]}
            await client.update(CERTIFICATE_SIGNING_REQUESTS, made, subresource="approval")
    await cluster.advance("10m")
    return [("certificate" in one["status"]) for one in (await client.list(CERTIFICATE_SIGNING_REQUESTS)).items]


async def old_certificates(cluster):
    await certificates(cluster)
    await cluster.advance("26h")
    return await all_of(cluster, CERTIFICATE_SIGNING_REQUESTS)


async def roles(cluster):
    await load(cluster, ROLES)
    await cluster.advance("2m")
    await cluster.client.delete(CLUSTER_ROLES, "part2")
    await cluster.advance("10m")
    return await one_of(cluster, CLUSTER_ROLES, "all", "rules")


async def policy(cluster):
    await load(cluster, POLICY)
    await cluster.advance("2m")
    changed = {"spec": {"validations": [{"expression": "object.nope == 1"}]}}
    await cluster.client.patch(VALIDATING_ADMISSION_POLICIES, "p", body=changed)
    await cluster.advance("10m")
    found = await cluster.client.get(VALIDATING_ADMISSION_POLICIES, "p")
    checked = found["status"].get("typeChecking", {}).get("expressionWarnings", ())
    return found["status"]["observedGeneration"], [one["fieldRef"] for one in checked]


PLAYS = (
    Play("garbage", garbage, ("garbagecollector",)),
    Play("orphans", orphans, ("garbagecollector",)),
    Play("namespace", namespace, ("namespace",)),
    Play("account", account, ("serviceaccount",)),
    Play("tokens", tokens, ("serviceaccount-token",)),
    Play("quota", quota, ("resourcequota",)),
    Play("services", services, ("endpoint", "endpointslice", "endpointslicemirroring")),
    Play("services-that-go", services_that_go, ("endpoint", "endpointslice", "endpointslicemirroring")),
    Play("certificates", certificates, ("csrapproving", "csrsigning")),
    Play("old-certificates", old_certificates, ("csrcleaner",)),
    Play("roles", roles, ("clusterroleaggregation",)),
    Play("policy", policy, ("validatingadmissionpolicy-status",)),
)
