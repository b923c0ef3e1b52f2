"""Signs what was approved, for the signers that are Kubernetes' own.

``certificate_authority`` among the context's options gives the cluster's CA, None where there is
none: then nothing is signed, as by a kube-controller-manager that was given no key. Upstream:
pkg/controller/certificates/signer and authority.
"""

import base64
from collections.abc import Callable, Sequence

from fakekube.apimachinery.times import format_time
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CERTIFICATE_SIGNING_REQUESTS
from fakekube.runtime.context import Context
from fakekube.runtime.reconcile import Request, TerminalError
from fakekube.util.certificaterequests import RequestedNames, names_in
from fakekube.util.certificates import CertificateAuthority, Usages
from fakekube_controllers.certificates import requests

LONGEST_SECONDS, SHORTEST_SECONDS = 365 * 24 * 3600, 600
BACKDATE_SECONDS, SHORT_SECONDS = 300, 8 * 3600
KEY_USAGES = {
    "signing": "digital_signature", "digital signature": "digital_signature", "content commitment": "content_commitment",
    "key encipherment": "key_encipherment", "key agreement": "key_agreement", "data encipherment": "data_encipherment",
    "cert sign": "key_cert_sign", "crl sign": "crl_sign", "encipher only": "encipher_only", "decipher only": "decipher_only",
}
EXTENDED_USAGES = {
    "any": "2.5.29.37.0", "server auth": "1.3.6.1.5.5.7.3.1", "client auth": "1.3.6.1.5.5.7.3.2",
    "code signing": "1.3.6.1.5.5.7.3.3", "email protection": "1.3.6.1.5.5.7.3.4", "s/mime": "1.3.6.1.5.5.7.3.4",
    "ipsec end system": "1.3.6.1.5.5.7.3.5", "ipsec tunnel": "1.3.6.1.5.5.7.3.6", "ipsec user": "1.3.6.1.5.5.7.3.7",
    "timestamping": "1.3.6.1.5.5.7.3.8", "ocsp signing": "1.3.6.1.5.5.7.3.9", "microsoft sgc": "1.3.6.1.4.1.311.10.3.3",
    "netscape sgc": "2.16.840.1.113730.4.1",
}
"""In the order in which certificates list them."""
Complaint = Callable[[RequestedNames, Sequence[str]], str]
SIGNERS: dict[str, Complaint] = {
    requests.CLIENT_SIGNER: lambda _, usages: requests.client_complaint(usages),
    requests.KUBELET_CLIENT_SIGNER: requests.kubelet_client_complaint,
    requests.KUBELET_SERVING_SIGNER: requests.kubelet_serving_complaint,
    requests.LEGACY_SIGNER: lambda *_: "",
}
"""What each signer has against a request; empty when nothing."""


class SigningReconciler:
    """Looks at one request."""

    def __init__(self, ctx: Context) -> None:
        self.ctx, self.client, self.clock = ctx, ctx.client, ctx.clock
        self.requests = ctx.lister(CERTIFICATE_SIGNING_REQUESTS)
        self._find: Callable[[], CertificateAuthority | None] = ctx.options.get("certificate_authority", lambda: None)

    async def reconcile(self, request: Request) -> None:
        """Set the certificate, or say why not. Raises APIError; TerminalError for what is no
        request.
        """
        found = self.requests.get("", request.name)
        if found is None or requests.is_issued(found) or not requests.conditions(found, "Approved"):
            return
        complain = SIGNERS.get(found["spec"].get("signerName", ""))
        if complain is None or requests.conditions(found, "Denied") or requests.has(found, "Failed"):
            return
        authority = self._find()
        if authority is None:
            return
        usages: list[str] = found["spec"].get("usages") or []
        try:
            asked = requests.pem_of(found)
            complaint = complain(names_in(asked), usages)
            if not complaint:
                certificate = authority.sign(asked, usages_of(usages), valid=self._times(found["spec"]))
        except ValueError as error:
            raise TerminalError(f'unable to parse csr "{request.name}": {error}') from error
        if complaint:
            await self._fail(found, complaint)
            return
        encoded = base64.b64encode(certificate.encode()).decode()
        status = {**(found.get("status") or {}), "certificate": encoded}
        await self.client.update_status(CERTIFICATE_SIGNING_REQUESTS, {**found, "status": status})

    async def _fail(self, found: Tree, complaint: str) -> None:
        failed = {
            "type": "Failed", "status": "True", "reason": "SignerValidationFailure", "message": complaint,
            "lastUpdateTime": format_time(self.clock.time())}
        status = found.get("status") or {}
        status = {**status, "conditions": [*(status.get("conditions") or ()), failed]}
        await self.client.update_status(CERTIFICATE_SIGNING_REQUESTS, {**found, "status": status})

    def _times(self, spec: Tree) -> tuple[float, float]:
        """From when to when the certificate is valid: clocks may be five minutes apart."""
        now, wanted = self.clock.time(), spec.get("expirationSeconds")
        seconds = LONGEST_SECONDS if wanted is None else max(SHORTEST_SECONDS, min(wanted, LONGEST_SECONDS))
        return now - BACKDATE_SECONDS, now + seconds - (0 if seconds < SHORT_SECONDS else BACKDATE_SECONDS)


def usages_of(usages: Sequence[str]) -> Usages:
    """Usages as certificates have them."""
    extended = dict.fromkeys(oid for name, oid in EXTENDED_USAGES.items() if name in usages)
    return Usages(tuple(dict.fromkeys(KEY_USAGES[name] for name in usages if name in KEY_USAGES)), tuple(extended))
