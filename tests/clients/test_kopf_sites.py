"""An operator of a custom kind, written with kopf and running in a process of its own."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import trustme
from kubernetes import client
from kubernetes.client.exceptions import ApiException

OPERATOR = Path(__file__).with_name("kopf_sites.py")
GROUP, VERSION, PLURAL = "kopf.example.com", "v1", "sites"
SITES = (GROUP, VERSION)


def definition(group: str, plural: str, kind: str, scope: str, **properties: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group, "scope": scope, "names": {"plural": plural, "kind": kind},
            "versions": [{"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {
                "type": "object", "properties": properties}}}]}}


ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
SITE = definition(GROUP, PLURAL, "Site", "Namespaced", status=ANYTHING, spec={
    "type": "object", "required": ["text"], "properties": {
        "text": {"type": "string", "maxLength": 20}, "color": {"type": "string", "enum": ["blue", "red"]},
        "languages": {"type": "array", "items": {"type": "string"}}}})
PEERING = definition("kopf.dev", "kopfpeerings", "KopfPeering", "Namespaced", status=ANYTHING)


@pytest.fixture
def sites(api: client.ApiClient, namespace: str, until: Callable[..., Any]) -> Iterator[Any]:
    """The kind, and a function that creates a site."""
    extensions, custom = client.ApiextensionsV1Api(api), client.CustomObjectsApi(api)
    for one in (SITE, PEERING):
        extensions.create_custom_resource_definition(one)
    for one in (SITE, PEERING):
        group, plural = one["spec"]["group"], one["spec"]["names"]["plural"]
        until(lambda group=group, plural=plural: custom.list_namespaced_custom_object(group, "v1", namespace, plural))
    yield custom
    for site in custom.list_namespaced_custom_object(*SITES, namespace, PLURAL)["items"]:  # whose operator has gone
        custom.patch_namespaced_custom_object(
            *SITES, namespace, PLURAL, site["metadata"]["name"], {"metadata": {"finalizers": []}})
    names = [one["metadata"]["name"] for one in (SITE, PEERING)]
    for name in names:
        extensions.delete_custom_resource_definition(name)
    until(lambda: not any(one.metadata.name in names for one in extensions.list_custom_resource_definition().items))


@contextmanager
def running(kubeconfig: Path, namespace: str, log: Path, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    """The operator in a process. It must end well."""
    with log.open("w") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "kopf", "run", "-n", namespace, str(OPERATOR)],
            env=os.environ | {"KUBECONFIG": str(kubeconfig)} | environment, stdout=output, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.send_signal(signal.SIGTERM)
            code = process.wait(30)
    assert code == 0, log.read_text()


class Site:
    """One site on the server."""

    def __init__(self, custom: client.CustomObjectsApi, namespace: str, name: str) -> None:
        self.custom, self.namespace, self.name = custom, namespace, name

    def create(self, text: str, annotations: dict[str, str] | None = None, **spec: Any) -> "Site":
        self.custom.create_namespaced_custom_object(*SITES, self.namespace, PLURAL, {
            "apiVersion": f"{GROUP}/{VERSION}", "kind": "Site", "metadata": {"name": self.name, "annotations": annotations or {}},
            "spec": {"text": text, **spec}})
        return self

    @property
    def tree(self) -> dict[str, Any]:
        found: dict[str, Any] = self.custom.get_namespaced_custom_object(*SITES, self.namespace, PLURAL, self.name)
        return found

    def status(self, *path: str) -> Any:
        value: Any = self.tree.get("status", {})
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value


@pytest.mark.spec("API-128", "API-142")
def test_the_life_of_a_site(
    api: client.ApiClient, kubeconfig: Path, namespace: str, sites: client.CustomObjectsApi, tmp_path: Path,
    until: Callable[..., Any]) -> None:
    """Given an operator of a custom kind, when an object is created, changed and deleted, then its
    children, the results of handlers and of their parts, and the finalizer are as kopf means them.
    """
    core, site = client.CoreV1Api(api), Site(sites, namespace, "a")
    with running(kubeconfig, namespace, tmp_path / "log"):
        site.create("hello", {"slow": "yes"}, languages=["en", "fr"])
        assert until(lambda: site.status("create", "page")) == "a-page"
        assert until(lambda: site.status("languages/fr")) == "in fr"
        assert until(lambda: site.status("fail_at_first")) == "after 2"
        page = core.read_namespaced_config_map("a-page", namespace)
        assert page.data == {"text": "hello"}
        assert [(one.kind, one.uid) for one in page.metadata.owner_references] == [("Site", site.tree["metadata"]["uid"])]
        assert site.tree["metadata"]["finalizers"] == ["kopf.example.com/sites"]
        until(lambda: "kopf.zalando.org/last-handled-configuration" in site.tree["metadata"]["annotations"])
        sites.patch_namespaced_custom_object(*SITES, namespace, PLURAL, "a", {"spec": {"text": "welcome"}})
        assert until(lambda: site.status("change/spec.text")) == "from hello to welcome"
        sites.delete_namespaced_custom_object(*SITES, namespace, PLURAL, "a")
        until(lambda: sites.list_namespaced_custom_object(*SITES, namespace, PLURAL)["items"] == [])
        until(lambda: [one.metadata.name for one in core.list_namespaced_config_map(namespace).items
                       if one.metadata.name in ("a-farewell", "a-page")] == ["a-farewell"])


@pytest.mark.spec("API-142")
def test_timers_daemons_indexes_and_failures(
    api: client.ApiClient, kubeconfig: Path, namespace: str, sites: client.CustomObjectsApi, tmp_path: Path,
    until: Callable[..., Any]) -> None:
    """Given objects that are older than the operator, when it starts, then timers tick, daemons
    run, indexes answer, and an error that is final becomes an event.
    """
    core = client.CoreV1Api(api)
    first = Site(sites, namespace, "a").create("hello", {"clock": "yes"})
    second = Site(sites, namespace, "b").create("hello", {"daemon": "yes", "broken": "yes"})
    core.create_namespaced_config_map(namespace, {"metadata": {"name": "question", "labels": {"ask": "hello"}}})
    with running(kubeconfig, namespace, tmp_path / "log"):
        until(lambda: first.status("ticks") == 3)
        until(lambda: second.status("daemon") == "running")
        until(lambda: (core.read_namespaced_config_map(
            "question", namespace).metadata.annotations or {}).get("found") == "a,b")
        posted = until(lambda: [
            one for one in core.list_namespaced_event(namespace, field_selector="involvedObject.name=b").items
            if "broken" in one.message])
        assert "it is broken" in posted[0].message
        assert posted[0].involved_object.api_version == f"{GROUP}/{VERSION}"


@pytest.mark.spec("API-161", "API-162", "API-163")
def test_its_webhooks(
    kubeconfig: Path, namespace: str, sites: client.CustomObjectsApi, tmp_path: Path, api: client.ApiClient,
    until: Callable[..., Any]) -> None:
    """Given an operator that serves webhooks over HTTPS and writes their configurations, when
    objects are created, then one is changed, and one refused with the operator's words.
    """
    authority, registration = trustme.CA(), client.AdmissionregistrationV1Api(api)
    certificate = authority.issue_cert("127.0.0.1")
    files = {name: tmp_path / name for name in ("SITES_CERTIFICATE", "SITES_KEY", "SITES_CA")}
    certificate.cert_chain_pems[0].write_to_path(files["SITES_CERTIFICATE"])
    certificate.private_key_pem.write_to_path(files["SITES_KEY"])
    authority.cert_pem.write_to_path(files["SITES_CA"])
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with running(
            kubeconfig, namespace, tmp_path / "log", SITES_WEBHOOKS=str(port),
            **{name: str(path) for name, path in files.items()}):
        for listed in (registration.list_validating_webhook_configuration, registration.list_mutating_webhook_configuration):
            until(lambda listed=listed: any(
                one.metadata.name == "sites.kopf.example.com" and one.webhooks for one in listed().items))

        def refusal() -> ApiException | None:
            try:
                Site(sites, namespace, "secret").create("a secret")
            except ApiException as error:
                return error
            sites.delete_namespaced_custom_object(*SITES, namespace, PLURAL, "secret")
            return None

        refused = until(refusal)
        assert (refused.status, "secrets are not published" in refused.body) == (422, True)
        assert Site(sites, namespace, "a").create("hello").tree["spec"] == {"text": "hello", "color": "blue"}
        assert Site(sites, namespace, "b").create("hello", color="red").tree["spec"]["color"] == "red"
    for delete in (registration.delete_validating_webhook_configuration, registration.delete_mutating_webhook_configuration):
        with suppress(ApiException):  # the operator may have done it
            delete("sites.kopf.example.com")


@pytest.mark.spec("API-142")
def test_two_of_them_agree_who_works(
    kubeconfig: Path, namespace: str, sites: client.CustomObjectsApi, tmp_path: Path, until: Callable[..., Any]) -> None:
    """Given an operator with a peering, which is a custom object, when it runs, then it tells its
    peers there, and works.
    """
    peering = ("kopf.dev", "v1", namespace, "kopfpeerings")
    sites.create_namespaced_custom_object(*peering, {
        "apiVersion": "kopf.dev/v1", "kind": "KopfPeering", "metadata": {"name": "sites"}})
    with running(kubeconfig, namespace, tmp_path / "log", SITES_PEERING="yes"):
        status = until(lambda: sites.get_namespaced_custom_object(*peering, "sites").get("status"))
        [peer] = status.values()
        assert (peer["priority"], "lastseen" in peer) == (0, True)
        site = Site(sites, namespace, "a").create("hello")
        assert until(lambda: site.status("create", "page")) == "a-page"
