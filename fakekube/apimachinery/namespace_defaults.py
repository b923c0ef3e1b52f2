"""The objects that every namespace is given by default.

These are the service account ``default``, and the ConfigMap ``kube-root-ca.crt`` with the
certificate of the cluster's CA. The controller that creates them and the server, whose first
namespaces have them from the start, must agree about them.
Upstream: serviceaccounts_controller.go and publisher.go.
"""

from typing import Final

from fakekube.apimachinery.types import Tree

ACCOUNT: Final = "default"
ROOT_CA: Final = "kube-root-ca.crt"
CERTIFICATE_KEY: Final = "ca.crt"
DESCRIPTION_KEY: Final = "kubernetes.io/description"
DESCRIPTION: Final = (
    "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal "
    "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters."
)

CERTIFICATE: Final = """\
-----BEGIN CERTIFICATE-----
MIIBcDCCARagAwIBAgIUU7sfnD0aKEpLaQ/nq0eg8nngbKQwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAgFw0wMDAxMDEwMDAwMDBaGA85OTk5MTIz
MTIzNTk1OVowFTETMBEGA1UEAwwKa3ViZXJuZXRlczBZMBMGByqGSM49AgEGCCqG
SM49AwEHA0IABDFQcSNAFAjfRKJrn42h4af7x+xM8PTND8h9gRqXiIhQXhYb6e4s
cbSuuRLEFDtI5VXJNEDP+w8JOpKaZ66MNaOjQjBAMA8GA1UdEwEB/wQFMAMBAf8w
DgYDVR0PAQH/BAQDAgKkMB0GA1UdDgQWBBSAuu1oyf2SdUrNPNH7bu2NUeoeOjAK
BggqhkjOPQQDAgNIADBFAiBQ+H054gKJ31mrU/378BBMuWgHWyHRpDydNnzVDw1B
oQIhAOe5Eplk6h5AhANZaI6HHAbPNxeAgT/KTlBrJuNOFOiQ
-----END CERTIFICATE-----
"""
"""The certificate of a CA, for clients that refuse to start without one.

It signed nothing: nobody has its key.
"""


def default_account(namespace: str) -> Tree:
    """The service account of pods that name none."""
    return {"metadata": {"name": ACCOUNT, "namespace": namespace}}


def root_ca(namespace: str, certificate: str) -> Tree:
    """The ConfigMap with the CA's certificate, in PEM."""
    return {
        "metadata": {"name": ROOT_CA, "namespace": namespace, "annotations": {DESCRIPTION_KEY: DESCRIPTION}},
        "data": {CERTIFICATE_KEY: certificate},
    }
