"""Requests for certificates that are none, that nobody may have, or that nobody signs: the
reconcilers alone.
"""

from types import SimpleNamespace
from typing import Any

import pytest

from fakekube.runtime.reconcile import Request, TerminalError
from fakekube.util.certificaterequests import RequestedNames
from fakekube_controllers.certificates import approving
from fakekube_controllers.certificates.approving import ApprovingReconciler
from fakekube_controllers.certificates.cleaner import CleanerReconciler
from fakekube_controllers.certificates.signing import SigningReconciler

NODE = RequestedNames(common_name="system:node:n", organizations=("system:nodes",))
USAGES = ["digital signature", "client auth"]
SIGNER = "kubernetes.io/kube-apiserver-client-kubelet"
AUTO = "Auto approving {}kubelet client certificate after SubjectAccessReview."


def request(*conditions: Any, **spec: Any) -> Any:
    return {"metadata": {"name": "r", "creationTimestamp": "1970-01-01T00:00:00Z"}, "spec": {
        "request": "bm9uZQ==", "signerName": SIGNER, "usages": USAGES, "username": "system:node:n", **spec},
        "status": {"conditions": list(conditions)}}


class Parts:
    """What a reconciler is given. ``may``: the subresources for which the server says yes."""

    def __init__(self, found: Any, *may: str, authority: Any = None) -> None:
        self.found, self.may, self.client = found, may, self
        self.clock: Any = SimpleNamespace(time=lambda: 100.0)
        self.options = {"certificate_authority": lambda: authority}
        self.asked: list[str] = []
        self.written: list[Any] = []

    def lister(self, _: Any) -> Any:
        """Of requests."""
        return SimpleNamespace(get=lambda *_: self.found)

    async def create(self, _: Any, review: Any) -> Any:
        """Whether somebody may."""
        subresource = review["spec"]["resourceAttributes"]["subresource"]
        assert (review["spec"]["user"], review["spec"]["resourceAttributes"]) == (self.found["spec"]["username"], {
            "group": "certificates.k8s.io", "resource": "certificatesigningrequests", "verb": "create",
            "subresource": subresource, "version": "*"})
        self.asked.append(subresource)
        return {"status": {"allowed": subresource in self.may}}

    async def update(self, _: Any, body: Any, *, subresource: str) -> None:
        """Approve it."""
        assert subresource == "approval"
        self.written.append(body["status"]["conditions"])

    async def delete(self, *_: Any, **__: Any) -> None:
        """Delete it."""
        self.written.append("deleted")


@pytest.mark.parametrize(("names", "spec", "may", "asked", "message", "again"), [
    (NODE, {}, ["selfnodeclient"], ["selfnodeclient"], AUTO.format("self "), None),
    (NODE, {}, ["nodeclient"], ["selfnodeclient", "nodeclient"], AUTO.format(""), None),
    (NODE, {"username": "bootstrap"}, ["nodeclient", "selfnodeclient"], ["nodeclient"], AUTO.format(""), None),
    (NODE, {}, [], ["selfnodeclient", "nodeclient"], None, 60), (NODE, {"username": "bootstrap"}, [], ["nodeclient"], None, 60),
    (RequestedNames(common_name="me", organizations=()), {}, ["nodeclient"], [], None, None),
    (NODE, {"usages": []}, ["nodeclient"], [], None, None),
    (ValueError("none"), {}, ["nodeclient"], [], None, None), (ImportError("none"), {}, ["nodeclient"], [], None, None),
    (NODE, {"signerName": "other"}, ["nodeclient"], [], None, None),
])
async def test_which_requests_are_approved(
    monkeypatch: pytest.MonkeyPatch, names: Any, spec: Any, may: Any, asked: Any, message: Any, again: Any,
) -> None:
    """Given a request for the client certificate of a kubelet / then it is approved where who asks
    may have it, for itself or for any; asked again after a minute where not; and what is no such
    request is left alone.
    """
    def read(_: Any) -> Any:
        if isinstance(names, Exception):
            raise names
        return names

    monkeypatch.setattr(approving, "names_in", read)
    parts: Any = Parts(request(**spec), *may)
    found: Any = await ApprovingReconciler(parts).reconcile(Request("", "r"))
    assert (parts.asked, found and (found.requeue_after.total_seconds(), found.daemon)) == (asked, again and (again, True))
    approved = {"type": "Approved", "status": "True", "reason": "AutoApproved", "message": message}
    assert parts.written == ([[approved]] if message else [])


APPROVED = {"type": "Approved", "status": "True"}


@pytest.mark.parametrize(("of", "after"), [
    (request(APPROVED), None), (None, None), (request({**APPROVED, "lastUpdateTime": "1970-01-01T00:00:00Z"}), 86400.0),
    (request({"type": "Denied", "status": "True", "lastUpdateTime": "1970-01-01T00:00:00Z"}), 3600.0), (request(), 86400.0)])
async def test_requests_that_do_not_say_since_when_stay(of: Any, after: Any) -> None:
    """Given a request that was decided, without a time / then it is never looked at again; others
    are at the first whole hour by which they may go.
    """
    parts: Any = Parts(of)
    found: Any = await CleanerReconciler(parts).reconcile(Request("", "r"))
    assert (found and found.requeue_after.total_seconds(), parts.written) == (after, [])


async def test_what_nobody_signs() -> None:
    """Given an approved request / when there is no authority, then nothing is done; when it is no
    request, that is told, and it is not tried again.
    """
    parts: Any = Parts(request(APPROVED))
    await SigningReconciler(parts).reconcile(Request("", "r"))
    assert parts.written == []
    parts = Parts(request(APPROVED), authority=SimpleNamespace())
    with pytest.raises(TerminalError, match=r'^unable to parse csr "r": '):
        await SigningReconciler(parts).reconcile(Request("", "r"))
