"""The resources of certificates.k8s.io.

Upstream: pkg/registry/certificates/rest/storage_certificates.go.
"""

from fakekube.apis import late
from fakekube.apis.declaration import STATUS, WHOLE_AND_UPDATE, Deprecated, Group, Resource, Served, Sub
from fakekube.apis.selecting import selectable

BETA = Deprecated(37, 40, "certificates.k8s.io/v1")

GROUP = Group(
    "certificates.k8s.io",
    17300,
    (
        Resource(
            plural="certificatesigningrequests",
            kind="CertificateSigningRequest",
            reset_fields={
                "": ("spec", "status"), "status": ("spec", "status.conditions"), "approval": ("spec", "status.certificate"),
            },
            metadata_checks=WHOLE_AND_UPDATE,
            strategy=late.strategy("certificates.certificatesigningrequest"),
            selectable=selectable("spec.signerName"),
            printer=late.printer("certificates.printers:CERTIFICATE_SIGNING_REQUEST"),
            namespaced=False,
            short_names=("csr",),
            name_rule="any",
            subresources=(
                Sub("approval", table=False, strategy=late.strategy("certificates.certificatesigningrequest:APPROVAL")),
                STATUS,
            ),
        ),
        Resource(
            plural="clustertrustbundles",
            kind="ClusterTrustBundle",
            metadata_checks=WHOLE_AND_UPDATE,
            selectable=selectable("spec.signerName"),
            printer=late.printer("certificates.printers:CLUSTER_TRUST_BUNDLE"),
            namespaced=False,
            unconditional_update=False,
            name_rule="any",
            strategy=late.strategy("certificates.clustertrustbundle"),
            versions=(
                Served("v1", since=37, gate="ClusterTrustBundle"),
                Served("v1beta1", since=33, gate="ClusterTrustBundle", deprecated=BETA),
                Served("v1alpha1", since=27, until=36, gate="ClusterTrustBundle", deprecated=Deprecated(34, 37)),
            ),
        ),
        Resource(
            plural="podcertificaterequests",
            kind="PodCertificateRequest",
            status_keeps_metadata=True,
            strategy=late.strategy("certificates.podcertificaterequest"),
            selectable=selectable("spec.signerName", "spec.podName", "spec.nodeName"),
            printer=late.printer("certificates.printers:POD_CERTIFICATE_REQUEST"),
            unconditional_update=False,
            subresources=(STATUS,),
            versions=(
                Served("v1", since=37, gate="PodCertificateRequest"),
                Served("v1beta1", since=35, gate="PodCertificateRequest", deprecated=BETA),
                Served("v1alpha1", since=34, until=34, gate="PodCertificateRequest"),
            ),
        ),
    ),
)
