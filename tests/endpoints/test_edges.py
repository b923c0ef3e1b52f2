"""Limits at their edge, and what the audit log is told of tokens."""

import pytest

from fakekube.apimachinery.types import Tree
from fakekube.endpoints import tokenrequest
from fakekube.endpoints.requestinfo import RequestInfo
from fakekube.endpoints.scope import Scope
from fakekube.registry.attributes import Attributes
from tests.apiserver.conftest import Api

MAPS = "/api/v1/namespaces/t/configmaps"
ACCOUNTS = "/api/v1/namespaces/t/serviceaccounts"


@pytest.mark.parametrize(("count", "status"), [(10000, 200), (10001, 413)])
async def test_the_most_operations_of_a_json_patch(api: Api, count: int, status: int) -> None:
    """Given as many operations as a patch may have, or one more, then they are done, or refused."""
    await api("POST", MAPS, {"metadata": {"name": "a"}, "data": {"k": "v"}})
    body = [{"op": "test", "path": "/data/k", "value": "v"}] * count
    assert (await api.patch(f"{MAPS}/a", body, "application/json-patch+json")).status == status


@pytest.mark.parametrize(("size", "status"), [(3 * 1024 * 1024, 201), (3 * 1024 * 1024 + 1, 413)])
async def test_the_largest_body(api: Api, size: int, status: int) -> None:
    """Given a body of three mebibytes, or one byte more, then it is taken, or refused."""
    body = b'{"metadata":{"name":"a"}}'
    assert (await api("POST", MAPS, body + b" " * (size - len(body)))).status == status


async def test_the_audit_log_knows_which_token_was_issued(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """Given a request for a token, when it is issued, then the audit log has its identifier, and
    nothing where it is refused.
    """
    infos: list[RequestInfo] = []
    complete = tokenrequest._complete

    def listening(scope: Scope, info: RequestInfo, attrs: Attributes) -> Tree:
        infos.append(info)
        return complete(scope, info, attrs)

    monkeypatch.setattr(tokenrequest, "_complete", listening)
    await api("POST", ACCOUNTS, {"metadata": {"name": "s"}})
    assert (await api("POST", f"{ACCOUNTS}/s/token", {})).status == 201
    assert (await api("POST", f"{ACCOUNTS}/s/token", {"spec": {"expirationSeconds": 1}})).status == 422
    [issued, refused] = infos
    [name] = issued.audit_annotations
    assert name == "authentication.kubernetes.io/issued-credential-id"
    assert issued.audit_annotations[name].startswith("JTI=")
    assert refused.audit_annotations == {}
