"""CertificateSigningRequests: kubelets' are approved, approved ones are signed, old ones go.

Read ``signing.py``. Upstream: pkg/controller/certificates. Left out: requests of pods
(PodCertificateRequests) and bundles of trusted authorities.
"""

from fakekube.client.resources import CERTIFICATE_SIGNING_REQUESTS
from fakekube_controllers import kube_controller

ACCOUNT = "certificate-controller"

for_signing = (
    kube_controller("csrsigning", ACCOUNT)
    .for_(CERTIFICATE_SIGNING_REQUESTS)
    .complete("fakekube_controllers.certificates.signing:SigningReconciler")
)
for_approving = (
    kube_controller("csrapproving", ACCOUNT)
    .for_(CERTIFICATE_SIGNING_REQUESTS)
    .complete("fakekube_controllers.certificates.approving:ApprovingReconciler")
)
for_cleaning = (
    kube_controller("csrcleaner", ACCOUNT)
    .for_(CERTIFICATE_SIGNING_REQUESTS)
    .complete("fakekube_controllers.certificates.cleaner:CleanerReconciler")
)
