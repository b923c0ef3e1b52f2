"""Calls to webhooks: where one is, what it is sent, and what became of the call, in Go's words.

Read client.py first. Admission and the conversion of custom resources call webhooks through it;
neither knows an HTTP library, nor does this package: the composition hands a Transport in.
Upstream: apiserver/pkg/util/webhook with client-go's rest. Left out: kubeconfigs with credentials
for webhooks.
"""

from fakekube.apimachinery.admission_requests import AdmissionRequest, Denied

__all__ = ["AdmissionRequest", "Denied"]
