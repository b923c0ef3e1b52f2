"""What webhooks and policies say to the audit log, and requests for tokens that they see."""

import json
from pathlib import Path
from typing import Any

import pytest

from fakekube import Cluster
from fakekube.apimachinery.errors import APIError
from fakekube.apimachinery.types import Tree
from fakekube.client.resources import CONFIG_MAPS, SERVICE_ACCOUNTS, VALIDATING_ADMISSION_POLICIES, Resource
from fakekube.webhooks import AdmissionRequest, Denied

GROUP = "admissionregistration.k8s.io"
BINDINGS = Resource(GROUP, "v1", "validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding", namespaced=False)
MAP: Tree = {"metadata": {"name": "m", "namespace": "default"}, "data": {"a": "1"}}
TOKENS = [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["serviceaccounts/token"]}]


def cluster(**options: Any) -> Cluster:
    return Cluster(nodes=0, controllers="", clock="manual", **options)


async def use_policy(made: Cluster, rules: list[Tree], *actions: str, **spec: Any) -> None:
    """Let a policy p hold everywhere."""
    await made.client.create(VALIDATING_ADMISSION_POLICIES, {
        "metadata": {"name": "p"}, "spec": {"matchConstraints": {"resourceRules": rules}, **spec}})
    await made.client.create(BINDINGS, {"metadata": {"name": "b"}, "spec": {"policyName": "p", "validationActions": actions}})


def told(made: Cluster, path: Path) -> Tree:
    """The annotations of the last create; both logs have the same."""
    logged = [event for event in map(json.loads, path.read_text().splitlines()) if event["verb"] == "create"][-1]
    entry = [entry for entry in made.apiserver.log if entry.verb == "create"][-1]
    annotations: Tree = {name: value for name, value in logged["annotations"].items() if "authorization" not in name}
    assert annotations == dict(entry.annotations)
    return annotations


@pytest.mark.spec("API-162")
@pytest.mark.parametrize("refused", [False, True])
async def test_annotations_of_webhooks(tmp_path: Path, refused: bool) -> None:
    """Given webhooks that annotate, change, are not there, and may refuse, when an object is
    created, then both logs tell what each said and did, under upstream's keys.
    """
    async with cluster(audit_log=str(tmp_path / "log")) as made:
        @made.webhook("configmaps", operations=["CREATE"], mutating=True, name="changes.test.dev")
        def changes(request: AdmissionRequest) -> None:
            request.annotate("why", "because")
            request.object["data"]["b"] = "2"

        @made.webhook("configmaps", operations=["CREATE"], name="looks.test.dev")
        def looks(request: AdmissionRequest) -> None:
            request.annotate("seen", request.object["data"]["b"])
            if refused:
                raise Denied("no")

        await made.client.create(Resource(GROUP, "v1", "validatingwebhookconfigurations", "", namespaced=False), {
            "kind": "ValidatingWebhookConfiguration", "apiVersion": f"{GROUP}/v1", "metadata": {"name": "zz"}, "webhooks": [{
                "name": "gone.test.dev", "clientConfig": {"url": "https://127.0.0.1:1/"}, "failurePolicy": "Ignore",
                "sideEffects": "None", "admissionReviewVersions": ["v1"], "rules": [{
                    "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["configmaps"]}]}]})
        if refused:
            with pytest.raises(APIError, match="no"):
                await made.client.create(CONFIG_MAPS, MAP)
        else:
            await made.client.create(CONFIG_MAPS, MAP)
        annotations = told(made, tmp_path / "log")
        configuration = json.loads(annotations.pop("mutation.webhook.admission.k8s.io/round_0_index_0"))
        assert (configuration["webhook"], configuration["mutated"]) == ("changes.test.dev", True)
        assert annotations == {
            "changes.test.dev/why": "because", "looks.test.dev/seen": "2",
            "failed-open.validating.webhook.admission.k8s.io/round_0_index_1": "gone.test.dev"}


@pytest.mark.spec("API-165")
async def test_annotations_of_policies(tmp_path: Path) -> None:
    """Given a policy with audit annotations, bound to be audited, when an object breaks it, then
    the write passes, and both logs tell what it says and which expression failed.
    """
    async with cluster(audit_log=str(tmp_path / "log")) as made:
        rules = [{**TOKENS[0], "resources": ["configmaps"]}]
        await use_policy(made, rules, "Audit", validations=[{"expression": "true"}, {"expression": "false", "message": "never"}],
                         auditAnnotations=[{"key": "size", "valueExpression": "string(object.data.size())"},
                                           {"key": "nothing", "valueExpression": "null"}])
        await made.client.create(CONFIG_MAPS, MAP)
        annotations = told(made, tmp_path / "log")
        assert json.loads(annotations.pop("validation.policy.admission.k8s.io/validation_failure")) == [{
            "message": "never", "policy": "p", "binding": "b", "expressionIndex": 1, "validationActions": ["Audit"]}]
        assert annotations == {"p/size": "1"}


async def token(made: Cluster, body: Tree) -> Tree:
    """The answer to a request for a token of default/s."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", **body}
    return await made.client.create(SERVICE_ACCOUNTS, body, "default", name="s", subresource="token")


@pytest.mark.spec("API-161")
async def test_requests_for_tokens_are_seen() -> None:
    """Given webhooks for serviceaccounts/token, when a token is asked for, then they see the CREATE
    of a TokenRequest without a token; what one changes counts, what one refuses is not issued.
    """
    async with cluster() as made:
        await made.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "s", "namespace": "default"}})
        seen: list[Tree] = []

        @made.webhook("serviceaccounts/token", operations=["CREATE"], mutating=True)
        def lasts(request: AdmissionRequest) -> None:
            if request.object["spec"]["expirationSeconds"] == 3600:
                request.object["spec"]["expirationSeconds"] = 1200

        @made.webhook("serviceaccounts/token", operations=["CREATE"])
        def looks(request: AdmissionRequest) -> None:
            seen.append({
                "kind": request.kind.kind, "resource": request.resource, "subresource": request.subresource, "name": request.name,
                "token": request.object["status"]["token"], "spec": request.object["spec"]})
            if "others" in request.object["spec"]["audiences"]:
                raise Denied("not for others")

        answer = await token(made, {"spec": {"audiences": ["a"]}})
        assert answer["spec"]["expirationSeconds"] == 1200
        assert answer["status"]["token"]
        assert seen == [{
            "kind": "TokenRequest", "resource": "serviceaccounts", "subresource": "token", "name": "s", "token": "",
            "spec": {"audiences": ["a"], "expirationSeconds": 1200, "boundObjectRef": None}}]
        with pytest.raises(APIError, match="denied the request: not for others"):
            await token(made, {"spec": {"audiences": ["others"]}})


@pytest.mark.spec("API-165")
async def test_policies_for_tokens() -> None:
    """Given a policy about the life of tokens, when one is asked for, then it is issued or not."""
    async with cluster() as made:
        await made.client.create(SERVICE_ACCOUNTS, {"metadata": {"name": "s", "namespace": "default"}})
        await use_policy(made, TOKENS, "Deny", validations=[{
            "expression": "object.spec.expirationSeconds <= 3600 && request.subResource == 'token'", "message": "too long"}])
        assert (await token(made, {"spec": {"audiences": ["a"]}}))["status"]["token"]
        with pytest.raises(APIError, match="too long"):
            await token(made, {"spec": {"audiences": ["a"], "expirationSeconds": 7200}})
